"""Matches: hands in sequence by the same seats, with carry-over (docs/rules.md, section 5).

Hand `h` of match `m` is the deal `m * hands + h` of the seed, with the same cards and streams. The unit is the match
with all its seatings of the policies: its tally has a third row, the products that errors of ratios need, and behind
the metrics of `tlsim.engine.tally` those of `Layout`.
"""

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tlsim.engine.calls import raise_failed
from tlsim.engine.compile import inline, kernel, spliced
from tlsim.engine.faults import NO_FAULT
from tlsim.engine.hand import GOVERNED
from tlsim.engine.payoffs import first_and_loser
from tlsim.engine.sums import add_row
from tlsim.engine.table import ROW, Row, Table
from tlsim.engine.tally import PLAYED_OUT, RARE, Tally, n_metrics
from tlsim.engine.view import MAX_SEATS
from tlsim.errors import PlayFault
from tlsim.play import faulttext, runner, transcript
from tlsim.play.bounds import ONE, most_payoff
from tlsim.play.plan import Plan, smallest_plan
from tlsim.play.runner import DRAWN, Block, Opening, PackedPlan, Runner, play_one, seat_policy
from tlsim.rules.ruleset import RulesRecord

# Metrics of a match, integers that add up over its seatings. First those of its end …
AGAIN, LONGEST, MARGIN = range(3)  # first out again; hands in the longest streak; half units between the first two
POLICIES_AT = 3
# … and by policy: seats that end above 0; of their totals, half units, the sum, and the sum of the squares as so many
# times the largest total and a rest. The sum comes twice, since products are those with the next metric.
OF_POLICY = ("up", "total", "squares_rest", "squares_times", "total_again")
UP, TOTAL, SQUARES_REST, SQUARES_TIMES, TOTAL_AGAIN = range(len(OF_POLICY))
# … then for each hand: what it comes to; about streaks as long as its number, counted from 1 …
HAND = ("leader_first_out", "leader_payoff", "instant_win", "plays", "played_out", "again", "begun", "longest")
LEADER_FIRST, LEADER_PAYOFF, INSTANT, PLAYS, PLAYED, REPEATED, BEGUN, LONGEST_IS = range(len(HAND))
# … and by group, which are the policies, then the seats that lead and win the first hand, the totals after it: payoff
# in half units; in parts of one, a share of being ahead: nobody has more, and those who have the same share it.
GROUP = ("payoff", "ahead")
N_ROLES = 2

MATCH = np.dtype(
    (
        np.record,
        [
            ("totals", "i8", (MAX_SEATS,)),  # payoffs so far, half units
            ("opening", "i8"),  # how the next hand starts …
            ("leader", "i8"),  # … GOVERNED: section 4.3 says who leads
            ("dealer", "i8"),  # … DRAWN: the one drawn
            ("first_leader", "i8"),
            ("first_winner", "i8"),
            ("winner", "i8"),  # first out of the last hand, and of how many in a row
            ("streak", "i8"),
            ("longest", "i8"),
            ("low", "i8"),  # the bins of the final totals of all seatings so far
            ("high", "i8"),
        ],
    )
)

Match: TypeAlias = np.record
"""A match being played, a record of dtype `MATCH`."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the metrics of a match are, counted from the first one in its tally (`start`).

    From `money_at` on there are, for each policy, the final totals of its seats counted in `bins` half units from
    `-most` on; their squares are those of the number of totals up to there in a match, so that the sums up to a total
    tell the error of a share of totals.
    """

    start: int
    n_policies: int
    hands: int
    most: int

    def policy_at(self, policy: int) -> int:
        """Return the first metric of the end by policy."""
        return POLICIES_AT + policy * len(OF_POLICY)

    @property
    def hands_at(self) -> int:
        """Return the first metric by hand."""
        return self.policy_at(self.n_policies)

    @property
    def stride(self) -> int:
        """Return the number of metrics by hand."""
        return len(HAND) + len(GROUP) * (self.n_policies + N_ROLES)

    @property
    def money_at(self) -> int:
        """Return the first bin of totals."""
        return self.hands_at + self.hands * self.stride

    @property
    def bins(self) -> int:
        """Return the number of totals that are possible."""
        return 2 * self.most + 1

    @property
    def size(self) -> int:
        """Return the number of metrics, bins included."""
        return self.money_at + self.n_policies * self.bins


def layout(plan: Plan) -> Layout:
    """Return the layout of the tally of a plan of matches."""
    n_policies, hands = len(plan.distinct), plan.match or 0
    most = hands * most_payoff(plan.rules, plan.players)
    return Layout(n_metrics(plan.players, n_policies), n_policies, hands, most)


# ------------------------------------------------------------------------------------------------ kernels


class Place(NamedTuple):
    """Where a match is played."""

    tables: NDArray[Any]  # shape (1,), dtype TABLE
    matches: NDArray[Any]  # shape (1,), dtype MATCH


class MatchSums(NamedTuple):
    """The sums over the seatings of one match; all 0 before and after."""

    metrics: NDArray[np.int64]  # see `Layout`
    money: NDArray[np.int64]  # shape (policies, bins): how many seats end with each total, in half units


class MatchResults(NamedTuple):
    """What a block of matches comes to."""

    rows: NDArray[Any]  # match by match, seating by seating, hand by hand; or one, which is written over
    tally: Tally  # with a third row, the products


@inline
def hand_at(n_policies: int, hand: int) -> int:
    """Return the first metric of a hand of a match; see `Layout`."""
    return POLICIES_AT + n_policies * len(OF_POLICY) + hand * (len(HAND) + len(GROUP) * (n_policies + N_ROLES))


@spliced
def open_match(rules: RulesRecord, match: Match) -> None:
    """Set what is known before the first hand."""
    match.opening, match.leader, match.dealer = 1, GOVERNED, DRAWN
    match.streak, match.longest = 0, 0
    for seat in range(rules.players):
        match.totals[seat] = 0


@spliced
def play_next(rules: RulesRecord, table: Table, row: Row, match: Match, plan: PackedPlan, deal: int) -> int:
    """Play the next hand of a match, and set how the one after it starts; return the fault."""
    fault = play_one(rules, table, row, plan, deal, Opening(match.opening, match.leader, match.dealer))
    ends = first_and_loser(rules, row)
    first, loser = ends >> 3, ends & 7
    won_at_once = row.instant >= 0
    match.opening = 1 if won_at_once else 0
    match.leader = GOVERNED if won_at_once or rules.first_lead_every_hand != 0 else first
    match.dealer = (first + rules.players - 1) % rules.players if won_at_once else loser
    if match.streak == 0:
        match.first_leader, match.first_winner = row.leader, first
    match.streak = match.streak + 1 if match.streak != 0 and first == match.winner else 1
    match.winner = first
    match.longest = max(match.longest, match.streak)
    for seat in range(rules.players):
        match.totals[seat] += row.payoffs[seat]
    return fault


@spliced
def add_hand(sums: MatchSums, row: Row, match: Match, streak_before: int, hand: int) -> None:
    """Add what a hand comes to; `streak_before` is the streak that it began with, 0 in the first hand."""
    metrics, n_policies = sums.metrics, len(sums.money)
    at = hand_at(n_policies, hand)
    metrics[at + LEADER_FIRST] += 1 if row.places[row.leader] == 1 else 0
    metrics[at + LEADER_PAYOFF] += row.payoffs[row.leader]
    if row.instant >= 0:
        metrics[at + INSTANT] += 1
    else:
        metrics[at + PLAYS] += row.plays
        metrics[at + PLAYED] += 1
    if streak_before != 0:
        at = hand_at(n_policies, streak_before - 1)
        metrics[at + BEGUN] += 1
        if match.streak > streak_before:
            metrics[at + REPEATED] += 1
            metrics[AGAIN] += 1


@spliced
def count_ahead(rules: RulesRecord, match: Match) -> tuple[int, int]:
    """Return the highest total, and how many seats have it."""
    top, n_top = match.totals[0], 1
    for seat in range(1, rules.players):
        total = match.totals[seat]
        if total > top:
            top, n_top = total, 1
        elif total == top:
            n_top += 1
    return top, n_top


@spliced
def add_totals(sums: MatchSums, rules: RulesRecord, match: Match, policy_of_seat: NDArray[np.int64], hand: int) -> None:
    """Add the totals after a hand to its groups."""
    metrics, n_policies = sums.metrics, len(sums.money)
    at = hand_at(n_policies, hand) + len(HAND)
    top, n_top = count_ahead(rules, match)
    for seat in range(rules.players):
        total = match.totals[seat]
        ahead = ONE // n_top if total == top else 0
        of_policy = at + len(GROUP) * policy_of_seat[seat]
        metrics[of_policy] += total
        metrics[of_policy + 1] += ahead
        for role in range(N_ROLES):
            if seat == (match.first_leader if role == 0 else match.first_winner):
                of_role = at + len(GROUP) * (n_policies + role)
                metrics[of_role] += total
                metrics[of_role + 1] += ahead


@spliced
def add_total(metrics: NDArray[np.int64], at: int, total: int, most: int) -> None:
    """Add the total of a seat to the metrics of its policy from `at` on; no total is further from 0 than `most`."""
    times = total * total // most
    metrics[at + UP] += 1 if total > 0 else 0
    metrics[at + TOTAL] += total
    metrics[at + SQUARES_REST] += total * total - times * most
    metrics[at + SQUARES_TIMES] += times
    metrics[at + TOTAL_AGAIN] += total


@spliced
def add_end(sums: MatchSums, rules: RulesRecord, match: Match, policy_of_seat: NDArray[np.int64]) -> None:
    """Add how a match ends."""
    metrics, money = sums.metrics, sums.money
    metrics[LONGEST] += match.longest
    metrics[hand_at(len(money), match.longest - 1) + LONGEST_IS] += 1
    top, second, most = match.totals[0], match.totals[1], money.shape[1] // 2
    top, second = max(top, second), min(top, second)
    for seat in range(rules.players):
        total, policy = match.totals[seat], policy_of_seat[seat]
        if seat > 1:
            second = max(second, min(top, total))
            top = max(top, total)
        add_total(metrics, POLICIES_AT + policy * len(OF_POLICY), total, most)
        total = min(max(total, -most), most) + most
        match.low, match.high = min(match.low, total), max(match.high, total)
        money[policy, total] += 1
    metrics[MARGIN] += top - second


@spliced
def close_match(sums: MatchSums, table: Table, match: Match, tally: Tally) -> None:
    """Add the sums of a match to its tally, shape `(3, metrics)`, and clear them.

    The products are, of the metrics of hands, those with the number of hands played out; of those of matches, with the
    next metric, which is what each of them is ever divided by.
    """
    metrics, money = sums.metrics, sums.money
    n_plain = tally.shape[1] - len(metrics) - money.size
    played = table.sums[PLAYED_OUT]
    for m in range(n_plain):
        value = table.sums[m]
        tally[0, m] += value
        tally[1, m] += value * value
        tally[2, m] += value * played
        table.sums[m] = 0
    table.any_rare = 0
    for m in range(len(metrics)):
        value, at = metrics[m], n_plain + m
        tally[0, at] += value
        tally[1, at] += value * value
        tally[2, at] += value * metrics[m + 1] if m + 1 < len(metrics) else 0
        metrics[m] = 0
    for policy in range(money.shape[0]):
        at, count = n_plain + len(metrics) + policy * money.shape[1], 0
        for total in range(match.low, match.high + 1):
            n = money[policy, total]
            if n != 0:
                tally[0, at + total] += n
                tally[1, at + total] += n * (2 * count + n)  # (count + n)**2 - count**2
                count += n
                money[policy, total] = 0
    match.low, match.high = money.shape[1], 0


@spliced
def seat_all(table: Table, plan: PackedPlan, seats: NDArray[np.int64]) -> None:
    """Put the policies of a seating in their seats."""
    for seat in range(len(seats)):
        seat_policy(table, seat, plan.policies[seats[seat]])


@kernel
def play_matches(
    plan: PackedPlan,
    place: Place,
    start: int,
    stop: int,
    sums: MatchSums,
    results: MatchResults,
) -> tuple[int, int]:
    """Play the matches start..stop-1; return the deal and seating of the first fault, or `(-1, 0)`."""
    rules, table, match = plan.rules[0], place.tables[0], place.matches[0]
    rows, tally, hands, n_seatings = results.rows, results.tally, plan.hands, len(plan.seatings)
    rare_at = tally.shape[1] - len(sums.metrics) - sums.money.size - RARE
    match.low, match.high = sums.money.shape[1], 0
    for m in range(start, stop):
        for seating in range(n_seatings):
            seats = plan.seatings[seating]
            seat_all(table, plan, seats)
            open_match(rules, match)
            for hand in range(hands):
                row = rows[((m - start) * n_seatings + seating) * hands + hand if len(rows) > 1 else 0]
                row.seating = seating
                streak_before = match.streak
                if play_next(rules, table, row, match, plan, m * hands + hand) != NO_FAULT:
                    return m * hands + hand, seating
                add_row(rules, table, row, seats, rare_at)
                add_hand(sums, row, match, streak_before, hand)
                add_totals(sums, rules, match, seats, hand)
            add_end(sums, rules, match, seats)
        close_match(sums, table, match, tally)
    return -1, 0


@kernel
def play_next_hand(plan: PackedPlan, place: Place, rows: NDArray[Any], seating: int, deal: int) -> int:
    """Play one more hand of a match, with `streak` 0 the first; return its fault."""
    rules, table, match = plan.rules[0], place.tables[0], place.matches[0]
    if match.streak == 0:
        open_match(rules, match)
        seat_all(table, plan, plan.seatings[seating])
    return play_next(rules, table, rows[0], match, plan, deal)


KERNELS = [play_matches, play_next_hand]


# ------------------------------------------------------------------------------------------------ many matches


def kernels_of(plan: Plan, shown: bool = False) -> list[Any]:
    """Return the kernels that play a plan of matches; `shown` for transcripts."""
    return [runner.kernels(plan, shown)[0], play_next_hand if shown else play_matches]


class MatchRunner(Runner):
    """The arrays of a plan of matches; `play` runs one block and may be called from any thread."""

    def play(self, start: int, stop: int, keep: bool = False) -> Block:
        """Return one block; raise `PlayFault` at the first fault in it."""
        began = time.perf_counter()
        where, hands = layout(self.plan), self.packed.hands
        table, match = self.new_table(), np.zeros(1, MATCH).view(np.recarray)
        rows = np.zeros(len(self.plan.seatings) * hands * (stop - start) if keep else 1, ROW).view(np.recarray)
        sums = MatchSums(np.zeros(where.money_at, np.int64), np.zeros((where.n_policies, where.bins), np.int64))
        results = MatchResults(rows, np.zeros((3, where.start + where.size), np.int64))
        deal, seating = play_matches(self.packed, Place(table, match), start, stop, sums, results)
        raise_failed()
        if deal >= 0:
            raise PlayFault(faulttext.describe(self.plan, table[0], int(deal), int(seating)))
        return Block(start, stop, results.tally, rows if keep else None, time.perf_counter() - began)

    def hands(self, number: int, seating: int) -> Iterator[tuple[Table, Row]]:
        """Yield the table and the row after each hand of a match."""
        hands = self.packed.hands
        table, match = self.new_table(), np.zeros(1, MATCH).view(np.recarray)
        rows = np.zeros(1, ROW).view(np.recarray)
        for deal in range(number * hands, (number + 1) * hands):
            fault = play_next_hand(self.packed, Place(table, match), rows, seating, deal)
            raise_failed()
            if fault != NO_FAULT:
                raise PlayFault(faulttext.describe(self.plan, table[0], deal, seating))
            rows[0]["deal"], rows[0]["seating"] = deal, seating
            yield table[0], rows[0]


def blocks(
    plan: Plan, threads: int = 1, start: int = 0, keep_rows: bool = False, block: int | None = None
) -> Generator[Block]:
    """Yield the blocks of a plan of matches, as `tlsim.play.runner.blocks` does those of deals."""
    return runner.blocks(plan, threads, start, keep_rows, block, MatchRunner)


def hands(plan: Plan, first: int, stop: int) -> Iterator[dict[str, Any]]:
    """Yield a transcript (docs/rules.md, section 11) of every hand of the matches first..stop-1, seating by seating."""
    runner = MatchRunner(plan, shown=True)
    for number in range(first, stop):
        for seating, seats in enumerate(plan.seatings):
            policies = [plan.distinct[index].name for index in seats]
            origin = {"match": number, "seed": plan.seed, "policies": policies}
            for table, row in runner.hands(number, seating):
                yield transcript.transcript(plan.rules, table, row, plan.players, index=int(row["deal"]), **origin)


def load(plan: Plan) -> None:
    """Compile the kernels that a plan of matches needs, or load them from the cache."""
    MatchRunner(plan).play(0, 1)


def warm_up() -> None:
    """Compile the kernels of matches, or load them from the cache."""
    plan = smallest_plan(1)
    load(plan)
    next(hands(plan, 0, 1))
