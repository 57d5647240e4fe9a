"""`random`: every legal play, and passing when it may, with equal probability."""

from typing import Any

from tlsim.engine import two_decks
from tlsim.engine.bits import kth_bit, lowest_bit, popcount, quotient, unlikely
from tlsim.engine.calls import lazy
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.features import count_straights
from tlsim.engine.host import HAS_PDEP, types
from tlsim.engine.one_deck import (
    chop_class,
    class_kind,
    class_length,
    kind_of,
    last_play_barred,
    legal_plays,
    length_of,
    top_of,
)
from tlsim.engine.rng import below, draw
from tlsim.engine.shapes import (
    PAIR,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    above,
    count_at,
    count_doubles,
    counts,
    double_starts,
    holds_chop,
    kth_double,
    kth_pair,
    nibble,
    pair_choices,
    presence,
    quad_run_starts,
    quads,
    runs,
    up1,
    up2,
    up3,
)
from tlsim.engine.view import OF_HAND, OF_VIEW_AND_WORD


@inline
def one_of(cards: int, n: int, k: int) -> Any:
    """Return one of n cards by k modulo n, and the quotient: k as a number of which each choice is a digit."""
    rest = quotient(k, n)
    return kth_bit(cards, k - rest * n), rest


@function
def kth_straight(h: int, straight_min: int, k: int) -> int:
    """Return the k-th of the straights that `count_straights` counts: by end rank, then card by card downwards."""
    lattice = counts(h)
    rank = straight_min - 1
    t = 0
    while True:  # the end rank
        shorter = 1
        for r in range(rank - straight_min + 1, rank):
            shorter *= count_at(lattice, r)
        t = count_at(lattice, rank) * (t + shorter)
        if k < t:
            break
        k -= t
        rank += 1
    play = 0
    while True:
        card, k = one_of(nibble(h, rank), count_at(lattice, rank), k)
        play |= card
        shorter = 1
        for r in range(rank - straight_min + 1, rank):
            shorter *= count_at(lattice, r)
        if k < shorter:
            break
        k -= shorter
        rank -= 1
    for r in range(rank - straight_min + 1, rank):
        card, k = one_of(nibble(h, r), count_at(lattice, r), k)
        play |= card
    return play


@function
def count_fixed_straights(h: int, hi: int, length: int) -> int:
    """Return the number of straights of one length in h with the top card in hi."""
    starts = runs(presence(h), length) & (presence(hi) >> (4 * (length - 1)))
    if starts == 0:
        return 0
    lattice, total = counts(h), 0
    while starts != 0:
        rank = lowest_bit(starts) >> 2
        starts &= starts - 1
        product = popcount(nibble(hi, rank + length - 1))
        for r in range(rank, rank + length - 1):
            product *= count_at(lattice, r)
        total += product
    return total


@function
def kth_fixed_straight(h: int, hi: int, length: int, k: int) -> int:
    """Return the k-th of the straights that `count_fixed_straights` counts."""
    starts = runs(presence(h), length) & (presence(hi) >> (4 * (length - 1)))
    lattice = counts(h)
    while True:
        rank = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = rank + length - 1
        n_top = popcount(nibble(hi, last))
        product = n_top
        for r in range(rank, last):
            product *= count_at(lattice, r)
        if k >= product:
            k -= product
            continue
        play, k = one_of(nibble(hi, last), n_top, k)
        for r in range(rank, last):
            card, k = one_of(nibble(h, r), count_at(lattice, r), k)
            play |= card
        return play


@function
def count_long(rules: Any, h: int, hi: int, kind: int, length: int) -> int:
    """Return the number of plays of a kind from quad on with the top card in hi."""
    if kind == STRAIGHT:
        return count_fixed_straights(h & rules.straight_cards, hi & rules.straight_cards, length)
    if kind < STRAIGHT:
        return popcount(quads(h & rules.quad_cards) & presence(hi))
    if kind == STRAIGHT + 1:
        return count_doubles(h & rules.double_cards, hi & rules.double_cards, length)
    return popcount(quad_run_starts(h, hi, length))


@function
def kth_long(rules: Any, h: int, hi: int, kind: int, length: int, k: int) -> int:
    """Return the k-th of the plays that `count_long` counts."""
    if kind == STRAIGHT:
        return kth_fixed_straight(h & rules.straight_cards, hi & rules.straight_cards, length, k)
    if kind < STRAIGHT:
        return kth_bit(quads(h & rules.quad_cards) & presence(hi), k) * 15
    if kind == STRAIGHT + 1:
        return kth_double(h & rules.double_cards, hi & rules.double_cards, length, k)
    return kth_bit(quad_run_starts(h, hi, length), k) * ((1 << (4 * length)) - 1)


@inline
def pairs_at(a: int, b: int, c: int, k: int) -> int:
    """Return the k-th pair by top cards whose mate is 1 (a), 2 (b), 3 (c) suits down; 0 past the end.

    No branch: an index below 0 is taken modulo 64, which is past the end of a hand of 20 as well.
    """
    n_a, n_b = popcount(a), popcount(b)
    if not HAS_PDEP:  # one search costs more than to choose where
        mask, at, down = a, k, 1
        mask, at, down = (b, k - n_a, 2) if k >= n_a else (mask, at, down)
        mask, at, down = (c, k - n_a - n_b, 3) if k >= n_a + n_b else (mask, at, down)
        top = kth_bit(mask, at)
        return top | top >> down
    x, y, z = kth_bit(a, k), kth_bit(b, k - n_a), kth_bit(c, k - n_a - n_b)
    return x | x >> 1 | y | y >> 2 | z | z >> 3


@inline
def triples_at(a: int, b: int, c: int, k: int) -> int:
    """Return the k-th triple by top cards whose mates are 1 and 2 (a), 1 and 3 (b), 2 and 3 (c) suits down.

    Past the end, and without branches, as `pairs_at`.
    """
    n_a, n_b = popcount(a), popcount(b)
    if not HAS_PDEP:
        mask, at, down, lower = a, k, 1, 2
        mask, at, down, lower = (b, k - n_a, 1, 3) if k >= n_a else (mask, at, down, lower)
        mask, at, down, lower = (c, k - n_a - n_b, 2, 3) if k >= n_a + n_b else (mask, at, down, lower)
        top = kth_bit(mask, at)
        return top | top >> down | top >> lower
    x, y, z = kth_bit(a, k), kth_bit(b, k - n_a), kth_bit(c, k - n_a - n_b)
    return x | x >> 1 | x >> 2 | y | y >> 1 | y >> 3 | z | z >> 2 | z >> 3


@function
def random_long_lead(rules: Any, h: int, k: int) -> int:
    """Return the k-th double straight of h, by length."""
    h &= rules.double_cards
    length = 3
    while True:
        n = count_doubles(h, h, length)
        if k < n:
            return kth_double(h, h, length, k)
        k -= n
        length += 1


@inline
def random_lead(rules: Any, h: int, word: Any) -> int:
    """Return a uniform play of all that h may lead without obligation.

    Which of singles, pairs, triples and quads it is nobody can predict, so all are looked up: an index past the end of
    a mask selects nothing, nor does one below 0, which is taken modulo 64, since 17 cards have at most 61 such plays
    (four quads and a card: 4 * 15 + 1).
    """
    x, y, z = up1(h), up2(h), up3(h)
    a, b, c = h & x, h & y, h & z
    d, e, f = a & y, a & z, b & z
    four = quads(h & rules.quad_cards)
    n_1 = popcount(h)
    n_2 = popcount(a) + popcount(b) + popcount(c)
    n_3 = popcount(d) + popcount(e) + popcount(f)
    n_4 = popcount(four)
    in_straights = h & rules.straight_cards
    n_5 = 0
    n_6 = 0
    ranks = presence(h)
    if ranks & (ranks >> 4) & (ranks >> 8) != 0:  # most hands have no three ranks in a row
        ranks = presence(in_straights)
        if ranks & (ranks >> 4) & (ranks >> 8) != 0:
            n_5 = count_straights(counts(in_straights), rules.straight_min)
        in_doubles = h & rules.double_cards
        if unlikely(double_starts(in_doubles, in_doubles, 3) != 0):
            for length in range(3, rules.double_straight_max + 1):
                n_6 += count_doubles(in_doubles, in_doubles, length)
    k = below(word, n_1 + n_2 + n_3 + n_4 + n_5 + n_6)
    if k < n_5:
        return kth_straight(in_straights, rules.straight_min, k)
    k -= n_5
    if not HAS_PDEP:
        if k < n_1:
            return kth_bit(h, k)
        if k < n_1 + n_2:
            return pairs_at(a, b, c, k - n_1)
        if k < n_1 + n_2 + n_3:
            return triples_at(d, e, f, k - n_1 - n_2)
        if k < n_1 + n_2 + n_3 + n_4:
            return kth_bit(four, k - n_1 - n_2 - n_3) * 15
    elif k < n_1 + n_2 + n_3 + n_4:  # one of the four is not empty, see above
        of_two, of_three = pairs_at(a, b, c, k - n_1), triples_at(d, e, f, k - n_1 - n_2)
        return kth_bit(h, k) | of_two | of_three | kth_bit(four, k - n_1 - n_2 - n_3) * 15
    return random_long_lead(rules, h, k - n_1 - n_2 - n_3 - n_4)


@function
def random_chop_or_match(rules: Any, h: int, on: int, word: Any) -> int:
    """Return a uniform play of all that beat `on`, passing included: any kind, chops included."""
    hi, kind, length = above(h, top_of(on)), kind_of(on), length_of(on)
    a, b, c = hi & up1(h), hi & up2(h), hi & up3(h)
    d, e, f = a & up2(h), a & up3(h), b & up3(h)
    if kind == SINGLE:
        n = popcount(hi)
    elif kind == PAIR:
        n = popcount(a) + popcount(b) + popcount(c)
    elif kind == TRIPLE:
        n = popcount(d) + popcount(e) + popcount(f)
    else:
        n = count_long(rules, h, hi, kind, length)
    total = n + 1
    classes = rules.chopped_by[chop_class(on)] if holds_chop(h) else 0
    left = classes
    while left != 0:
        chop = lowest_bit(left)
        left &= left - 1
        total += count_long(rules, h, h, class_kind(chop), class_length(chop))
    k = below(word, total)
    if k < n:
        if kind == SINGLE:
            return kth_bit(hi, k)
        if kind == PAIR:
            return pairs_at(a, b, c, k)
        if kind == TRIPLE:
            return triples_at(d, e, f, k)
        return kth_long(rules, h, hi, kind, length, k)
    k -= n
    while classes != 0:
        chop = lowest_bit(classes)
        classes &= classes - 1
        n = count_long(rules, h, h, class_kind(chop), class_length(chop))
        if k < n:
            return kth_long(rules, h, h, class_kind(chop), class_length(chop), k)
        k -= n
    return 0


@function
def random_straight_of(h: int, hi: int, length: int, word: Any) -> int:
    """Return `random_straight` where there is one."""
    n = count_fixed_straights(h, hi, length)
    k = below(word, n + 1)
    return kth_fixed_straight(h, hi, length, k) if k < n else 0


@inline
def random_straight(h: int, on: int, word: Any) -> int:
    """Return a uniform choice of the straights of h that match and beat `on`, and passing."""
    hi, length = above(h, top_of(on)), length_of(on)
    if runs(presence(h), length) & (presence(hi) >> (4 * (length - 1))) == 0:
        return 0
    return random_straight_of(h, hi, length, word)


@inline
def random_single(h: int, on: int, word: Any) -> int:
    """Return `random_answer` to a single that no chop of h beats."""
    hi = above(h, top_of(on))
    return kth_bit(hi, below(word, popcount(hi) + 1))


@inline
def random_answer(rules: Any, h: int, on: int, word: Any) -> int:
    """Return a uniform play of all that beat `on`, passing included.

    For singles, pairs and triples without a 2 the index past the end selects nothing, which is the pass: no branch.
    """
    kind = kind_of(on)
    if kind == STRAIGHT:  # no target of chops
        return random_straight(h & rules.straight_cards, on, word)
    if kind > TRIPLE or (top_of(on) >= 48 and unlikely(holds_chop(h))):
        return random_chop_or_match(rules, h, on, word)
    hi = above(h, top_of(on))
    if kind == SINGLE:
        return kth_bit(hi, below(word, popcount(hi) + 1))
    a, b, c = hi & up1(h), hi & up2(h), hi & up3(h)
    if kind == PAIR:
        return pairs_at(a, b, c, below(word, popcount(a) + popcount(b) + popcount(c) + 1))
    d, e, f = a & up2(h), a & up3(h), b & up3(h)
    return triples_at(d, e, f, below(word, popcount(d) + popcount(e) + popcount(f) + 1))


@lazy(OF_VIEW_AND_WORD)
def choose_plain(rules: Any, view: Any, word: Any) -> int:
    """Return the choice from the written-out legal plays: the plain version, and the one for obligations."""
    n = legal_plays(rules, view)
    may_pass = view.on != 0 and (rules.must_play == 0 or view.asked_again != 0 or n == 0)
    k = below(word, n + (1 if may_pass else 0))
    return view.plays[k] if k < n else 0


@lazy(OF_VIEW_AND_WORD)
def choose_with_two(rules: Any, view: Any, word: Any) -> int:
    """Return the choice from the written-out legal plays of two decks; `view.second` gets the second copies."""
    n = two_decks.legal_plays(rules, view)
    may_pass = view.on != 0 and (rules.must_play == 0 or view.asked_again != 0 or n == 0)
    k = below(word, n + (1 if may_pass else 0))
    view.second = view.plays_second[k] if k < n else 0
    return view.plays[k] if k < n else 0


@function
def kth_first_straight(h: int, rank: int, straight_min: int, k: int) -> int:
    """Return the k-th straight of h that starts at a rank, by length; without the card of that rank."""
    lattice = counts(h)
    n, last = count_at(lattice, rank + 1), rank + 1
    while last - rank + 1 < straight_min or k >= n:
        if last - rank + 1 >= straight_min:
            k -= n
        last += 1
        n *= count_at(lattice, last)
    play = 0
    for r in range(rank + 1, last + 1):
        n = count_at(lattice, r)
        play |= kth_bit(nibble(h, r), k % n)
        k //= n
    return play


@function
def kth_first_double(h: int, rank: int, mates: int, k: int) -> int:
    """Return the k-th double straight of h that starts at a rank, by length; of that rank one of `mates`."""
    lattice = counts(h)
    last = rank + 2
    n = popcount(mates) * pair_choices(count_at(lattice, rank + 1)) * pair_choices(count_at(lattice, last))
    while k >= n:
        k -= n
        last += 1
        n *= pair_choices(count_at(lattice, last))
    n = pair_choices(count_at(lattice, last))
    play = kth_pair(nibble(h, last), nibble(h, last), k % n)
    k //= n
    play |= kth_bit(mates, k % popcount(mates))
    k //= popcount(mates)
    for r in range(rank + 1, last):
        n = pair_choices(count_at(lattice, r))
        play |= kth_pair(nibble(h, r), nibble(h, r), k % n)
        k //= n
    return play


@lazy(types.int64(*OF_HAND.args, types.int64, types.uint64))
def random_first_lead(rules: Any, h: int, card: int, word: Any) -> int:
    """Return a uniform play of h that holds its lowest card: in the order, so the choice, of `choose_plain`."""
    rank = lowest_bit(card) >> 2
    mates = nibble(h, rank) ^ card
    n = popcount(mates)
    n_of_a_kind = 1 + n + pair_choices(n) + (1 if n == 3 and card & rules.quad_cards else 0)
    in_straights, in_doubles = h & rules.straight_cards, h & rules.double_cards
    lattice, n_straights, product = counts(in_straights), 0, 1
    for last in range(rank + 1, 13):
        product *= count_at(lattice, last)
        n_straights += product if last - rank + 1 >= rules.straight_min else 0
    lattice, n_doubles, product = counts(in_doubles), 0, n
    for last in range(rank + 1, min(rank + rules.double_straight_max, 13)):
        product *= pair_choices(count_at(lattice, last))
        n_doubles += product if last >= rank + 2 else 0
    k = below(word, n_of_a_kind + n_straights + n_doubles)
    if k >= n_of_a_kind + n_straights:
        return card | kth_first_double(in_doubles, rank, mates, k - n_of_a_kind - n_straights)
    if k >= n_of_a_kind:
        return card | kth_first_straight(in_straights, rank, rules.straight_min, k - n_of_a_kind)
    if k == 0:
        return card
    if k <= n:
        return card | kth_bit(mates, k - 1)
    if k == 1 + n or k > n + pair_choices(n):  # the triple of the lowest cards; the quad
        return card | kth_bit(mates, 0) | kth_bit(mates, 1) | (mates if k > n + pair_choices(n) else 0)
    return card | (mates ^ kth_bit(mates, k - 2 - n))


@spliced
def choose_free(rules: Any, view: Any, hand: int, on: int, lead: bool, word: Any) -> int:
    """Return the play of the seat to act, where no obligation but that of the first lead binds it."""
    if not lead:
        return random_answer(rules, hand, on, word)
    if view.required == 0:
        return random_lead(rules, hand, word)
    return random_first_lead(rules, hand, view.required, word) if rules.first_lead != 0 else view.required


@spliced
def choose(rules: Any, view: Any, stream: Any) -> int:
    """Return the play of the seat to act (the policy contract of `tlsim.engine.view`); one draw a decision."""
    if rules.decks == 2:
        return choose_with_two(rules, view, draw(stream))
    if view.asked_again | rules.must_play != 0 or last_play_barred(rules, view) != 0:
        return choose_plain(rules, view, draw(stream))
    return choose_free(rules, view, view.hand, view.on, view.on == 0, draw(stream))
