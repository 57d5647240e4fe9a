"""Integer sums over deals: what a block of hands comes to.

Every metric of a hand is an integer. Within a deal its values add up over the seatings; a tally holds, over deals, the
sum of these and the sum of their squares, so that means and standard errors by deal follow, and tallies of blocks add
up in any order to the same bits.
"""

from typing import Any

import numpy as np

from tlsim.engine.compile import spliced
from tlsim.engine.view import MAX_SEATS
from tlsim.rules.ruleset import INSTANT_WINS, N_TARGETS

# Metrics by index. Three outcomes each: first out (0 or 1), place, payoff in half units.
OUTCOMES = ("first", "place", "payoff")
HANDS = 0
PLAYED_OUT = 1  # hands that no instant win ended
LENGTHS = ("plays", "decisions", "passes", "piles", "chops", "twos_left")  # of hands played out
LENGTHS_AT = 2
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


@spliced
def add_outcome(x: Any, at: Any, place: int, payoff: int) -> None:
    """Add one seat's outcomes to the three metrics from `at`, an unsigned index, on."""
    x[at] += 1 if place == 1 else 0
    x[at + np.uint64(1)] += place
    x[at + np.uint64(2)] += payoff


@spliced
def add_row(rules: Any, table: Any, row: Any, policy_of_seat: Any, rare_at: int) -> None:
    """Add one hand to the sums of its deal; `policy_of_seat[seat]` is an index into the run's distinct policies."""
    x = table.sums
    x[HANDS] += 1
    if row.instant < 0:
        x[PLAYED_OUT] += 1
        x[2] += row.plays
        x[3] += row.plays + row.passes
        x[4] += row.passes
        x[5] += row.piles
        x[7] += row.twos_left
        if row.any_chop != 0:
            table.any_rare = 1
            for chop in range(N_TARGETS):
                x[6] += row.chops[chop]
                x[rare_at + len(INSTANT_WINS) + chop] += row.chops[chop]
    else:
        table.any_rare = 1
        x[rare_at + row.instant] += 1
    by_policy = SEATS_AT + 3 * rules.players
    places, payoffs, at = 0, 0, np.uint64(SEATS_AT)
    for seat in range(rules.players):
        place, payoff = row.places[np.uint64(seat)], row.payoffs[np.uint64(seat)]
        places += place
        payoffs += payoff
        add_outcome(x, at, place, payoff)
        at += np.uint64(3)
        if rare_at > by_policy + 3:
            add_outcome(x, np.uint64(by_policy + 3 * policy_of_seat[seat]), place, payoff)
    if rare_at == by_policy + 3:  # one policy: it has all seats
        x[at] += 1
        x[at + np.uint64(1)] += places
        x[at + np.uint64(2)] += payoffs
    place, payoff = row.places[np.uint64(row.leader)], row.payoffs[np.uint64(row.leader)]
    add_outcome(x, np.uint64(LEADER_AT), place, payoff)
    x[OTHERS_AT] += 1 if place != 1 else 0
    x[OTHERS_AT + 1] += places - place
    x[OTHERS_AT + 2] += payoffs - payoff


@spliced
def close_deal(table: Any, rare_at: int, tally: Any) -> None:
    """Add the sums of a deal and their squares to the tally, shape `(2, metrics)`, and clear them."""
    stop = rare_at + RARE if table.any_rare else rare_at
    for m in range(stop):
        x = table.sums[np.uint64(m)]
        small = np.int64(np.int32(x))  # a metric is below 256 or so, and 40,320 seatings are the most: one instruction
        tally[0, np.uint64(m)] += x
        tally[1, np.uint64(m)] += small * small
        table.sums[np.uint64(m)] = 0
    table.any_rare = 0
