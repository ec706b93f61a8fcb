"""The fast path: one generated Python function per expression.

It answers true or false only where that is certainly Kubernetes' answer. Whatever else happens (a missing key, a value of
another type, any exception) it gives up, and the closures of :mod:`drakit.cel.exact.evaluator` decide: errors, their absorption
by ``&&`` and ``||``, and cost are their business alone.

=============  ======================================================================================================
flat           a device, converted once: dicts by qualified name
places         what an expression takes from the device, by constant names
code           pieces of source, and the names of their constants: no text of an expression gets into a source
operators      ``==``, ``<``, ``in``, arithmetic
functions      ``matches``, ``startsWith``, ``quantity``, ``isGreaterThan``...
folds          ``all``, ``exists``, ``exists_one``, ``map``, ``filter``, ``cel.bind``
generator      the walk over an expression
runtime        what generated code calls
=============  ======================================================================================================
"""

from drakit.cel.fast.flat import Flat, flatten
from drakit.cel.fast.generator import Function, generate

__all__ = ["Flat", "Function", "flatten", "generate"]
