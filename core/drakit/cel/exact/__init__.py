"""The exact path: what an evaluation comes to, errors and their absorption, and its cost, as cel-go has them.

=============  =========================================================================================================
costs          what a call costs
ledger         what an evaluation has cost so far
stack          evaluations deeper than Python's stack
frame          what closures share
dispatch       calls
chains         selections and indexes
closures       operators with an order of evaluation
evaluator      from a checked expression to closures
=============  =========================================================================================================
"""
