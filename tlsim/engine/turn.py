"""One turn of a hand: who acts, what the player decides, what everybody sees of it.

With two decks a hand and a play are two masks, see `tlsim.engine.two_decks`; with one deck the second ones are 0.
"""

from typing import NamedTuple

import numpy as np

from tlsim.engine import two_decks
from tlsim.engine.bits import lowest_bit, popcount
from tlsim.engine.calls import POLICY_RAISED, POLICY_SYMBOL, call_by_address, lazy
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.host import types
from tlsim.engine.mode import Mode
from tlsim.engine.one_deck import classify
from tlsim.engine.policies import BY_ADDRESS, BY_C_ADDRESS, LOWEST, RANDOM, lowest, lowest_two_decks, random
from tlsim.engine.rng import Stream, Word, draw, draw_beside
from tlsim.engine.shapes import Code
from tlsim.engine.table import Table
from tlsim.engine.view import C_SIGNATURE, CONTRACT, View
from tlsim.rules.cards import Mask, Seat
from tlsim.rules.ruleset import RulesRecord

SCRIPT_IS_OVER = POLICY_RAISED + 1  # what a script answers then: no cards are that word

call_policy = call_by_address(C_SIGNATURE, POLICY_SYMBOL)


class Turn(NamedTuple):
    """Who acts, and what binds that seat."""

    seat: Seat
    hand: Mask
    second: Mask  # second copies in the hand
    required: Mask  # the card that the first lead must respect; 0: none
    again: int  # 1: the seat has passed on this pile, and may play an unlocked chop or pass


class Play(NamedTuple):
    """A combination that is played; all 0 for a pass, and as the play to beat for a lead."""

    code: Code  # 0 for what is no combination
    cards: Mask
    second: Mask  # second copies among the cards


# ------------------------------------------------------------------------------------------------ who acts


@inline
def after(seats: Mask, seat: Seat) -> Mask:
    """Return a mask of seats as seen from a seat: bit k is the seat k + 1 places on, its own not among them.

    Eight chairs stand around the table; empty ones are just never in a mask.
    """
    return ((seats | seats << 8) >> (seat + 1)) & 0x7F


@inline
def next_seat(seats: Mask, seat: Seat) -> Seat:
    """Return the first of a mask of seats in turn order after `seat`."""
    return (seat + 1 + lowest_bit(after(seats, seat))) & 7


# ------------------------------------------------------------------------------------------------ what it decides


@lazy(types.int64(*CONTRACT))
def choose_at_random(rules: RulesRecord, view: View, stream: Stream) -> Mask:
    """Return the play of `random`. Apart, or the first start of whoever brings a policy would take 4 s more."""
    return random.choose(rules, view, stream)


@function
def decide_outside(rules: RulesRecord, table: Table, seat: Seat, hand: Mask, on: Code) -> Mask:
    """Return the cards of a function that keeps to the contract of C, or of a script."""
    if table.policy[seat] == BY_C_ADDRESS:
        params = table.params[seat]
        return call_policy(table.address[seat], (rules, table.sight, table.streams[seat], params, hand, on))
    turn = table.sight.n_turns
    if turn >= table.n_script:
        return SCRIPT_IS_OVER
    table.sight.second = table.script_second[turn]
    return table.script[turn]


@function
def decide_otherwise(rules: RulesRecord, table: Table, seat: Seat, hand: Mask, on: Code) -> Mask:
    """Return the cards that a policy plays which is not a compiled function called by its address."""
    table.sight.hand, table.sight.on = hand, on
    if table.policy[seat] == LOWEST:
        return lowest.choose(rules, table.sight, table.streams[seat])
    if table.policy[seat] == RANDOM:
        return choose_at_random(rules, table.sight, table.streams[seat])
    return decide_outside(rules, table, seat, hand, on)


@function
def decide_otherwise_when_bound(rules: RulesRecord, table: Table, seat: Seat, hand: Mask, on: Code) -> Mask:
    """Return `decide_otherwise` for kernels that also play tables of built-in policies: `random` is part of it."""
    table.sight.hand, table.sight.on = hand, on
    if table.policy[seat] == LOWEST:
        return lowest.choose(rules, table.sight, table.streams[seat])
    if table.policy[seat] == RANDOM:
        return random.choose(rules, table.sight, table.streams[seat])
    return decide_outside(rules, table, seat, hand, on)


@spliced
def decide_any(rules: RulesRecord, table: Table, turn: Turn, on: Code, mode: Mode) -> Mask:
    """Return `decide` for any policy."""
    seat, hand = np.uint64(turn.seat), turn.hand
    if table.policy[seat] != BY_ADDRESS:
        if mode.is_bound:
            return decide_otherwise_when_bound(rules, table, turn.seat, hand, on)
        return decide_otherwise(rules, table, turn.seat, hand, on)
    return call_policy(table.address[seat], (rules, table.sight, table.streams[seat], table.params[seat], hand, on))


@spliced
def plays_lowest(table: Table, seat: Seat, mode: Mode) -> bool:
    """Return whether `lowest` is in a seat, rather than `random`."""
    return mode.only_policy == LOWEST or (mode.only_policy == 0 and table.policy[np.uint64(seat)] == LOWEST)


@spliced
def next_word(rules: RulesRecord, table: Table, seat: Seat, mode: Mode) -> Word:
    """Return the next random word of a seat."""
    if mode.only_policy == RANDOM:
        return draw_beside(table.lanes, rules.players, np.uint64(seat))
    return draw(table.streams[np.uint64(seat)])


@spliced
def decide_free(rules: RulesRecord, table: Table, turn: Turn, on: Code, mode: Mode, lead: bool) -> Mask:
    """Return the cards that one of the two built-in policies plays when nothing binds it, with their code in place."""
    view, hand = table.sight, turn.hand
    if plays_lowest(table, turn.seat, mode):
        if mode.two_decks:
            return lowest_two_decks.choose_free(rules, view)
        return lowest.choose_free(rules, view, hand, on, lead)
    word = next_word(rules, table, turn.seat, mode)
    if mode.two_decks:
        return random.choose_with_two(rules, view, word)
    return random.choose_free(rules, view, hand, on, lead, word)


@spliced
def decide(rules: RulesRecord, table: Table, turn: Turn, on: Code, mode: Mode, lead: bool) -> Mask:
    """Return the cards that the policy in a seat plays, whichever it is, or a word that says why it plays none."""
    if mode.is_shown:
        return decide_any(rules, table, turn, on, mode)
    return decide_free(rules, table, turn, on, mode, lead=lead)


@spliced
def decide_single(rules: RulesRecord, table: Table, turn: Turn, on: Code, mode: Mode) -> Mask:
    """Return `decide` for a single to beat that no chop of the hand beats."""
    if mode.is_shown:
        return decide_any(rules, table, turn, on, mode)
    if plays_lowest(table, turn.seat, mode):
        return lowest.lowest_single(turn.hand, on)
    return random.random_single(turn.hand, on, next_word(rules, table, turn.seat, mode))


@spliced
def play_of(rules: RulesRecord, view: View, cards: Mask, mode: Mode) -> Play:
    """Return what a policy plays, with its code."""
    if mode.two_decks:
        return Play(two_decks.classify(rules, cards, view.second), cards, view.second)
    return Play(classify(rules, cards), cards, 0)


# ------------------------------------------------------------------------------------------------ what is seen of it


@spliced
def show_turn(view: View, turn: Turn, on: Code, passed: Mask, n_turns: int, mode: Mode) -> None:
    """Write what the seat to act has to know; in a mode that is shown, hand and play to beat go with the call."""
    if mode.two_decks:
        view.hand_second, view.second = turn.second, 0
        view.hand, view.on = turn.hand, on
    if mode.is_bound or mode.is_shown:
        view.asked_again = turn.again
    if mode.is_shown:
        view.seat, view.passed, view.n_turns = turn.seat, passed, n_turns


@spliced
def note_turn(view: View, n_turns: int, seat: Seat, play: Play, mode: Mode) -> None:
    """Write a turn to those of this hand, where somebody reads them."""
    if mode.is_shown:
        at = np.uint64(n_turns)
        view.turn_seat[at], view.turn_cards[at] = seat, play.cards
        if mode.two_decks:
            view.turn_second[at] = play.second


@spliced
def show_play(table: Table, turn: Turn, play: Play, rest: Mask, mode: Mode) -> None:
    """Write a play, and what remains of the hand, to what everybody has seen."""
    seat, view = np.uint64(turn.seat), table.sight
    view.owner, view.on_cards = turn.seat, play.cards
    view.left[seat] = popcount(rest)
    view.played[seat] = table.dealt[seat] ^ rest
    if mode.two_decks:
        rest_second = turn.second & ~play.cards
        view.on_second = play.second
        view.left[seat] += popcount(rest_second)
        view.played[seat] |= table.dealt_second[seat] & ~rest_second
        view.played_second[seat] = table.dealt_second[seat] & ~rest


@spliced
def take_cards(table: Table, turn: Turn, play: Play, mode: Mode) -> Mask:
    """Take a play from a hand; return the cards that remain, of those there twice one copy."""
    seat, cards = np.uint64(turn.seat), play.cards
    rest = turn.hand ^ cards
    if mode.two_decks:
        rest = two_decks.rest_of(turn.hand, turn.second, cards, play.second)
    if mode.is_shown:
        show_play(table, turn, play, rest, mode)
    table.hands[seat] = rest
    if mode.two_decks:
        table.hands_second[seat] = turn.second & ~cards
        table.sight.on_cards, table.sight.on_second = cards, play.second
    return rest
