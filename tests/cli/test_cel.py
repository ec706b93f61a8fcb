"""``drakit cel``: a census for people, and lines of questions and answers for tools."""

from __future__ import annotations

import io
import json
import re
from typing import Any

import pytest
import yaml

from drakit.cel import Environment
from drakit.cli.cel_questions import answer_lines
from tests.cli.running import EXAMPLES, Result, drakit
from tests.cli.worlds import device_slice, listing

GPUS = EXAMPLES / "mixed-gpus.yaml"
A = 'device.attributes["gpu.example.com"]'
MODEL = f'{A}.productName == "Example X100"'


def census(expression: str, *options: str) -> Result:
    return drakit("cel", expression, "-f", GPUS, *options)


def answers(*questions: Any, options: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    lines = [question if isinstance(question, str) else json.dumps(question) for question in questions]
    result = drakit("cel", "--jsonl", *options, stdin="\n".join(lines))
    assert (result.code, result.err) == (0, "")
    return [json.loads(line) for line in result.out.splitlines()]


DEVICE = {
    "driver": "gpu.example.com",
    "attributes": {"model": {"string": "m1"}, "lanes": {"ints": [4, 8]}},
    "capacity": {"memory": "80Gi", "cores": {"value": "4"}},
    "allowMultipleAllocations": True,
}


# -- the census -----------------------------------------------------------------------------------------------------


def test_devices_are_shown_by_outcome_with_the_reason() -> None:
    result = census(MODEL)
    assert (result.code, result.err) == (1, "")
    assert "compiles for Kubernetes 1.37, as a stored expression; type bool\n" in result.out
    assert "\nmatch: 22 of 40\n     22  node-a, node-b: each gpu-0 ... gpu-7; node-e/gpu-0 ... gpu-5\n" in result.out
    assert "\nfail: 2 of 40; " in result.out
    assert f"\n  no such key: productName\n  at {MODEL}\n      2  node-e/gpu-6, gpu-7\n" in result.out
    assert f"\n  {MODEL} is false\n" in result.out
    assert '\n     16  productName "Example X50"  node-c, node-d: each gpu-0 ... gpu-7\n' in result.out
    assert re.search(r"^ gpu.example.com/productName +string +38 of 40 +node-e/gpu-6, gpu-7$", result.out, re.MULTILINE)
    assert result.out.endswith(f"\nhas({A}.productName) && {MODEL}\n22 match, 18 do not, fails on none\n")


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        (f"has({A}.productName) && {MODEL}", 0),
        (f"has({A}.productName) && {A}.index > 100", 1),
        (MODEL, 1),
        ("device.driver", 1),
    ],
)
@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_the_exit_status_says_whether_it_selects_something_and_never_fails(expression: str, code: int, output: str) -> None:
    result = census(expression, "-o", output)
    assert (result.code, result.err) == (code, "")


def test_what_does_not_compile_is_shown_with_a_caret() -> None:
    result = census("device.drvier == 1")
    assert result.code == 1
    assert result.out == (
        "device.drvier == 1\n"
        "does not compile for Kubernetes 1.37, as a stored expression:\n"
        "compilation failed: ERROR: <input>:1:7: undefined field 'drvier'\n"
        " | device.drvier == 1\n"
        " | ......^\n"
        'hint: did you mean "driver"? a device has driver, attributes, capacity and allowMultipleAllocations, '
        "and no name or pool\n"
    )
    document = json.loads(census("device.drvier == 1", "-o", "json").out)
    assert (document["compiles"], document["message"].split("\n")[0]) == (False, result.out.split("\n")[2])
    assert document["hints"][0].startswith('did you mean "driver"?')


def test_json_has_all_of_it() -> None:
    document = json.loads(census(f'{MODEL} && {A}.driverVersion == "4.2.0"', "-o", "json").out)
    assert document == yaml.safe_load(census(f'{MODEL} && {A}.driverVersion == "4.2.0"', "-o", "yaml").out)
    assert document["devices"] == {"total": 40, "matching": 0, "mismatching": 16, "failing": 24}
    wrong_type, missing, other = document["groups"]
    assert wrong_type["outcome"] == "fails"
    assert wrong_type["because"] == [
        {
            "expression": f'{A}.driverVersion == "4.2.0"',
            "error": "no such overload",
            "reads": [{"expression": f"{A}.driverVersion", "value": "4.2.0"}],
        }
    ]
    assert missing["devices"] == ["gpu.example.com/node-e/gpu-6", "gpu.example.com/node-e/gpu-7"]
    assert len(other["devices"]) == 16
    name, version = document["reads"]
    assert (name["types"], name["missing"]) == ({"string": 38}, missing["devices"])
    assert version["mistakes"][0] == {
        "use": "compared with a string",
        "type": "version",
        "devices": 32,
        "advice": 'a version is compared with semver("1.2.3")',
    }
    assert "proposal" not in document
    proposal = json.loads(census(MODEL, "-o", "json").out)["proposal"]
    assert proposal["devices"] == {"matching": 22, "mismatching": 18, "failing": 0}


def test_hints_name_what_may_be_meant() -> None:
    out = census(f'{A}.productname == "Example X100"').out
    assert 'hint: no device has the attribute gpu.example.com/productname; did you mean "gpu.example.com/productName"?' in out
    assert "is compared with a string, but it is a version on 32 devices: a ver" in census(f'{A}.driverVersion == "4.2.0"').out


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ((), 0, "as a stored expression"),
        (("--new",), 1, "undeclared reference to 'includes'"),
        (("--new", "--feature-gates", "DRAListTypeAttributes=true", "--kube-version", "v1.37.2"), 0, "as a new expression"),
        (("--new", "--feature-gates", "DRAListTypeAttributes=true", "--kube-version", "1.36"), 0, "Kubernetes 1.36"),
        (
            ("--new", *("--feature-gates", "DRAListTypeAttributes=true"), *("--feature-gates", "DRAConsumableCapacity=true")),
            0,
            "as a new expression",
        ),
        (("--kube-version", "1.35"), 1, "does not compile for Kubernetes 1.35"),
    ],
)
def test_who_is_asked_matters(options: tuple[str, ...], code: int, says: str) -> None:
    result = census(f"{A}.index.includes(3)", *options)
    assert (result.code, result.err) == (code, "")
    assert says in result.out


def test_a_new_expression_may_be_too_complex_though_it_compiles() -> None:
    expression = f'has({A}.productName) && {A}.productName == "Example X100" || type({A}.index) == string'
    stored, new = census(expression), census(expression, "--new")
    assert (stored.code, new.code) == (0, 1)
    assert "at most 1,844,674,407,370,955," in stored.out
    assert "an API server refuses it as a new expression: too complex, exceeds cost limit\n" in new.out


def test_many_values_are_folded_and_many_devices_stay_readable() -> None:
    devices = [{"name": f"gpu-{i}", "attributes": {"uuid": {"string": f"GPU-{i}"}}} for i in range(100)]
    slices = listing(*(device_slice(*devices, node=f"n{i}") for i in range(50)))
    result = drakit("cel", f'{A}.uuid == "GPU-7"', "-f", "-", stdin=slices)
    assert result.code == 0
    assert "\nmatch: 50 of 5,000\n     50  n0 ... n49: each gpu-7\n" in result.out
    assert "  4,700  94 other values  n0 ... n49: each gpu-5, gpu-6, gpu-8 ... gpu-99\n" in result.out
    assert max(map(len, result.out.splitlines())) < 200


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    old, new = device_slice({"name": "gpu-0"}), device_slice({"name": "gpu-1"})
    new["spec"]["pool"]["generation"] = 2
    new["metadata"]["name"] = "n0-new"
    document = json.loads(drakit("cel", "true", "-f", "-", "-o", "json", stdin=listing(old, new)).out)
    assert document["groups"] == [{"outcome": "matches", "devices": ["gpu.example.com/n0/gpu-1"]}]


def test_pools_of_several_drivers_are_told_apart() -> None:
    other = device_slice({"name": "gpu-0"})
    other["spec"]["driver"] = "nic.example.com"
    other["metadata"]["name"] = "other"
    out = drakit("cel", "true", "-f", "-", stdin=listing(device_slice({"name": "gpu-0"}), other)).out
    assert "gpu.example.com/n0, nic.example.com/n0: each gpu-0" in out


def test_without_devices_that_is_said() -> None:
    result = drakit("cel", "true", "-f", "-", stdin=listing(device_slice()))
    assert result.code == 1
    assert result.out.endswith("no devices: the input has no ResourceSlice that lists any\n")


@pytest.mark.needs("fake")
def test_inventories_are_expanded() -> None:
    inventory = {"apiVersion": "drakit/v1alpha1", "kind": "Inventory", "plugin": "fake", "nodes": 2, "devices": 3}
    result = drakit("cel", 'device.driver == "fake.example.com"', "-f", "-", stdin=json.dumps(inventory))
    assert result.code == 0
    assert "match: 6 of 6\n      6  node-0, node-1: each gpu-0 ... gpu-2\n" in result.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["true"], "nothing to read: name a file"),
        (["-f", "-"], "nothing to evaluate: give an expression"),
        (["true", "-f", "nowhere.yaml"], "nowhere.yaml: no such file"),
        (["true", "-f", "-", "--kube-version", "1.12"], '"1.12" is no release that is known'),
        (["true", "-f", "-", "--kube-version", "2.37"], "is no release that is known"),
        (["true", "-f", "-", "--kube-version", "1.37.x"], "is no release that is known"),
        (["true", "-f", "-", "--kube-version", ""], "is no release that is known"),
        (
            ["true", "-f", "-", "--new", "--feature-gates", "DRAConsumableCapacitty=true"],
            'did you mean "DRAConsumableCapacity"?',
        ),
        (["true", "-f", "-", "--feature-gates", "DRAConsumableCapacity=true"], "--feature-gates goes with --new"),
        (["true", "-f", "-", "--new", "--feature-gates", "DRAConsumableCapacity"], "DRAConsumableCapacity is true or false"),
        (["true", "--jsonl"], "it goes with no expression and no -f"),
        (["--jsonl", "-f", "-"], "it goes with no expression and no -f"),
    ],
)
def test_a_call_that_is_wrong_ends_with_2(arguments: list[str], says: str) -> None:
    result = drakit("cel", *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in " ".join(result.err.split())


# -- lines ----------------------------------------------------------------------------------------------------------


def test_a_question_is_answered_with_verdict_type_and_costs() -> None:
    assert answers(
        {"expr": f'{A}.model == "m1"', "device": DEVICE},
        {"expr": f"{A}.lanes.exists(l, l == 5)", "device": DEVICE},
        {"expr": f"{A}.nope == 1", "device": DEVICE},
        {"expr": "device.nope", "device": DEVICE},
        {"expr": "device.allowMultipleAllocations", "device": DEVICE},
        {"expr": 'device.capacity["gpu.example.com"].cores == quantity("4")', "device": DEVICE},
    ) == [
        {"verdict": "true", "message": None, "output_type": "bool", "max_cost": 5, "cost": 5},
        {"verdict": "false", "message": None, "output_type": "bool", "max_cost": 389, "cost": 17},
        {
            "verdict": "runtime_error",
            "message": "no such key: nope. consider using CEL optional chaining (.? followed by orValue()) or guarding the"
            " check with has() for optional fields",
            "output_type": "bool",
            "max_cost": 5,
            "cost": 5,
        },
        {
            "verdict": "compile_error",
            "message": "compilation failed: ERROR: <input>:1:7: undefined field 'nope'\n | device.nope\n | ......^",
            "output_type": None,
            "max_cost": None,
            "cost": 0,
        },
        {"verdict": "true", "message": None, "output_type": "bool", "max_cost": 2, "cost": 2},
        {"verdict": "true", "message": None, "output_type": "bool", "max_cost": 6, "cost": 6},
    ]


def test_a_cost_without_bound_is_called_max() -> None:
    (answer,) = answers({"expr": f'{A}.lanes.exists(v, v == semver("2.0.0"))', "device": DEVICE})
    assert answer["max_cost"] == "max"


def test_the_environment_is_that_of_the_recorded_answers_unless_a_question_or_an_option_says_otherwise() -> None:
    question: dict[str, Any] = {"expr": "device.`driver` == ''", "device": {}}
    newest = {**question, "env": {"minor": 37}}
    env = {"new": True, "kube_version": "1.37"}
    new = {"expr": f"{A}.x.includes(1)", "env": env}
    off = {**new, "env": {**env, "gates": {"DRAListTypeAttributes": False}}}
    verdicts = [answer["verdict"] for answer in answers(question, newest, new, off)]
    assert verdicts == ["compile_error", "true", "runtime_error", "compile_error"]
    assert answers(question, options=("--kube-version", "1.37"))[0]["verdict"] == "true"
    asked_new = answers({"expr": f"{A}.x.includes(1)"}, options=("--new",)), answers(off, options=("--new",))
    assert [answer["verdict"] for (answer,) in asked_new] == ["compile_error", "compile_error"]
    gated = answers({"expr": f"{A}.x.includes(1)"}, options=("--new", "--feature-gates", "DRAListTypeAttributes=true"))
    assert gated[0]["verdict"] == "runtime_error"


@pytest.mark.parametrize(
    ("question", "error"),
    [
        ("{", "the line is not JSON: "),
        ("[]", "question: must be a JSON object"),
        ({"expr": 1}, "question: expr: must be text"),
        ({}, "question: expr: must be text"),
        ({"exp": "true"}, 'question: unknown field "exp", did you mean "expr"?'),
        ({"expr": "true", "device": []}, "device: must be a JSON object"),
        ({"expr": "true", "device": {"drivr": ""}}, 'device: unknown field "drivr", did you mean "driver"?'),
        ({"expr": "true", "device": {"attributes": {"x": {"strng": "a"}}}}, 'did you mean "string"?'),
        ({"expr": "true", "device": {"capacity": {"x": "many"}}}, "many"),
        ({"expr": "true", "env": {"minor": 12}}, '"1.12" is no release that is known: 1.34 to 1.37 are'),
        ({"expr": "true", "env": {"minor": "37"}}, "question: env.minor: must be a number"),
        ({"expr": "true", "env": {"new": 1}}, "question: env.new: must be true or false"),
        ({"expr": "true", "env": {"gates": {"DRAListTypeAttribute": True}}}, 'did you mean "DRAListTypeAttributes"?'),
    ],
)
def test_a_question_that_cannot_be_read_gets_an_error_and_the_next_one_an_answer(question: Any, error: str) -> None:
    wrong, right = answers(question, {"expr": "true", "device": None, "env": {"minor": 37, "new": None}})
    assert error in wrong["error"]
    assert right["verdict"] == "true"


def test_answers_are_written_one_by_one() -> None:
    out = io.StringIO()
    answer_lines(iter(['{"expr": "true"}\n', "\n", '{"expr": "1"}\n']), out, Environment())
    assert [json.loads(line)["verdict"] for line in out.getvalue().splitlines()] == ["true", "compile_error"]
