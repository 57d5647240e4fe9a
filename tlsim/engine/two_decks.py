"""Two decks: what a play is, what beats what, every legal play, features (docs/rules.md, sections 2, 3, 6, 7 and 10).

A hand is two masks: `h` the cards it holds at least once, `s` those it holds twice; a play likewise `c` and `t`. Codes
and chop classes are those of `engine.one_deck`. Shapes are read off the count lattice, with up to 8 cards a rank; which
cards a rank gives to a play is looked up. Clear rather than fast: most tables play with one deck.
"""

from itertools import product
from typing import Any

import numpy as np

from tlsim.engine import one_deck
from tlsim.engine.bits import highest_bit, lowest_bit, popcount
from tlsim.engine.calls import lazy
from tlsim.engine.compile import function, inline, kernel
from tlsim.engine.features import (
    BLACK_TWO,
    DOUBLE_STRAIGHT_3,
    DOUBLE_STRAIGHT_4,
    QUAD_LEFT,
    RED_TWO,
    instant_kind,
    instant_win_bits_of,
    pick_instant_win,
)
from tlsim.engine.host import types
from tlsim.engine.one_deck import chop_class, class_kind, class_length, code_of, kind_of, length_of, matches, top_of
from tlsim.engine.shapes import DOUBLE_STRAIGHT, QUAD, QUAD_RUN, STRAIGHT, count_at, counts, presence
from tlsim.engine.view import OF_HAND, OF_VIEW
from tlsim.rules.cards import BLACK, NO_TWOS, ONES, RED, TWOS

LATER, KICKERS = 1, 2  # `ties`, as packed


# ------------------------------------------------------------------------------------------------ multisets of cards


@inline
def lattice_of(h: int, s: int) -> int:
    """Return the number of cards of each rank, 0 to 8, in its nibble."""
    return counts(h) + counts(s)


@inline
def at_least(lattice: int, n: int) -> int:
    """Return one bit (the lowest of the nibble) for every rank with at least n cards, n from 1 to 8."""
    return ((lattice + (8 - n) * ONES) >> 3) & ONES


@inline
def rest_of(h: int, s: int, c: int, t: int) -> int:
    """Return the cards held at least once when a play leaves a hand; those held twice are `s & ~c`."""
    return (h & ~c) | (s & c & ~t)


@inline
def size_of(h: int, s: int) -> int:
    """Return the number of cards."""
    return popcount(h) + popcount(s)


# ------------------------------------------------------------------------------------------------ plays


@function
def classify_runs(rules: Any, c: int, t: int) -> int:
    """Return the code of cards of more than one rank, 0 when they are no combination."""
    low, top, ranks = lowest_bit(c) & 60, highest_bit(c), presence(c)
    n, length = size_of(c, t), popcount(ranks)
    each = n // length
    if n != each * length or ranks >> low != ONES & ((1 << (4 * length)) - 1) or each > QUAD:
        return 0
    if at_least(lattice_of(c, t), each) != ranks:
        return 0
    if each == 1:
        return code_of(STRAIGHT, length, top) if length >= rules.straight_min and c & ~rules.straight_cards == 0 else 0
    if each == 2:
        allowed = 3 <= length <= rules.double_straight_max and c & ~rules.double_cards == 0
        return code_of(DOUBLE_STRAIGHT, length, top) if allowed else 0
    code = code_of(QUAD_RUN, length, top)
    allowed = each == QUAD and length <= 3 and c & TWOS == 0 and rules.chop_classes >> chop_class(code) & 1
    return code if allowed else 0


@inline
def classify(rules: Any, c: int, t: int) -> int:
    """Return the code of cards, 0 when they are no combination under these rules (section 2)."""
    if c == 0 or t & ~c != 0:
        return 0
    if c >> (lowest_bit(c) & 60) > 15:
        return classify_runs(rules, c, t)
    n = size_of(c, t)
    return code_of(n, 1, highest_bit(c)) if n < QUAD or (n == QUAD and c & rules.quad_cards) else 0


@inline
def is_higher(c: int, t: int, on_c: int, on_t: int) -> bool:
    """Return whether, from the top down, the first card that differs is higher: equally many cards (section 7)."""
    differ = (c ^ on_c) | (t ^ on_t)
    if differ == 0:
        return False
    bit = highest_bit(differ)
    return (c >> bit & 1) + (t >> bit & 1) > (on_c >> bit & 1) + (on_t >> bit & 1)


@function
def beats(rules: Any, code: int, c: int, t: int, on: int, on_c: int, on_t: int) -> bool:
    """Return whether a play beats another (sections 3 and 7)."""
    if not matches(code, on):
        return (rules.chopped_by[chop_class(on)] >> chop_class(code)) & 1 == 1
    if top_of(code) != top_of(on):
        return code > on
    return rules.ties == LATER or (rules.ties == KICKERS and is_higher(c, t, on_c, on_t))


@function
def keeps_obligations(
    rules: Any, h: int, s: int, on: int, required: int, again: int, code: int, c: int, t: int
) -> bool:
    """Return whether a play keeps to the first lead, to being asked again, and to `finish_on_two` (4.3, 4.5, 9)."""
    if rules.finish_on_two == 0 and c == h and t == s and c & TWOS != 0 and (on != 0 or size_of(c, t) > 1):
        return False
    if on == 0 and required != 0:
        return (c == required and t == 0) if rules.first_lead == 0 else c & required != 0
    return again == 0 or rules.unlocked_classes >> chop_class(code) & 1 == 1


# ------------------------------------------------------------------------------------------------ legal plays


def _list_picks() -> tuple[Any, Any]:
    """Return every way to take 1 to 4 cards of one rank.

    Of the cards `g` of a rank, `q` of them there twice, the picks of n cards are `picks[first[k]:first[k + 1]]` with
    k = (g | q << 4) * 5 + n; a pick is its cards, and four bits up those that it takes twice.
    """
    first, picks = [0], []
    for key in range(256 * 5):
        g, q, n = key // 5 & 15, key // 5 >> 4, key % 5
        most = [(g >> suit & 1) + (q >> suit & 1) if q & ~g == 0 else 0 for suit in range(4)]
        for taken in product(*(range(m + 1) for m in most)):
            if n and sum(taken) == n:
                cards = sum(1 << suit for suit in range(4) if taken[suit])
                picks.append(cards | sum(16 << suit for suit in range(4) if taken[suit] == 2))
        first.append(len(picks))
    return np.array(first, np.int64), np.array(picks, np.int64)


_FIRST, _PICKS = _list_picks()


@inline
def picks_at(h: int, s: int, rank: int, each: int) -> int:
    """Return the index into `_FIRST` of the picks of `each` cards of a rank."""
    return ((h >> (4 * rank) & 15) | (s >> (4 * rank) & 15) << 4) * 5 + each


@function
def write_runs(view: Any, n: int, h: int, s: int, each: int, length: int) -> int:
    """Write every set of `each` cards of `length` ranks in a row, whatever the rules; return the new end."""
    for start in range(14 - length):
        total = 1
        for rank in range(start, start + length):
            at = picks_at(h, s, rank, each)
            total *= _FIRST[at + 1] - _FIRST[at]
        for pick_of_all in range(total):
            k, c, t = pick_of_all, 0, 0
            for rank in range(start, start + length):
                at = picks_at(h, s, rank, each)
                m = _FIRST[at + 1] - _FIRST[at]
                pick = _PICKS[_FIRST[at] + k % m]
                k //= m
                c |= (pick & 15) << (4 * rank)
                t |= (pick >> 4) << (4 * rank)
            view.plays[n], view.plays_second[n] = c, t
            n += 1
    return n


@function
def write_kind(view: Any, n: int, h: int, s: int, kind: int, length: int) -> int:
    """Write every set of cards that is of a kind and length, whatever else the rules say; return the new end."""
    each = kind if kind <= QUAD else 1 if kind == STRAIGHT else 2 if kind == DOUBLE_STRAIGHT else QUAD
    return write_runs(view, n, h, s, each, length)


@function
def write_leads(rules: Any, view: Any, h: int, s: int) -> int:
    """Write every combination that may be led, and some that may not; return how many."""
    n = 0
    for each in range(1, QUAD + 1):
        n = write_runs(view, n, h, s, each, 1)
    for length in range(rules.straight_min, 14):
        n = write_runs(view, n, h & rules.straight_cards, s & rules.straight_cards, 1, length)
    for length in range(3, rules.double_straight_max + 1):
        n = write_runs(view, n, h & rules.double_cards, s & rules.double_cards, 2, length)
    return n


@function
def legal_plays(rules: Any, view: Any) -> int:
    """Write every legal play of the seat to act to `view.plays` and `view.plays_second`, each once; return how many.

    All choices of cards, chops included, passing not (sections 3, 4.3, 4.5, 7 and `finish_on_two` in 9).
    """
    h, s, on = view.hand, view.hand_second, view.on
    if on == 0:
        n = write_leads(rules, view, h, s)
    else:
        n = write_kind(view, 0, h, s, kind_of(on), length_of(on))
        chops = rules.chopped_by[chop_class(on)]
        while chops != 0:
            chop = lowest_bit(chops)
            chops &= chops - 1
            n = write_kind(view, n, h, s, class_kind(chop), class_length(chop))
    kept = 0
    for k in range(n):
        c, t = view.plays[k], view.plays_second[k]
        code = classify(rules, c, t)
        if code == 0 or (on != 0 and not beats(rules, code, c, t, on, view.on_cards, view.on_second)):
            continue
        if keeps_obligations(rules, h, s, on, view.required, view.asked_again, code, c, t):
            view.plays[kept], view.plays_second[kept] = c, t
            kept += 1
    return kept


@lazy(OF_VIEW)
def legal_plays_of_either(rules: Any, view: Any) -> int:
    """Return `legal_plays` for rules with one deck or two."""
    return legal_plays(rules, view) if rules.decks == 2 else one_deck.legal_plays(rules, view)


@function
def may_pass(rules: Any, view: Any) -> bool:
    """Return whether the seat to act may pass (section 4.4 and `must_play` in 9). Overwrites `view.plays`."""
    if view.on == 0:
        return False
    return rules.must_play == 0 or view.asked_again != 0 or legal_plays_of_either(rules, view) == 0


# ------------------------------------------------------------------------------------------------ features


@function
def instant_win(rules: Any, h: int, s: int, opening: int) -> int:
    """Return the rank in the rule set's priority (0 the best) of the hand's best instant win, -1 for none."""
    lattice = lattice_of(h, s)
    paired, pairs = at_least(lattice, 2), popcount(at_least(lattice, 2))
    if rules.six_pairs_quads_twice:
        pairs += popcount(at_least(lattice, 4)) + popcount(at_least(lattice, 6)) + popcount(at_least(lattice, 8))
    bits = instant_win_bits_of(rules, h, paired, pairs, count_at(lattice, 0), count_at(lattice, 12))
    return pick_instant_win(rules, bits, opening)


@function
def _costliest(rules: Any, lattice: int, rank: int, black: int, red: int) -> int:
    """Return what the costliest split of a count lattice costs, in half units; black and red 2s are counted apart.

    Nothing below `rank` is left. Quads of 2s never pay: four 2s cost as much by themselves.
    """
    while rank < 12 and count_at(lattice, rank) < 2:
        rank += 1
    if rank >= 12:
        return black * BLACK_TWO + red * RED_TWO
    best = _costliest(rules, lattice, rank + 1, black, red)
    if count_at(lattice, rank) >= 4:
        best = max(best, QUAD_LEFT + _costliest(rules, lattice - (4 << (4 * rank)), rank, black, red))
    rest, last = lattice, rank
    while last < 12 and last - rank < 4 and count_at(rest, last) >= 2:
        rest -= 2 << (4 * last)
        last += 1
        if 3 <= last - rank <= rules.double_straight_max:
            amount = DOUBLE_STRAIGHT_3 if last - rank == 3 else DOUBLE_STRAIGHT_4
            best = max(best, amount + _costliest(rules, rest, rank, black, red))
    if last == 12 and 2 <= 12 - rank <= 3 and rules.double_cards & TWOS and black + red >= 2:
        amount = DOUBLE_STRAIGHT_3 if 12 - rank == 2 else DOUBLE_STRAIGHT_4
        if 13 - rank <= rules.double_straight_max:
            taken = min(black, 2)
            best = max(best, amount + _costliest(rules, rest, rank, black - taken, red - 2 + taken))
    return best


@lazy(types.int64(*OF_HAND.args, types.int64))
def leftover(rules: Any, h: int, s: int) -> int:
    """Return what cards cost by the leftover amounts, in half units: the split that costs most (section 10)."""
    black = size_of(h & TWOS & BLACK, s & TWOS & BLACK)
    red = size_of(h & TWOS & RED, s & TWOS & RED)
    return _costliest(rules, lattice_of(h & NO_TWOS, s & NO_TWOS), 0, black, red)


# ------------------------------------------------------------------------------------------------ from Python


@kernel
def _write_moves(rules: Any, views: Any) -> int:
    return legal_plays(rules[0], views[0])


@kernel
def _classify(rules: Any, c: int, t: int) -> int:
    return classify(rules[0], c, t)


@kernel
def _beats(rules: Any, code: int, c: int, t: int, on: int, on_c: int, on_t: int) -> bool:
    return beats(rules[0], code, c, t, on, on_c, on_t)


@kernel
def _instant_win_kind(rules: Any, h: int, s: int, opening: int) -> int:
    priority = instant_win(rules[0], h, s, opening)
    return instant_kind(rules[0], priority) if priority >= 0 else -1


@kernel
def _lattice(h: int, s: int) -> int:
    return lattice_of(h, s)
