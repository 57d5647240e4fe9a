"""`lowest`: sheds its lowest cards.

Leading: of the combinations that hold the hand's lowest card, the one with most cards; equal: a double straight before
a straight before the rest; equal: the lowest sum of cards. Answering: of the plays that match and beat, the lowest top
card, then the lowest sum; if there are none, the weakest chop, likewise; else it passes. It never passes by choice.
"""

from typing import Any

from tlsim._jit import cold, lowest_bit, part, popcount, primitive
from tlsim.cards import ONES
from tlsim.combos import (
    chop_class,
    class_kind,
    class_length,
    classify,
    kind_of,
    last_play_barred,
    legal_plays,
    length_of,
    matches,
    top_of,
)
from tlsim.rules import LINES
from tlsim.shapes import (
    DOUBLE_STRAIGHT,
    PAIR,
    QUAD,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    above,
    covered,
    double_starts,
    lowest,
    nibble,
    presence,
    quad_run_starts,
    quads,
    runs,
)


@primitive
def two_lowest(h: int) -> int:
    """Return the two lowest cards of every rank (one where there is one)."""
    first = h & ~covered(h)
    rest = h ^ first
    return first | (rest & ~covered(rest))


@primitive
def between(h: int, low: int, high: int) -> int:
    """Return the cards of h of the ranks low..high-1."""
    return h & ((1 << (4 * high)) - (1 << (4 * low)))


@primitive
def lowest_straight(h: int, hi: int, length: int) -> int:
    """Return the straight of h with the lowest top card in hi, then the lowest sum; 0 for none."""
    starts = runs(presence(h), length) & (presence(hi) >> (4 * (length - 1)))
    if starts == 0:
        return 0
    start = lowest_bit(starts) >> 2
    last = start + length - 1
    return between(h & ~covered(h), start, last) | lowest(nibble(hi, last))


@primitive
def lowest_double(h: int, hi: int, length: int) -> int:
    """Return the double straight of h with the lowest top card in hi, then the lowest sum; 0 for none."""
    starts = double_starts(h, hi, length)
    if starts == 0:
        return 0
    start = lowest_bit(starts) >> 2
    last = start + length - 1
    top = lowest(nibble(h & covered(h) & hi, last))
    return between(two_lowest(h), start, last) | lowest(nibble(h, last)) | top


@primitive
def lowest_long(rules: Any, h: int, hi: int, kind: int, length: int) -> int:
    """Return the play of a kind from quad on with the lowest top card in hi, then the lowest sum; 0 for none."""
    if kind == STRAIGHT:
        return lowest_straight(h & rules.straight_cards, hi & rules.straight_cards, length)
    if kind == DOUBLE_STRAIGHT:
        return lowest_double(h & rules.double_cards, hi & rules.double_cards, length)
    if kind == QUAD:
        return lowest(quads(h & rules.quad_cards) & presence(hi)) * 15
    return lowest(quad_run_starts(h, hi, length)) * ((1 << (4 * length)) - 1)


@primitive
def lowest_match(rules: Any, h: int, on: int) -> int:
    """Return the lowest play of h that matches and beats `on`, 0 for none."""
    hi = above(h, top_of(on))
    kind = kind_of(on)
    if kind == SINGLE:
        return lowest(hi)
    if kind == PAIR:
        top = lowest(covered(h) & hi)
        return (top | lowest(h & (15 << (lowest_bit(top) & 60)))) & -int(top != 0)  # no branch: a miss is as likely
    if kind == TRIPLE:
        rest = h & covered(h)
        top = lowest(covered(rest) & rest & hi)
        return (top | (two_lowest(h) & (15 << (lowest_bit(top) & 60)))) & -int(top != 0)
    return lowest_long(rules, h, hi, kind, length_of(on))


@primitive
def weakest_chop(rules: Any, h: int, classes: int) -> int:
    """Return the lowest play of the weakest chop among the classes that h holds, 0 for none.

    Within a line the shortest comes first: any longer double straight holds a shorter one with a lower top card.
    Few hands hold any chop: a look at quads and double straights of 3 spares them the loop.
    """
    if classes == 0 or (quads(h) == 0 and double_starts(h, h, 3) == 0):
        return 0
    for i in range(len(LINES)):
        chop = rules.chop_order[i]
        if classes >> chop & 1:
            play = lowest_long(rules, h, h, class_kind(chop), class_length(chop))
            if play != 0:
                return play
    return 0


@primitive
def lowest_answer(rules: Any, h: int, on: int) -> int:
    """Return the lowest play of h that beats `on`, a chop only when nothing matches; 0 when nothing beats it."""
    play = lowest_match(rules, h, on)
    if play == 0 and (top_of(on) >= 48 or kind_of(on) >= QUAD):  # anything else is no target
        return weakest_chop(rules, h, rules.chopped_by[chop_class(on)])
    return play


@primitive
def longest_from_lowest(rules: Any, h: int) -> int:
    """Return the combination with most cards among those that hold the lowest card of h."""
    low = lowest_bit(h) & 60
    rank = low >> 2
    g = nibble(h, rank)
    n = popcount(g)
    stop = ONES | 1 << 52
    straight = lowest_bit(~(presence(h & rules.straight_cards) >> low) & stop) >> 2
    double = lowest_bit(~(presence(h & covered(h) & rules.double_cards) >> low) & stop) >> 2
    double = min(double, rules.double_straight_max)
    if straight < rules.straight_min:
        straight = 0
    if double >= 3 and 2 * double >= straight:
        return between(two_lowest(h), rank, rank + double)
    if straight >= max(n, 1):
        return between(h & ~covered(h), rank, rank + straight)
    if n == 4 and g & rules.quad_cards == 0:
        return two_lowest(g) | lowest(g & covered(g) & ~two_lowest(g))
    return g


@cold
def choose_plain(rules: Any, view: Any) -> int:
    """Return the choice by comparing all legal plays: the plain version, and the one for rare obligations."""
    best, best_key = 0, 0
    for k in range(legal_plays(rules, view)):
        play = view.plays[k]
        code = classify(rules, play)
        total = 0
        rest = play
        while rest != 0:
            total += lowest_bit(rest)
            rest &= rest - 1
        if view.on == 0:
            if play & lowest(view.hand) == 0:
                continue
            shape = 2 if kind_of(code) == DOUBLE_STRAIGHT else 1 if kind_of(code) == STRAIGHT else 0
            key = ((20 - popcount(play)) << 20) | ((2 - shape) << 16) | total
        else:
            line = 0
            if not matches(code, view.on):
                while rules.chop_order[line] != chop_class(code):
                    line += 1
                line += 1
            key = (line << 26) | (top_of(code) << 16) | total
        if best == 0 or key < best_key:
            best, best_key = play, key
    return best


@part
def choose_free(rules: Any, view: Any) -> int:
    """Return the play of the seat to act, where no obligation but that of the first lead binds it."""
    if view.on != 0:
        return lowest_answer(rules, view.hand, view.on)
    if view.required != 0 and rules.first_lead == 0:
        return view.required
    return longest_from_lowest(rules, view.hand)


@part
def choose(rules: Any, view: Any, stream: Any) -> int:  # noqa: ARG001  # it never draws
    """Return the play of the seat to act (the policy contract of `tlsim.view`)."""
    if view.asked_again != 0 or last_play_barred(rules, view) != 0:
        return choose_plain(rules, view)
    return choose_free(rules, view)
