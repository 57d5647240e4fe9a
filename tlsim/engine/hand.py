"""One hand from deal to payoffs (docs/rules.md, sections 4 to 6 and 10).

A `TABLE` is all that one thread needs to play hands: the hidden cards, the view, the streams and the policies. Every
hand leaves its result in a `ROW`, and its turns in the view. A hand is played pile by pile (`engine.pile`), a pile turn
by turn (`engine.turn`), and every play is checked (`engine.faults`).
"""

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from tlsim.engine import two_decks
from tlsim.engine.bits import lowest_bit, popcount, unlikely
from tlsim.engine.choices import FIRST_LEAD_ALONE, FIRST_LEAD_FREE
from tlsim.engine.compile import inline, scalar_kernel, spliced
from tlsim.engine.faults import NO_FAULT
from tlsim.engine.features import instant_kind, instant_win
from tlsim.engine.mode import (
    ANY,
    ANY_TWO_DECKS,
    LOWEST_ALONE,
    PLAIN,
    PLAIN_TWO_DECKS,
    RANDOM_ALONE,
    SHOWN,
    Mode,
)
from tlsim.engine.payoffs import pay, pay_instant_win, place_the_rest
from tlsim.engine.pile import answer_pile, is_over, lead_pile, new_pile, passes_of, piles_of, settle_pile, turns_of
from tlsim.engine.policies import LOWEST, RANDOM, lowest, random
from tlsim.engine.rng import open_lane
from tlsim.engine.table import Row, Table
from tlsim.engine.turn import choose_at_random, next_seat
from tlsim.rules.cards import TWOS, Mask, Seat
from tlsim.rules.ruleset import N_TARGETS, RulesRecord

GOVERNED = -1  # as the leader: section 4.3 says who leads, and what that must hold
NO_INSTANT_WIN = -1  # as the seat that has one, or its kind
_WORST_PRIORITY = 1 << 8  # of an instant win; more than there are

# ------------------------------------------------------------------------------------------------ before the first lead


@spliced
def open_seats(rules: RulesRecord, table: Table, mode: Mode) -> None:
    """Set what the view and the table have by seat."""
    view = table.sight
    seats = (1 << rules.players) - 1
    while seats != 0:
        seat = np.uint64(lowest_bit(seats))
        seats &= seats - 1
        if mode.is_shown or mode.two_decks:
            view.left[seat] = popcount(table.hands[seat])
            view.played[seat] = 0
        if mode.is_bound or mode.two_decks:
            table.owed[seat] = 0
        if mode.two_decks:
            view.left[seat] += popcount(table.hands_second[seat])
            view.played_second[seat] = 0


@inline
def holders_of_lowest(rules: RulesRecord, table: Table) -> tuple[Mask, Mask]:
    """Return the lowest card dealt, and the seats that hold it: with two decks there may be two."""
    lowest_dealt = 0
    for seat in range(rules.players):
        lowest_dealt |= table.hands[seat]
    lowest_dealt &= -lowest_dealt
    holders = 0
    for seat in range(rules.players):
        holders |= 1 << seat if table.hands[seat] & lowest_dealt != 0 else 0
    return lowest_dealt, holders


@inline
def open_row(row: Row, leader: Seat, dealer: Seat) -> None:
    """Set the row of a hand that begins."""
    row.dealer = dealer
    row.leader = leader
    row.instant = NO_INSTANT_WIN
    row.piles = 0
    row.plays = 0
    row.passes = 0
    row.twos_left = 0
    if row.any_chop != 0:
        row.any_chop = 0
        for chop in range(N_TARGETS):
            row.chops[chop] = 0


@spliced
def open_hand(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat, mode: Mode) -> None:
    """Set the view, the row and the first lead for dealt hands; a `leader` that is not GOVERNED leads freely."""
    view = table.sight
    if not mode.is_free or mode.is_shown:
        open_seats(rules, table, mode)
    lowest_dealt, holders = holders_of_lowest(rules, table)
    view.opening = opening
    view.required = lowest_dealt if leader < 0 and rules.first_lead != FIRST_LEAD_FREE else 0
    if leader < 0:
        leader = lowest_bit(holders)
        if mode.two_decks and holders & (holders - 1):  # the dealer comes last
            leader = next_seat(holders, view.dealer)
    view.holding = (1 << rules.players) - 1
    view.n_turns = 0
    view.asked_again = 0
    table.fault = NO_FAULT
    table.pile_value = 0
    open_row(row, leader, view.dealer)


@spliced
def find_instant_win(rules: RulesRecord, table: Table, row: Row, mode: Mode) -> Seat:
    """Return the seat that wins at once (section 6) or NO_INSTANT_WIN: the best kind, then the next from the leader."""
    winner, best = NO_INSTANT_WIN, _WORST_PRIORITY
    for step in range(rules.players):
        seat = (row.leader + step) % rules.players
        hand, opening = table.hands[seat], table.sight.opening
        if mode.two_decks:
            priority = two_decks.instant_win(rules, hand, table.hands_second[seat], opening)
        else:
            priority = instant_win(rules, hand, opening)
        if 0 <= priority < best:
            winner, best = seat, priority
    if winner >= 0:
        row.instant = instant_kind(rules, best)
    return winner


# ------------------------------------------------------------------------------------------------ the hand


@spliced
def play_out(rules: RulesRecord, table: Table, row: Row, mode: Mode) -> Mask:
    """Play a hand pile by pile from its first lead; return the seats that hold cards at its end, or at a fault."""
    view = table.sight
    required = view.required
    pile = new_pile(np.int64(row.leader), (1 << rules.players) - 1, 0)
    while True:
        pile = lead_pile(rules, table, row, pile, required, mode)
        required = 0
        pile = answer_pile(rules, table, row, pile, mode)
        if unlikely(pile.waiting < 0):
            return pile.holding
        if mode.is_bound and table.pile_value != 0:
            settle_pile(table)
        leader, holding, counts = pile.owner, pile.holding, pile.counts
        if is_over(rules, holding):
            view.n_turns = turns_of(counts)
            row.plays, row.passes = turns_of(counts) - passes_of(counts), passes_of(counts)
            row.piles = piles_of(counts)
            return holding
        if holding >> leader & 1 == 0:
            leader = next_seat(holding, leader)
        pile = new_pile(leader, holding, counts)


@spliced
def play_dealt(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat, mode: Mode) -> int:
    """Play dealt hands to the end into `row` and the view; return the fault that stopped it, NO_FAULT for none."""
    open_hand(rules, table, row, opening, leader, mode)
    if rules.instant_wins[0] >= 0 or rules.opening_instant_wins[0] >= 0:
        winner = find_instant_win(rules, table, row, mode)
        if winner >= 0:
            pay_instant_win(rules, row, winner)
            return NO_FAULT
    if mode.only_policy == RANDOM:  # all at once is faster than one by one at their first draws
        for seat in range(rules.players):
            open_lane(table.lanes, table.streams[np.uint64(seat)], np.uint64(seat))
    holding = play_out(rules, table, row, mode)
    if table.fault != NO_FAULT:
        return table.fault
    place_the_rest(rules, table, row, holding)
    left = holding
    while left != 0:
        seat = np.uint64(lowest_bit(left))
        row.twos_left += popcount(table.hands[seat] & TWOS) + popcount(table.hands_second[seat] & TWOS)
        left &= left - 1
    pay(rules, table, row, holding)
    return NO_FAULT


# ------------------------------------------------------------------------------------------------ its kernels


@scalar_kernel
def play_plain_hand(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat) -> int:
    """Return `play_dealt` for rules without obligations after the first lead or paid chops, and built-in policies."""
    return play_dealt(rules, table, row, opening, leader, mode=PLAIN)


@scalar_kernel
def play_lowest_hand(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat) -> int:
    """Return `play_plain_hand` where all seats play `lowest`."""
    return play_dealt(rules, table, row, opening, leader, mode=LOWEST_ALONE)


@scalar_kernel
def play_random_hand(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat) -> int:
    """Return `play_plain_hand` where all seats play `random`."""
    return play_dealt(rules, table, row, opening, leader, mode=RANDOM_ALONE)


@scalar_kernel
def play_shown_hand(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat) -> int:
    """Return `play_dealt` for the same rules, any policies, and the whole view."""
    return play_dealt(rules, table, row, opening, leader, mode=SHOWN)


@scalar_kernel
def play_any_hand(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat) -> int:
    """Return `play_dealt` for all rules with one deck, any policies, and the whole view."""
    return play_dealt(rules, table, row, opening, leader, mode=ANY)


@scalar_kernel
def play_plain_two_deck_hand(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat) -> int:
    """Return `play_plain_hand` for two decks."""
    return play_dealt(rules, table, row, opening, leader, mode=PLAIN_TWO_DECKS)


@scalar_kernel
def play_any_two_deck_hand(rules: RulesRecord, table: Table, row: Row, opening: int, leader: Seat) -> int:
    """Return `play_any_hand` for two decks."""
    return play_dealt(rules, table, row, opening, leader, mode=ANY_TWO_DECKS)


KERNELS = [
    *(play_plain_hand, play_lowest_hand, play_random_hand, play_shown_hand, play_any_hand),
    *(play_plain_two_deck_hand, play_any_two_deck_hand),
]


# ------------------------------------------------------------------------------------------------ which of them


def play_hand_kernel(rules: RulesRecord, is_shown: bool, numbers: Collection[int] = ()) -> Any:
    """Return the kernel that plays a hand; other kernels call it by its address (`PLAY_HAND`), so it compiles once.

    `is_shown`: somebody reads the whole view, a policy called by address or a transcript. `numbers` are those of the
    policies at the table: one of the built-in ones alone has a kernel of its own.
    """
    is_bound = rules["must_play"] | rules["unlocked_classes"] | rules["chop_penalties"]
    is_bound |= (1 - rules["finish_on_two"]) | (1 - rules["pass_locks"])
    if rules["decks"] == 2:
        return play_any_two_deck_hand if is_bound or is_shown else play_plain_two_deck_hand
    if is_bound:
        return play_any_hand
    if is_shown:
        return play_shown_hand
    alone = {LOWEST: play_lowest_hand, RANDOM: play_random_hand}
    return alone.get(next(iter(numbers)), play_plain_hand) if len(numbers) == 1 else play_plain_hand


_BUILTIN = {LOWEST: lowest, RANDOM: random}


def lazy_functions_of(rules: RulesRecord, numbers: Collection[int], kernel: Any) -> list[Callable[..., Any]]:
    """Return the lazy functions that a kernel calls for these rules and policies."""
    has_two_decks, modules = rules["decks"] == 2, [_BUILTIN[number] for number in numbers if number in _BUILTIN]
    functions: list[Callable[..., Any]] = []
    if has_two_decks:
        functions += [module.choose_with_two for module in modules]
    elif rules["unlocked_classes"] or not rules["finish_on_two"]:
        functions += [module.choose_plain for module in modules]
    if not has_two_decks and rules["first_lead"] != FIRST_LEAD_ALONE and RANDOM in numbers:
        functions.append(random.random_first_lead)
    if kernel is play_shown_hand and RANDOM in numbers:
        functions.append(choose_at_random)
    if has_two_decks and (rules["leftover_penalties"] or rules["chop_penalties"]):
        functions.append(two_decks.leftover)
    if rules["must_play"] or rules["unlocked_classes"]:
        functions.append(two_decks.legal_plays_of_either)
    return functions
