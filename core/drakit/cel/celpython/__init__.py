"""cel-python as a second engine for selectors: slower, with fewer functions, and somebody else's.

=============  =========================================================================================================
subset         what of the dialect it has
exchange       values and functions for it
engine         compiling and asking
=============  =========================================================================================================
"""

from drakit.cel.celpython.engine import CelPythonSelector, MissingEngine, compile, require  # noqa: A004  # as in re.compile

__all__ = ["CelPythonSelector", "MissingEngine", "compile", "require"]
