"""IP addresses and networks, as Go's ``net/netip`` reads and tells of them.

Addresses with a zone and IPv4 addresses inside IPv6 ones are refused, as Kubernetes does.

Source: Go ``net/netip``; k8s.io/apiserver ``pkg/cel/{ip,cidr}.go`` and ``pkg/cel/library/{ip,cidr}.go``.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from attrs import frozen

from drakit.cel.go.quoting import quoted
from drakit.cel.values import NO_SUCH_OVERLOAD, Fault, Thing, Value, no_such_overload, register

__all__ = ["Cidr", "Ip", "parse_address"]

_MAPPED: Final = 0xFFFF  # what stands before the 32 bits of an IPv4 address inside an IPv6 one


@register
@frozen(eq=False, slots=False)
class Ip(Thing):
    """An address."""

    type_name = "net.IP"

    number: int
    bits: int
    """32 or 128."""

    @classmethod
    def parse(cls, text: str) -> Ip:
        """Read an address.

        :raises Fault: none, or one Kubernetes does not want.
        """
        try:
            number, bits, zone = parse_address(text)
        except ValueError as error:
            raise Fault(f"IP Address {quoted(text)} parse error during conversion from string: {error}") from None
        if zone:
            raise Fault(f"IP address {quoted(text)} with zone value is not allowed")
        if _is_mapped(number, bits):
            raise Fault(f"IPv4-mapped IPv6 address {quoted(text)} is not allowed")
        return cls(number, bits)

    def equals(self, other: Value) -> bool:
        if not isinstance(other, Ip):
            raise Fault(NO_SUCH_OVERLOAD)
        return self.hash_key == other.hash_key

    @property
    def hash_key(self) -> tuple[int, int]:
        return self.number, self.bits

    @property
    def native_text(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """In its canonical form."""
        return str(ipaddress.IPv4Address(self.number) if self.bits == 32 else ipaddress.IPv6Address(self.number))

    @property
    def size(self) -> int:
        return self.bits // 8

    @property
    def family(self) -> int:
        """4 or 6."""
        return 4 if self.bits == 32 else 6

    @property
    def is_unspecified(self) -> bool:
        return self.number == 0

    @property
    def is_loopback(self) -> bool:
        return self._begins(127, 8) if self.bits == 32 else self.number == 1

    @property
    def is_multicast(self) -> bool:
        return self._begins(0xE, 4) if self.bits == 32 else self._begins(0xFF, 8)

    @property
    def is_link_local_multicast(self) -> bool:
        return self._begins(0xE00000, 24) if self.bits == 32 else self.number >> 112 & 0xFF0F == 0xFF02

    @property
    def is_link_local_unicast(self) -> bool:
        return self._begins(0xA9FE, 16) if self.bits == 32 else self._begins(0xFE80 >> 6, 10)

    @property
    def is_global_unicast(self) -> bool:
        """Neither special nor multicast; private addresses count as global."""
        special = self.is_unspecified or self.is_loopback or self.is_multicast or self.is_link_local_unicast
        return not special and not (self.bits == 32 and self.number == 0xFFFFFFFF)

    def _begins(self, prefix: int, length: int) -> bool:
        return self.number >> (self.bits - length) == prefix


@register
@frozen(eq=False, slots=False)
class Cidr(Thing):
    """A network: an address and how many of its bits count."""

    type_name = "net.CIDR"

    ip: Ip
    length: int

    @classmethod
    def parse(cls, text: str) -> Cidr:
        """Read a network; bits set behind the prefix are kept.

        :raises Fault: none, or one Kubernetes does not want.
        """
        try:
            number, bits, length = _parse_prefix(text)
        except ValueError as error:
            # Upstream says it twice.
            raise Fault(f"{_NOT_A_NETWORK}: {_NOT_A_NETWORK}: netip.ParsePrefix({quoted(text)}): {error}") from None
        if _is_mapped(number, bits):
            raise Fault(f"{_NOT_A_NETWORK}: IPv4-mapped IPv6 address {quoted(text)} is not allowed")
        return cls(Ip(number, bits), length)

    def equals(self, other: Value) -> bool:
        if not isinstance(other, Cidr):
            raise Fault(NO_SUCH_OVERLOAD)
        return self.hash_key == other.hash_key

    @property
    def hash_key(self) -> tuple[int, int, int]:
        return *self.ip.hash_key, self.length

    @property
    def native_text(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"{self.ip}/{self.length}"

    @property
    def size(self) -> int:
        return -(-self.length // 8)

    def masked(self) -> Cidr:
        """The network with nothing behind its prefix."""
        behind = self.ip.bits - self.length
        return Cidr(Ip(self.ip.number >> behind << behind, self.ip.bits), self.length)

    def contains_ip(self, other: Ip | str) -> bool:
        """Whether an address is in the network."""
        if isinstance(other, str):
            try:
                other = Ip.parse(other)
            except Fault:  # upstream loses what was wrong
                raise no_such_overload() from None
        behind = self.ip.bits - self.length
        return self.ip.bits == other.bits and self.ip.number >> behind == other.number >> behind

    def contains_cidr(self, other: Cidr | str) -> bool:
        """Whether another network is all in this one."""
        if isinstance(other, str):
            other = Cidr.parse(other)
        return self.length <= other.length and self.contains_ip(other.ip)


_NOT_A_NETWORK: Final = "network address parse error during conversion from string"


def _is_mapped(number: int, bits: int) -> bool:
    return bits == 128 and number >> 32 == _MAPPED


def _parse_prefix(text: str) -> tuple[int, int, int]:
    address, slash, length = text.rpartition("/")
    if not slash:
        raise ValueError("no '/'")
    number, bits, zone = parse_address(address)
    if zone:
        raise ValueError("IPv6 zones cannot be present in a prefix")
    if not re.fullmatch(r"0|[1-9][0-9]{0,18}", length) or int(length) >= 2**63:
        raise ValueError(f"bad bits after slash: {quoted(length)}")
    if int(length) > bits:
        raise ValueError("prefix length out of range")
    return number, bits, int(length)


def parse_address(text: str) -> tuple[int, int, str]:
    """The number, the bits and the zone of an address.

    :raises ValueError: not an address, in ``netip``'s words.
    """
    mark = re.search(r"[.:%]", text)
    if mark is None:
        raise _error(text, "unable to parse IP")
    if mark[0] == ".":
        return _parse_v4(text, text), 32, ""
    if mark[0] == ":":
        return _parse_v6(text)
    raise _error(text, "missing IPv6 address")


def _error(whole: str, message: str, at: str = "") -> ValueError:
    return ValueError(f"ParseAddr({quoted(whole)}): {message}" + (f" (at {quoted(at)})" if at else ""))


def _parse_v4(whole: str, text: str) -> int:
    """Four numbers; ``whole`` is what the message shows."""
    octets: list[int] = [0]
    digits = 0
    for index, character in enumerate(text):
        if "0" <= character <= "9":
            if digits == 1 and octets[-1] == 0:
                raise _error(whole, "IPv4 field has octet with leading zero")
            octets[-1] = octets[-1] * 10 + int(character)
            digits += 1
            if octets[-1] > 255:
                raise _error(whole, "IPv4 field has value >255")
        elif character == ".":
            if digits == 0 or index == len(text) - 1:
                raise _error(whole, "IPv4 field must have at least one digit", text[index:])
            if len(octets) == 4:
                raise _error(whole, "IPv4 address too long")
            octets.append(0)
            digits = 0
        else:
            raise _error(whole, "unexpected character", text[index:])
    if len(octets) < 4:
        raise _error(whole, "IPv4 address too short")
    return int.from_bytes(octets)


_GROUP: Final = re.compile(r"[0-9A-Fa-f]*")


def _parse_v6(whole: str) -> tuple[int, int, str]:
    rest, percent, zone = whole.partition("%")
    if percent and not zone:
        raise _error(whole, "zone must be a non-empty string")
    octets = bytearray()
    ellipsis: int | None = None
    if rest.startswith("::"):
        ellipsis, rest = 0, rest[2:]
        if not rest:
            return 0, 128, zone
    while len(octets) < 16:
        match = _GROUP.match(rest)
        assert match is not None
        digits = match[0]
        if len(digits) > 4:
            raise _error(whole, "each group must have 4 or less digits", rest)
        if not digits:
            raise _error(whole, "each colon-separated field must have at least one digit", rest)
        if rest[len(digits) :].startswith("."):
            if ellipsis is None and len(octets) != 12:
                raise _error(whole, "embedded IPv4 address must replace the final 2 fields of the address", rest)
            if len(octets) > 12:
                message = "too many hex fields to fit an embedded IPv4 at the end of the address"
                raise _error(whole, message, rest)
            octets += _parse_v4(whole, rest).to_bytes(4)
            rest = ""
            break
        octets += int(digits, 16).to_bytes(2)
        rest = rest[len(digits) :]
        if not rest:
            break
        if rest[0] != ":":
            raise _error(whole, "unexpected character, want colon", rest)
        if len(rest) == 1:
            raise _error(whole, "colon must be followed by more characters", rest)
        rest = rest[1:]
        if rest[0] == ":":
            if ellipsis is not None:
                raise _error(whole, "multiple :: in address", rest)
            ellipsis, rest = len(octets), rest[1:]
            if not rest:
                break
    if rest:
        raise _error(whole, "trailing garbage after address", rest)
    if len(octets) < 16:
        if ellipsis is None:
            raise _error(whole, "address string too short")
        octets[ellipsis:ellipsis] = bytes(16 - len(octets))
    elif ellipsis is not None:
        raise _error(whole, "the :: must expand to at least one field of zeros")
    return int.from_bytes(octets), 128, zone
