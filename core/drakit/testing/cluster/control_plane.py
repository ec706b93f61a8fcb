"""A control plane on loopback for as long as a ``with`` block lasts."""

from __future__ import annotations

import http.client
import os
import shutil
import ssl
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from drakit.testing.cluster.binaries import find
from drakit.testing.cluster.certificates import Certificates
from drakit.testing.cluster.client import Objects
from drakit.testing.cluster.components import API_SERVER, CONTROLLER_MANAGER, ETCD, SCHEDULER, Setup
from drakit.testing.cluster.errors import ClusterError, ProcessDied, Rejected
from drakit.testing.cluster.processes import LOOPBACK, Process, free_ports, wait_for

__all__ = ["RUNTIME_CONFIG", "Cluster"]

T = TypeVar("T")

RUNTIME_CONFIG: Final[Mapping[str, bool]] = {"api/all": True}
"""Every API version the release has, served; what a gate that is off hides stays hidden."""

NEEDED: Final = ("kubernetes", "trustme")
"""Packages that are imported when a cluster starts."""

ATTEMPTS: Final = 3
"""How often a start is tried where somebody else took a port between its choice and its use."""
IN_USE: Final = "address already in use"

PREFIX: Final = "drakit-cluster-"
"""Of the temporary folder; the pid of the process that made it follows."""

ADMIN: Final = "kubernetes-admin"

ALLOCATABLE: Final[Mapping[str, str]] = {"cpu": "128", "memory": "1Ti", "ephemeral-storage": "1Ti", "pods": "500"}
"""What a Node of :meth:`Cluster.add_node` has, unless it says otherwise."""


GONE_OR_GOING: Final = (404, 409, 422)
"""Statuses of a request for an object that is not there any more, or loses its finalizers to its controller just now."""

DRA_KINDS: Final = (
    "Pod",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceSlice",
    "DeviceTaintRule",
    "DeviceClass",
    "ResourcePoolStatusRequest",
    "Workload",
    "PodGroup",
    "Node",
)
"""What :meth:`Cluster.clear` deletes, in this order."""


class Cluster(Objects):
    """etcd, an API server, a scheduler and a controller manager, in a temporary folder and on free ports.

    ::

        with Cluster(feature_gates=DRA_FEATURE_GATES) as cluster:
            cluster.add_node("node-0")
            cluster.create(slice_)

    There is no kubelet: Nodes are what :meth:`add_node` writes, and pods are bound but never run. When the block is left,
    or when starting fails, the programs are stopped in reverse order and the folder is removed, except the logs when a
    program died by itself. On Linux the programs also end with the thread that started them, even if it is killed; what
    a killed process leaves in the temporary folder goes when the next cluster starts.
    """

    def __init__(
        self,
        binaries: Path | None = None,
        *,
        feature_gates: Mapping[str, bool] | None = None,
        runtime_config: Mapping[str, bool] = RUNTIME_CONFIG,
        scheduler: bool = True,
        controllers: bool = True,
        flags: Mapping[str, Sequence[str]] | None = None,
        log_folder: Path | None = None,
        timeout_s: float = 60,
    ) -> None:
        """Nothing is started before the ``with`` block is entered.

        :param binaries: the folder with the binaries; None: that of ``KUBEBUILDER_ASSETS``, else ``PATH``.
        :param feature_gates: for all programs alike; None: the release's defaults.
        :param runtime_config: API versions to serve, or not.
        :param scheduler: whether to run kube-scheduler.
        :param controllers: whether to run kube-controller-manager, with the controllers that DRA needs.
        :param flags: more flags by program, which win over drakit's own.
        :raises ClusterError: flags for a program that is not part of it.
        :param log_folder: where logs are kept; None: nowhere, unless a program dies.
        :param timeout_s: seconds for each program to become ready.
        """
        super().__init__()
        if strangers := sorted(set(flags or {}) - {ETCD, API_SERVER, SCHEDULER, CONTROLLER_MANAGER}):
            raise ClusterError(f"flags for {', '.join(strangers)}, which is not part of a control plane")
        optional = {SCHEDULER: scheduler, CONTROLLER_MANAGER: controllers}
        self._optional = [name for name, asked in optional.items() if asked]
        self._binaries = binaries
        self._feature_gates = dict(feature_gates or {})
        self._runtime_config = dict(runtime_config)
        self._flags = dict(flags or {})
        self._log_folder = None if log_folder is None else Path(log_folder)
        self._timeout_s = timeout_s
        self._stack = ExitStack()
        self._setup: Setup | None = None
        self._logs = Path()
        self._died = False
        self._pid = os.getpid()
        self.processes: list[Process] = []
        """What runs, in the order it was started."""

    def __enter__(self) -> Self:
        """Start everything and wait until it is ready.

        :raises ClusterError: it runs already, or a package of ``drakit[testing]`` is not installed.
        :raises BinaryMissing: before anything is started.
        :raises ProcessDied: a program ended; what was started before is stopped.
        :raises NotInTime: a program runs, but does not become ready.
        """
        if self._setup is not None:
            raise ClusterError("it runs already: a Cluster is entered once at a time")
        if absent := [name for name in NEEDED if find_spec(name) is None]:
            raise ClusterError(f"not installed: {', '.join(absent)}; `pip install 'drakit[testing]'` brings them")
        self._pid = os.getpid()
        names = (ETCD, API_SERVER, *self._optional)
        programs = find(names, self._binaries)
        for attempts_left in reversed(range(ATTEMPTS)):
            self._stack = ExitStack()
            try:
                self._start_all(programs)
            except BaseException as error:
                lost_a_port = isinstance(error, ProcessDied) and IN_USE in str(error)
                self._died |= isinstance(error, ClusterError) and not (lost_a_port and attempts_left)
                self._stack.close()
                if lost_a_port and attempts_left:
                    continue
                raise
            return self
        raise AssertionError("the last attempt ends in one of the two ways")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if os.getpid() == self._pid:  # a forked child leaves the programs to its parent
            self._stack.close()

    @property
    def url(self) -> str:
        """Where the API server answers."""
        return self._running.url(API_SERVER)

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig file of an administrator, such as for ``kubectl --kubeconfig``."""
        return self._running.admin

    @property
    def version(self) -> str:
        """The API server's release, such as ``v1.37.2``."""
        return str(self.request("GET", "/version")["gitVersion"])

    def kubeconfig_for(self, user: str, group: str = "") -> Path:
        """A new kubeconfig file for any user, such as ``system:node:node-0`` of ``system:nodes``.

        :raises ClusterError: a name that no certificate can hold: empty, or longer than 64 characters.
        """
        return self._running.certificates.kubeconfig(self.url, user, group)

    def check(self) -> None:
        """:raises ProcessDied: a program does not run any more."""
        for process in self.processes:
            process.check()

    def start(self, program: str | Path, *flags: str, ready: Callable[[], bool] | None = None) -> Process:
        """Start one more program, such as a kubelet; it is stopped before those that run already.

        :param program: its file; or its name, and it is looked for where the others are.
        :param ready: asked until it is true.
        :raises BinaryMissing: it is not there.
        :raises ProcessDied: it ended before it was ready.
        :raises NotInTime: it does not become ready.
        """
        file = program.absolute() if isinstance(program, Path) else find([program], self._binaries)[program]
        process = self._launch(file, flags)
        try:
            if ready is not None:
                self._await(process, ready)
        except BaseException:
            self.stop(process)
            raise
        return process

    def stop(self, process: Process) -> None:
        """Stop one program and forget it; without effect if that was done before."""
        if process in self.processes:
            self._died |= process.popen.poll() is not None
            self.processes.remove(process)
            process.stop()

    def wait_for(self, question: Callable[[], T], *, timeout_s: float = 30, what: str = "what was waited for") -> T:
        """Ask until the answer is true, and return it. What the question raises ends the waiting, a 404 too.

        :param timeout_s: seconds.
        :param what: for the message, such as ``pod ml/train-00 is bound``.
        :raises NotInTime: it was not true in time.
        :raises ProcessDied: a program ended meanwhile.
        """
        return wait_for(question, timeout_s=timeout_s, what=what, check=self.check)

    def add_node(self, node: str | Mapping[str, Any], labels: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Create a Node that is ready and has room for pods, although no kubelet stands behind it.

        :param node: its name, or a Node; what this one says of its status wins.
        :param labels: more labels; ``kubernetes.io/hostname`` is the name unless it is given.
        """
        given: Mapping[str, Any] = {"metadata": {"name": node}} if isinstance(node, str) else node
        metadata, status = given["metadata"], given.get("status") or {}
        hostname = {"kubernetes.io/hostname": metadata["name"]}
        return self.create(
            {
                **given,
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {**metadata, "labels": {**hostname, **(metadata.get("labels") or {}), **(labels or {})}},
                "status": {
                    "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
                    "capacity": ALLOCATABLE,
                    "allocatable": ALLOCATABLE,
                    **status,
                },
            }
        )

    def clear(self, *, timeout_s: float = 30) -> None:
        """Delete every pod, node and object of DRA, without waiting for anybody's finalizer.

        :param timeout_s: seconds.
        :raises NotInTime: something is still there.
        """
        self.wait_for(self._cleared, timeout_s=timeout_s, what="everything of DRA is deleted")

    def _cleared(self) -> bool:
        """Whether nothing was left to delete."""
        left = [obj for kind in DRA_KINDS if self.serves(kind) for obj in self.list(kind)]
        for obj in left:
            kind, name, namespace = obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace", "")
            try:
                self.delete(kind, name, namespace=namespace)
                if obj["metadata"].get("finalizers"):
                    self._remove_finalizers(obj)
            except Rejected as error:
                if error.code not in GONE_OR_GOING:
                    raise
        return not left

    # -- starting and stopping -------------------------------------------------------------------------------------------

    @property
    def _running(self) -> Setup:
        """:raises ClusterError: it does not run."""
        if self._setup is None:
            raise ClusterError("not started: use it in a `with` block")
        return self._setup

    def _start_all(self, programs: Mapping[str, Path]) -> None:
        setup = self._prepare()
        admin = setup.certificates.client(ADMIN, "system:masters")
        context = ssl.create_default_context(cafile=setup.certificates.authority)
        context.load_cert_chain(admin.certificate, admin.key)

        def answers(name: str, path: str) -> Callable[[], bool]:
            return lambda: _is_well(setup.ports[name], path, context)

        self._await(self._launch(programs[ETCD], setup.etcd()), answers(ETCD, "/readyz"))
        self._await(self._launch(programs[API_SERVER], setup.api_server()), answers(API_SERVER, "/readyz"))
        setup.admin = setup.certificates.kubeconfig(self.url, ADMIN, "system:masters")
        self._connect(self.url, setup.certificates.authority, admin)
        self._stack.callback(self._disconnect)
        flags = {SCHEDULER: setup.scheduler, CONTROLLER_MANAGER: setup.controller_manager}
        paths = {SCHEDULER: "/readyz", CONTROLLER_MANAGER: "/healthz"}
        started = {name: self._launch(programs[name], flags[name]()) for name in self._optional}
        for name, process in started.items():
            self._await(process, answers(name, paths[name]))
        self.wait_for(self._has_default_namespace, timeout_s=self._timeout_s, what="namespace default is there")

    def _prepare(self) -> Setup:
        """The folder, which goes away last, the certificates and the ports."""
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self._died = False
        self._stack.callback(self._remove, folder)
        self._logs = self._log_folder or folder / "logs"
        try:
            self._logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ClusterError(f"log_folder {self._logs}: {error.strerror}") from error
        state = folder / "state"
        state.mkdir()
        certificates = Certificates(state)
        names = (ETCD, "etcd-peers", API_SERVER, SCHEDULER, CONTROLLER_MANAGER)
        self._setup = Setup(
            folder=state,
            certificates=certificates,
            serving=certificates.server(),
            ports=dict(zip(names, free_ports(len(names)), strict=True)),
            feature_gates=self._feature_gates,
            runtime_config=self._runtime_config,
        )
        return self._setup

    def _launch(self, program: Path, flags: Sequence[str]) -> Process:
        name, folder = program.name, self._running.folder
        command: list[str | Path] = [program, *flags, *self._flags.get(name, ())]
        process = Process.start(name, command, self._logs / f"{name}.log", folder)
        self._stack.callback(self.stop, process)
        self.processes.append(process)
        return process

    def _await(self, process: Process, ready: Callable[[], bool]) -> None:
        what = f"{process.name} is ready (log {process.log})"
        wait_for(ready, timeout_s=self._timeout_s, what=what, check=self.check)

    def _has_default_namespace(self) -> bool:
        return any(namespace["metadata"]["name"] == "default" for namespace in self.list("Namespace"))

    def _remove(self, folder: Path) -> None:
        self._setup = None
        with_logs = self._died and self._log_folder is None
        shutil.rmtree(folder / "state" if with_logs else folder, ignore_errors=True)


def _sweep() -> None:
    """Remove folders of processes that were ended before they could: they hold keys."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path(f"/proc/{owner}").exists() and Path("/proc/self").exists():
            shutil.rmtree(folder / "state", ignore_errors=True)
            if not (folder / "logs").exists():
                shutil.rmtree(folder, ignore_errors=True)


def _is_well(port: int, path: str, context: ssl.SSLContext) -> bool:
    connection = http.client.HTTPSConnection(LOOPBACK, port, context=context, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
