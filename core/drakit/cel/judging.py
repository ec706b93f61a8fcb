"""What Kubernetes says to one expression on one device: the whole answer, costs included, and no exception for it.

Called by ``drakit cel --jsonl``; its answers have the form of those that were recorded from Kubernetes.

Source: k8s.io/dynamic-resource-allocation ``cel/compile.go`` (CompileCELExpression, DeviceMatches).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from attrs import frozen

from drakit.cel.checking.environment import Environment
from drakit.cel.device import CelDevice
from drakit.cel.errors import CompileError, EvaluationError
from drakit.cel.selector import Selector, compile, verdict  # noqa: A004  # as in re.compile

__all__ = ["Judgement", "Verdict", "examine", "judge"]

Verdict: TypeAlias = Literal["true", "false", "compile_error", "runtime_error"]


@frozen(kw_only=True)
class Judgement:
    """What becomes of an expression."""

    verdict: Verdict
    message: str = ""
    """The text of the error, if it is one."""
    output_type: str | None = None
    """Such as ``bool`` or ``dyn``; None where it does not compile."""
    max_cost: int | None = None
    """The estimate of the API server, 2**64 - 1 where there is no bound; None where it does not compile."""
    cost: int = 0
    """What the evaluation did cost; 0 where there was none."""


def judge(expression: str, device: CelDevice, environment: Environment) -> Judgement:
    """The judgement of an expression on a device.

    :raises UnsupportedExpression: drakit cannot decide it.
    """
    try:
        selector = compile(expression, environment)
    except CompileError as error:
        return Judgement(verdict="compile_error", message=str(error))
    answer, cost = examine(selector, device)
    failed = isinstance(answer, EvaluationError)
    return Judgement(
        verdict="runtime_error" if failed else "true" if answer else "false",
        message=str(answer) if failed else "",
        output_type=selector.output_type,
        max_cost=selector.max_cost,
        cost=cost,
    )


def examine(selector: Selector, device: CelDevice) -> tuple[bool | EvaluationError, int]:
    """The verdict on a device, or the error of the evaluation, and what it costs: 0 on a device that cannot be looked at.

    :raises UnsupportedExpression: drakit cannot decide the evaluation.
    """
    cost = 0
    try:
        outcome = selector.outcome(device)
        cost = outcome.cost
        return verdict(outcome), cost
    except EvaluationError as error:
        return error, cost
