from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from drakit import Device
from tests.cli.running import drakit
from tests.cli.worlds import DRIVER, cluster, device_claim, device_class, device_slice, listing, node, pod
from tests.hooks.entries import Namer, acme, entry, install, plugin

INVENTORY = {"apiVersion": "drakit/v1alpha1", "kind": "Inventory", "metadata": {"name": "mine"}, "plugin": "acme"}


def no_devices() -> list[Device]:
    return []


def answer(text: str) -> Any:
    result = drakit("simulate", "-f", "-", "-o", "json", stdin=text)
    assert result.err == ""
    return json.loads(result.out)


# -- what cannot be read ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["simulate", "view", "slices"])
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [1,\n", "FILE: is not valid YAML at line 2, column 1: "),
        ("apiVersion: v1\nkind: List\n---\n- x\n", "FILE, document 2 (line 4): must be an object with apiVersion and kind"),
        ("apiVersion: v1\nkind: Secret\n", 'FILE, document 1 (line 1): kind: unknown kind "Secret"'),
        (
            "apiVersion: v1\nkind: List\n---\napiVersion: drakit/v1alpha1\nkind: Inventory\nplugin: nothing\n",
            'FILE, document 2 (line 4): Inventory: plugin: plugin "nothing" is not loaded',
        ),
        (
            "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec: {driver: d, poool: {}}\n",
            'FILE, document 1 (line 1): ResourceSlice s: spec: unknown field "poool", did you mean "pool"?',
        ),
    ],
)
def test_what_cannot_be_read_ends_with_2_and_names_file_document_and_field(
    tmp_path: Path, command: str, text: str, line: str
) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(text, encoding="utf-8")
    result = drakit(command, "-f", file)
    assert (result.code, result.out) == (2, "")
    told = result.err.splitlines()
    assert any(each.startswith(f"error: {line.replace('FILE', str(file))}") for each in told)
    assert all(each.startswith(f"error: {file}") for each in told)
    assert "Traceback" not in result.err


@pytest.mark.parametrize("command", ["simulate", "view", "slices"])
def test_a_missing_file_ends_with_2_and_is_named(tmp_path: Path, command: str) -> None:
    result = drakit(command, "-f", tmp_path / "absent.yaml")
    assert (result.code, result.out) == (2, "")
    assert result.err == f"error: {tmp_path / 'absent.yaml'}: no such file or directory\n"


def test_every_fault_of_an_object_has_a_line_of_its_own() -> None:
    result = drakit("simulate", "-f", "-", stdin=listing(device_claim("c", 1, counts=2, selector=3)))
    lines = result.err.splitlines()
    assert [line.partition('unknown field "')[2].partition('"')[0] for line in lines] == ["counts", "selector"]
    assert all(line.startswith("error: <stdin>, document 1 (line 1), items[0]: ResourceClaim c: ") for line in lines)


# -- what simulates --------------------------------------------------------------------------------------------------


def test_a_slice_with_an_empty_list_of_devices_is_fine() -> None:
    result = drakit("simulate", "-f", "-", "-o", "json", stdin=cluster(device_claim("c"), devices=0))
    assert (result.code, result.err) == (1, "")
    assert json.loads(result.out)["verdict"] == "unschedulable"


def test_a_slice_that_forgot_its_devices_is_told() -> None:
    forgetful = device_slice()
    del forgetful["spec"]["devices"]
    result = drakit("simulate", "-f", "-", stdin=listing(forgetful))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        "error: <stdin>, document 1 (line 1), items[0]: ResourceSlice n0-gpus: spec.devices: is required"
    )


def test_an_empty_slice_from_a_server_is_fine() -> None:
    from_server = device_slice()
    del from_server["spec"]["devices"]
    from_server["metadata"]["uid"] = "585695ce-7b44-4a2b-a4ac-d54b7dd44fa6"
    assert drakit("simulate", "-f", "-", stdin=listing(from_server)).code == 0


@pytest.mark.parametrize(
    ("claims", "verdict", "code"),
    [
        ([], "allocated", 0),
        ([device_claim("a")], "allocated", 0),
        ([device_claim("a"), device_claim("b", 2)], "partly", 1),
        ([device_claim("b", 3)], "unschedulable", 1),
    ],
)
@pytest.mark.parametrize("output", ["json", "yaml", "table", "wide"])
def test_the_exit_status_is_the_verdict_in_every_format(claims: list[Any], verdict: str, code: int, output: str) -> None:
    result = drakit("simulate", "-f", "-", "-o", output, stdin=cluster(*claims))
    assert (result.code, result.err) == (code, "")
    if output in ("json", "yaml"):
        assert yaml.safe_load(result.out)["verdict"] == verdict
    else:
        assert result.out.rstrip().splitlines()[-1].startswith(verdict)


def test_an_error_in_the_objects_is_a_finding_and_tells_where() -> None:
    text = listing(node(), device_class("device.attributes['x'].y == 1"), device_slice({"name": "gpu-0"}), device_claim("c"))
    result = drakit("simulate", "-f", "-", "-o", "json", stdin=text)
    assert (result.code, result.err) == (1, "")
    document = json.loads(result.out)
    assert document["verdict"] == "error"
    assert set(document["error"]) == {"kind", "where", "node", "device", "message"}
    assert document["claims"][0]["error"] == document["error"]


def test_json_and_yaml_say_the_same() -> None:
    text = cluster(device_claim("a"), device_claim("b", 2), pod("p", "a"))
    as_yaml = drakit("simulate", "-f", "-", "-o", "yaml", stdin=text).out
    assert yaml.safe_load(as_yaml) == answer(text)


def test_the_answer_is_the_contract() -> None:
    document = answer(cluster(device_claim("a", 2), device_claim("b"), pod("p", "a"), pod("q", "b")))
    devices = [{"request": "r", "driver": DRIVER, "pool": "n0", "device": f"gpu-{index}"} for index in (0, 1)]
    a, b = document["claims"]
    assert (a["namespace"], a["name"], a["allocated"], a["node"], a["devices"]) == ("default", "a", True, "n0", devices)
    assert a["nodeSelector"]["nodeSelectorTerms"][0]["matchFields"][0]["values"] == ["n0"]
    assert (b["name"], b["allocated"]) == ("b", False)
    assert "devices" not in b
    assert {reason["check"] for reason in b["reasons"]} == {"in-use"}
    assert document["pods"][0] == {"namespace": "default", "name": "p", "node": "n0", "reason": None}
    assert (document["pods"][1]["node"], document["pods"][1]["reason"]) == (None, "claim default/b is not allocated")
    assert "warnings" not in document


def test_wide_tells_all_reasons_and_the_table_the_first_ones() -> None:
    taints = [{"key": f"example.com/k{index}", "effect": "NoSchedule"} for index in range(6)]
    gpus = [{"name": f"gpu-{index}", "taints": [taint]} for index, taint in enumerate(taints)]
    text = listing(node(), device_class(), device_slice(*gpus), device_claim("c"))
    short, wide = (drakit("simulate", "-f", "-", "-o", output, stdin=text).out for output in ("table", "wide"))
    assert "3 more reasons: -o wide" in short
    assert [f"k{index}" in short for index in range(6)] == [True, True, True, False, False, False]
    assert all(f"k{index}" in wide for index in range(6))


def test_files_folders_and_standard_input_are_one_cluster(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text(cluster(), encoding="utf-8")
    file = tmp_path / "claim.yml"
    file.write_text(json.dumps(device_claim("a")), encoding="utf-8")
    result = drakit("simulate", "-f", tmp_path, "-f", "-", "-o", "json", stdin=json.dumps(device_claim("b")))
    assert [claim["name"] for claim in json.loads(result.out)["claims"]] == ["a", "b"]


# -- plugins that fail -----------------------------------------------------------------------------------------------


def test_a_plugin_that_fails_for_others_is_a_finding_beside_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = plugin(attributes=lambda: 1 / 0)
    install(monkeypatch, entry("acme", acme(discover=lambda: [Device("card")])), entry("broken", broken))
    result = drakit("simulate", "-f", "-", "-o", "json", stdin=json.dumps(INVENTORY))
    message = "<stdin>, document 1 (line 1): plugin broken: drakit_attributes: ZeroDivisionError: division by zero"
    assert (result.code, result.err) == (1, f"error: {message}\n")
    assert json.loads(result.out)["warnings"] == [{"code": "plugin-failed", "object": "plugin broken", "message": message}]


@pytest.mark.parametrize("command", ["simulate", "view", "slices"])
def test_a_plugin_that_fails_itself_leaves_nothing_to_be_found_out(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    install(monkeypatch, entry("acme", acme(discover=lambda: 1 / 0)))
    result = drakit(command, "-f", "-", stdin=json.dumps(INVENTORY))
    message = "<stdin>, document 1 (line 1): plugin acme: drakit_discover: ZeroDivisionError: division by zero"
    assert (result.code, result.out, result.err) == (2, "", f"error: {message}\n")


def test_a_plugin_conflict_ends_with_2_and_names_both(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, entry("a", acme(), "one-dist"), entry("b", acme(), "two-dist"))
    result = drakit("simulate", "-f", "-", stdin=json.dumps(INVENTORY))
    assert (result.code, result.out) == (2, "")
    assert "one-dist" in result.err
    assert "two-dist" in result.err


def test_what_needs_no_plugin_runs_whatever_the_plugins_do(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, entry("a", acme(), "one-dist"), entry("b", acme(), "two-dist"), entry("c", SystemExit(1)))
    assert drakit("simulate", "-f", "-", stdin=cluster(device_claim("c"))).code == 0


# -- drakit slices ---------------------------------------------------------------------------------------------------


@pytest.fixture
def _acme(monkeypatch: pytest.MonkeyPatch) -> None:
    install(
        monkeypatch, entry("acme", acme(discover=lambda: [Device("card", attributes={"model": "m1"})])), entry("n", Namer())
    )


@pytest.mark.usefixtures("_acme")
@pytest.mark.parametrize("output", ["yaml", "json"])
def test_slices_can_be_fed_back(output: str) -> None:
    text = json.dumps({**INVENTORY, "hostNames": ["h0", "h1"]})
    result = drakit("slices", "-f", "-", "-o", output, stdin=text)
    assert (result.code, result.err) == (0, "")
    again = drakit("simulate", "-f", "-", stdin=result.out)
    assert (again.code, again.err) == (0, "")
    documents = list(yaml.safe_load_all(result.out))
    if output == "json":
        (document,) = documents
        assert document["kind"] == "List"
        documents = document["items"]
    assert [document["spec"]["pool"]["name"] for document in documents] == ["h0", "h1"]
    assert documents[0]["spec"]["devices"][0]["attributes"]["example.com/nick"] == {"string": "card"}


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_the_slice_of_an_empty_pool_can_be_fed_back(monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    install(monkeypatch, entry("acme", acme(discover=no_devices)))
    slices = drakit("slices", "-f", "-", "-o", output, stdin=json.dumps(INVENTORY))
    assert slices.code == 0
    again = drakit("simulate", "-f", "-", stdin=slices.out)
    assert (again.code, again.err) == (0, "")


@pytest.mark.usefixtures("_acme")
def test_slices_as_a_table_have_one_row_each() -> None:
    out = drakit("slices", "-f", "-", "-o", "table", stdin=json.dumps({**INVENTORY, "hostNames": ["h0", "h1"]})).out
    assert [line.split()[2:5] for line in out.splitlines() if "acme" in line] == [["h0", "h0", "1"], ["h1", "h1", "1"]]


@pytest.mark.parametrize("output", ["yaml", "json", "table"])
def test_no_slices_is_a_finding(output: str) -> None:
    result = drakit("slices", "-f", "-", "-o", output, stdin=listing(node()))
    assert result.code == 1
    assert result.err == "no slices: the input has no Inventory document that describes any\n"


# -- drakit view -----------------------------------------------------------------------------------------------------


def test_nothing_to_draw_is_a_finding() -> None:
    result = drakit("view", "-f", "-", stdin=cluster())
    assert (result.code, result.out) == (1, "")
    attributes = "attributes such as topology 4x8 and origin 0,8"
    assert result.err == f"nothing to draw: no pool has devices that say where they lie, by {attributes}\n"


def test_slices_without_nodes_cannot_be_drawn_and_say_why() -> None:
    result = drakit("view", "-f", "-", stdin=listing(device_class(), device_slice({"name": "g"})))
    assert (result.code, result.out) == (1, "")
    assert result.err == "nothing to draw: there are no nodes, and a pool is drawn as its nodes see it: add them to the input\n"


def test_a_mesh_is_drawn() -> None:
    device = {"name": "ss", "attributes": {"topology": {"string": "2x2"}, "origin": {"string": "0,0"}}}
    result = drakit("view", "-f", "-", stdin=listing(node(), device_class(), device_slice(device), device_claim("c")))
    assert (result.code, result.err) == (0, "")
    assert "A  default/c  ss (2x2)" in result.out


# -- drakit plugins --------------------------------------------------------------------------------------------------


def test_plugins_tell_name_driver_distribution_and_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, entry("acme", acme(discover=no_devices), "drakit-acme", "1.2"), entry("namer", Namer()))
    table = drakit("plugins")
    assert (table.code, table.err) == (0, "")
    rows = [line.split() for line in table.out.splitlines()]
    assert ["acme", "gpu.acme.example", "drakit-acme", "1.2", "discover,", "driver"] in rows
    assert ["namer", "-", "tests.hooks.entries.Namer", "attributes"] in rows
    document = json.loads(drakit("plugins", "-o", "json").out)
    assert yaml.safe_load(drakit("plugins", "-o", "yaml").out) == document
    assert document["failures"] == []
    assert document["plugins"][1] == {
        "name": "namer",
        "driver": None,
        "distribution": "",
        "module": "tests.hooks.entries.Namer",
        "hooks": ["drakit_attributes"],
    }


@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_plugins_that_failed_are_told_and_the_exit_status_is_1(monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    install(monkeypatch, entry("broken", ImportError("No module named 'lib'")), entry("namer", Namer()))
    result = drakit("plugins", "-o", output)
    message = "plugin broken: import: ImportError: No module named 'lib'"
    assert (result.code, result.err) == (1, f"error: {message}\n")
    assert "namer" in result.out
    if output != "table":
        failures = [{"plugin": "broken", "hook": "import", "message": message}]
        assert yaml.safe_load(result.out)["failures"] == failures


def test_plugins_can_be_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, entry("acme", acme()), entry("namer", Namer()))
    monkeypatch.setenv("DRAKIT_DISABLE", "acme")
    assert [p["name"] for p in json.loads(drakit("plugins", "-o", "json").out)["plugins"]] == ["namer"]


def test_no_plugins_is_an_empty_table(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    result = drakit("plugins")
    assert (result.code, result.err) == (0, "no plugins: none is installed, or DRAKIT_DISABLE keeps them from loading\n")


# -- simulate --jsonl ------------------------------------------------------------------------------------------------


def question(*claims: dict[str, Any], devices: int = 1, **more: Any) -> dict[str, Any]:
    gpus = [{"name": f"gpu-{index}"} for index in range(devices)]
    return {"node": node(), "slices": [device_slice(*gpus)], "classes": [device_class()], "claims": list(claims), **more}


def answers(*lines: str) -> list[Any]:
    result = drakit("simulate", "--jsonl", stdin="".join(f"{line}\n" for line in lines))
    assert (result.code, result.err) == (0, "")
    return [json.loads(line) for line in result.out.splitlines()]


def is_error(answer: dict[str, Any]) -> bool:
    return bool(answer["error"]) and (answer["node"], answer["results"]) == (None, None)


def test_each_line_gets_one_answer_good_or_bad_and_empty_ones_none() -> None:
    good, none = question(device_claim("c")), question(device_claim("c", 2))
    got = answers("", json.dumps(good), "   ", "{", json.dumps(none), "[]", "7", '"x"', "null", json.dumps(good))
    assert len(got) == 8
    assert got[0]["node"] == "n0"
    (result,) = got[0]["results"]
    assert result["devices"]["results"] == [{"request": "r", "driver": DRIVER, "pool": "n0", "device": "gpu-0"}]
    assert is_error(got[1])
    assert got[2] == {"node": None, "results": None, "error": None}
    assert all(map(is_error, got[3:7]))
    assert got[7] == got[0]


def test_claims_of_a_question_are_allocated_together_and_around_what_is_taken() -> None:
    taken = {"devices": [{"driver": DRIVER, "pool": "n0", "device": "gpu-0"}]}
    both = [device_claim("a"), device_claim("b")]
    (free, full) = answers(
        json.dumps(question(*both, devices=3, allocated=taken)), json.dumps(question(*both, devices=2, allocated=taken))
    )
    names = [result["devices"]["results"][0]["device"] for result in free["results"]]
    assert names == ["gpu-1", "gpu-2"]
    assert full == {"node": None, "results": None, "error": None}


@pytest.mark.parametrize(
    "broken",
    [
        {"claims": 7},
        {"claims": [7]},
        {"node": 7},
        {"node": {}},
        {"slices": [{"metadata": {"name": "s"}, "spec": {"driver": 7}}]},
        {"allocated": 7},
        {"allocated": {"devices": 7}},
        {"allocated": {"devices": [7]}},
        {"allocated": {"capacity": [{"driver": "d", "pool": "p", "device": "x", "consumed": 7}]}},
        {"allocated": {"capacity": [{"driver": "d", "pool": "p", "device": "x", "consumed": {"m": "much"}}]}},
        {"classes": [device_class("device.")]},
    ],
)
def test_a_question_that_is_wrong_is_answered_with_an_error_and_the_next_one_as_ever(broken: dict[str, Any]) -> None:
    bad, good = answers(json.dumps({**question(device_claim("c")), **broken}), json.dumps(question(device_claim("c"))))
    assert is_error(bad)
    assert good["node"] == "n0"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"node": {}, "node": {}}', "key 'node' stands twice in one object"),
        ('{"node": NaN}', "NaN is no number in JSON"),
        ('{"node": "\\ud800"}', "is one half of a surrogate pair"),
    ],
)
def test_a_line_is_read_as_strictly_as_a_file(line: str, complaint: str) -> None:
    (bad,) = answers(line)
    assert complaint in bad["error"]


@pytest.mark.parametrize("line", ["[" * 100_000, '{"node": ' + "9" * 5000 + "}", '{"a":' * 100_000 + "1" + "}" * 100_000])
def test_an_absurd_line_is_answered_with_an_error(line: str) -> None:
    (bad,) = answers(line)
    assert is_error(bad)
