"""URLs, as Go's ``net/url`` reads and tells of them.

A URL is bytes to Go, and unescaping makes any bytes of it. Here it is text in which each character is one byte, while it is
taken apart; what comes out is a CEL string again.

Source: Go ``net/url``; k8s.io/apiserver ``pkg/cel/url.go`` and ``pkg/cel/library/urls.go``.
"""

from __future__ import annotations

import re
import string
from typing import Final

from attrs import field, frozen

from drakit.cel.go.network import parse_address
from drakit.cel.go.quoting import quoted
from drakit.cel.values import Fault, Map, Thing, Value, no_such_overload, register

__all__ = ["Url", "check_request_uri"]

_PLAIN: Final = frozenset(string.ascii_letters + string.digits + "-_.~")
_HEX: Final = frozenset(string.hexdigits)
# What may stand unescaped, by part of the URL.
_PATH: Final = _PLAIN | frozenset("$&+,/:;=@")
_HOST: Final = _PLAIN | frozenset("!$&'()*+,;=:[]<>\"")
_USER: Final = _PLAIN | frozenset("$&+,;=")
_FRAGMENT: Final = _PLAIN | frozenset("$&+,/:;=?@!()*")
_ENCODED: Final = frozenset("!$&'()*+,;=:@[]%")
_USERINFO: Final = frozenset(string.ascii_letters + string.digits + "-._:~!$&'()*+,;=%@")
_MAX_PARAMETERS: Final = 10_000
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")
_PORT: Final = re.compile(r"(?::[0-9]*)?")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def _bytewise(text: str) -> str:
    return text.encode(errors="surrogateescape").decode("latin-1")


def _text(bytewise: str) -> str:
    return bytewise.encode("latin-1").decode(errors="surrogateescape")


@register
@frozen(eq=False, slots=False)
class Url(Thing):
    """A URL, taken apart. All its text is bytewise."""

    type_name = "kubernetes.URL"

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    """As it is written again, with the password."""
    _host: str = ""
    _path: str = ""
    raw_path: str = ""
    force_query: bool = False
    raw_query: str = ""
    fragment: str = field(default="")
    """Escaped."""
    omit_host: bool = False

    @classmethod
    def parse(cls, text: str) -> Url:
        """Read a URL that is absolute, or a path.

        :raises Fault: not one, in Go's words.
        """
        try:
            check_request_uri(text)
            return _read_with_fragment(_bytewise(text))
        except ValueError as error:
            raise Fault(f"URL parse error during conversion from string: {error}") from None

    def equals(self, other: Value) -> bool:
        if not isinstance(other, Url):
            raise no_such_overload()
        return str(self) == str(other)

    @property
    def native_text(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """As it would be written; not as it was."""
        written = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            written += self.opaque
        else:
            path = _escaped_path(self._path, self.raw_path)
            has_authority = self._host or self.user is not None
            if (self.scheme or has_authority) and (has_authority or not self.omit_host):
                written += "//" if has_authority or self._path else ""
                written += "" if self.user is None else f"{self.user}@"
                written += _escaped(self._host, _HOST)
            if path and not path.startswith("/") and self._host:
                written += "/"
            if not written and ":" in path.partition("/")[0]:
                written += "./"
            written += path
        if self.force_query or self.raw_query:
            written += f"?{self.raw_query}"
        return _text(written + (f"#{self.fragment}" if self.fragment else ""))

    @property
    def host(self) -> str:
        """Host and port."""
        return _text(self._host)

    def _split(self) -> tuple[str, str]:
        host, colon, port = self._host.rpartition(":")
        if not colon or port.strip(string.digits):
            host, port = self._host, ""
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        return host, port

    @property
    def hostname(self) -> str:
        """The host without port and brackets."""
        return _text(self._split()[0])

    @property
    def port(self) -> str:
        return self._split()[1]

    @property
    def escaped_path(self) -> str:
        return _text(_escaped_path(self._path, self.raw_path))

    def query(self) -> Map:
        """The values of each parameter; what cannot be read is left out."""
        found: dict[str, list[str]] = {}
        parameters = self.raw_query.split("&")
        if len(parameters) > _MAX_PARAMETERS:
            parameters = []
        for parameter in parameters:
            if not parameter or ";" in parameter:
                continue
            name, _, value = parameter.partition("=")
            try:
                name, value = _unescaped(name, plus=" "), _unescaped(value, plus=" ")
            except ValueError:
                continue
            found.setdefault(_text(name), []).append(_text(value))
        return Map.literal((name, tuple(values)) for name, values in found.items())


def check_request_uri(text: str) -> None:
    """Whether a text is a URL as a request may have it; a fragment is part of its path.

    :raises ValueError: no, in Go's words.
    """
    try:
        _read(_bytewise(text), of_request=True)
    except ValueError as error:
        raise ValueError(f"parse {quoted(text)}: {error}") from None


def _read_with_fragment(url: str) -> Url:
    before, _, fragment = url.partition("#")
    try:
        parts = _read(before, of_request=False)
    except ValueError as error:
        raise ValueError(f"parse {quoted(_text(before))}: {error}") from None
    try:
        plain = _unescaped(fragment)
    except ValueError as error:
        raise ValueError(f"parse {quoted(_text(url))}: {error}") from None
    escaped = fragment if _is_encoded(fragment, _FRAGMENT) else _escaped(plain, _FRAGMENT)
    return Url(fragment=escaped, **parts)


def _read(url: str, *, of_request: bool) -> dict[str, Value]:
    """The arguments of a :class:`Url`, but for the fragment."""
    if _CONTROL.search(url):
        raise ValueError("net/url: invalid control character in URL")
    if not url and of_request:
        raise ValueError("empty url")
    if url == "*":
        return {"path": "*"}
    if url.startswith(":"):
        raise ValueError("missing protocol scheme")
    parts: dict[str, Value] = {}
    match = _SCHEME.match(url)
    scheme, rest = (match[0].lower(), url[match.end() + 1 :]) if match else ("", url)
    parts["scheme"] = scheme
    if rest.endswith("?") and rest.count("?") == 1:
        parts["force_query"], rest = True, rest[:-1]
    else:
        rest, _, parts["raw_query"] = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return parts | {"opaque": rest}
        if of_request:
            raise ValueError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise ValueError("first path segment in URL cannot contain colon")
    if rest.startswith("//") and (scheme or (not of_request and not rest.startswith("///"))):
        authority, slash, rest = rest[2:].partition("/")
        rest = slash + rest
        parts["user"], parts["host"] = _authority(scheme, authority)
    elif scheme and rest.startswith("/"):
        parts["omit_host"] = True
    path = _unescaped(rest)
    return parts | {"path": path, "raw_path": "" if _escaped(path, _PATH) == rest else rest}


def _authority(scheme: str, authority: str) -> tuple[str | None, str]:
    userinfo, at, host = authority.rpartition("@")
    host = _read_host(scheme, host)
    if not at:
        return None, host
    if not _USERINFO.issuperset(_text(userinfo)):
        raise ValueError("net/url: invalid userinfo")
    name, colon, password = userinfo.partition(":")
    user = _escaped(_unescaped(name), _USER)
    return (f"{user}:{_escaped(_unescaped(password), _USER)}" if colon else user), host


def _read_host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise ValueError("invalid IP-literal")
    if bracket == 0:
        return _read_literal(host)
    first, last = host.find(":"), host.rfind(":")
    if first >= 0:
        _check_port(host[first if scheme in ("http", "https") else last :])
    return _unescaped_host(host)


def _read_literal(host: str) -> str:
    """A host in brackets: an IPv6 address, maybe with a zone."""
    close = host.rfind("]")
    if close < 0:
        raise ValueError("missing ']' in host")
    port = host[close + 1 :]
    _check_port(port)
    name, percent, zone = host[1:close].partition("%25")
    name = _unescaped_host(name)
    if percent:
        name += _unescaped_zone(percent + zone)
    try:
        _, bits, _ = parse_address(_text(name))
    except ValueError as error:
        raise ValueError(f"invalid host: {error}") from None
    if bits == 32:
        raise ValueError("invalid IP-literal")
    return f"[{name}]{port}"


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise ValueError(f"invalid port {quoted(_text(port))} after host")


# -- escapes --------------------------------------------------------------------------------------------------------


def _unescaped(text: str, plus: str = "+") -> str:
    for match in re.finditer("%", text):
        _hex_after(text, match.start())
    plain = text.replace("+", plus)
    return re.sub("%(..)", lambda match: chr(int(match[1], 16)), plain)


def _hex_after(text: str, position: int) -> int:
    escape = text[position : position + 3]
    if len(escape) < 3 or not _HEX.issuperset(escape[1:]):
        raise _escape_error(escape)
    return int(escape[1:], 16)


def _escape_error(escape: str) -> ValueError:
    return ValueError(f"invalid URL escape {quoted(_text(escape))}")


def _unescaped_host(text: str) -> str:
    """A host cannot escape ASCII, except the percent sign itself."""
    for index, character in _outside_escapes(text):
        if character == "%":
            if _hex_after(text, index) < 0x80 and text[index : index + 3] != "%25":
                raise _escape_error(text[index : index + 3])
        elif character < "\x80" and character not in _HOST:
            raise ValueError(f"invalid character {quoted(character)} in host name")
    return _unescaped(text)


def _unescaped_zone(text: str) -> str:
    """A zone can escape blanks and what may stand in it anyway."""
    for index, character in _outside_escapes(text):
        if character == "%":
            code = _hex_after(text, index)
            if text[index : index + 3] != "%25" and code != 0x20 and chr(code) not in _HOST:
                raise _escape_error(text[index : index + 3])
        elif character < "\x80" and character not in _HOST:
            raise ValueError(f"invalid character {quoted(character)} in host name")
    return _unescaped(text)


def _outside_escapes(text: str) -> list[tuple[int, str]]:
    """Each character with its place, but not the two after a percent sign."""
    return [(match.start(), match[0][0]) for match in re.finditer(r"%.{0,2}|.", text, re.DOTALL)]


def _escaped(text: str, allowed: frozenset[str]) -> str:
    return "".join(character if character in allowed else f"%{ord(character):02X}" for character in text)


def _is_encoded(text: str, allowed: frozenset[str]) -> bool:
    return (allowed | _ENCODED).issuperset(text)


def _escaped_path(path: str, raw: str) -> str:
    if raw and _is_encoded(raw, _PATH):
        return raw
    return "*" if path == "*" else _escaped(path, _PATH)
