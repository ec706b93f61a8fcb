"""The control plane starts, says what is wrong, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from drakit.model import device_class
from drakit.testing.cluster import (
    DRA_FEATURE_GATES,
    BinaryMissing,
    Cluster,
    ClusterError,
    NotInTime,
    ProcessDied,
    Rejected,
)
from drakit.testing.cluster.processes import wait_for
from tests.upstream.build import kubernetes_version

pytestmark = pytest.mark.cluster

CLASS: Final = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}
DIES: Final = "echo one; echo it was not meant to be >&2; exit 3"
STAYS: Final = 'echo $$ > "$(dirname "$0")/pid"; exec sleep 600'
STARTS: Final = """
import signal, sys
from pathlib import Path
from drakit.testing.cluster import Cluster
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell starts in the background ignores interrupts
with Cluster(Path(sys.argv[1]), scheduler=False, controllers=False) as cluster:
    print(*(process.pid for process in cluster.processes), flush=True)
    signal.pause()
"""


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def await_end(pid: int) -> None:
    wait_for(lambda: not is_running(pid), timeout_s=10, what=f"process {pid} has ended", check=lambda: None)


@pytest.fixture(autouse=True)
def only_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Folders of clusters are made below the test's own."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


@pytest.fixture(scope="module")
def assets(binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two binaries a cluster cannot do without, and a kubelet that is none."""
    folder = tmp_path_factory.mktemp("assets")
    for name in ("etcd", "kube-apiserver"):
        (folder / name).symlink_to(binaries / name)
    program(folder, "kubelet", STAYS)
    return folder


@pytest.fixture(scope="module")
def light(assets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(assets, scheduler=False, controllers=False, log_folder=tmp_path_factory.mktemp("light")) as cluster:
        yield cluster


# -- what is found, and what is not -------------------------------------------------------------------------------------


def test_a_binary_that_is_missing_is_named_with_the_folder(tmp_path: Path) -> None:
    program(tmp_path, "etcd", STAYS)
    expected = f"not found: kube-apiserver, kube-scheduler, kube-controller-manager; looked in {tmp_path}"
    with pytest.raises(BinaryMissing, match=f"^{re.escape(expected)}$"), Cluster(tmp_path):
        pass


def test_binaries_are_looked_for_where_envtest_has_them_else_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    with pytest.raises(BinaryMissing, match="looked in PATH, for KUBEBUILDER_ASSETS is not set"), Cluster():
        pass
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    expected = f"not found: etcd, kube-apiserver; looked in {tmp_path} (KUBEBUILDER_ASSETS)"
    with pytest.raises(BinaryMissing, match=re.escape(expected)), Cluster(scheduler=False, controllers=False):
        pass


# -- what goes wrong -----------------------------------------------------------------------------------------------------


def test_a_program_that_dies_at_once_is_told_with_the_end_of_its_log(assets: Path, tmp_path: Path) -> None:
    shutil.copytree(assets, tmp_path / "bin", symlinks=True)
    (tmp_path / "bin" / "kube-apiserver").unlink()
    program(tmp_path / "bin", "kube-apiserver", DIES)
    cluster = Cluster(tmp_path / "bin", scheduler=False, controllers=False)
    with pytest.raises(ProcessDied) as caught, cluster:
        pass
    assert (caught.value.name, caught.value.exit_code) == ("kube-apiserver", 3)
    assert str(caught.value) == (
        f"kube-apiserver ended with exit status 3; the end of its log {caught.value.log}:\n  one\n  it was not meant to be"
    )
    assert caught.value.log.is_file()
    assert [path.name for path in caught.value.log.parents[1].iterdir()] == ["logs"]
    assert cluster.processes == []


def test_a_program_that_is_never_ready_is_told_and_stopped(tmp_path: Path) -> None:
    program(tmp_path, "etcd", STAYS)
    program(tmp_path, "kube-apiserver", STAYS)
    with pytest.raises(NotInTime, match=r"^etcd is ready .*: not within 5 s$"):
        Cluster(tmp_path, scheduler=False, controllers=False, timeout_s=5).__enter__()
    assert not is_running(int((tmp_path / "pid").read_text(encoding="utf-8")))
    (kept,) = tmp_path.glob("drakit-cluster-*")
    assert [path.name for path in kept.iterdir()] == ["logs"]


def test_ctrl_c_while_it_starts_stops_what_was_started(tmp_path: Path) -> None:
    program(tmp_path, "etcd", STAYS)
    program(tmp_path, "kube-apiserver", STAYS)
    with starting(tmp_path, tmp_path) as parent:
        written = tmp_path / "pid"
        wait_for(lambda: written.exists() and written.read_text(), timeout_s=20, what="etcd runs", check=lambda: None)
        pid = int(written.read_text(encoding="utf-8"))
        assert is_running(pid)
        parent.send_signal(signal.SIGINT)
        assert parent.wait(20) == -signal.SIGINT
        await_end(pid)
    assert list(tmp_path.glob("drakit-cluster-*")) == []


def test_when_the_process_that_started_them_is_killed_the_programs_end(assets: Path, tmp_path: Path) -> None:
    with starting(assets, tmp_path) as parent:
        assert parent.stdout
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(is_running(pid) for pid in pids)
        parent.kill()
        for pid in pids:
            await_end(pid)


@contextlib.contextmanager
def starting(folder: Path, temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """A Python that starts a cluster, prints the pids once all runs, and stays."""
    command = [sys.executable, "-c", STARTS, str(folder)]
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        try:
            yield parent
        finally:
            parent.kill()


def test_before_it_is_started_it_says_so() -> None:
    cluster = Cluster()
    for use in (lambda: cluster.url, lambda: cluster.kubeconfig, lambda: cluster.list("Node")):
        with pytest.raises(ClusterError, match=r"^not started: use it in a `with` block$"):
            use()


def test_the_scheduler_and_the_controllers_can_be_done_without_and_the_error_says_so(assets: Path) -> None:
    with (
        pytest.raises(BinaryMissing, match=r"kube-scheduler, .*`Cluster\(scheduler=False, controllers=False\)`"),
        Cluster(assets),
    ):
        pass


def test_flags_for_a_program_that_there_is_not_are_refused() -> None:
    with pytest.raises(ClusterError, match="flags for kube-api-server, which is not part of a control plane"):
        Cluster(flags={"kube-api-server": ["--v=5"]})


def test_the_log_of_what_is_never_ready_is_kept(tmp_path: Path) -> None:
    program(tmp_path, "etcd", "echo waiting; exec sleep 600")
    program(tmp_path, "kube-apiserver", STAYS)
    with pytest.raises(NotInTime) as caught:
        Cluster(tmp_path, scheduler=False, controllers=False, timeout_s=1).__enter__()
    log = re.search(r"\(log (\S+)\)", str(caught.value))
    assert log
    assert Path(log[1]).read_text(encoding="utf-8") == "waiting\n"


def test_what_a_script_starts_ends_with_it(tmp_path: Path) -> None:
    program(tmp_path, "etcd", 'sleep 600 & echo $! > "$(dirname "$0")/pid"; wait')
    program(tmp_path, "kube-apiserver", STAYS)
    with pytest.raises(NotInTime):
        Cluster(tmp_path, scheduler=False, controllers=False, timeout_s=2).__enter__()
    await_end(int((tmp_path / "pid").read_text(encoding="utf-8")))


# -- what a running one does ---------------------------------------------------------------------------------------------


def test_it_is_the_pinned_release(light: Cluster) -> None:
    assert light.version == f"v{kubernetes_version()}"


def test_when_it_is_left_no_program_and_no_file_is(binaries: Path, tmp_path: Path) -> None:
    with Cluster(binaries) as cluster:
        pids = [process.pid for process in cluster.processes]
        names = [process.name for process in cluster.processes]
        assert all(is_running(pid) for pid in pids)
    assert names == ["etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"]
    assert not any(is_running(pid) for pid in pids)
    assert list(tmp_path.glob("drakit-cluster-*")) == []


def test_two_run_at_once(light: Cluster, with_default_gates: Cluster) -> None:
    assert light.url != with_default_gates.url
    light.create(CLASS)
    assert [obj["metadata"]["name"] for obj in with_default_gates.list("DeviceClass")] == []
    light.delete("DeviceClass", "any")


def test_objects_are_created_read_changed_and_deleted(light: Cluster) -> None:
    created = light.create(CLASS)
    assert light.get("DeviceClass", "any") == created
    assert [obj["metadata"]["uid"] for obj in light.list("DeviceClass")] == [created["metadata"]["uid"]]
    selectors = [{"cel": {"expression": "device.driver == 'a.com'"}}]
    updated = light.update({**created, "spec": {"selectors": selectors}})
    assert updated["metadata"]["generation"] == 2
    patched = light.patch("DeviceClass", "any", {"metadata": {"labels": {"a": "b"}}})
    assert patched["spec"] == {"selectors": selectors}
    light.delete("DeviceClass", "any")
    with pytest.raises(Rejected) as caught:
        light.get("DeviceClass", "any")
    assert (caught.value.code, caught.value.reason) == (404, "NotFound")


def test_the_status_is_replaced_apart_from_the_rest(light: Cluster) -> None:
    node = light.add_node("node-1", {"zone": "a"})
    assert node["metadata"]["labels"] == {"kubernetes.io/hostname": "node-1", "zone": "a"}
    assert node["spec"].get("taints") is None
    status = {**node["status"], "allocatable": {"cpu": "1"}}
    light.update_status({**node, "spec": {"unschedulable": True}, "status": status})
    stored = light.get("Node", "node-1")
    assert (stored["spec"], stored["status"]["allocatable"]) == ({}, {"cpu": "1"})
    light.clear()
    assert light.list("Node") == []


def test_what_is_refused_says_why(light: Cluster) -> None:
    with pytest.raises(Rejected) as caught:
        light.create({**CLASS, "metadata": {"name": "A B"}})
    (cause,) = caught.value.causes
    assert (caught.value.code, caught.value.reason) == (422, "Invalid")
    assert (cause.field, cause.reason) == ("metadata.name", "FieldValueInvalid")
    assert cause.message.startswith('Invalid value: "A B"')
    assert str(caught.value) == f"422 Invalid: {caught.value.message}"


def test_a_field_that_is_not_there_is_refused_or_else_a_warning(light: Cluster) -> None:
    misspelt = {**CLASS, "spec": {"colour": "red"}}
    with pytest.raises(Rejected, match=r'strict decoding error: unknown field "spec\.colour"'):
        light.create(misspelt)
    assert light.create(misspelt, strict=False)["spec"] == {}
    assert list(light.warnings) == ['unknown field "spec.colour"']
    light.delete("DeviceClass", "any")
    assert list(light.warnings) == []


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1", "v1alpha3"])
def test_every_version_of_the_api_is_served(with_all_gates: Cluster, version: str) -> None:
    kind = "ResourcePoolStatusRequest" if version == "v1alpha3" else "ResourceSlice"
    assert with_all_gates.list(kind, api_version=f"resource.k8s.io/{version}") == []


def test_a_kind_that_is_not_served_is_an_error(light: Cluster) -> None:
    with pytest.raises(ClusterError, match=r"^the API server does not serve Unicorn of v1$"):
        light.get("Unicorn", "u", api_version="v1")


def test_all_gates_of_dra_are_on_where_they_are_asked_for(with_all_gates: Cluster) -> None:
    gates = feature_gates(with_all_gates)
    assert {name for name in gates if name.startswith("DRA")} <= DRA_FEATURE_GATES.keys()
    assert {name: gates[name] for name in DRA_FEATURE_GATES} == dict(DRA_FEATURE_GATES)


def test_gates_are_the_defaults_where_they_are_not(with_default_gates: Cluster) -> None:
    off = {name for name, on in feature_gates(with_default_gates).items() if name in DRA_FEATURE_GATES and not on}
    assert off == {
        "DRADerivedAttributes",
        "DRADeviceCompatibilityGroups",
        "DRAFractionalCapacityRange",
        "DRAListTypeAttributes",
        "DRANodeAllocatableResources",
        "DRAOptionalNodeOperations",
        "DRAPartitionableDevicesType",
        "DRAResourcePoolStatus",
        "DRAWorkloadResourceClaims",
        "GenericWorkload",
    }


def feature_gates(cluster: Cluster) -> dict[str, bool]:
    answer: Any = cluster.api.call_api("GET", f"{cluster.url}/metrics", {"Accept": "text/plain"})
    lines: list[tuple[str, str]] = re.findall(
        r'^kubernetes_feature_enabled\{name="(\w+)",.*\} (\d)$', answer.read().decode(), re.MULTILINE
    )
    return {name: value == "1" for name, value in lines}


def test_files_with_keys_are_for_their_owner_only(light: Cluster) -> None:
    node = light.kubeconfig_for("system:node:node-0", "system:nodes")
    for path in (light.kubeconfig, node, *light.kubeconfig.parent.glob("*.key")):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(light.kubeconfig.parents[1].stat().st_mode) == 0o700


def test_a_kubeconfig_file_is_one_for_any_client(light: Cluster) -> None:
    from kubernetes import client, config

    load: Any = config.new_client_from_config
    users = {
        ("kubernetes-admin", "system:masters"): light.kubeconfig,
        ("system:node:node-0", "system:nodes"): light.kubeconfig_for("system:node:node-0", "system:nodes"),
    }
    for (user, group), path in users.items():
        with load(str(path)) as api:
            review = client.AuthenticationV1Api(api).create_self_subject_review(client.V1SelfSubjectReview())
        assert review.status
        assert review.status.user_info
        assert review.status.user_info.username == user
        assert group in (review.status.user_info.groups or ())


def test_one_more_program_runs_with_the_others_and_is_missed_when_it_dies(light: Cluster, assets: Path) -> None:
    kubelet = light.start("kubelet", "--v=2", ready=(assets / "pid").exists)
    assert light.processes[-1] is kubelet
    light.check()
    os.kill(kubelet.pid, signal.SIGTERM)
    with pytest.raises(ProcessDied, match=r"^kubelet was ended by signal 15; "):
        light.wait_for(lambda: False, timeout_s=20)
    light.stop(kubelet)
    light.check()


def test_it_is_entered_once_at_a_time(light: Cluster) -> None:
    pids = [process.pid for process in light.processes]
    with pytest.raises(ClusterError, match="runs already"):
        light.__enter__()
    assert [process.pid for process in light.processes] == pids
    light.check()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "%2e", "node-0/status"])
def test_a_name_that_would_lead_elsewhere_is_refused(light: Cluster, name: str) -> None:
    for use in (light.get, light.delete):
        with pytest.raises(ClusterError, match="not a name that an object can have"):
            use("ConfigMap", name)
    if name:
        with pytest.raises(ClusterError, match="not a name that an object can have"):
            light.list("ConfigMap", namespace=name)


def test_objects_of_the_model_are_taken_as_they_are(light: Cluster) -> None:
    assert light.create(device_class("modelled", "true"))["spec"]["selectors"] == [{"cel": {"expression": "true"}}]
    light.delete("DeviceClass", "modelled")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "an object needs apiVersion and kind"),
        ({"kind": "Node"}, "an object needs apiVersion"),
        ([], "not a list"),
        ({"apiVersion": "v1", "kind": "Node", "metadata": "x"}, "metadata is an object"),
        ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": {1}}}, "what is sent is not JSON"),
        ({"apiVersion": "v1", "kind": "Nod"}, "does not serve Nod of v1"),
    ],
)
def test_what_is_no_object_is_a_clear_error(light: Cluster, given: Any, why: str) -> None:
    with pytest.raises(ClusterError, match=re.escape(why)):
        light.create(given)


def test_kinds_that_are_defined_while_it_runs_are_found(light: Cluster) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "domains", "singular": "domain", "kind": "Domain"}
    spec = {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]}
    definition = {"metadata": {"name": "domains.example.com"}, "spec": spec}
    light.create({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", **definition})
    light.wait_for(lambda: light.serves("Domain"), what="the kind is served")
    light.create({"apiVersion": "example.com/v1", "kind": "Domain", "metadata": {"name": "d"}})
    assert [found["metadata"]["name"] for found in light.list("Domain")] == ["d"]


def test_each_kubeconfig_file_is_one_users(light: Cluster) -> None:
    users = [("a:b", ""), ("a-b", ""), ("../../x", ""), ("alice", "g1"), ("alice", "g2"), ("kubernetes-admin", "")]
    files = [light.kubeconfig_for(*user) for user in users]
    assert len({*files, light.kubeconfig}) == len(users) + 1
    assert {file.parent for file in files} == {light.kubeconfig.parent}
    with pytest.raises(ClusterError, match="names of 1 to 64 characters"):
        light.kubeconfig_for("x" * 65)
