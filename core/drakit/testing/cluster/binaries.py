"""Where the binaries of a control plane are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from drakit.testing.cluster.errors import BinaryMissing

__all__ = ["ASSETS", "find"]

ASSETS: Final = "KUBEBUILDER_ASSETS"
"""The variable envtest has made known: a folder with etcd and kube-apiserver."""


OPTIONAL: Final = frozenset({"kube-controller-manager", "kube-scheduler"})
"""What a control plane can do without, and envtest does not bring."""


def missing_essentials(missing: Iterable[str]) -> bool:
    """Whether more is missing than what a control plane can do without."""
    return bool(set(missing) - OPTIONAL)


def find(names: Iterable[str], folder: Path | None) -> dict[str, Path]:
    """Each binary by its name: from a folder, else from that of ``KUBEBUILDER_ASSETS``, else from ``PATH``.

    The first of the three that is given is the only one that counts, so that no two releases are mixed.

    :raises BinaryMissing: all that are not there, and where they were looked for.
    """
    assets = os.environ.get(ASSETS)
    if folder is not None:
        where, path = str(folder), str(folder)
    elif assets:
        where, path = f"{assets} ({ASSETS})", assets
    else:
        where, path = f"PATH, for {ASSETS} is not set", os.environ.get("PATH", os.defpath)
    found = {name: shutil.which(name, path=path) for name in names}
    if missing := [name for name, file in found.items() if file is None]:
        hint = "; `Cluster(scheduler=False, controllers=False)` does without" if not missing_essentials(missing) else ""
        raise BinaryMissing(f"not found: {', '.join(missing)}; looked in {where}{hint}")
    return {name: Path(file).absolute() for name, file in found.items() if file is not None}
