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
from drakit.cel.selector import Selector, compile  # noqa: A004  # as in re.compile

__all__ = ["Judgement", "Verdict", "cost_on", "judge"]

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
    verdict: Verdict
    try:
        verdict, message = ("true" if selector.matches_exactly(device) else "false"), ""
    except EvaluationError as error:
        verdict, message = "runtime_error", str(error)
    return Judgement(
        verdict=verdict,
        message=message,
        output_type=selector.output_type,
        max_cost=selector.max_cost,
        cost=cost_on(selector, device),
    )


def cost_on(selector: Selector, device: CelDevice) -> int:
    """What an evaluation costs; 0 on a device that cannot be looked at.

    :raises UnsupportedExpression: drakit cannot decide the evaluation.
    """
    if device.fault:
        return 0
    return selector.program.evaluate(device.value()).cost
