from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

CORE: Final = Path(__file__).parents[2] / "core"
HEAVY: Final = {"grpc", "kubernetes", "rich", "yaml"}
"""What a command imports when it needs it; starting drakit must not cost it."""
MOST_MODULES: Final = 220
"""Modules `drakit --help` may import, the interpreter's own included. A count, because seconds differ between machines."""


STARTED: Final = "import drakit.cli, sys; print(*sys.modules, file=sys.stderr)"
HELPED: Final = """
import drakit.cli, sys
sys.argv = ["drakit", "--help"]
try:
    drakit.cli.main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize("code", [STARTED, HELPED], ids=["import drakit.cli", "drakit --help"])
def test_drakit_starts_without_what_only_some_commands_need(code: str) -> None:
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(result.stderr.split())
    assert "drakit.cli" in imported
    assert HEAVY & imported == set()
    assert len(imported) < MOST_MODULES


def imports(path: Path) -> Iterator[str]:
    """The top-level modules a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from (name.name.partition(".")[0] for name in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]


def test_the_model_needs_attrs_only_and_the_wire_cattrs_besides() -> None:
    for path in sorted(CORE.glob("drakit/model/*.py")):
        allowed = {"drakit", "attrs", "attr"} | ({"cattrs"} if path.name == "wire.py" else set())
        assert set(imports(path)) - sys.stdlib_module_names <= allowed, path.name
