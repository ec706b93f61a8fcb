from __future__ import annotations

import inspect
import re
from typing import Any, Final, get_type_hints

import pytest

from drakit.hooks import hookspecs

FIRST_RESULT: Final = {
    "drakit_driver": True,
    "drakit_discover": False,
    "drakit_domains": False,
    "drakit_attributes": False,
    "drakit_partitions": True,
    "drakit_health": False,
    "drakit_validate_config": True,
    "drakit_prepare": True,
    "drakit_unprepare": True,
    "drakit_environment": False,
}
"""The hooks of the design, and whether the first answer counts."""


def spec(name: str) -> Any:
    return getattr(hookspecs, name)


def test_the_hooks_are_those_of_the_design() -> None:
    assert set(hookspecs.__all__) == set(FIRST_RESULT)
    marked = {name for name, value in vars(hookspecs).items() if hasattr(value, "drakit_spec")}
    assert marked == set(FIRST_RESULT)


@pytest.mark.parametrize(("name", "first_result"), FIRST_RESULT.items())
def test_a_hook_is_collected_or_takes_the_first_result_as_designed(name: str, first_result: bool) -> None:
    assert bool(spec(name).drakit_spec["firstresult"]) is first_result


@pytest.mark.parametrize("name", FIRST_RESULT)
def test_a_hook_is_documented_down_to_each_argument(name: str) -> None:
    text = inspect.getdoc(spec(name)) or ""
    arguments = list(inspect.signature(spec(name)).parameters)
    assert re.findall(r"^:param (\w+):", text, re.MULTILINE) == arguments
    assert ":returns:" in text
    assert re.search(r"^\.\. versionadded:: \d+\.\d+$", text, re.MULTILINE)
    assert text.split("\n")[0].endswith(".")


@pytest.mark.parametrize("name", FIRST_RESULT)
def test_a_hook_is_typed(name: str) -> None:
    hints = get_type_hints(spec(name))
    assert set(hints) == {*inspect.signature(spec(name)).parameters, "return"}
