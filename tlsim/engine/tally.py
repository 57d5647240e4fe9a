"""Integer sums over deals: what a block of hands comes to, and where each sum is.

Every metric of a hand is an integer. Within a deal its values add up over the seatings; a tally holds, over deals, the
sum of these and the sum of their squares, so that means and standard errors by deal follow, and tallies of blocks add
up in any order to the same bits. `tlsim.engine.sums` adds up.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tlsim.engine.view import MAX_SEATS
from tlsim.rules.ruleset import INSTANT_WINS, N_TARGETS

Tally: TypeAlias = NDArray[np.int64]
"""Sums over deals, shape `(2, metrics)`: of the metrics of a deal, and of their squares."""

# Metrics by index. Three outcomes each: first out (0 or 1), place, payoff in half units.
OUTCOMES = ("first", "place", "payoff")
FIRST, PLACE, PAYOFF = range(len(OUTCOMES))  # counted from the first of the three
HANDS = 0
PLAYED_OUT = 1  # hands that no instant win ended
LENGTHS = ("plays", "decisions", "passes", "piles", "chops", "twos_left")  # of hands played out
LENGTHS_AT = 2
PLAYS, DECISIONS, PASSES, PILES, CHOPS, TWOS_LEFT = range(LENGTHS_AT, LENGTHS_AT + len(LENGTHS))
LEADER_AT = LENGTHS_AT + len(LENGTHS)  # outcomes of the leader …
OTHERS_AT = LEADER_AT + len(OUTCOMES)  # … and, added up, of the others
SEATS_AT = OTHERS_AT + len(OUTCOMES)  # outcomes by seat, then by policy
# Last what most deals have none of: instant wins by kind, chops by class.
RARE = len(INSTANT_WINS) + N_TARGETS
MAX_METRICS = SEATS_AT + 2 * len(OUTCOMES) * MAX_SEATS + RARE


def n_metrics(players: int, n_policies: int) -> int:
    """Return the number of metrics of a run."""
    return instant_at(players, n_policies) + RARE


def policies_at(players: int) -> int:
    """Return the first metric of the outcomes by policy."""
    return SEATS_AT + len(OUTCOMES) * players


def instant_at(players: int, n_policies: int) -> int:
    """Return the first metric of instant wins by kind."""
    return policies_at(players) + len(OUTCOMES) * n_policies


def chops_at(players: int, n_policies: int) -> int:
    """Return the first metric of chops by class."""
    return instant_at(players, n_policies) + len(INSTANT_WINS)
