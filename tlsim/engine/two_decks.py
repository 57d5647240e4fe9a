"""Two decks: what a play is, what beats what, every legal play, features (docs/rules.md, sections 2, 3, 6, 7 and 10).

Cards of two decks are two masks: those there at least once (`hand`, `cards`), and those there twice (`hand_second`,
`second`). Where the two travel together they are a pair, `Copies`. Codes and chop classes are those of
`tlsim.engine.one_deck`. Shapes are read off the count lattice, with up to 8 cards a rank; which cards a rank gives to a
play is looked up. Clear rather than fast: most tables play with one deck.
"""

from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tlsim.engine import one_deck
from tlsim.engine.bits import highest_bit, lowest_bit, popcount
from tlsim.engine.calls import lazy
from tlsim.engine.choices import FIRST_LEAD_ALONE, TIES_KICKERS, TIES_LATER
from tlsim.engine.compile import function, inline, kernel
from tlsim.engine.features import (
    BLACK_TWO,
    QUAD_LEFT,
    RED_TWO,
    amount_of_double,
    instant_kind,
    instant_win_bits_of,
    pick_instant_win,
)
from tlsim.engine.host import types
from tlsim.engine.one_deck import (
    QUAD_RUN_CLASS,
    chop_class,
    class_shape,
    code_of,
    kind_of,
    length_of,
    matches,
    top_of,
)
from tlsim.engine.shapes import (
    DOUBLE_STRAIGHT,
    QUAD,
    QUAD_RUN,
    SINGLE,
    STRAIGHT,
    Code,
    Copies,
    Lattice,
    RankBits,
    count_at,
    counts,
    presence,
)
from tlsim.engine.view import OF_HAND, OF_VIEW, View
from tlsim.rules.cards import BLACK, NO_TWOS, ONES, RED, TWOS, Mask, Rank
from tlsim.rules.ruleset import RulesRecord

Duties: TypeAlias = tuple[Code, Mask, int]
"""What binds a seat: the play to beat (0: a lead), the card that a first lead must respect, 1 where it has passed."""


# ------------------------------------------------------------------------------------------------ multisets of cards


@inline
def lattice_of(hand: Mask, hand_second: Mask) -> Lattice:
    """Return the number of cards of each rank, 0 to 8."""
    return counts(hand) + counts(hand_second)


@inline
def at_least(lattice: Lattice, n: int) -> RankBits:
    """Return the ranks with at least n cards, n from 1 to 8: with 8 - n more cards they reach the highest bit."""
    return ((lattice + (8 - n) * ONES) >> 3) & ONES


@inline
def rest_of(hand: Mask, hand_second: Mask, cards: Mask, second: Mask) -> Mask:
    """Return the cards still held at least once when a play has left a hand; `hand_second & ~cards` are held twice."""
    return (hand & ~cards) | (hand_second & cards & ~second)


@inline
def size_of(cards: Mask, second: Mask) -> int:
    """Return the number of cards."""
    return popcount(cards) + popcount(second)


@inline
def copies_at(cards: Copies, bit: int) -> int:
    """Return how often a card is there: 0, 1 or 2."""
    return (cards[0] >> bit & 1) + (cards[1] >> bit & 1)


# ------------------------------------------------------------------------------------------------ plays


@function
def classify_runs(rules: RulesRecord, cards: Mask, second: Mask) -> Code:
    """Return the code of cards of more than one rank, 0 when they are no combination."""
    low, top, ranks = lowest_bit(cards) & 60, highest_bit(cards), presence(cards)
    size, length = size_of(cards, second), popcount(ranks)
    each = size // length
    if size != each * length or ranks >> low != ONES & ((1 << (4 * length)) - 1) or each > QUAD:
        return 0
    if at_least(lattice_of(cards, second), each) != ranks:
        return 0
    if each == 1:
        if length >= rules.straight_min and cards & ~rules.straight_cards == 0:
            return code_of(STRAIGHT, length, top)
    elif each == 2:
        if 3 <= length <= rules.double_straight_max and cards & ~rules.double_cards == 0:
            return code_of(DOUBLE_STRAIGHT, length, top)
    elif each == QUAD and length <= 3 and cards & TWOS == 0:
        in_table = rules.chop_classes >> (QUAD_RUN_CLASS + length) & 1
        return code_of(QUAD_RUN, length, top) if in_table else 0
    return 0


@inline
def classify(rules: RulesRecord, cards: Mask, second: Mask) -> Code:
    """Return the code of cards, 0 when they are no combination under these rules (section 2)."""
    if cards == 0 or second & ~cards != 0:
        return 0
    if cards >> (lowest_bit(cards) & 60) > 15:  # something is left above the nibble of the lowest card
        return classify_runs(rules, cards, second)
    size = size_of(cards, second)
    if size < QUAD or (size == QUAD and cards & rules.quad_cards):
        return code_of(size, 1, highest_bit(cards))
    return 0


@inline
def is_higher(play: Copies, on_play: Copies) -> bool:
    """Return whether, from the top down, the first card that differs is higher: equally many cards (section 7)."""
    differ = (play[0] ^ on_play[0]) | (play[1] ^ on_play[1])
    if differ == 0:
        return False
    bit = highest_bit(differ)
    return copies_at(play, bit) > copies_at(on_play, bit)


@function
def beats(rules: RulesRecord, code: Code, play: Copies, on: Code, on_play: Copies) -> bool:
    """Return whether a play beats another (sections 3 and 7)."""
    if not matches(code, on):
        return (rules.chopped_by[chop_class(on)] >> chop_class(code)) & 1 == 1
    if top_of(code) != top_of(on):
        return code > on
    return rules.ties == TIES_LATER or (rules.ties == TIES_KICKERS and is_higher(play, on_play))


@function
def keeps_obligations(rules: RulesRecord, held: Copies, duties: Duties, code: Code, play: Copies) -> bool:
    """Return whether a play keeps to the first lead, to being asked again, and to `finish_on_two` (4.3, 4.5, 9)."""
    cards, second = play
    on, required, again = duties
    is_last = cards == held[0] and second == held[1]
    if rules.finish_on_two == 0 and is_last and cards & TWOS != 0 and (on != 0 or size_of(cards, second) > 1):
        return False
    if on == 0 and required != 0:
        if rules.first_lead == FIRST_LEAD_ALONE:
            return cards == required and second == 0
        return cards & required != 0
    return again == 0 or rules.unlocked_classes >> chop_class(code) & 1 == 1


# ------------------------------------------------------------------------------------------------ legal plays

# A rank is looked up by the four bits of the cards that are there, and the four of those that are there twice.
_N_RANK_KEYS = 1 << 8


def _list_picks() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return every way to take 1 to 4 cards of one rank: `first` and `picks`.

    With `held` the cards of a rank and `held_second` those there twice, the picks of n cards are
    `picks[first[k]:first[k + 1]]`, k = (held | held_second << 4) * 5 + n. A pick is its cards, and four bits up those
    that it takes twice.
    """
    first, picks = [0], []
    for key in range(_N_RANK_KEYS):
        held, held_second = key & 15, key >> 4
        copies = [(held >> suit & 1) + (held_second >> suit & 1) for suit in range(4)]
        if held_second & ~held != 0:  # what cannot be has no picks
            copies = [0] * 4
        for n in range(QUAD + 1):
            for taken in product(*(range(most + 1) for most in copies)):
                if n and sum(taken) == n:
                    once = sum(1 << suit for suit in range(4) if taken[suit])
                    picks.append(once | sum(16 << suit for suit in range(4) if taken[suit] == 2))
            first.append(len(picks))
    return np.array(first, np.int64), np.array(picks, np.int64)


_FIRST, _PICKS = _list_picks()


@inline
def picks_at(hand: Mask, hand_second: Mask, rank: Rank, each: int) -> int:
    """Return the index into `_FIRST` of the picks of `each` cards of a rank."""
    return ((hand >> (4 * rank) & 15) | (hand_second >> (4 * rank) & 15) << 4) * (QUAD + 1) + each


@function
def write_runs(view: View, n: int, hand: Mask, hand_second: Mask, each: int, length: int) -> int:
    """Write every set of `each` cards of `length` ranks in a row, whatever the rules; return the new end.

    To `view.plays` and `view.plays_second`, from n on. One number stands for the picks of all ranks, as its digits.
    """
    for start in range(14 - length):
        total = 1
        for rank in range(start, start + length):
            at = picks_at(hand, hand_second, rank, each)
            total *= _FIRST[at + 1] - _FIRST[at]
        for pick_of_all in range(total):
            k, cards, second = pick_of_all, 0, 0
            for rank in range(start, start + length):
                at = picks_at(hand, hand_second, rank, each)
                n_picks = _FIRST[at + 1] - _FIRST[at]
                pick = _PICKS[_FIRST[at] + k % n_picks]
                k //= n_picks
                cards |= (pick & 15) << (4 * rank)
                second |= (pick >> 4) << (4 * rank)
            view.plays[n], view.plays_second[n] = cards, second
            n += 1
    return n


@inline
def cards_a_rank(kind: int) -> int:
    """Return how many cards of each rank a play of a kind has."""
    if kind <= QUAD:
        return kind
    if kind == STRAIGHT:
        return 1
    return 2 if kind == DOUBLE_STRAIGHT else QUAD


@function
def write_shape(view: View, n: int, hand: Mask, hand_second: Mask, shape: Code) -> int:
    """Write every set of cards of the kind and length of a code, whatever else the rules say; return the new end."""
    return write_runs(view, n, hand, hand_second, cards_a_rank(kind_of(shape)), length_of(shape))


@function
def write_leads(rules: RulesRecord, view: View) -> int:
    """Write every combination that may be led, and some that may not; return how many."""
    hand, hand_second, n = view.hand, view.hand_second, 0
    for each in range(SINGLE, QUAD + 1):
        n = write_runs(view, n, hand, hand_second, each, 1)
    for length in range(rules.straight_min, 14):
        n = write_runs(view, n, hand & rules.straight_cards, hand_second & rules.straight_cards, 1, length)
    for length in range(3, rules.double_straight_max + 1):
        n = write_runs(view, n, hand & rules.double_cards, hand_second & rules.double_cards, 2, length)
    return n


@function
def legal_plays(rules: RulesRecord, view: View) -> int:
    """Write every legal play of the seat to act to `view.plays` and `view.plays_second`, each once; return how many.

    All choices of cards, chops included, passing not (sections 3, 4.3, 4.5, 7 and `finish_on_two` in 9).
    """
    held, on, on_play = (view.hand, view.hand_second), view.on, (view.on_cards, view.on_second)
    if on == 0:
        n = write_leads(rules, view)
    else:
        n = write_shape(view, 0, held[0], held[1], on)
        chops = rules.chopped_by[chop_class(on)]
        while chops != 0:
            chop = lowest_bit(chops)
            chops &= chops - 1
            n = write_shape(view, n, held[0], held[1], class_shape(chop))
    kept = 0
    for k in range(n):
        play = view.plays[k], view.plays_second[k]
        code = classify(rules, play[0], play[1])
        if code == 0 or (on != 0 and not beats(rules, code, play, on, on_play)):
            continue
        if keeps_obligations(rules, held, (on, view.required, view.asked_again), code, play):
            view.plays[kept], view.plays_second[kept] = play
            kept += 1
    return kept


@lazy(OF_VIEW)
def legal_plays_of_either(rules: RulesRecord, view: View) -> int:
    """Return `legal_plays` for rules with one deck or two."""
    return legal_plays(rules, view) if rules.decks == 2 else one_deck.legal_plays(rules, view)


@function
def may_pass(rules: RulesRecord, view: View) -> bool:
    """Return whether the seat to act may pass (section 4.4 and `must_play` in 9). Overwrites `view.plays`."""
    if view.on == 0:
        return False
    return rules.must_play == 0 or view.asked_again != 0 or legal_plays_of_either(rules, view) == 0


# ------------------------------------------------------------------------------------------------ features


@function
def instant_win(rules: RulesRecord, hand: Mask, hand_second: Mask, opening: int) -> int:
    """Return the rank in the rule set's priority (0 the best) of the hand's best instant win, -1 for none."""
    lattice = lattice_of(hand, hand_second)
    paired, pairs = at_least(lattice, 2), popcount(at_least(lattice, 2))
    if rules.six_pairs_quads_twice:
        pairs += popcount(at_least(lattice, 4)) + popcount(at_least(lattice, 6)) + popcount(at_least(lattice, 8))
    bits = instant_win_bits_of(rules, hand, paired, pairs, count_at(lattice, 0), count_at(lattice, 12))
    return pick_instant_win(rules, bits, opening)


@function
def _costliest(rules: RulesRecord, lattice: Lattice, rank: Rank, black: int, red: int) -> int:
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
            best = max(best, amount_of_double(last - rank) + _costliest(rules, rest, rank, black, red))
    pairs = 13 - rank  # of a double straight from here to the 2s
    may_end_in_twos = rules.double_cards & TWOS != 0 and 3 <= pairs <= min(4, rules.double_straight_max)
    if last == 12 and may_end_in_twos and black + red >= 2:
        taken = min(black, 2)  # black ones first, they cost less by themselves
        others = _costliest(rules, rest, rank, black - taken, red - 2 + taken)
        best = max(best, amount_of_double(pairs) + others)
    return best


@lazy(types.int64(*OF_HAND.args, types.int64))
def leftover(rules: RulesRecord, cards: Mask, second: Mask) -> int:
    """Return what cards cost by the leftover amounts, in half units: the split that costs most (section 10)."""
    black = size_of(cards & TWOS & BLACK, second & TWOS & BLACK)
    red = size_of(cards & TWOS & RED, second & TWOS & RED)
    return _costliest(rules, lattice_of(cards & NO_TWOS, second & NO_TWOS), 0, black, red)


# ------------------------------------------------------------------------------------------------ from Python

# The records come in arrays of one. `tlsim.play.legal` calls these.


@kernel
def legal_plays_kernel(rules: NDArray[Any], views: NDArray[Any]) -> int:
    """Return `legal_plays`."""
    return legal_plays(rules[0], views[0])


@kernel
def classify_kernel(rules: NDArray[Any], cards: Mask, second: Mask) -> Code:
    """Return `classify`."""
    return classify(rules[0], cards, second)


@kernel
def beats_kernel(rules: NDArray[Any], code: Code, play: Copies, on: Code, on_play: Copies) -> bool:
    """Return `beats`."""
    return beats(rules[0], code, play, on, on_play)


@kernel
def instant_kind_kernel(rules: NDArray[Any], hand: Mask, hand_second: Mask, opening: int) -> int:
    """Return the kind of the hand's best instant win, an index into INSTANT_WINS; -1 for none."""
    priority = instant_win(rules[0], hand, hand_second, opening)
    return instant_kind(rules[0], priority) if priority >= 0 else -1


@kernel
def lattice_kernel(hand: Mask, hand_second: Mask) -> Lattice:
    """Return `lattice_of`."""
    return lattice_of(hand, hand_second)
