"""Builds the yardstick from Kubernetes' own modules: the oracle, a control plane and a kubelet, all of one release.

Which release, is said in ``oracle/go.mod`` and nowhere else; how it is built and where it is kept, here and nowhere else.
``python -m tests.upstream.build oracle control-plane kubelet`` builds what is named and not there yet, and prints the
folder of each.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ORACLE: Final = Path(__file__).parent / "oracle"
GO: Final = "1.26"
"""The only Go that builds it: the API server's OpenAPI is broken by 1.27."""
GO_ENVIRONMENT: Final = {
    "CGO_ENABLED": "0",
    "GOFLAGS": "-trimpath -buildvcs=false -mod=readonly",
    "GOTOOLCHAIN": "local",
    "GOWORK": "off",
}
CONTROL_PLANE: Final[Mapping[str, str]] = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
}
TARGETS: Final[Mapping[str, Mapping[str, str]]] = {
    "oracle": {"oracle": "."},
    "control-plane": CONTROL_PLANE,
    "kubelet": {"kubelet": "k8s.io/kubernetes/cmd/kubelet"},
}


@functools.cache
def kubernetes_version() -> str:
    """The release all is built from, such as ``1.37.2``."""
    found = re.search(r"^\s*k8s\.io/kubernetes v(\S+)$", (ORACLE / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    assert found, "oracle/go.mod names no k8s.io/kubernetes"
    return found[1]


def cache() -> Path:
    """Where binaries are kept, outside the tree: ``DRAKIT_UPSTREAM_CACHE``, or a folder of the user's cache."""
    if chosen := os.environ.get("DRAKIT_UPSTREAM_CACHE"):
        return Path(chosen).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "drakit" / "upstream"


def folder(target: str) -> Path:
    """The folder of a target's binaries; its name changes with whatever goes into them."""
    sources = [ORACLE / "go.mod", ORACLE / "go.sum"]
    if target == "oracle":
        sources += sorted(ORACLE.glob("*.go"))
    digest = hashlib.sha256(repr((GO, GO_ENVIRONMENT, _stamps(), TARGETS[target])).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return cache() / f"{target}-{kubernetes_version()}-{digest.hexdigest()[:12]}"


def missing(target: str) -> str | None:
    """Why a target cannot be used: what is not there, and the command that builds it. None: all is there."""
    absent = [name for name in TARGETS[target] if not (folder(target) / name).is_file()]
    if not absent:
        return None
    return f"not built: {', '.join(absent)} of Kubernetes {kubernetes_version()} (python -m tests.upstream.build {target})"


def build(target: str) -> None:
    """Build what is missing of a target; nothing is left half written.

    :raises SystemExit: no Go, another Go, or the build fails.
    """
    if missing(target) is None:
        return
    go = _go()
    where = folder(target)
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SystemExit(f"{where}: {error.strerror}; DRAKIT_UPSTREAM_CACHE says where else") from None
    for name, package in TARGETS[target].items():
        if (where / name).is_file():
            continue
        started = time.monotonic()
        _say(f"building {name} of Kubernetes {kubernetes_version()}")
        unfinished = where / f".{name}.{os.getpid()}"
        command = [go, "build", "-ldflags", f"-s -w {_stamps()}", "-o", str(unfinished), package]
        if subprocess.run(command, cwd=ORACLE, env=os.environ | GO_ENVIRONMENT, check=False).returncode:
            unfinished.unlink(missing_ok=True)
            raise SystemExit(f"{name} could not be built")
        unfinished.replace(where / name)
        _say(f"built {name} in {time.monotonic() - started:.0f} s: {where / name}")


def _stamps() -> str:
    """The version that the binaries report, which nobody stamps on a module."""
    major, minor, _ = kubernetes_version().split(".", 2)
    stamps = {"gitVersion": f"v{kubernetes_version()}", "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    return " ".join(f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamps.items())


def _go() -> str:
    go = shutil.which("go")
    if go is None:
        raise SystemExit(f"no Go on PATH; the yardstick is built with Go {GO}")
    version = subprocess.run(
        [go, "env", "GOVERSION"], env=os.environ | GO_ENVIRONMENT, capture_output=True, text=True, check=False
    ).stdout.strip()
    if not re.match(rf"go{re.escape(GO)}(\D|$)", version):
        raise SystemExit(f"{go} is {version or 'broken'}; the yardstick is built with Go {GO}")
    return go


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


def main(targets: list[str]) -> None:
    """Build the named targets."""
    if not targets or set(targets) - set(TARGETS):
        raise SystemExit(f"usage: python -m tests.upstream.build {' | '.join(TARGETS)} ...")
    for target in targets:
        build(target)
        sys.stdout.write(f"{folder(target)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
