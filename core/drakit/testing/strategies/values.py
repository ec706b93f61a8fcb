"""Texts: names, quantities and versions, sound ones and near misses.

Sources: k8s.io/apimachinery ``pkg/api/resource/quantity.go`` and ``pkg/util/validation``, semver.org 2.0.0.
"""

from __future__ import annotations

import re
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from drakit.testing.strategies.odds import happens, one_in, pick

__all__ = ["dns_labels", "quantities", "quantity_texts", "version_texts", "versions"]


# -- names ----------------------------------------------------------------------------------------------------------------

_LABELS: Final = st.sampled_from(("a", "gpu-0", "d1", "0", "7f", "a-b", "x--y", "gpu-0000", "n0-1-2", "1-a"))
_MIDDLE: Final = st.text("a0-", max_size=4)


def dns_labels() -> SearchStrategy[str]:
    """DNS labels, as devices, requests, counters and counter sets are named: 1..63 of ``[a-z0-9-]``, no dash at the ends."""
    return st.one_of(_LABELS, _odd_labels())


@st.composite
def _odd_labels(draw: DrawFn) -> str:
    label = f"{pick(draw, 'a0z9')}{draw(_MIDDLE)}{pick(draw, 'b1')}"
    return label.ljust(63, "x") if draw(one_in(8)) else label


# -- quantities -----------------------------------------------------------------------------------------------------------

_BINARY: Final = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = ("n", "u", "m", "k", "M", "G", "T", "P", "E")
_EXPONENTS: Final = ("e3", "E3", "e0", "e1", "e-3", "e+6", "E-9", "e-10", "e12", "e18", "e19", "e-30", "e40", "E+02", "e03")
_SUFFIXES: Final = ("", "", "", *_BINARY, *_DECIMAL, *_EXPONENTS)
_NUMBERS: Final = (
    *("1", "0", "2", "3", "8", "10", "80", "100", "500", "999", "1000", "1001", "1023", "1024", "1025", "1500", "4096"),
    *("007", "1000000", "1048576", "999999999", "1000000001", "4294967296"),
    *("9007199254740993", "999999999999999999", "9223372036854775807", "9223372036854775808", "18446744073709551616"),
    *("12345678901234567890", "1000000000000000000000", "99999999999999999999999999999", "0000000000000000000001"),
)
_FRACTIONS: Final = ("", "", "", "", ".5", ".", ".0", ".25", ".125", ".1", ".9", ".000", ".001", ".1000000000", ".999999999")
_FINE_FRACTIONS: Final = (".0000000001", ".1234567891", ".9999999999", ".00000000000000000001", ".5000000000000000000000001")
_DIGITLESS: Final = ("+", "-", "Ki", "-Mi", "m", "k")
"""Kubernetes reads these as 0."""
_ANY_NUMBER: Final = st.integers(0, 10**24)


@st.composite
def quantities(draw: DrawFn) -> str:
    """Texts that Kubernetes reads as a quantity: every suffix and notation, any sign, huge ones, finer ones than it keeps."""
    suffix = pick(draw, _SUFFIXES)
    number = str(draw(_ANY_NUMBER)) if draw(one_in(6)) else pick(draw, _NUMBERS)
    fraction = pick(draw, (*_FRACTIONS, *_FINE_FRACTIONS))
    odd = pick(draw, _QUANTITY_ODDS)
    if odd == "digitless":
        return pick(draw, _DIGITLESS)
    sign = odd if odd in ("-", "+") else ""
    return f"{sign}{'' if odd == 'no integer' and len(fraction) > 1 else number}{fraction}{suffix}"


_QUANTITY_ODDS: Final = (*("",) * 12, "-", "-", "-", "+", "no integer", "no integer", "digitless")
_NEAR_QUANTITIES: Final = (
    *(" 1", "1 ", "1K", "1e", "1_000", "", "+-1", "--1", "1.2.3", "1e3Ki", "1Kie3", "1 Gi", "1GB", "1GiB", "1gi", "1mi", "1KI"),
    *("0x10", "1,5", "1e3.5", "e3", "Ei", "Pi", "-Ei", ".", "-.", ".Ki", "NaN", "Inf", "Infinity", "1e+", "1e-", "1E+", "1Mm"),
    *("\u0661", "\uff11", "1\u00a0", "1\n", "\t1", "1\u00b5", "1\u03bc", "\u00bd", "1e\u0663", "1\u0000", "++1", "1-", "1+1"),
    *("1EE", "1Ee3", "1eE3", "1e3e3", "1i", "i", "1ki", "1Zi", "1Y", "1h", "%", "1%", "null", "true", "1e00000000000000000001"),
)
_EDITS: Final = (" ", ".", "-", "+", "e", "E", "i", "K", "0", "_", "\u0661", "")
"""What is put into a sound text; nothing: a character goes."""


def quantity_texts() -> SearchStrategy[str]:
    """Quantities, and texts that look like one: blanks, wrong case, doubled signs, digits of other scripts."""
    return st.one_of(quantities(), st.sampled_from(_NEAR_QUANTITIES), _edited(quantities(), _EDITS).map(_with_short_exponent))


def _with_short_exponent(text: str) -> str:
    """Kubernetes computes for hours, or for ever, with an exponent of ten digits."""
    return re.sub(r"([eE][+-]?\d{4})\d+", r"\1", text)


@st.composite
def _edited(draw: DrawFn, texts: SearchStrategy[str], edits: tuple[str, ...]) -> str:
    text = draw(texts)
    place = draw(st.integers(0, len(text)))
    edit = pick(draw, edits)
    return text[:place] + edit + text[place + (not edit) :]


# -- versions -------------------------------------------------------------------------------------------------------------

_MAJORS: Final = ("1", "0", "2", "10", "9", "535", "4294967296", "9223372036854775807", "9223372036854775808")
_MINORS: Final = ("0", "0", "1", "2", "9", "10", "104", "4294967295")
_PRERELEASES: Final = (
    *("", "", "", "-rc.1", "-alpha", "-0", "-1", "-10", "-alpha.1", "-a.b.c", "-x-y", "--", "-rc.1.0", "-1a", "-A"),
    *("-alpha.beta", "-9999999999"),
)
_BUILDS: Final = ("", "", "", "+b1", "+001", "+b.2", "+-", "+A-b")


@st.composite
def versions(draw: DrawFn) -> str:
    """Versions by SemVer 2.0.0, at most 64 bytes: with prerelease, with build metadata, with numbers up to 2**64 - 1."""
    major = pick(draw, (*_MAJORS, "18446744073709551615"))
    core = f"{major}.{pick(draw, _MINORS)}.{pick(draw, _MINORS)}"
    return core if happens(draw, 50) else f"{core}{pick(draw, _PRERELEASES)}{pick(draw, _BUILDS)}"


_NEAR_VERSIONS: Final = (
    *(
        "1.2",
        "1",
        "v1.2.3",
        "V1.2.3",
        "vv1.2.3",
        "01.2.3",
        "1.02.3",
        "1.2.03",
        "1.2.3-",
        "1.2.3+",
        "1.2.3-01",
        "1.2.3-a..b",
        "",
    ),
    *(
        " 1.2.3",
        "1.2.3 ",
        "1.2.3.4",
        "1..3",
        ".2.3",
        "1.2.",
        "-1.2.3",
        "+1.2.3",
        "1.2.3-a_b",
        "1.2.3+a_b",
        "1.2.3+a+b",
        "1.2.x",
    ),
    *("18446744073709551616.0.0", "1.18446744073709551616.0", "1.2.3-18446744073709551616", "1.2.3-18446744073709551615"),
    *(
        "1.2-rc.1",
        "1.2+b",
        "v1",
        "v1.2",
        "v01.2",
        "00.0.0",
        "1.2.3-+b",
        "1.2.3-.a",
        "1.2.3-a.",
        "1.2.3-\u00e9",
        "\u0661.0.0",
        "latest",
    ),
    *("1,2,3", "1.2.3-a b", "1.2.3\n", "0.0.0-00", "0.0.0--", "1.2.3+01", "1.2.3-0a", "1.2.3-1." + "a" * 60, "1.2.3-\u0661"),
)
_VERSION_EDITS: Final = (".", "v", "0", "-", "+", " ", "a", "")


def version_texts() -> SearchStrategy[str]:
    """Versions, and texts that look like one: a ``v`` before it, parts missing, leading zeros, numbers beyond 64 bits."""
    return st.one_of(versions(), st.sampled_from(_NEAR_VERSIONS), _edited(versions(), _VERSION_EDITS))
