"""The only place that knows JSON: Kubernetes objects as documents, and documents as the model.

Reading is strict where drakit owns the meaning: in resource.k8s.io an unknown field is an error that names the nearest
known one, and no value is coerced (``count: "2"`` is not 2). Of the core kinds (Node, Pod, Namespace) drakit reads
the few fields it needs and passes over the others. A JSON null is an absent field, as in Go.

Every fault of a document is found in one go and carries its path in Kubernetes' notation.
"""

from __future__ import annotations

import collections.abc
import copy
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar, get_args, get_origin

import attrs
from attrs import frozen
from cattrs import AttributeValidationNote, ClassValidationError, Converter, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from drakit.model.claim import DeviceClass, ResourceClaim, ResourceClaimTemplate
from drakit.model.errors import Fault, InvalidObject, did_you_mean
from drakit.model.meta import Timestamp
from drakit.model.nodes import Node
from drakit.model.pod import Namespace, Pod
from drakit.model.quantity import Quantity
from drakit.model.resourceslice import ResourceSlice
from drakit.model.taintrule import DeviceTaintRule

__all__ = ["KINDS", "Kind", "KubernetesObject", "decode", "decode_as", "encode", "encode_part", "read_metadata_name"]

KubernetesObject = (
    Node | Pod | Namespace | ResourceSlice | DeviceClass | ResourceClaim | ResourceClaimTemplate | DeviceTaintRule
)


T = TypeVar("T")
_TIMESTAMP: Final = re.compile(r"\d{4}-\d\d-\d\dT([01]\d|2[0-3]):\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


@frozen
class Kind:
    """How objects of one kind are read and written."""

    type: type[Any]
    group: str
    versions: tuple[str, ...]
    """Versions whose JSON this class reads; the first one is written."""
    namespaced: bool
    strict: bool

    @property
    def api_version(self) -> str:
        return "/".join(filter(None, (self.group, self.versions[0])))


_DRA: Final = "resource.k8s.io"
KINDS: Final[Mapping[str, Kind]] = {
    kind.type.__name__: kind
    for kind in (
        Kind(Node, "", ("v1",), namespaced=False, strict=False),
        Kind(Namespace, "", ("v1",), namespaced=False, strict=False),
        Kind(Pod, "", ("v1",), namespaced=True, strict=False),
        Kind(DeviceClass, _DRA, ("v1", "v1beta2"), namespaced=False, strict=True),
        Kind(ResourceSlice, _DRA, ("v1", "v1beta2"), namespaced=False, strict=True),
        Kind(ResourceClaim, _DRA, ("v1", "v1beta2"), namespaced=True, strict=True),
        Kind(ResourceClaimTemplate, _DRA, ("v1", "v1beta2"), namespaced=True, strict=True),
        Kind(DeviceTaintRule, _DRA, ("v1", "v1beta2", "v1alpha3"), namespaced=False, strict=True),
    )
}
"""The kinds drakit reads, by name."""


def decode(document: Mapping[str, Any]) -> KubernetesObject:
    """The object a document describes. A namespaced one without a namespace is in ``default``, as with kubectl.

    :raises InvalidObject: an unknown kind or version, or any field that is wrong; all faults at once.
    """
    kind = _kind_of(document)
    body = {key: value for key, value in document.items() if key not in ("apiVersion", "kind")}
    what = f"{kind.type.__name__} {read_metadata_name(document)}".rstrip()
    faults = list(_left_out(kind, document))
    try:
        decoded: KubernetesObject = decode_as(body, kind.type, what, strict=kind.strict)
    except InvalidObject as error:
        raise InvalidObject(what, [*error.faults, *faults]) from error
    if faults:
        raise InvalidObject(what, faults)
    if kind.namespaced and not decoded.metadata.namespace:
        return attrs.evolve(decoded, metadata=attrs.evolve(decoded.metadata, namespace="default"))
    return decoded


def _left_out(kind: Kind, document: Mapping[str, Any]) -> Iterator[Fault]:
    """What no class can miss: a name, the devices of a slice that was written by hand, and what is said twice.

    A slice says that it is empty; only in one that a server sent, an empty list was simply left out.
    """
    metadata, spec = document.get("metadata"), document.get("spec")
    if isinstance(metadata, Mapping) and not metadata.get("name") and not metadata.get("generateName"):
        yield Fault("metadata.name", "is required")
    if isinstance(metadata, Mapping):
        yield from _impossible_names(metadata)
    if kind.type is ResourceSlice and isinstance(spec, Mapping):
        yield from _left_out_of_slice(spec, from_server=isinstance(metadata, Mapping) and bool(metadata.get("uid")))
        yield from _ambiguous_attributes(spec.get("devices"))


def _impossible_names(metadata: Mapping[str, Any]) -> Iterator[Fault]:
    """Names that no object of any kind can have, for they are part of its path on the server."""
    for field in ("name", "namespace", "generateName"):
        name = metadata.get(field)
        if isinstance(name, str) and ("/" in name or "%" in name or not name.isprintable() or name in (".", "..")):
            yield Fault(f"metadata.{field}", f"{name!r} cannot be a name: it may have no '/', '%' or unprintable character")


def _ambiguous_attributes(devices: Any) -> Iterator[Fault]:
    """Attributes with two values: which one counts would be anybody's guess."""
    for index, device in enumerate(devices if isinstance(devices, list) else ()):
        given: Any = device.get("attributes") if isinstance(device, Mapping) else None
        if not isinstance(given, Mapping):
            continue
        for name, values in given.items():
            kinds = [str(kind) for kind, value in values.items() if value is not None] if isinstance(values, Mapping) else []
            if len(kinds) > 1:
                rule = f"must have exactly one value, not {' and '.join(kinds)}"
                yield Fault(f"spec.devices[{index}].attributes[{name}]", rule)


def _left_out_of_slice(spec: Mapping[str, Any], *, from_server: bool) -> Iterator[Fault]:
    if not from_server and spec.get("devices") is None and spec.get("sharedCounters") is None:
        hint = "a slice has devices or sharedCounters; write `devices: []` if it is meant to be empty"
        yield Fault("spec.devices", f"is required: {hint}")
    given = [name for name in ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection") if spec.get(name)]
    if len(given) != 1:
        rule = "exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection is required"
        yield Fault("spec", f"{rule}, not {' and '.join(given) or 'none'}")


def _kind_of(document: Mapping[str, Any]) -> Kind:
    name, api_version = document.get("kind"), document.get("apiVersion")
    if not isinstance(name, str):
        raise InvalidObject("", [Fault("kind", "is required: a document must say what it is")])
    kind = KINDS.get(name)
    if kind is None:
        known = ", ".join(sorted([*KINDS, "Inventory", "List"]))
        raise InvalidObject("", [Fault("kind", f'unknown kind "{name}"{did_you_mean(name, KINDS)}; known are {known}')])
    if not isinstance(api_version, str):
        raise InvalidObject(name, [Fault("apiVersion", f'is required: "{kind.api_version}"')])
    group, _, version = api_version.rpartition("/")
    if group != kind.group or version not in kind.versions:
        readable = " or ".join("/".join(filter(None, (kind.group, version))) for version in kind.versions)
        raise InvalidObject(name, [Fault("apiVersion", f'"{api_version}" cannot be read: must be {readable}')])
    return kind


def read_metadata_name(document: Mapping[str, Any]) -> str:
    """The name of a document for messages, empty where there is none that can be read."""
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else ""


def decode_as(document: Any, type_: type[T], what: str, *, strict: bool = True) -> T:
    """A document, or part of one, as an attrs class.

    :param what: names the object in errors.
    :raises InvalidObject: all faults at once.
    """
    try:
        return _converter(strict).structure(document, type_)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - cattrs passes on whatever a hook or a validator raised
        faults = list(_faults(error))
    raise InvalidObject(what, faults)


def encode(obj: KubernetesObject) -> dict[str, Any]:
    """The document for an object, in the API's newest version; what says nothing is left out."""
    kind = KINDS[type(obj).__name__]
    body: dict[str, Any] = _converter(True).unstructure(obj)
    if isinstance(obj, ResourceSlice) and not obj.spec.devices and not obj.spec.shared_counters:
        body["spec"]["devices"] = []
    return {"apiVersion": kind.api_version, "kind": type(obj).__name__, **body}


def encode_part(part: object) -> Any:
    """A part of an object as JSON: an AllocationResult, a node selector, a toleration."""
    return _converter(True).unstructure(part)


# -- the converter ---------------------------------------------------------------------------------------------------


class _Faults(Exception):
    """Faults of the items of a list or mapping, on their way up."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__(faults)
        self.faults = faults


@functools.cache
def _converter(strict: bool) -> Converter:
    converter = Converter(detailed_validation=True)
    # Later registrations are asked first: classes before, Quantity (a class too) and free-form JSON after.
    converter.register_structure_hook_factory(attrs.has, lambda type_: _structure_class(type_, converter, strict=strict))
    converter.register_unstructure_hook_factory(attrs.has, lambda type_: _unstructure_class(type_, converter))
    converter.register_structure_hook_factory(_is_list, lambda type_: _structure_list(type_, converter))
    converter.register_structure_hook_factory(_is_mapping, lambda type_: _structure_mapping(type_, converter))
    converter.register_structure_hook_func(_is_free_form, lambda value, _: _mapping(value))
    converter.register_structure_hook_func(_is_literal, _one_of)
    converter.register_structure_hook(str, _text)
    converter.register_structure_hook(Timestamp, _timestamp)
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(bool, _boolean)
    converter.register_structure_hook(Quantity, _quantity)
    converter.register_unstructure_hook(Quantity, str)
    converter.register_unstructure_hook_func(_is_free_form, copy.copy)
    return converter


def _text(value: Any, _: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"must be a string, not {_shown(value)}")
    return value


def _timestamp(value: Any, _: Any) -> Timestamp:
    text = _text(value, _)
    try:
        if _TIMESTAMP.fullmatch(text):
            datetime.fromisoformat(text)
            return Timestamp(text)
    except ValueError:
        pass  # a day or an hour that there is not
    raise ValueError(f"must be a time such as 2026-01-31T12:00:00Z, not {_shown(value)}")


def _integer(value: Any, _: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"must be an integer, not {_shown(value)}")
    if not -(2**63) <= value < 2**63:
        raise ValueError("does not fit in 64 bits")
    return value


def _boolean(value: Any, _: Any) -> bool:
    if type(value) is not bool:
        raise TypeError(f"must be true or false, not {_shown(value)}")
    return value


def _one_of(value: Any, type_: Any) -> Any:
    choices = get_args(type_)
    if value not in choices:
        raise ValueError(f"must be one of {', '.join(choices)}, not {_shown(value)}")
    return value


def _quantity(value: Any, _: Any) -> Quantity:
    if type(value) is str:
        return Quantity.parse(value.strip())  # as apimachinery's UnmarshalJSON does
    if type(value) in (int, float):
        return Quantity.parse(repr(value))
    raise TypeError(f"must be a quantity such as 80Gi, not {_shown(value)}")


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"must be an object, not {_shown(value)}")
    for key in value:
        if type(key) is not str:
            raise TypeError(f"key {key!r} must be a string: put it in quotes")
    return value


def _shown(value: Any) -> str:
    """A wrong value for a message: the value where it is short, else its JSON type."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list"
        case int() | float():
            return f"the number {value}" if abs(value) < 1e20 else "a number"
        case str():
            return f'the string "{value}"' if len(value) <= 40 else f'the string "{value[:37]}..."'
    return f"{value}, which YAML reads as a {type(value).__name__}: put it in quotes"


def _is_literal(type_: Any) -> bool:
    return str(get_origin(type_)) == "typing.Literal"


def _is_list(type_: Any) -> bool:
    return get_origin(type_) is tuple


def _is_mapping(type_: Any) -> bool:
    return get_origin(type_) is collections.abc.Mapping


def _is_free_form(type_: Any) -> bool:
    """Mapping[str, Any]: JSON that drakit keeps without looking inside."""
    return _is_mapping(type_) and get_args(type_)[1] is Any


def _structure_list(type_: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    item_type = get_args(type_)[0]
    structure = converter.get_structure_hook(item_type)

    def hook(value: Any, _: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise TypeError(f"must be a list, not {_shown(value)}")
        faults: list[Fault] = []
        items = [_guarded(structure, item, item_type, f"[{index}]", faults) for index, item in enumerate(value)]
        if faults:
            raise _Faults(faults)
        return tuple(items)

    return hook


def _structure_mapping(type_: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    value_type = get_args(type_)[1]
    structure = converter.get_structure_hook(value_type)

    def hook(value: Any, _: Any) -> dict[str, Any]:
        faults: list[Fault] = []
        items = {k: _guarded(structure, v, value_type, f"[{k}]", faults) for k, v in _mapping(value).items()}
        if faults:
            raise _Faults(faults)
        return items

    return hook


def _guarded(structure: Callable[[Any, Any], Any], value: Any, type_: Any, path: str, faults: list[Fault]) -> Any:
    try:
        return structure(value, type_)
    except RecursionError:
        raise
    except Exception as error:  # noqa: BLE001 - see decode_as
        faults.extend(_faults(error, path))


def _structure_class(type_: type[Any], converter: Converter, *, strict: bool) -> Callable[[Any, Any], Any]:
    structure = make_dict_structure_fn(
        type_,
        converter,
        _cattrs_forbid_extra_keys=strict,
        _cattrs_detailed_validation=True,
        **_overrides(type_),
    )

    known = {_wire_name(attribute) for attribute in attrs.fields(type_)}

    def hook(value: Any, _: Any) -> Any:
        document = _mapping(value)
        if None in document.values():  # absent, but not where nobody knows the field
            document = {key: item for key, item in document.items() if item is not None or key not in known}
        return structure(document, type_)

    return hook


def _unstructure_class(type_: type[Any], converter: Converter) -> Callable[[Any], Any]:
    return make_dict_unstructure_fn(
        type_,
        converter,
        _cattrs_omit_if_default=True,
        **_overrides(type_),
    )


def _overrides(type_: type[Any]) -> dict[str, Any]:
    """Field names to wire names; a field typed plain ``object`` stays in the process."""
    return {attribute.name: _override(attribute) for attribute in attrs.fields(type_)}


def _override(attribute: attrs.Attribute[Any]) -> Any:
    if _stays_here(attribute):
        return override(omit=True)
    omit_if_default = False if attribute.metadata.get("always") else None
    return override(rename=_wire_name(attribute), omit_if_default=omit_if_default)


def _stays_here(attribute: attrs.Attribute[Any]) -> bool:
    return attribute.type in (object, "object")


def _wire_name(attribute: attrs.Attribute[Any]) -> str:
    given: str | None = attribute.metadata.get("wire")
    return given or _camel_case(attribute.name)


def _camel_case(name: str) -> str:
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in rest)


# -- faults ----------------------------------------------------------------------------------------------------------


def _faults(error: BaseException, path: str = "") -> Iterator[Fault]:
    """Every fault in what cattrs raised, in document order, with paths in Kubernetes' notation."""
    if isinstance(error, _Faults | InvalidObject):
        yield from (Fault(_joined(path, fault.path), fault.message) for fault in error.faults)
    elif isinstance(error, ClassValidationError):
        for part in error.exceptions:
            yield from _faults(part, _joined(path, _noted_field(part, error.cl)))
    elif isinstance(error, ForbiddenExtraKeysError):
        known = [_wire_name(attribute) for attribute in attrs.fields(error.cl) if not _stays_here(attribute)]
        for name in sorted(error.extra_fields):
            yield Fault(path, f'unknown field "{name}"{did_you_mean(name, known)}')
    elif isinstance(error, KeyError):
        yield Fault(path, "is required")
    elif isinstance(error, RecursionError):
        yield Fault(path, "is nested too deeply")
    else:
        yield Fault(path, str(error))


def _noted_field(error: BaseException, type_: type[Any]) -> str:
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, AttributeValidationNote):
            return _wire_name(getattr(attrs.fields(type_), note.name))
    return ""


def _joined(path: str, part: str) -> str:
    return f"{path}{part}" if not path or not part or part.startswith("[") else f"{path}.{part}"
