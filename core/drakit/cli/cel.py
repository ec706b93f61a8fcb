"""``drakit cel``."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

import click

from drakit.cli.options import emit, filename_option, output_option, read, show

if TYPE_CHECKING:
    from drakit.cel import CelDevice, Environment
    from drakit.model import DeviceID, ResourceSlice

__all__ = ["command"]

SHOWS_PROGRESS_FROM: Final = 2_000
"""Devices; fewer are done before anybody looks."""


@click.command("cel")
@click.argument("expression", required=False)
@filename_option
@output_option("table", "json", "yaml")
@click.option(
    "--kube-version",
    metavar="1.N",
    help="Which Kubernetes is asked, 1.34 to 1.37.  [default: 1.37; 1.36 for --jsonl alone, as its answers were recorded]",
)
@click.option("--new", is_flag=True, help="Ask the API server about a new expression, not the scheduler about a stored one.")
@click.option(
    "--feature-gates",
    metavar="NAME=true|false,...",
    multiple=True,
    help="Of the API server, which looks at DRAConsumableCapacity and DRAListTypeAttributes where an expression is new; with"
    " --new.  [default: those of the release]",
)
@click.option("--jsonl", is_flag=True, help="Read one question a line from standard input, write one answer a line.")
def command(
    expression: str | None,
    filenames: tuple[str, ...],
    output: str,
    kube_version: str | None,
    new: bool,
    feature_gates: tuple[str, ...],
    jsonl: bool,
) -> None:
    """A selector against devices: which match, which do not and why, and the guard to write.

    Looks at every device of the ResourceSlices and Inventory documents in the files, whatever node it is on. Where the
    expression fails on a device, as on one without the attribute it reads, nothing is "no match" in Kubernetes: the pod
    is not scheduled.

    Exit status: 0 some device matches and the expression fails on none, 1 not so, or it does not compile, or is refused as
    a new one; 2 the input cannot be used.

    \b
    Examples:
      drakit cel 'has(device.attributes["gpu.example.com"].productName)' -f examples/mixed-gpus.yaml
      kubectl get resourceslices -o json | drakit cel 'device.driver == "gpu.example.com"' -f -
    """
    if jsonl:
        if expression is not None or filenames:
            raise click.UsageError("--jsonl reads standard input; it goes with no expression and no -f")
        _answer_lines(kube_version, new, feature_gates)
        return
    if feature_gates and not new:
        raise click.UsageError("--feature-gates goes with --new: a stored expression is read with every gate on")
    if expression is None:
        raise click.UsageError("nothing to evaluate: give an expression, in quotes")
    _census(expression, filenames, output, _environment(kube_version, new, feature_gates))


def _answer_lines(kube_version: str | None, new: bool, feature_gates: tuple[str, ...]) -> None:
    from drakit.cli.cel_questions import RECORDED, answer_lines

    if sys.stdin is None:
        raise click.UsageError("--jsonl reads standard input, which is closed")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="backslashreplace")  # what is not UTF-8 is not JSON either
    asked = kube_version is not None or new or feature_gates
    answer_lines(sys.stdin, sys.stdout, _environment(kube_version, new, feature_gates) if asked else RECORDED)


def _environment(kube_version: str | None, new: bool, feature_gates: tuple[str, ...]) -> Environment:
    """What the options say."""
    from drakit.cel import Environment
    from drakit.cel.checking.environment import NEWEST
    from drakit.cli.cel_questions import GATES, minor_of
    from drakit.model.errors import did_you_mean

    try:
        minor = NEWEST if kube_version is None else minor_of(kube_version)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--kube-version") from None
    gates = {"consumable_capacity": minor >= 36, "list_attributes": False}
    for setting in ",".join(feature_gates).split(",") if feature_gates else ():
        name, _, value = setting.strip().partition("=")
        if name not in GATES:
            raise click.BadParameter(f'no gate "{name}" matters here{did_you_mean(name, GATES)}', param_hint="--feature-gates")
        if value.lower() not in ("true", "false"):
            raise click.BadParameter(f"{name} is true or false", param_hint="--feature-gates")
        gates[GATES[name]] = value.lower() == "true"
    return Environment(minor=minor, new=new, **gates)


def _census(expression: str, filenames: tuple[str, ...], output: str, environment: Environment) -> None:
    from drakit.cel import CompileError
    from drakit.cel.census import refusal, take_census
    from drakit.views.census import census_as_json, census_view, error_as_json, error_view

    loaded = read(filenames)
    devices = list(_devices(loaded.cluster.slices))
    try:
        census = take_census(expression, environment, _with_progress(devices))
    except CompileError as error:
        if output == "table":
            show(error_view(expression, environment, error))
        else:
            emit(error_as_json(expression, environment, error), output)
        sys.exit(1)
    if output == "table":
        show(census_view(census))
    else:
        emit(census_as_json(census), output)
    fine = census.count("matches") and not census.count("fails") and not (environment.new and refusal(census.selector))
    sys.exit(0 if fine and not loaded.plugin_errors else 1)


def _devices(slices: Iterable[ResourceSlice]) -> Iterator[tuple[DeviceID, CelDevice]]:
    """The devices of each pool's newest generation: others are about to be deleted, and no scheduler takes them."""
    from drakit.cel import CelDevice
    from drakit.model import DeviceID

    specs = [slice_.spec for slice_ in slices]
    newest: dict[tuple[str, str], int] = {}
    for spec in specs:
        pool = spec.driver, spec.pool.name
        newest[pool] = max(newest.get(pool, 0), spec.pool.generation)
    for spec in specs:
        if spec.pool.generation == newest[spec.driver, spec.pool.name]:
            for device in spec.devices:
                yield DeviceID(spec.driver, spec.pool.name, device.name), CelDevice(spec.driver, device)


def _with_progress(devices: list[tuple[DeviceID, CelDevice]]) -> Iterable[tuple[DeviceID, CelDevice]]:
    """The devices, with a bar on a terminal where they are many."""
    if len(devices) < SHOWS_PROGRESS_FROM or not sys.stderr.isatty():
        return devices
    from rich.console import Console
    from rich.progress import track

    return track(devices, "looking at devices", console=Console(stderr=True), transient=True)
