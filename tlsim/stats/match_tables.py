"""Make the tables of matches: what `tlsim.stats.tables` shows, then hand by hand, streaks, and money over a match.

The unit of every error bar is the match with all its seatings.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.play.bounds import ONE, most_decisions
from tlsim.play.matches import (
    AGAIN,
    BEGUN,
    GROUP,
    HAND,
    INSTANT,
    LEADER_FIRST,
    LEADER_PAYOFF,
    LONGEST,
    LONGEST_IS,
    MARGIN,
    N_ROLES,
    PLAYED,
    PLAYS,
    REPEATED,
    SQUARES_REST,
    SQUARES_TIMES,
    TOTAL,
    UP,
    layout,
)
from tlsim.play.plan import Plan
from tlsim.stats import tables as tables_of_hands
from tlsim.stats.estimate import SHARE, Deviation, Distribution, TableRow
from tlsim.stats.tables import HALF_UNITS, Tally

QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
ROLES = ("first_leader", "first_winner")


class MatchTally(Tally):
    """A tally of matches; metrics are counted from the first one of matches."""

    def __init__(self, plan: Plan, sums: NDArray[np.int64], level: float) -> None:
        self.where = layout(plan)
        self.start = self.where.start
        super().__init__(plan, sums[:, : self.start + self.where.money_at], level)
        self.money_sums = sums[:2, self.start + self.where.money_at :]
        self.length_of_match = plan.match or 0
        self.most_total = self.where.most / HALF_UNITS

    def at(self, hand: int, metric: int) -> int:
        """Return where a metric of a hand stands in the tally, hands counted from 0."""
        return self.start + self.where.hands_at + hand * self.where.stride + metric

    def by_hand(self) -> Iterator[TableRow]:
        """Yield the outcome of the leader, plays and instant wins of each hand."""
        rules = self.plan.rules
        plays_bounds = 0, most_decisions(rules, self.plan.players)
        for hand in range(self.length_of_match):
            key = {"hand": hand + 1}
            plays = self.ratio(self.at(hand, PLAYS), self.at(hand, PLAYED))
            instant = self.share(self.at(hand, INSTANT), self.seatings)
            first_out = self.share(self.at(hand, LEADER_FIRST), self.seatings, far=SHARE)
            payoff = self.payoff(self.at(hand, LEADER_PAYOFF), self.seatings, self.of_seat.payoff)
            yield {**key, "metric": "leader_first_out", **first_out}
            yield {**key, "metric": "leader_payoff", **payoff}
            yield {**key, "metric": "plays", **plays.mean(self.level, bounds=plays_bounds)}
            yield {**key, "metric": "instant_win", **(instant if self.has_instant_wins else self.by_rule(0.0))}

    def match(self) -> Iterator[TableRow]:
        """Yield how often the first out of a hand is so again, the longest streak and the margin at the end."""
        hands, bounds = self.length_of_match, (0, 2 * self.most_total)
        longest = self.mean(self.start + LONGEST, self.seatings, (1, hands))
        if hands > 1:
            yield {"metric": "first_out_again", **self.share(self.start + AGAIN, self.seatings * (hands - 1))}
        yield {"metric": "longest_streak", **(longest if hands > 1 else self.by_rule(1.0))}
        yield {"metric": "margin", **self.mean(self.start + MARGIN, HALF_UNITS * self.seatings, bounds)}

    def streaks(self) -> Iterator[TableRow]:
        """Yield for each length of a streak how often it goes on, and how often it is the longest of a match."""
        for hand in range(self.length_of_match):
            begun, longest = (self.at(hand, metric) for metric in (BEGUN, LONGEST_IS))
            if not (self.totals[begun] or self.totals[longest]):
                return
            key = {"wins": hand + 1}
            again = self.ratio(self.at(hand, REPEATED), begun).share(self.level, self.seatings)
            of_matches = self.share(longest, self.seatings)
            yield {**key, "metric": "again", **again}
            yield {**key, "metric": "longest", **(of_matches if self.length_of_match > 1 else self.by_rule(1.0))}

    def totals_after(self, after: int, group: int, seats: int, prefix: str = "", **keys: Any) -> Iterator[TableRow]:
        """Yield the mean total of a group after a hand, and how often one of its seats is ahead.

        An instant win moves the total of a role, which is one seat in all seatings.
        """
        payoff, ahead = (self.at(after, len(HAND) + len(GROUP) * group + k) for k in range(len(GROUP)))
        far_total = far_ahead = None
        if prefix and self.units:
            total = self.totals[payoff] / self.units / HALF_UNITS / seats
            far_total, far_ahead = (total + self.of_seat.payoff[0], total + self.of_seat.payoff[1]), SHARE
        mean = self.mean(payoff, HALF_UNITS * seats, (-self.most_total, self.most_total), far_total)
        share = self.share(ahead, ONE * seats, far=far_ahead)
        if seats == self.seatings * self.plan.players:  # all seats: payoffs add up to 0, and one is ahead
            mean, share = self.by_rule(0.0), self.by_rule(1 / self.plan.players)
        yield {**keys, "metric": prefix + "payoff", **mean}
        yield {**keys, "metric": prefix + "ahead", **share}

    def roles(self) -> Iterator[TableRow]:
        """Yield the totals, after each hand, of the seats that lead and that win the first hand."""
        for hand in range(self.length_of_match):
            for role in range(N_ROLES):
                group, prefix = self.where.n_policies + role, ROLES[role] + "_"
                yield from self.totals_after(hand, group, self.seatings, prefix, hand=hand + 1)

    def seats_of(self, policy: int) -> int:
        """Return how many seats a policy has in all seatings of a match."""
        return self.hands_of(policy) // self.length_of_match

    def running(self) -> Iterator[TableRow]:
        """Yield the totals of each policy after each hand."""
        for index, policy in enumerate(self.plan.distinct):
            for hand in range(self.length_of_match):
                yield from self.totals_after(hand, index, self.seats_of(index), policy=policy.name, hand=hand + 1)

    def distribution(self, policy: int) -> Distribution:
        """Return how often a seat of a policy has each total at the end of a match, counted in half units."""
        first = policy * self.where.bins
        counts, squares = self.money_sums[:, first : first + self.where.bins]
        seen = np.flatnonzero(counts)
        totals = (seen - self.where.most).tolist()
        return Distribution(totals, counts[seen].tolist(), squares[seen].tolist(), self.units, self.level, HALF_UNITS)

    def deviation(self, policy: int) -> TableRow:
        """Return the standard deviation of the totals of the seats of a policy."""
        at = self.start + self.where.policy_at(policy)
        total, rest, times = at + TOTAL, at + SQUARES_REST, at + SQUARES_TIMES
        most, size = self.where.most, self.seats_of(policy)  # the squares of a total are times * most + rest
        sums = Deviation(
            a=self.totals[total],
            b=most * self.totals[times] + self.totals[rest],
            aa=self.squares[total],
            ab=most * self.products[times] + self.products[total],
            bb=most**2 * self.squares[times] + 2 * most * self.products[rest] + self.squares[rest],
            n=self.units,
            size=size,
        )
        return sums.row(self.level, HALF_UNITS, most)

    def money(self) -> Iterator[TableRow]:
        """Yield what a match pays a seat of each policy: mean, deviation, and how often it is ahead and above 0."""
        for index, policy in enumerate(self.plan.distinct):
            key, above_0 = {"policy": policy.name}, self.start + self.where.policy_at(index) + UP
            payoff, ahead = self.totals_after(self.length_of_match - 1, index, self.seats_of(index), **key)
            yield payoff
            yield {**key, "metric": "deviation", **self.deviation(index)}
            yield ahead
            yield {**key, "metric": "above_0", **self.share(above_0, self.seats_of(index))}

    def quantiles(self) -> Iterator[TableRow]:
        """Yield the quantiles of what a match pays a seat of each policy."""
        for index, policy in enumerate(self.plan.distinct):
            totals = self.distribution(index)
            for q in QUANTILES:
                yield {"policy": policy.name, "quantile": q, **totals.quantile(q)}


def tables(plan: Plan, tally: NDArray[np.int64], level: float = 0.95) -> dict[str, pl.DataFrame]:
    """Return the tables of a run of matches, or of the part of it that a tally covers.

    The first are those of `tlsim.stats.tables.tables`, by hand. Then:

    - `by_hand`: by number of the hand, the leader's share of hands won and payoff, plays a hand played out, and the
      share of instant wins.
    - `match`: the share of hands after the first won by who won the one before; hands in the longest streak; units
      between the first two at the end.
    - `streaks`: the share won again by who has won so many in a row; the share of matches whose longest streak it is.
    - `first_hand`: of the seats that lead and win the first hand, after each hand, the mean total and the share of
      matches in which nobody has more (shared when equal). `running`: the same by policy, if there are several.
    - `money`: by policy, the mean and standard deviation of a seat's total in a match, and the shares of seats that end
      ahead and above 0. `quantiles`: of that total.
    """
    return tables_of_hands.frames(rows(plan, tally, level))


def rows(plan: Plan, tally: NDArray[np.int64], level: float = 0.95) -> dict[str, Iterator[TableRow]]:
    """Return the rows of the tables of a run of matches."""
    sums = MatchTally(plan, tally, level)
    rows_of = tables_of_hands.rows(plan, tally[:, : sums.start], level) | {
        "by_hand": sums.by_hand(),
        "match": sums.match(),
        "streaks": sums.streaks(),
        "first_hand": sums.roles(),
    }
    if len(plan.distinct) > 1:
        rows_of["running"] = sums.running()
    return rows_of | {"money": sums.money(), "quantiles": sums.quantiles()}
