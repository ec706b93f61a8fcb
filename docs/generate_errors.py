"""Write ``reference/errors.md`` from the classes below DrakitError. A test compares the page with what :func:`page` gives."""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import drakit
from drakit.model import DrakitError

HEAD: Final = """\
<!-- Written by docs/generate_errors.py: change the error's docstring, then run `tox -e generate`. -->

# Errors

Every error drakit raises on purpose derives from `DrakitError`; the classes tell apart what a caller does next. That a
claim does not fit is a result, not an error. The command line prints an error as one line for each path and exits with 2.
"""


def errors(base: type[DrakitError] = DrakitError) -> Iterator[type[DrakitError]]:
    """The class and everything below it, each parent before its children, siblings by name."""
    yield base
    for child in sorted(base.__subclasses__(), key=lambda error: error.__name__):
        if child.__module__.startswith("drakit."):
            yield from errors(child)


def page() -> str:
    """The whole page."""
    for module in pkgutil.walk_packages(drakit.__path__, "drakit."):
        if not module.name.startswith("drakit.testing") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return "\n".join((HEAD, *(_section(error) for error in errors())))


def _section(error: type[DrakitError]) -> str:
    bases = " and ".join(f"`{base.__name__}`" for base in error.__bases__)
    text = inspect.cleandoc(error.__doc__ or "").replace("``", "`")
    return f"## {error.__name__}\n\n`{_public_name(error)}`, derived from {bases}.\n\n{text}\n"


def _public_name(error: type[DrakitError]) -> str:
    """The shortest name it can be imported by."""
    modules = itertools.accumulate(error.__module__.split("."), lambda package, part: f"{package}.{part}")
    return next(f"{module}.{error.__name__}" for module in modules if hasattr(sys.modules[module], error.__name__))


if __name__ == "__main__":
    (Path(__file__).parent / "reference" / "errors.md").write_text(page(), encoding="utf-8")
