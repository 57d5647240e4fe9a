"""The tables of a simulation: a tally -> Polars tables of estimates.

One row an estimate; the columns before `estimate` say of what. The unit of every error bar is the deal with all its
seatings. Shares are 0 to 1, payoffs in units.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim import estimate
from tlsim.batch import Plan
from tlsim.rules import INSTANT_WINS, TARGETS, pack
from tlsim.tally import (
    HANDS,
    LEADER_AT,
    LENGTHS,
    LENGTHS_AT,
    OTHERS_AT,
    OUTCOMES,
    PLAYED_OUT,
    SEATS_AT,
    chops_at,
    instant_at,
    policies_at,
)

Row = dict[str, Any]


class _Tally:
    """A tally with what its sums are divided by."""

    def __init__(self, plan: Plan, sums: NDArray[np.int64], level: float) -> None:
        self.plan, self.level = plan, level
        self.totals, self.squares = ([int(x) for x in row] for row in sums)
        self.seatings = len(plan.seatings)
        self.deals = self.totals[HANDS] // self.seatings
        # An instant win hangs on the cards alone: a deal is played out in all its seatings or in none.
        self.played_out = self.totals[PLAYED_OUT] // self.seatings

    def mean(self, metric: int, n: int, scale: float) -> Row:
        return estimate.mean(self.totals[metric], self.squares[metric], n, self.level, scale)

    def share(self, metric: int, n: int, most: int) -> Row:
        return estimate.share(self.totals[metric], self.squares[metric], n, self.level, most)

    def outcomes(self, at: int, hands: int, **keys: Any) -> Iterator[Row]:
        """Yield the win rate, mean place and mean payoff of seats that sum up `hands` hands a deal."""
        yield {**keys, "metric": "first_out", **self.share(at, self.deals, hands)}
        yield {**keys, "metric": "place", **self.mean(at + 1, self.deals, hands)}
        yield {**keys, "metric": "payoff", **self.mean(at + 2, self.deals, 2 * hands)}

    def seats(self) -> Iterator[Row]:
        for seat in range(self.plan.players):
            yield from self.outcomes(SEATS_AT + len(OUTCOMES) * seat, self.seatings, seat=seat)

    def leader(self) -> Iterator[Row]:
        yield from self.outcomes(LEADER_AT, self.seatings, role="leader")
        yield from self.outcomes(OTHERS_AT, self.seatings * (self.plan.players - 1), role="others")

    def policies(self) -> Iterator[Row]:
        for index, policy in enumerate(self.plan.distinct):
            hands = sum(seating.count(index) for seating in self.plan.seatings)
            at = policies_at(self.plan.players) + len(OUTCOMES) * index
            yield from self.outcomes(at, hands, policy=policy.name)

    def length(self) -> Iterator[Row]:
        for index, metric in enumerate(LENGTHS):
            yield {"metric": metric, **self.mean(LENGTHS_AT + index, self.played_out, self.seatings)}

    def chops(self) -> Iterator[Row]:
        classes = int(pack(self.plan.rules, self.plan.players)[0]["chop_classes"])
        at = chops_at(self.plan.players, len(self.plan.distinct))
        for index, chop in enumerate(TARGETS):
            if classes >> index & 1:
                yield {"chop": chop, **self.mean(at + index, self.played_out, self.seatings)}

    def instant_wins(self) -> Iterator[Row]:
        rules = self.plan.rules
        at = instant_at(self.plan.players, len(self.plan.distinct))
        for kind in (*rules.instant_wins, *rules.opening_instant_wins):
            yield {"kind": kind, **self.share(at + INSTANT_WINS.index(kind), self.deals, self.seatings)}
        yield {"kind": "any", **estimate.proportion(self.deals - self.played_out, self.deals, self.level)}


def tables(plan: Plan, tally: NDArray[np.int64], level: float = 0.95) -> dict[str, pl.DataFrame]:
    """Return the tables of a run, or of the part of it that a tally covers.

    `seats`, `leader`, `policies`: share of hands won (first_out), mean place, mean payoff; `length`: means a hand
    played out; `chops`: chops a hand played out by kind; `instant_wins`: share of deals by kind.
    """
    sums = _Tally(plan, tally, level)
    rows = {
        "seats": sums.seats(),
        "leader": sums.leader(),
        "policies": sums.policies(),
        "length": sums.length(),
        "chops": sums.chops(),
        "instant_wins": sums.instant_wins(),
    }
    return {name: pl.DataFrame(list(found), infer_schema_length=None) for name, found in rows.items()}


def headline(plan: Plan, tally: NDArray[np.int64], level: float = 0.95) -> str:
    """Return the estimate that a progress line shows: how often the leader goes out first."""
    row = next(_Tally(plan, tally, level).leader())
    return f"leader first out {100 * row['estimate']:.2f} % ± {50 * (row['high'] - row['low']):.2f}"
