"""Where the yardstick's binaries come from, and what happens without them. Needs no Go."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.upstream import build
from tests.upstream.build import TARGETS, folder, kubernetes_version, missing

ROOT: Final = Path(__file__).parents[2]


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DRAKIT_UPSTREAM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def go_that_says(version: str, where: Path, *, builds: str = "exit 1") -> None:
    """A `go` that is one by name only."""
    where.mkdir()
    program = where / "go"
    program.write_text(f'#!/bin/sh\nif [ "$1" = env ]; then echo {version}; else {builds}; fi\n', encoding="utf-8")
    program.chmod(0o755)


def test_all_modules_of_kubernetes_are_of_one_release() -> None:
    minor = kubernetes_version().removeprefix("1.")
    text = (build.ORACLE / "go.mod").read_text(encoding="utf-8")
    staging = re.findall(r"=> (k8s\.io/\S+) v0\.(\S+)", text)
    assert len(staging) > 30
    assert {version for _, version in staging} == {minor}
    assert f"\ngo {build.GO}." in text


def test_each_program_is_a_tool_of_the_module() -> None:
    text = (build.ORACLE / "go.mod").read_text(encoding="utf-8")
    tools = re.findall(r"^\t(\S+)$", text.partition("\ntool (")[2], re.MULTILINE)
    packages = {package for target in TARGETS.values() for package in target.values()}
    assert packages - {"."} == set(tools)


def test_what_goes_into_a_binary_names_its_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = {target: folder(target) for target in TARGETS}
    copy = tmp_path / "oracle"
    copy.mkdir()
    for source in build.ORACLE.iterdir():
        (copy / source.name).write_bytes(source.read_bytes())
    monkeypatch.setattr(build, "ORACLE", copy)
    assert {target: folder(target) for target in TARGETS} == before
    (copy / "main.go").write_text("package main\n", encoding="utf-8")
    assert folder("oracle") != before["oracle"], "the oracle's own code"
    assert folder("control-plane") == before["control-plane"]
    (copy / "go.sum").write_text("", encoding="utf-8")
    assert folder("control-plane") != before["control-plane"], "the modules"


def test_a_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DRAKIT_UPSTREAM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder("oracle").parent == tmp_path / "drakit" / "upstream"


def test_without_go_the_build_says_what_is_needed(empty_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"no Go on PATH; the yardstick is built with Go 1\.26"):
        build.build("oracle")


def test_another_go_is_refused(empty_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    go_that_says("go1.27.1", tmp_path / "bin")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(SystemExit, match=r"is go1\.27\.1; the yardstick is built with Go 1\.26"):
        build.build("oracle")


def test_a_build_that_fails_leaves_nothing_behind(empty_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    go_that_says("go1.26.3", tmp_path / "bin", builds='while [ "$1" != -o ]; do shift; done; echo half > "$2"; exit 1')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    with pytest.raises(SystemExit, match="oracle could not be built"):
        build.build("oracle")
    assert list(folder("oracle").iterdir()) == []
    assert missing("oracle") is not None


def test_what_is_built_is_not_built_again(empty_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    count = tmp_path / "count"
    go_that_says("go1.26.3", tmp_path / "bin", builds=f'while [ "$1" != -o ]; do shift; done; echo x > "$2"; echo >> {count}')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    build.main(["control-plane"])
    build.main(["control-plane"])
    assert missing("control-plane") is None
    assert len(count.read_text(encoding="utf-8")) == len(TARGETS["control-plane"])


def test_a_target_nobody_knows_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"usage: .*oracle \| control-plane \| kubelet"):
        build.main(["kubectl"])


@pytest.mark.parametrize("marker", ["upstream", "cluster"])
def test_tests_without_their_binary_are_skipped_with_the_reason_and_never_pass(empty_cache: Path, marker: str) -> None:
    test = {"upstream": "tests/upstream/test_values.py", "cluster": "tests/cluster/test_rejections.py"}[marker]
    command = [sys.executable, "-m", "pytest", "-q", "-m", marker, "-k", "quantit or too", test, "-p", "no:cacheprovider"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert re.search(r"^\d+ skipped", result.stdout.splitlines()[-1]), result.stdout
    assert f"of Kubernetes {kubernetes_version()} (python -m tests.upstream.build" in result.stdout
