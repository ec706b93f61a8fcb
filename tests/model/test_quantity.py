from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drakit.model import Quantity, QuantityFormat, quantity

CAP = 2**63 - 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"),
        ("80Gi", str(80 * 2**30)),
        ("1500m", "1.5"),
        ("1.", "1"),
        (".5", "0.5"),
        (".", "0"),
        ("Ki", "0"),
        ("Ti", "0"),
        ("e3", "0"),
        ("-", "0"),
        ("+", "0"),
        ("-0", "0"),
        ("+3", "3"),
        ("-1.5Gi", str(-3 * 2**29)),
        ("007", "7"),
        ("1.G", "1000000000"),
        ("1E", "1000000000000000000"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("1E+3", "1000"),
        ("12e-1", "1.2"),
        ("1n", "0.000000001"),
        ("1e-10", "0.000000001"),
        ("-1e-10", "-0.000000001"),
        ("0.0000000011", "0.000000002"),
        ("1.0000000001Ki", "1024.000000103"),
    ],
)
def test_what_apimachinery_accepts_is_read_with_its_value(text: str, value: str) -> None:
    assert Quantity.parse(text).value == Decimal(value)


@pytest.mark.parametrize(
    "text",
    [
        *["", " ", " 1", "1 ", "1\n", "1K", "1mi", "1ki", "1KI", "1GB", "1B", "1e", "1e+", "1_000", "1,5", "1.2.3"],
        *["NaN", "inf", "e3x", "1e3Ki", "1e3m", "1e1.5", "1Ee3", "0x10", "--1", "+-1", "1-", "1 Gi", "Gi1", "1mK"],
        *["\u0661", "\uff11", "1\u0661", "\u00b2", "1e\u0661", "1\u212a"],
        *["1e99999999999999999999", "Pi", "-Ei", ".Pi", "e-10"],  # the last ones need digits, unlike Ki
    ],
)
def test_what_apimachinery_refuses_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("-", "0"),
        ("0Ki", "0"),
        ("1000", "1k"),
        ("1024", "1024"),
        ("1Ki", "1Ki"),
        ("1024Ki", "1Mi"),
        ("1536Mi", "1536Mi"),
        ("1.5Gi", "1536Mi"),
        ("-1.5Gi", "-1536Mi"),
        ("0.5Ki", "512"),
        ("0.0001Ki", "102400u"),
        ("1500.5Ki", "1536512"),
        ("0.3333Ki", "341299200u"),
        ("0.9765625Ki", "1k"),
        ("1000Ki", "1000Ki"),
        ("1.3Ki", "1331200m"),
        ("9Ei", str(CAP)),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("0.1", "100m"),
        ("100000", "100k"),
        ("123000000", "123M"),
        ("1000E", "1e21"),
        ("1e3", "1e3"),
        ("1e2", "100"),
        ("1e4", "10e3"),
        ("1.25e1", "12500e-3"),
        ("1e-10", "1e-9"),
        ("+3", "3"),
        ("007", "7"),
    ],
)
def test_the_canonical_form_is_the_one_the_api_server_prints(text: str, canonical: str) -> None:
    assert Quantity.parse(text).canonical() == canonical


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        ("1Ki", QuantityFormat.BINARY_SI),
        ("0.0001Ki", QuantityFormat.DECIMAL_SI),
        ("1", QuantityFormat.DECIMAL_SI),
        ("1E", QuantityFormat.DECIMAL_SI),
        ("1E0", QuantityFormat.DECIMAL_EXPONENT),
    ],
)
def test_the_notation_is_remembered(text: str, format_: QuantityFormat) -> None:
    assert Quantity.parse(text).format is format_


def test_str_keeps_what_was_written_and_computed_values_are_canonical() -> None:
    assert str(Quantity.parse("1024Ki")) == "1024Ki"
    assert repr(Quantity.parse("1024Ki")) == "quantity('1024Ki')"
    assert str(Quantity.parse("1024Ki") + Quantity.parse("1Mi")) == "2Mi"
    assert str(-Quantity.parse("1000m")) == "-1"


@pytest.mark.parametrize("text", ["8Ei", "9Ei", "9223372036854775807.5Ki", "99999999999999999999Ki"])
def test_a_binary_quantity_is_capped_at_the_largest_int64(text: str) -> None:
    assert Quantity.parse(text).value == CAP
    assert Quantity.parse("-" + text).value == -CAP


def test_a_decimal_quantity_is_not_capped() -> None:
    assert Quantity.parse("10E").value == 10**19
    assert Quantity.parse("7Ei").value == 7 * 2**60


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("1K", "1k"),
        ("6 GiB", "6Gi"),
        ("6 Gi", "6Gi"),
        ("80GB", "80G"),
        ("80GI", "80Gi"),
        (" 1", "1"),
        ("64KB", "64k"),
        ("512B", "512"),
    ],
)
def test_a_common_slip_is_answered_with_the_right_spelling(slip: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        Quantity.parse(slip)


def test_what_cannot_be_guessed_is_answered_with_the_grammar() -> None:
    with pytest.raises(ValueError, match="'lots' is not a quantity: a number with an optional suffix"):
        Quantity.parse("lots")
    with pytest.raises(ValueError, match="is not a quantity") as refused:
        Quantity.parse("x" * 100_000)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("given_value", "printed"),
    [
        (4, "4"),
        (-3000, "-3k"),
        (2**70, str(2**70)),
        (Decimal("1.5"), "1500m"),
        (Decimal("1e-12"), "1n"),
        (Decimal("-1e-12"), "-1n"),
        (Decimal("-0"), "0"),
        ("80Gi", "80Gi"),
        (Quantity.parse("80Gi"), "80Gi"),
    ],
)
def test_python_numbers_become_quantities(given_value: Quantity | int | str | Decimal, printed: str) -> None:
    assert str(quantity(given_value)) == printed


@given(st.integers() | st.integers(min_value=10**28, max_value=10**60))
def test_an_int_and_its_decimal_are_the_same_quantity(number: int) -> None:
    assert quantity(Decimal(number)) == quantity(number) == quantity(str(number))
    assert quantity(number).to_int() == number


def test_a_decimal_of_any_exponent_is_a_quantity() -> None:
    assert quantity(Decimal("1e2000000")) == quantity("1e2000000")


@pytest.mark.parametrize("wrong", [True, False, 1.5, 1.0, None, b"1", [1]])
def test_what_is_not_exact_is_not_a_quantity(wrong: object) -> None:
    with pytest.raises(TypeError, match="is not a quantity: must be an int, a Decimal or text"):
        quantity(wrong)  # type: ignore[arg-type]  # on purpose


@pytest.mark.parametrize("wrong", [Decimal("NaN"), Decimal("Infinity"), Decimal("-Infinity")])
def test_a_number_that_is_not_finite_is_not_a_quantity(wrong: Decimal) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        quantity(wrong)


def test_zero_is_false() -> None:
    assert not quantity("0Gi")
    assert quantity("1n")
