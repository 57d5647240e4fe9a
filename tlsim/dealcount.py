"""Classes of deals by the million: each goes on in all ways that one hand can draw, and equal ones are added up.

A deal is a *key*: the number of the set of cards gone, then the classes of its hands, as the digits of one number.
Deals are kept in a hash table (open addressing); `tlsim.exact_table` says what they mean.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim._jit import add64, helper, high_product, kernel, multiply64

Ints = NDArray[np.integer[Any]]

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd multiplier: Fibonacci hashing


@helper
def _write_bases(hands: Any, row: int, hand: int, powers: Any, bases: Any) -> None:
    """Write the keys of a deal without hand number `hand`, for each place that it may take among those before it."""
    for place in range(hand + 1):
        base = 0
        for i in range(hands.shape[1]):
            if i != hand:
                base += hands[row, i] * powers[i if i > hand else i + (i >= place)]
        bases[place] = base


@kernel
def _draw_all(hands: Any, gone: Any, ways: Any, hand: int, powers: Any, draws: Any, slots: Any) -> int:
    """Fill the hash table with what the deals become; return how many, -1 when it is too full.

    `hands[:, :hand]` is sorted. `powers` has the weight of each hand in a key, then that of the set gone. `draws` is
    first, n_ways, class after, set gone after, ways. A slot is a key plus one (0: empty) and the ways by modulus, side
    by side in memory. All slots of a deal are looked at before any is written, so that the processor waits for
    memory once a deal and not once a draw.
    """
    first, n_ways, to, gone_after, ways_to_draw = draws
    room, n_slots, n_hands, filled = len(slots) * 3 // 4, np.uint64(len(slots)), hands.shape[1], 0
    bases, keys = np.empty(n_hands, np.int64), np.empty(n_ways.max(), np.int64)
    places, looked = np.empty(len(keys), np.int64), 0
    for row in range(len(hands)):
        drawer = hands[row, hand]
        start, n = first[drawer, gone[row]], n_ways[drawer, gone[row]]
        _write_bases(hands, row, hand, powers, bases)
        for e in range(n):
            after, place = to[start + e], 0
            for i in range(hand):
                place += hands[row, i] <= after
            keys[e] = 1 + bases[place] + after * powers[place] + gone_after[start + e] * powers[n_hands]
            places[e] = np.int64(high_product(multiply64(np.uint64(keys[e]), _SPREAD), n_slots))
            looked |= slots[places[e], 0]
        for e in range(n):
            slot = places[e]
            while slots[slot, 0] != keys[e] and slots[slot, 0] != 0:
                slot = slot + 1 if slot + 1 < len(slots) else 0
            if slots[slot, 0] == 0:
                if filled == room:
                    return -1
                filled += 1
                slots[slot, 0] = keys[e]
            for m in range(ways.shape[1]):
                more = multiply64(ways[row, m], ways_to_draw[start + e])
                slots[slot, 1 + m] = np.int64(add64(np.uint64(slots[slot, 1 + m]), more))
    return filled if looked >= 0 else -1


@kernel
def _unpack(slots: Any, radix: int, moduli: Any, hands: Any, gone: Any, ways: Any) -> None:
    """Write the deals of a hash table: classes of hands, sets gone, ways reduced but for the first."""
    row = 0
    for slot in range(len(slots)):
        key = slots[slot, 0] - 1
        if key >= 0:
            for i in range(hands.shape[1] - 1, -1, -1):
                hands[row, i] = key % radix
                key //= radix
            gone[row] = key
            ways[row, 0] = np.uint64(slots[slot, 1])
            for m in range(len(moduli)):
                ways[row, 1 + m] = slots[slot, 2 + m] % np.int64(moduli[m])
            row += 1


KERNELS = [_draw_all, _unpack]


def draw_all(
    hands: Ints, gone: Ints, ways: Ints, hand: int, draws: tuple[Ints, ...], moduli: Ints, most: int
) -> tuple[Ints, Ints, Ints] | None:
    """Let one hand of each deal draw in all ways; return hands, sets gone and ways of the different deals.

    Nothing is gone any more after the last hand. `None` when there would be more than `most` numbers, keys or ways, or
    keys too large. The first of the ways are remainders to 2^64; the others stay below their moduli, at most 2^32,
    times at most 70, and up to 2^24 of those are added up: no overflow in int64.
    """
    n_hands, last = hands.shape[1], hand == hands.shape[1] - 1
    radix = 1 + max(int(hands.max(initial=0)), int(draws[2].max(initial=0)))
    if (1 + int(draws[3].max(initial=0))) * radix**n_hands >= 2**62:
        return None
    powers = np.array([radix ** (n_hands - 1 - i) for i in range(n_hands)] + [0 if last else radix**n_hands])
    capacity = 64 + int(draws[1][hands[:, hand], gone].sum())  # about two draws in three differ
    while True:
        slots = np.zeros((capacity, 1 + ways.shape[1]), np.int64)
        n = _draw_all(hands, gone, ways, hand, powers, draws, slots)
        if n * (1 + ways.shape[1]) > most or (n < 0 and capacity * (1 + ways.shape[1]) > 2 * most):
            return None
        if n >= 0:
            break
        capacity *= 2
    found = np.empty((n, n_hands), np.int16), np.empty(n, np.int64), np.empty((n, ways.shape[1]), np.uint64)
    _unpack(slots, radix, moduli, *found)
    return found


def warm_up() -> None:
    """Compile the kernels, or load them from the cache."""
    one, zero = np.ones((1, 1), np.int64), np.zeros((1, 1), np.int64)
    draws = zero, one, one[0].astype(np.int16), zero[0], one[0].astype(np.uint64)
    draw_all(zero.astype(np.int16), zero[0], one.astype(np.uint64), 0, draws, np.ones(0, np.uint64), 1000)
