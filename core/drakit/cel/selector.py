"""Compiling selectors, and asking them about devices.

An evaluation takes the generated function where there is one and it has an answer, else the closures.

Source: k8s.io/dynamic-resource-allocation ``cel/{compile,cache}.go`` and ``cel/errors.go``.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Hashable, Iterable, Iterator
from typing import Final

from drakit.cel.checking.checker import Checked, check
from drakit.cel.checking.environment import NEWEST, Environment
from drakit.cel.device import CelDevice
from drakit.cel.errors import CelError, EvaluationError, UnsupportedExpression
from drakit.cel.estimation.estimate import estimate
from drakit.cel.exact.evaluator import Outcome, Program, plan
from drakit.cel.fast import Function, generate
from drakit.cel.reads import Reads, reads, tells_holding
from drakit.cel.syntax.ast import Call, Literal, Node
from drakit.cel.syntax.parser import parse
from drakit.cel.syntax.source import Source
from drakit.cel.values import Abort, Fault, NotDecided, Optional, Thing, TypeValue, Value, type_name

__all__ = ["Selector", "compile", "verdict"]

_CACHE_SIZE: Final = 1024  # expressions; a cluster has few DeviceClasses and many claims with the same selectors
_GENERATED_FOR: Final = 2
"""The evaluation after which a function is generated: what is asked once is not worth it."""
_HINT: Final = (
    "consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
)


class Selector:
    """A compiled expression. Safe to share between threads."""

    def __init__(self, source: str, checked: Checked, environment: Environment) -> None:
        self.source: Final = source
        """The expression as written."""
        self.environment: Final = environment
        """Which Kubernetes reads it."""
        self._checked = checked
        self._program = None if _plans_surely(checked) else plan(checked, minor=environment.minor)
        self._evaluations = 0
        self._function: Function | None = None

    def __repr__(self) -> str:
        return f"Selector(source={self.source!r})"

    def matches(self, device: CelDevice) -> bool:
        """Whether the device is one that the expression selects.

        :raises EvaluationError: the expression fails on this device. That is no mismatch: the scheduler gives up the
            allocation.
        :raises UnsupportedExpression: the evaluation reached something drakit cannot decide yet.
        """
        if self._function is not None:
            flat = device.flat
            try:
                verdict = None if flat is None else self._function(flat)
            except Exception:  # noqa: BLE001  # whatever it is, the exact evaluation says it better
                verdict = None
            if verdict is not None:
                return verdict
        elif self._evaluations < _GENERATED_FOR:
            self._evaluations += 1
            if self._evaluations >= _GENERATED_FOR:  # two threads may have counted
                self.warm()
        return self.matches_exactly(device)

    @property
    def output_type(self) -> str:
        """What the expression gives, such as ``bool``; ``dyn`` where only a device shows it."""
        return self._checked.types[self._checked.root].output_name

    @functools.cached_property
    def max_cost(self) -> int:
        """The most that an evaluation may cost, as an API server estimates it; 2**64 - 1: no bound is known."""
        return estimate(self._checked, minor=self.environment.minor)

    @property
    def program(self) -> Program:
        """The exact evaluation."""
        if self._program is None:
            self._program = plan(self._checked, minor=self.environment.minor)
        return self._program

    def warm(self) -> None:
        """Generate the function now; :meth:`matches` does so when it is asked again."""
        self._evaluations = _GENERATED_FOR
        # The generated function knows the newest release only.
        with contextlib.suppress(RecursionError):  # called from too deep: there will be none
            self._function = generate(self._checked) if self.environment.minor == NEWEST else None

    def matches_exactly(self, device: CelDevice) -> bool:
        """As :meth:`matches`, without the generated function."""
        return verdict(self.outcome(device))

    @functools.cached_property
    def _fresh(self) -> bool:
        """Whether an evaluation needs quantities that no other has touched."""
        return tells_holding(self._checked)

    def outcome(self, device: CelDevice) -> Outcome:
        """What the exact evaluation comes to on a device, and what it costs.

        :raises EvaluationError: the device is wrong, so that nothing can be evaluated on it.
        :raises UnsupportedExpression: the evaluation reached something drakit cannot decide yet.
        """
        value = device.value(fresh=self._fresh)
        try:
            return self.program.evaluate(value)
        except NotDecided as reason:
            raise UnsupportedExpression(str(reason)) from None

    def matches_all(self, devices: Iterable[CelDevice]) -> Iterator[bool | CelError]:
        """The verdict on each of many devices, in order: devices that agree in what the expression reads are evaluated once.

        :returns: where :meth:`matches` would raise, the error; devices may share one.
        """
        known: dict[Hashable, bool | CelError] = {}
        for device in devices:
            key = self.key(device)
            verdict = None if key is None else known.get(key)
            if verdict is None:
                verdict = self._answer(device)
                if key is not None:
                    known[key] = verdict
            yield verdict

    def key(self, device: CelDevice) -> Hashable | None:
        """What decides about a device: the same for those that :meth:`matches` answers alike. None: look at it by itself."""
        return self.reads.key(device)

    @functools.cached_property
    def reads(self) -> Reads:
        """What the expression can read of a device."""
        return reads(self._checked)

    def _answer(self, device: CelDevice) -> bool | CelError:
        try:
            return self.matches(device)
        except CelError as error:
            return error


# A plan finds the faults that checking does not: constants that cannot be converted, types as variables, odd indexes. Where
# there is nothing of the kind, it can wait until a device needs the exact evaluation; most never do.
_SURE: Final = frozenset(
    """_&&_ _||_ !_ _?_:_ _==_ _!=_ _<_ _<=_ _>_ _>=_ @in _[_] _[?_] _?._ _+_ _-_ _*_ _/_ _%_ orValue hasValue compareTo
    isGreaterThan isLessThan quantity semver matches startsWith endsWith contains size lowerAscii includes""".split()
)
_SURE_KINDS: Final = frozenset({"bool", "int", "string", "dyn", "list", "map", "struct", "optional_type"})
_MANY: Final = 200


def _plans_surely(checked: Checked) -> bool:
    if len(checked.types) > _MANY or not _SURE.issuperset(checked.functions.values()):
        return False
    if not _SURE_KINDS.issuperset({type_.kind for type_ in checked.types.values()}):
        return False
    return all(_is_plain(node, name) for node, name in checked.functions.items())


def _is_plain(node: Node, function: str) -> bool:
    """Whether an index is a name, and a pattern is where the checker looks for one."""
    if function == "matches":
        return isinstance(node, Call) and node.target is not None
    if function not in ("_[_]", "_[?_]"):
        return True
    return isinstance(node, Call) and isinstance(node.args[1], Literal) and isinstance(node.args[1].value, str)


def verdict(outcome: Outcome) -> bool:
    """What an outcome says of the device: the result as a bool; an optional counts as what is in it.

    :raises EvaluationError: the evaluation failed, or the result is no bool.
    """
    match outcome.error:
        case Fault() as fault:
            raise EvaluationError(_with_hint(str(fault)))
        case Abort() as abort:
            raise EvaluationError(str(abort))
    result = value = outcome.value
    while isinstance(value, Optional) and value.present:
        value = value.value
    if isinstance(value, bool):
        return value
    raise EvaluationError(f"CEL result of type {type_name(result)} could not be converted to bool: {_reason(value)}")


def _reason(value: Value) -> str:
    """Why Go cannot make a bool of a value; each type says it in its own way."""
    if isinstance(value, Optional):
        return "optional.none() dereference"
    if isinstance(value, TypeValue):
        return "type conversion not supported for 'type'"
    name = type_name(value)
    if name in ("int", "uint"):
        return f"unsupported type conversion from '{name}' to bool"
    if name == "string":
        return "unsupported native conversion from string to 'bool'"
    words = {"double": "Double", "bytes": "Bytes", "null_type": "'null_type'", "list": "list", "map": "map"}
    word = words.get(name) or repr(value.go_name if isinstance(value, Thing) else name)
    return f"type conversion error from {word} to 'bool'"


def _with_hint(message: str) -> str:
    return f"{message}. {_HINT}" if message.startswith("no such key: ") else message


_STORED: Final = Environment()


@functools.lru_cache(maxsize=_CACHE_SIZE)
def compile(expression: str, environment: Environment = _STORED) -> Selector:  # noqa: A001  # as in re.compile
    """The selector of an expression. The most recently used are kept; failures are not.

    :param environment: which Kubernetes reads it; without it the newest, an expression that is stored, and every gate on,
        as its scheduler does.
    :raises CompileError: Kubernetes would refuse the expression; all faults, each with line and column.
    :raises UnsupportedExpression: it uses something drakit cannot decide yet, named with line and column.
    """
    try:
        source = Source(expression)
        checked = check(parse(source, escaped_names=environment.escaped_names), source, environment)
        return Selector(expression, checked, environment)
    except RecursionError:
        raise UnsupportedExpression("nesting this deep") from None
