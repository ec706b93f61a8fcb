"""Pools, counters, constraints, the search for an allocation, and the reason when there is none."""

from drakit.allocation.cluster import Cluster, DuplicateObject
from drakit.allocation.errors import AllocationError, Check, Place, Reason, SearchLimit
from drakit.allocation.outcome import ClaimOutcome
from drakit.allocation.pools import Candidate, Pool, PoolIndex
from drakit.allocation.report import Notice, PodOutcome, Report, Verdict
from drakit.allocation.simulation import simulate
from drakit.allocation.state import AllocatedState, Holder

__all__ = [
    "AllocatedState",
    "AllocationError",
    "Candidate",
    "Check",
    "ClaimOutcome",
    "Cluster",
    "DuplicateObject",
    "Holder",
    "Notice",
    "Place",
    "PodOutcome",
    "Pool",
    "PoolIndex",
    "Reason",
    "Report",
    "SearchLimit",
    "Verdict",
    "simulate",
]
