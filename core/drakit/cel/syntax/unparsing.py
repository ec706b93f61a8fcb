"""From nodes back to text: what a part of an expression looks like, for people, and for an expression that is put right.

The text of a node means the same node again: parsing it gives an equal tree. Blanks, comments, the kind of quotes and
parentheses that change nothing are not in a tree, so they are lost.

Source: github.com/google/cel-go ``parser/gen/CEL.g4`` for what binds how strongly; ``parser/macro.go`` for the macros.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from drakit.cel.go.quoting import quoted
from drakit.cel.syntax.ast import (
    Call,
    Comprehension,
    Constant,
    Entry,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    Select,
    StructLiteral,
)
from drakit.cel.syntax.trampoline import Walk, run
from drakit.cel.values import UInt

__all__ = ["is_name", "unparse"]

_TERNARY, _OR, _AND, _RELATION, _SUM, _PRODUCT, _UNARY, _MEMBER = range(8)
"""How strongly a node binds; an operand that binds less than its place asks for gets parentheses."""
_LOGICAL: Final = {"_||_": (_OR, " || "), "_&&_": (_AND, " && ")}
_BINARY: Final = {"@in": (_RELATION, "in")} | {
    f"_{operator}_": (level, operator)
    for level, operators in ((_RELATION, "< <= >= > == !="), (_SUM, "+ -"), (_PRODUCT, "* / %"))
    for operator in operators.split()
}
_PREFIX: Final = {"!_": "!", "-_": "-"}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NO_FIELDS: Final = frozenset({"in", "true", "false", "null"})


def unparse(node: Node) -> str:
    """The text of a node that the parser made, in one line."""
    text: str = run(_text(node, _TERNARY))
    return text


def _text(node: Node, at_least: int) -> Walk[str]:
    """A node, in parentheses if it binds less strongly than its place asks for."""
    level, walk = _node(node)
    text: str = yield walk
    return text if level >= at_least else f"({text})"


def _texts(nodes: Sequence[Node], at_least: int = _TERNARY) -> Walk[list[str]]:
    texts: list[str] = []
    for node in nodes:
        texts.append((yield _text(node, at_least)))  # noqa: PERF401  # no yield in a comprehension
    return texts


def _node(node: Node) -> tuple[int, Walk[str]]:
    """How strongly a node binds, and its text."""
    match node:
        case Literal():
            return _MEMBER, _plain(_constant(node.value))
        case Ident():
            return _MEMBER, _plain(node.name)
        case Select():
            return _MEMBER, _select(node)
        case Call():
            return _call(node)
        case ListLiteral():
            return _MEMBER, _list(node)
        case MapLiteral():
            return _MEMBER, _map(node.entries)
        case StructLiteral():
            return _MEMBER, _struct(node)
        case Comprehension():
            return _MEMBER, _macro(node)


def _plain(text: str) -> Walk[str]:
    return text
    yield  # a walk, though it goes nowhere


def _select(node: Select) -> Walk[str]:
    operand: str = yield _text(node.operand, _MEMBER)
    text = f"{operand}.{_field(node.field)}"
    return f"has({text})" if node.test_only else text


def _field(name: str) -> str:
    """A name after a dot; one that is no identifier stands between backticks."""
    return name if is_name(name) else f"`{name}`"


def is_name(text: str) -> bool:
    """Whether a text may stand after a dot as it is."""
    return _NAME.fullmatch(text) is not None and text not in _NO_FIELDS


# -- calls ----------------------------------------------------------------------------------------------------------


def _call(node: Call) -> tuple[int, Walk[str]]:
    if node.function in _LOGICAL:
        level, operator = _LOGICAL[node.function]
        return level, _chain(node, level + 1, operator)
    if node.function in _BINARY:
        level, operator = _BINARY[node.function]
        return level, _binary(node, level, operator)
    if node.function in _PREFIX:
        return _UNARY, _prefixed(node, _PREFIX[node.function])
    match node.function:
        case "_?_:_":
            optional_macro = _optional_macro(node)
            return (_MEMBER, optional_macro) if optional_macro else (_TERNARY, _choice(node))
        case "_[_]" | "_[?_]" | "_?._":
            return _MEMBER, _link(node)
    return _MEMBER, _applied(node)


def _chain(node: Call, at_least: int, operator: str) -> Walk[str]:
    terms: list[str] = yield _texts(node.args, at_least)
    return operator.join(terms)


def _binary(node: Call, level: int, operator: str) -> Walk[str]:
    left, right = node.args
    before: str = yield _text(left, level)
    after: str = yield _text(right, level + 1)
    return f"{before} {operator} {after}"


def _prefixed(node: Call, sign: str) -> Walk[str]:
    (operand,) = node.args
    text: str = yield _text(operand, _MEMBER)
    is_number = isinstance(operand, Literal) and text[0] in "-0123456789"
    return f"{sign}({text})" if is_number else f"{sign}{text}"  # else the sign would be the number's


def _choice(node: Call) -> Walk[str]:
    condition, then, otherwise = node.args
    texts = [(yield _text(condition, _OR)), (yield _text(then, _OR)), (yield _text(otherwise, _TERNARY))]
    return f"{texts[0]} ? {texts[1]} : {texts[2]}"


def _link(node: Call) -> Walk[str]:
    operand, key = node.args
    text: str = yield _text(operand, _MEMBER)
    if node.function == "_?._":
        assert isinstance(key, Literal)
        return f"{text}.?{_field(str(key.value))}"
    index: str = yield _text(key, _TERNARY)
    return f"{text}[{'?' if node.function == '_[?_]' else ''}{index}]"


def _applied(node: Call) -> Walk[str]:
    args: list[str] = yield _texts(node.args)
    if node.target is None:
        return f"{node.function}({', '.join(args)})"
    target: str = yield _text(node.target, _MEMBER)
    return f"{target}.{node.function}({', '.join(args)})"


# -- literals -------------------------------------------------------------------------------------------------------


def _constant(value: Constant) -> str:
    match value:
        case bool() | None:
            return {True: "true", False: "false", None: "null"}[value]
        case str():
            return quoted(value)
        case bytes():
            return 'b"' + "".join(_byte(byte) for byte in value) + '"'
        case UInt():
            return f"{int(value)}u"
    return repr(value)


def _byte(byte: int) -> str:
    return chr(byte) if 0x20 <= byte < 0x7F and chr(byte) not in '\\"' else f"\\x{byte:02x}"


def _list(node: ListLiteral) -> Walk[str]:
    elements: list[str] = yield _texts(node.elements)
    return f"[{', '.join(('?' if i in node.optional else '') + text for i, text in enumerate(elements))}]"


def _map(entries: Sequence[Entry]) -> Walk[str]:
    texts: list[str] = []
    for entry in entries:
        key: str = yield _text(entry.key, _TERNARY)
        value: str = yield _text(entry.value, _TERNARY)
        texts.append(f"{'?' if entry.optional else ''}{key}: {value}")
    return f"{{{', '.join(texts)}}}"


def _struct(node: StructLiteral) -> Walk[str]:
    texts: list[str] = []
    for entry in node.entries:
        assert isinstance(entry.key, Literal)
        value: str = yield _text(entry.value, _TERNARY)
        texts.append(f"{'?' if entry.optional else ''}{_field(str(entry.key.value))}: {value}")
    return f"{node.type_name}{{{', '.join(texts)}}}"


# -- macros ---------------------------------------------------------------------------------------------------------


def _macro(node: Comprehension) -> Walk[str]:
    """The call that a fold came from."""
    if _is_binding(node):
        return _binding(node)
    names = [node.variable] if node.second_variable is None else [node.variable, node.second_variable]
    function, args = _over_entries(node) if node.second_variable is not None else _over_elements(node)
    return _spelled(node.range_, function, names, args)


def _spelled(target: Node, function: str, names: Sequence[str], args: Sequence[Node]) -> Walk[str]:
    receiver: str = yield _text(target, _MEMBER)
    rest: list[str] = yield _texts(args)
    return f"{receiver}.{function}({', '.join([*names, *rest])})"


def _is_binding(node: Comprehension) -> bool:
    """Whether a fold over nothing gives a value a name."""
    return node.variable == "#unused"


def _binding(node: Comprehension) -> Walk[str]:
    if isinstance(node.result, Call) and node.result.function == "@sortByAssociatedKeys":
        keys = node.result.args[0]
        assert isinstance(keys, Comprehension)
        text: str = yield _spelled(node.initial, "sortBy", [keys.variable], _over_elements(keys)[1])
        return text
    value: str = yield _text(node.initial, _TERNARY)
    body: str = yield _text(node.result, _TERNARY)
    return f"cel.bind({node.accumulator}, {value}, {body})"


def _over_elements(node: Comprehension) -> tuple[str, list[Node]]:
    """The macro with one variable, and what it was given besides."""
    step = node.step
    assert isinstance(step, Call)
    match step.function:
        case "_&&_":
            return "all", [step.args[1]]
        case "_||_":
            return "exists", [step.args[1]]
        case "_+_":
            return "map", [_appended(step)]
    condition, taken = step.args[:2]
    if isinstance(node.initial, Literal):
        return "exists_one", [condition]
    element = _appended(taken)
    if isinstance(element, Ident) and element.name == node.variable:
        return "filter", [condition]
    return "map", [condition, element]


def _over_entries(node: Comprehension) -> tuple[str, list[Node]]:
    """The macro with two variables, and what it was given besides."""
    step = node.step
    assert isinstance(step, Call)
    if step.function in ("_&&_", "_||_"):
        return ("all" if step.function == "_&&_" else "exists"), [step.args[1]]
    given: list[Node] = []
    if step.function == "_?_:_":
        given.append(step.args[0])
        step = step.args[1]
        assert isinstance(step, Call)
    if isinstance(node.initial, Literal):
        return "existsOne", given
    if step.function == "_+_":
        return "transformList", [*given, _appended(step)]
    name = "transformMapEntry" if len(step.args) == 2 else "transformMap"
    return name, [*given, step.args[-1]]


def _appended(step: Node) -> Node:
    """What a step adds to the list so far."""
    assert isinstance(step, Call)
    added = step.args[1]
    assert isinstance(added, ListLiteral)
    return added.elements[0]


def _optional_macro(node: Call) -> Walk[str] | None:
    """``optMap`` or ``optFlatMap``, if a choice came from one."""
    condition, then, otherwise = node.args
    if not (isinstance(condition, Call) and condition.function == "hasValue" and condition.target is not None):
        return None
    if not (isinstance(otherwise, Call) and otherwise.function == "optional.none"):
        return None
    function, binding = "optFlatMap", then
    if isinstance(then, Call) and then.function == "optional.of":
        function, binding = "optMap", then.args[0]
    if not (isinstance(binding, Comprehension) and _is_binding(binding)):
        return None
    return _spelled(condition.target, function, [binding.accumulator], [binding.result])
