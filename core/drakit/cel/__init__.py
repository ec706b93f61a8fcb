"""CEL as Kubernetes' Dynamic Resource Allocation has it: selectors over one device.

>>> from drakit import cel
>>> from drakit.model import Device
>>> selector = cel.compile('device.attributes["gpu.example.com"].model == "m1"')
>>> selector.matches(cel.CelDevice("gpu.example.com", Device("gpu-0", attributes={"model": "m1"})))
True

What Kubernetes refuses is a :class:`CompileError` here, what fails there at run time an :class:`EvaluationError`, with
the same text; what cannot be decided yet is an :class:`UnsupportedExpression`, never a guess.
"""

from drakit.cel.checking.environment import Environment
from drakit.cel.device import CelDevice
from drakit.cel.errors import CelError, CompileError, EvaluationError, Issue, UnsupportedExpression
from drakit.cel.selector import Selector, compile  # noqa: A004  # as in re.compile

__all__ = [
    "CelDevice",
    "CelError",
    "CompileError",
    "Environment",
    "EvaluationError",
    "Issue",
    "Selector",
    "UnsupportedExpression",
    "compile",
]
