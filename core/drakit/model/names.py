"""Names as Kubernetes allows them.

Source: k8s.io/apimachinery ``pkg/util/validation``.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_dns_label", "is_dns_subdomain", "is_label_name", "is_label_value"]

_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")
_LABEL_VALUE: Final = re.compile(r"[A-Za-z0-9](?:[-_.A-Za-z0-9]*[A-Za-z0-9])?")


def is_dns_label(name: str) -> bool:
    """At most 63 lower-case letters, digits and dashes, with a letter or digit at both ends."""
    return len(name) <= 63 and _LABEL.fullmatch(name) is not None


def is_dns_subdomain(name: str, *, limit: int = 253) -> bool:
    """DNS labels of any length joined by dots.

    :param limit: bytes of the whole name.
    """
    return len(name) <= limit and _SUBDOMAIN.fullmatch(name) is not None


def is_label_name(name: str) -> bool:
    """The key of a label or taint: at most 63 letters, digits, ``-``, ``_`` and ``.``, with or without a domain before it."""
    domain, slash, own = name.rpartition("/")
    return own != "" and is_label_value(own) and (not slash or is_dns_subdomain(domain))


def is_label_value(value: str) -> bool:
    """The value of a label or taint; it may be empty."""
    return not value or (len(value) <= 63 and _LABEL_VALUE.fullmatch(value) is not None)
