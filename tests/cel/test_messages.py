from __future__ import annotations

import pytest

from drakit import cel
from drakit.model import Device, DeviceAttribute
from tests.cel.builders import DRIVER, HINT, A, card


def compile_error(expression: str) -> cel.CompileError:
    with pytest.raises(cel.CompileError) as caught:
        cel.compile(expression)
    return caught.value


def evaluation_error(expression: str, device: cel.CelDevice | None = None) -> str:
    with pytest.raises(cel.EvaluationError) as caught:
        cel.compile(expression).matches(device or card())
    return str(caught.value)


def test_a_caret_stands_under_the_fault() -> None:
    error = compile_error("device.driver == 1")
    assert (error.line, error.column) == (1, 15)
    assert error.message == "found no matching overload for '_==_' applied to '(string, int)'"
    assert str(error) == (
        "compilation failed: ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(string, int)'\n"
        " | device.driver == 1\n"
        " | ..............^"
    )


def test_only_the_line_of_the_fault_is_shown_and_tabs_are_blanks() -> None:
    assert str(compile_error("true &&\n\tnope && true")) == (
        "compilation failed: ERROR: <input>:2:2: undeclared reference to 'nope' (in container '')\n |  nope && true\n | .^"
    )


def test_wide_characters_are_counted_once_and_dotted_wide() -> None:
    assert str(compile_error("'é→' == nope")).endswith("\n | 'é→' == nope\n | .\uff0e\uff0e.....^")


def test_all_faults_are_reported_in_the_order_of_the_source() -> None:
    error = compile_error("one == 1 &&\ntwo == 2 && [1, 'a'].size() == three")
    assert [(issue.line, issue.column) for issue in error.issues] == [(1, 1), (2, 1), (2, 32)]
    assert error.message == "undeclared reference to 'one' (in container '')"
    assert str(error).count("ERROR: ") == 3


@pytest.mark.parametrize(
    ("expression", "column", "message"),
    [
        ("", 0, "Syntax error: mismatched input '<EOF>' expecting {"),
        ("true)", 5, "Syntax error: extraneous input ')' expecting <EOF>"),
        ("true false true", 6, "Syntax error: mismatched input 'false' expecting <EOF>"),
        ("device.driver = 'x'", 15, "Syntax error: token recognition error at: '= '"),
        ("true; true", 5, "Syntax error: token recognition error at: ';'"),
        ("'open", 1, "Syntax error: token recognition error at: ''open'"),
        (r"'\z' == ''", 1, r"Syntax error: token recognition error at: ''\z'"),
        ("!-true", 3, "Syntax error: mismatched input 'true' expecting IDENTIFIER"),
        ("device.", 8, "Syntax error: no viable alternative at input '.'"),
        ("if == 1", 1, "reserved identifier: if"),
        ("1.e3 == 1000.0", 2, "type 'int' does not support field selection"),
        ("size([1) == 1", 8, "Syntax error: mismatched input ')' expecting {']', ','}"),
    ],
)
def test_syntax_errors_have_a_place(expression: str, column: int, message: str) -> None:
    error = compile_error(expression)
    assert error.message.startswith(message)
    assert (error.line, error.column) == (1, column)


@pytest.mark.parametrize("expression", ["1", "int('x') == 1", "type(device) == type(1) ? 1 : 2"])
def test_a_fault_of_the_whole_has_no_place(expression: str) -> None:
    error = compile_error(expression)
    assert (error.line, error.column) == (0, 0)
    assert str(error) == error.message


def test_a_missing_key_comes_with_the_hint() -> None:
    assert evaluation_error(f"{A}.nope == 1") == f"no such key: nope{HINT}"


def test_other_errors_come_without_it() -> None:
    assert evaluation_error(f"{A}.lanes[7] == 1") == "index out of bounds: 7"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("dyn(1u)", "uint could not be converted to bool: unsupported type conversion from 'uint' to bool"),
        ("dyn(1.5)", "double could not be converted to bool: type conversion error from Double to 'bool'"),
        ("dyn(null)", "null_type could not be converted to bool: type conversion error from 'null_type' to 'bool'"),
        (f"{A}.lanes", "list could not be converted to bool: type conversion error from list to 'bool'"),
        (f"{A}.firmware", "kubernetes.Semver could not be converted to bool: type conversion error from 'Semver' to 'bool'"),
        (f"{A}.?nope", "optional_type could not be converted to bool: optional.none() dereference"),
        ("dyn(int)", "type could not be converted to bool: type conversion not supported for 'type'"),
    ],
)
def test_a_result_that_is_no_bool_says_what_it_is(expression: str, reason: str) -> None:
    # An optional has a type of its own before the program runs, so it needs `dyn`.
    wrapped = f"dyn({expression})" if "?" in expression else expression
    assert evaluation_error(wrapped) == f"CEL result of type {reason}"


@pytest.mark.parametrize(
    ("attribute", "reason"),
    [
        (DeviceAttribute(), "unsupported attribute value"),
        (DeviceAttribute(version="1.2"), "parse semantic version: No Major.Minor.Patch elements found"),
        (DeviceAttribute(versions=("1.2.3", "")), "parse semantic version: Version string empty"),
    ],
)
def test_a_broken_attribute_fails_every_selector(attribute: DeviceAttribute, reason: str) -> None:
    device = cel.CelDevice(DRIVER, Device("d", attributes={"broken": attribute}))
    assert evaluation_error("true", device) == f"attribute broken: {reason}"


def test_there_is_one_base_class_for_all_errors() -> None:
    kinds = [cel.CompileError, cel.UnsupportedExpression, cel.EvaluationError]
    assert all(issubclass(kind, cel.CelError) for kind in kinds)
    assert not any(issubclass(one, other) for one in kinds for other in kinds if one is not other)
