"""The contract's numbered cases: which test covers each, and for the others the verb that does not exist here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Test = TypeVar("Test", bound=Callable[..., None])

NUMBERS = range(1, 99)

MODULES = ("test_contract_cases", "test_operator_cases", "test_lease_cases", "test_lane_cases")

# The test that covers each number, filled in by `case` as the modules above are imported.
COVERED: dict[int, str] = {}

MISSING: dict[int, str] = {
    20: "browse",
    22: "enqueue_many",
    23: "enqueue_many",
    24: "enqueue_many",
    29: "browse",
    30: "browse",
    46: "add_log",
    47: "add_log",
    48: "get_job_logs",
    59: "drain",
    60: "obliterate",
    71: "track_job",
    72: "extend",
    73: "track_job",
    75: "track_job",
    78: "job_stalled",
    85: "depth",
    86: "lane_reassign",
    87: "lane_reap_group",
    88: "lane_weight",
    89: "counts",
    90: "job_state",
    92: "concurrency_gate",
    95: "reserve",
    98: "repeat",
}


def case(*numbers: int) -> Callable[[Test], Test]:
    """Marks a test as the one that covers these numbers of the contract."""

    def register(test: Test) -> Test:
        for number in numbers:
            assert number not in COVERED, f"case {number} is covered by {COVERED[number]} already"
            COVERED[number] = test.__name__
        return test

    return register
