"""The plays that `lowest` chooses from: of a kind and length the lowest one, and what it compares plays by.

The lowest play of a kind has the lowest top card, and of those the lowest sum of card numbers. Here it is read off the
masks at once. The plain version is the least `key_of` of all legal plays (`tlsim.engine.policies.lowest.choose_plain`).
"""

from tlsim.engine.bits import lowest_bit
from tlsim.engine.compile import function, inline
from tlsim.engine.one_deck import chop_class, kind_of, length_of, matches, top_of
from tlsim.engine.shapes import (
    DOUBLE_STRAIGHT,
    QUAD,
    STRAIGHT,
    Code,
    covered,
    double_starts,
    lowest,
    nibble,
    presence,
    quad_run_from,
    quad_run_starts,
    quads,
    runs_to,
)
from tlsim.rules.cards import Mask, Rank
from tlsim.rules.ruleset import RulesRecord

_MOST_CARDS = 20  # of a play, and of a hand


# ------------------------------------------------------------------------------------------------ how plays compare


@inline
def sum_of(cards: Mask) -> int:
    """Return the sum of card numbers."""
    total = 0
    while cards != 0:
        total += lowest_bit(cards)
        cards &= cards - 1
    return total


@inline
def lead_key(code: Code, cards: Mask) -> int:
    """Return what leads with the hand's lowest card are compared by, the lowest first: most cards, then the kind.

    Of equally many cards a double straight comes before a straight before the rest, then the lowest sum.
    """
    kind, length = kind_of(code), length_of(code)
    size, order = kind, 2  # a single, pair, triple or quad has as many cards as its kind says
    if kind == STRAIGHT:
        size, order = length, 1
    elif kind > STRAIGHT:
        size, order = 2 * length, 0
    return ((_MOST_CARDS - size) << 20) | (order << 16) | sum_of(cards)


@function
def key_of(rules: RulesRecord, on: Code, code: Code, cards: Mask) -> int:
    """Return what legal plays are compared by, the lowest first; of leads only those with the lowest card count.

    Answers: a match before a chop, the weaker line of the chop table first, then the lowest top card, the lowest sum.
    """
    if on == 0:
        return lead_key(code, cards)
    line = 0
    if not matches(code, on):
        while rules.chop_order[line] != chop_class(code):
            line += 1
        line += 1
    return (line << 26) | (top_of(code) << 16) | sum_of(cards)


# ------------------------------------------------------------------------------------------------ the lowest of a kind


@inline
def two_lowest(hand: Mask) -> Mask:
    """Return the two lowest cards of every rank (one where there is one)."""
    first = hand & ~covered(hand)
    rest = hand ^ first
    return first | (rest & ~covered(rest))


@inline
def three_lowest(cards: Mask) -> Mask:
    """Return the three lowest of the four cards of a rank."""
    return two_lowest(cards) | lowest(cards & covered(cards) & ~two_lowest(cards))


@inline
def between(hand: Mask, low: Rank, high: Rank) -> Mask:
    """Return the cards of a hand of the ranks low..high-1."""
    return hand & ((1 << (4 * high)) - (1 << (4 * low)))


@inline
def lowest_straight(hand: Mask, tops: Mask, length: int) -> Mask:
    """Return the lowest straight of a length; 0 for none."""
    starts = runs_to(presence(hand), tops, length)
    if starts == 0:
        return 0
    start = lowest_bit(starts) >> 2
    last = start + length - 1
    return between(hand & ~covered(hand), start, last) | lowest(nibble(tops, last))


@inline
def lowest_double(hand: Mask, tops: Mask, length: int) -> Mask:
    """Return the lowest double straight of `length` pairs; 0 for none."""
    starts = double_starts(hand, tops, length)
    if starts == 0:
        return 0
    start = lowest_bit(starts) >> 2
    last = start + length - 1
    top = lowest(nibble(hand & covered(hand) & tops, last))
    return between(two_lowest(hand), start, last) | lowest(nibble(hand, last)) | top


@inline
def lowest_long(rules: RulesRecord, hand: Mask, tops: Mask, kind: int, length: int) -> Mask:
    """Return the lowest play of a kind from quad on; 0 for none."""
    if kind == STRAIGHT:
        return lowest_straight(hand & rules.straight_cards, tops & rules.straight_cards, length)
    if kind == DOUBLE_STRAIGHT:
        return lowest_double(hand & rules.double_cards, tops & rules.double_cards, length)
    if kind == QUAD:
        return quad_run_from(lowest(quads(hand & rules.quad_cards) & presence(tops)), 1)
    return quad_run_from(lowest(quad_run_starts(hand, tops, length)), length)
