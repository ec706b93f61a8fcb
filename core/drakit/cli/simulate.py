"""``drakit simulate``."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import click

from drakit.cli.options import emit, filename_option, output_option, read, show

if TYPE_CHECKING:
    from drakit.cel.engines import Engine

__all__ = ["command"]


@click.command("simulate")
@filename_option
@output_option("table", "wide", "json", "yaml")
@click.option("--jsonl", is_flag=True, help="Read one question a line from standard input, write one answer a line.")
@click.option(
    "--cel-engine",
    type=click.Choice(("drakit", "cel-python")),
    default="drakit",
    show_default=True,
    help="What runs the selectors; cel-python needs drakit[cel-python] and has a part of Kubernetes' CEL.",
)
def command(filenames: tuple[str, ...], output: str, jsonl: bool, cel_engine: Engine) -> None:
    """Nodes, slices and claims in, allocation out, and why not.

    Reads Nodes, ResourceSlices, DeviceClasses, ResourceClaims, ResourceClaimTemplates, Pods, DeviceTaintRules, Lists of
    them, and Inventory documents. Claims are served in file order, each keeping what the former got.

    Only devices are looked at: CPU, memory, pod affinity and topology spread are not.

    Exit status: 0 everything was allocated, 1 something was not, 2 the input cannot be used.

    \b
    Examples:
      drakit simulate -f examples/tpu-16x16-failed-host.yaml
      kubectl get nodes,resourceslices,deviceclasses,resourceclaims -A -o json | drakit simulate -f - -o wide
    """
    if jsonl and filenames:
        raise click.UsageError("--jsonl reads standard input; it does not go with -f")
    if jsonl:
        from drakit.cli.questions import answer_lines

        if sys.stdin is None:
            raise click.UsageError("--jsonl reads standard input, which is closed")
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="backslashreplace")  # what is not UTF-8 is not JSON either
        answer_lines(sys.stdin, sys.stdout, cel_engine)
        return
    from drakit.allocation import simulate
    from drakit.views.contract import report_as_json

    loaded = read(filenames)
    report = simulate(loaded.cluster, cel_engine=cel_engine)
    if output in ("json", "yaml"):
        emit(report_as_json(report, loaded.plugin_errors), output)
    else:
        from drakit.views.report import report_view

        show(report_view(report, wide=output == "wide"))
    sys.exit(0 if report.verdict == "allocated" and not loaded.plugin_errors else 1)
