"""What the API server answers to ResourceSlices, good and bad: inputs of our own with the answers of a real one.

The answers are those of Kubernetes 1.37.2 to a POST at resource.k8s.io/v1; ``test_rejections.py`` holds the table against
the control plane, and whatever else judges slices can be held against the table.
"""

# ruff: noqa: E501 - the server's messages stay as they are

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import field, frozen

__all__ = ["BASELINE", "CASES", "Answer", "Case"]

BASELINE: Final[Mapping[str, Any]] = {
    "driver": "gpu.example.com",
    "pool": {"name": "node-0", "generation": 1, "resourceSliceCount": 1},
    "nodeName": "node-0",
    "devices": [{"name": "d0"}],
}
"""The spec that a case changes; it is accepted."""


@frozen(kw_only=True)
class Answer:
    """What the API server says."""

    faults: tuple[tuple[str, str], ...] = ()
    """Path and message for each thing that is wrong, in the server's order."""
    cannot_be_read: str = ""
    """The message where the slice cannot even be decoded."""
    lost: tuple[str, ...] = ()
    """Paths that are dropped although the slice is accepted."""
    warnings: tuple[str, ...] = ()

    @property
    def code(self) -> int:
        """The HTTP status."""
        if self.cannot_be_read:
            return 400
        return 422 if self.faults else 201


ACCEPTED: Final = Answer()


@frozen
class Case:
    """One slice and its answer."""

    title: str
    change: Mapping[str, Any]
    """Fields of the spec that differ from :data:`BASELINE`; None takes one away."""
    answer: Answer = ACCEPTED
    """With the release's default feature gates."""
    with_all_gates: Answer | None = field(default=None, kw_only=True)
    """With every gate of DRA on; None: the same."""
    strict: bool = field(default=True, kw_only=True)
    """Whether unknown fields are refused."""

    @property
    def document(self) -> dict[str, Any]:
        """The slice, for a POST."""
        spec = {name: value for name, value in {**BASELINE, **self.change}.items() if value is not None}
        return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "slice-0"}, "spec": spec}


# -- parts of slices ---------------------------------------------------------------------------------------------------


def device(name: str = "d0", **fields: Any) -> dict[str, Any]:
    return {"name": name, **fields}


def devices(*given: Mapping[str, Any]) -> dict[str, Any]:
    """A change to these devices."""
    return {"devices": list(given)}


def one(**fields: Any) -> dict[str, Any]:
    """A change to one device with these fields."""
    return devices(device(**fields))


def attribute(name: str, **value: Any) -> dict[str, Any]:
    """A change to one device with one attribute."""
    return one(attributes={name: value or {"string": "x"}})


def many(count: int, first: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A change to so many devices; fields of the first."""
    return devices(*(device(f"d{index}", **(first or {}) if index == 0 else {}) for index in range(count)))


def consumption(counter_set: str = "cs", count: int = 1, value: str = "1") -> dict[str, Any]:
    return {"counterSet": counter_set, "counters": {f"c{index}": {"value": value} for index in range(count)}}


def counter_sets(*sets: Mapping[str, Any]) -> dict[str, Any]:
    """A change to a slice of counter sets."""
    return {"devices": None, "sharedCounters": list(sets)}


def counter_set(name: str = "cs", count: int = 1, **fields: Any) -> dict[str, Any]:
    return {"name": name, "counters": {f"c{index}": {"value": "8"} for index in range(count)}, **fields}


def taint(**fields: Any) -> dict[str, Any]:
    return {"key": "example.com/down", "value": "x", "effect": "NoSchedule", **fields}


def tainted(*taints: Mapping[str, Any]) -> dict[str, Any]:
    """A change to one device with these taints."""
    return one(taints=list(taints))


def pool(**fields: Any) -> dict[str, Any]:
    """A change to fields of the pool."""
    return {"pool": {**BASELINE["pool"], **fields}}


def shared_memory(policy: Mapping[str, Any], *, multiple: bool) -> dict[str, Any]:
    """A change to one device with a capacity that has a request policy."""
    fields = {"allowMultipleAllocations": True} if multiple else {}
    return one(**fields, capacity={"memory": {"value": "16Gi", "requestPolicy": dict(policy)}})


def selector(terms: int) -> dict[str, Any]:
    """A node selector of so many terms."""
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}
    return {"nodeSelectorTerms": [term] * terms}


def selected(**fields: Any) -> dict[str, Any]:
    """A change to a slice whose one device says on which nodes it is."""
    return {"nodeName": None, "perDeviceNodeSelection": True, **one(**fields)}


def binding(ready: int, failed: list[str]) -> dict[str, Any]:
    """A change to one device with binding conditions."""
    conditions = {"bindingConditions": [f"example.com/r{index}" for index in range(ready)], "bindingFailureConditions": failed}
    return one(**{name: value for name, value in conditions.items() if value})


def charged(**mapping: Any) -> dict[str, Any]:
    return {"mapping": mapping}


# -- what the server says again and again ------------------------------------------------------------------------------

LABEL: Final = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
SUBDOMAIN: Final = r"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
IDENTIFIER: Final = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
NAME_PART: Final = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
LABEL_VALUE: Final = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
SEMVER: Final = "must be a string compatible with semver.org spec 2.0.0"
NO_VALUE: Final = "must specify one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
ONE_VALUE: Final = "must specify exactly one of: `int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
SLICE_NODES: Final = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
DEVICE_NODES: Final = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
DECODING: Final = 'ResourceSlice in version "v1" cannot be handled as a ResourceSlice: '


def refused(*faults: tuple[str, str]) -> Answer:
    return Answer(faults=faults)


def wrong(value: str, rule: str) -> str:
    return f'Invalid value: "{value}": {rule}'


def too_many(count: int, most: int) -> str:
    return f"Too many: {count}: must have at most {most} items"


def too_long(most: int) -> str:
    return f"Too long: may not be more than {most} bytes"


# -- the table ---------------------------------------------------------------------------------------------------------

CASES: Final = (
    Case("VALID baseline", {}),
    Case("129 devices (plain)", many(129), refused(("spec.devices", too_many(129, 128)))),
    Case("128 devices (plain)", many(128)),
    Case("65 devices, one with a taint", many(65, {"taints": [taint()]}), refused(("spec.devices", too_many(65, 64)))),
    Case(
        "65 devices, one consuming counters",
        many(65, {"consumesCounters": [consumption()]}),
        refused(("spec.devices", too_many(65, 64))),
    ),
    Case(
        "65 devices, one with a list attribute",
        many(65, {"attributes": {"l": {"strings": ["a", "b"]}}}),
        refused(("spec.devices[0].attributes[l]", wrong("", NO_VALUE))),
        with_all_gates=refused(("spec.devices", too_many(65, 64))),
    ),
    Case("duplicate device name", devices(device(), device()), refused(("spec.devices[1]", 'Duplicate value: "d0"'))),
    Case("device name upper case", one(name="GPU0"), refused(("spec.devices[0].name", wrong("GPU0", LABEL)))),
    Case(
        "device name with a dot",
        one(name="gpu.0"),
        refused(("spec.devices[0].name", 'Invalid value: "gpu.0": must not contain dots')),
    ),
    Case(
        "device name 64 chars",
        one(name="d" * 64),
        refused(("spec.devices[0].name", wrong("d" * 64, "must be no more than 63 characters"))),
    ),
    Case("device name empty", one(name=""), refused(("spec.devices[0].name", wrong("", LABEL)))),
    Case(
        "attribute name with dash", attribute("my-attr"), refused(("spec.devices[0].attributes", wrong("my-attr", IDENTIFIER)))
    ),
    Case("attribute name upper case", attribute("Model")),
    Case("attribute name 33 chars", attribute("a" * 33), refused(("spec.devices[0].attributes", too_long(32)))),
    Case(
        "attribute name: bad domain",
        attribute("Example_com/a"),
        refused(("spec.devices[0].attributes", wrong("Example_com", SUBDOMAIN))),
    ),
    Case("attribute name: domain 64 chars", attribute(f"{'d' * 64}/a"), refused(("spec.devices[0].attributes", too_long(63)))),
    Case("attribute name: two slashes", attribute("a/b/c")),
    Case("attribute name: empty", attribute(""), refused(("spec.devices[0].attributes", wrong("", IDENTIFIER)))),
    Case(
        "attribute name: empty domain",
        attribute("/a"),
        refused(("spec.devices[0].attributes", 'Invalid value: "": the domain must not be empty')),
    ),
    Case("attribute name: kubernetes.io domain", attribute("resource.kubernetes.io/a")),
    Case(
        "attribute with two values",
        attribute("a", int=1, string="x"),
        refused(("spec.devices[0].attributes[a]", wrong("{int, string}", ONE_VALUE))),
    ),
    Case("attribute with no value", one(attributes={"a": {}}), refused(("spec.devices[0].attributes[a]", wrong("", NO_VALUE)))),
    Case(
        "attribute with scalar and list",
        attribute("a", string="x", strings=["y"]),
        Answer(lost=("spec.devices[0].attributes.a.strings",)),
        with_all_gates=refused(("spec.devices[0].attributes[a]", wrong("{string, strings}", ONE_VALUE))),
    ),
    Case(
        "list attribute empty",
        attribute("a", strings=[]),
        refused(("spec.devices[0].attributes[a]", wrong("", NO_VALUE))),
        with_all_gates=refused(
            ("spec.devices[0].attributes[a].strings", "Invalid value: []: must not be empty if specified"),
            ("spec.devices[0].attributes[a]", wrong("", NO_VALUE)),
        ),
    ),
    Case(
        "list attribute with duplicates",
        attribute("a", strings=["x", "x"]),
        refused(("spec.devices[0].attributes[a]", wrong("", NO_VALUE))),
        with_all_gates=ACCEPTED,
    ),
    Case(
        "string attribute 65 chars",
        attribute("a", string="x" * 65),
        refused(("spec.devices[0].attributes[a].string", too_long(64))),
    ),
    Case(
        "string attribute 64 two-byte characters (128 bytes)",
        attribute("a", string="é" * 64),
        refused(("spec.devices[0].attributes[a].string", too_long(64))),
    ),
    Case("string attribute empty", attribute("a", string="")),
    Case(
        "version not semver: 1.2",
        attribute("a", version="1.2"),
        refused(("spec.devices[0].attributes[a].version", wrong("1.2", SEMVER))),
    ),
    Case(
        "version not semver: v1.2.3",
        attribute("a", version="v1.2.3"),
        refused(("spec.devices[0].attributes[a].version", wrong("v1.2.3", SEMVER))),
    ),
    Case(
        "version not semver: 550.54.015 (leading zero)",
        attribute("a", version="550.54.015"),
        refused(("spec.devices[0].attributes[a].version", wrong("550.54.015", SEMVER))),
    ),
    Case(
        "int attribute as string",
        attribute("a", int="5"),
        Answer(
            cannot_be_read=f"{DECODING}json: cannot unmarshal string into Go struct field DeviceAttribute.spec.devices.attributes.int of type int64"
        ),
    ),
    Case(
        "int attribute as float",
        attribute("a", int=5.5),
        Answer(
            cannot_be_read=f"{DECODING}json: cannot unmarshal number 5.5 into Go struct field DeviceAttribute.spec.devices.attributes.int of type int64"
        ),
    ),
    Case(
        "int attribute over int64",
        attribute("a", int=2**63),
        Answer(
            cannot_be_read=f"{DECODING}json: cannot unmarshal number 9223372036854775808 into Go struct field DeviceAttribute.spec.devices.attributes.int of type int64"
        ),
    ),
    Case(
        "33 attributes",
        one(attributes={f"a{index}": {"int": index} for index in range(33)}),
        refused(("spec.devices[0]", "Invalid value: 33: the total number of attributes and capacities must not exceed 32")),
    ),
    Case(
        "20 attributes + 13 capacities",
        one(
            attributes={f"a{index}": {"int": index} for index in range(20)},
            capacity={f"c{index}": {"value": "1"} for index in range(13)},
        ),
        refused(("spec.devices[0]", "Invalid value: 33: the total number of attributes and capacities must not exceed 32")),
    ),
    Case(
        "one list attribute of 49 values",
        attribute("l", strings=[f"v{index}" for index in range(49)]),
        refused(("spec.devices[0].attributes[l]", wrong("", NO_VALUE))),
        with_all_gates=refused(
            ("spec.devices[0]", "Invalid value: 49: the total number of attribute values must not exceed 48")
        ),
    ),
    Case(
        "capacity not a quantity",
        one(capacity={"memory": {"value": "lots"}}),
        Answer(
            cannot_be_read=f"{DECODING}quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ),
    ),
    Case("capacity negative", one(capacity={"memory": {"value": "-1"}})),
    Case(
        "capacity name with dash",
        one(capacity={"gpu-mem": {"value": "1"}}),
        refused(("spec.devices[0].capacity", wrong("gpu-mem", IDENTIFIER))),
    ),
    Case(
        "capacity requestPolicy without allowMultipleAllocations",
        shared_memory({"default": "1Gi", "validValues": ["1Gi"]}, multiple=False),
        refused(("spec.devices[0].capacity[memory].requestPolicy", "Forbidden: allowMultipleAllocations must be true")),
    ),
    Case(
        "capacity requestPolicy step mismatch",
        shared_memory({"default": "3Gi", "validRange": {"min": "1Gi", "step": "4Gi"}}, multiple=True),
        refused(
            (
                "spec.devices[0].capacity[memory].requestPolicy.validRange.step",
                'Invalid value: "3Gi": value is not a multiple of a given step (4Gi) from (1Gi)',
            )
        ),
    ),
    Case(
        "both nodeName and allNodes",
        {"allNodes": True},
        refused(("spec", f'Invalid value: "{{`nodeName`, `allNodes`}}": {SLICE_NODES}, but multiple fields are set')),
    ),
    Case("no node scoping", {"nodeName": None}, refused(("spec", f"Required value: {SLICE_NODES}"))),
    Case(
        "nodeName empty string",
        {"nodeName": ""},
        refused(
            ("spec.nodeName", 'Invalid value: "": must be either unset or set to a non-empty string'),
            ("spec", f"Required value: {SLICE_NODES}"),
        ),
    ),
    Case(
        "allNodes false",
        {"nodeName": None, "allNodes": False},
        refused(
            ("spec.allNodes", "Invalid value: false: must be either unset or set to true"),
            ("spec", f"Required value: {SLICE_NODES}"),
        ),
    ),
    Case(
        "nodeSelector with two terms",
        {"nodeName": None, "nodeSelector": selector(2)},
        refused(
            (
                "spec.nodeSelector.nodeSelectorTerms",
                'Invalid value: [{"MatchExpressions":[{"Key":"a","Operator":"In","Values":["b"]}],"MatchFields":null},{"MatchExpressions":[{"Key":"a","Operator":"In","Values":["b"]}],"MatchFields":null}]: must have exactly one node selector term',
            )
        ),
    ),
    Case(
        "nodeSelector with no terms",
        {"nodeName": None, "nodeSelector": selector(0)},
        refused(
            ("spec.nodeSelector.nodeSelectorTerms", "Required value: must have at least one node selector term"),
            ("spec.nodeSelector.nodeSelectorTerms", "Invalid value: []: must have exactly one node selector term"),
        ),
    ),
    Case(
        "perDeviceNodeSelection without device scoping",
        selected(),
        refused(("spec.devices[0]", f"Required value: {DEVICE_NODES}")),
    ),
    Case(
        "perDeviceNodeSelection, device with nodeName and allNodes",
        selected(nodeName="node-0", allNodes=True),
        refused(("spec.devices[0]", wrong("{`nodeName`, `allNodes`}", DEVICE_NODES))),
    ),
    Case("perDeviceNodeSelection, device nodeSelector with two terms", selected(nodeSelector=selector(2))),
    Case(
        "device nodeName without perDeviceNodeSelection",
        one(nodeName="node-0"),
        refused(
            (
                "spec.devices[0]",
                "Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec",
            )
        ),
    ),
    Case(
        "bad taint effect",
        tainted(taint(effect="PreferNoSchedule")),
        refused(
            (
                "spec.devices[0].taints[0].effect",
                'Unsupported value: "PreferNoSchedule": supported values: "NoExecute", "NoSchedule", "None"',
            )
        ),
    ),
    Case(
        "taint without effect",
        tainted({"key": "example.com/down"}),
        refused(("spec.devices[0].taints[0].effect", "Required value")),
    ),
    Case(
        "taint without key",
        tainted({"effect": "NoSchedule"}),
        refused(
            ("spec.devices[0].taints[0].key", 'Invalid value: "": name part must be non-empty'),
            ("spec.devices[0].taints[0].key", wrong("", NAME_PART)),
        ),
    ),
    Case(
        "taint with bad key and value",
        tainted(taint(key="a b", value="c d")),
        refused(
            ("spec.devices[0].taints[0].key", wrong("a b", NAME_PART)),
            ("spec.devices[0].taints[0].value", wrong("c d", LABEL_VALUE)),
        ),
    ),
    Case("taint effect None", tainted(taint(effect="None"))),
    Case(
        "17 taints",
        tainted(*(taint(key=f"example.com/t{index}") for index in range(17))),
        refused(("spec.devices[0].taints", too_many(17, 16))),
    ),
    Case("same taint twice", tainted(taint(), taint())),
    Case("counter set not declared", one(consumesCounters=[consumption("nowhere")])),
    Case(
        "sharedCounters and devices in one slice",
        {"sharedCounters": [counter_set()]},
        refused(("spec", 'Invalid value: "": only one of `sharedCounters` or `devices` is allowed')),
    ),
    Case(
        "sharedCounters and an empty devices list",
        {"sharedCounters": [counter_set()], "devices": []},
        refused(("spec", 'Invalid value: "": only one of `sharedCounters` or `devices` is allowed')),
    ),
    Case("sharedCounters alone", counter_sets(counter_set())),
    Case("neither devices nor sharedCounters", {"devices": None}),
    Case("device consuming more than capacity (own slice)", one(consumesCounters=[consumption(value="999")])),
    Case("negative counter consumption", one(consumesCounters=[consumption(value="-1")])),
    Case(
        "duplicate counter set",
        counter_sets(counter_set(), counter_set()),
        refused(("spec.sharedCounters[1]", 'Duplicate value: {"name":"cs","counters":{"c0":{"value":"8"}}}')),
    ),
    Case(
        "9 counter sets",
        counter_sets(*(counter_set(f"cs{index}") for index in range(9))),
        refused(("spec.sharedCounters", too_many(9, 8))),
    ),
    Case(
        "33 counters in one set",
        counter_sets(counter_set(count=33)),
        refused(("spec.sharedCounters[0].counters", too_many(33, 32))),
    ),
    Case("8 sets of 32 counters", counter_sets(*(counter_set(f"cs{index}", 32) for index in range(8)))),
    Case(
        "counter set with no counters",
        counter_sets(counter_set(counters={})),
        refused(("spec.sharedCounters[0].counters", "Required value")),
    ),
    Case(
        "counter set name not a label",
        counter_sets(counter_set("C_S")),
        refused(("spec.sharedCounters[0].name", wrong("C_S", LABEL))),
    ),
    Case(
        "counter name not a label",
        counter_sets(counter_set(counters={"mem_GB": {"value": "1"}})),
        refused(("spec.sharedCounters[0].counters", wrong("mem_GB", LABEL))),
    ),
    Case(
        "device consuming 3 counter sets",
        one(consumesCounters=[consumption(name) for name in "abc"]),
        refused(("spec.devices[0].consumesCounters", too_many(3, 2))),
    ),
    Case(
        "device consuming one counter set twice",
        one(consumesCounters=[consumption("a"), consumption("a")]),
        refused(("spec.devices[0].consumesCounters[1]", 'Duplicate value: {"counterSet":"a","counters":{"c0":{"value":"1"}}}')),
    ),
    Case(
        "device consuming 33 counters",
        one(consumesCounters=[consumption(count=33)]),
        refused(("spec.devices[0].consumesCounters[0].counters", too_many(33, 32))),
    ),
    Case("one device consuming 2 sets x 32 counters", one(consumesCounters=[consumption(name, 32) for name in "ab"])),
    Case(
        "driver name upper case",
        {"driver": "GPU.example.com"},
        Answer(warnings=('spec.driver: driver names should be lowercase; "GPU.example.com" contains uppercase characters',)),
    ),
    Case("driver name 64 chars", {"driver": "d" * 64}, refused(("spec.driver", too_long(63)))),
    Case("driver name empty", {"driver": ""}, refused(("spec.driver", "Required value"))),
    Case("pool name empty", pool(name=""), refused(("spec.pool.name", "Required value"))),
    Case("pool name upper case", pool(name="Node-0"), refused(("spec.pool.name", wrong("Node-0", SUBDOMAIN)))),
    Case("pool name with slashes", pool(name="a/b/c")),
    Case(
        "resourceSliceCount 0",
        pool(resourceSliceCount=0),
        refused(("spec.pool.resourceSliceCount", "Invalid value: 0: must be greater than zero")),
    ),
    Case(
        "generation negative",
        pool(generation=-1),
        refused(("spec.pool.generation", "Invalid value: -1: must be greater than or equal to zero")),
    ),
    Case(
        "bindingConditions without failure conditions",
        binding(1, []),
        refused(
            (
                "spec.devices[0].bindingFailureConditions",
                "Invalid value: null: bindingFailureConditions are required to use bindingConditions",
            )
        ),
    ),
    Case(
        "bindingFailureConditions without bindingConditions",
        binding(0, ["example.com/f"]),
        refused(
            (
                "spec.devices[0].bindingConditions",
                "Invalid value: null: bindingConditions are required to use bindingFailureConditions",
            )
        ),
    ),
    Case("5 binding conditions", binding(5, ["example.com/f"]), refused(("spec.devices[0].bindingConditions", too_many(5, 4)))),
    Case(
        "same condition in both lists",
        binding(1, ["example.com/r0"]),
        refused(
            (
                "spec.devices[0].bindingFailureConditions[0]",
                'Invalid value: "example.com/r0": bindingFailureConditions must not overlap with bindingConditions',
            )
        ),
    ),
    Case(
        "nodeAllocatableResources: non-native name",
        one(
            capacity={"memory": {"value": "1Gi"}},
            nodeAllocatableResources={"example.com/gpu": charged(capacityKey="memory", capacityMultiplier="1")},
        ),
        Answer(lost=("spec.devices[0].nodeAllocatableResources",)),
        with_all_gates=refused(
            (
                "spec.devices[0].nodeAllocatableResources[example.com/gpu]",
                'Invalid value: "example.com/gpu": must be a node allocatable resource name',
            )
        ),
    ),
    Case(
        "nodeAllocatableResources: capacityKey not there",
        one(nodeAllocatableResources={"memory": charged(capacityKey="memory", capacityMultiplier="1")}),
        Answer(lost=("spec.devices[0].nodeAllocatableResources",)),
        with_all_gates=refused(("spec.devices[0].nodeAllocatableResources[memory].mapping.capacityKey", 'Not found: "memory"')),
    ),
    Case(
        "nodeAllocatableResourceMappings of 1.36",
        one(nodeAllocatableResourceMappings={"memory": {}}),
        Answer(
            lost=("spec.devices[0].nodeAllocatableResourceMappings",),
            warnings=('unknown field "spec.devices[0].nodeAllocatableResourceMappings"',),
        ),
        strict=False,
    ),
    Case(
        "unknown field (strict on)",
        one(colour="red"),
        Answer(cannot_be_read=f'{DECODING}strict decoding error: unknown field "spec.devices[0].colour"'),
    ),
    Case(
        "unknown field (strict off)",
        one(colour="red"),
        Answer(lost=("spec.devices[0].colour",), warnings=('unknown field "spec.devices[0].colour"',)),
        strict=False,
    ),
    Case(
        'old "basic" wrapper sent to v1',
        one(basic={"attributes": {"a": {"int": 1}}}),
        Answer(lost=("spec.devices[0].basic",), warnings=('unknown field "spec.devices[0].basic"',)),
        strict=False,
    ),
)
