"""`random`: every legal play, and passing when it may, with equal probability.

Each decision draws one random word, and no other. With n legal plays, passing counted among them where it is allowed,
the word picks one of n equal parts, and the part is the play.

`choose_free` finds the play by its number, without writing the plays out, where no obligation but that of the first
lead binds. `choose_plain` writes them out and takes one: the plain version, used where an obligation binds. Its plays
stand in another order, so which play a word means depends on which of the two is used; the engine chooses by the rules
and the hand alone. With two decks (`choose_with_two`) the plays are always written out.
"""

import numpy as np

from tlsim.engine import two_decks
from tlsim.engine.bits import kth_bit, lowest_bit, popcount, unlikely
from tlsim.engine.calls import lazy
from tlsim.engine.choices import FIRST_LEAD_ALONE
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.features import count_straights
from tlsim.engine.host import HAS_PDEP, types
from tlsim.engine.one_deck import (
    LOWEST_TWO,
    chop_class,
    class_kind,
    class_length,
    kind_of,
    last_play_barred,
    legal_plays,
    length_of,
    top_of,
)
from tlsim.engine.policies.kth_plays import (
    count_fixed_straights,
    count_long,
    kth_first_double,
    kth_first_straight,
    kth_fixed_straight,
    kth_long,
    kth_pair_of,
    kth_straight,
    kth_triple_of,
)
from tlsim.engine.rng import Stream, below, draw
from tlsim.engine.shapes import (
    PAIR,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    Code,
    above,
    count_at,
    count_doubles,
    counts,
    double_starts,
    has_three_in_a_row,
    holds_chop,
    kth_double,
    nibble,
    pair_choices,
    presence,
    quad_run_from,
    quads,
    runs_to,
    up1,
    up2,
    up3,
)
from tlsim.engine.view import OF_HAND, OF_VIEW_AND_WORD, View
from tlsim.rules.cards import Mask
from tlsim.rules.ruleset import RulesRecord

# ------------------------------------------------------------------------------------------------ the plain version


@inline
def n_choices(rules: RulesRecord, view: View, n_plays: int) -> int:
    """Return the number of choices, given the number of legal plays: one more where the seat may pass."""
    may_pass = view.on != 0 and (rules.must_play == 0 or view.asked_again != 0 or n_plays == 0)
    return n_plays + int(may_pass)


@lazy(OF_VIEW_AND_WORD)
def choose_plain(rules: RulesRecord, view: View, word: np.uint64) -> Mask:
    """Return the choice from the written-out legal plays: the plain version, and the one for obligations."""
    n = legal_plays(rules, view)
    k = below(word, n_choices(rules, view, n))
    return view.plays[k] if k < n else 0


@lazy(OF_VIEW_AND_WORD)
def choose_with_two(rules: RulesRecord, view: View, word: np.uint64) -> Mask:
    """Return the choice from the written-out legal plays of two decks; `view.second` gets the second copies."""
    n = two_decks.legal_plays(rules, view)
    k = below(word, n_choices(rules, view, n))
    view.second = view.plays_second[k] if k < n else 0
    return view.plays[k] if k < n else 0


# ------------------------------------------------------------------------------------------------ leads


@function
def random_long_lead(rules: RulesRecord, hand: Mask, k: int) -> Mask:
    """Return the k-th double straight of a hand, by length."""
    hand &= rules.double_cards
    length = 3
    while True:
        n = count_doubles(hand, hand, length)
        if k < n:
            return kth_double(hand, hand, length, k)
        k -= n
        length += 1


@inline
def random_lead(rules: RulesRecord, hand: Mask, word: np.uint64) -> Mask:
    """Return a uniform play of all that a hand may lead without obligation.

    Which of singles, pairs, triples and quads it is nobody can predict, so all are looked up: an index past the end of
    a mask selects nothing, nor does one below 0, which is taken modulo 64, since 17 cards have at most 61 such plays
    (four quads and a card: 4 * 15 + 1).
    """
    x, y, z = up1(hand), up2(hand), up3(hand)
    a, b, c = hand & x, hand & y, hand & z  # the top cards of pairs, by how many suits down the mate is
    d, e, f = a & y, a & z, b & z  # those of triples: mates 1 and 2, 1 and 3, 2 and 3 suits down
    four = quads(hand & rules.quad_cards)
    n_singles = popcount(hand)
    n_pairs = popcount(a) + popcount(b) + popcount(c)
    n_triples = popcount(d) + popcount(e) + popcount(f)
    n_quads = popcount(four)
    in_straights = hand & rules.straight_cards
    n_straights = 0
    n_doubles = 0
    if has_three_in_a_row(presence(hand)):  # most hands have no three ranks in a row
        if has_three_in_a_row(presence(in_straights)):
            n_straights = count_straights(counts(in_straights), rules.straight_min)
        in_doubles = hand & rules.double_cards
        if unlikely(double_starts(in_doubles, in_doubles, 3) != 0):
            for length in range(3, rules.double_straight_max + 1):
                n_doubles += count_doubles(in_doubles, in_doubles, length)
    k = below(word, n_singles + n_pairs + n_triples + n_quads + n_straights + n_doubles)
    if k < n_straights:
        return kth_straight(in_straights, rules.straight_min, k)
    k -= n_straights
    if not HAS_PDEP:
        if k < n_singles:
            return kth_bit(hand, k)
        if k < n_singles + n_pairs:
            return kth_pair_of((a, b, c), k - n_singles)
        if k < n_singles + n_pairs + n_triples:
            return kth_triple_of((d, e, f), k - n_singles - n_pairs)
        if k < n_singles + n_pairs + n_triples + n_quads:
            return quad_run_from(kth_bit(four, k - n_singles - n_pairs - n_triples), 1)
    elif k < n_singles + n_pairs + n_triples + n_quads:  # one of the four is not empty, see above
        pair, triple = kth_pair_of((a, b, c), k - n_singles), kth_triple_of((d, e, f), k - n_singles - n_pairs)
        quad = quad_run_from(kth_bit(four, k - n_singles - n_pairs - n_triples), 1)
        return kth_bit(hand, k) | pair | triple | quad
    return random_long_lead(rules, hand, k - n_singles - n_pairs - n_triples - n_quads)


@lazy(types.int64(*OF_HAND.args, types.int64, types.uint64))
def random_first_lead(rules: RulesRecord, hand: Mask, card: Mask, word: np.uint64) -> Mask:
    """Return a uniform play of a hand that holds its lowest card: in the order, so the choice, of `choose_plain`."""
    rank = lowest_bit(card) >> 2
    mates = nibble(hand, rank) ^ card
    n = popcount(mates)
    has_quad = n == 3 and card & rules.quad_cards != 0
    n_of_a_kind = 1 + n + pair_choices(n) + int(has_quad)
    in_straights, in_doubles = hand & rules.straight_cards, hand & rules.double_cards
    lattice, n_straights, ways = counts(in_straights), 0, 1
    for last in range(rank + 1, 13):
        ways *= count_at(lattice, last)
        if last - rank + 1 >= rules.straight_min:
            n_straights += ways
    lattice, n_doubles, ways = counts(in_doubles), 0, n
    for last in range(rank + 1, min(rank + rules.double_straight_max, 13)):
        ways *= pair_choices(count_at(lattice, last))
        if last >= rank + 2:
            n_doubles += ways
    k = below(word, n_of_a_kind + n_straights + n_doubles)
    if k >= n_of_a_kind + n_straights:
        return card | kth_first_double(in_doubles, rank, mates, k - n_of_a_kind - n_straights)
    if k >= n_of_a_kind:
        return card | kth_first_straight(in_straights, rank, rules.straight_min, k - n_of_a_kind)
    if k == 0:
        return card
    if k <= n:
        return card | kth_bit(mates, k - 1)
    if k > n + pair_choices(n):  # the quad
        return card | mates
    if k == 1 + n:  # the triple of the lowest cards
        return card | kth_bit(mates, 0) | kth_bit(mates, 1)
    return card | (mates ^ kth_bit(mates, k - 2 - n))


# ------------------------------------------------------------------------------------------------ answers


@function
def random_chop_or_match(rules: RulesRecord, hand: Mask, on: Code, word: np.uint64) -> Mask:
    """Return a uniform play of all that beat `on`, passing included: any kind, chops included."""
    tops, kind, length = above(hand, top_of(on)), kind_of(on), length_of(on)
    a, b, c = tops & up1(hand), tops & up2(hand), tops & up3(hand)
    d, e, f = a & up2(hand), a & up3(hand), b & up3(hand)
    if kind == SINGLE:
        n = popcount(tops)
    elif kind == PAIR:
        n = popcount(a) + popcount(b) + popcount(c)
    elif kind == TRIPLE:
        n = popcount(d) + popcount(e) + popcount(f)
    else:
        n = count_long(rules, hand, tops, kind, length)
    total = n + 1
    classes = rules.chopped_by[chop_class(on)] if holds_chop(hand) else 0
    left = classes
    while left != 0:
        chop = lowest_bit(left)
        left &= left - 1
        total += count_long(rules, hand, hand, class_kind(chop), class_length(chop))
    k = below(word, total)
    if k < n:
        if kind == SINGLE:
            return kth_bit(tops, k)
        if kind == PAIR:
            return kth_pair_of((a, b, c), k)
        if kind == TRIPLE:
            return kth_triple_of((d, e, f), k)
        return kth_long(rules, hand, tops, kind, length, k)
    k -= n
    while classes != 0:
        chop = lowest_bit(classes)
        classes &= classes - 1
        n = count_long(rules, hand, hand, class_kind(chop), class_length(chop))
        if k < n:
            return kth_long(rules, hand, hand, class_kind(chop), class_length(chop), k)
        k -= n
    return 0


@function
def random_straight_of(hand: Mask, tops: Mask, length: int, word: np.uint64) -> Mask:
    """Return `random_straight` where there is one."""
    n = count_fixed_straights(hand, tops, length)
    k = below(word, n + 1)
    return kth_fixed_straight(hand, tops, length, k) if k < n else 0


@inline
def random_straight(hand: Mask, on: Code, word: np.uint64) -> Mask:
    """Return a uniform choice of the straights of a hand that match and beat `on`, and passing."""
    tops, length = above(hand, top_of(on)), length_of(on)
    if runs_to(presence(hand), tops, length) == 0:
        return 0
    return random_straight_of(hand, tops, length, word)


@inline
def random_single(hand: Mask, on: Code, word: np.uint64) -> Mask:
    """Return `random_answer` to a single that no chop of the hand beats: the index past the end is the pass."""
    tops = above(hand, top_of(on))
    return kth_bit(tops, below(word, popcount(tops) + 1))


@inline
def random_answer(rules: RulesRecord, hand: Mask, on: Code, word: np.uint64) -> Mask:
    """Return a uniform play of all that beat `on`, passing included.

    For singles, pairs and triples without a 2 the index past the end selects nothing, which is the pass: no branch.
    """
    kind = kind_of(on)
    if kind == STRAIGHT:  # no target of chops
        return random_straight(hand & rules.straight_cards, on, word)
    if kind > TRIPLE or (top_of(on) >= LOWEST_TWO and unlikely(holds_chop(hand))):
        return random_chop_or_match(rules, hand, on, word)
    tops = above(hand, top_of(on))
    if kind == SINGLE:
        return kth_bit(tops, below(word, popcount(tops) + 1))
    a, b, c = tops & up1(hand), tops & up2(hand), tops & up3(hand)
    if kind == PAIR:
        return kth_pair_of((a, b, c), below(word, popcount(a) + popcount(b) + popcount(c) + 1))
    d, e, f = a & up2(hand), a & up3(hand), b & up3(hand)
    return kth_triple_of((d, e, f), below(word, popcount(d) + popcount(e) + popcount(f) + 1))


# ------------------------------------------------------------------------------------------------ the policy


@spliced
def choose_free(rules: RulesRecord, view: View, hand: Mask, on: Code, lead: bool, word: np.uint64) -> Mask:
    """Return the play of the seat to act, where no obligation but that of the first lead binds it."""
    if not lead:
        return random_answer(rules, hand, on, word)
    if view.required == 0:
        return random_lead(rules, hand, word)
    if rules.first_lead == FIRST_LEAD_ALONE:
        return view.required
    return random_first_lead(rules, hand, view.required, word)


@spliced
def choose(rules: RulesRecord, view: View, stream: Stream) -> Mask:
    """Return the play of the seat to act (the policy contract of `tlsim.engine.view`); one draw a decision."""
    if rules.decks == 2:
        return choose_with_two(rules, view, draw(stream))
    if (view.asked_again | rules.must_play) != 0 or last_play_barred(rules, view) != 0:
        return choose_plain(rules, view, draw(stream))
    return choose_free(rules, view, view.hand, view.on, view.on == 0, draw(stream))
