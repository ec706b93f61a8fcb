from __future__ import annotations

import gc
import io
import json
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import drakit
from drakit import Cluster, Device, DrakitError
from drakit.files import Loaded, UnreadableFile, read_cluster
from drakit.hooks import PluginError, Plugins
from drakit.model import ObjectMeta
from drakit.model.wire import encode
from tests.hooks.entries import ACME, acme, plugin

INVENTORY: Final = """\
apiVersion: drakit/v1alpha1
kind: Inventory
metadata: {name: mine}
plugin: acme
hostNames: [h0, h1]
"""
CLAIM: Final = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c"},
    "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": ACME}}]}},
}


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def plugins(*others: object) -> Plugins:
    made = Plugins()
    made.register(acme(discover=lambda: [Device("card")]), "acme")
    for index, other in enumerate(others):
        made.register(other, f"other{index}")
    return made


def read(*texts: str, using: Plugins | None = None) -> Loaded:
    """The cluster in documents, each a YAML or JSON text."""
    return read_cluster(["-"], plugins=using or plugins(), stdin=io.StringIO("\n---\n".join(texts)))


def objects(*contents: object) -> Cluster:
    return read(*map(json.dumps, contents)).cluster


def complaint(*texts: str) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read(*texts)
    return str(caught.value)


# -- objects ---------------------------------------------------------------------------------------------------------


def test_objects_keep_the_order_of_the_files() -> None:
    cluster = objects(node("b"), node("a"), CLAIM, node("c"))
    assert [n.name for n in cluster.nodes] == ["b", "a", "c"]
    assert [claim.key for claim in cluster.claims] == ["default/c"]


def test_lists_are_their_items_however_deep() -> None:
    inner = {"apiVersion": "v1", "kind": "List", "items": [node("b"), node("c")]}
    outer = {"apiVersion": "v1", "kind": "List", "items": [node("a"), inner, node("d")], "metadata": {"resourceVersion": ""}}
    assert [n.name for n in objects(outer).nodes] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("items", [[], None])
def test_an_empty_list_is_fine(items: object) -> None:
    assert objects({"apiVersion": "v1", "kind": "List", "items": items}).nodes == ()


@pytest.mark.parametrize("items", ["abc", 7, {"a": 1}, True, {}, "", 0])
def test_the_items_of_a_list_must_be_a_list(items: object) -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    assert complaint(text) == "<stdin>, document 1 (line 1): items: must be a list"


def test_an_error_in_a_list_tells_the_item() -> None:
    broken = {"apiVersion": "v1", "kind": "List", "items": [node("a"), {"kind": "Nod"}]}
    where = "<stdin>, document 2 (line 3), items[0], items[1]: "
    said = complaint(json.dumps(node("b")), json.dumps({"kind": "List", "items": [broken]}))
    assert said.startswith(f'{where}kind: unknown kind "Nod", did you mean "Node"?; known are ')


@pytest.mark.parametrize("item", [None, "x", 7, []])
def test_an_item_that_is_no_object_is_told(item: object) -> None:
    said = complaint(json.dumps({"kind": "List", "items": [item]}))
    assert said == "<stdin>, document 1 (line 1), items[0]: must be an object with apiVersion and kind"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "kind: is required: a document must say what it is"),
        ("kind: 7", "kind: is required: a document must say what it is"),
        ("{apiVersion: v1, kind: Secret, metadata: {name: s}}", 'kind: unknown kind "Secret"'),
        ("{apiVersion: v1, kind: ResourceClam}", 'kind: unknown kind "ResourceClam", did you mean "ResourceClaim"?'),
        ("{kind: Node, metadata: {name: n}}", "Node: apiVersion: is required"),
        ("{apiVersion: v2, kind: Node, metadata: {name: n}}", 'Node: apiVersion: "v2" cannot be read: must be v1'),
        ("{apiVersion: v1, kind: Node}", "Node: metadata: is required"),
        ("{apiVersion: v1, kind: Node, metadata: {}}", "Node: metadata.name: is required"),
        ("{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: c}, spek: {}}", 'unknown field "spek"'),
        ("{apiVersion: v1, kind: Node, metadata: {name: n}, 7: x}", "Node n: key 7 must be a string: put it in quotes"),
        ("{apiVersion: v1, kind: Node, metadata: {name: 2026}}", "metadata.name: must be a string, not the number 2026"),
        ("{apiVersion: v1, kind: Node, metadata: {name: !!binary aGk=}}", "metadata.name: must be a string"),
    ],
)
def test_an_object_that_is_wrong_is_told_with_document_line_and_field(text: str, message: str) -> None:
    said = complaint(json.dumps(node("first")), f"\n{text}")
    assert said.startswith("<stdin>, document 2 (line 4): ")
    assert message in said
    assert "\n" not in said


def test_every_fault_has_a_line_of_its_own_with_file_and_document() -> None:
    broken = {**CLAIM, "spec": {"devices": {"requests": [{"name": 7}, {"nam": "r"}]}}}
    lines = complaint(json.dumps(broken)).splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("<stdin>, document 1 (line 1): ResourceClaim c: spec.devices.requests[") for line in lines)


def test_an_object_that_is_given_twice_is_an_error_with_its_place() -> None:
    said = complaint(json.dumps(node("a")), json.dumps(node("b")), json.dumps(node("a")))
    assert said == "<stdin>, document 3 (line 5): Node a was already given by another document"


def test_a_namespace_left_out_is_default() -> None:
    explicit = {**CLAIM, "metadata": {"name": "c", "namespace": "default"}}
    assert "ResourceClaim default/c was already given" in complaint(json.dumps(CLAIM), json.dumps(explicit))


def test_one_name_may_stand_for_several_kinds_and_namespaces() -> None:
    elsewhere = {**CLAIM, "metadata": {"name": "c", "namespace": "elsewhere"}}
    cluster = objects(node("c"), CLAIM, elsewhere)
    assert [claim.key for claim in cluster.claims] == ["default/c", "elsewhere/c"]


def test_objects_that_wait_for_a_name_get_one_each() -> None:
    generated = {**CLAIM, "metadata": {"generateName": "train-"}}
    keys = [claim.key for claim in objects(generated, generated, generated).claims]
    assert len(set(keys)) == 3
    assert all(key.startswith("default/train-") for key in keys)


def test_a_generated_name_keeps_clear_of_given_ones() -> None:
    generated = {**CLAIM, "metadata": {"generateName": "train-"}}
    given = {**CLAIM, "metadata": {"name": "train-1"}}
    for order in ([generated, given], [given, generated]):
        keys = [claim.key for claim in objects(*order).claims]
        assert len(set(keys)) == 2


# -- Inventory documents ---------------------------------------------------------------------------------------------


def test_an_inventory_brings_nodes_classes_and_slices() -> None:
    loaded = read(INVENTORY)
    assert [n.name for n in loaded.cluster.nodes] == ["h0", "h1"]
    assert [c.name for c in loaded.cluster.classes] == [ACME]
    assert [s.spec.pool.name for s in loaded.slices] == ["h0", "h1"]
    assert loaded.cluster.slices == loaded.slices


@pytest.mark.parametrize("first", [True, False])
def test_objects_win_over_what_an_inventory_brings_before_or_after_it(first: bool) -> None:
    mine = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": ACME, "labels": {"mine": "yes"}}}
    given = [json.dumps(node("h1", zone="z")), json.dumps(mine)]
    cluster = read(*(given if first else []), INVENTORY, *([] if first else given)).cluster
    assert {n.name: n.labels.get("zone") for n in cluster.nodes} == {"h0": None, "h1": "z"}
    assert [c.metadata.labels["mine"] for c in cluster.classes] == ["yes"]


def test_two_inventories_may_share_hosts_but_not_pools() -> None:
    other = Plugins()
    other.register(acme(discover=lambda: [Device("card")]), "acme")
    other.register(acme("nic.acme.example", discover=lambda: [Device("nic")]), "nic")
    cluster = read(INVENTORY, INVENTORY.replace("plugin: acme", "plugin: nic"), using=other).cluster
    assert [n.name for n in cluster.nodes] == ["h0", "h1"]
    assert len(cluster.slices) == 4
    assert "was already given" in complaint(INVENTORY, INVENTORY)


def test_an_inventory_may_be_an_item_of_a_list() -> None:
    assert "h0" in read(f"kind: List\nitems:\n- {INVENTORY.replace(chr(10), chr(10) + '  ')}").cluster.nodes[0].name


def test_the_slices_of_an_inventory_read_back_are_the_same_slices() -> None:
    loaded = read(INVENTORY)
    again = objects(*(encode(slice_) for slice_ in loaded.slices))
    assert again.slices == tuple(loaded.slices)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("plugin: nothing", 'Inventory mine: plugin: plugin "nothing" is not loaded; loaded are: acme'),
        ("plugin: acm", 'Inventory mine: plugin: plugin "acm" is not loaded, did you mean "acme"?; loaded are: acme'),
        ("plugin: acme\ncard: 1", 'Inventory mine: unknown field "card", did you mean "cards"?'),
        ("plugin: acme\ncards: x", 'Inventory mine: cards: must be an integer, not the string "x"'),
    ],
)
def test_an_inventory_that_is_wrong_is_told_with_document_and_field(change: str, message: str) -> None:
    said = complaint(json.dumps(node("n")), INVENTORY.replace("plugin: acme", change))
    assert said == f"<stdin>, document 2 (line 3): {message}"


def test_a_driver_that_fails_is_reported_and_the_rest_is_there() -> None:
    failing = Plugins()
    failing.register(acme(discover=lambda: 1 / 0), "acme")
    loaded = read(json.dumps(node("n")), INVENTORY, using=failing)
    assert [n.name for n in loaded.cluster.nodes] == ["n"]
    assert loaded.slices == ()
    (error,) = loaded.plugin_errors
    assert str(error).endswith("plugin acme: drakit_discover: ZeroDivisionError: division by zero")


def test_another_plugin_that_fails_in_several_documents_is_reported_once() -> None:
    failing = plugins(plugin(attributes=lambda: 1 / 0))
    two = INVENTORY.replace("[h0, h1]", "[h2]")
    loaded = read(INVENTORY, two, using=failing)
    assert [s.spec.pool.name for s in loaded.slices] == ["h0", "h1", "h2"]
    (error,) = loaded.plugin_errors
    where = "<stdin>, document 1 (line 1): "
    assert str(error) == f"{where}plugin other0: drakit_attributes: ZeroDivisionError: division by zero"


# -- drakit.load -----------------------------------------------------------------------------------------------------


def test_load_takes_any_number_of_paths(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps(node(name)), encoding="utf-8")
    cluster = drakit.load(tmp_path / "b.json", str(tmp_path / "a.json"))
    assert [n.name for n in cluster.nodes] == ["b", "a"]


def test_load_raises_what_a_plugin_does_wrong(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(INVENTORY, encoding="utf-8")
    with pytest.raises(PluginError, match="plugin other0: drakit_health"):
        drakit.load(tmp_path, plugins=plugins(plugin(health=lambda: 1 / 0)))


def test_every_error_of_load_is_a_drakit_error(tmp_path: Path) -> None:
    with pytest.raises(DrakitError):
        drakit.load(tmp_path / "absent.yaml")


def test_plugins_are_loaded_only_for_an_inventory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> Plugins:
        raise AssertionError("nothing here needs a plugin")

    monkeypatch.setattr(Plugins, "load", refuse)
    (tmp_path / "x.json").write_text(json.dumps(node("n")), encoding="utf-8")
    assert [n.name for n in drakit.load(tmp_path).nodes] == ["n"]


def test_standard_input_stays_open_when_a_cluster_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "node.yaml"
    file.write_text("{apiVersion: v1, kind: Node, metadata: {name: a}}")
    stdin = io.TextIOWrapper(io.BytesIO(b"{apiVersion: v1, kind: Node, metadata: {name: \xc3\xa9}}"), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", stdin)
    assert [node.name for node in drakit.load(file).nodes] == ["a"]
    gc.collect()
    assert not stdin.buffer.closed
    assert [node.name for node in drakit.load("-").nodes] == ["é"]
    gc.collect()
    assert not stdin.closed


def test_standard_input_that_is_closed_matters_only_to_who_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "node.yaml"
    file.write_text("{apiVersion: v1, kind: Node, metadata: {name: a}}")
    monkeypatch.setattr(sys, "stdin", None)
    assert [node.name for node in drakit.load(file).nodes] == ["a"]
    with pytest.raises(UnreadableFile, match=r"^<stdin>: is closed$"):
        drakit.load("-")


# -- lists of one kind, names made up, standard input ------------------------------------------------------------------


def test_the_items_of_a_list_of_one_kind_do_not_say_what_they_are() -> None:
    spec = {"driver": ACME, "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1}, "nodeName": "a", "devices": []}
    bare = [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]
    slices = [{"metadata": {"name": "s"}, "spec": {**spec, "devices": [{"name": "d"}]}}]
    cluster = objects(
        {"apiVersion": "v1", "kind": "NodeList", "items": bare},
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSliceList", "items": slices},
    )
    assert [n.name for n in cluster.nodes] == ["a", "b"]
    assert [s.name for s in cluster.slices] == ["s"]


def test_a_wrong_item_of_a_list_of_one_kind_is_named_by_its_place() -> None:
    listing = {"apiVersion": "v1", "kind": "NodeList", "items": [{"metadata": {"name": "a"}}, 7]}
    assert complaint(json.dumps(listing)).endswith("items[1]: must be an object with apiVersion and kind")


def test_objects_without_a_name_get_names_of_their_own_from_their_prefix() -> None:
    made = [{**CLAIM, "metadata": {"generateName": "job-"}} for _ in range(2_000)]
    cluster = objects({**CLAIM, "metadata": {"name": "job-7"}}, {"apiVersion": "v1", "kind": "List", "items": made})
    names = [claim.metadata.name for claim in cluster.claims]
    assert len(set(names)) == 2_001
    assert all(name.startswith("job-") for name in names)


def test_names_are_looked_for_once_and_not_from_the_start_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def counting(self: ObjectMeta) -> str:
        nonlocal looked
        looked += 1
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    monkeypatch.setattr(ObjectMeta, "key", property(counting))
    objects({"apiVersion": "v1", "kind": "List", "items": [{**CLAIM, "metadata": {"generateName": "j-"}} for _ in range(500)]})
    assert looked < 500 * 20


def test_a_standard_input_that_is_closed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UnreadableFile, match="<stdin>: is closed"):
        read_cluster(["-"])


def test_a_standard_input_that_is_not_utf_8_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a: \xff"), encoding="latin-1"))
    with pytest.raises(UnreadableFile, match=r"<stdin>: is not UTF-8 text \(byte 3\)"):
        read_cluster(["-"])


@pytest.mark.parametrize("name", ["p/r", "a%b", "..", "a\\nb", "\\u001b]0;t"])
def test_what_no_object_can_be_called_is_refused(name: str) -> None:
    text = f'{{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{name}"}}}}'
    assert "metadata.name: " in complaint(text)
    assert "cannot be a name" in complaint(text)


def test_a_list_with_a_misspelt_field_is_refused() -> None:
    said = complaint('{"apiVersion": "v1", "kind": "List", "itmes": []}')
    assert said == '<stdin>, document 1 (line 1): unknown field "itmes", did you mean "items"?'


def test_an_attribute_with_two_values_is_refused() -> None:
    slice_ = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {
            "driver": "d.example.com",
            "nodeName": "a",
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "g", "attributes": {"model": {"string": "m1", "int": 1}}}],
        },
    }
    said = complaint(json.dumps(slice_))
    assert said.endswith("spec.devices[0].attributes[model]: must have exactly one value, not string and int")
