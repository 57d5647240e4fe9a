"""One pile: a lead, and the answers to it until all others have passed (docs/rules.md, sections 4.4 and 4.5)."""

from typing import NamedTuple

import numpy as np

from tlsim.engine import features, two_decks
from tlsim.engine.bits import lowest_bit, opaque, popcount, unlikely
from tlsim.engine.choices import ENDS_LAST
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.faults import (
    MUST_PLAY,
    NO_FAULT,
    fault_of_answer,
    fault_of_lead,
    fault_with_one_deck,
    follows,
    follows_single,
    holds_play,
    may_not_pass,
    note_fault,
)
from tlsim.engine.mode import Mode
from tlsim.engine.one_deck import (
    SINGLE_TWO,
    as_single,
    chop_class,
    classify_rarely,
    code_of_single,
    is_single,
    matches,
)
from tlsim.engine.shapes import Code, holds_chop
from tlsim.engine.table import Row, Table
from tlsim.engine.turn import (
    Play,
    Turn,
    after,
    decide,
    decide_single,
    note_turn,
    play_of,
    show_turn,
    take_cards,
)
from tlsim.engine.view import View
from tlsim.rules.cards import Mask, Seat
from tlsim.rules.ruleset import RulesRecord

TWICE = 1 + (1 << 8)  # times a mask of seats: the mask twice in a row, so that a shift turns it
STOPPED = -1  # `waiting` after a fault
_N_TWOS = 3  # chop classes below it: a 2, a pair and a triple of 2s


class Pile(NamedTuple):
    """How a pile stands. Local to the kernel: a policy that writes to its view changes nothing."""

    waiting: Mask  # the seats still to be asked about the last play, as `after` sees them from its owner; STOPPED
    live: Mask  # the seats that hold cards and have not passed, TWICE
    counts: int  # turns, passes and piles of the hand so far, see PLAY
    on: Play  # the play to beat; its cards are known where obligations or two decks need them
    owner: Seat  # whose play it is; before the lead, who leads
    holding: Mask  # the seats that hold cards


# Turns, passes and piles of a hand are counted in one word, as registers are scarce in its loop: this is what a play, a
# pass and a lead add.
PLAY, PASS, LEAD = 1, 1 | 1 << 16, 1 << 32


@inline
def turns_of(counts: int) -> int:
    """Return the number of turns: plays and passes."""
    return counts & 0xFFFF


@inline
def passes_of(counts: int) -> int:
    """Return the number of passes."""
    return counts >> 16 & 0xFFFF


@inline
def piles_of(counts: int) -> int:
    """Return the number of piles."""
    return counts >> 32


@inline
def next_to_answer(live: Mask, seat: Seat) -> Mask:
    """Return the live seats as `after` sees them from a seat."""
    return (live >> (seat + 1)) & 0x7F


@inline
def new_pile(leader: Seat, holding: Mask, counts: int) -> Pile:
    """Return a pile before its lead."""
    return Pile(0, holding * TWICE, counts, Play(0, 0, 0), leader, holding)


# ------------------------------------------------------------------------------------------------ what comes of a play


@inline
def is_over(rules: RulesRecord, holding: Mask) -> bool:
    """Return whether the hand has ended: one player holds cards, or, with `ends = first-out`, one is out."""
    if rules.ends == ENDS_LAST:
        return holding & (holding - 1) == 0
    return popcount(holding) < rules.players


@inline
def go_out(rules: RulesRecord, view: View, row: Row, seat: Seat, holding: Mask) -> Mask:
    """Note that a seat has played its last card; return the seats that still hold cards."""
    row.places[np.uint64(seat)] = rules.players + 1 - popcount(holding)
    holding ^= 1 << seat
    view.holding = holding
    return holding


@function
def note_beaten(rules: RulesRecord, table: Table, row: Row, pile: Pile, seat: Seat, code: Code) -> None:
    """Count a chop, and enter it into the chop penalties of the pile when it is a paid one (sections 3 and 10).

    Paid are combinations of the chop table on 2s or on combinations of the chop table, of their own kind or not. The
    owner of the play that is beaten pays, unless it went out on that play.
    """
    on = pile.on
    chop, beaten = chop_class(code), chop_class(on.code)
    if not matches(code, on.code):
        row.chops[chop] += 1
        row.any_chop = 1
    if rules.chop_penalties == 0 or rules.chop_classes >> chop & 1 == 0:
        return
    if beaten < _N_TWOS or rules.chop_classes >> beaten & 1:
        if rules.decks == 2:
            table.pile_value += two_decks.leftover(rules, on.cards, on.second)
        else:
            table.pile_value += features.leftover(rules, on.cards)
        table.payer = pile.owner if pile.holding >> pile.owner & 1 else -1
        table.payee = seat


@function
def settle_pile(table: Table) -> None:
    """Let the owner of the last play that was chopped pay the last chopper, unless it went out on that play."""
    if table.payer >= 0:
        table.owed[table.payer] -= table.pile_value
        table.owed[table.payee] += table.pile_value
    table.pile_value = 0


@inline
def stop(table: Table, fault: int, turn: Turn, play: Play, pile: Pile) -> Pile:
    """Return a pile that stops at a fault, which the table has then."""
    note_fault(table, fault, turn, play, turns_of(pile.counts))
    return Pile(STOPPED, pile.live, pile.counts, pile.on, pile.owner, pile.holding)


# ------------------------------------------------------------------------------------------------ the lead


@spliced
def lead_pile(rules: RulesRecord, table: Table, row: Row, pile: Pile, required: Mask, mode: Mode) -> Pile:
    """Let the owner of a new pile lead; return how the pile stands. `required`: the card that must be in the lead."""
    view, seat, n_turns, holding = table.sight, pile.owner, turns_of(pile.counts), pile.holding
    if mode.is_shown or mode.two_decks:
        view.on_cards = 0
    second = table.hands_second[np.uint64(seat)] if mode.two_decks else 0
    turn = Turn(seat, table.hands[np.uint64(seat)], second, required, 0)
    show_turn(view, turn, 0, 0, n_turns, mode)
    play = play_of(rules, view, decide(rules, table, turn, 0, mode, lead=True), mode)
    fault = fault_of_lead(rules, turn, play, mode)
    if unlikely(fault != NO_FAULT):
        return stop(table, fault, turn, play, pile)
    note_turn(view, n_turns, seat, play, mode)
    view.required = 0
    rest = take_cards(table, turn, play, mode)
    if unlikely(rest == 0):
        holding = go_out(rules, view, row, seat, holding)
    waiting = after(holding, seat)
    if unlikely(rest == 0) and is_over(rules, holding):
        waiting = 0
    return Pile(waiting, holding * TWICE, pile.counts + LEAD + PLAY, play, seat, holding)


# ------------------------------------------------------------------------------------------------ the answers


@spliced
def answer_singles(rules: RulesRecord, table: Table, row: Row, pile: Pile, mode: Mode) -> Pile:
    """Let seats answer while a single is to beat, in a free mode: most answers. Return how the pile stands.

    Where the view is not shown it stops at a seat that may hold a chop of the single.
    """
    view = table.sight
    waiting, live, counts, last, owner, holding = pile
    on = last.code
    while waiting != 0 and is_single(on):  # most answers
        seat = (owner + 1 + lowest_bit(waiting)) & 7
        turn = Turn(seat, table.hands[np.uint64(seat)], 0, 0, 0)
        if not mode.is_shown and on >= SINGLE_TWO and unlikely(holds_chop(turn.hand)):
            break  # what follows knows of chops
        show_turn(view, turn, on, holding & ~live, turns_of(counts), mode)
        if mode.is_shown:
            on = as_single(on)
        cards = decide_single(rules, table, turn, on, mode)
        if cards == 0:
            note_turn(view, turns_of(counts), seat, Play(0, 0, 0), mode)
            counts += PASS
            live &= ~(TWICE << seat)
            waiting &= waiting - 1
            continue
        code = code_of_single(cards)
        if unlikely(not follows_single(turn.hand, cards, on)):
            code = classify_rarely(rules, cards)
            stands = Pile(waiting, live, counts, Play(on, 0, 0), owner, holding)
            fault = fault_with_one_deck(rules, turn, on, Play(code, cards, 0))
            if unlikely(fault != NO_FAULT):
                return stop(table, fault, turn, Play(code, cards, 0), stands)
            note_beaten(rules, table, row, stands, seat, code)
        play = Play(code, cards, 0)
        note_turn(view, turns_of(counts), seat, play, mode)
        counts += PLAY
        on, owner = code, seat
        rest = take_cards(table, turn, play, mode)
        if unlikely(rest == 0):
            holding = go_out(rules, view, row, seat, holding)
            live &= ~(TWICE << seat)
            if is_over(rules, holding):
                waiting = 0
                break
        waiting = next_to_answer(live, seat)
    return Pile(waiting, live, counts, Play(on, 0, 0), owner, holding)


@spliced
def answer_once(rules: RulesRecord, table: Table, row: Row, pile: Pile, mode: Mode) -> Pile:
    """Let the next seat answer; return how the pile stands. Seats that have passed are asked for unlocked chops."""
    view = table.sight
    waiting, live, counts, on, owner, holding = pile
    seat = (owner + 1 + lowest_bit(waiting)) & 7
    waiting &= waiting - 1
    again = 1 - (live >> seat & 1) if mode.is_bound else 0
    if mode.is_bound and again != 0 and not holds_play(rules, table, seat, on, 1):
        return Pile(waiting, live, counts, on, owner, holding)
    second = table.hands_second[np.uint64(seat)] if mode.two_decks else 0
    turn = Turn(seat, table.hands[np.uint64(seat)], second, 0, again)
    show_turn(view, turn, on.code, holding & ~live, turns_of(counts), mode)
    on = Play(opaque(on.code), on.cards, on.second)
    play = play_of(rules, view, decide(rules, table, turn, on.code, mode, lead=False), mode)
    stands = Pile(waiting, live, counts, on, owner, holding)
    if play.cards == 0:
        if mode.is_bound and may_not_pass(rules, table, turn, on):
            return stop(table, MUST_PLAY, turn, play, stands)
        note_turn(view, turns_of(counts), seat, play, mode)
        return Pile(waiting, live & ~(TWICE << seat), counts + PASS, on, owner, holding)
    if not mode.is_free or unlikely(not follows(turn.hand, play, on.code)):
        fault = fault_of_answer(rules, turn, on, play, mode)
        if unlikely(fault != NO_FAULT):
            return stop(table, fault, turn, play, stands)
        if (mode.is_bound and rules.chop_penalties) or not matches(play.code, on.code):
            note_beaten(rules, table, row, stands, seat, play.code)
    note_turn(view, turns_of(counts), seat, play, mode)
    rest = take_cards(table, turn, play, mode)
    if unlikely(rest == 0):
        holding = go_out(rules, view, row, seat, holding)
        live &= ~(TWICE << seat)
    if mode.is_bound:  # who passed and came back is in again; without `pass_locks` all are
        live = (live | TWICE << seat) & holding * TWICE if rules.pass_locks else holding * TWICE
    waiting = next_to_answer(live, seat)
    if mode.is_bound and rules.unlocked_classes:
        waiting = after(holding, seat)
    if unlikely(rest == 0) and is_over(rules, holding):
        waiting = 0
    return Pile(waiting, live, counts + PLAY, play, seat, holding)


@spliced
def answer_pile(rules: RulesRecord, table: Table, row: Row, pile: Pile, mode: Mode) -> Pile:
    """Let the others answer a lead until nobody is left to ask, or a fault stops the hand."""
    while pile.waiting > 0:
        if mode.is_free:
            pile = answer_singles(rules, table, row, pile, mode)
        if pile.waiting > 0:
            pile = answer_once(rules, table, row, pile, mode)
    return pile
