"""How the metrics of hands are added up, deal by deal; `tlsim.engine.tally` says where each is."""

import numpy as np
from numpy.typing import NDArray

from tlsim.engine.compile import spliced
from tlsim.engine.table import Row, Table
from tlsim.engine.tally import (
    CHOPS,
    DECISIONS,
    FIRST,
    HANDS,
    LEADER_AT,
    OTHERS_AT,
    OUTCOMES,
    PASSES,
    PAYOFF,
    PILES,
    PLACE,
    PLAYED_OUT,
    PLAYS,
    RARE,
    SEATS_AT,
    TWOS_LEFT,
    Tally,
)
from tlsim.rules.ruleset import INSTANT_WINS, N_TARGETS, RulesRecord

N_OUTCOMES = len(OUTCOMES)


@spliced
def add_outcome(sums: NDArray[np.int64], at: np.uint64, place: int, payoff: int) -> None:
    """Add one seat's outcomes to the three metrics from `at`, an unsigned index, on."""
    sums[at + np.uint64(FIRST)] += 1 if place == 1 else 0
    sums[at + np.uint64(PLACE)] += place
    sums[at + np.uint64(PAYOFF)] += payoff


@spliced
def add_row(rules: RulesRecord, table: Table, row: Row, policy_of_seat: NDArray[np.int64], rare_at: int) -> None:
    """Add one hand to the sums of its deal; `policy_of_seat[seat]` is an index into the run's distinct policies."""
    sums = table.sums
    sums[HANDS] += 1
    if row.instant < 0:
        sums[PLAYED_OUT] += 1
        sums[PLAYS] += row.plays
        sums[DECISIONS] += row.plays + row.passes
        sums[PASSES] += row.passes
        sums[PILES] += row.piles
        sums[TWOS_LEFT] += row.twos_left
        if row.any_chop != 0:
            table.any_rare = 1
            for chop in range(N_TARGETS):
                sums[CHOPS] += row.chops[chop]
                sums[rare_at + len(INSTANT_WINS) + chop] += row.chops[chop]
    else:
        table.any_rare = 1
        sums[rare_at + row.instant] += 1
    by_policy = SEATS_AT + N_OUTCOMES * rules.players
    places, payoffs, at = 0, 0, np.uint64(SEATS_AT)
    for seat in range(rules.players):
        place, payoff = row.places[np.uint64(seat)], row.payoffs[np.uint64(seat)]
        places += place
        payoffs += payoff
        add_outcome(sums, at, place, payoff)
        at += np.uint64(N_OUTCOMES)
        if rare_at > by_policy + N_OUTCOMES:
            add_outcome(sums, np.uint64(by_policy + N_OUTCOMES * policy_of_seat[seat]), place, payoff)
    if rare_at == by_policy + N_OUTCOMES:  # one policy: it has all seats
        sums[at + np.uint64(FIRST)] += 1
        sums[at + np.uint64(PLACE)] += places
        sums[at + np.uint64(PAYOFF)] += payoffs
    place, payoff = row.places[np.uint64(row.leader)], row.payoffs[np.uint64(row.leader)]
    add_outcome(sums, np.uint64(LEADER_AT), place, payoff)
    sums[OTHERS_AT + FIRST] += 1 if place != 1 else 0
    sums[OTHERS_AT + PLACE] += places - place
    sums[OTHERS_AT + PAYOFF] += payoffs - payoff


@spliced
def close_deal(table: Table, rare_at: int, tally: Tally) -> None:
    """Add the sums of a deal and their squares to the tally, and clear them."""
    stop = rare_at + RARE if table.any_rare else rare_at
    for m in range(stop):
        total = table.sums[np.uint64(m)]
        small = np.int64(
            np.int32(total)
        )  # a metric is below 256 or so, and 40,320 seatings are the most: one instruction
        tally[0, np.uint64(m)] += total
        tally[1, np.uint64(m)] += small * small
        table.sums[np.uint64(m)] = 0
    table.any_rare = 0
