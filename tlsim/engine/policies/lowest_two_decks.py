"""`lowest` with two decks: the choice of `tlsim.engine.policies.lowest`, of cards that may be there twice.

A play is its cards, and in `view.second` those that it takes twice. `choose_plain` compares all legal plays: it is the
plain version, the one for rare obligations, and the one for `ties = kickers`, where the lowest play that matches need
not beat. All else finds the play at once.
"""

from tlsim.engine import two_decks
from tlsim.engine.bits import lowest_bit, popcount
from tlsim.engine.choices import FIRST_LEAD_ALONE, TIES_KICKERS, TIES_LATER
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.one_deck import chop_class, class_shape, kind_of, length_of, top_of
from tlsim.engine.policies.lowest_plays import key_of, lowest_straight, sum_of
from tlsim.engine.shapes import (
    DOUBLE_STRAIGHT,
    PAIR,
    QUAD,
    QUAD_RUN,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    Code,
    Copies,
    above,
    count_at,
    covered,
    lowest,
    nibble,
    presence,
    runs,
)
from tlsim.engine.two_decks import at_least, cards_a_rank, copies_at, lattice_of
from tlsim.engine.view import View
from tlsim.rules.cards import NO_TWOS, ONES, TWOS, Mask
from tlsim.rules.ruleset import LINES, RulesRecord

# ------------------------------------------------------------------------------------------------ the plain version


@function
def sorts_before(play: Copies, other: Copies) -> bool:
    """Return whether, from the lowest card up, the first card that differs is lower: plays of equally many cards."""
    differ = (play[0] ^ other[0]) | (play[1] ^ other[1])
    if differ == 0:
        return False
    bit = lowest_bit(differ)
    return copies_at(play, bit) > copies_at(other, bit)


@function
def choose_plain(rules: RulesRecord, view: View) -> Mask:
    """Return the choice by comparing all legal plays; equal ones: the lowest first card that differs."""
    best, best_second, best_key = 0, 0, 0
    for k in range(two_decks.legal_plays(rules, view)):
        cards, second = view.plays[k], view.plays_second[k]
        if view.on == 0 and cards & lowest(view.hand) == 0:
            continue
        code = two_decks.classify(rules, cards, second)
        key = key_of(rules, view.on, code, cards) + sum_of(second)
        is_first = key == best_key and sorts_before((cards, second), (best, best_second))
        if best == 0 or key < best_key or is_first:
            best, best_second, best_key = cards, second, key
    view.second = best_second
    return best


# ------------------------------------------------------------------------------------------------ the lowest of a kind


@function
def lowest_copies(cards: Mask, second: Mask, n: int) -> Copies:
    """Return the n lowest of the cards of a rank, `second` of them there twice."""
    once, twice = 0, 0
    while n > 0:
        card = lowest(cards)
        cards ^= card
        once |= card
        n -= 1
        if n > 0 and second & card:
            twice |= card
            n -= 1
    return once, twice


@function
def lowest_runs(view: View, held: Copies, tops: Mask, each: int, length: int) -> Mask:
    """Return the set of `each` cards of `length` ranks in a row with the lowest top card, then the lowest sum.

    0 for none; `view.second` gets its second copies.
    """
    hand, hand_second = held
    starts = runs(at_least(lattice_of(hand, hand_second), each), length)
    while starts != 0:
        start = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = start + length - 1
        tops_here = nibble(tops, last)
        while tops_here != 0:
            top = lowest(tops_here)
            tops_here ^= top
            # of the last rank: the top card, and the lowest others of those up to it (2 * top - 1 has all those bits)
            up_to, up_to_second = nibble(hand, last) & (2 * top - 1), nibble(hand_second, last) & (2 * top - 1)
            if popcount(up_to) + popcount(up_to_second) >= each:
                others = up_to if up_to_second & top else up_to ^ top
                cards, second = lowest_copies(others, up_to_second & ~top, each - 1)
                cards, second = cards | top, second | (cards & top)
                for rank in range(start, last):
                    more, more_second = lowest_copies(nibble(hand, rank), nibble(hand_second, rank), each)
                    cards, second = cards | more, second | more_second
                view.second = second
                return cards
    return 0


@function
def lowest_of_shape(rules: RulesRecord, view: View, held: Copies, tops: Mask, shape: Code) -> Mask:
    """Return `lowest_runs` for the kind and length of a code, of the cards that may stand in such a play."""
    kind = kind_of(shape)
    allowed = held[0]
    if kind == STRAIGHT:
        allowed = rules.straight_cards
    elif kind == DOUBLE_STRAIGHT:
        allowed = rules.double_cards
    elif kind == QUAD:
        allowed = rules.quad_cards
    elif kind == QUAD_RUN:
        allowed = NO_TWOS
    held_allowed = held[0] & allowed, held[1] & allowed
    return lowest_runs(view, held_allowed, tops & allowed, cards_a_rank(kind), length_of(shape))


# ------------------------------------------------------------------------------------------------ answers and leads


@inline
def lowest_match(rules: RulesRecord, view: View, tops: Mask) -> Mask:
    """Return `lowest_of_shape` for the kind and length of the play to beat; what most plays are, looked up at once."""
    hand, hand_second, on = view.hand, view.hand_second, view.on
    kind = kind_of(on)
    if kind == SINGLE:
        return lowest(tops)
    if kind == PAIR:
        top = lowest((covered(hand) | hand_second) & tops)
        if top == 0:
            return 0
        mate = lowest(nibble(hand, lowest_bit(top) >> 2))
        if mate == top:
            view.second = top
        return top | mate
    if kind == STRAIGHT:
        return lowest_straight(hand & rules.straight_cards, tops & rules.straight_cards, length_of(on))
    return lowest_of_shape(rules, view, (hand, hand_second), tops, on)


@inline
def lowest_answer(rules: RulesRecord, view: View) -> Mask:
    """Return the lowest play that beats, a chop only when nothing matches; 0 for none. Not for `ties = kickers`."""
    hand, hand_second, on = view.hand, view.hand_second, view.on
    tops = above(hand, top_of(on))
    if rules.ties == TIES_LATER:
        tops = hand & (-1 << top_of(on))  # the same card as well
    play = lowest_match(rules, view, tops)
    classes = rules.chopped_by[chop_class(on)]
    if play != 0 or classes == 0:
        return play
    lattice = lattice_of(hand, hand_second)
    if at_least(lattice, QUAD) == 0 and runs(at_least(lattice, 2), 3) == 0:  # what any chop needs
        return 0
    for i in range(len(LINES)):
        chop = rules.chop_order[i]
        if classes >> chop & 1 and play == 0:
            play = lowest_of_shape(rules, view, (hand, hand_second), hand, class_shape(chop))
    return play


@function
def longest_from_lowest(rules: RulesRecord, view: View) -> Mask:
    """Return the combination with most cards among those that hold the lowest card of the hand."""
    hand, hand_second = view.hand, view.hand_second
    low, lattice = lowest_bit(hand) & 60, lattice_of(hand, hand_second)
    # A run ends where the first bit of `~ranks` is; `stop` bounds it at the rank after the 2s.
    rank, stop = low >> 2, ONES | 1 << 52
    straight = lowest_bit(~(presence(hand & rules.straight_cards) >> low) & stop) >> 2
    double = lowest_bit(~((at_least(lattice, 2) & rules.double_cards) >> low) & stop) >> 2
    double = min(double, rules.double_straight_max)
    n = min(count_at(lattice, rank), QUAD)
    if n == QUAD and nibble(rules.quad_cards, rank) == 0:
        n = TRIPLE
    each, length = n, 1
    if double >= 3 and 2 * double >= max(straight, n):
        each, length = 2, double
    elif straight >= max(n, rules.straight_min):
        each, length = 1, straight
    cards, second = 0, 0
    for r in range(rank, rank + length):
        more, more_second = lowest_copies(nibble(hand, r), nibble(hand_second, r), each)
        cards, second = cards | more, second | more_second
    view.second = second
    return cards


# ------------------------------------------------------------------------------------------------ the policy


@spliced
def choose_free(rules: RulesRecord, view: View) -> Mask:
    """Return the play of the seat to act, where no obligation but that of the first lead binds it.

    `view.second` is 0 before, and gets the second copies.
    """
    if rules.ties == TIES_KICKERS:
        return choose_plain(rules, view)
    if view.on != 0:
        return lowest_answer(rules, view)
    if view.required != 0 and rules.first_lead == FIRST_LEAD_ALONE:
        return view.required
    return longest_from_lowest(rules, view)


@spliced
def choose(rules: RulesRecord, view: View) -> Mask:
    """Return the play of the seat to act; `view.second` gets the second copies."""
    view.second = 0
    if view.asked_again != 0 or (rules.finish_on_two == 0 and view.hand & TWOS != 0):
        return choose_plain(rules, view)
    return choose_free(rules, view)
