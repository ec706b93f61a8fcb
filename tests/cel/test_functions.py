"""What the functions do: facts found by asking Kubernetes 1.37.2."""

from __future__ import annotations

from typing import Final

import pytest

from drakit.cel.library import functions
from drakit.cel.library.quantities import QuantityValue
from drakit.cel.values import Fault
from tests.cel.builders import verdict

NO_NETWORK: Final = "network address parse error during conversion from string"
NO_BOOL: Final = "could not be converted to bool: type conversion error"
NO_STRING: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
)
NETWORK: Final = [
    ("ip('10.0.0.1').family() == 4 && ip('::1').family() == 6", True),
    ("string(ip('2001:DB8:0:0:0:0:0:1')) == '2001:db8::1'", True),
    ("ip.isCanonical('2001:db8::1') && !ip.isCanonical('2001:DB8::1')", True),
    ("ip('127.1.2.3').isLoopback() && ip('::1').isLoopback() && !ip('10.0.0.1').isLoopback()", True),
    ("ip('10.0.0.1').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast()", True),
    ("ip('224.0.0.9').isLinkLocalMulticast() && ip('fe80::1').isLinkLocalUnicast() && ip('0.0.0.0').isUnspecified()", True),
    ("isIP('1.2.3.04') || isIP('1.2.3') || isIP('::ffff:1.2.3.4') || isIP('fe80::1%eth0')", False),
    ("cidr('10.1.2.3/8').containsIP('10.255.0.1') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))", True),
    ("cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", True),
    ("cidr('::/0').containsIP('10.0.0.1')", False),
    ("string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8' && string(cidr('10.1.2.3/8')) == '10.1.2.3/8'", True),
    ("cidr('10.0.0.0/24').prefixLength() == 24 && cidr('10.0.0.9/24').ip() == ip('10.0.0.9')", True),
    ("ip('::1') in [ip('::1')] && ip('::1') in {ip('::1'): 1}", True),
    ("isCIDR('10.0.0.0/08') || isCIDR('10.0.0.0/33') || isCIDR('10.0.0.0')", False),
    ("ip('::1') == dyn('::1')", "EvaluationError: no such overload"),
    (
        "ip(A.model).family() == 4",
        'EvaluationError: IP Address "m1" parse error during conversion from string: ParseAddr("m1"): unable to parse IP',
    ),
    (
        "cidr('10.0.0.0/8').containsCIDR(A.model)",
        f"EvaluationError: {NO_NETWORK}: {NO_NETWORK}: netip.ParsePrefix(\"m1\"): no '/'",
    ),
    ("cidr('10.0.0.0/8').containsIP(A.model)", "EvaluationError: no such overload"),
]
URLS: Final = [
    ("url('https://a.example:8443/x%2Fy?q=1#z').getHost() == 'a.example:8443'", True),
    ("url('https://[fe80::1]:80/').getHostname() == 'fe80::1' && url('https://[fe80::1]:80/').getPort() == '80'", True),
    ("url('HTTPS://a').getScheme() == 'https' && url('/a b').getEscapedPath() == '/a%20b'", True),
    ("url('http://a/?x=1&y=%20&x=2&;=3&%zz').getQuery() == {'x': ['1', '2'], 'y': [' ']}", True),
    ("isURL('https://a') && isURL('/path') && isURL('mailto:x')", True),
    ("isURL('a') || isURL('') || isURL(':a') || isURL('http://a b') || isURL('http://a:1:2')", False),
    ("url('http://%c3%a9/').getHost() == 'é' && url('http://a') == url('http://a')", True),
    ("url('http://%ff/').getHost().size() == 1", True),
    ("url('http://a') in {url('http://a'): 1}", False),
    ("cel.bind(u, url('http://a'), u in {u: 1})", True),
    (
        "url(A.model) == url('/')",
        'EvaluationError: URL parse error during conversion from string: parse "m1": invalid URI for request',
    ),
]
TIME: Final = [
    ("timestamp('2024-02-29T23:59:59.5+01:00') == timestamp('2024-02-29T22:59:59.5Z')", True),
    ("string(timestamp('2024-02-29T23:59:59.50+01:00')) == '2024-02-29T23:59:59.5+01:00'", True),
    ("string(timestamp(0)) == '1970-01-01T00:00:00Z' && int(timestamp('1970-01-01T00:01:00Z')) == 60", True),
    ("timestamp('2024-07-01T00:00:00Z').getHours('Europe/Berlin') == 2", True),
    ("timestamp('2024-07-01T00:00:00Z').getHours('-03:30') == 20", True),
    ("timestamp('0001-01-01T00:00:00Z').getFullYear('-01:00') == 0", True),
    ("timestamp('9999-12-31T23:00:00Z').getFullYear('Asia/Tokyo') == 10000", True),
    ("timestamp('2024-12-31T00:00:00Z').getDayOfYear() == 365 && timestamp(0).getDayOfWeek() == 4", True),
    ("timestamp('2024-03-01T00:00:00Z').getMonth() == 2 && timestamp('2024-03-01T00:00:00Z').getDate() == 1", True),
    ("timestamp('2024-03-01T00:00:00.987654Z').getMilliseconds() == 987", True),
    ("timestamp('2024-01-01T1:02:03,5Z') == timestamp('2024-01-01T01:02:03.5Z')", True),
    (
        "timestamp(A.model + '') == timestamp(0)",
        "EvaluationError: type conversion error from 'string' to 'google.protobuf.Timestamp'",
    ),
    ("timestamp('2024-02-30T00:00:00Z') == timestamp(0)", "CompileError: invalid timestamp argument"),
    ("timestamp(253402300800) == timestamp(0)", "CompileError: invalid timestamp argument"),
    ("timestamp(253402300799) + duration('1s') == timestamp(0)", "EvaluationError: timestamp overflow"),
    ("timestamp(0).getHours(A.model) == 1", "EvaluationError: unknown time zone m1"),
    ("timestamp(0).getHours('x:1') == 1", 'EvaluationError: strconv.Atoi: parsing "x": invalid syntax'),
    ("duration('1h30m') == duration('90m') && duration('-1.5s').getMilliseconds() == -1500", True),
    ("string(duration('90m')) == '5400s' && string(duration('1ns')) == '0.000000001s'", True),
    ("duration('2h') - duration('30m') > duration('1h') && -dyn(duration('1s')) == duration('-1s')", True),
    ("int(duration('1.5us')) == 1500 && duration('3599.9s').getHours() == 0", True),
    ("duration('1x') == duration('1s')", "CompileError: invalid duration argument"),
    ("string(duration(['9223372036854775808ns9223372036854775808ns'][0])) == '0s'", True),
    (
        "string(duration(['9223372036854775808ns1ns'][0])) == '0s'",
        "EvaluationError: type conversion error from 'string' to 'google.protobuf.Duration'",
    ),
    ("duration('2562047h47m16.854775807s') + duration('1ns') == duration('0')", "EvaluationError: integer overflow"),
    ("timestamp(253402300799) - timestamp(-62135596800) == duration('0')", "EvaluationError: integer overflow"),
    ("[duration('2s'), duration('1s')].sort()[0] == [duration('2s'), duration('1s')].min()", True),
    ("[duration('2s'), duration('1s')].sum() == duration('3s') && [timestamp(1), timestamp(0)].max() == timestamp(1)", True),
    ("dyn(duration('1s')) + A.index == 2", "EvaluationError: no such overload"),
    (
        "dyn(duration('1s'))",
        f"EvaluationError: CEL result of type google.protobuf.Duration {NO_BOOL} from 'Duration' to 'bool'",
    ),
    ("timestamp('1970-01-01T00:00:00Z') in {timestamp('1970-01-01T01:00:00+01:00'): 1}", False),
    ("optional.ofNonZeroValue(timestamp('0001-01-01T00:00:00Z')).hasValue()", False),
]
FORMAT: Final = [
    ("'%s|%s|%s|%s'.format([1, 1.5, 'x', true]) == '1|1.5|x|true'", True),
    ("'%s'.format([[1, 'a', 1.5, null]]) == '[1, \"a\", 1.500000, null]'", True),
    ("'%s'.format([{'b': 1, 'a': duration('1m')}]) == '{\"a\":duration(\"60s\"), \"b\":1}'", True),
    ("'%.2f|%f'.format([1234567.891, -0.0]) == '1,234,567.89|0.000000'", True),
    ("'%e'.format([1234.5]) == '1.234500\u00d710⁰³' && '%.15e'.format([1.0]) == '  1.000000\u00d710⁰⁰'", True),
    ("'%x|%X|%x|%o|%b'.format([-255, 'é', b'\\xff', 8, true]) == '-ff|C3A9|ff|10|1'", True),
    ("'%f %f'.format(['NaN', '-Infinity']) == 'NaN -∞'", True),
    ("'%.311f'.format([1.5]).size() == 57 && '%.256f'.format([1.5]) == '1.5'", True),
    ("'%d%%'.format([100u]) == '100%'", True),
    (
        "'%d'.format(['a']) == ''",
        "CompileError: error during formatting: decimal clause can only be used on integers, was given string",
    ),
    (
        "'%d'.format([A.model]) == ''",
        "EvaluationError: error during formatting: decimal clause can only be used on integers, was given string",
    ),
    ("'%s'.format([]) == ''", "CompileError: index 0 out of range"),
    ("'%s'.format([1, 2]) == ''", "CompileError: too many arguments supplied to string.format (expected 1, got 2)"),
    ("'%q'.format([1]) == ''", 'CompileError: could not parse formatting clause: unrecognized formatting clause "q"'),
    (
        "'%s'.format([A.firmware]) == ''",
        f"EvaluationError: error during formatting: {NO_STRING}, was given kubernetes.Semver",
    ),
    (r"strings.quote('a\"\n\u00e9') == '\"a\\\"\\né\"'", True),
    ("!format.dns1123Label().validate('my-label').hasValue()", True),
    ("format.dns1123Label().validate('a.b').value() == ['must not contain dots']", True),
    ("format.named('uuid').value().validate('x').value() == ['does not match the UUID format']", True),
    ("format.named('nope').hasValue()", False),
    ("format.date().validate('2024-02-30').value() == ['invalid date'] && !format.byte().validate('aGk=').hasValue()", True),
    ("format.dns1035LabelPrefix().validate('a-').hasValue()", False),
    ("format.uuid() == dyn(1)", "EvaluationError: no such overload"),
]
REGEX: Final = [
    ("'a1b22'.find('[0-9]+') == '1' && 'abc'.find('x') == ''", True),
    ("'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'a1b22'.findAll('[0-9]+', 1) == ['1'] && 'a1'.findAll('1', 0) == []", True),
    ("'baac'.findAll('a*') == ['', 'aa', '']", True),
    ("'x'.find('(') == ''", "CompileError: program instantiation failed: error parsing regexp: missing closing ): `(`"),
    ("'x'.find('(' + A.model) == ''", "EvaluationError: Illegal regex: error parsing regexp: missing closing ): `(m1`"),
    ("'x'.matches('(' + A.model)", "EvaluationError: error parsing regexp: missing closing ): `(m1`"),
]
VALUES: Final = [
    ("double(A.digits + '_0') == 120.0 && double('0x1p-2') == 0.25 && double('0x1_0p0') == 16.0", True),
    ("quantity('99999999999999999999').asApproximateFloat() == 1e20", True),
    ("quantity('0.0000000001').asApproximateFloat() == 1e-9", True),
    ("quantity('0e400').asApproximateFloat() < 1.0", "EvaluationError: NaN values cannot be ordered"),
    ("{duration('1s'): 1} == {duration('1000ms'): 1} && {[1]: 1} != {[1]: 1}", True),
    ("[1] in {[1]: 1}", False),
    ("cel.bind(l, [1], l in {l: 1})", True),
    ("{null: 1}.size() == 1 && null in {null: 1} && int in {int: 1}", True),
    ("{double('NaN'): 1, double('NaN'): 2}.size() == 2", True),
    (
        "format.uuid() in {'a': 1}",
        "CompileError: found no matching overload for '@in' applied to '(kubernetes.NamedFormat, map(string, int))'",
    ),
    (
        "dyn(semver('1.0.0')) in {dyn(1): 1}",
        "EvaluationError: internal error: runtime error: hash of unhashable type cel.Semver",
    ),
    ("[[1], [2, 3]].flatten() == [1, 2, 3] && dyn([dyn(1), dyn([2])]).flatten() == [1, 2]", True),
    ("dyn([dyn([1])]).flatten(-1) == []", "EvaluationError: level must be non-negative"),
    ("dyn(1).flatten() == []", "EvaluationError: no such overload: int.flatten()"),
    ("lists.range(-1) == []", "EvaluationError: lists.range: size must be non-negative, got -1"),
    ("lists.range(1000001) == []", "EvaluationError: lists.range: size 1000001 exceeds maximum allowed (1000000)"),
    ("optional.ofNonZeroValue('').hasValue() || optional.ofNonZeroValue(0).hasValue()", False),
    ("optional.unwrap([optional.of(1), optional.none()]) == [1] && [optional.of(1)].unwrapOpt() == [1]", True),
    ("[dyn('a'), dyn(1.5)].join() == ''", "EvaluationError: join: invalid input: 1.5"),
    ("[dyn('a'), dyn([b'a', b''])].join() == ''", "EvaluationError: join: invalid input: [[97], []]"),
    ("[dyn('a'), dyn(duration('90s'))].join() == ''", "EvaluationError: join: invalid input: 1m30s"),
    ("'abc'.indexOf('', 9) == 3 && 'abc'.lastIndexOf('', 9) == 3", True),
    ("'abc'.indexOf('', -1) == 3", "EvaluationError: index out of range: -1"),
    ("{'a': 1}.transformMapEntry(k, v, {v: k}) == {1: 'a'}", True),
    ("[1, 1].transformMapEntry(i, v, {v: i}).size() == 1", "EvaluationError: insert failed: key 1 already exists"),
    ("dyn(ip('1.2.3.4')) in C", False),
]
CASES: Final = {"network": NETWORK, "urls": URLS, "time": TIME, "format": FORMAT, "regex": REGEX, "values": VALUES}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [pytest.param(*case, id=f"{family}: {case[0]}") for family, cases in CASES.items() for case in cases],
)
def test_a_function_does_what_it_does_in_kubernetes(expression: str, expected: bool | str) -> None:
    assert verdict(expression.replace(" in C", ' in device.capacity["gpu.acme.example"]')) == expected


def test_equal_keys_are_sorted_as_go_does_which_does_not_keep_their_order() -> None:
    order = "[9, 18, 15, 3, 12, 0, 6, 10, 7, 4, 13, 16, 1, 19, 8, 5, 11, 14, 2, 17]"
    assert verdict(f"lists.range(20).sortBy(i, i % 3) == {order}") is True


# -- before Kubernetes 1.37 -------------------------------------------------------------------------------------------


def test_includes_had_a_limit_before_1_37() -> None:
    includes = functions.overloads(36)["dra_includes_dyn_dyn"]
    assert includes(tuple(range(49)), 47) is True
    with pytest.raises(Fault, match="cannot be applied to lists longer than 48 values"):
        includes(tuple(range(49)), 48)
    assert functions.overloads(37)["dra_includes_dyn_dyn"](tuple(range(49)), 48) is True


def test_nothing_was_found_wherever_it_was_looked_for_before_1_37() -> None:
    old, new = functions.overloads(36), functions.overloads()
    assert old["string_index_of_string_int"]("abc", "", -5) == -5
    assert old["string_last_index_of_string_int"]("abc", "", 9) == 9
    assert old["string_index_of_string_int"]("abcabc", "b", 2) == new["string_index_of_string_int"]("abcabc", "b", 2) == 4


def test_a_sum_changed_its_first_term_before_1_37() -> None:
    for minor, left_over in ((36, 1), (37, 0)):
        first = QuantityValue.parse("99999999999999999999")
        total = functions.overloads(minor)["quantity_add_int"](first, 1)
        assert total.quantity.value - first.quantity.value == 1 - left_over
