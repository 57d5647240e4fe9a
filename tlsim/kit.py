"""What a policy is written with: compiled helpers for functions `choose(rules, view, stream)`.

    from tlsim import kit

    def choose(rules, view, stream, boldness=0.5):
        if view.on == 0 or kit.chance(stream) < boldness:
            return kit.lowest_play(rules, view)
        return 0

`choose` returns the cards that it plays, 0 to pass. Parameters with defaults are numbers that a user can set.

**Cards** are bits of a *mask*: card `4*rank + suit` is bit number `card`, rank 0 the 3s to 12 the 2s, suit 0 spades,
then clubs, diamonds, hearts. **A play as one number** is its *code*: kind, length and top card, which `kind`, `length`
and `top` take out of it. 0 is no combination; as the play to beat it means a lead.

**The view** is what the seat to act knows. Most used of its fields (all: `tlsim.engine.view.VIEW`):

| field | holds |
|---|---|
| `view.hand` | the mask of one's own cards |
| `view.on` | the code of the play to beat, 0 to lead; `view.on_cards` its cards, `view.owner` the seat that played it |
| `view.required` | the mask of the card that the first lead must hold, 0 for none |
| `view.asked_again` | 1 where one has passed on this pile, and may only play an unlocked chop |
| `view.seat` | one's own seat, 0 to `rules.players` - 1; the next to act is `(view.seat + 1) % rules.players` |
| `view.left[seat]` | the number of cards left with a seat |
| `view.played[seat]` | the mask of the cards that a seat has played |
| `view.turn_seat[k]`, `view.turn_cards[k]` | turn k of this hand, k below `view.n_turns`; a pass has no cards |

With two decks a second mask holds the cards that are there twice: `view.hand_second`, `view.on_second`,
`view.played_second[seat]`. A policy that plays both copies of a card writes it to `view.second` as well.

**The rules** are a record too: every option by its name (`rules.must_play`), see `tlsim.rules.ruleset.RULES`.

All of it also works in Python, slowly: for `python:` policies, and to try things out.

>>> from tlsim import kit
>>> from tlsim.rules.cards import parse_hand, show
>>> from tlsim.rules.ruleset import pack
>>> from tlsim.rules.variantfiles import builtin
>>> rules, hand = pack(builtin("southern"), 4)[0], parse_hand("3S 4C 5D 9S 9C KH 2S")
>>> show(kit.longest_from_lowest(rules, hand))
'3♠ 4♣ 5♦'
>>> on = kit.code(rules, parse_hand("8H"))
>>> kit.kind(on) == kit.SINGLE, kit.length(on), kit.top(on)
(True, 1, 23)
>>> show(kit.lowest_answer(rules, hand, on))
'9♠'
>>> kit.fewest_plays(rules, hand)
4
"""

import inspect
from typing import Any

import numpy as np

from tlsim.engine import features, one_deck, shapes, two_decks
from tlsim.engine.bits import highest_bit, lowest_bit, popcount
from tlsim.engine.calls import lazy
from tlsim.engine.compile import inlined_kernel
from tlsim.engine.host import JIT, types
from tlsim.engine.policies import lowest, random
from tlsim.engine.rng import Stream, below, draw
from tlsim.engine.shapes import (
    DOUBLE_STRAIGHT,
    KINDS,
    PAIR,
    QUAD,
    QUAD_RUN,
    SINGLE,
    STRAIGHT,
    TRIPLE,
    Code,
    Copies,
)
from tlsim.engine.view import CONTRACT, OF_HAND, View
from tlsim.rules.cards import FULL, Card, Mask, Rank
from tlsim.rules.ruleset import RulesRecord

# The kinds that `kind` returns.
assert tuple(range(1, len(KINDS))) == (SINGLE, PAIR, TRIPLE, QUAD, STRAIGHT, DOUBLE_STRAIGHT, QUAD_RUN)


# ------------------------------------------------------------------------------------------------ plays


@inlined_kernel
def legal_plays(rules: RulesRecord, view: View) -> int:
    """Return the number n of plays that the seat to act may make, passing apart; `view.plays[0:n]` gets the plays.

    Each play is a mask, each choice of suits a play of its own. With two decks `view.plays_second[0:n]` gets the cards
    that the plays take twice.
    """
    return two_decks.legal_plays_of_either(rules, view)


@inlined_kernel
def may_pass(rules: RulesRecord, view: View) -> bool:
    """Return whether the seat to act may pass: not as the leader of a pile, nor where `must_play` says so.

    Overwrites `view.plays`.
    """
    return two_decks.may_pass(rules, view)


@inlined_kernel
def lowest_play(rules: RulesRecord, view: View) -> Mask:
    """Return the cards that the built-in policy `lowest` plays here, 0 for a pass; for one deck and two."""
    return lowest.choose(rules, view, 0)


@inlined_kernel
def random_play(rules: RulesRecord, view: View, stream: Stream) -> Mask:
    """Return the cards that the built-in policy `random` plays here, 0 for a pass; for one deck and two.

    All legal plays, and passing where it is allowed, are equally likely. It draws once from the stream.
    """
    return random.choose(rules, view, stream)


@inlined_kernel
def lowest_answer(rules: RulesRecord, hand: Mask, on: Code) -> Mask:
    """Return the lowest play of a hand that beats a play, given as its code; 0 when none does.

    A chop only when nothing matches. For one deck; `lowest_play` is for both. It knows of no obligations.
    """
    return lowest.lowest_answer(rules, hand, on)


@inlined_kernel
def longest_from_lowest(rules: RulesRecord, hand: Mask) -> Mask:
    """Return the combination with most cards of those that hold the lowest card of a hand; for one deck."""
    return lowest.longest_from_lowest(rules, hand)


@inlined_kernel
def code(rules: RulesRecord, cards: Mask, second: Mask = 0) -> Code:
    """Return the code of cards, 0 when they are no combination under these rules.

    `second` are the cards that are there twice (two decks).
    """
    return two_decks.classify(rules, cards, second) if rules.decks == 2 else one_deck.classify(rules, cards)


@inlined_kernel
def beats(rules: RulesRecord, code: Code, on: Code) -> bool:
    """Return whether a play beats another, by its top card or as a chop; both are codes.

    With two decks equal top cards are left out: what `rules.ties` says about them needs the cards.
    """
    return one_deck.beats(rules, code, on)


@inlined_kernel
def is_chop(code: Code, on: Code) -> bool:
    """Return whether a play that beats `on` is a chop: one that does not match it."""
    return not one_deck.matches(code, on)


@inlined_kernel
def kind(code: Code) -> int:
    """Return the kind of a code: SINGLE, PAIR, TRIPLE, QUAD, STRAIGHT, DOUBLE_STRAIGHT, QUAD_RUN; 0 for a lead."""
    return one_deck.kind_of(code)


@inlined_kernel
def length(code: Code) -> int:
    """Return the length of a code: cards of a straight, pairs of a double straight, quads of a run, else 1."""
    return one_deck.length_of(code)


@inlined_kernel
def top(code: Code) -> Card:
    """Return the number, 0 to 51, of the highest card of a code: from 48 on it is a 2."""
    return one_deck.top_of(code)


# ------------------------------------------------------------------------------------------------ hands


@inlined_kernel
def n_cards(hand: Mask) -> int:
    """Return the number of cards of a mask."""
    return popcount(hand)


@inlined_kernel
def lowest_card(hand: Mask) -> Card:
    """Return the number, 0 to 51, of the lowest card of a mask; 64 when it is empty."""
    return lowest_bit(hand)


@inlined_kernel
def highest_card(hand: Mask) -> Card:
    """Return the number, 0 to 51, of the highest card of a mask; -1 when it is empty."""
    return highest_bit(hand)


@inlined_kernel
def count_of(hand: Mask, rank: Rank) -> int:
    """Return the number of different cards of a rank, 0 (the 3s) to 12 (the 2s), in a hand."""
    return popcount(shapes.nibble(hand, rank))


@inlined_kernel
def longest_run(hand: Mask) -> int:
    """Return the number of ranks in the longest run of consecutive ranks of a hand, 2s included."""
    ranks = shapes.presence(hand)
    n = 0
    while ranks != 0:
        ranks &= ranks >> 4  # keeps the ranks that have the next one as well: every run loses its last
        n += 1
    return n


@lazy(OF_HAND)
def _fewest_plays(rules: RulesRecord, hand: Mask) -> int:
    return features.fewest_plays(rules, hand)


@inlined_kernel
def fewest_plays(rules: RulesRecord, hand: Mask) -> int:
    """Return the fewest plays that shed a hand when nobody answers; for one deck."""
    return _fewest_plays(rules, hand)


# ------------------------------------------------------------------------------------------------ the table


@inlined_kernel
def cards_left(rules: RulesRecord, view: View, step: int) -> int:
    """Return the number of cards left with the seat `step` places after one's own: 1 is the next to act."""
    return view.left[(view.seat + step) % rules.players]


@inlined_kernel
def fewest_left(rules: RulesRecord, view: View) -> int:
    """Return the fewest cards left with another player who still holds any; 0 when nobody does."""
    fewest = 0
    for step in range(1, rules.players):
        left = view.left[(view.seat + step) % rules.players]
        if left > 0 and (fewest == 0 or left < fewest):
            fewest = left
    return fewest


@inlined_kernel
def seen(rules: RulesRecord, view: View) -> Copies:
    """Return two masks: the cards that are in one's hand or played, and those of them of which both copies are."""
    once, twice = view.hand, view.hand_second
    for seat in range(rules.players):
        twice |= view.played_second[seat] | (once & view.played[seat])
        once |= view.played[seat]
    return once, twice


@inlined_kernel
def unseen(rules: RulesRecord, view: View) -> Mask:
    """Return the cards of which a copy is neither in one's hand nor played: with the others, or not dealt."""
    once, twice = seen(rules, view)
    return FULL & ~(twice if rules.decks == 2 else once)


@inlined_kernel
def unseen_second(rules: RulesRecord, view: View) -> Mask:
    """Return the cards of which both copies are neither in one's hand nor played; 0 with one deck."""
    return FULL & ~seen(rules, view)[0] if rules.decks == 2 else 0


# ------------------------------------------------------------------------------------------------ chance


@inlined_kernel
def pick(stream: Stream, n: int) -> int:
    """Return a random number 0..n-1 from the policy's own stream, each equally likely."""
    return below(draw(stream), n)


@inlined_kernel
def chance(stream: Stream) -> float:
    """Return a random number, uniform in [0, 1), from the policy's own stream.

    A multiple of 2^-53: the upper 53 bits of a word, the most that a `float` tells apart.
    """
    return np.float64(draw(stream) >> np.uint64(11)) / 9007199254740992.0


# ------------------------------------------------------------------------------------------------ compiled beforehand

KERNELS = [value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__]


def warm_up() -> None:
    """Compile all of it for policies, or load it from the cache; a new policy then waits for its own code alone."""
    records = dict(zip(("rules", "view", "stream"), CONTRACT, strict=True))
    for helper in KERNELS if JIT else []:
        parameters = inspect.signature(helper.py_func).parameters
        types_by_name: dict[str, Any] = {name: records.get(name, types.int64) for name in parameters}
        helper.compile(tuple(types_by_name.values()))
        defaults = {name: parameter.default for name, parameter in parameters.items()}
        omitted = {
            name: types.Omitted(value) for name, value in defaults.items() if value is not inspect.Parameter.empty
        }
        if omitted:
            helper.compile(tuple((types_by_name | omitted).values()))
