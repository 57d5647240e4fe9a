"""What a play is, what beats what, and every legal play (docs/rules.md, sections 2, 3 and 4.5).

A play's *code* packs kind, length and top card, `kind << 10 | length << 6 | top`, so that "matches and beats" is one
comparison. 0 is no combination, or, for the play to beat, a lead. Masks are those of `tlsim.rules.cards`.

A play's *chop class* is its line in the chop table, or what it is as a target: an index into TARGETS. Sets of classes
are masks with one bit a class (`rules.chopped_by`, `rules.chop_classes`, `rules.unlocked_classes`).
"""

from typing import Any

from numpy.typing import NDArray

from tlsim.engine.bits import highest_bit, likely, lowest_bit, popcount, unlikely
from tlsim.engine.choices import FIRST_LEAD_ALONE
from tlsim.engine.compile import function, inline, kernel
from tlsim.engine.shapes import (
    DOUBLE_STRAIGHT,
    QUAD,
    QUAD_RUN,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    Code,
    above,
    count_doubles,
    covered,
    double_starts,
    kth_double,
    lowest,
    presence,
    quad_run_from,
    quad_run_starts,
    runs,
    write_of_a_rank,
    write_straights,
)
from tlsim.engine.view import View
from tlsim.rules.cards import ONES, TWOS, Card, Mask
from tlsim.rules.ruleset import N_TARGETS, TARGETS, RulesRecord

LOWEST_TWO: Card = 48
SINGLE_TWO: Code = SINGLE << 10 | 1 << 6 | LOWEST_TWO  # the lowest code of a single that chops may beat

# Chop classes. A single, pair and triple of 2s have the classes 0, 1, 2: their number of cards less one. A double
# straight of four or more pairs has the class `DOUBLE_CLASS + pairs`, a quad run `QUAD_RUN_CLASS + quads`.
DOUBLE_3_CLASS, QUAD_CLASS = TARGETS.index("double-straight-3"), TARGETS.index("quad")
DOUBLE_CLASS = TARGETS.index("double-straight-4") - 4
QUAD_RUN_CLASS = TARGETS.index("quad-run-2") - 2
assert TARGETS[SINGLE - 1 : TRIPLE] == ("two", "two-twos", "three-twos")
assert all(TARGETS[DOUBLE_CLASS + pairs] == f"double-straight-{pairs}" for pairs in range(4, 14))
assert TARGETS[QUAD_RUN_CLASS + 2 :] == ("quad-run-2", "quad-run-3")
ALL_CLASSES = -1  # as a set: every bit

# ------------------------------------------------------------------------------------------------ codes


@inline
def code_of(kind: int, length: int, top: Card) -> Code:
    """Return the code of a play."""
    return kind << 10 | length << 6 | top


@inline
def shape_of(kind: int, length: int) -> Code:
    """Return what the codes of a kind and length have in common: the top card is left 0."""
    return code_of(kind, length, 0)


@inline
def code_of_single(card: Mask) -> Code:
    """Return the code of one card."""
    return code_of(SINGLE, 1, lowest_bit(card))


@inline
def is_single(code: Code) -> bool:
    """Return whether a code is that of one card, as bounds: LLVM draws its conclusions from them."""
    return SINGLE << 10 <= code < (SINGLE + 1) << 10


@inline
def kind_of(code: Code) -> int:
    """Return the kind of a code, an index into KINDS."""
    return code >> 10


@inline
def length_of(code: Code) -> int:
    """Return the length of a code: cards of a straight, pairs, quads of a run, else 1."""
    return (code >> 6) & 15


@inline
def top_of(code: Code) -> Card:
    """Return the highest card of a code."""
    return code & 63


@inline
def as_single(code: Code) -> Code:
    """Return the code of one card itself, from bits of which LLVM knows what they say."""
    return code_of(SINGLE, 1, top_of(code))


@function
def classify_shape(rules: RulesRecord, cards: Mask) -> Code:
    """Return the code of cards of more than one rank, 0 when they are no combination."""
    low, top = lowest_bit(cards) & 60, highest_bit(cards)
    ranks = presence(cards)
    size, length = popcount(cards), popcount(ranks)
    if ranks >> low != ONES & ((1 << (4 * length)) - 1):  # a gap
        return 0
    if size == length:
        if length >= rules.straight_min and cards & ~rules.straight_cards == 0:
            return code_of(STRAIGHT, length, top)
    elif size == 2 * length:  # two of each rank: as many as ranks, and no rank with just one
        allowed = 3 <= length <= rules.double_straight_max and cards & ~rules.double_cards == 0
        if allowed and presence(cards & covered(cards)) == ranks:
            return code_of(DOUBLE_STRAIGHT, length, top)
    elif size == 4 * length and length <= 3 and cards & TWOS == 0:
        in_table = rules.chop_classes >> (QUAD_RUN_CLASS + length) & 1
        return code_of(QUAD_RUN, length, top) if in_table else 0
    return 0


@inline
def classify(rules: RulesRecord, cards: Mask) -> Code:
    """Return the code of a set of cards, 0 when it is no combination under these rules (section 2)."""
    if cards == 0:
        return 0
    if unlikely(cards >> (lowest_bit(cards) & 60) > 15):  # something is left above the nibble of the lowest card
        return classify_shape(rules, cards)
    size = popcount(cards)
    return code_of(size, 1, highest_bit(cards)) if likely(size < QUAD) or cards & rules.quad_cards else 0


@function
def classify_rarely(rules: RulesRecord, cards: Mask) -> Code:
    """Return `classify`, by a call."""
    return classify(rules, cards)


# ------------------------------------------------------------------------------------------------ chops


@inline
def chop_class(code: Code) -> int:
    """Return the chop class of a play, an index into TARGETS; N_TARGETS when it is neither chop nor target."""
    kind, length = kind_of(code), length_of(code)
    if kind <= TRIPLE:
        return kind - 1 if top_of(code) >= LOWEST_TWO else N_TARGETS
    if kind == STRAIGHT:
        return N_TARGETS
    if kind == QUAD:
        return QUAD_CLASS
    if kind == DOUBLE_STRAIGHT:
        return DOUBLE_3_CLASS if length == 3 else DOUBLE_CLASS + length
    return QUAD_RUN_CLASS + length


@inline
def class_kind(chop: int) -> int:
    """Return the kind of a chop class that is a line of the chop table."""
    if chop == QUAD_CLASS:
        return QUAD
    return QUAD_RUN if chop > QUAD_RUN_CLASS + 1 else DOUBLE_STRAIGHT


@inline
def class_length(chop: int) -> int:
    """Return the length of a chop class that is a line of the chop table."""
    if chop == QUAD_CLASS:
        return 1
    if chop > QUAD_RUN_CLASS + 1:
        return chop - QUAD_RUN_CLASS
    return 3 if chop == DOUBLE_3_CLASS else chop - DOUBLE_CLASS


@inline
def class_shape(chop: int) -> Code:
    """Return the kind and length of a chop class, as `shape_of` gives them."""
    return shape_of(class_kind(chop), class_length(chop))


@inline
def matches(code: Code, on: Code) -> bool:
    """Return whether two plays have the same kind and length: their codes differ in the top card alone, if at all."""
    return (code ^ on) < 64


@inline
def beats(rules: RulesRecord, code: Code, on: Code) -> bool:
    """Return whether a play beats another: the higher top card of a match, or a chop that lists it (section 3)."""
    if matches(code, on):
        return code > on
    return (rules.chopped_by[chop_class(on)] >> chop_class(code)) & 1 == 1


@function
def keeps_obligations(rules: RulesRecord, hand: Mask, on: Code, required: Mask, again: int, cards: Mask) -> bool:
    """Return whether a play keeps to the first lead, to being asked again, and to `finish_on_two` (4.3, 4.5, 9).

    `required` is the card that the first lead is about, 0 for none. `again` is 1 for a seat that has passed.
    """
    if rules.finish_on_two == 0 and cards == hand and cards & TWOS != 0 and (on != 0 or cards & (cards - 1) != 0):
        return False
    if on == 0 and required != 0:
        if rules.first_lead == FIRST_LEAD_ALONE:
            return cards == required
        return cards & required != 0
    return again == 0 or rules.unlocked_classes >> chop_class(classify(rules, cards)) & 1 == 1


# ------------------------------------------------------------------------------------------------ legal plays


@function
def write_shape(rules: RulesRecord, view: View, n: int, hand: Mask, tops: Mask, shape: Code) -> int:
    """Write every play of a hand with its top card in `tops` to `view.plays` from n on; return the new end.

    The kind and length are those of the code `shape`.
    """
    kind, length = kind_of(shape), length_of(shape)
    if kind < QUAD:
        return write_of_a_rank(view, n, hand, tops, kind)
    if kind == QUAD:
        return write_of_a_rank(view, n, hand & rules.quad_cards, tops & rules.quad_cards, kind)
    if kind == STRAIGHT:
        return write_straights(view, n, hand & rules.straight_cards, tops & rules.straight_cards, length)
    if kind == DOUBLE_STRAIGHT:
        hand &= rules.double_cards
        tops &= rules.double_cards
        for k in range(count_doubles(hand, tops, length)):
            view.plays[n] = kth_double(hand, tops, length, k)
            n += 1
        return n
    starts = quad_run_starts(hand, tops, length)
    while starts != 0:
        view.plays[n] = quad_run_from(lowest(starts), length)
        starts &= starts - 1
        n += 1
    return n


@function
def write_leads(rules: RulesRecord, view: View, hand: Mask) -> int:
    """Write every combination of a hand that may be led without obligation to `view.plays`; return how many."""
    n = 0
    for kind in range(SINGLE, STRAIGHT):
        n = write_shape(rules, view, n, hand, hand, shape_of(kind, 1))
    ranks = presence(hand & rules.straight_cards)
    for length in range(rules.straight_min, 14):
        if runs(ranks, length) == 0:
            break
        n = write_shape(rules, view, n, hand, hand, shape_of(STRAIGHT, length))
    for length in range(3, rules.double_straight_max + 1):
        if double_starts(hand, hand, length) == 0:
            break
        n = write_shape(rules, view, n, hand, hand, shape_of(DOUBLE_STRAIGHT, length))
    return n


@function
def write_answers(rules: RulesRecord, view: View, hand: Mask, on: Code, classes: int) -> int:
    """Write every play of a hand that beats `on` to `view.plays`; return how many.

    Chops only of the set `classes`; matches as well, unless that is not all classes and lacks their own.
    """
    n = 0
    own = chop_class(on)
    if classes == ALL_CLASSES or classes >> own & 1:
        n = write_shape(rules, view, n, hand, above(hand, top_of(on)), on)
    chops = rules.chopped_by[own] & classes
    while chops != 0:
        chop = lowest_bit(chops)
        chops &= chops - 1
        n = write_shape(rules, view, n, hand, hand, class_shape(chop))
    return n


@function
def legal_plays(rules: RulesRecord, view: View) -> int:
    """Write every legal play of the seat to act to `view.plays`, each once; return how many.

    All choices of suits, chops included, passing not (sections 3, 4.3, 4.5 and `finish_on_two` in 9).
    """
    if view.on == 0:
        if view.required != 0 and rules.first_lead == FIRST_LEAD_ALONE:
            view.plays[0] = view.required
            return 1
        n = write_leads(rules, view, view.hand)
        required = view.required
    else:
        classes = rules.unlocked_classes if view.asked_again else ALL_CLASSES
        n = write_answers(rules, view, view.hand, view.on, classes)
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
def last_play_barred(rules: RulesRecord, view: View) -> Mask:
    """Return the whole hand when `finish_on_two` bars playing it at once (section 9), else 0."""
    if rules.finish_on_two != 0 or view.hand & TWOS == 0:
        return 0
    if view.on == 0 and view.hand & (view.hand - 1) == 0:  # a leader's only card
        return 0
    return view.hand


# ------------------------------------------------------------------------------------------------ from Python

# The records come in arrays of one. `tlsim.play.legal` calls these.


@kernel
def legal_plays_kernel(rules: NDArray[Any], views: NDArray[Any]) -> int:
    """Return `legal_plays`."""
    return legal_plays(rules[0], views[0])


@kernel
def classify_kernel(rules: NDArray[Any], cards: Mask) -> Code:
    """Return `classify`."""
    return classify(rules[0], cards)


@kernel
def beats_kernel(rules: NDArray[Any], code: Code, on: Code) -> bool:
    """Return `beats`."""
    return beats(rules[0], code, on)
