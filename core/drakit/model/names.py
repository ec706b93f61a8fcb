"""Names as Kubernetes allows them.

Source: k8s.io/apimachinery ``pkg/util/validation``.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_dns_label", "is_dns_subdomain"]

_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")


def is_dns_label(name: str) -> bool:
    """At most 63 lower-case letters, digits and dashes, with a letter or digit at both ends."""
    return len(name) <= 63 and _LABEL.fullmatch(name) is not None


def is_dns_subdomain(name: str, *, limit: int = 253) -> bool:
    """DNS labels of any length joined by dots.

    :param limit: bytes of the whole name.
    """
    return len(name) <= limit and _SUBDOMAIN.fullmatch(name) is not None
