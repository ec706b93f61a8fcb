"""A census says of every device why, and what it proposes has been tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given

from drakit.cel import CelDevice, CompileError, Environment, EvaluationError, UnsupportedExpression, compile  # noqa: A004  # as in re.compile
from drakit.cel.census import COST_LIMIT, LENGTH_LIMIT, Census, advice, refusal, take_census
from drakit.cel.judging import Judgement, examine, judge
from drakit.cel.selector import Selector
from drakit.model import Device, DeviceID, semver
from drakit.testing.strategies import EXAMPLE_DEVICE, EXAMPLE_DRIVER, expressions
from tests.cel.builders import DRIVER, A, C

OTHER = "nic.acme.example"
FLEET = [
    Device(
        "gpu-0", attributes={"model": "m1", "index": 0, "ecc": True, "firmware": semver("1.4.2")}, capacity={"memory": "80Gi"}
    ),
    Device("gpu-1", attributes={"model": "m1", "index": 1, "firmware": semver("1.5.0")}, capacity={"memory": "80Gi"}),
    Device("gpu-2", attributes={"model": "m2", "index": 2, "ecc": False, "firmware": "1.4"}, capacity={"memory": "40Gi"}),
    Device("gpu-3", attributes={"index": 3, "lanes": [4, 8], "fabric.acme.example/rack": "r7"}),
]


def expanded(expression: str) -> str:
    return expression.replace("A.", f"{A}.").replace("C.", f"{C}.")


def census(expression: str, devices: Sequence[Device] = FLEET, driver: str = DRIVER, **environment: Any) -> Census:
    seen = [(DeviceID(driver, "node-0", device.name), CelDevice(driver, device)) for device in devices]
    return take_census(expanded(expression), Environment(**environment), seen)


def reasons(found: Census) -> dict[str, str]:
    """For each device, what decides, the short values that were read, and the error."""
    said: dict[str, str] = {}
    for group in found.groups:
        parts = [f"{part.text.replace(A, 'A')} is {part.result}" for part in group.parts]
        read = [f"{reading.label} {reading.value}" for part in group.parts for reading in part.readings]
        said |= {device.device: "; ".join([group.outcome, *parts, *read]) for device in group.devices}
    return said


def test_devices_are_grouped_by_outcome_and_reason() -> None:
    found = census('A.model == "m1" && A.index < 1')
    assert reasons(found) == {
        "gpu-0": "matches",
        "gpu-1": "does not match; A.index < 1 is false; index 1",
        "gpu-2": 'does not match; A.model == "m1" is false; model "m2"',
        "gpu-3": "does not match; A.index < 1 is false; index 3",
    }
    assert [found.count(outcome) for outcome in ("matches", "does not match", "fails")] == [1, 3, 0]
    assert found.proposal is None


@pytest.mark.parametrize(
    ("expression", "device", "why"),
    [
        ('A.index == 9 || A.model == "m2"', "gpu-0", 'A.index == 9 is false; A.model == "m2" is false; index 0; model "m1"'),
        ('!(A.index == 0 || A.model == "m2")', "gpu-0", "A.index == 0 is true; index 0"),
        ("!(A.index == 0 && A.index < 1)", "gpu-0", "A.index == 0 is true; A.index < 1 is true; index 0; index 0"),
        ("has(A.ecc) ? A.ecc : A.index == 9", "gpu-2", "has(A.ecc) is true; A.ecc is false"),
        ("has(A.ecc) ? A.ecc : A.index == 9", "gpu-1", "has(A.ecc) is false; A.index == 9 is false; index 1"),
        ('A.?model.orValue("") == "m2"', "gpu-3", 'A.?model.orValue("") == "m2" is false; model not there'),
        ("[7, 8].exists(i, i == A.index)", "gpu-0", "[7, 8].exists(i, i == A.index) is false; index 0"),
        ("1 > 2", "gpu-0", "1 > 2 is false"),
        ('A.firmware == semver("1.0.0")', "gpu-0", 'A.firmware == semver("1.0.0") is false; firmware 1.4.2'),
        ("A.lanes[0] == 5", "gpu-3", "A.lanes[0] == 5 is false; A.lanes[0] 4"),
    ],
)
def test_what_decides_is_found_below_logical_operators(expression: str, device: str, why: str) -> None:
    said = reasons(census(expression))[device].replace(A, "A")
    assert said == f"does not match; {why}"


def test_an_error_has_its_part_and_a_guard_that_was_tried() -> None:
    found = census('A.index >= 0 && A.model == "m1"')
    (group,) = [group for group in found.groups if group.outcome == "fails"]
    assert [device.device for device in group.devices] == ["gpu-3"]
    assert group.message.startswith("no such key: model. consider")
    assert [(part.text, part.fails) for part in group.parts] == [(expanded('A.model == "m1"'), True)]
    assert found.proposal
    assert found.proposal.expression == expanded('A.index >= 0 && has(A.model) && A.model == "m1"')
    assert (found.proposal.matching, found.proposal.mismatching, found.proposal.failing) == (2, 2, 0)


@pytest.mark.parametrize(
    ("expression", "proposed"),
    [
        ("A.ecc", "A.?ecc.orValue(false)"),
        ("A.ecc && A.index > 1", "A.?ecc.orValue(false) && A.index > 1"),
        ("!A.ecc", "has(A.ecc) && !A.ecc"),
        ('!(A.model == "m2")', 'has(A.model) && !(A.model == "m2")'),
        ('A.index == 9 || A["model"] == "m1"', 'A.index == 9 || has(A.model) && A["model"] == "m1"'),
        ("A.ecc ? true : A.lanes[1] == 8", "has(A.ecc) && (A.ecc ? true : has(A.lanes) && A.lanes[1] == 8)"),
        ("A.index == 3 && A.lanes[5] == 8", "A.index == 3 && A.lanes.size() > 5 && A.lanes[5] == 8"),
        ('C.memory.compareTo(quantity("80Gi")) == 0', 'has(C.memory) && C.memory.compareTo(quantity("80Gi")) == 0'),
        ('A.ecc && A.model == "m1"', 'A.?ecc.orValue(false) && A.model == "m1"'),
        ('!A.ecc || A.model == "m2"', 'has(A.ecc) && !A.ecc || has(A.model) && A.model == "m2"'),
    ],
)
def test_the_guard_fits_where_it_is_needed(expression: str, proposed: str) -> None:
    proposal = census(expression.replace('A["', f'{A}["')).proposal
    assert proposal
    assert proposal.expression == expanded(proposed.replace('A["', f'{A}["'))
    assert proposal.failing == 0


@pytest.mark.parametrize(
    "expression", ['A.firmware == "1.4.2"', "A.index.size() > 0", 'A.lanes.exists(l, A.nothing[l] == "x")']
)
def test_what_no_guard_helps_is_not_proposed(expression: str) -> None:
    proposal = census(expression, FLEET[:3]).proposal
    assert proposal is None or proposal.failing == 0


def test_more_guards_than_anybody_would_write_are_not_proposed() -> None:
    assert census(" || ".join(f"A.n{i} == 1" for i in range(40))).proposal is None


@pytest.mark.parametrize(
    "expression",
    [
        'A.model == "m1" && A.firmware == "1.4"',  # a mistake of types, which guards would hide
        'A.nothing == "x"',
        'A.model.string == "m1"',  # text has no parts
    ],
)
def test_no_guard_is_proposed_where_something_else_has_to_be_put_right(expression: str) -> None:
    assert census(expression).proposal is None


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ('C.memory >= quantity("40Gi")', "quantities have no < and >"),
        ('A.firmware >= semver("1.2.3")', "versions have no < and >"),
        ('C.memory == "80Gi"', 'as in quantity("80Gi")'),
        ('C.memory.isGreaterThan("80Gi")', 'as in quantity("80Gi")'),
        ('C.memory.value == "80Gi"', "it has no fields"),
        (f'device.attributes["{DRIVER}/model"] == "x"', 'not "domain/name"'),
        ('device.attributes.model == "x"', 'not "domain/name"'),
        ('device.attribute["x"].y == 1', 'did you mean "attributes"?'),
        ('device.name == "x"', "no name or pool"),
        ('device["driver"] == "x"', "written device.attributes"),
        ("A.ecc and A.index == 1", "written &&"),
        ("not A.ecc", "written &&"),
        ("A.index = 1", "equality is written =="),
        ("A.ecc == True", "true, false and null"),
        ('A.model.toLower() == "x"', "did you mean lowerAscii()?"),
        ('A.model.startswith("x")', "did you mean startsWith()?"),
        ("device.attributes[gpu.example.com].model == x", "a shell takes them away"),
        ("size == 1", "size is a function: size(...)"),
    ],
)
def test_an_expression_that_does_not_compile_comes_with_what_may_be_meant(expression: str, hint: str) -> None:
    with pytest.raises(CompileError) as refused:
        compile(expanded(expression))
    (said,) = advice(refused.value, Environment())
    assert hint in said


@pytest.mark.parametrize("expression", ["[1, 'a'] == []", "math == 1", "A.ecc => 1", "1 true"])
def test_a_mistake_nobody_knows_has_no_hint(expression: str) -> None:
    with pytest.raises(CompileError) as refused:
        compile(expanded(expression))
    assert advice(refused.value, Environment()) == []


def test_what_a_new_expression_lacks_is_named() -> None:
    environment = Environment(new=True, list_attributes=False)
    with pytest.raises(CompileError) as refused:
        compile(expanded("A.lanes.includes(1)"), environment)
    assert advice(refused.value, environment) == [
        "in a new expression, includes() needs the feature gate DRAListTypeAttributes"
    ]


def test_a_value_that_is_the_drivers_own_is_told_by_driver() -> None:
    seen = [
        (DeviceID(driver, "p", device.name), CelDevice(driver, device))
        for driver, device in ((DRIVER, FLEET[2]), ("other.example.com", Device("d")))
    ]
    found = take_census('device.attributes[device.driver].model == "m1"', Environment(), seen)
    readings = {reading.value for group in found.groups for part in group.parts for reading in part.readings}
    assert '"other.example.com"' in readings
    assert [presence.elsewhere for presence in found.presences] == [False, True]
    assert found.proposal is not None


def test_a_guard_that_would_cost_a_match_is_not_proposed() -> None:
    devices = [Device("d0", attributes={"x": 0}), Device("d9", attributes={"x": 9})]
    found = census("[1, 2][A.x] == 1", devices)
    assert [found.count(outcome) for outcome in ("matches", "fails")] == [1, 1]
    assert found.proposal is None


@pytest.mark.parametrize(
    "expression", ["google.protobuf.Timestamp == type(A.nop)", "google.protobuf.Duration{} == duration('0s')"]
)
def test_names_of_types_are_no_parts(expression: str) -> None:
    assert census(expression).total == len(FLEET)


def test_a_name_with_a_domain_is_none_of_another_domain() -> None:
    (found,) = census(f'{A}["fabric.acme.example/rack"] == "r7"').presences
    assert found.devices == 0


def test_a_name_that_is_read_as_the_drivers_own_and_by_its_domain_is_looked_for_everywhere() -> None:
    seen = [
        (DeviceID(driver, "p", "d"), CelDevice(driver, Device("d", attributes={"m": 0}))) for driver in (DRIVER, "b.example")
    ]
    own, other = "device.attributes[device.driver].m == 0", f'{A}.m == "x"'
    for expression in (f"{own} && {other}", f"{other} || {own}"):
        found = {presence.name: presence for presence in take_census(expression, Environment(), seen).presences}
        assert (found[f"{DRIVER}/m"].devices, len(found[f"{DRIVER}/m"].missing)) == (1, 1)
        assert found[f"{DRIVER}/m"].mistakes


def test_who_asks_for_the_type_makes_no_mistake() -> None:
    (found,) = census('type(A.firmware) == string && A.firmware == "1.4"').presences
    assert found.mistakes == ()


def test_a_driver_that_nobody_is_of_is_told() -> None:
    (driver,) = census(f'device.driver == "{DRIVER}s"').presences
    assert (driver.kind, driver.types, driver.hint) == ("driver", {}, f'did you mean "{DRIVER}"?')


@pytest.mark.parametrize("message", ["google.protobuf.Int32Value{value: 1} == 1", "kubernetes.DRADevice{}.driver == ''"])
def test_messages_can_be_made(message: str) -> None:
    assert census(message).total == len(FLEET)


def test_names_are_counted_by_type_and_missing_devices_are_named() -> None:
    found = {presence.name: presence for presence in census('has(A.firmware) && A.index > 0 && "rack" in A.x').presences}
    firmware = found[f"{DRIVER}/firmware"]
    assert (firmware.kind, firmware.types, firmware.devices) == ("attribute", {"version": 2, "string": 1}, 3)
    assert [device.device for device in firmware.missing] == ["gpu-3"]
    assert found[f"{DRIVER}/index"].missing == ()


@pytest.mark.parametrize(
    ("expression", "name", "hint"),
    [
        ("has(A.modle)", f"{DRIVER}/modle", f'did you mean "{DRIVER}/model"?'),
        ("has(A.memory)", f"{DRIVER}/memory", "it is a capacity"),
        ("has(C.index)", f"{DRIVER}/index", "it is an attribute"),
        ("has(A.rack)", f"{DRIVER}/rack", 'did you mean "fabric.acme.example/rack"?'),
        (
            'device.attributes["gpu.amce.example"].?model.hasValue()',
            "gpu.amce.example/model",
            f'did you mean "{DRIVER}/model"?',
        ),
        ('"fabrik.acme.example" in device.attributes', "fabrik.acme.example", 'did you mean "fabric.acme.example"?'),
        ("has(A.zzz)", f"{DRIVER}/zzz", ""),
    ],
)
def test_a_name_that_no_device_has_is_looked_for_among_the_others(expression: str, name: str, hint: str) -> None:
    (presence,) = census(expression).presences
    assert (presence.name, presence.devices, presence.hint) == (name, 0, hint)


def test_a_list_that_is_indexed_is_a_name_too() -> None:
    assert [presence.types for presence in census("A.lanes[0] == 4").presences] == [{"ints": 1}]


def test_nothing_is_proposed_for_a_name_that_is_only_misspelt() -> None:
    assert census('A.modle == "m1"').proposal is None


def test_the_drivers_own_domain_is_one_name_for_each_driver() -> None:
    devices = [
        (DeviceID(driver, "node-0", "d"), CelDevice(driver, Device("d", attributes={"model": "m1"})))
        for driver in (DRIVER, OTHER)
    ]
    found = take_census('device.attributes[device.driver].model == "m1"', Environment(), devices)
    assert [(presence.name, presence.devices, presence.missing) for presence in found.presences] == [
        (f"{DRIVER}/model", 1, ()),
        (f"{OTHER}/model", 1, ()),
    ]


@pytest.mark.parametrize(
    ("expression", "use", "type_", "devices"),
    [
        ('A.firmware == "1.4.2"', "compared with a string", "version", 2),
        ('A.firmware != semver("1.4.2")', "compared with a version", "string", 1),
        ('A.index == "1" || true', "compared with a string", "int", 4),
        ('A.index in ["1"]', "compared with a string", "int", 4),
        ("A.model == 1.5", "compared with a number", "string", 3),
        ("A.model || true", "used as true or false", "string", 3),
        ('A.index.startsWith("1") || true', "given to startsWith(), which takes a string", "int", 4),
        ('"x" in A.model || true', "searched as a list", "string", 3),
        ("A.?lanes.orValue(0) == 4", "compared with a number", "ints", 1),
    ],
)
def test_a_value_of_another_type_than_is_asked_for_is_told(expression: str, use: str, type_: str, devices: int) -> None:
    mistakes = [mistake for presence in census(expression).presences for mistake in presence.mistakes]
    assert [(mistake.use, mistake.type, mistake.devices) for mistake in mistakes] == [(use, type_, devices)]


@pytest.mark.parametrize(
    "expression", ["A.index < 1.5", "A.index == 1u", "A.model == dyn(1)", 'A.model == "x"', "A.ecc", "A.lanes.includes(4)"]
)
def test_types_that_go_together_are_no_mistake(expression: str) -> None:
    assert [mistake for presence in census(expression).presences for mistake in presence.mistakes] == []


def test_a_device_that_is_wrong_itself_fails_with_that() -> None:
    found = census("A.index == 0", [Device("gpu-0", attributes={"index": 0, "firmware": semver("1.4")})])
    (group,) = found.groups
    assert (group.outcome, group.parts) == ("fails", ())
    assert group.message == "attribute firmware: parse semantic version: No Major.Minor.Patch elements found"
    assert found.proposal is None


def test_an_api_server_refuses_what_is_too_long_or_too_dear() -> None:
    assert not refusal(compile("true"))
    assert refusal(compile(expanded('A.versions.exists(v, v == semver("2.0.0"))'))) == "too complex, exceeds cost limit"
    assert refusal(compile(f'"{"x" * LENGTH_LIMIT}" != ""')) == "too long: 10,248 bytes, and no more than 10,240 are accepted"
    assert compile("true").max_cost < COST_LIMIT


def test_the_cost_is_the_highest_of_all_devices() -> None:
    expression = expanded("A.index == 3 && A.lanes.exists(l, l == 8)")
    costs = [judge(expression, CelDevice(DRIVER, device), Environment()).cost for device in FLEET]
    assert census(expression).highest_cost == max(costs) > min(costs)


def test_a_census_of_nothing_is_empty() -> None:
    found = census('A.model == "m1"', [])
    assert (found.total, found.groups, found.highest_cost, found.proposal) == (0, (), 0, None)


def test_an_expression_that_does_not_compile_is_the_callers() -> None:
    with pytest.raises(CompileError):
        census("device.nope")


def test_devices_that_agree_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[CelDevice] = []

    def noting_examine(selector: Selector, device: CelDevice) -> tuple[bool | EvaluationError, int]:
        looked.append(device)
        return examine(selector, device)

    monkeypatch.setattr("drakit.cel.census.taking.examine", noting_examine)
    devices = [Device(f"gpu-{i}", attributes={"model": f"m{i % 2}", "uuid": str(i)}) for i in range(1000)]
    found = census('A.model == "m1"', devices)
    assert [len(group.devices) for group in found.groups] == [500, 500]
    assert len(looked) == 2


@given(expressions())
def test_a_census_is_of_one_mind_with_the_selector(expression: str) -> None:
    device = CelDevice(EXAMPLE_DRIVER, EXAMPLE_DEVICE)
    try:
        judged = judge(expression, device, Environment())
        found = take_census(expression, Environment(), [(DeviceID(EXAMPLE_DRIVER, "p", "d"), device)])
    except (CompileError, UnsupportedExpression):
        return
    (group,) = found.groups
    assert {"matches": "true", "does not match": "false", "fails": "runtime_error"}[group.outcome] == judged.verdict
    assert group.message == judged.message
    assert found.proposal is None or found.proposal.failing == 0


def test_a_judgement_has_all_that_kubernetes_says() -> None:
    device = CelDevice(DRIVER, FLEET[0])
    assert judge(expanded('A.model == "m1"'), device, Environment()) == Judgement(
        verdict="true", output_type="bool", max_cost=5, cost=5
    )
    broken = judge("device.nope", device, Environment())
    assert (broken.verdict, broken.output_type, broken.max_cost, broken.cost) == ("compile_error", None, None, 0)
    assert broken.message.endswith(" | device.nope\n | ......^")
