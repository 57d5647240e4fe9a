"""What a policy is written with: compiled helpers for functions `choose(rules, view, stream)`.

    from tlsim import kit

    def choose(rules, view, stream, boldness=0.5):
        if view.on == 0 or kit.chance(stream) < boldness:
            return kit.lowest_play(rules, view)
        return 0

Cards are bits of a mask: card `4*rank + suit`, rank 0 the 3s to 12 the 2s, suit 0 spades, clubs, diamonds, hearts. A
*code* is a play as one number: kind, length and top card (`kind`, `length`, `top`); `view.on` is the code of the play
to beat, 0 to lead. With two decks a second mask holds the cards that are there twice (`view.hand_second`, …), and a
policy that plays both copies of a card writes it to `view.second`. All of it also works in Python, slowly, for
`python:` policies. The fields of a view are in `tlsim.engine.view`, those of the rules in `tlsim.rules.ruleset.RULES`.
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
from tlsim.engine.rng import below, draw
from tlsim.engine.shapes import DOUBLE_STRAIGHT, KINDS, PAIR, QUAD, QUAD_RUN, SINGLE, STRAIGHT, TRIPLE
from tlsim.engine.view import CONTRACT, OF_HAND
from tlsim.rules.cards import FULL

# The kinds that `kind` returns.
assert tuple(range(1, len(KINDS))) == (SINGLE, PAIR, TRIPLE, QUAD, STRAIGHT, DOUBLE_STRAIGHT, QUAD_RUN)


# ------------------------------------------------------------------------------------------------ plays


@inlined_kernel
def legal_plays(rules: Any, view: Any) -> int:
    """Return how many plays the seat to act may make, passing apart, and write them to `view.plays[0:n]`.

    With two decks their second copies are in `view.plays_second[0:n]`.
    """
    return two_decks.legal_plays_of_either(rules, view)


@inlined_kernel
def may_pass(rules: Any, view: Any) -> bool:
    """Return whether the seat to act may pass. Overwrites `view.plays`."""
    return two_decks.may_pass(rules, view)


@inlined_kernel
def lowest_play(rules: Any, view: Any) -> int:
    """Return what the built-in policy `lowest` plays here, 0 for a pass."""
    return lowest.choose(rules, view, 0)


@inlined_kernel
def random_play(rules: Any, view: Any, stream: Any) -> int:
    """Return what the built-in policy `random` plays here: uniform over all legal plays, and passing when it may."""
    return random.choose(rules, view, stream)


@inlined_kernel
def lowest_answer(rules: Any, hand: int, on: int) -> int:
    """Return the lowest play of a hand that beats the code `on`, a chop only when nothing matches; 0 when none does.

    For one deck; `lowest_play` is for both.
    """
    return lowest.lowest_answer(rules, hand, on)


@inlined_kernel
def longest_from_lowest(rules: Any, hand: int) -> int:
    """Return the combination with most cards of those that hold the lowest card of a hand; for one deck."""
    return lowest.longest_from_lowest(rules, hand)


@inlined_kernel
def code(rules: Any, cards: int, second: int = 0) -> int:
    """Return the code of cards, 0 when they are no combination under these rules."""
    return two_decks.classify(rules, cards, second) if rules.decks == 2 else one_deck.classify(rules, cards)


@inlined_kernel
def beats(rules: Any, code: int, on: int) -> bool:
    """Return whether a play beats another, by its top card or as a chop; both are codes (`ties` apart: two decks)."""
    return one_deck.beats(rules, code, on)


@inlined_kernel
def is_chop(code: int, on: int) -> bool:
    """Return whether a play that beats `on` is a chop: one that does not match it."""
    return not one_deck.matches(code, on)


@inlined_kernel
def kind(code: int) -> int:
    """Return the kind of a code: SINGLE, PAIR, TRIPLE, QUAD, STRAIGHT, DOUBLE_STRAIGHT, QUAD_RUN; 0 for a lead."""
    return one_deck.kind_of(code)


@inlined_kernel
def length(code: int) -> int:
    """Return the length of a code: cards of a straight, pairs of a double straight, quads of a run, else 1."""
    return one_deck.length_of(code)


@inlined_kernel
def top(code: int) -> int:
    """Return the number of the highest card of a code."""
    return one_deck.top_of(code)


# ------------------------------------------------------------------------------------------------ hands


@inlined_kernel
def n_cards(hand: int) -> int:
    """Return the number of cards of a mask."""
    return popcount(hand)


@inlined_kernel
def lowest_card(hand: int) -> int:
    """Return the number of the lowest card of a mask; 64 when it is empty."""
    return lowest_bit(hand)


@inlined_kernel
def highest_card(hand: int) -> int:
    """Return the number of the highest card of a mask; -1 when it is empty."""
    return highest_bit(hand)


@inlined_kernel
def count_of(hand: int, rank: int) -> int:
    """Return the number of cards of a rank in a hand."""
    return popcount(shapes.nibble(hand, rank))


@inlined_kernel
def longest_run(hand: int) -> int:
    """Return the number of ranks in the longest run of a hand, 2s included."""
    ranks = shapes.presence(hand)
    n = 0
    while ranks != 0:
        ranks &= ranks >> 4
        n += 1
    return n


@lazy(OF_HAND)
def _fewest_plays(rules: Any, hand: int) -> int:
    return features.fewest_plays(rules, hand)


@inlined_kernel
def fewest_plays(rules: Any, hand: int) -> int:
    """Return the fewest plays that shed a hand when nobody answers."""
    return _fewest_plays(rules, hand)


# ------------------------------------------------------------------------------------------------ the table


@inlined_kernel
def cards_left(rules: Any, view: Any, step: int) -> int:
    """Return the number of cards left with the seat `step` places after one's own: 1 is the next to act."""
    return view.left[(view.seat + step) % rules.players]


@inlined_kernel
def fewest_left(rules: Any, view: Any) -> int:
    """Return the fewest cards left with another player who still holds any; 0 when nobody does."""
    fewest = 0
    for step in range(1, rules.players):
        left = view.left[(view.seat + step) % rules.players]
        if left > 0 and (fewest == 0 or left < fewest):
            fewest = left
    return fewest


@inlined_kernel
def seen(rules: Any, view: Any) -> Any:
    """Return the cards that are in one's hand or played, and those of them (two decks) that both copies are."""
    once, twice = view.hand, view.hand_second
    for seat in range(rules.players):
        twice |= view.played_second[seat] | (once & view.played[seat])
        once |= view.played[seat]
    return once, twice


@inlined_kernel
def unseen(rules: Any, view: Any) -> int:
    """Return the cards of which a copy is neither in one's hand nor played: with the others, or not dealt."""
    once, twice = seen(rules, view)
    return FULL & ~(twice if rules.decks == 2 else once)


@inlined_kernel
def unseen_second(rules: Any, view: Any) -> int:
    """Return the cards of which both copies are neither in one's hand nor played; 0 with one deck."""
    return FULL & ~seen(rules, view)[0] if rules.decks == 2 else 0


# ------------------------------------------------------------------------------------------------ chance


@inlined_kernel
def pick(stream: Any, n: int) -> int:
    """Return a random number 0..n-1 from the policy's own stream."""
    return below(draw(stream), n)


@inlined_kernel
def chance(stream: Any) -> float:
    """Return a random number, uniform in [0, 1), from the policy's own stream."""
    return np.float64(draw(stream) >> np.uint64(11)) / 9007199254740992.0


# ------------------------------------------------------------------------------------------------ compiled beforehand

KERNELS = [value for value in list(globals().values()) if getattr(value, "__module__", "") == __name__]


def warm_up() -> None:
    """Compile all of it for policies, or load it from the cache; a new policy then waits for its own code alone."""
    records = dict(zip(("rules", "view", "stream"), CONTRACT, strict=True))
    for helper in KERNELS if JIT else []:
        parameters = inspect.signature(helper.py_func).parameters
        given = {name: records.get(name, types.int64) for name in parameters}
        helper.compile(tuple(given.values()))
        left = {name: types.Omitted(one.default) for name, one in parameters.items() if one.default is not one.empty}
        if left:
            helper.compile(tuple((given | left).values()))
