"""`lowest`: sheds its lowest cards.

Leading: of the combinations that hold the hand's lowest card, the one with most cards. Of equally many cards a double
straight comes before a straight, a straight before the rest. Of equal ones the lowest sum of card numbers.

Answering: of the plays that match and beat, the one with the lowest top card, then the lowest sum. If there are none,
the weakest chop (the order of the lines in the chop table), likewise. If there are none, it passes. It never passes by
choice.

`choose_free` finds that play at once, where no obligation but that of the first lead binds. `choose_plain` is the same
by comparing all legal plays, and is used where an obligation binds: what is lowest may be barred. Both deck numbers
share the comparison (`lowest_plays`); the choice of two decks is in `lowest_two_decks`.
"""

from typing import Any

from tlsim.engine.bits import likely, lowest_bit, popcount, unlikely
from tlsim.engine.calls import lazy
from tlsim.engine.choices import FIRST_LEAD_ALONE
from tlsim.engine.compile import inline, spliced
from tlsim.engine.one_deck import (
    LOWEST_TWO,
    chop_class,
    class_kind,
    class_length,
    classify,
    kind_of,
    last_play_barred,
    legal_plays,
    length_of,
    top_of,
)
from tlsim.engine.policies import lowest_two_decks
from tlsim.engine.policies.lowest_plays import (
    between,
    key_of,
    lowest_long,
    lowest_straight,
    three_lowest,
    two_lowest,
)
from tlsim.engine.shapes import (
    PAIR,
    QUAD,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    Code,
    above,
    covered,
    holds_chop,
    lowest,
    nibble,
    presence,
)
from tlsim.engine.view import OF_VIEW, View
from tlsim.rules.cards import ONES, Mask
from tlsim.rules.ruleset import LINES, RulesRecord

# ------------------------------------------------------------------------------------------------ the plain version


@lazy(OF_VIEW)
def choose_plain(rules: RulesRecord, view: View) -> Mask:
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


# ------------------------------------------------------------------------------------------------ answers


@inline
def lowest_single(hand: Mask, on: Code) -> Mask:
    """Return `lowest_answer` to a single that no chop of the hand beats."""
    return lowest(above(hand, top_of(on)))


@inline
def lowest_match(rules: RulesRecord, hand: Mask, on: Code) -> Mask:
    """Return the lowest play of a hand that matches and beats `on`, 0 for none."""
    tops = above(hand, top_of(on))
    kind = kind_of(on)
    if likely(kind == SINGLE):
        return lowest(tops)
    if kind > TRIPLE:  # asked before the rest, or LLVM makes a table of jumps of them all, which nothing predicts
        return lowest_long(rules, hand, tops, kind, length_of(on))
    # With no top card the rest looks at a wrong rank: `-int(top != 0)`, all bits or none, then drops it. A branch would
    # be mispredicted as often as not.
    if kind == PAIR:
        top = lowest(covered(hand) & tops)
        return (top | lowest(hand & (15 << (lowest_bit(top) & 60)))) & -int(top != 0)
    not_lowest = hand & covered(hand)
    top = lowest(covered(not_lowest) & not_lowest & tops)  # two cards of the rank are lower
    return (top | (two_lowest(hand) & (15 << (lowest_bit(top) & 60)))) & -int(top != 0)


@inline
def weakest_chop(rules: RulesRecord, hand: Mask, classes: int) -> Mask:
    """Return the lowest play of the weakest chop among the classes that a hand holds, 0 for none.

    Within a line the shortest comes first: any longer double straight holds a shorter one with a lower top card.
    """
    if classes == 0:
        return 0
    for i in range(len(LINES)):
        chop = rules.chop_order[i]
        if classes >> chop & 1:
            play = lowest_long(rules, hand, hand, class_kind(chop), class_length(chop))
            if play != 0:
                return play
    return 0


@inline
def lowest_answer(rules: RulesRecord, hand: Mask, on: Code) -> Mask:
    """Return the lowest play of a hand that beats `on`, a chop only when nothing matches; 0 when nothing beats it."""
    kind = kind_of(on)
    if kind == STRAIGHT:  # no target of chops
        hand &= rules.straight_cards
        return lowest_straight(hand, above(hand, top_of(on)), length_of(on))
    play = lowest_match(rules, hand, on)
    # Targets of chops are 2s and what has the kind of a quad or higher: all else is not asked for chops.
    if play == 0 and (top_of(on) >= LOWEST_TWO or kind >= QUAD) and unlikely(holds_chop(hand)):
        return weakest_chop(rules, hand, rules.chopped_by[chop_class(on)])
    return play


# ------------------------------------------------------------------------------------------------ leads


@inline
def longest_from_lowest(rules: RulesRecord, hand: Mask) -> Mask:
    """Return the combination with most cards among those that hold the lowest card of a hand."""
    low = lowest_bit(hand) & 60  # the first bit of its nibble
    rank = low >> 2
    of_rank = nibble(hand, rank)
    n = popcount(of_rank)
    if presence(hand >> low) & 0x110 != 0x110:  # the next two ranks are not both there, so no run starts: most hands
        return of_rank if n < QUAD or of_rank & rules.quad_cards else three_lowest(of_rank)
    # A run ends where the first bit of `~ranks` is; `stop` bounds it at the rank after the 2s.
    stop = ONES | 1 << 52
    straight = lowest_bit(~(presence(hand & rules.straight_cards) >> low) & stop) >> 2
    double = lowest_bit(~(presence(hand & covered(hand) & rules.double_cards) >> low) & stop) >> 2
    double = min(double, rules.double_straight_max)
    if straight < rules.straight_min:
        straight = 0
    if double >= 3 and 2 * double >= straight:
        return between(two_lowest(hand), rank, rank + double)
    if straight >= max(n, 1):
        return between(hand & ~covered(hand), rank, rank + straight)
    return of_rank if n < QUAD or of_rank & rules.quad_cards else three_lowest(of_rank)


# ------------------------------------------------------------------------------------------------ the policy


@lazy(OF_VIEW)
def choose_with_two(rules: RulesRecord, view: View) -> Mask:
    """Return `choose` for two decks; `view.second` gets the second copies."""
    return lowest_two_decks.choose(rules, view)


@spliced
def choose_free(rules: RulesRecord, view: View, hand: Mask, on: Code, lead: bool) -> Mask:
    """Return the play of the seat to act, where no obligation but that of the first lead binds it."""
    if not lead:
        return lowest_answer(rules, hand, on)
    if view.required != 0 and rules.first_lead == FIRST_LEAD_ALONE:
        return view.required
    return longest_from_lowest(rules, hand)


@spliced
def choose(rules: RulesRecord, view: View, stream: Any) -> Mask:  # noqa: ARG001  # it never draws
    """Return the play of the seat to act (the policy contract of `tlsim.engine.view`)."""
    if rules.decks == 2:
        return choose_with_two(rules, view)
    if view.asked_again != 0 or last_play_barred(rules, view) != 0:
        return choose_plain(rules, view)
    return choose_free(rules, view, view.hand, view.on, view.on == 0)
