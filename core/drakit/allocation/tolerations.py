"""Taints and tolerations, of devices and of nodes.

Source: k8s.io/dynamic-resource-allocation ``resourceclaim`` (ToleratesTaint), k8s.io/component-helpers for nodes: the
rules are the same, the types differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

__all__ = ["first_untolerated", "untolerated"]


class _Taint(Protocol):
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def effect(self) -> str: ...


class _Toleration(_Taint, Protocol):
    @property
    def operator(self) -> str: ...


T = TypeVar("T", bound=_Taint)


def first_untolerated(taints: Iterable[T], tolerations: Iterable[_Toleration]) -> T | None:
    """The first taint that keeps a consumer away."""
    return next(untolerated(taints, tolerations), None)


def untolerated(taints: Iterable[T], tolerations: Iterable[_Toleration]) -> Iterator[T]:
    """The taints that keep a consumer away: effect NoSchedule or NoExecute, and no toleration for it."""
    tolerations = list(tolerations)
    for taint in taints:
        if taint.effect in ("NoSchedule", "NoExecute") and not any(_tolerates(t, taint) for t in tolerations):
            yield taint


def _tolerates(toleration: _Toleration, taint: _Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value
