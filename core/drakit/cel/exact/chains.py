"""Chains of selections and indexes, and conditionals from which a chain may start: cel-go's attributes.

In ``a.?b.c["d"]`` one ``?`` makes everything after it optional; ``has()`` asks about the last step only. After a
conditional, ``(x ? a.b : c).d``, the chain goes on in both branches.

The steps of a chain are watched one by one. The chain as a whole is watched where it is a node of its own; as a branch
of a conditional or as an index it is only resolved, at no cost of its own, and ``has()`` is not yet a bool there.

Source: github.com/google/cel-go ``interpreter/attributes.go`` (applyQualifiers, refQualify), ``interpretable.go``
(evalWatchAttrQual, evalTestOnly).
"""

from __future__ import annotations

from typing import Final, TypeAlias

from attrs import evolve, field, frozen

from drakit.cel.exact.frame import Frame, Run, sliced, sliced_height
from drakit.cel.exact.ledger import Ledger, Settle, drops
from drakit.cel.library.go_names import go_name
from drakit.cel.values import Fault, Map, Optional, UInt, Value, no_such_overload, opened, text, type_name

__all__ = ["Attribute", "Chain", "Choice", "Step", "is_key", "presence"]


@frozen(eq=False)
class Step:
    """One step of a chain: ``.field``, ``[index]``, and both with ``?``."""

    id: int
    key: Run
    height: int = 1
    """How many calls deep finding the key goes."""
    optional: bool = False
    test_only: bool = False
    computed: bool = False
    """An index that is no constant, variable or chain: cel-go makes it an attribute with the id of the step."""

    def seen(self, ledger: Ledger, value: Value) -> None:
        """Settle what the step costs."""
        if self.computed:
            ledger.drop(self.id)
        ledger.charge(1)
        ledger.push(self.id, value)


@frozen(eq=False)
class Chain:
    """A variable or the result of another node, and the steps from there."""

    own_id: int
    start: Run
    start_height: int = 1
    steps: tuple[Step, ...] = ()
    reopens: bool = False
    """Before Kubernetes 1.37, a value in an optional at the start is made anew."""
    height: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        height = 1 + max(self.start_height, *(1 + step.height for step in self.steps), 0)
        object.__setattr__(self, "height", sliced_height(height))

    @property
    def id(self) -> int:
        return self.steps[-1].id if self.steps else self.own_id

    @property
    def settle(self) -> Settle:
        return drops((self.id,), cost=1)

    def then(self, step: Step) -> Chain:
        return evolve(self, steps=(*self.steps, step))

    def resolver(self) -> Run:
        """What finds the value at the end."""
        start, steps, reopens = self.start, self.steps, self.reopens

        def resolve(frame: Frame) -> Value:
            value = start(frame)
            if not isinstance(value, Optional):
                return _resolve(frame, value, steps) if steps else value
            if not value.present:
                return value
            return _resolve(frame, opened(value) if reopens else value.value, steps, is_optional=True)

        return sliced(resolve, self.start_height, *(1 + step.height for step in steps))


@frozen(eq=False)
class Choice:
    """A conditional; only the branch taken is resolved."""

    own_id: int
    condition: Run
    condition_id: int
    condition_height: int
    then_branch: Attribute
    else_branch: Attribute
    height: int = field(init=False)
    id: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Find out once what a walk through all branches would find."""
        then, otherwise = self.then_branch, self.else_branch
        height = 1 + max(self.condition_height, then.height, otherwise.height)
        object.__setattr__(self, "height", sliced_height(height))
        object.__setattr__(self, "id", then.id if then.id == otherwise.id else self.own_id)

    @property
    def settle(self) -> Settle:
        return drops((self.else_branch.id, self.then_branch.id, self.condition_id))

    def then(self, step: Step) -> Choice:
        return evolve(self, then_branch=self.then_branch.then(step), else_branch=self.else_branch.then(step))

    def resolver(self) -> Run:
        """What finds the value of the branch taken."""
        condition, then, otherwise = self.condition, self.then_branch.resolver(), self.else_branch.resolver()

        def choose(frame: Frame) -> Value:
            value = condition(frame)
            if value is True:
                return then(frame)
            if value is False:
                return otherwise(frame)
            raise no_such_overload()

        return sliced(choose, self.condition_height, self.then_branch.height, self.else_branch.height)


Attribute: TypeAlias = Chain | Choice


def presence(resolve: Run) -> Run:
    """What makes a bool of a chain that ends in a test for presence."""

    def test(frame: Frame) -> Value:
        value = resolve(frame)
        return value.present if isinstance(value, Optional) else value

    return test


def _resolve(frame: Frame, value: Value, steps: tuple[Step, ...], *, is_optional: bool = False) -> Value:
    ledger = frame.ledger
    for step in steps:
        is_optional = is_optional or step.optional
        try:
            found, present = _qualify(value, step.key(frame), testing=is_optional or step.test_only)
        except Fault as fault:
            if not is_optional:
                step.seen(ledger, fault)
            raise
        if not is_optional:
            value = present if step.test_only else found
        elif present:
            value = found
        else:
            return Optional()
        step.seen(ledger, value)
    return Optional(value, present=True) if is_optional else value


_KEYS: Final = (bool, int, float, str)


def is_key(value: Value) -> bool:
    """Whether a value can be an index at all."""
    return isinstance(value, _KEYS)


def _qualify(value: Value, key: Value, *, testing: bool) -> tuple[Value, bool]:
    """The part of a value under a key, and whether there is one: if not, an error unless ``testing``."""
    if not isinstance(key, _KEYS):
        raise Fault(f"invalid qualifier type: {go_name(key)}")
    if isinstance(value, tuple):
        index = _list_index(key)
        if 0 <= index < len(value):
            return value[index], True
        if testing:
            return None, False
        raise Fault(f"index out of bounds: {text(key)}")
    if isinstance(value, Map):
        found = value.find(key)
        if found[1] or testing:
            return found
    elif testing:
        return None, False
    raise Fault(f"no such key: {text(key)}")


def _list_index(key: Value) -> int:
    if isinstance(key, bool | str):
        raise Fault(f"unsupported index type '{type_name(key)}' in list")
    if isinstance(key, float):
        if not key.is_integer() or not -(2.0**63) < key < 2.0**63:
            raise Fault(f"unsupported index value {text(key)} in list")
        return int(key)
    if isinstance(key, UInt) and key >= 2**63:
        raise Fault(f"unsupported index value {key} in list")
    return int(key)
