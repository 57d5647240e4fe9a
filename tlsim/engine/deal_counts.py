"""Classes of deals by the million: each goes on in all ways that one hand can draw, and equal ones are added up.

A deal is a *key*: the number of the set of cards gone, then the classes of its hands, as the digits of one number.
Deals are kept in a hash table (open addressing); `tlsim.chances.exact_tables` says what they mean.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tlsim.engine.bits import add64, high_product, multiply64
from tlsim.engine.compile import function, kernel

Ints = NDArray[np.integer[Any]]

_LISTED = 128  # draws that are added to a hash table at once
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # an odd multiplier: Fibonacci hashing


class DealClasses(NamedTuple):
    """Classes of deals of k hands, one a row: the classes of the hands, sorted, and how many deals there are."""

    hands: Ints  # (rows, k)
    gone: Ints  # (rows,): number of the set of cards of this rank that is drawn
    ways: Ints  # (rows, moduli), uint64: remainders to 2^64 and to the others


class DrawColumns(NamedTuple):
    """What a hand may draw: of its class c and a set g the draws from `first[c, g]` on, `n_ways[c, g]` of them.

    By draw: the class of the hand after it, the set of cards gone after it, and the ways to draw so.
    """

    first: Ints
    n_ways: Ints
    to: Ints
    gone_after: Ints
    ways: Ints


@function
def _list_draws(
    deals: DealClasses, draws: DrawColumns, keying: tuple[int, Ints, int], row: int, n: int, listed: Ints
) -> int:
    """Write what one deal becomes to `listed` from n on: deal, draw, key, and where it may be in the table.

    `keying` is the hand that draws, the powers that are the digits of a key, and the number of slots of the table.
    Returns the new end.
    """
    hand, powers, n_slots = keying
    hands, gone = deals.hands, deals.gone
    start, last = draws.first[hands[row, hand], gone[row]], hands.shape[1] - hand
    for draw in range(start, start + draws.n_ways[hands[row, hand], gone[row]]):
        after, place, key = draws.to[draw], 0, 1 + draws.gone_after[draw] * powers[last]
        for i in range(1, last):  # the hands after it are sorted: those below the new class move up one digit
            other = hands[row, hand + i]
            place += other < after
            key += other * powers[i - (other < after)]
        key += after * powers[place]
        at = high_product(multiply64(np.uint64(key), _SPREAD), np.uint64(n_slots))
        listed[0, n], listed[1, n], listed[2, n], listed[3, n] = row, draw, key, np.int64(at)
        n += 1
    return n


@function
def _add_listed(ways: Ints, ways_to_draw: Ints, slots: Ints, n: int, listed: Ints) -> int:
    """Add n listed draws to the hash table, after a look at all their slots: the processor waits for memory once.

    Returns a number that is never negative, which the compiler does not know.
    """
    looked = 0
    for e in range(n):
        looked |= slots[listed[3, e], 0]
    for e in range(n):
        row, draw, key, slot = listed[0, e], listed[1, e], listed[2, e], listed[3, e]
        while slots[slot, 0] != key and slots[slot, 0] != 0:
            slot = slot + 1 if slot + 1 < len(slots) else 0
        slots[slot, 0] = key
        for m in range(ways.shape[1]):
            more = multiply64(ways[row, m], ways_to_draw[draw])
            slots[slot, 1 + m] = np.int64(add64(np.uint64(slots[slot, 1 + m]), more))
    return looked


@function
def _take_out(slots: Ints, digits: tuple[int, int], moduli: Ints, prefix: Ints, n: int, deals: DealClasses) -> int:
    """Move the deals of a hash table, reduced, to `deals` from row n on, behind `prefix`; return the end.

    `digits` is the hand that drew, the first of a key's digits, and the bits of a digit.
    """
    hand, bits = digits
    hands, gone, ways = deals.hands, deals.gone, deals.ways
    for slot in range(len(slots)):
        key = slots[slot, 0] - 1
        if key >= 0:
            slots[slot, 0] = 0
            for i in range(hand):
                hands[n, i] = prefix[i]
            for i in range(hands.shape[1] - 1, hand - 1, -1):
                hands[n, i] = key & ((1 << bits) - 1)
                key >>= bits
            gone[n] = key
            ways[n, 0] = np.uint64(slots[slot, 1])
            slots[slot, 1] = 0
            for m in range(len(moduli)):
                ways[n, 1 + m] = slots[slot, 2 + m] % np.int64(moduli[m])
                slots[slot, 2 + m] = 0
            n += 1
    return n


@function
def _end_of_group(hands: Ints, row: int, hand: int) -> int:
    """Return the first row from `row` on that differs from it before `hand`."""
    stop = row + 1
    while stop < len(hands):
        for i in range(hand):
            if hands[stop, i] != hands[row, i]:
                return stop
        stop += 1
    return stop


@kernel
def _draw_all(
    deals: DealClasses, draws: DrawColumns, digits: tuple[int, int], moduli: Ints, most: int, after: DealClasses
) -> int:
    """Write to `after` what the deals become; return how many, -1 when it takes more than `most` numbers.

    `digits` is the hand that draws, and the bits of a class in a key. Only deals that are equal before that hand can
    become equal: they stand together, and are added up in a hash table which, but for those of the first hand, the
    nearest cache holds. A slot is a key plus one (0: empty) and the ways by modulus, side by side in memory.
    """
    hand, bits = digits
    hands, gone, ways = deals.hands, deals.gone, deals.ways
    n_ways, n_later, width = draws.n_ways, hands.shape[1] - hand, 1 + ways.shape[1]
    powers = np.array(
        [1 << (bits * i) for i in range(n_later - 1, -1, -1)] + [1 << (bits * n_later) if hand > 0 else 0]
    )
    listed = np.empty((4, _LISTED + n_ways.max()), np.int64)
    slots, row, n = np.zeros((64, width), np.int64), 0, 0
    while row < len(hands):
        stop, size = _end_of_group(hands, row, hand), 0
        for r in range(row, stop):
            size += n_ways[hands[r, hand], gone[r]]
        size += size // 8 + 1  # about two draws in three differ, at most all
        if size * width > 4 * most:  # of the last draws, into one table, a third or a quarter differ
            return -1
        if size > len(slots):
            slots = np.zeros((2 * size if stop < len(hands) else size, width), np.int64)
        waiting, looked = 0, 0
        for r in range(row, stop):
            waiting = _list_draws(deals, draws, (hand, powers, size), r, waiting, listed)
            if waiting >= _LISTED or r == stop - 1:
                looked |= _add_listed(ways, draws.ways, slots[:size], waiting, listed)
                waiting = 0
        n = _take_out(slots[:size], digits, moduli, hands[row], n, after)
        if n * width > most or looked < 0:
            return -1
        row = stop
    return n


KERNELS = [_draw_all]


def draw_all(deals: DealClasses, hand: int, draws: DrawColumns, moduli: Ints, most: int) -> DealClasses | None:
    """Let one hand of each deal draw in all ways; return the different deals after it.

    Hands draw from the last to the first: those after `hand` are sorted, and deals with equal hands before it stand
    together, as they do in what is returned. Nothing is gone any more after the first hand. `None` when there would be
    more than `most` numbers, keys or ways, or keys too large. The first of the ways are remainders to 2^64; the others
    stay below their moduli, at most 2^32, times at most 70, and up to 2^24 of those are added up: no overflow in int64.
    """
    n_hands = deals.hands.shape[1]
    bits = max(int(deals.hands.max(initial=0)), int(draws.to.max(initial=0))).bit_length()
    if int(draws.gone_after.max(initial=0)).bit_length() + bits * (n_hands - hand) > 62:
        return None
    most_rows = int(draws.n_ways[deals.hands[:, hand], deals.gone].sum())
    after = DealClasses(*(np.empty((most_rows, *column.shape[1:]), column.dtype) for column in deals))
    n = _draw_all(deals, draws, (hand, bits), moduli, most, after)
    return None if n < 0 else DealClasses(*(column[:n] for column in after))


def warm_up() -> None:
    """Compile the kernels, or load them from the cache."""
    one, zero = np.ones((1, 1), np.int64), np.zeros((1, 1), np.int64)
    deals = DealClasses(zero.astype(np.int16), zero[0], one.astype(np.uint64))
    draws = DrawColumns(zero, one, one[0].astype(np.int16), zero[0], one[0].astype(np.uint64))
    draw_all(deals, 0, draws, np.ones(0, np.uint64), 1000)
