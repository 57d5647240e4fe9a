"""Places and payoffs of a hand, in half units (docs/rules.md, sections 4.8 and 10)."""

import numpy as np

from tlsim.engine import two_decks
from tlsim.engine.bits import lowest_bit, popcount
from tlsim.engine.choices import PAYOFF_PLACES, PAYOFF_STAKE
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.features import leftover
from tlsim.engine.table import Row, Table
from tlsim.rules.cards import Mask, Seat
from tlsim.rules.ruleset import RulesRecord


@inline
def cards_left(table: Table, seat: Seat) -> int:
    """Return the number of cards that a seat holds now."""
    return popcount(table.hands[seat]) + popcount(table.hands_second[seat])


@function
def place_the_rest(rules: RulesRecord, table: Table, row: Row, holding: Mask) -> None:
    """Place those who still hold cards (section 4.8): by cards held, equal numbers share the better place."""
    n_out = rules.players - popcount(holding)
    if n_out == rules.players - 1:
        row.places[lowest_bit(holding)] = rules.players
        return
    for seat in range(rules.players):
        if holding >> seat & 1:
            better = 0
            for other in range(rules.players):
                if holding >> other & 1 and cards_left(table, other) < cards_left(table, seat):
                    better += 1
            row.places[seat] = n_out + 1 + better


@function
def furthest_of_last(rules: RulesRecord, row: Row, first: Seat) -> Seat:
    """Return the seat of the loser where last places are shared: the one furthest to the left of the first."""
    worst, loser = 0, 0
    for step in range(1, rules.players):
        seat = (first + step) % rules.players
        if row.places[seat] >= worst:
            worst, loser = row.places[seat], seat
    return loser


@inline
def first_and_loser(rules: RulesRecord, row: Row) -> int:
    """Return `first << 3 | loser` (section 4.8)."""
    first, loser = 0, -1
    for seat in range(rules.players):
        place = row.places[np.uint64(seat)]
        first = seat if place == 1 else first
        loser = seat if place == rules.players else loser
    if loser < 0:
        loser = furthest_of_last(rules, row, first)
    return first << 3 | loser


@function
def pay_by_place(rules: RulesRecord, row: Row, first: Seat) -> None:
    """Pay +m … +1 (0) -1 … -m by place, equal places in turn order from the winner's left (section 10)."""
    n = rules.players
    m = n // 2
    for step in range(n):
        seat = (first + step) % n
        rank = 0
        for other_step in range(n):
            other = (first + other_step) % n
            if row.places[other] < row.places[seat] or (row.places[other] == row.places[seat] and other_step < step):
                rank += 1
        row.payoffs[seat] = 2 * (m - rank if rank < m else n - m - 1 - rank)


@function
def pay_base(rules: RulesRecord, table: Table, row: Row, first: Seat, loser: Seat) -> None:
    """Pay what the places come to, penalties apart (section 10)."""
    if rules.payoff == PAYOFF_STAKE:
        for seat in range(rules.players):
            row.payoffs[seat] = 2
        row.payoffs[loser] = -2 * (rules.players - 1)
    elif rules.payoff == PAYOFF_PLACES:
        pay_by_place(rules, row, first)
    else:
        row.payoffs[first] = 0
        for step in range(1, rules.players):
            seat = (first + step) % rules.players
            row.payoffs[seat] = -2 * cards_left(table, seat)
            row.payoffs[first] += 2 * cards_left(table, seat)


@spliced
def pay(rules: RulesRecord, table: Table, row: Row, holding: Mask) -> None:
    """Pay the end of a hand that was played out, in half units (section 10); `holding`: who still holds cards."""
    ends = first_and_loser(rules, row)
    first = ends >> 3
    pay_base(rules, table, row, first, ends & 7)
    while holding != 0:  # nobody else pays first place more
        seat = np.uint64(lowest_bit(holding))
        holding &= holding - 1
        extra = 0
        left_all = table.hands[seat] == table.dealt[seat] and table.hands_second[seat] == table.dealt_second[seat]
        if rules.cong and row.payoffs[seat] < 0 and left_all:
            extra -= row.payoffs[seat]
        if rules.leftover_penalties:
            hand = table.hands[seat]
            if rules.decks == 2:
                extra += two_decks.leftover(rules, hand, table.hands_second[seat])
            else:
                extra += leftover(rules, hand)
        if extra != 0:
            row.payoffs[seat] -= extra
            row.payoffs[np.uint64(first)] += extra
    if rules.chop_penalties:
        for seat in range(rules.players):
            row.payoffs[seat] += table.owed[seat]


@function
def pay_instant_win(rules: RulesRecord, row: Row, winner: Seat) -> None:
    """Place and pay an instant win, in half units (sections 4.8 and 10)."""
    each = 4 * rules.cards
    if rules.payoff == PAYOFF_STAKE:
        each = 2
    elif rules.payoff == PAYOFF_PLACES:
        each = 4
    for seat in range(rules.players):
        row.places[seat] = rules.players
        row.payoffs[seat] = -each
    row.places[winner] = 1
    row.payoffs[winner] = each * (rules.players - 1)
