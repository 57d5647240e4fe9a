"""Make the tables of a simulation from a tally, and those of single hands from transcripts.

A row has one estimate; the columns before `estimate` say of what. The unit of every error bar is the deal, or the
match, with all its seatings. Shares are 0 to 1, payoffs in units.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.engine.tally import (
    CHOPS,
    DECISIONS,
    HANDS,
    LEADER_AT,
    LENGTHS,
    LENGTHS_AT,
    OTHERS_AT,
    OUTCOMES,
    PASSES,
    PILES,
    PLAYED_OUT,
    PLAYS,
    SEATS_AT,
    chops_at,
    instant_at,
    policies_at,
)
from tlsim.play.bounds import instant_payoff, most_decisions, most_payoff
from tlsim.play.plan import Plan
from tlsim.rules.ruleset import INSTANT_WINS, TARGETS, pack
from tlsim.stats import estimate
from tlsim.stats.estimate import SHARE, TableRow
from tlsim.stats.intervals import Interval

PLACE, PAYOFF = OUTCOMES.index("place"), OUTCOMES.index("payoff")
HALF_UNITS = 2  # of a unit, in which payoffs are counted
PLENTIFUL = (PLAYS, DECISIONS, PASSES, PILES)  # lengths that every hand has; the others are events, which may be rare


class Outcomes(NamedTuple):
    """What outcomes an instant win can make, each from the smallest to the largest."""

    first: Interval
    place: Interval
    payoff: Interval


class Tally:
    """A tally with what its sums are divided by: units are deals, or matches of several hands."""

    def __init__(self, plan: Plan, sums: NDArray[np.int64], level: float) -> None:
        self.plan, self.level = plan, level
        self.totals, self.squares, *products = ([int(x) for x in row] for row in sums)
        self.products = products[0] if products else [0] * len(self.totals)
        self.hands = len(plan.seatings) * (plan.match or 1)  # of a unit
        self.units = self.totals[HANDS] // self.hands

        self.seatings = len(plan.seatings)
        self.chop_classes = int(pack(plan.rules, plan.players)[0]["chop_classes"])
        self.has_instant_wins = bool(plan.rules.instant_wins or plan.rules.opening_instant_wins)
        self.most_payoff = most_payoff(plan.rules, plan.players) / HALF_UNITS
        self.instant_payoff = each = instant_payoff(plan.rules, plan.players) / HALF_UNITS
        self.of_seat = Outcomes(SHARE, (1, plan.players), (-each, each * (plan.players - 1)))

    def mean(self, metric: int, scale: float, bounds: Interval, far: Interval | None = None) -> TableRow:
        """Return the mean of a metric over units, divided by `scale`, which cannot be beyond its bounds.

        `far` is what an instant win makes of a unit.
        """
        return self.sums(metric).mean(self.level, scale, bounds, far if self.has_instant_wins else None)

    def payoff(self, metric: int, seats: int, far: Interval) -> TableRow:
        """Return the mean payoff in a hand, where so many seats' add up to the metric of a unit."""
        return self.mean(metric, HALF_UNITS * seats, (-self.most_payoff, self.most_payoff), far)

    def share(self, metric: int, most: int, event: int | None = None, far: Interval | None = None) -> TableRow:
        """Return a metric as a share of what a unit can count; `event` is what one occasion can add, without it all."""
        return self.sums(metric).share(self.level, most, event, far if self.has_instant_wins else None)

    def one_hand_of(self, metric: int, scale: float, far: Interval) -> Interval:
        """Return what a unit's mean a hand is when one of its hands is far out, and the others are as usual."""
        if not self.units:
            return far
        mean, hands = self.totals[metric] / self.units / scale, self.plan.match or 1
        return mean + (far[0] - mean) / hands, mean + (far[1] - mean) / hands

    def by_rule(self, value: float) -> TableRow:
        """Return what the rules fix."""
        return estimate.by_rule(value, self.units, self.level)

    def sums(self, metric: int) -> estimate.Sums:
        """Return the sums of a metric."""
        return estimate.Sums(self.totals[metric], self.squares[metric], self.units)

    def ratio(self, metric: int, by: int) -> estimate.Ratio:
        """Return what the ratio of two metrics needs."""
        sums = (self.totals[metric], self.squares[metric], self.products[metric], self.totals[by], self.squares[by])
        return estimate.Ratio(*sums, self.units)

    def played_out(self, metric: int) -> TableRow:
        """Return a mean a hand played out.

        An instant win hangs on the cards alone: a deal is played out in all its seatings or in none, a match in part.
        What cards make a rare event can make it in all seatings.
        """
        ratio = self.ratio(metric, PLAYED_OUT)
        if metric in PLENTIFUL:
            return ratio.mean(self.level, self.hands, (0, most_decisions(self.plan.rules, self.plan.players)))
        return ratio.count(self.level, self.hands, self.seatings)

    def outcomes(self, at: int, hands: int, far: Outcomes, **keys: Any) -> Iterator[TableRow]:
        """Yield the win rate, mean place and mean payoff of seats that sum up `hands` hands a unit.

        `far` is what an instant win makes of them.
        """
        first, place, payoff = at, at + PLACE, at + PAYOFF
        far_first = self.one_hand_of(first, hands, far.first)
        far_place = self.one_hand_of(place, hands, far.place)
        far_payoff = self.one_hand_of(payoff, HALF_UNITS * hands, far.payoff)
        yield {**keys, "metric": "first_out", **self.share(first, hands, far=far_first)}
        yield {**keys, "metric": "place", **self.mean(place, hands, (1, self.plan.players), far_place)}
        yield {**keys, "metric": "payoff", **self.payoff(payoff, hands, far_payoff)}

    def seats(self) -> Iterator[TableRow]:
        """Yield the outcomes of each seat."""
        for seat in range(self.plan.players):
            yield from self.outcomes(SEATS_AT + len(OUTCOMES) * seat, self.hands, self.of_seat, seat=seat)

    def leader(self) -> Iterator[TableRow]:
        """Yield the outcomes of the leaders of hands, and of the others."""
        yield from self.outcomes(LEADER_AT, self.hands, self.of_seat, role="leader")
        n, each = self.plan.players, self.instant_payoff
        others = n - 1  # they pay the leader, or one of them is paid by all
        far = Outcomes((0, 1 / others), ((1 + (others - 1) * n) / others, n), (-each, each / others))
        yield from self.outcomes(OTHERS_AT, self.hands * others, far, role="others")

    def hands_of(self, policy: int) -> int:
        """Return how many hands a unit the seats of a policy have, by its index."""
        return sum(seating.count(policy) for seating in self.plan.seatings) * (self.plan.match or 1)

    def policies(self) -> Iterator[TableRow]:
        """Yield the outcomes of each policy."""
        n = self.plan.players
        place = (1 + (n - 1) * n) / n
        far = Outcomes((1 / n, 1 / n), (place, place), (0, 0))  # a policy has every seat in as many seatings
        for index, policy in enumerate(self.plan.distinct):
            at, key = policies_at(n) + len(OUTCOMES) * index, {"policy": policy.name}
            rows = self.outcomes(at, self.hands_of(index), far, **key)
            if len(self.plan.distinct) > 1:
                yield from rows
            else:
                yield from self.outcomes_of_all(rows, key)

    def outcomes_of_all(self, rows: Iterable[TableRow], key: TableRow) -> Iterator[TableRow]:
        """Yield the outcomes of a policy in all seats: one seat is first out, and payoffs add up to 0."""
        _, place, _ = rows
        n = self.plan.players
        yield {**key, "metric": "first_out", **self.by_rule(1 / n)}
        yield place | self.place_by_instant_wins(place) if self.plan.rules.ends == "last" else place
        yield {**key, "metric": "payoff", **self.by_rule(0.0)}

    def place_by_instant_wins(self, place: TableRow) -> TableRow:
        """Return the mean place of all seats, where hands are played to the end: it hangs on instant wins alone.

        Places are 1 to n, but after an instant win 1 and, for everybody else, n.
        """
        n = self.plan.players
        usual = (n + 1) / 2
        if not self.has_instant_wins:
            return self.by_rule(usual)
        more, share = (1 + (n - 1) * n) / n - usual, self.any_instant_win()
        return place | {
            "low": usual + more * share["low"],
            "high": usual + more * share["high"],
            "method": "instant wins",
        }

    def length(self) -> Iterator[TableRow]:
        """Yield means a hand played out."""
        for metric, name in enumerate(LENGTHS, LENGTHS_AT):
            is_ruled_out = metric == CHOPS and not self.chop_classes
            yield {"metric": name, **(self.by_rule(0.0) if is_ruled_out else self.played_out(metric))}

    def chops(self) -> Iterator[TableRow]:
        """Yield chops a hand played out, by kind."""
        at = chops_at(self.plan.players, len(self.plan.distinct))
        for index, chop in enumerate(TARGETS):
            if self.chop_classes >> index & 1:
                yield {"chop": chop, **self.played_out(at + index)}

    def instant_wins(self) -> Iterator[TableRow]:
        """Yield the share of hands that are won at once, by kind."""
        rules = self.plan.rules
        at = instant_at(self.plan.players, len(self.plan.distinct))
        for kind in (*rules.instant_wins, *rules.opening_instant_wins):
            yield {"kind": kind, **self.share(at + INSTANT_WINS.index(kind), self.hands, self.seatings)}
        yield {"kind": "any", **(self.any_instant_win() if self.has_instant_wins else self.by_rule(0.0))}

    def any_instant_win(self) -> TableRow:
        """Return the share of hands that are won at once."""
        # A unit with y hands played out has x = h - y won at once, and x² = h² - 2 h y + y².
        hands, played, squares = self.hands, self.totals[PLAYED_OUT], self.squares[PLAYED_OUT]
        won, won_squares = hands * self.units - played, hands * (hands * self.units - 2 * played) + squares
        return estimate.Sums(won, won_squares, self.units).share(self.level, hands, self.seatings)


def tables(plan: Plan, tally: NDArray[np.int64], level: float = 0.95) -> dict[str, pl.DataFrame]:
    """Return the tables of a run, or of the part of it that a tally covers.

    `seats`, `leader`, `policies`: share of hands won (first_out), mean place, mean payoff; `length`: means a hand
    played out; `chops`: chops a hand played out by kind; `instant_wins`: share of hands by kind.
    """
    return frames(rows(plan, tally, level))


def rows(plan: Plan, tally: NDArray[np.int64], level: float = 0.95) -> dict[str, Iterator[TableRow]]:
    """Return the rows of the tables of a run."""
    sums = Tally(plan, tally, level)
    return {
        "seats": sums.seats(),
        "leader": sums.leader(),
        "policies": sums.policies(),
        "length": sums.length(),
        "chops": sums.chops(),
        "instant_wins": sums.instant_wins(),
    }


def frames(rows_of: Mapping[str, Iterable[TableRow]]) -> dict[str, pl.DataFrame]:
    """Return a table of the rows of each name."""
    return {name: pl.DataFrame(list(of_table), infer_schema_length=None) for name, of_table in rows_of.items()}


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
