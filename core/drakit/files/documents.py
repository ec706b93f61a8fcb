"""YAML and JSON documents from files, each with where it stands.

YAML is read as Kubernetes' own reader does: timestamps and base-60 numbers are strings, a key that stands twice is an
error, and an alias bomb is refused before it is unfolded.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol, TypeVar

import yaml
from attrs import frozen

from drakit.model import DrakitError

__all__ = ["Document", "TextStream", "UnreadableFile", "read_documents", "strict_json"]

T = TypeVar("T")

SUFFIXES: Final = (".yaml", ".yml", ".json")
MAX_VALUES: Final = 20_000_000
"""Values in one document once aliases are unfolded; more is an attack, not a cluster."""
YAML_AFTER_ALL: Final = ("Extra data", "Expecting property name")
"""What the JSON reader says of several documents, and of a key without quotes: both are YAML."""
TOO_DEEP: Final = "is nested too deeply"
MAX_DEPTH: Final = 256
"""Levels of nesting. A bound of our own, so that the answer does not depend on the Python that reads."""


_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class UnreadableFile(DrakitError):
    """A file or document that cannot be used; the message starts with where."""


@frozen
class Document:
    """One document of a file."""

    where: str
    """File, number of the document and line, for messages."""
    content: Mapping[str, Any]


class TextStream(Protocol):
    """Standard input, or what stands for it."""

    def read(self) -> str: ...


def read_documents(paths: Iterable[str | Path], stdin: TextStream) -> Iterator[Document]:
    """The documents of files, of the files in folders (by name), and of standard input for ``-``; empty ones are left out.

    :raises UnreadableFile: a file that cannot be read or parsed, or a document that is not an object.
    """
    for path in paths:
        if not str(path):
            raise UnreadableFile("a file name is empty")
        if str(path) == "-":
            yield from _parse("<stdin>", _read("<stdin>", stdin.read))
            continue
        for file in _read(path, functools.partial(_files, Path(path))):
            yield from _parse(str(file), _read(file, functools.partial(file.read_text, encoding="utf-8")))


def _read(what: str | Path, read: Callable[[], T]) -> T:
    try:
        return read()
    except OSError as error:
        raise UnreadableFile(f"{what}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{what}: is not UTF-8 text (byte {error.start})") from error
    except ValueError as error:  # a NUL in the name
        raise UnreadableFile(f"{str(what)!r}: {error}") from error


def _files(path: Path) -> Sequence[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise UnreadableFile(f"{path}: the folder has no {', '.join(SUFFIXES)} files")
    return files


def _parse(file: str, text: str) -> Iterator[Document]:
    parse = _parse_json if text.lstrip()[:1] in ("{", "[") and file.endswith((".json", ">")) else _parse_yaml
    for number, (line, content) in enumerate(parse(file, text), start=1):
        if content is None:
            continue
        where = f"{file}, document {number} (line {line})"
        if not isinstance(content, Mapping):
            raise UnreadableFile(f"{where}: must be an object with apiVersion and kind")
        yield Document(where, content)


def strict_json(text: str) -> Any:
    """JSON as Kubernetes reads it, and no more than JSON: a key stands once, NaN is no number, half a character is none.

    :raises ValueError: saying what is wrong.
    :raises RecursionError: it is nested too deeply.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
            raise ValueError(f"key {twice!r:.60} stands twice in one object")
        return found

    def no_number(text: str) -> NoReturn:
        raise ValueError(f"{text} is no number in JSON")

    content = json.loads(text, object_pairs_hook=unique, parse_constant=no_number)
    if _SURROGATE.search(text):
        _refuse_halves(content)
    return content


def _parse_json(file: str, text: str) -> Iterator[tuple[int, Any]]:
    try:
        content = strict_json(text)
        _refuse_depth(content)
        yield 1, content
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError) and error.msg.startswith(YAML_AFTER_ALL):
            yield from _parse_yaml(file, text)
            return
        deep = isinstance(error, RecursionError)
        raise UnreadableFile(f"{file}: {TOO_DEEP}" if deep else f"{file}: is not valid JSON: {error}") from error


def _refuse_halves(content: Any) -> None:
    """:raises ValueError: text with one half of a surrogate pair, which is no character and cannot be written."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise ValueError(f"{half!r} is one half of a surrogate pair, and no character") from None


def _parse_yaml(file: str, text: str) -> Iterator[tuple[int, Any]]:
    loader = None
    try:
        loader = _Loader(text)
        while loader.check_node():
            node = loader.get_node()
            assert node is not None  # what check_node says
            if _unfolded_size(node, {}, 0) > MAX_VALUES:
                raise UnreadableFile(f"{file}: has more than {MAX_VALUES} values once its aliases are unfolded")
            yield node.start_mark.line + 1, _constructed(loader, node, file)
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in (error.problem or ""):  # libyaml's own limit, above ours
            raise UnreadableFile(f"{file}: {TOO_DEEP}") from error
        mark = error.problem_mark or error.context_mark
        at = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise UnreadableFile(f"{file}: is not valid YAML{at}: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise UnreadableFile(f"{file}: is not valid YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise UnreadableFile(f"{file}: {TOO_DEEP}") from error
    finally:
        if loader is not None:
            loader.dispose()


def _constructed(loader: _Loader, node: yaml.Node, file: str) -> Any:
    try:
        return loader.construct_document(node)
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        # PyYAML trusts an explicit tag: `!!int x` ends in whatever int("x") raises.
        at = f"the document at line {node.start_mark.line + 1}"
        raise UnreadableFile(f"{file}: is not valid YAML: {at} has a value that is not what its tag says: {error}") from error


def _refuse_depth(content: Any) -> None:
    """:raises RecursionError: more levels than :data:`MAX_DEPTH`."""
    level, depth = [content], 0
    while level:
        if depth > MAX_DEPTH:
            raise RecursionError(TOO_DEEP)
        containers = (value for value in level if isinstance(value, dict | list))
        level = [item for value in containers for item in (value.values() if isinstance(value, dict) else value)]
        depth += 1


def _unfolded_size(node: yaml.Node, sizes: dict[int, float], depth: int) -> float:
    """Values a node stands for, aliases counted as often as they are used; infinite for one that contains itself."""
    known = sizes.get(id(node))
    if known is not None:
        return known
    if depth > MAX_DEPTH:
        raise RecursionError(TOO_DEEP)
    sizes[id(node)] = float("inf")
    size = 1.0
    if isinstance(node, yaml.SequenceNode):
        size += sum(_unfolded_size(item, sizes, depth + 1) for item in node.value)
    elif isinstance(node, yaml.MappingNode):
        size += sum(
            _unfolded_size(key, sizes, depth + 1) + _unfolded_size(value, sizes, depth + 1) for key, value in node.value
        )
    sizes[id(node)] = size
    return size


_Base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[valid-type,misc]  # the C loader where there is one
    """PyYAML's safe loader with Kubernetes' idea of scalars, and without duplicate keys."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - as PyYAML has it
        first: [(tag, regexp) for tag, regexp in resolvers if not tag.endswith((":timestamp", ":int", ":float", ":value"))]
        for first, resolvers in _Base.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if key.value in keys:
                    raise yaml.constructor.ConstructorError(None, None, f"key {key.value!r} stands twice", key.start_mark)
                keys.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


# Numbers as in YAML 1.1, but without base 60: 08:00:27 is text.
_INT: Final = re.compile(r"[-+]?(?:0b_*[01][01_]*|0x_*[0-9a-fA-F][0-9a-fA-F_]*|0[0-7_]*|[1-9][0-9_]*)$")
_FLOAT: Final = re.compile(
    r"""[-+]?(?: [0-9][0-9_]*\.[0-9_]* (?:[eE][-+]?[0-9]+)?
             |   \.[0-9]+ (?:[eE][-+]?[0-9]+)?
             |   [0-9]+ [eE][-+]?[0-9]+
             |   \.(?:inf|Inf|INF|nan|NaN|NAN) )$""",
    re.VERBOSE,
)
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))
