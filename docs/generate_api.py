"""Write ``reference/api.md`` from every public ``__all__``. A test compares the page with what :func:`page` gives."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import drakit

HEAD: Final = """\
<!-- Written by docs/generate_api.py: change `__all__` or a docstring, then run `tox -e generate`. -->

# Python API

What stands here is public; a name that does not may change at any time. Each part can be used alone.
"""
NOT_HERE: Final = ("drakit.cli", "drakit.__main__")
"""What is for the shell: ``cli.md`` describes it."""
DEEPER: Final = ("drakit.model.wire", "drakit.testing.cluster", "drakit.testing.strategies")
"""Public parts of parts."""


def parts() -> Iterator[tuple[str, Sequence[str]]]:
    """Name and ``__all__`` of what lies directly below drakit, and of what lies deeper; each name where it is deepest."""
    below = (module.name for module in pkgutil.iter_modules(drakit.__path__, "drakit."))
    deeper = {name: importlib.import_module(name).__all__ for name in DEEPER}
    for part in (*below, *DEEPER):
        if part in NOT_HERE:
            continue
        elsewhere = {name for other, names in deeper.items() if other.startswith(f"{part}.") for name in names}
        if public := getattr(importlib.import_module(part), "__all__", None):
            yield part, [name for name in public if name not in elsewhere]


def page() -> str:
    """The whole page. What drakit takes from its parts is described there, once."""
    public: Sequence[str] = drakit.__all__
    home = {name: part for part, names in parts() for name in names if name in public and _same(name, part)}
    links = "\n".join(f"- {{py:obj}}`{name} <{home[name]}.{name}>`" for name in sorted(home))
    own = _directives("drakit", [name for name in public if name not in home])
    sections = (f"## {part}\n\n{_directives(part, names)}" for part, names in parts())
    return "\n".join(
        (HEAD, f"## drakit\n\n{own}\nAnd what plugins and embedders need most, from below:\n\n{links}\n", *sections)
    )


def _directives(part: str, names: Sequence[str]) -> str:
    """Autodoc's directives for a part; left to itself it overlooks values that were defined elsewhere."""
    module = importlib.import_module(part)
    code = ", ".join(name for name in names if _is_code(getattr(module, name)))
    directives = [f".. automodule:: {part}\n" + (f"   :members: {code}\n   :undoc-members:\n" if code else "")]
    directives += [f".. autodata:: {part}.{name}\n   :no-value:\n" for name in names if not _is_code(getattr(module, name))]
    return "```{eval-rst}\n" + "\n".join(directives) + "```\n"


def _same(name: str, part: str) -> bool:
    return getattr(drakit, name) is getattr(importlib.import_module(part), name)


def _is_code(value: object) -> bool:
    return inspect.isclass(value) or inspect.isroutine(value)


if __name__ == "__main__":
    (Path(__file__).parent / "reference" / "api.md").write_text(page(), encoding="utf-8")
