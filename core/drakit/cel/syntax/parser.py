"""From text to nodes.

A recursive descent over cel-go's grammar; what does not follow it is told by :mod:`drakit.cel.syntax.recovery`. Two limits
are kept exactly, because they decide whether a cluster takes an expression: the depth of grammar rules (``expression
recursion limit exceeded``) and the depth of nodes (``max recursion depth exceeded``), both 250. Chains of ``&&`` and ``||``
are one node, so they may be as long as they like.

Source: github.com/google/cel-go ``parser/gen/CEL.g4`` and ``parser/parser.go``.
"""

from __future__ import annotations

import contextlib
import re
from typing import Final

from drakit.cel.errors import CompileError, Issue
from drakit.cel.syntax import macros
from drakit.cel.syntax.ast import Call, Constant, Entry, Ident, ListLiteral, Literal, MapLiteral, Node, Select, StructLiteral
from drakit.cel.syntax.lexer import Token, tokenize, unescape
from drakit.cel.syntax.recovery import recovered
from drakit.cel.syntax.source import Source
from drakit.cel.syntax.trampoline import Walk, run
from drakit.cel.values import INT64, UINT64, UInt

__all__ = ["parse"]

_MAX_CODE_POINTS: Final = 100_000
_MAX_DEPTH: Final = 250
_RESERVED: Final = frozenset(
    "as break const continue else for function if import let loop package namespace return var void while".split()
)
_RELATIONS: Final = {"in": "@in"} | {operator: f"_{operator}_" for operator in ("<", "<=", ">=", ">", "==", "!=")}
_ARITHMETIC: Final = {"*": 2, "/": 2, "%": 2, "+": 1, "-": 1}
_LITERALS: Final = frozenset(["STRING", "BYTES", "NUM_INT", "NUM_FLOAT", "NUM_UINT", "true", "false", "null"])
_ENDS: Final = frozenset([")", "]", "}", ",", ":", "EOF"])
"""What comes after an expression."""
_RELATION_ENDS: Final = _ENDS | {"&&", "||", "?"}


def parse(source: Source, *, escaped_names: bool = True) -> Node:
    """The node of a whole expression.

    :param escaped_names: whether a field may be written between backticks, as from Kubernetes 1.37 on.
    :raises CompileError: it does not follow the grammar, is too long or too deep, or a literal or macro is wrong.
    """
    if len(source.text) > _MAX_CODE_POINTS:
        size = f"size: {len(source.text)}, limit {_MAX_CODE_POINTS}"
        raise CompileError([source.issue(-1, f"expression code point size exceeds limit: {size}")])
    tokens, stray = tokenize(source)
    parser = _Parser(source, tokens, escaped_names=escaped_names)
    node: Node | None = None
    issues: list[Issue] = []
    try:
        node = run(parser.start())
    except _Unreadable as reason:
        issues, mended = recovered(source, tokens, stray)
        issues = issues or list(reason.issues)
        if mended is not None:
            parser = _Parser(source, mended, escaped_names=escaped_names)
            with contextlib.suppress(_Unreadable):
                run(parser.start())
    else:
        if stray:
            issues, _ = recovered(source, tokens, stray)
    issues += parser.issues
    if issues or node is None:
        raise CompileError(issues)
    return node


class _Unreadable(Exception):  # not an error of drakit's
    """The tokens do not follow the grammar, or go too deep."""

    def __init__(self, *issues: Issue) -> None:
        self.issues = issues
        """What to say where only this parser finds something."""


class _Parser:
    """One pass over one expression.

    A wrong literal or macro is noted and parsing goes on; the first token that does not fit ends it.
    """

    def __init__(self, source: Source, tokens: list[Token], *, escaped_names: bool) -> None:
        self.source = source
        self.escaped_names = escaped_names
        self.tokens = tokens
        self.issues: list[Issue] = []
        self.position = 0
        self._rules = {"expr": 0, "relation": 0, "calc": 0}
        self._depths: dict[Node, int] = {}

    # -- tokens ---------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def advance(self) -> Token:
        token = self.token
        self.position += 1
        return token

    def accept(self, kind: str) -> Token | None:
        token = self.tokens[self.position]
        if token.kind != kind:
            return None
        self.position += 1
        return token

    def expect(self, kind: str) -> Token:
        token = self.tokens[self.position]
        if token.kind != kind:
            raise _Unreadable
        self.position += 1
        return token

    # -- faults ---------------------------------------------------------------------------------------------------

    def report(self, offset: int, message: str) -> Node:
        """Note a fault, and go on with a node in its place."""
        self.issues.append(self.source.issue(offset, message))
        return Literal(None, offset)

    def enter(self, rule: str) -> None:
        self._rules[rule] += 1
        if self._rules[rule] > _MAX_DEPTH:
            raise _Unreadable(self.source.issue(-1, f"expression recursion limit exceeded: {_MAX_DEPTH}"))

    def leave(self, rule: str) -> None:
        self._rules[rule] -= 1

    def measured(self, node: Node, *parts: Node, counts: bool = True) -> Node:
        """Note how deep a node is; ``counts`` is false for those that cel-go's limit leaves out."""
        depth = 0
        for part in parts:
            depth = max(depth, self._depths.get(part, 0))
        depth += counts
        self._depths[node] = depth
        if depth > _MAX_DEPTH:
            raise CompileError([self.source.issue(-1, "max recursion depth exceeded")])
        return node

    # -- the grammar ----------------------------------------------------------------------------------------------

    def start(self) -> Walk[Node]:
        node: Node = yield self.expr()
        if self.token.kind != "EOF":
            raise _Unreadable
        return node

    def stands_alone(self, ends: frozenset[str]) -> bool:
        """Whether a literal comes that is all of what is to be read; then the levels of the grammar are skipped."""
        if self.tokens[self.position].kind not in _LITERALS or self.tokens[self.position + 1].kind not in ends:
            return False
        return max(self._rules.values()) < _MAX_DEPTH

    def expr(self) -> Walk[Node]:
        if self.stands_alone(_ENDS):
            return self.literal()
        self.enter("expr")
        condition: Node = yield self.logical()
        if question := self.accept("?"):
            then: Node = yield self.logical()
            self.expect(":")
            otherwise: Node = yield self.expr()
            condition = self.measured(
                Call("_?_:_", None, (condition, then, otherwise), question.offset), condition, then, otherwise
            )
        self.leave("expr")
        return condition

    def logical(self) -> Walk[Node]:
        """One chain of ``||`` over chains of ``&&``; each chain is one call with all its terms."""
        either: list[Node] = []
        or_: Token | None = None
        while True:
            every: list[Node] = [(yield self.relation(0))]
            and_: Token | None = None
            while token := self.accept("&&"):
                and_ = and_ or token
                every.append((yield self.relation(0)))
            either.append(every[0] if and_ is None else self.chain(and_, every))
            token = self.accept("||")
            if token is None:
                return either[0] if or_ is None else self.chain(or_, either)
            or_ = or_ or token

    def chain(self, operator: Token, terms: list[Node]) -> Node:
        return self.measured(Call(f"_{operator.kind}_", None, tuple(terms), operator.offset), *terms, counts=False)

    def relation(self, precedence: int) -> Walk[Node]:
        if self.stands_alone(_RELATION_ENDS):
            return self.literal()
        self.enter("relation")
        left: Node = yield self.calc(0)
        # All relations bind alike and to the left: the right operand of one takes no further relation.
        while precedence == 0 and self.tokens[self.position].kind in _RELATIONS:
            token = self.advance()
            right: Node = yield self.relation(1)
            left = self.measured(Call(_RELATIONS[token.kind], None, (left, right), token.offset), left, right)
        self.leave("relation")
        return left

    def calc(self, precedence: int) -> Walk[Node]:
        self.enter("calc")
        left: Node = yield (self.unary() if self.tokens[self.position].kind in ("!", "-") else self.member())
        while _ARITHMETIC.get(self.tokens[self.position].kind, 0) > precedence:
            token = self.advance()
            right: Node = yield self.calc(_ARITHMETIC[token.kind])
            left = self.measured(Call(f"_{token.kind}_", None, (left, right), token.offset), left, right)
        self.leave("calc")
        return left

    def unary(self) -> Walk[Node]:
        """An operand with a sign before it."""
        first = self.token
        operand: Node
        if first.kind == "-" and self.tokens[self.position + 1].kind in ("NUM_INT", "NUM_FLOAT"):
            operand = yield self.member()  # the sign belongs to the literal
            return operand
        count = 0
        while self.accept(first.kind):
            count += 1
        operand = yield self.member()
        if count % 2 == 0:
            return operand
        return self.measured(Call(f"{first.kind}_", None, (operand,), first.offset), operand, counts=False)

    def member(self) -> Walk[Node]:
        node: Node
        name = self.plain_name()
        if name is None:
            node = yield self.primary()
        else:
            node = name
        while True:
            kind = self.tokens[self.position].kind
            if kind == ".":
                dot = self.advance()
                field = self.tokens[self.position]
                if field.kind == "IDENTIFIER" and self.tokens[self.position + 1].kind != "(":
                    self.position += 1
                    node = self.measured(Select(node, field.text, test_only=False, offset=dot.offset), node)
                else:
                    node = yield self.selection(node, dot)
            elif kind == "[":
                bracket = self.advance()
                function = "_[?_]" if self.accept("?") else "_[_]"
                index: Node = yield self.expr()
                self.expect("]")
                node = self.measured(Call(function, None, (node, index), bracket.offset), node, index)
            else:
                return node

    def plain_name(self) -> Ident | None:
        """A name that is nothing more, read at once."""
        token = self.token
        if token.kind != "IDENTIFIER" or token.text in _RESERVED or self.tokens[self.position + 1].kind in ("(", "{"):
            return None
        if self.struct_brace(self.position + 1) is not None:
            return None
        self.position += 1
        return Ident(token.text, token.offset)

    def selection(self, operand: Node, dot: Token) -> Walk[Node]:
        optional = self.accept("?")
        if self.token.kind not in ("IDENTIFIER", "ESC_IDENTIFIER"):
            raise _Unreadable
        name = self.advance()
        if name.kind == "ESC_IDENTIFIER":
            if not self.escaped_names:
                return self.report(name.offset, "unsupported syntax: '`'")
            name = name._replace(text=name.text.strip("`"))
        parenthesis = None if optional or name.kind == "ESC_IDENTIFIER" else self.accept("(")
        if parenthesis:
            args: tuple[Node, ...] = yield self.arguments()
            call = macros.expand(name.text, operand, args, parenthesis.offset)
            return self.measured(self.expanded(call), operand, *args)
        if optional:
            field = Literal(name.text, name.offset)
            return self.measured(Call("_?._", None, (operand, field), dot.offset), operand)
        return self.measured(Select(operand, name.text, test_only=False, offset=dot.offset), operand)

    def arguments(self) -> Walk[tuple[Node, ...]]:
        args: list[Node] = []
        if not self.accept(")"):
            while True:
                args.append((yield self.expr()))
                if not self.accept(","):
                    break
            self.expect(")")
        return tuple(args)

    def expanded(self, result: Node | macros.Misuse) -> Node:
        if isinstance(result, macros.Misuse):
            return self.report(result.offset, result.complaint)
        return result

    def primary(self) -> Walk[Node]:
        node: Node
        if self.accept("("):
            node = yield self.expr()
            self.expect(")")
            return node
        if bracket := self.accept("["):
            node = yield self.list_literal(bracket)
            return node
        if brace := self.accept("{"):
            entries: tuple[Entry, ...] = yield self.entries(fields=False)
            parts = [part for entry in entries for part in (entry.key, entry.value)]
            return self.measured(MapLiteral(entries, brace.offset), *parts, counts=False)
        if self.token.kind == "IDENTIFIER" or (self.token.kind == "." and self.tokens[self.position + 1].kind == "IDENTIFIER"):
            node = yield self.name()
            return node
        return self.literal()

    def list_literal(self, bracket: Token) -> Walk[Node]:
        elements: list[Node] = []
        optional: set[int] = set()
        while self.token.kind not in ("]", ","):
            if self.accept("?"):
                optional.add(len(elements))
            elements.append((yield self.expr()))
            if self.token.kind == "]" or not self.accept(","):
                break
        if not elements:
            self.accept(",")
        self.expect("]")
        return self.measured(ListLiteral(tuple(elements), frozenset(optional), bracket.offset), *elements, counts=False)

    def entries(self, *, fields: bool) -> Walk[tuple[Entry, ...]]:
        """The entries of a map literal, or the fields of a struct literal, up to the closing brace."""
        entries: list[Entry] = []
        while self.token.kind not in ("}", ","):
            optional = self.accept("?") is not None
            key: Node
            if fields:
                name = self.expect("IDENTIFIER")
                key = Literal(name.text, name.offset)
            else:
                key = yield self.expr()
            colon = self.expect(":")
            value: Node = yield self.expr()
            entries.append(Entry(key, value, optional, colon.offset))
            if self.token.kind == "}" or not self.accept(","):
                break
        if not entries:
            self.accept(",")
        self.expect("}")
        return tuple(entries)

    def name(self) -> Walk[Node]:
        """A name, a global call, or a struct literal, which alone may have dots in its name."""
        dot = self.accept(".")
        name = self.advance()
        start, text = (dot or name).offset, f"{'.' if dot else ''}{name.text}"
        after_name = self.position
        if brace := self.accept_struct():
            text += "".join(token.text for token in self.tokens[after_name : self.position - 1])
            entries: tuple[Entry, ...] = yield self.entries(fields=True)
            struct = StructLiteral(text, entries, brace.offset)
            return self.measured(struct, *(entry.value for entry in entries), counts=False)
        parenthesis = self.accept("(")
        if parenthesis:
            so_far = len(self.issues)
            args: tuple[Node, ...] = yield self.arguments()
            if name.text in _RESERVED:
                del self.issues[so_far:]  # cel-go does not look at the arguments then
                return self.report(start, f"reserved identifier: {name.text}")
            call = macros.expand(text, None, args, parenthesis.offset)
            return self.measured(self.expanded(call), *args, counts=False)
        if name.text in _RESERVED:
            return self.report(start, f"reserved identifier: {name.text}")
        return Ident(text, name.offset)

    def accept_struct(self) -> Token | None:
        """The brace of ``a.b.c{`` where the names after the first lead to one."""
        brace = self.struct_brace(self.position)
        if brace is None:
            return None
        self.position = brace
        return self.advance()

    def struct_brace(self, ahead: int) -> int | None:
        """The position of a brace to which dots and names lead."""
        while self.tokens[ahead].kind == "." and self.tokens[ahead + 1].kind == "IDENTIFIER":
            ahead += 2
        return ahead if self.tokens[ahead].kind == "{" else None

    def literal(self) -> Node:
        start = self.token.offset
        sign = "-" if self.accept("-") else ""
        token = self.token
        if sign and token.kind not in {"NUM_INT", "NUM_FLOAT"}:
            raise _Unreadable
        value: Constant = None
        match token.kind:
            case "true" | "false":
                value = token.kind == "true"
            case "null":
                value = None
            case "NUM_INT" | "NUM_UINT" | "NUM_FLOAT":
                number = _number(token.kind, sign + token.text)
                if number is None:
                    self.advance()
                    return self.report(start, f"invalid {_NUMBER_KINDS[token.kind]} literal")
                value = number
            case "STRING" | "BYTES":
                try:
                    value = _bytes(token.text) if token.kind == "BYTES" else unescape(token.text)
                except ValueError as error:
                    self.advance()
                    return self.report(start, str(error))
            case _:
                raise _Unreadable
        self.advance()
        return Literal(value, start)


_NUMBER_KINDS: Final = {"NUM_INT": "int", "NUM_UINT": "uint", "NUM_FLOAT": "double"}


def _number(kind: str, text: str) -> int | UInt | float | None:
    if kind == "NUM_FLOAT":
        value = float(text)
        return None if value in (float("inf"), float("-inf")) else value
    unsigned = kind == "NUM_UINT"
    digits = text[:-1] if unsigned else text
    sign, digits = (-1, digits[1:]) if digits.startswith("-") else (1, digits)
    base = 16 if digits.startswith("0x") else 10
    digits = digits.removeprefix("0x").lstrip("0") or "0"
    if len(digits) > 20:  # beyond 64 bits in either base; int() would be slow or refuse
        return None
    number = sign * int(digits, base)
    return (UInt(number) if number in UINT64 else None) if unsigned else (number if number in INT64 else None)


_BYTE_ESCAPE: Final = re.compile(r"\\[xX]([0-9a-fA-F]{2})|\\([0-3][0-7]{2})|\\([uU])|(\\.)|([^\\]+)", re.DOTALL)


def _bytes(text: str) -> bytes:
    literal = text[1:].replace("\r\n", "\n").replace("\r", "\n")
    if literal[0] in "rR" or "\\" not in literal:
        return unescape(literal).encode(errors="surrogatepass")
    quotes = 3 if len(literal) >= 6 and literal[:3] in ('"""', "'''") else 1
    value = b""
    for hexadecimal, octal, unicode, simple, plain in _BYTE_ESCAPE.findall(literal[quotes:-quotes]):
        if unicode:
            raise ValueError("unable to unescape string")
        if hexadecimal or octal:
            value += bytes([int(hexadecimal, 16) if hexadecimal else int(octal, 8)])
        else:
            value += (unescape(f'"{simple}"') if simple else plain).encode(errors="surrogatepass")
    return value
