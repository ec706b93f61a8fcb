"""Write ``reference/hooks.md`` from ``drakit.hooks.hookspecs``, so that the page cannot say anything else than the code.

A test compares the page with what :func:`page` gives.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from drakit.hooks import hookspecs

HEAD: Final = """\
<!-- Written by docs/generate_hooks.py: change core/drakit/hooks/hookspecs.py, then run `tox -e generate`. -->

# Hooks

{intro}

*Collected*: every plugin that has the hook is called and all answers count. *First result*: the first answer that is
not `None` is taken. How a plugin is found and what it looks like: [Write a driver plugin](../tutorial/write-a-plugin.md).

| hook | kind | |
| --- | --- | --- |
{rows}
"""

_FIELD: Final = re.compile(r":(param|returns|raises)\s*([\w.]*):\s*(.*)", re.DOTALL)
_SINCE: Final = re.compile(r"\.\. versionadded:: (.*)")
Hook = Callable[..., Any]


def hooks() -> Iterator[tuple[Hook, str]]:
    """Every function pluggy's marker stands on, and its kind; in the order they are written."""
    for function in vars(hookspecs).values():
        if inspect.isfunction(function) and (options := getattr(function, "drakit_spec", None)):
            yield function, "first result" if options["firstresult"] else "collected"


def markdown(text: str) -> str:
    """Sphinx's inline markup as Markdown's: ``x`` and :func:`x` become `x`."""
    return re.sub(r":[a-z:]+:`~?([^`]*)`", r"`\1`", text.replace("``", "`"))


def signature(hook: Hook) -> str:
    """The signature, one argument a line where one line is too long."""
    inline = f"{hook.__name__}{inspect.signature(hook)}".replace("'", "")
    if len(inline) <= 100:
        return inline
    sig = inspect.signature(hook)
    arguments = "".join(f"    {argument},\n".replace("'", "") for argument in sig.parameters.values())
    return f"{hook.__name__}(\n{arguments}) -> {sig.return_annotation}"


def body(hook: Hook) -> Iterator[str]:
    """The docstring in Markdown: paragraphs as they are, a list of the fields, and since when."""
    paragraphs = inspect.cleandoc(hook.__doc__ or "").split("\n\n")
    for paragraph in paragraphs:
        if since := _SINCE.fullmatch(paragraph):
            yield f"Since {since[1]}."
        elif paragraph.startswith(":"):
            yield "\n".join(_item(field) for field in re.split(r"\n(?=:)", paragraph))
        else:
            yield markdown(paragraph)


def _item(field: str) -> str:
    match = _FIELD.fullmatch(field)
    if match is None:
        raise ValueError(f"not :param name:, :returns: or :raises Error:, but {field!r}")
    kind, name, text = match.groups()
    label = {"param": f"`{name}`", "returns": "returns", "raises": f"raises `{name}`"}[kind]
    text = re.sub(r"\n\s*", "\n  ", text)
    return f"- **{label}**: {markdown(text)}"


def page() -> str:
    """The whole page."""
    found = list(hooks())
    rows = "\n".join(
        f"| [`{hook.__name__}`](#{hook.__name__}) | {kind} | {markdown((hook.__doc__ or '').splitlines()[0])} |"
        for hook, kind in found
    )
    parts = [HEAD.format(intro=markdown(hookspecs.__doc__ or "").strip(), rows=rows)]
    for hook, kind in found:
        text = "\n\n".join(body(hook))
        parts.append(f"## {hook.__name__}\n\n```py\n{signature(hook)}\n```\n\n*{kind.capitalize()}.* {text}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    (Path(__file__).parent / "reference" / "hooks.md").write_text(page(), encoding="utf-8")
