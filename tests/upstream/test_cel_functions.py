"""drakit's functions of CEL beside Kubernetes' own, family by family: what comes out, down to the text of an error.

Where a function gives a string, a map without that key makes both tell it: ``no such key: <what it came to>``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drakit.model import Device, DeviceAttribute
from tests.upstream.client import Oracle
from tests.upstream.differential import differential
from tests.upstream.test_cel import compare

pytestmark = pytest.mark.upstream

DRIVER: Final = "d"
A: Final = 'device.attributes["d"].a'
B: Final = 'device.attributes["d"].b'


def ask(oracle: Oracle, family: str, expression: str, *texts: str) -> None:
    """Compare what both say; ``texts`` are the attributes ``a``, ``b``, ... of the device."""
    attributes = {name: DeviceAttribute(string=text) for name, text in zip("abcd", texts, strict=False)}
    compare(oracle, f"cel: {family}", expression, DRIVER, Device("x", attributes=attributes))


def told(expression: str) -> str:
    """An expression that makes both tell the string another one comes to."""
    return f'{{"\\u0001": true}}[{expression}]'


def quoted(text: str) -> str:
    """A literal of a text."""
    return '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'


def texts_of(pieces: Sequence[str], most: int = 9) -> st.SearchStrategy[str]:
    """Texts put together from pieces that matter, and some that don't."""
    return st.lists(st.one_of(st.sampled_from(pieces), st.characters(exclude_categories=["Cs"])), max_size=most).map("".join)


WORDS: Final = "a ab abc aab b é ß \U0001f600 \u2028 \x00 \n \t A Z .".split(" ")
TEXTS: Final = texts_of(WORDS)
INTS: Final = st.one_of(st.integers(-3, 12), st.sampled_from([-(2**63), 2**63 - 1, 2**31]))
DOUBLES: Final = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**20), 10**20).map(float),
    st.decimals(-1000, 1000, places=3).map(float),
)


def double(value: float) -> str:
    """A literal of a double."""
    text = repr(value)
    return text if "e" not in text else text.replace("e", ".0e" if "." not in text else "e")


# -- network ----------------------------------------------------------------------------------------------------------

ADDRESS_PIECES: Final = (
    "0 00 1 01 255 256 10. 192.168. 1.2.3.4 1.2.3 . .. : :: ::: f fe80 ff02 ffff ::ffff: 0:0:0:0:0:ffff: fe80:: 2001:db8:: "
    "12345 g % %eth0 / /0 /8 /08 /32 /33 /64 /128 /129 /-1 /+1 224.0.0. 169.254. 127.0.0.1 ::1 fec0 fe7f febf"
).split(" ")
ADDRESSES: Final = st.one_of(
    texts_of(ADDRESS_PIECES, 6),
    st.lists(st.sampled_from(ADDRESS_PIECES), max_size=8).map("".join),
    st.ip_addresses().map(str),
    st.ip_addresses(v=6).map(lambda address: address.exploded),
    st.lists(st.sampled_from(["0", "1", "ffff", "00ab", ""]), min_size=6, max_size=9).map(":".join),
)
NETWORKS: Final = st.one_of(ADDRESSES, st.tuples(ADDRESSES, st.integers(0, 129)).map(lambda parts: f"{parts[0]}/{parts[1]}"))
OF_ADDRESS: Final = [
    f"string(ip({A}))",
    f"string(ip({A}).family())",
    f"string(isIP({A}))",
    f"string(ip.isCanonical({A}))",
    *(
        f"string(ip({A}).{name}())"
        for name in "isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast".split()
    ),
]
OF_NETWORK: Final = [
    f"string(cidr({A}))",
    f"string(cidr({A}).masked())",
    f"string(cidr({A}).ip())",
    f"string(cidr({A}).prefixLength())",
    f"string(isCIDR({A}))",
]


@differential
@given(expression=st.sampled_from(OF_ADDRESS), text=ADDRESSES)
def test_addresses(oracle: Oracle, expression: str, text: str) -> None:
    ask(oracle, "addresses", told(expression), text)


@differential
@given(expression=st.sampled_from(OF_NETWORK), text=NETWORKS)
def test_networks(oracle: Oracle, expression: str, text: str) -> None:
    ask(oracle, "networks", told(expression), text)


VALID_NETWORKS: Final = st.one_of(
    st.tuples(st.sampled_from(["10.0.0.0", "10.1.2.3", "0.0.0.1", "10.0.128.0"]), st.integers(0, 32)),
    st.tuples(st.sampled_from(["2001:db8::", "::", "::1", "2001:db8:8000::1"]), st.integers(0, 128)),
).map(lambda parts: f"{parts[0]}/{parts[1]}")
RELATIONS: Final = [
    f"cidr({A}).containsCIDR({B})",
    f"cidr({A}).containsCIDR(cidr({B}))",
    f"cidr({A}).containsIP(cidr({B}).ip())",
    f'cidr({A}).containsIP({B}.split("/")[0])',
    f"cidr({A}).containsIP({B})",
    f"cidr({A}) == cidr({B})",
    f"cidr({A}).masked() == cidr({B}).masked()",
    f"cidr({A}).ip() == cidr({B}).ip()",
    f"cidr({A}) in [cidr({B})]",
    f"cidr({A}).ip() in {{cidr({B}).ip(): 1}}",
]


@differential
@given(expression=st.sampled_from(RELATIONS), one=st.one_of(VALID_NETWORKS, NETWORKS), other=VALID_NETWORKS)
def test_what_networks_contain(oracle: Oracle, expression: str, one: str, other: str) -> None:
    ask(oracle, "what networks contain", expression, one, other)


# -- URLs -------------------------------------------------------------------------------------------------------------

URL_PIECES: Final = (
    "http https HTTP mailto a b :// : / // /// ? # @ [ ] ::1 fe80::1 %25 %25en0 %41 %zz % %2 %e4 %ff %20 %2F é 8080 80x "
    "example.com u u:p & = ; + * .. . \\ ^ | \" < > ~ ! $ ' ( ) 1.2.3.4 x=1 x=2 &y= a%3Db \x7f \t - _ , {} `"
).split(" ")
URLS: Final = st.one_of(
    texts_of(URL_PIECES),
    st.lists(st.sampled_from([*URL_PIECES, " "]), max_size=10).map("".join),
    st.tuples(
        st.sampled_from(["http", "https", "ftp", "a+b", ""]),
        st.sampled_from(["", "u@", "u:p@", "u%40:p%2F@", "é@", "u:p:q@", ":@"]),
        st.sampled_from(
            ["h", "h.example.com", "[::1]", "[fe80::1%25en0]", "[fe80::1%en0]", "%41", "%c3%a9", "h:", "h:1:2", "é", "a b"]
        ),
        st.sampled_from(["", ":80", ":", ":x", ":8 0"]),
        texts_of(["/", "a", "%2F", "é", "*", "[", "?", "x=1", "&", "y=%20+", ";", "=", "#", "f"], 8),
    ).map(lambda parts: f"{parts[0]}{'://' if parts[0] else ''}{parts[1]}{parts[2]}{parts[3]}/{parts[4]}"),
)
OF_URL: Final = [
    *(f"url({A}).{name}()" for name in "getScheme getHost getHostname getPort getEscapedPath".split()),
    f"string(isURL({A}))",
    f'url({A}).getQuery().map(k, k + "=" + url({A}).getQuery()[k].join(",")).sort().join("&")',
    f"string(url({A}).getHost().size())",
    f'"%x".format([url({A}).getHostname()])',
    f'[dyn(""), dyn(url({A}))].join()',
    f"string(url({A}) == url({B}))",
    f"strings.quote(url({A}).getHost())",
    f'url({A}).getHost().findAll(".").join("|")',
]


@differential
@given(expression=st.sampled_from(OF_URL), text=URLS, other=URLS)
def test_urls(oracle: Oracle, expression: str, text: str, other: str) -> None:
    ask(oracle, "urls", told(expression), text, other)


# -- time -------------------------------------------------------------------------------------------------------------

MOMENTS: Final = st.one_of(
    st.tuples(
        st.datetimes().map(lambda moment: moment.isoformat().replace("-", "-", 0)),
        st.sampled_from(["", ".5", ",25", ".123456789", ".1234567891234", ".", ".000000001"]),
        st.sampled_from(
            ["Z", "z", "", "+00:00", "-00:00", "+01:30", "-12:00", "+24:60", "+25:00", "+14:00", "+0100", "-00:61", "+05:59"]
        ),
    ).map("".join),
    st.tuples(
        st.sampled_from(["0000", "0001", "9999", "2024", "1900", "2000", "24", "10000"]),
        st.sampled_from(["-01-01", "-12-31", "-02-29", "-02-30", "-13-01", "-00-01", "-1-01", "-04-31", "-01-00"]),
        st.sampled_from(
            ["T00:00:00", "T23:59:59", "T24:00:00", "T1:02:03", "t00:00:00", " 00:00:00", "T23:60:00", "T23:59:60", "T0:0:0"]
        ),
        st.sampled_from(["Z", "+01:00", "-01:00", "-24:00", "+23:59", ".999999999Z"]),
    ).map("".join),
)
SPANS: Final = st.one_of(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "0",
                    "1",
                    "1.5",
                    ".5",
                    "5.",
                    ".",
                    "",
                    "9223372036",
                    "9223372036854775807",
                    "9223372036854775808",
                    "0.1234567890123456789012345",
                    "2562047.78801521",
                    "00001",
                    "3.33333333333",
                ]
            ),
            st.sampled_from(["h", "m", "s", "ms", "us", "\u00b5s", "\u03bcs", "ns", "", "d", "S"]),
        ).map("".join),
        max_size=3,
    ).map("".join),
    st.tuples(
        st.sampled_from(["-", "+", "--", " "]),
        st.sampled_from(["1h", "1.5h30m", "0", "", "9223372036854775808ns", "2562047h47m16.854775808s"]),
    ).map("".join),
    st.integers(-(2**63), 2**63 - 1).map(lambda number: f"{number}ns"),
    st.integers(-(2**33), 2**33).map(lambda number: f"{number}s"),
)
ZONES: Final = st.one_of(
    st.sampled_from(
        "UTC Local Europe/Berlin America/New_York Asia/Kolkata Australia/Lord_Howe Pacific/Apia Africa/Casablanca "
        "America/Sao_Paulo Asia/Kathmandu Europe/Dublin Antarctica/Troll EST5EDT Etc/GMT+12 Asia/Tehran "
        "Pacific/Kiritimati".split()
    ),
    st.sampled_from(
        [
            "",
            "Nope",
            "europe/berlin",
            "../etc",
            "/x",
            "\\x",
            "America",
            ":",
            "1:",
            ":1",
            "+1:30",
            "-1:30",
            "-0:30",
            "01:99",
            "99:00",
            "1:-5",
            "9223372036854775807:0",
            "9223372036854775808:0",
            "1_0:00",
            "x:1",
            "+:1",
            "-25:00",
            "2562048:00",
        ]
    ),
)
PARTS: Final = (
    "getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds getMilliseconds"
).split()
SECONDS: Final = st.one_of(
    st.integers(-62135596800, 253402300799),
    st.integers(-(2**31), 2**32),
    st.sampled_from([-62135596800, -62135596801, 253402300799, 253402300800, -62135596800 + 86399, 253402300799 - 3600]),
)


@differential
@given(text=MOMENTS)
def test_reading_points_in_time(oracle: Oracle, text: str) -> None:
    ask(oracle, "reading points in time", told(f'string(timestamp({A})) + " " + string(int(timestamp({A})))'), text)


@differential
@given(text=SPANS)
def test_reading_durations(oracle: Oracle, text: str) -> None:
    parts = ' + " " + '.join(
        f"string(duration({A}).{name}())" for name in "getHours getMinutes getSeconds getMilliseconds".split()
    )
    expression = f'string(duration({A})) + " " + string(int(duration({A}))) + " " + [dyn(""), dyn(duration({A}))].join()'
    ask(oracle, "reading durations", told(f'string(duration({A})) + " " + {parts}'), text)
    ask(oracle, "printing durations", told(expression), text)


@differential
@given(part=st.sampled_from(PARTS), seconds=SECONDS, zone=ZONES)
def test_parts_of_points_in_time(oracle: Oracle, part: str, seconds: int, zone: str) -> None:
    ask(oracle, "parts of points in time", told(f"string(timestamp({seconds} + 0).{part}({B}))"), "", zone)
    ask(oracle, "parts of points in time", told(f"string(timestamp({seconds} + 0).{part}())"), "", zone)


CALCULATIONS: Final = [
    f"string(timestamp({A}) + duration({B}))",
    f"string(duration({B}) + timestamp({A}))",
    f"string(timestamp({A}) - duration({B}))",
    f"string(timestamp({A}) - timestamp(0))",
    f"string(timestamp(0) - timestamp({A}))",
    f"string(duration({B}) + duration({B}))",
    f"string(duration({B}) - duration({B}) - duration({B}))",
    f"string(dyn(timestamp({A})) + {B})",
    f"string(-dyn(duration({B})))",
    f"string(timestamp({A}) < timestamp(1700000000)) + string(duration({B}) >= duration('1s'))",
    f"string(dyn(timestamp({A})) == dyn({B})) + string(duration({B}) == duration('1h'))",
    f"string(timestamp({A}) in [timestamp(0), timestamp({A})]) + string(timestamp({A}) in {{timestamp({A}): 1}})",
    f"string([duration({B}), duration('1s')].sum()) + string([duration({B}), duration('1s')].max())",
    f"string([timestamp({A}), timestamp(0)].min()) + string([timestamp({A}), timestamp(0)].sort()[0])",
    f"string(optional.ofNonZeroValue(timestamp({A})).hasValue()) + string(optional.ofNonZeroValue(duration({B})).hasValue())",
    f'"%s %s".format([timestamp({A}), [duration({B})]])',
    f'[dyn(""), dyn(timestamp({A}))].join()',
]


@differential
@given(expression=st.sampled_from(CALCULATIONS), moment=MOMENTS, span=SPANS)
def test_calculating_with_time(oracle: Oracle, expression: str, moment: str, span: str) -> None:
    ask(oracle, "calculating with time", told(expression), moment, span)


@differential
@given(kind=st.sampled_from(["timestamp", "duration"]), text=st.one_of(MOMENTS, SPANS))
def test_literals_of_time(oracle: Oracle, kind: str, text: str) -> None:
    ask(oracle, "literals of time", told(f"string({kind}({quoted(text)}))"))


# -- format -----------------------------------------------------------------------------------------------------------

VALUES: Final = st.one_of(
    INTS.map(str),
    st.integers(0, 2**64 - 1).map(lambda number: f"{number}u"),
    DOUBLES.map(double),
    TEXTS.map(quoted),
    st.binary(max_size=4).map(lambda value: 'b"' + "".join(f"\\x{byte:02x}" for byte in value) + '"'),
    st.sampled_from(
        "true false null duration('90m') timestamp(0) type(1) type([1]) int string double('NaN') double('Inf') double('-Inf') "
        "'NaN' 'Infinity' '-Infinity' [] {} semver('1.2.3') quantity('1k') ip('::1') optional.of(1) optional.none() [1,2] "
        "{'a':1,'b':2} {1:'x'} {true:[1.5]} [['é',\"\\\"\"]] {1.5:2} {duration('1s'):1} [dyn(b'a'),dyn(1.5),dyn(null)]".split()
    ),
)
ARGUMENTS: Final = st.one_of(VALUES, VALUES.map(lambda value: f"dyn({value})"))
CLAUSES: Final = st.one_of(
    st.sampled_from(
        "%s %d %f %e %b %x %X %o %% %.0f %.2f %.10f %.3e %.0e %.12e %.s %.2 % %z %.-1f %.007f %é %5d %.2d".split(" ")
    ),
    st.integers(0, 400).map(lambda precision: f"%.{precision}f"),
    st.integers(0, 30).map(lambda precision: f"%.{precision}e"),
    st.sampled_from(["", "a", "é", " "]),
)


@differential
@given(clauses=st.lists(CLAUSES, max_size=3), arguments=st.lists(ARGUMENTS, max_size=3), literal=st.booleans())
def test_format(oracle: Oracle, clauses: list[str], arguments: list[str], literal: bool) -> None:
    text = "".join(clauses)
    ask(oracle, "format", told(f"{quoted(text) if literal else A}.format([{', '.join(arguments)}])"), text)


@differential
@given(letter=st.sampled_from("fe"), precision=st.integers(0, 40), value=DOUBLES)
def test_format_of_doubles(oracle: Oracle, letter: str, precision: int, value: float) -> None:
    ask(
        oracle,
        "format of doubles",
        told(f'"%.{precision}{letter}|%s|%{letter}|%s".format([{", ".join([double(value)] * 3)}, [{double(value)}]])'),
    )


NAMES: Final = st.one_of(
    texts_of(["a", "A", "1", "-", "_", ".", "/", "a-b", "example.com", "é", " "], 6),
    st.sampled_from(["a" * 63, "a" * 64, "a" * 253, "a" * 254, "é" * 32, "a." * 30 + "a", "a-", "-", "a--"]),
    st.tuples(
        st.sampled_from(["", "a", "example.com", "A", "a" * 254]), st.sampled_from(["", "b", "B_.", "c" * 64, "b/c"])
    ).map("/".join),
    st.uuids().map(str),
    st.uuids().map(lambda value: value.hex.upper()),
    st.binary(max_size=7).map(lambda value: __import__("base64").b64encode(value).decode()),
    MOMENTS,
    MOMENTS.map(lambda moment: moment[:10]),
    URLS,
)
FORMATS: Final = (
    "dns1123Label dns1123Subdomain dns1035Label qualifiedName dns1123LabelPrefix dns1123SubdomainPrefix dns1035LabelPrefix "
    "labelValue uri uuid byte date datetime"
).split()


@differential
@given(name=st.sampled_from(FORMATS), text=NAMES)
def test_named_formats(oracle: Oracle, name: str, text: str) -> None:
    ask(oracle, "named formats", told(f'format.{name}().validate({A}).orValue(["fine"]).join("|")'), text)


@differential
@given(name=st.one_of(st.sampled_from(FORMATS), texts_of(FORMATS, 2)), text=NAMES)
def test_formats_by_name(oracle: Oracle, name: str, text: str) -> None:
    ask(
        oracle,
        "formats by name",
        f"format.named({B}).hasValue() && format.named({B}).value().validate({A}).hasValue()",
        text,
        name,
    )


# -- regular expressions ----------------------------------------------------------------------------------------------

PATTERN_PIECES: Final = (
    r"a b c k s é 1 \n \d \w \W \s \S \D . ^ $ \b \B \A \z [a-c] [^a] [[:alpha:]] [[:^digit:]] [a\d-] \pL "
    r"\p{Lu} \P{Greek} \p{^L} [\p{Lu}b] \x41 \x{e9} \101 \Qa.b\E \Q \E \C \pN (?i) (?s) (?m) (?U) (?-i) (?i-s: (?P<n> "
    r"(?<m> (?: ( ( ) ) ) | | * + ? ?? *? +? {2} {0,3} {2,} {1001} {3,2} {,2} {0} {01} [ ] - { } \ \8 \1 \pZ \p{Foo} "
    r"\p{letter} [[:foo:]] [z-a] [\d-z] []a] [^]a] [a-] (? (?i (?P< (?P<1> (?<=a) (?!a) \. \é \p{Any} \p{Lc} \pC "
    r"[^\PL] \x{110000} \xg1 \x \07 \0 \v \a a{500} (a{10}){50} [é-😀] \p{Nd} \p{Latin} \p{Old_Italic} \p{Decimal_Number}"
).split(" ")
PATTERNS: Final = st.lists(st.sampled_from([*PATTERN_PIECES, " ", "\u017f"]), max_size=10).map("".join)
SUBJECTS: Final = texts_of(
    ["a", "b", "c", "ab", "k", "K", "\u017f", "é", "É", "\n", "1", "\U0001f600", "a.b", "\u03b1", "-", " "], 8
)


@differential
@given(pattern=PATTERNS, subject=SUBJECTS, count=st.integers(-1, 3), literal=st.booleans())
def test_regular_expressions(oracle: Oracle, pattern: str, subject: str, count: int, literal: bool) -> None:
    shown = quoted(pattern) if literal else B
    found = f'{A}.find({shown}) + "#" + {A}.findAll({shown}, {count}).join("|") + "#" + {A}.findAll({shown}).join("|")'
    ask(oracle, "find", told(found), subject, pattern)
    ask(oracle, "matches", f"{A}.matches({shown})", subject, pattern)


# -- texts and numbers ------------------------------------------------------------------------------------------------


@differential
@given(text=TEXTS, part=texts_of(WORDS, 2), new=texts_of(WORDS, 2), one=INTS, other=INTS, data=st.data())
def test_texts(oracle: Oracle, text: str, part: str, new: str, one: int, other: int, data: st.DataObject) -> None:
    expression = data.draw(
        st.sampled_from(
            [
                f"{A}.charAt({one})",
                f"string({A}.indexOf({B}))",
                f"string({A}.indexOf({B}, {one}))",
                f"string({A}.lastIndexOf({B}))",
                f"string({A}.lastIndexOf({B}, {one}))",
                f"{A}.substring({one})",
                f"{A}.substring({one}, {other})",
                f"{A}.replace({B}, {quoted(new)})",
                f"{A}.replace({B}, {quoted(new)}, {one})",
                f'{A}.split({B}).join("|")',
                f'{A}.split({B}, {one}).join("|")',
                f"{A}.lowerAscii() + {A}.upperAscii() + {A}.trim()",
                f"strings.quote({A})",
                f"string({A}.size()) + string(bytes({A}).size())",
                f"string({A}.contains({B})) + string({A}.startsWith({B})) + string({A}.endsWith({B}))",
                f"string({A} < {B}) + string({A} + {B} == {B} + {A})",
                f"string(bytes({A}) + bytes({B}))",
                f'"%x|%X".format([{A}, bytes({B})])',
            ]
        )
    )
    ask(oracle, "texts", told(expression), text, part)


NUMBER_TEXTS: Final = st.one_of(
    texts_of(
        [
            "0",
            "1",
            "9",
            "-",
            "+",
            "_",
            ".",
            "e",
            "E",
            "x",
            "0x",
            "p",
            "a",
            "f",
            "inf",
            "nan",
            "infinity",
            "e5",
            "1e400",
            "5e-324",
        ],
        6,
    ),
    st.lists(st.sampled_from(["0", "1", "9", "-", "+", "_", ".", "e", "0x", "p", "a", "f"]), max_size=8).map("".join),
    st.integers(-(2**65), 2**65).map(str),
    DOUBLES.map(repr),
    st.floats().map(float.hex),
    st.sampled_from("true True TRUE t T 1 false False f tRUE yes".split()),
)


@differential
@given(kind=st.sampled_from(["int", "uint", "double", "bool"]), text=NUMBER_TEXTS)
def test_numbers_from_texts(oracle: Oracle, kind: str, text: str) -> None:
    ask(oracle, "numbers from texts", told(f"string({kind}({A}))"), text)


@differential
@given(kind=st.sampled_from("int uint double string bool bytes dyn duration timestamp type".split()), value=VALUES)
def test_conversions(oracle: Oracle, kind: str, value: str) -> None:
    ask(oracle, "conversions", told(f'"%s".format([{kind}(dyn({value}))])'))
    ask(oracle, "conversions", told(f'"%s".format([[{value}].map(x, {kind}(dyn(x)))])'))


@differential
@given(value=st.one_of(DOUBLES, st.floats(1e-6, 1e22)))
def test_texts_from_doubles(oracle: Oracle, value: float) -> None:
    if not math.isnan(value):
        ask(oracle, "texts from doubles", told(f"string({double(value)})"))


# -- lists, sets, maps ------------------------------------------------------------------------------------------------


@differential
@given(values=st.lists(st.one_of(st.integers(0, 3), st.integers(0, 30)), max_size=80))
def test_sorting_by_equal_keys(oracle: Oracle, values: list[int]) -> None:
    pairs = f"{values}.map(x, x)"
    ask(oracle, "sorting", told(f'"%s".format([lists.range({len(values)}).sortBy(i, {pairs}[i] / 2)])'))


SMALL: Final = st.one_of(
    st.sampled_from(
        "1 1u 1.0 2 'a' 'b' true null [1] {'a':1} b'a' duration('1s') timestamp(0) double('NaN') type(1) "
        "semver('1.0.0') quantity('1') ip('::1') optional.of(1)".split()
    ),
    INTS.map(str),
)
LISTS: Final = st.lists(SMALL.map(lambda value: f"dyn({value})"), max_size=5).map(lambda values: f"[{', '.join(values)}]")
OF_LISTS: Final = (
    """
{x}.sort() | {x}.distinct() | {x}.reverse() | {x}.flatten() | dyn({x}).flatten(2) | [{x}, {y}].flatten() | {x}.first()
{x}.last() | {x}.slice(1, 2) | {x}.sum() | {x}.min() | {x}.max() | {x}.isSorted() | sets.contains({x}, {y})
sets.intersects({x}, {y}) | sets.equivalent({x}, {y}) | {x}.includes({z}) | {z} in {x} | {x}.indexOf({z}) | {x}.lastIndexOf({z})
{x}.join() | dyn({x}).join('-') | optional.unwrap({x}) | {x}.unwrapOpt() | optional.ofNonZeroValue({z}) | {{{z}: 1}}.size()
{{{z}: 1}} == {{{w}: 1}} | {w} in {{{z}: 1}} | type({z}) | {x} == {y} | [{z}].sort() == [{w}].sort() | lists.range({z})
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)


@differential
@given(shape=st.sampled_from(OF_LISTS), x=LISTS, y=LISTS, z=SMALL, w=SMALL)
def test_lists_of_anything(oracle: Oracle, shape: str, x: str, y: str, z: str, w: str) -> None:
    expression = shape.format(x=x, y=y, z=f"dyn({z})", w=f"dyn({w})")
    ask(oracle, "lists", told(f'"%s".format([dyn({expression})])'))


ELEMENTS: Final = {
    "int": INTS.map(str),
    "uint": st.integers(0, 12).map(lambda number: f"{number}u"),
    "double": st.one_of(DOUBLES.map(double), st.sampled_from(["double('NaN')", "-0.0", "0.0", "double('Inf')"])),
    "bool": st.sampled_from(["true", "false"]),
    "string": TEXTS.map(quoted),
    "bytes": TEXTS.map(lambda text: f"b{quoted(text)}" if text.isascii() else f"bytes({quoted(text)})"),
    "duration": st.integers(-5, 5).map(lambda seconds: f"duration('{seconds}s')"),
    "timestamp": st.integers(-5, 5).map(lambda seconds: f"timestamp({seconds})"),
}
OF_TYPED_LISTS: Final = (
    """
{x}.sort() | {x}.distinct() | {x}.reverse() | {x}.isSorted() | {x}.min() | {x}.max() | {x}.slice(1, 3)
{x}.first() | {x}.last()
{x}.indexOf({z}) | {x}.lastIndexOf({z}) | sets.contains({x}, {y}) | sets.intersects({x}, {y}) | sets.equivalent({x}, {y})
{x}.sortBy(e, {x}.indexOf(e)) | {x} == {y} | {z} in {x} | {x}.includes({z}) | [{x}, {y}].flatten() | {x} + {y}
{x}.map(e, e < {z}) | {x}.map(e, type(e)) | {x}.exists(e, e >= {z}) | {x}.size()
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)
SUMMED: Final = frozenset({"int", "uint", "double", "duration"})


@differential
@given(data=st.data())
def test_lists_of_one_type(oracle: Oracle, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(ELEMENTS)))
    lists = st.lists(ELEMENTS[kind], min_size=1, max_size=16).map(lambda values: f"[{', '.join(values)}]")
    shape = data.draw(st.sampled_from([*OF_TYPED_LISTS, *(["{x}.sum()"] if kind in SUMMED else [])]))
    expression = shape.format(x=data.draw(lists), y=data.draw(lists), z=data.draw(ELEMENTS[kind]))
    ask(oracle, "lists of one type", told(f'"%s".format([dyn({expression})])'))


# -- quantities -------------------------------------------------------------------------------------------------------

QUANTITIES: Final = st.one_of(
    st.tuples(
        st.sampled_from(["", "-", "+"]),
        st.one_of(
            st.integers(0, 10**25).map(str),
            st.sampled_from(
                ["0", "1", "0.1", ".5", "1.", "9223372036854775807", "0.0000000001", "00012", "1.0000000000000000001"]
            ),
        ),
        st.sampled_from(["", "k", "M", "Ei", "Pi", "Ki", "m", "n", "e3", "E-5", "e400", "e-400", "E", "x", "e"]),
    ).map("".join),
    texts_of(["1", "0", ".", "-", "k", "Mi", "e", "E", "n"], 5),
)
OF_QUANTITIES: Final = [
    f"string(quantity({A}).asApproximateFloat())",
    f"string(quantity({A}).add(quantity({B})).asApproximateFloat())",
    f"string(quantity({A}).sub(quantity({B})).asApproximateFloat())",
    f"string(quantity({A}).sub(7).asApproximateFloat())",
    f"string([quantity({A})].map(q, q.isLessThan(quantity({B})) || true ? q.asApproximateFloat() : 0.0)[0])",
    f"string(quantity({A}).asInteger())",
    f"string(quantity({A}).isInteger()) + string(isQuantity({A}))",
    f"string(quantity({A}).compareTo(quantity({B}))) + string(sign(quantity({A})))",
    f"string(quantity({A}) == quantity({B}))",
]


@differential
@given(expression=st.sampled_from(OF_QUANTITIES), one=QUANTITIES, other=QUANTITIES)
def test_quantities(oracle: Oracle, expression: str, one: str, other: str) -> None:
    ask(oracle, "quantities", told(expression), one, other)
