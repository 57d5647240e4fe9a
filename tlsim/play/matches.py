"""Matches: hands in sequence by the same seats, with carry-over (docs/rules.md, section 5).

Hand `h` of match `m` is the deal `m * hands + h` of the seed, with the same cards and streams. The unit is the match
with all its seatings of the policies: its tally has a third row, the products that errors of ratios need, and behind
the metrics of `tlsim.engine.tally` those of `Layout`.
"""

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim.engine.calls import raise_failed
from tlsim.engine.compile import kernel, spliced
from tlsim.engine.payoffs import first_and_loser
from tlsim.engine.table import ROW
from tlsim.engine.tally import PLAYED_OUT, RARE, add_row, n_metrics
from tlsim.engine.turn import NO_FAULT
from tlsim.engine.view import MAX_SEATS
from tlsim.errors import PlayFault
from tlsim.play import runner, transcript
from tlsim.play.plan import Plan, smallest_plan
from tlsim.play.runner import Block, Runner, play_one, seat_policy
from tlsim.rules.cards import DECK
from tlsim.rules.ruleset import Rules, deal_of

# Metrics of a match, integers that add up over its seatings. First those of its end …
AGAIN, LONGEST, MARGIN = range(3)  # first out again; hands in the longest streak; half units between the first two
UP_AT = 3  # … and by policy: seats that end above 0
# … then for each hand: what it comes to; about streaks as long as its number, counted from 1 …
HAND = ("leader_first_out", "leader_payoff", "instant_win", "plays", "played_out", "again", "begun", "longest")
LEADER_FIRST, LEADER_PAYOFF, INSTANT, PLAYS, PLAYED, REPEATED, BEGUN, LONGEST_IS = range(len(HAND))
# … and by group, which are the policies, then the seats that lead and win the first hand, the totals after it: payoff
# in half units; in parts of one, a share of being ahead: nobody has more, and those who have the same share it.
GROUP = ("payoff", "ahead")
N_ROLES = 2
ONE = 840  # what any number of players shares evenly

# A match being played.
MATCH = np.dtype(
    (
        np.record,
        [
            ("totals", "i8", (MAX_SEATS,)),  # payoffs so far, half units
            ("opening", "i8"),  # how the next hand starts …
            ("leader", "i8"),  # … -1: section 4.3 governs it
            ("dealer", "i8"),  # … -1: the one drawn
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

    @property
    def hands_at(self) -> int:
        """Return the first metric by hand."""
        return UP_AT + self.n_policies

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


def most_payoff(rules: Rules, players: int) -> int:
    """Return a bound on what one seat gets or pays in a hand, half units (section 10).

    Base amounts are largest after an instant win, which no cóng raises above; leftovers and chopped plays cost at most
    what red 2s do, 2 half units a card.
    """
    decks, cards = deal_of(rules, players)
    others = players - 1
    most = {"stake": 2, "places": 4, "cards": 4 * cards}[rules.payoff] * others
    return most + 2 * cards * others * rules.leftover_penalties + 2 * DECK * decks * rules.chop_penalties


# ------------------------------------------------------------------------------------------------ kernels


@spliced
def open_match(rules: Any, match: Any) -> None:
    """Set what is known before the first hand."""
    match.opening, match.leader, match.dealer = 1, -1, -1
    match.streak, match.longest = 0, 0
    for seat in range(rules.players):
        match.totals[seat] = 0


@spliced
def play_next(rules: Any, table: Any, row: Any, match: Any, play_hand: int, seed: Any, deal: int) -> int:
    """Play the next hand of a match, and set how the one after it starts; return the fault."""
    fault = play_one(rules, table, row, play_hand, seed, deal, match.opening, match.leader, match.dealer)
    ends = first_and_loser(rules, row)
    first, loser = ends >> 3, ends & 7
    won_at_once = row.instant >= 0
    match.opening = 1 if won_at_once else 0
    match.leader = -1 if won_at_once or rules.first_lead_every_hand != 0 else first
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
def add_hand(row: Any, match: Any, before: int, x: Any, hands_at: int, stride: int, h: int) -> None:
    """Add what hand `h` comes to; `before` is the streak that it began with, 0 in the first hand."""
    at = hands_at + h * stride
    x[at + LEADER_FIRST] += 1 if row.places[row.leader] == 1 else 0
    x[at + LEADER_PAYOFF] += row.payoffs[row.leader]
    if row.instant >= 0:
        x[at + INSTANT] += 1
    else:
        x[at + PLAYS] += row.plays
        x[at + PLAYED] += 1
    if before != 0:
        at = hands_at + (before - 1) * stride
        x[at + BEGUN] += 1
        if match.streak > before:
            x[at + REPEATED] += 1
            x[AGAIN] += 1


@spliced
def add_totals(rules: Any, match: Any, policy_of_seat: Any, x: Any, at: int, n_policies: int) -> None:
    """Add the totals after a hand to the groups, from metric `at` on."""
    top, n_top = match.totals[0], 0
    for seat in range(rules.players):
        total = match.totals[seat]
        n_top = 1 if total > top or seat == 0 else n_top + 1 if total == top else n_top
        top = max(top, total)
    for seat in range(rules.players):
        total = match.totals[seat]
        ahead = ONE // n_top if total == top else 0
        x[at + 2 * policy_of_seat[seat]] += total
        x[at + 2 * policy_of_seat[seat] + 1] += ahead
        for role in range(N_ROLES):
            if seat == (match.first_leader if role == 0 else match.first_winner):
                x[at + 2 * (n_policies + role)] += total
                x[at + 2 * (n_policies + role) + 1] += ahead


@spliced
def add_end(rules: Any, match: Any, policy_of_seat: Any, x: Any, hands_at: int, stride: int, money: Any) -> None:
    """Add how a match ends; `money[policy, total + most]` counts final totals."""
    x[LONGEST] += match.longest
    x[hands_at + (match.longest - 1) * stride + LONGEST_IS] += 1
    top, second, most = match.totals[0], match.totals[1], money.shape[1] // 2
    top, second = max(top, second), min(top, second)
    for seat in range(rules.players):
        total, policy = match.totals[seat], policy_of_seat[seat]
        if seat > 1:
            second = max(second, min(top, total))
            top = max(top, total)
        x[UP_AT + policy] += 1 if total > 0 else 0
        total = min(max(total, -most), most) + most
        match.low, match.high = min(match.low, total), max(match.high, total)
        money[policy, total] += 1
    x[MARGIN] += top - second


@spliced
def close_match(table: Any, match: Any, x: Any, money: Any, n_plain: int, tally: Any) -> None:
    """Add the sums of a match to its tally, shape `(3, metrics)`, and clear them.

    The products are, of the metrics of hands, those with the number of hands played out; of those of matches, with the
    next metric, which is what each of them is ever divided by.
    """
    played = table.sums[PLAYED_OUT]
    for m in range(n_plain):
        value = table.sums[m]
        tally[0, m] += value
        tally[1, m] += value * value
        tally[2, m] += value * played
        table.sums[m] = 0
    table.any_rare = 0
    for m in range(len(x)):
        value, at = x[m], n_plain + m
        tally[0, at] += value
        tally[1, at] += value * value
        tally[2, at] += value * x[m + 1] if m + 1 < len(x) else 0
        x[m] = 0
    for policy in range(money.shape[0]):
        at, count = n_plain + len(x) + policy * money.shape[1], 0
        for total in range(match.low, match.high + 1):
            n = money[policy, total]
            if n != 0:
                tally[0, at + total] += n
                tally[1, at + total] += n * (2 * count + n)  # (count + n)**2 - count**2
                count += n
                money[policy, total] = 0
    match.low, match.high = money.shape[1], 0


@kernel
def play_matches(
    rules_: Any,
    tables: Any,
    matches: Any,
    seatings: Any,
    policies: Any,
    play_hand: int,
    seed: Any,
    start: int,
    stop: int,
    hands: int,
    rows: Any,
    x: Any,
    money: Any,
    tally: Any,
) -> Any:
    """Play the matches start..stop-1; return the deal and seating of the first fault, or `(-1, 0)`.

    `rows` holds all rows, match by match, seating by seating, or is a single one; `x` and `money` the sums of one
    match, all 0; `play_hand` is an address.
    """
    rules, table, match = rules_[0], tables[0], matches[0]
    n_plain, n_policies = tally.shape[1] - len(x) - money.size, len(policies)
    match.low, match.high = money.shape[1], 0
    hands_at, stride = UP_AT + n_policies, len(HAND) + 2 * (n_policies + N_ROLES)
    for m in range(start, stop):
        for s in range(len(seatings)):
            for seat in range(rules.players):
                seat_policy(table, seat, policies[seatings[s, seat]])
            open_match(rules, match)
            for h in range(hands):
                row = rows[((m - start) * len(seatings) + s) * hands + h if len(rows) > 1 else 0]
                row.seating = s
                before = match.streak
                if play_next(rules, table, row, match, play_hand, seed, m * hands + h) != NO_FAULT:
                    return m * hands + h, s
                add_row(rules, table, row, seatings[s], n_plain - RARE)
                add_hand(row, match, before, x, hands_at, stride, h)
                add_totals(rules, match, seatings[s], x, hands_at + h * stride + len(HAND), n_policies)
            add_end(rules, match, seatings[s], x, hands_at, stride, money)
        close_match(table, match, x, money, n_plain, tally)
    return -1, 0


@kernel
def play_next_hand(
    rules_: Any, tables: Any, rows: Any, matches: Any, seating: Any, policies: Any, play_hand: int, seed: Any, deal: int
) -> int:
    """Play one more hand of a match, with `streak` 0 the first; return its fault."""
    rules, table, match = rules_[0], tables[0], matches[0]
    if match.streak == 0:
        open_match(rules, match)
        for seat in range(rules.players):
            seat_policy(table, seat, policies[seating[seat]])
    return play_next(rules, table, rows[0], match, play_hand, seed, deal)


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
        where, hands = layout(self.plan), self.plan.match or 0
        table, match = self.new_table(), np.zeros(1, MATCH).view(np.recarray)
        rows = np.zeros(len(self.seatings) * hands * (stop - start) if keep else 1, ROW).view(np.recarray)
        x, money = np.zeros(where.money_at, np.int64), np.zeros((where.n_policies, where.bins), np.int64)
        tally = np.zeros((3, where.start + where.size), np.int64)
        plan = (self.rules, table, match, self.seatings, self.policies, self.play_hand, self.seed)
        deal, seating = play_matches(*plan, start, stop, hands, rows, x, money, tally)
        raise_failed()
        if deal >= 0:
            raise PlayFault(self._describe_fault(table, int(deal), int(seating)))
        return Block(start, stop, tally, rows if keep else None, time.perf_counter() - began)

    def hands(self, number: int, seating: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield the table and the row after each hand of a match."""
        hands = self.plan.match or 0
        table, match = self.new_table(), np.zeros(1, MATCH).view(np.recarray)
        rows, seats = np.zeros(1, ROW).view(np.recarray), self.seatings[seating]
        for deal in range(number * hands, (number + 1) * hands):
            rest = (match, seats, self.policies, self.play_hand, self.seed, deal)
            fault = play_next_hand(self.rules, table, rows, *rest)
            raise_failed()
            if fault != NO_FAULT:
                raise PlayFault(self._describe_fault(table, deal, seating))
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
            given = {"match": number, "seed": plan.seed, "policies": [plan.distinct[index].name for index in seats]}
            for table, row in runner.hands(number, seating):
                yield transcript.transcript(plan.rules, table, row, plan.players, index=int(row["deal"]), **given)


def load(plan: Plan) -> None:
    """Compile the kernels that a plan of matches needs, or load them from the cache."""
    MatchRunner(plan).play(0, 1)


def warm_up() -> None:
    """Compile the kernels of matches, or load them from the cache."""
    plan = smallest_plan(1)
    load(plan)
    next(hands(plan, 0, 1))
