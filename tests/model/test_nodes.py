from __future__ import annotations

from collections.abc import Mapping

import pytest

from drakit.model import (
    Node,
    NodeSelector,
    NodeSelectorOperator,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    hostnames,
    only_node,
)


def node(name: str = "node-a", **labels: str) -> Node:
    return Node(metadata=ObjectMeta(name=name, labels=labels))


def requirement(key: str, operator: NodeSelectorOperator, *values: str) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator=operator, values=values)


def labelled(*requirements: NodeSelectorRequirement) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=requirements)


def selector(*terms: NodeSelectorTerm) -> NodeSelector:
    return NodeSelector(node_selector_terms=terms)


@pytest.mark.parametrize(
    ("operator", "values", "labels", "matches"),
    [
        ("In", ["a", "b"], {"zone": "a"}, True),
        ("In", ["a", "b"], {"zone": "b"}, True),
        ("In", ["a", "b"], {"zone": "c"}, False),
        ("In", ["a", "b"], {"zone": ""}, False),
        ("In", [""], {"zone": ""}, True),
        ("In", ["a"], {}, False),
        ("In", [""], {}, False),
        ("In", ["ab"], {"zone": "a"}, False),
        ("NotIn", ["a", "b"], {"zone": "a"}, False),
        ("NotIn", ["a", "b"], {"zone": "c"}, True),
        ("NotIn", ["a"], {}, True),
        ("Exists", [], {"zone": ""}, True),
        ("Exists", [], {"zona": "a"}, False),
        ("DoesNotExist", [], {"zone": "a"}, False),
        ("DoesNotExist", [], {}, True),
        ("Gt", ["5"], {"zone": "6"}, True),
        ("Gt", ["5"], {"zone": "5"}, False),
        ("Gt", ["9"], {"zone": "10"}, True),
        ("Gt", ["-1"], {"zone": "0"}, True),
        ("Lt", ["5"], {"zone": "4"}, True),
        ("Lt", ["5"], {"zone": "5"}, False),
        ("Lt", ["10"], {"zone": "9"}, True),
        ("Lt", ["5"], {"zone": "007"}, False),
    ],
)
def test_an_operator_is_decided_on_the_label(
    operator: NodeSelectorOperator, values: list[str], labels: Mapping[str, str], matches: bool
) -> None:
    assert requirement("zone", operator, *values).matches(labels) is matches


@pytest.mark.parametrize("operator", ["Gt", "Lt"])
@pytest.mark.parametrize(
    ("values", "label"),
    [
        (["5"], None),
        (["5"], ""),
        (["5"], "five"),
        (["5"], "6.5"),
        (["5"], "1_0"),
        (["5"], " 6"),
        (["5"], "\u0666"),
        (["5"], "0x10"),
        (["5"], "9223372036854775808"),
        (["5"], "-9223372036854775809"),
    ],
)
def test_what_is_not_one_64_bit_integer_each_compares_with_nothing(
    operator: NodeSelectorOperator, values: list[str], label: str | None
) -> None:
    labels = {} if label is None else {"rank": label}
    assert not requirement("rank", operator, *values).matches(labels)


@pytest.mark.parametrize(("operator", "value"), [("Gt", "9223372036854775806"), ("Lt", "9223372036854775807")])
def test_the_largest_64_bit_integer_compares(operator: NodeSelectorOperator, value: str) -> None:
    matches = requirement("rank", operator, value).matches({"rank": "9223372036854775807"})
    assert matches is (operator == "Gt")


@pytest.mark.parametrize(
    ("operator", "values", "rule"),
    [
        *((operator, [], "one value or more") for operator in ("In", "NotIn")),
        *((operator, ["a"], "no values") for operator in ("Exists", "DoesNotExist")),
        *(
            (operator, values, "one integer")
            for operator in ("Gt", "Lt")
            for values in ([], ["five"], ["1_0"], ["9223372036854775808"], ["5", "7"])
        ),
    ],
)
def test_values_that_do_not_go_with_the_operator_are_refused(
    operator: NodeSelectorOperator, values: list[str], rule: str
) -> None:
    with pytest.raises(ValueError, match=f"operator {operator} takes {rule}"):
        requirement("rank", operator, *values)


@pytest.mark.parametrize(
    "wrong",
    [
        requirement("metadata.namespace", "In", "a"),
        requirement("metadata.name", "Exists"),
        requirement("metadata.name", "In", "a", "b"),
    ],
)
def test_only_the_name_of_a_node_can_be_matched_as_a_field(wrong: NodeSelectorRequirement) -> None:
    with pytest.raises(ValueError, match=r"only metadata\.name can be matched, with In or NotIn and one value"):
        NodeSelectorTerm(match_fields=[wrong])


def test_all_conditions_of_a_term_must_hold() -> None:
    term = labelled(requirement("zone", "In", "a"), requirement("gpu", "Exists"))
    assert term.matches(node(zone="a", gpu="yes"))
    assert not term.matches(node(zone="a"))
    assert not term.matches(node(gpu="yes"))


def test_an_empty_term_matches_no_node() -> None:
    assert not NodeSelectorTerm().matches(node())
    assert not selector(NodeSelectorTerm()).matches(node())


def test_a_selector_without_terms_matches_no_node() -> None:
    assert not NodeSelector().matches(node())


def test_one_term_of_a_selector_is_enough() -> None:
    either = selector(labelled(requirement("zone", "In", "a")), NodeSelectorTerm(), labelled(requirement("rack", "In", "7")))
    assert either.matches(node(zone="a"))
    assert either.matches(node(zone="b", rack="7"))
    assert not either.matches(node(zone="b", rack="8"))


@pytest.mark.parametrize(
    ("operator", "value", "matches"),
    [("In", "node-a", True), ("In", "node-b", False), ("NotIn", "node-a", False), ("NotIn", "node-b", True)],
)
def test_a_field_condition_reads_the_name_of_the_node(operator: NodeSelectorOperator, value: str, matches: bool) -> None:
    term = NodeSelectorTerm(match_fields=[requirement("metadata.name", operator, value)])
    assert term.matches(node("node-a")) is matches


def test_fields_and_labels_are_not_confused() -> None:
    wanted = requirement("metadata.name", "In", "node-a")
    assert not labelled(wanted).matches(node("node-a"))
    odd = Node(metadata=ObjectMeta(name="node-b", labels={"metadata.name": "node-a"}))
    assert not NodeSelectorTerm(match_fields=[wanted]).matches(odd)


def test_fields_and_labels_of_a_term_must_both_hold() -> None:
    term = NodeSelectorTerm(
        match_expressions=[requirement("zone", "In", "a")],
        match_fields=[requirement("metadata.name", "In", "node-a")],
    )
    assert term.matches(node("node-a", zone="a"))
    assert not term.matches(node("node-a", zone="b"))
    assert not term.matches(node("node-b", zone="a"))


def test_hostnames_go_into_one_term_and_match_by_label_not_by_name() -> None:
    wanted = hostnames("h1", "h2")
    assert len(wanted.node_selector_terms) == 1
    assert wanted.matches(Node(metadata=ObjectMeta(name="x", labels={"kubernetes.io/hostname": "h2"})))
    assert not wanted.matches(Node(metadata=ObjectMeta(name="h1", labels={"kubernetes.io/hostname": "h3"})))
    assert not wanted.matches(node("h1"))


def test_only_node_matches_by_name() -> None:
    assert only_node("node-a").matches(node("node-a"))
    assert not only_node("node-a").matches(node("node-b"))
