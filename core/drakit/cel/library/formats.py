"""The named formats of ``format.*``, and what is wrong with a text that does not have one.

Source: k8s.io/apiserver ``pkg/cel/library/format.go``; k8s.io/apimachinery ``pkg/util/validation`` and
``pkg/api/validate/content``; k8s.io/kube-openapi ``pkg/validation/strfmt``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from attrs import frozen

from drakit.cel.go.times import Timestamp
from drakit.cel.go.urls import check_request_uri
from drakit.cel.values import Fault, Thing, Value, no_such_overload, register

__all__ = ["FORMATS", "NamedFormat"]

Check: TypeAlias = Callable[[str], Iterator[str]]
"""From a text to what is wrong with it; nothing if it has the format."""


@register
@frozen(eq=False, slots=False)
class NamedFormat(Thing):
    """A format."""

    type_name = "kubernetes.NamedFormat"

    name: str
    check: Check
    max_regex_size: int
    """What its check counts as in costs."""

    @property
    def hashable(self) -> bool:
        return False

    def equals(self, other: Value) -> bool:
        if not isinstance(other, NamedFormat):
            raise no_such_overload()
        return self.name == other.name

    @property
    def go_name(self) -> str:
        return "Format"


# -- names of Kubernetes' objects -------------------------------------------------------------------------------------

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_EDGES: Final = "and must start and end with an alphanumeric character"
_LABEL_RULE: Final = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_EDGES}"
_SUBDOMAIN_RULE: Final = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_EDGES}"
)
_LABEL_1035_RULE: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_NAME_RULE: Final = f"must consist of alphanumeric characters, '-', '_' or '.', {_EDGES}"
_VALUE_RULE: Final = f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_EDGES}"


def _rule(rule: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"


def _length(text: str) -> int:
    return len(text.encode(errors="surrogateescape"))


def _label(text: str) -> Iterator[str]:
    if _length(text) > 63:
        yield "must be no more than 63 characters"
    if not re.fullmatch(_LABEL, text):
        is_subdomain = re.fullmatch(_SUBDOMAIN, text)
        yield "must not contain dots" if is_subdomain else _rule(_LABEL_RULE, _LABEL, "my-name", "123-abc")


def _subdomain(text: str, unit: str = "characters") -> Iterator[str]:
    if _length(text) > 253:
        yield f"must be no more than 253 {unit}"
    if not re.fullmatch(_SUBDOMAIN, text):
        yield _rule(_SUBDOMAIN_RULE, _SUBDOMAIN, "example.com")


def _label_1035(text: str) -> Iterator[str]:
    if _length(text) > 63:
        yield "must be no more than 63 characters"
    if not re.fullmatch(_LABEL_1035, text):
        yield _rule(_LABEL_1035_RULE, _LABEL_1035, "my-name", "abc-123")


def _prefix_of(check: Check) -> Check:
    """Of a text that something will be added to: a dash at its end is fine."""

    def check_prefix(text: str) -> Iterator[str]:
        if len(text) > 1 and text.endswith("-"):
            # Upstream replaces the dash together with the byte before it.
            text = text.encode(errors="surrogateescape")[:-2].decode(errors="surrogateescape") + "a"
        return check(text)

    return check_prefix


def _qualified_name(text: str) -> Iterator[str]:
    rule = _rule(_NAME_RULE, _NAME, "MyName", "my.name", "123-abc")
    parts = text.split("/")
    if len(parts) > 2:
        yield f"a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return
    prefix, name = parts[0], parts[-1]
    if len(parts) == 2:
        yield from (f"prefix part {wrong}" for wrong in (_subdomain(prefix, "bytes") if prefix else ["must be non-empty"]))
    if not name:
        yield "name part must be non-empty"
    elif _length(name) > 63:
        yield "name part must be no more than 63 bytes"
    if not re.fullmatch(_NAME, name):
        yield f"name part {rule}"


def _label_value(text: str) -> Iterator[str]:
    if _length(text) > 63:
        yield "must be no more than 63 bytes"
    if not re.fullmatch(f"({_NAME})?", text):
        yield _rule(_VALUE_RULE, f"({_NAME})?", "MyValue", "my_value", "12345")


# -- formats of OpenAPI -----------------------------------------------------------------------------------------------

_UUID: Final = r"(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"
_CLOCK: Final = r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"
_BYTE: Final = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})"


def _uri(text: str) -> Iterator[str]:
    try:
        check_request_uri(text)
    except ValueError as error:
        yield str(error)


def _is_date(text: str) -> bool:
    try:
        Timestamp.parse(f"{text}T00:00:00Z")
    except Fault as fault:
        return str(fault) == "timestamp overflow"  # the year 0
    return True


def _is_datetime(text: str) -> bool:
    date, *rest = text.lower().split("t")
    if not rest or not _is_date(date):
        return False
    match = re.fullmatch(_CLOCK, rest[0])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _simple(has: Callable[[str], object], complaint: str) -> Check:
    def check(text: str) -> Iterator[str]:
        if not has(text):
            yield complaint

    return check


FORMATS: Final = {
    "dns1123Label": NamedFormat("DNS1123Label", _label, 30),
    "dns1123Subdomain": NamedFormat("DNS1123Subdomain", _subdomain, 60),
    "dns1035Label": NamedFormat("DNS1035Label", _label_1035, 30),
    "qualifiedName": NamedFormat("QualifiedName", _qualified_name, 60),
    "dns1123LabelPrefix": NamedFormat("DNS1123LabelPrefix", _prefix_of(_label), 30),
    "dns1123SubdomainPrefix": NamedFormat("DNS1123SubdomainPrefix", _prefix_of(_subdomain), 60),
    "dns1035LabelPrefix": NamedFormat("DNS1035LabelPrefix", _prefix_of(_label_1035), 30),
    "labelValue": NamedFormat("LabelValue", _label_value, 40),
    "uri": NamedFormat("URI", _uri, 1103),
    "uuid": NamedFormat(
        "uuid", _simple(re.compile(_UUID[:-1] + r"\Z", re.ASCII).match, "does not match the UUID format"), len(_UUID)
    ),
    "byte": NamedFormat("byte", _simple(re.compile(_BYTE).fullmatch, "invalid base64"), 84),
    "date": NamedFormat("date", _simple(_is_date, "invalid date"), len(_CLOCK)),
    "datetime": NamedFormat("datetime", _simple(_is_datetime, "invalid datetime"), len(_CLOCK)),
}
"""By what they are called."""
