"""Sphinx settings. Builds offline: no reference leads out of these pages, so names of other projects are only text."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

project = "drakit"
copyright = "The drakit authors"  # noqa: A001  Sphinx reads this name
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "drakit"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autoclass_content = "both"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
nitpick_ignore = [
    ("py:class", "drakit.model.meta.Timestamp"),  # documented as drakit.model.Timestamp
    # Inside drakit.cel: signatures name them, and nobody needs them.
    ("py:class", "drakit.cel.exact.evaluator.Program"),
    ("py:class", "drakit.cel.fast.flat.Flat"),
    ("py:class", "drakit.cel.library.quantities.QuantityValue"),
    ("py:class", "drakit.cel.reads.Reads"),
]
nitpick_ignore_regex = [("py:.*", r"(?!drakit)[\w.]+")]


def setup(app: Sphinx) -> None:
    """A field that attrs fills with an empty collection has a default, whatever its name."""
    app.connect("autodoc-process-signature", _readable_defaults)


def _readable_defaults(*event: Any) -> tuple[str, str] | None:
    signature, returns = event[-2:]
    return (signature.replace("=NOTHING", "=..."), returns) if signature else None
