"""Which Kubernetes reads an expression decides what it may say: releases, new expressions, feature gates."""

from __future__ import annotations

import pytest

from drakit import cel
from drakit.cel import Environment
from tests.cel.builders import A, card

STORED_36 = Environment(minor=36)
NEW = Environment(new=True)
NO_LISTS = Environment(new=True, list_attributes=False)


def refusal(expression: str, environment: Environment) -> str:
    with pytest.raises(cel.CompileError) as caught:
        cel.compile(expression, environment)
    return str(caught.value)


@pytest.mark.parametrize(
    ("expression", "environment", "why"),
    [
        ("device.`driver` == 'x'", STORED_36, "unsupported syntax: '`'"),
        ("[1].all(i, .i > 0)", Environment(), "undeclared reference to '.i'"),
        ("device.allowMultipleAllocations", Environment(new=True, consumable_capacity=False), "undefined field"),
        (f"{A}.lanes.exists(n, n == 1)", NO_LISTS, "expression of type 'any' cannot be range of a comprehension"),
        (f"{A}.lanes.includes(1)", NO_LISTS, "undeclared reference to 'includes'"),
        ("[1].includes(1)", Environment(minor=35), "undeclared reference to 'includes'"),
        ("dyn(1) == 1 ? dyn(true) : dyn(false)", NO_LISTS, "must evaluate to bool or the unknown type, not dyn"),
        (f"{A}.?lanes", NO_LISTS, "must evaluate to bool or the unknown type, not optional_type(google.protobuf.Any)"),
        ("[2, 1].sort() == [1, 2]", Environment(minor=34, new=True), "undeclared reference to 'sort'"),
    ],
)
def test_what_one_kubernetes_refuses(expression: str, environment: Environment, why: str) -> None:
    assert why in refusal(expression, environment)


@pytest.mark.parametrize(
    ("expression", "environment"),
    [
        ("device.`driver` != ''", Environment()),
        ("device.`driver` != ''", NEW),
        ("[1].all(i, .i > 0)", STORED_36),
        ("!device.allowMultipleAllocations", Environment(consumable_capacity=False)),
        (f"{A}.lanes.exists(n, n > 0)", Environment(list_attributes=False)),
        (f"!{A}.lanes.includes(-1)", NEW),
        ("[2, 1].sort() == [1, 2]", Environment(minor=35, new=True)),
        ("[2, 1].sort() == [1, 2]", Environment(minor=34)),
    ],
)
def test_another_takes(expression: str, environment: Environment) -> None:
    assert cel.compile(expression, environment).matches(card())


def test_the_limit_of_includes_is_gone_since_37() -> None:
    expression = "lists.range(60).includes(55)"
    assert cel.compile(expression).matches(card())
    with pytest.raises(cel.EvaluationError, match="cannot be applied to lists longer than 48 values"):
        cel.compile(expression, STORED_36).matches(card())


def test_selectors_are_kept_by_environment() -> None:
    expression = "device.driver == 'kept'"
    assert cel.compile(expression, STORED_36) is cel.compile(expression, Environment(minor=36))
    assert cel.compile(expression) is not cel.compile(expression, STORED_36)


@pytest.mark.parametrize("minor", [33, 38])
def test_a_release_nobody_knows_is_refused(minor: int) -> None:
    with pytest.raises(ValueError, match="minor"):
        Environment(minor=minor)


@pytest.mark.parametrize(
    ("expression", "output", "cost"),
    [("device.driver == 'x'", "bool", 3), (f"{A}.model", "dyn", 4), ("type(1) == int", "bool", 1844674407370955266)],
)
def test_a_selector_says_what_it_gives_and_costs_at_most(expression: str, output: str, cost: int) -> None:
    selector = cel.compile(expression)
    assert (selector.output_type, selector.max_cost) == (output, cost)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("google.protobuf.Int64Value{value: 1} + 1 == 2", True),
        ("google.protobuf.BoolValue{}", False),
        ("google.protobuf.UInt64Value{?value: optional.none()} == 0u", True),
        ("google.protobuf.FloatValue{value: 0.1} == 0.1", False),
        ("google.protobuf.Duration{seconds: 60} == duration('1m')", True),
        ("google.protobuf.Timestamp{seconds: 1, nanos: 5} > timestamp(1)", True),
        ("kubernetes.DRADevice{}.driver == 'x' || true", True),
    ],
)
def test_messages_around_a_value_can_be_made(expression: str, expected: bool) -> None:
    assert cel.compile(expression).matches(card()) is expected


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("google.protobuf.Int64Value{valu: 1} == 1", "undefined field 'valu'"),
        (
            "google.protobuf.Int64Value{value: 'x'} == 1",
            "expected type of field 'value' is 'int' but provided type is 'string'",
        ),
        ("google.protobuf.Foo{} == 1", "undeclared reference to 'google.protobuf.Foo'"),
        ("int{} == 1", "'int' is not a message type"),
    ],
)
def test_a_message_is_checked(expression: str, why: str) -> None:
    assert why in refusal(expression, Environment())


def test_a_device_cannot_be_made() -> None:
    with pytest.raises(cel.EvaluationError, match=r"^unknown type 'kubernetes\.DRADevice'$"):
        cel.compile("kubernetes.DRADevice{driver: 'x'}.driver == 'x'").matches(card())
