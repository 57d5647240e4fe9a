"""One turn of a hand: whose it is, what the player decides, whether it may, what everybody sees of it.

With two decks a hand and a play are two masks, see `tlsim.engine.two_decks`; the flag `two` says so where a kernel is
compiled for either, and with one deck the second masks are 0.
"""

from typing import Any

import numpy as np

from tlsim.engine import two_decks
from tlsim.engine.bits import lowest_bit, popcount
from tlsim.engine.calls import POLICY_RAISED, POLICY_SYMBOL, call_by_address, lazy
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.features import leftover
from tlsim.engine.host import types
from tlsim.engine.one_deck import beats, chop_class, classify, keeps_obligations, kind_of, matches, top_of
from tlsim.engine.policies import BY_ADDRESS, BY_C_ADDRESS, LOWEST, RANDOM, lowest, random
from tlsim.engine.rng import draw, draw_beside
from tlsim.engine.shapes import QUAD_RUN, above
from tlsim.engine.view import C_SIGNATURE, CONTRACT

# What is wrong with a play, as kernels report it.
NO_FAULT, RAISED, NOT_HELD, ILLEGAL, MUST_LEAD, MUST_PLAY, SCRIPT_ENDS, BAD_TRADE = range(8)
FAULTS = {
    RAISED: "the policy raised an exception",
    NOT_HELD: "it does not hold these cards",
    ILLEGAL: "this is not a legal play",
    MUST_LEAD: "the leader of a pile may not pass",
    MUST_PLAY: "it may not pass while it can play (must_play)",
    SCRIPT_ENDS: "the plays given end before the hand does",
    BAD_TRADE: "a swap is of equally many cards that the two hold",
}
SCRIPT_IS_OVER = POLICY_RAISED + 1  # what a script answers then: no cards are that word

call_policy = call_by_address(C_SIGNATURE, POLICY_SYMBOL)


# ------------------------------------------------------------------------------------------------ who acts, and how


@inline
def after(seats: int, seat: int) -> int:
    """Return a mask of seats as seen from a seat: bit k is the seat k + 1 places on, its own not among them.

    Eight chairs stand around the table; empty ones are just never in a mask.
    """
    return ((seats | seats << 8) >> (seat + 1)) & 0x7F


@inline
def next_seat(seats: int, seat: int) -> int:
    """Return the first of a mask of seats in turn order after `seat`."""
    return (seat + 1 + lowest_bit(after(seats, seat))) & 7


@lazy(types.int64(*CONTRACT))
def choose_at_random(rules: Any, view: Any, stream: Any) -> int:
    """Return the play of `random`. Apart, or the first start of whoever brings a policy would take 4 s more."""
    return random.choose(rules, view, stream)


@function
def decide_outside(rules: Any, table: Any, seat: int, hand: int, on: int) -> int:
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
def decide_otherwise(rules: Any, table: Any, seat: int, hand: int, on: int) -> int:
    """Return the cards that a policy plays which is not a compiled function called by its address."""
    table.sight.hand, table.sight.on = hand, on
    if table.policy[seat] == LOWEST:
        return lowest.choose(rules, table.sight, table.streams[seat])
    if table.policy[seat] == RANDOM:
        return choose_at_random(rules, table.sight, table.streams[seat])
    return decide_outside(rules, table, seat, hand, on)


@function
def decide_otherwise_when_bound(rules: Any, table: Any, seat: int, hand: int, on: int) -> int:
    """Return `decide_otherwise` for kernels that also play tables of built-in policies: `random` is part of it."""
    table.sight.hand, table.sight.on = hand, on
    if table.policy[seat] == LOWEST:
        return lowest.choose(rules, table.sight, table.streams[seat])
    if table.policy[seat] == RANDOM:
        return random.choose(rules, table.sight, table.streams[seat])
    return decide_outside(rules, table, seat, hand, on)


@spliced
def decide(
    rules: Any, table: Any, seat: int, hand: int, on: int, lead: bool, bound: bool, shown: bool, two: bool, only: int
) -> int:
    """Return the cards that the policy in a seat plays, whichever it is, or a word that says why it plays none."""
    if shown:
        return decide_any(rules, table, seat, hand, on, bound)
    return decide_free(rules, table, seat, hand, on, lead, two, only)


@spliced
def decide_any(rules: Any, table: Any, seat: int, hand: int, on: int, bound: bool) -> int:
    """Return `decide` for any policy."""
    at = np.uint64(seat)
    if table.policy[at] != BY_ADDRESS:
        if bound:
            return decide_otherwise_when_bound(rules, table, seat, hand, on)
        return decide_otherwise(rules, table, seat, hand, on)
    return call_policy(table.address[at], (rules, table.sight, table.streams[at], table.params[at], hand, on))


@spliced
def next_word(rules: Any, table: Any, seat: int, only: int) -> Any:
    """Return the next random word of a seat; `only` as in `decide_free`."""
    at = np.uint64(seat)
    return draw_beside(table.lanes, rules.players, at) if only == RANDOM else draw(table.streams[at])


@spliced
def decide_free(rules: Any, table: Any, seat: int, hand: int, on: int, lead: bool, two: bool, only: int) -> int:
    """Return the cards that one of the two built-in policies plays when nothing binds it, with their code in place.

    `only` is the number of the policy in all seats, 0 for either.
    """
    view = table.sight
    if only == LOWEST or (only == 0 and table.policy[np.uint64(seat)] == LOWEST):
        return lowest.choose_free_with_two(rules, view) if two else lowest.choose_free(rules, view, hand, on, lead)
    word = next_word(rules, table, seat, only)
    return random.choose_with_two(rules, view, word) if two else random.choose_free(rules, view, hand, on, lead, word)


@spliced
def decide_single(rules: Any, table: Any, seat: int, hand: int, on: int, only: int) -> int:
    """Return `decide_free` for a single to beat that no chop of the hand beats."""
    if only == LOWEST or (only == 0 and table.policy[np.uint64(seat)] == LOWEST):
        return lowest.lowest_single(hand, on)
    return random.random_single(hand, on, next_word(rules, table, seat, only))


@function
def holds_play(rules: Any, table: Any, seat: int, on: int, on_cards: int, on_second: int, again: int) -> bool:
    """Return whether a seat holds a legal play on `on`; its policy may have changed the view since.

    `again` 1: for a seat that has passed, an unlocked chop (section 4.5).
    """
    view = table.sight
    view.hand, view.hand_second = table.hands[seat], table.hands_second[seat]
    view.on, view.on_cards, view.on_second = on, on_cards, on_second
    view.required, view.asked_again = 0, again
    return two_decks.legal_plays_of_either(rules, view) > 0


# ------------------------------------------------------------------------------------------------ what may be played


@spliced
def code_of_play(rules: Any, cards: int, second: int, two: bool) -> int:
    """Return the code of a play, 0 for what is no combination, and for a pass."""
    return two_decks.classify(rules, cards, second) if two else classify(rules, cards)


@spliced
def basic_fault(rules: Any, hand: int, on: int, cards: int, code: int) -> int:
    """Return what is wrong with what the seat to act plays, obligations apart."""
    if cards == 0:
        return NO_FAULT if on != 0 else MUST_LEAD
    if cards & ~hand != 0:
        return NOT_HELD
    if on != 0:
        return NO_FAULT if code != 0 and beats(rules, code, on) else ILLEGAL
    return NO_FAULT if code != 0 and kind_of(code) != QUAD_RUN else ILLEGAL


@inline
def leads(hand: int, cards: int, code: int) -> bool:
    """Return whether a play can be led, obligations apart: it is held, and a combination that may be."""
    return cards & ~hand == 0 and 0 < code < QUAD_RUN << 10


@inline
def follows(hand: int, cards: int, code: int, on: int) -> bool:
    """Return whether a play is held and beats `on` as its match: what nearly all answers are. No chops."""
    return cards & ~hand == 0 and on < code and matches(code, on)


@inline
def follows_single(hand: int, cards: int, on: int) -> bool:
    """Return `follows` for a single to beat."""
    return cards & ~hand == 0 and cards & (cards - 1) == 0 and above(cards, top_of(on)) != 0


@function
def fault_when_bound(
    rules: Any, table: Any, seat: int, hand: int, on: int, on_cards: int, required: int, again: int, cards: int
) -> int:
    """Return what is wrong with a play or pass under the obligations of the first lead and of sections 4.5 and 9."""
    if cards == 0:
        must_play = rules.must_play != 0 and again == 0 and holds_play(rules, table, seat, on, on_cards, 0, 0)
        return MUST_PLAY if must_play else NO_FAULT
    return NO_FAULT if keeps_obligations(rules, hand, on, required, again, cards) else ILLEGAL


@function
def fault_of_lead(rules: Any, hand: int, required: int, cards: int, code: int) -> int:
    """Return what is wrong with a lead, where only the obligation of the first lead binds it."""
    fault = basic_fault(rules, hand, 0, cards, code)
    if fault == NO_FAULT and required != 0 and not keeps_obligations(rules, hand, 0, required, 0, cards):
        return ILLEGAL
    return fault


@function
def fault_of_answer(rules: Any, hand: int, on: int, cards: int, code: int) -> int:
    """Return what is wrong with an answer where nothing binds, not a pass: what `follows` is sure of not."""
    return basic_fault(rules, hand, on, cards, code)


@spliced
def fault_with_one(rules: Any, table: Any, seat: int, hand: int, last: Any, cards: int, code: int, bound: bool) -> int:
    """Return `fault_of` for one deck."""
    on, on_cards, _, required, again = last
    fault = basic_fault(rules, hand, on, cards, code)
    if fault == NO_FAULT and (bound or (on == 0 and required != 0)):
        return fault_when_bound(rules, table, seat, hand, on, on_cards, required, again, cards)
    return fault


@spliced
def fault_with_two(
    rules: Any, table: Any, seat: int, hand: int, held: int, last: Any, cards: int, second: int, code: int
) -> int:
    """Return `fault_of` for two decks."""
    on, on_cards, on_second, required, again = last
    if cards == 0:
        if on == 0:
            return MUST_LEAD
        must_play = rules.must_play != 0 and again == 0
        must_play = must_play and holds_play(rules, table, seat, on, on_cards, on_second, 0)
        return MUST_PLAY if must_play else NO_FAULT
    if cards & ~hand != 0 or second & ~(held & cards) != 0:
        return NOT_HELD
    if code == 0 or (on == 0 and kind_of(code) == QUAD_RUN):
        return ILLEGAL
    if on != 0 and not two_decks.beats(rules, code, cards, second, on, on_cards, on_second):
        return ILLEGAL
    if rules.finish_on_two != 0 and again == 0 and (on != 0 or required == 0):
        return NO_FAULT
    kept = two_decks.keeps_obligations(rules, hand, held, on, required, again, code, cards, second)
    return NO_FAULT if kept else ILLEGAL


@spliced
def fault_of(
    rules: Any,
    table: Any,
    seat: int,
    hand: int,
    held: int,
    last: Any,
    cards: int,
    second: int,
    code: int,
    bound: bool,
    two: bool,
) -> int:
    """Return what is wrong with what the seat to act plays; NO_FAULT when it is legal. The engine mends nothing.

    `last` is what it answers: the code, cards and second copies of the play to beat, the card that the first lead
    requires, and whether the seat has passed on this pile.
    """
    if two:
        return fault_with_two(rules, table, seat, hand, held, last, cards, second, code)
    return fault_with_one(rules, table, seat, hand, last, cards, code, bound)


# ------------------------------------------------------------------------------------------------ what comes of it


@function
def note_beaten(
    rules: Any, table: Any, row: Any, seat: int, code: int, on: int, on_cards: int, on_second: int, payer: int
) -> None:
    """Count a chop, and enter it into the chop penalties of the pile when it is a paid one (sections 3 and 10).

    Paid are combinations of the chop table on 2s or on combinations of the chop table, of their own kind or not.
    `payer` is the owner of the play that is beaten, -1 when it went out on it.
    """
    chop, beaten = chop_class(code), chop_class(on)
    if not matches(code, on):
        row.chops[chop] += 1
        row.any_chop = 1
    if rules.chop_penalties == 0 or rules.chop_classes >> chop & 1 == 0:
        return
    if beaten < 3 or rules.chop_classes >> beaten & 1:
        two = rules.decks == 2
        table.pile_value += two_decks.leftover(rules, on_cards, on_second) if two else leftover(rules, on_cards)
        table.payer = payer
        table.payee = seat


@function
def settle_pile(table: Any) -> None:
    """Let the owner of the last play that was chopped pay the last chopper, unless it went out on that play."""
    if table.payer >= 0:
        table.owed[table.payer] -= table.pile_value
        table.owed[table.payee] += table.pile_value
    table.pile_value = 0


@function
def stop_at_fault(
    table: Any, fault: int, cards: int, second: int, seat: int, hand: int, holding: int, turns: int
) -> int:
    """Return the seats that hold cards, with the fault and its place noted in the table."""
    table.fault = RAISED if cards == POLICY_RAISED else SCRIPT_ENDS if cards == SCRIPT_IS_OVER else fault
    table.fault_cards, table.fault_second = cards, second
    table.sight.seat, table.sight.hand, table.sight.n_turns = seat, hand, turns
    return holding


@spliced
def show_turn(
    view: Any,
    seat: int,
    hand: int,
    held: int,
    on: int,
    again: int,
    passed: int,
    turns: int,
    bound: bool,
    shown: bool,
    two: bool,
) -> None:
    """Write what the seat to act has to know; with `shown` the hand and the play to beat go with the call."""
    if two:
        view.hand_second, view.second = held, 0
        view.hand, view.on = hand, on
    if bound or shown:
        view.asked_again = again
    if shown:
        view.seat, view.passed, view.n_turns = seat, passed, turns


@spliced
def note_turn(view: Any, turns: int, seat: int, cards: int, second: int, two: bool) -> None:
    """Write a turn to those of this hand."""
    at = np.uint64(turns)
    view.turn_seat[at], view.turn_cards[at] = seat, cards
    if two:
        view.turn_second[at] = second


@spliced
def show_play(table: Any, seat: int, cards: int, second: int, rest: int, rest_second: int, two: bool) -> None:
    """Write a play, and what remains of the hand, to what everybody has seen."""
    at, view = np.uint64(seat), table.sight
    view.owner, view.on_cards = seat, cards
    view.left[at] = popcount(rest)
    view.played[at] = table.dealt[at] ^ rest
    if two:
        view.on_second = second
        view.left[at] += popcount(rest_second)
        view.played[at] |= table.dealt_second[at] & ~rest_second
        view.played_second[at] = table.dealt_second[at] & ~rest
