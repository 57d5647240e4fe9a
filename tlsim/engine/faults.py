"""What is wrong with a play. The engine mends nothing: a fault stops the hand."""

from enum import IntEnum

from tlsim.engine import two_decks
from tlsim.engine.bits import likely, unlikely
from tlsim.engine.calls import POLICY_RAISED
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.mode import Mode
from tlsim.engine.one_deck import beats, keeps_obligations, kind_of, matches, top_of
from tlsim.engine.shapes import QUAD_RUN, Code, above
from tlsim.engine.table import Table
from tlsim.engine.turn import SCRIPT_IS_OVER, Play, Turn
from tlsim.rules.cards import Mask, Seat
from tlsim.rules.ruleset import RulesRecord


class Fault(IntEnum):
    """What is wrong with a play, or with a swap; `text` says it."""

    text: str

    NONE = 0, "nothing"
    POLICY_FAILED = 1, "the policy raised an exception"
    NOT_HELD = 2, "it does not hold these cards"
    ILLEGAL = 3, "this is not a legal play"
    MUST_LEAD = 4, "the leader of a pile may not pass"
    MUST_PLAY = 5, "it may not pass while it can play (must_play)"
    SCRIPT_ENDS = 6, "the plays given end before the hand does"
    BAD_TRADE = 7, "a swap is of equally many cards that the two hold"

    def __new__(cls, number: int, text: str) -> "Fault":
        """Make a number that has a text."""
        fault = int.__new__(cls, number)
        fault._value_, fault.text = number, text
        return fault

    @classmethod
    def of(cls, number: int) -> "Fault":
        """Return the fault that kernels call by a number."""
        return tuple(cls)[number]


# As plain numbers, which is what kernels return.
NO_FAULT, POLICY_FAILED, NOT_HELD, ILLEGAL, MUST_LEAD, MUST_PLAY, SCRIPT_ENDS, BAD_TRADE = (int(one) for one in Fault)


# ------------------------------------------------------------------------------------------------ plays


@inline
def leads(hand: Mask, play: Play) -> bool:
    """Return whether a play can be led, obligations apart: it is held, and a combination that may be."""
    return play.cards & ~hand == 0 and 0 < play.code < QUAD_RUN << 10


@inline
def follows(hand: Mask, play: Play, on: Code) -> bool:
    """Return whether a play is held and beats `on` as its match: what nearly all answers are. No chops."""
    return play.cards & ~hand == 0 and on < play.code and matches(play.code, on)


@inline
def follows_single(hand: Mask, cards: Mask, on: Code) -> bool:
    """Return `follows` for a single to beat."""
    return cards & ~hand == 0 and cards & (cards - 1) == 0 and above(cards, top_of(on)) != 0


@function
def fault_with_one_deck(rules: RulesRecord, turn: Turn, on: Code, play: Play) -> int:
    """Return what is wrong with the cards that the seat to act plays."""
    code, cards = play.code, play.cards
    if cards & ~turn.hand != 0:
        return NOT_HELD
    if code == 0:
        return ILLEGAL
    is_allowed = beats(rules, code, on) if on != 0 else kind_of(code) != QUAD_RUN
    if is_allowed and keeps_obligations(rules, turn.hand, on, turn.required, turn.again, cards):
        return NO_FAULT
    return ILLEGAL


@function
def fault_with_two_decks(rules: RulesRecord, turn: Turn, on: Play, play: Play) -> int:
    """Return `fault_with_one_deck` for two decks."""
    code, cards, second = play
    hand, held_twice = turn.hand, turn.second
    if cards & ~hand != 0 or second & ~(held_twice & cards) != 0:
        return NOT_HELD
    if code == 0 or (on.code == 0 and kind_of(code) == QUAD_RUN):
        return ILLEGAL
    if on.code != 0 and not two_decks.beats(rules, code, (cards, second), on.code, (on.cards, on.second)):
        return ILLEGAL
    duties = (on.code, turn.required, turn.again)
    if two_decks.keeps_obligations(rules, (hand, held_twice), duties, code, (cards, second)):
        return NO_FAULT
    return ILLEGAL


@spliced
def fault_of_lead(rules: RulesRecord, turn: Turn, play: Play, mode: Mode) -> int:
    """Return what is wrong with what the seat to act leads; NO_FAULT when it is legal."""
    if mode.is_free and likely(turn.required == 0) and likely(leads(turn.hand, play)):
        return NO_FAULT
    if unlikely(play.cards == 0):
        return MUST_LEAD
    if mode.two_decks:
        return fault_with_two_decks(rules, turn, Play(0, 0, 0), play)
    return fault_with_one_deck(rules, turn, 0, play)


@spliced
def fault_of_answer(rules: RulesRecord, turn: Turn, on: Play, play: Play, mode: Mode) -> int:
    """Return what is wrong with what the seat to act answers, which is no pass; NO_FAULT when it is legal."""
    if mode.two_decks:
        return fault_with_two_decks(rules, turn, on, play)
    return fault_with_one_deck(rules, turn, on.code, play)


# ------------------------------------------------------------------------------------------------ passes


@function
def holds_play(rules: RulesRecord, table: Table, seat: Seat, on: Play, again: int) -> bool:
    """Return whether a seat holds a legal play on `on`; its policy may have changed the view since.

    `again` 1: for a seat that has passed, an unlocked chop (section 4.5).
    """
    view = table.sight
    view.hand, view.hand_second = table.hands[seat], table.hands_second[seat]
    view.on, view.on_cards, view.on_second = on.code, on.cards, on.second
    view.required, view.asked_again = 0, again
    return two_decks.legal_plays_of_either(rules, view) > 0


@inline
def may_not_pass(rules: RulesRecord, table: Table, turn: Turn, on: Play) -> bool:
    """Return whether the seat to act has to answer (`must_play`, section 9)."""
    return rules.must_play != 0 and turn.again == 0 and holds_play(rules, table, turn.seat, on, 0)


# ------------------------------------------------------------------------------------------------ where it stops


@function
def note_fault(table: Table, fault: int, turn: Turn, play: Play, n_turns: int) -> None:
    """Write a fault and its place to the table; what is no play says itself what is wrong."""
    table.fault = fault
    if play.cards == POLICY_RAISED:
        table.fault = POLICY_FAILED
    elif play.cards == SCRIPT_IS_OVER:
        table.fault = SCRIPT_ENDS
    table.fault_cards, table.fault_second = play.cards, play.second
    table.sight.seat, table.sight.hand, table.sight.n_turns = turn.seat, turn.hand, n_turns
