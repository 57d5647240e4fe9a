"""Make the tables of a simulation from a tally, and those of single hands from transcripts.

A row has one estimate; the columns before `estimate` say of what. The unit of every error bar is the deal, or the
match, with all its seatings. Shares are 0 to 1, payoffs in units.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.engine.tally import (
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
from tlsim.play.plan import Plan
from tlsim.rules.ruleset import INSTANT_WINS, TARGETS, pack
from tlsim.stats import estimate
from tlsim.stats.estimate import TableRow

PLACE, PAYOFF = OUTCOMES.index("place"), OUTCOMES.index("payoff")
HALF_UNITS = 2  # of a unit, in which payoffs are counted


class Tally:
    """A tally with what its sums are divided by: units are deals, or matches of several hands."""

    def __init__(self, plan: Plan, sums: NDArray[np.int64], level: float) -> None:
        self.plan, self.level = plan, level
        self.totals, self.squares, *products = ([int(x) for x in row] for row in sums)
        self.products = products[0] if products else [0] * len(self.totals)
        self.hands = len(plan.seatings) * (plan.match or 1)  # of a unit
        self.units = self.totals[HANDS] // self.hands

    def mean(self, metric: int, scale: float) -> TableRow:
        """Return the mean of a metric over units, divided by `scale`."""
        return estimate.mean(self.totals[metric], self.squares[metric], self.units, self.level, scale)

    def share(self, metric: int, most: int) -> TableRow:
        """Return a metric as a share of what a unit can count."""
        return estimate.share(self.totals[metric], self.squares[metric], self.units, self.level, most)

    def ratio(self, metric: int, by: int) -> estimate.Ratio:
        """Return what the ratio of two metrics needs."""
        sums = (self.totals[metric], self.squares[metric], self.products[metric], self.totals[by], self.squares[by])
        return estimate.Ratio(*sums, self.units)

    def played_out(self, metric: int) -> TableRow:
        """Return a mean a hand played out.

        An instant win hangs on the cards alone: a deal is played out in all its seatings or in none, a match in part.
        """
        return self.ratio(metric, PLAYED_OUT).mean(self.level, self.hands)

    def outcomes(self, at: int, hands: int, **keys: Any) -> Iterator[TableRow]:
        """Yield the win rate, mean place and mean payoff of seats that sum up `hands` hands a unit."""
        yield {**keys, "metric": "first_out", **self.share(at, hands)}
        yield {**keys, "metric": "place", **self.mean(at + PLACE, hands)}
        yield {**keys, "metric": "payoff", **self.mean(at + PAYOFF, HALF_UNITS * hands)}

    def seats(self) -> Iterator[TableRow]:
        """Yield the outcomes of each seat."""
        for seat in range(self.plan.players):
            yield from self.outcomes(SEATS_AT + len(OUTCOMES) * seat, self.hands, seat=seat)

    def leader(self) -> Iterator[TableRow]:
        """Yield the outcomes of the leaders of hands, and of the others."""
        yield from self.outcomes(LEADER_AT, self.hands, role="leader")
        yield from self.outcomes(OTHERS_AT, self.hands * (self.plan.players - 1), role="others")

    def hands_of(self, policy: int) -> int:
        """Return how many hands a unit the seats of a policy have, by its index."""
        return sum(seating.count(policy) for seating in self.plan.seatings) * (self.plan.match or 1)

    def policies(self) -> Iterator[TableRow]:
        """Yield the outcomes of each policy."""
        for index, policy in enumerate(self.plan.distinct):
            at = policies_at(self.plan.players) + len(OUTCOMES) * index
            yield from self.outcomes(at, self.hands_of(index), policy=policy.name)

    def length(self) -> Iterator[TableRow]:
        """Yield means a hand played out."""
        for index, metric in enumerate(LENGTHS):
            yield {"metric": metric, **self.played_out(LENGTHS_AT + index)}

    def chops(self) -> Iterator[TableRow]:
        """Yield chops a hand played out, by kind."""
        classes = int(pack(self.plan.rules, self.plan.players)[0]["chop_classes"])
        at = chops_at(self.plan.players, len(self.plan.distinct))
        for index, chop in enumerate(TARGETS):
            if classes >> index & 1:
                yield {"chop": chop, **self.played_out(at + index)}

    def instant_wins(self) -> Iterator[TableRow]:
        """Yield the share of hands that are won at once, by kind."""
        rules = self.plan.rules
        at = instant_at(self.plan.players, len(self.plan.distinct))
        for kind in (*rules.instant_wins, *rules.opening_instant_wins):
            yield {"kind": kind, **self.share(at + INSTANT_WINS.index(kind), self.hands)}
        # A unit with y hands played out has x = h - y won at once, and x² = h² - 2 h y + y².
        hands, played, squares = self.hands, self.totals[PLAYED_OUT], self.squares[PLAYED_OUT]
        won, won_squares = hands * self.units - played, hands * (hands * self.units - 2 * played) + squares
        yield {"kind": "any", **estimate.share(won, won_squares, self.units, self.level, hands)}


def tables(plan: Plan, tally: NDArray[np.int64], level: float = 0.95) -> dict[str, pl.DataFrame]:
    """Return the tables of a run, or of the part of it that a tally covers.

    `seats`, `leader`, `policies`: share of hands won (first_out), mean place, mean payoff; `length`: means a hand
    played out; `chops`: chops a hand played out by kind; `instant_wins`: share of hands by kind.
    """
    sums = Tally(plan, tally, level)
    rows = {
        "seats": sums.seats(),
        "leader": sums.leader(),
        "policies": sums.policies(),
        "length": sums.length(),
        "chops": sums.chops(),
        "instant_wins": sums.instant_wins(),
    }
    return frames(rows)


def frames(rows: Mapping[str, Iterable[TableRow]]) -> dict[str, pl.DataFrame]:
    """Return a table of the rows of each name."""
    return {name: pl.DataFrame(list(of_table), infer_schema_length=None) for name, of_table in rows.items()}


def headline(plan: Plan, tally: NDArray[np.int64], level: float = 0.95) -> str:
    """Return the estimate that a progress line shows: how often the leader goes out first."""
    row = next(Tally(plan, tally, level).leader())
    return f"leader first out {100 * row['estimate']:.2f} % ± {50 * (row['high'] - row['low']):.2f}"


def hand_tables(plan: Plan, hands: Sequence[Mapping[str, Any]]) -> dict[str, pl.DataFrame]:
    """Return the table of the seats and that of the turns of hands: all transcripts of some units of a plan."""
    seats: list[TableRow] = []
    turns: list[TableRow] = []
    for number, hand in enumerate(hands):
        key = {"match": hand["match"]} if "match" in hand else {}
        key |= {"deal": hand["index"], "seating": number // (plan.match or 1) % len(plan.seatings)}
        for seat, cards in enumerate(hand["hands"]):
            of_seat = {"seat": seat, "policy": hand["policies"][seat], "cards": " ".join(cards)}
            seats.append(key | of_seat | {"place": hand["places"][seat], "payoff": hand["payoffs"][seat]})
        for turn, play in enumerate(hand["plays"]):
            turns.append(key | {"turn": turn, "seat": play["player"], "cards": " ".join(play["cards"])})
    return {"seats": pl.DataFrame(seats), "turns": pl.DataFrame(turns)}
