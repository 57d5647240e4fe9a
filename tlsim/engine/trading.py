"""What two seats swap after the deal (docs/rules.md, §8): the contract of trading policies, and the built-in one.

`tlsim.engine.trades` visits the pairs of seats, and a *trading policy* says for each what the two swap. It is a
function `trade(rules, offer, stream)` of three records: it sees both hands in the `OFFER`, writes to it what each of
the two gives, as many cards each way, and returns 1; or it returns 0 for no swap.
"""

from typing import TypeAlias

import numpy as np

from tlsim.engine import two_decks
from tlsim.engine.bits import kth_bit, popcount
from tlsim.engine.calls import call_by_address
from tlsim.engine.compile import function, inline
from tlsim.engine.host import from_dtype, types
from tlsim.engine.rng import STREAM, Stream
from tlsim.engine.shapes import count_at, presence
from tlsim.engine.two_decks import at_least, lattice_of
from tlsim.engine.view import MAX_PARAMS, PARAMS
from tlsim.rules.cards import NO_TWOS, Mask
from tlsim.rules.ruleset import RULES, RulesRecord

# Two hands that may trade, and what they trade; second copies (two decks) in masks of their own.
OFFER = np.dtype(
    (
        np.record,
        [
            ("a", "i8"),  # the cards of one of the two …
            ("a_second", "i8"),
            ("b", "i8"),  # … and of the other
            ("b_second", "i8"),
            ("give_a", "i8"),  # what one gives the other …
            ("give_a_second", "i8"),
            ("give_b", "i8"),  # … and gets for it
            ("give_b_second", "i8"),
        ],
    )
)
Offer: TypeAlias = np.record
"""Two hands that may trade, a record of dtype `OFFER`."""

SIGNATURES = [
    types.int64(from_dtype(RULES), from_dtype(OFFER), from_dtype(STREAM), *[types.float64] * n)
    for n in range(MAX_PARAMS + 1)
]
C_SIGNATURE = types.int64(*SIGNATURES[0].args, from_dtype(PARAMS))
call_trade = call_by_address(C_SIGNATURE)

# The hand value: what a rank with 2, 3, 4 cards adds, and each rank of a run of three and more.
_PAIR, _TRIPLE, _QUAD, _IN_RUN = 6, 8, 16, 3


# ------------------------------------------------------------------------------------------------ the built-in policy


@inline
def hand_value(hand: Mask, second: Mask) -> int:
    """Return the hand value that the built-in policy goes by: the higher, the fewer and stronger its plays.

    Every card counts its rank, 0 for a 3 to 12 for a 2; to that a rank with two cards adds 6, with three 8 more, with
    four 16 more, and every rank of a run of three or more ranks, 2s apart, 3. What one hand wins in ranks by a swap the
    other loses, so both improve only when it makes sets or runs.
    """
    lattice = lattice_of(hand, second)
    value = 0
    for rank in range(13):
        value += rank * count_at(lattice, rank)
    value += _PAIR * popcount(at_least(lattice, 2)) + _TRIPLE * popcount(at_least(lattice, 3))
    ranks = presence(hand & NO_TWOS)
    starts = ranks & (ranks >> 4) & (ranks >> 8)
    in_run = starts | starts << 4 | starts << 8
    return value + _QUAD * popcount(at_least(lattice, 4)) + _IN_RUN * popcount(in_run)


@inline
def joined(hand: Mask, second: Mask, more: Mask, more_second: Mask) -> tuple[Mask, Mask]:
    """Return the cards of two sets together, held at least once and held twice; no card is there three times."""
    return hand | more, second | more_second | (hand & more)


@function
def value_after(hand: Mask, second: Mask, give: Mask, give_second: Mask, get: Mask, get_second: Mask) -> int:
    """Return the hand value after a swap."""
    rest = two_decks.rest_of(hand, second, give, give_second)
    once, twice = joined(rest, second & ~give, get, get_second)
    return hand_value(once, twice)


@function
def next_give(hand: Mask, second: Mask, k: int, n: int) -> tuple[Mask, Mask]:
    """Return the k-th way to give n (1 or 2) cards of a hand: its cards and those of them twice; 0 past the end.

    Two cards: the pairs of different cards by the higher, then what is there twice.
    """
    size = popcount(hand)
    if n == 1:
        return (kth_bit(hand, k), 0) if k < size else (0, 0)
    high = 1
    while high < size and k >= high:
        k -= high
        high += 1
    if high < size:
        return kth_bit(hand, high) | kth_bit(hand, k), 0
    card = kth_bit(second, k) if k < popcount(second) else 0
    return card, card


@function
def best_swap(rules: RulesRecord, offer: Offer, stream: Stream) -> int:  # noqa: ARG001  # the contract of a trading policy
    """Make the one-for-one or two-for-two swap that improves both hands, and their sum the most; the first of equals.

    Returns 0 when no swap improves both.
    """
    before_a, before_b = hand_value(offer.a, offer.a_second), hand_value(offer.b, offer.b_second)
    best = 0
    for n in range(1, 3):
        k = 0
        give_a, twice_a = next_give(offer.a, offer.a_second, 0, n)
        while give_a != 0:
            j = 0
            give_b, twice_b = next_give(offer.b, offer.b_second, 0, n)
            while give_b != 0:
                gain_a = value_after(offer.a, offer.a_second, give_a, twice_a, give_b, twice_b) - before_a
                gain_b = value_after(offer.b, offer.b_second, give_b, twice_b, give_a, twice_a) - before_b
                if gain_a > 0 and gain_b > 0 and gain_a + gain_b > best:
                    best = gain_a + gain_b
                    offer.give_a, offer.give_a_second = give_a, twice_a
                    offer.give_b, offer.give_b_second = give_b, twice_b
                j += 1
                give_b, twice_b = next_give(offer.b, offer.b_second, j, n)
            k += 1
            give_a, twice_a = next_give(offer.a, offer.a_second, k, n)
    return 1 if best > 0 else 0
