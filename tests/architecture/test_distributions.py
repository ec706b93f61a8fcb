from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
PLUGINS: Final = {"fake", "tpu", "nvidia_gb200"}
PROJECTS: Final[dict[str, Any]] = {
    path.parent.name if path.parent != ROOT else "core": tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    for path in (ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml")))
}


def test_the_core_and_three_plugins_are_distributions() -> None:
    assert {"core", *PLUGINS} == PROJECTS.keys()


def test_all_distributions_have_one_version() -> None:
    assert len({project["version"] for project in PROJECTS.values()}) == 1


@pytest.mark.parametrize("name", PROJECTS)
def test_a_distribution_is_typed_and_under_the_apache_licence_for_python_3_11_and_newer(name: str) -> None:
    package = ROOT / ("core/drakit" if name == "core" else f"plugins/{name}/drakit_{name}")
    assert (package / "py.typed").is_file()
    assert PROJECTS[name]["license"] == "Apache-2.0"
    assert PROJECTS[name]["requires-python"] == ">=3.11"


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_a_plugin_is_found_by_its_entry_point_and_has_a_readme(name: str) -> None:
    assert PROJECTS[name]["entry-points"].keys() == {"drakit"}
    assert (ROOT / "plugins" / name / PROJECTS[name]["readme"]).is_file()


@pytest.mark.parametrize("name", sorted(PLUGINS))
def test_a_plugin_asks_for_the_core_of_its_own_release(name: str) -> None:
    major, minor, _ = PROJECTS["core"]["version"].split(".")
    requirement = f"drakit>={major}.{minor},<{major}.{int(minor) + 1}"
    assert requirement in [dependency.replace(" ", "") for dependency in PROJECTS[name]["dependencies"]]
