"""What a play is, what beats what, and every legal play (docs/rules.md, sections 2, 3 and 4.5).

A play's *code* packs kind, length and top card, `kind << 10 | length << 6 | top`, so that "matches and beats" is one
comparison. 0 is no combination, or, for the play to beat, a lead. Masks are those of `tlsim.rules.cards`.
"""

from typing import Any

from tlsim.engine.bits import highest_bit, likely, lowest_bit, popcount, unlikely
from tlsim.engine.compile import function, inline, kernel
from tlsim.engine.shapes import (
    DOUBLE_STRAIGHT,
    QUAD,
    QUAD_RUN,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    above,
    count_doubles,
    covered,
    double_starts,
    kth_double,
    lowest,
    presence,
    quad_run_starts,
    runs,
    write_of_a_rank,
    write_straights,
)
from tlsim.rules.cards import ONES, TWOS
from tlsim.rules.ruleset import N_TARGETS, TARGETS

# The lowest code of a single that chops may beat.
SINGLE_TWO = SINGLE << 10 | 1 << 6 | 48
# Chop classes are indices into TARGETS; these formulas hold for its order (asserted here).
_QUAD_CLASS, _RUN_CLASS = 4, 13
assert TARGETS[_QUAD_CLASS] == "quad"
assert TARGETS[_RUN_CLASS + 2] == "quad-run-2"
assert TARGETS[3] == "double-straight-3"
assert TARGETS[5 + 1] == "double-straight-5"

# ------------------------------------------------------------------------------------------------ codes


@inline
def code_of(kind: int, length: int, top: int) -> int:
    """Return the code of a play."""
    return kind << 10 | length << 6 | top


@inline
def code_of_single(card: int) -> int:
    """Return the code of one card."""
    return code_of(SINGLE, 1, lowest_bit(card))


@inline
def is_single(code: int) -> bool:
    """Return whether a code is that of one card, as bounds: LLVM draws its conclusions from them."""
    return SINGLE << 10 <= code < (SINGLE + 1) << 10


@inline
def kind_of(code: int) -> int:
    """Return the kind of a code, an index into KINDS."""
    return code >> 10


@inline
def length_of(code: int) -> int:
    """Return the length of a code: cards of a straight, pairs, quads of a run, else 1."""
    return (code >> 6) & 15


@inline
def top_of(code: int) -> int:
    """Return the highest card of a code."""
    return code & 63


@inline
def as_single(code: int) -> int:
    """Return the code of one card itself, from bits of which LLVM knows what they say."""
    return code_of(SINGLE, 1, top_of(code))


@function
def classify_shape(rules: Any, cards: int) -> int:
    """Return the code of cards of more than one rank, 0 when they are no combination."""
    low, top = lowest_bit(cards) & 60, highest_bit(cards)
    ranks = presence(cards)
    n, length = popcount(cards), popcount(ranks)
    if ranks >> low != ONES & ((1 << (4 * length)) - 1):
        return 0
    if n == length:
        allowed = length >= rules.straight_min and cards & ~rules.straight_cards == 0
        return code_of(STRAIGHT, length, top) if allowed else 0
    if n == 2 * length:  # two of each rank: as many as ranks, and no rank with just one
        allowed = 3 <= length <= rules.double_straight_max and cards & ~rules.double_cards == 0
        return code_of(DOUBLE_STRAIGHT, length, top) if allowed and presence(cards & covered(cards)) == ranks else 0
    if n == 4 * length and length <= 3 and cards & TWOS == 0:
        return code_of(QUAD_RUN, length, top) if rules.chop_classes >> (_RUN_CLASS + length) & 1 else 0
    return 0


@inline
def classify(rules: Any, cards: int) -> int:
    """Return the code of a set of cards, 0 when it is no combination under these rules (section 2)."""
    if cards == 0:
        return 0
    if unlikely(cards >> (lowest_bit(cards) & 60) > 15):
        return classify_shape(rules, cards)
    n = popcount(cards)
    return code_of(n, 1, highest_bit(cards)) if likely(n < 4) or cards & rules.quad_cards else 0


@function
def classify_rarely(rules: Any, cards: int) -> int:
    """Return `classify`, by a call."""
    return classify(rules, cards)


@inline
def chop_class(code: int) -> int:
    """Return the chop class of a play, an index into TARGETS; N_TARGETS when it is neither chop nor target."""
    kind, length = kind_of(code), length_of(code)
    if kind <= TRIPLE:
        return kind - 1 if top_of(code) >= 48 else N_TARGETS
    if kind == STRAIGHT:
        return N_TARGETS
    if kind == QUAD:
        return _QUAD_CLASS
    if kind == DOUBLE_STRAIGHT:
        return 3 if length == 3 else length + 1
    return _RUN_CLASS + length


@inline
def class_kind(chop: int) -> int:
    """Return the kind of a chop class."""
    if chop == _QUAD_CLASS:
        return QUAD
    return QUAD_RUN if chop > _RUN_CLASS + 1 else DOUBLE_STRAIGHT


@inline
def class_length(chop: int) -> int:
    """Return the length of a chop class."""
    if chop == _QUAD_CLASS:
        return 1
    if chop > _RUN_CLASS + 1:
        return chop - _RUN_CLASS
    return 3 if chop == 3 else chop - 1


@inline
def matches(code: int, on: int) -> bool:
    """Return whether two plays have the same kind and length."""
    return (code ^ on) < 64


@inline
def beats(rules: Any, code: int, on: int) -> bool:
    """Return whether a play beats another: the higher top card of a match, or a chop that lists it (section 3)."""
    if matches(code, on):
        return code > on
    return (rules.chopped_by[chop_class(on)] >> chop_class(code)) & 1 == 1


@function
def keeps_obligations(rules: Any, hand: int, on: int, required: int, again: int, cards: int) -> bool:
    """Return whether a play keeps to the first lead, to being asked again, and to `finish_on_two` (4.3, 4.5, 9)."""
    if rules.finish_on_two == 0 and cards == hand and cards & TWOS != 0 and (on != 0 or cards & (cards - 1) != 0):
        return False
    if on == 0 and required != 0:
        return cards == required if rules.first_lead == 0 else cards & required != 0
    return again == 0 or rules.unlocked_classes >> chop_class(classify(rules, cards)) & 1 == 1


# ------------------------------------------------------------------------------------------------ legal plays


@function
def write_shape(rules: Any, view: Any, n: int, h: int, hi: int, kind: int, length: int) -> int:
    """Write every play of one kind and length in h with its top card in hi into `view.plays`; return the new end."""
    if kind < QUAD:
        return write_of_a_rank(view, n, h, hi, kind)
    if kind == QUAD:
        return write_of_a_rank(view, n, h & rules.quad_cards, hi & rules.quad_cards, kind)
    if kind == STRAIGHT:
        return write_straights(view, n, h & rules.straight_cards, hi & rules.straight_cards, length)
    if kind == DOUBLE_STRAIGHT:
        h &= rules.double_cards
        hi &= rules.double_cards
        for k in range(count_doubles(h, hi, length)):
            view.plays[n] = kth_double(h, hi, length, k)
            n += 1
        return n
    starts = quad_run_starts(h, hi, length)
    while starts != 0:
        view.plays[n] = lowest(starts) * ((1 << (4 * length)) - 1)
        starts &= starts - 1
        n += 1
    return n


@function
def write_leads(rules: Any, view: Any, n: int, h: int) -> int:
    """Write every combination of h that may be led without obligation; return the new end."""
    for kind in range(SINGLE, STRAIGHT):
        n = write_shape(rules, view, n, h, h, kind, 1)
    ranks = presence(h & rules.straight_cards)
    for length in range(rules.straight_min, 14):
        if runs(ranks, length) == 0:
            break
        n = write_shape(rules, view, n, h, h, STRAIGHT, length)
    for length in range(3, rules.double_straight_max + 1):
        if double_starts(h, h, length) == 0:
            break
        n = write_shape(rules, view, n, h, h, DOUBLE_STRAIGHT, length)
    return n


@function
def write_answers(rules: Any, view: Any, h: int, on: int, classes: int) -> int:
    """Write every play of h that beats `on`: matches, unless `classes` lacks them, and the chops of `classes`."""
    n = 0
    own = chop_class(on)
    if classes == -1 or classes >> own & 1:
        n = write_shape(rules, view, n, h, above(h, top_of(on)), kind_of(on), length_of(on))
    chops = rules.chopped_by[own] & classes
    while chops != 0:
        chop = lowest_bit(chops)
        chops &= chops - 1
        n = write_shape(rules, view, n, h, h, class_kind(chop), class_length(chop))
    return n


@function
def legal_plays(rules: Any, view: Any) -> int:
    """Write every legal play of the seat to act into `view.plays`, each once; return how many.

    All choices of suits, chops included, passing not (sections 3, 4.3, 4.5 and `finish_on_two` in 9).
    """
    if view.on == 0:
        if view.required != 0 and rules.first_lead == 0:
            view.plays[0] = view.required
            return 1
        n = write_leads(rules, view, 0, view.hand)
        required = view.required
    else:
        n = write_answers(rules, view, view.hand, view.on, rules.unlocked_classes if view.asked_again else -1)
        required = 0
    barred = last_play_barred(rules, view)
    if required == 0 and barred == 0:
        return n
    kept = 0
    for k in range(n):
        play = view.plays[k]
        if play & required == required and play != barred:
            view.plays[kept] = play
            kept += 1
    return kept


@inline
def last_play_barred(rules: Any, view: Any) -> int:
    """Return the whole hand when `finish_on_two` bars playing it at once (section 9), else 0."""
    if rules.finish_on_two != 0 or view.hand & TWOS == 0:
        return 0
    if view.on == 0 and view.hand & (view.hand - 1) == 0:
        return 0
    return view.hand


# ------------------------------------------------------------------------------------------------ from Python


@kernel
def _write_moves(rules: Any, views: Any) -> int:
    return legal_plays(rules[0], views[0])


@kernel
def _classify(rules: Any, cards: int) -> int:
    return classify(rules[0], cards)


@kernel
def _beats(rules: Any, code: int, on: int) -> bool:
    return beats(rules[0], code, on)
