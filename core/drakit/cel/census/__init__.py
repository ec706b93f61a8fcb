"""A census: what a selector makes of many devices, for people.

=============  =========================================================================================================
parts          what decides about a device
presence       what is there, of which type, and what may be misspelt
guarding       the guard to write
advising       what may be meant by an expression that does not compile
taking         the census itself
=============  =========================================================================================================
"""

from drakit.cel.census.advising import advice
from drakit.cel.census.taking import COST_LIMIT, LENGTH_LIMIT, Census, Group, Outcome, Proposal, refusal, take_census

__all__ = ["COST_LIMIT", "LENGTH_LIMIT", "Census", "Group", "Outcome", "Proposal", "advice", "refusal", "take_census"]
