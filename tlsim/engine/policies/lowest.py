"""`lowest`: sheds its lowest cards.

Leading: of the combinations that hold the hand's lowest card, the one with most cards; equal: a double straight before
a straight before the rest; equal: the lowest sum of cards. Answering: of the plays that match and beat, the lowest top
card, then the lowest sum; if there are none, the weakest chop, likewise; else it passes. It never passes by choice.
"""

from typing import Any

from tlsim.engine import two_decks
from tlsim.engine.bits import likely, lowest_bit, popcount, unlikely
from tlsim.engine.calls import lazy
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.one_deck import (
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
from tlsim.engine.shapes import (
    DOUBLE_STRAIGHT,
    PAIR,
    QUAD,
    QUAD_RUN,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    above,
    count_at,
    covered,
    double_starts,
    holds_chop,
    lowest,
    nibble,
    presence,
    quad_run_starts,
    quads,
    runs,
)
from tlsim.engine.view import OF_VIEW
from tlsim.rules.cards import NO_TWOS, ONES, TWOS
from tlsim.rules.ruleset import LINES


@inline
def two_lowest(h: int) -> int:
    """Return the two lowest cards of every rank (one where there is one)."""
    first = h & ~covered(h)
    rest = h ^ first
    return first | (rest & ~covered(rest))


@inline
def between(h: int, low: int, high: int) -> int:
    """Return the cards of h of the ranks low..high-1."""
    return h & ((1 << (4 * high)) - (1 << (4 * low)))


@inline
def lowest_straight(h: int, hi: int, length: int) -> int:
    """Return the straight of h with the lowest top card in hi, then the lowest sum; 0 for none."""
    starts = runs(presence(h), length) & (presence(hi) >> (4 * (length - 1)))
    if starts == 0:
        return 0
    start = lowest_bit(starts) >> 2
    last = start + length - 1
    return between(h & ~covered(h), start, last) | lowest(nibble(hi, last))


@inline
def lowest_double(h: int, hi: int, length: int) -> int:
    """Return the double straight of h with the lowest top card in hi, then the lowest sum; 0 for none."""
    starts = double_starts(h, hi, length)
    if starts == 0:
        return 0
    start = lowest_bit(starts) >> 2
    last = start + length - 1
    top = lowest(nibble(h & covered(h) & hi, last))
    return between(two_lowest(h), start, last) | lowest(nibble(h, last)) | top


@inline
def lowest_long(rules: Any, h: int, hi: int, kind: int, length: int) -> int:
    """Return the play of a kind from quad on with the lowest top card in hi, then the lowest sum; 0 for none."""
    if kind == STRAIGHT:
        return lowest_straight(h & rules.straight_cards, hi & rules.straight_cards, length)
    if kind == DOUBLE_STRAIGHT:
        return lowest_double(h & rules.double_cards, hi & rules.double_cards, length)
    if kind == QUAD:
        return lowest(quads(h & rules.quad_cards) & presence(hi)) * 15
    return lowest(quad_run_starts(h, hi, length)) * ((1 << (4 * length)) - 1)


@inline
def lowest_single(h: int, on: int) -> int:
    """Return `lowest_answer` to a single that no chop of h beats."""
    return lowest(above(h, top_of(on)))


@inline
def lowest_match(rules: Any, h: int, on: int) -> int:
    """Return the lowest play of h that matches and beats `on`, 0 for none."""
    hi = above(h, top_of(on))
    kind = kind_of(on)
    if likely(kind == SINGLE):
        return lowest(hi)
    if kind > TRIPLE:  # asked before the rest, or LLVM makes a table of jumps of them all, which nothing predicts
        return lowest_long(rules, h, hi, kind, length_of(on))
    if kind == PAIR:
        top = lowest(covered(h) & hi)
        return (top | lowest(h & (15 << (lowest_bit(top) & 60)))) & -int(top != 0)  # no branch: a miss is as likely
    rest = h & covered(h)
    top = lowest(covered(rest) & rest & hi)
    return (top | (two_lowest(h) & (15 << (lowest_bit(top) & 60)))) & -int(top != 0)


@inline
def weakest_chop(rules: Any, h: int, classes: int) -> int:
    """Return the lowest play of the weakest chop among the classes that h holds, 0 for none.

    Within a line the shortest comes first: any longer double straight holds a shorter one with a lower top card.
    """
    if classes == 0:
        return 0
    for i in range(len(LINES)):
        chop = rules.chop_order[i]
        if classes >> chop & 1:
            play = lowest_long(rules, h, h, class_kind(chop), class_length(chop))
            if play != 0:
                return play
    return 0


@inline
def lowest_answer(rules: Any, h: int, on: int) -> int:
    """Return the lowest play of h that beats `on`, a chop only when nothing matches; 0 when nothing beats it."""
    kind = kind_of(on)
    if kind == STRAIGHT:  # no target of chops
        h &= rules.straight_cards
        return lowest_straight(h, above(h, top_of(on)), length_of(on))
    play = lowest_match(rules, h, on)
    if play == 0 and (top_of(on) >= 48 or kind >= QUAD) and unlikely(holds_chop(h)):  # anything else is no target
        return weakest_chop(rules, h, rules.chopped_by[chop_class(on)])
    return play


@inline
def longest_from_lowest(rules: Any, h: int) -> int:
    """Return the combination with most cards among those that hold the lowest card of h."""
    low = lowest_bit(h) & 60
    rank = low >> 2
    g = nibble(h, rank)
    n = popcount(g)
    if presence(h >> low) & 0x110 != 0x110:  # no run of three starts there: most hands
        return g if n < 4 or g & rules.quad_cards else two_lowest(g) | lowest(g & covered(g) & ~two_lowest(g))
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


@inline
def sum_of(cards: int) -> int:
    """Return the sum of card numbers."""
    total = 0
    while cards != 0:
        total += lowest_bit(cards)
        cards &= cards - 1
    return total


@function
def key_of(rules: Any, on: int, code: int, cards: int) -> int:
    """Return what legal plays are compared by, the lowest first; of leads only those with the lowest card count."""
    if on == 0:
        n = length_of(code) * (1 if kind_of(code) == STRAIGHT else 2) if kind_of(code) >= STRAIGHT else kind_of(code)
        shape = 2 if kind_of(code) == DOUBLE_STRAIGHT else 1 if kind_of(code) == STRAIGHT else 0
        return ((20 - n) << 20) | ((2 - shape) << 16) | sum_of(cards)
    line = 0
    if not matches(code, on):
        while rules.chop_order[line] != chop_class(code):
            line += 1
        line += 1
    return (line << 26) | (top_of(code) << 16) | sum_of(cards)


@lazy(OF_VIEW)
def choose_plain(rules: Any, view: Any) -> int:
    """Return the choice by comparing all legal plays: the plain version, and the one for rare obligations."""
    best, best_key = 0, 0
    for k in range(legal_plays(rules, view)):
        play = view.plays[k]
        if view.on == 0 and play & lowest(view.hand) == 0:
            continue
        key = key_of(rules, view.on, classify(rules, play), play)
        if best == 0 or key < best_key:
            best, best_key = play, key
    return best


# ------------------------------------------------------------------------------------------------ two decks


@function
def lowest_copies(g: int, q: int, n: int) -> Any:
    """Return the n lowest of cards, `q` of them there twice, as a play."""
    c, t = 0, 0
    while n > 0:
        card = lowest(g)
        g ^= card
        c |= card
        n -= 1
        if n > 0 and q & card:
            t |= card
            n -= 1
    return c, t


@function
def lowest_runs(view: Any, h: int, s: int, hi: int, each: int, length: int) -> int:
    """Return the set of `each` cards of `length` ranks in a row with the lowest top card in hi, then the lowest sum.

    0 for none; `view.second` gets its second copies.
    """
    starts = runs(two_decks.at_least(two_decks.lattice_of(h, s), each), length)
    while starts != 0:
        start = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = start + length - 1
        tops = nibble(hi, last)
        while tops != 0:
            top = lowest(tops)
            tops ^= top
            g, q = nibble(h, last) & (2 * top - 1), nibble(s, last) & (2 * top - 1)
            if popcount(g) + popcount(q) >= each:
                c, t = lowest_copies(g if q & top else g ^ top, q & ~top, each - 1)
                c, t = c | top, t | (c & top)
                for rank in range(start, last):
                    more, twice = lowest_copies(nibble(h, rank), nibble(s, rank), each)
                    c, t = c | more, t | twice
                view.second = t
                return c
    return 0


@function
def lowest_of_kind(rules: Any, view: Any, h: int, s: int, hi: int, kind: int, length: int) -> int:
    """Return `lowest_runs` for a kind and length, of the cards that may stand in it."""
    allowed, each = h, kind
    if kind == STRAIGHT:
        allowed, each = rules.straight_cards, 1
    elif kind == DOUBLE_STRAIGHT:
        allowed, each = rules.double_cards, 2
    elif kind == QUAD:
        allowed = rules.quad_cards
    elif kind == QUAD_RUN:
        allowed, each = NO_TWOS, QUAD
    return lowest_runs(view, h & allowed, s & allowed, hi & allowed, each, length)


@inline
def lowest_match_with_two(rules: Any, view: Any, h: int, s: int, hi: int, on: int) -> int:
    """Return `lowest_of_kind` for the kind and length of `on`; what most plays are, looked up at once."""
    kind = kind_of(on)
    if kind == SINGLE:
        return lowest(hi)
    if kind == PAIR:
        top = lowest((covered(h) | s) & hi)
        mate = lowest(nibble(h, lowest_bit(top) >> 2)) if top != 0 else 0
        view.second = top if mate == top else 0
        return top | mate
    if kind == STRAIGHT:
        return lowest_straight(h & rules.straight_cards, hi & rules.straight_cards, length_of(on))
    return lowest_of_kind(rules, view, h, s, hi, kind, length_of(on))


@inline
def lowest_answer_with_two(rules: Any, view: Any) -> int:
    """Return `lowest_answer` for two decks, not for `ties = kickers`; `view.second` gets the second copies."""
    h, s, on = view.hand, view.hand_second, view.on
    hi = h & (-1 << top_of(on)) if rules.ties == two_decks.LATER else above(h, top_of(on))
    play = lowest_match_with_two(rules, view, h, s, hi, on)
    classes = rules.chopped_by[chop_class(on)]
    if play != 0 or classes == 0:
        return play
    lattice = two_decks.lattice_of(h, s)
    if two_decks.at_least(lattice, QUAD) == 0 and runs(two_decks.at_least(lattice, 2), 3) == 0:
        return 0
    for i in range(len(LINES)):
        chop = rules.chop_order[i]
        if classes >> chop & 1 and play == 0:
            play = lowest_of_kind(rules, view, h, s, h, class_kind(chop), class_length(chop))
    return play


@function
def longest_with_two(rules: Any, view: Any) -> int:
    """Return `longest_from_lowest` for two decks; `view.second` gets the second copies."""
    h, s = view.hand, view.hand_second
    low, lattice = lowest_bit(h) & 60, two_decks.lattice_of(h, s)
    rank, stop = low >> 2, ONES | 1 << 52
    straight = lowest_bit(~(presence(h & rules.straight_cards) >> low) & stop) >> 2
    double = lowest_bit(~((two_decks.at_least(lattice, 2) & rules.double_cards) >> low) & stop) >> 2
    double = min(double, rules.double_straight_max)
    n = min(count_at(lattice, rank), QUAD)
    if n == QUAD and nibble(rules.quad_cards, rank) == 0:
        n = TRIPLE
    each, length = n, 1
    if double >= 3 and 2 * double >= max(straight, n):
        each, length = 2, double
    elif straight >= max(n, rules.straight_min):
        each, length = 1, straight
    play, second = 0, 0
    for r in range(rank, rank + length):
        c, t = lowest_copies(nibble(h, r), nibble(s, r), each)
        play, second = play | c, second | t
    view.second = second
    return play


@function
def sorts_before(c: int, t: int, other_c: int, other_t: int) -> bool:
    """Return whether, from the lowest card up, the first card that differs is lower: plays of equally many cards."""
    differ = (c ^ other_c) | (t ^ other_t)
    if differ == 0:
        return False
    bit = lowest_bit(differ)
    return (c >> bit & 1) + (t >> bit & 1) > (other_c >> bit & 1) + (other_t >> bit & 1)


@function
def choose_plain_with_two(rules: Any, view: Any) -> int:
    """Return the choice of two decks by comparing all legal plays; equal ones: the lowest first card that differs."""
    best, best_second, best_key = 0, 0, 0
    for k in range(two_decks.legal_plays(rules, view)):
        c, t = view.plays[k], view.plays_second[k]
        code = two_decks.classify(rules, c, t)
        if view.on == 0 and c & lowest(view.hand) == 0:
            continue
        key = key_of(rules, view.on, code, c) + sum_of(t)
        if best == 0 or key < best_key or (key == best_key and sorts_before(c, t, best, best_second)):
            best, best_second, best_key = c, t, key
    view.second = best_second
    return best


@spliced
def choose_free_with_two(rules: Any, view: Any) -> int:
    """Return `choose_free` for two decks; `view.second` gets the second copies, and is 0 before."""
    if rules.ties == two_decks.KICKERS:
        return choose_plain_with_two(rules, view)
    if view.on != 0:
        return lowest_answer_with_two(rules, view)
    if view.required != 0 and rules.first_lead == 0:
        return view.required
    return longest_with_two(rules, view)


@lazy(OF_VIEW)
def choose_with_two(rules: Any, view: Any) -> int:
    """Return `choose` for two decks; `view.second` gets the second copies."""
    view.second = 0
    if view.asked_again != 0 or (rules.finish_on_two == 0 and view.hand & TWOS != 0):
        return choose_plain_with_two(rules, view)
    return choose_free_with_two(rules, view)


# ------------------------------------------------------------------------------------------------ the policy


@spliced
def choose_free(rules: Any, view: Any, hand: int, on: int, lead: bool) -> int:
    """Return the play of the seat to act, where no obligation but that of the first lead binds it."""
    if not lead:
        return lowest_answer(rules, hand, on)
    if view.required != 0 and rules.first_lead == 0:
        return view.required
    return longest_from_lowest(rules, hand)


@spliced
def choose(rules: Any, view: Any, stream: Any) -> int:  # noqa: ARG001  # it never draws
    """Return the play of the seat to act (the policy contract of `tlsim.engine.view`)."""
    if rules.decks == 2:
        return choose_with_two(rules, view)
    if view.asked_again != 0 or last_play_barred(rules, view) != 0:
        return choose_plain(rules, view)
    return choose_free(rules, view, view.hand, view.on, view.on == 0)
