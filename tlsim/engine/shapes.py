"""Shapes on bit masks: ranks, runs and pairs read off the nibbles of a hand, and every way to pick cards for them.

Bit 0 of nibble r of `presence(h)` says that rank r is there, `counts(h)` holds the number of cards of each rank, and
`runs(p, n)` marks the ranks that start n consecutive ones. `h` is a hand, `hi` the cards of it that may be on top.
"""

from typing import Any, TypeAlias

from tlsim.engine.bits import kth_bit, lowest_bit, popcount
from tlsim.engine.compile import function, inline
from tlsim.rules.cards import NO_TWOS, ONES

Code: TypeAlias = int
"""A play as one number, `kind << 10 | length << 6 | top card`; 0 is no combination, or a lead."""
Lattice: TypeAlias = int
"""The number of cards of each rank in its nibble."""

# Kinds of plays; a play of one rank has its number of cards.
SINGLE, PAIR, TRIPLE, QUAD, STRAIGHT, DOUBLE_STRAIGHT, QUAD_RUN = range(1, 8)
KINDS = ("pass", "single", "pair", "triple", "quad", "straight", "double-straight", "quad-run")

# ------------------------------------------------------------------------------------------------ bits and ranks


@inline
def lowest(a: int) -> int:
    """Return the lowest set bit of a mask, as a mask."""
    return a & -a


@inline
def above(h: int, top: int) -> int:
    """Return the cards of h that are higher than card `top`."""
    return h & (-2 << top)


@inline
def nibble(h: int, rank: int) -> int:
    """Return the cards of one rank."""
    return h & (15 << (4 * rank))


@inline
def up1(h: int) -> int:
    """Return the cards one suit above those of h, same rank."""
    return (h & (ONES * 7)) << 1


@inline
def up2(h: int) -> int:
    """Return the cards two suits above those of h, same rank."""
    return (h & (ONES * 3)) << 2


@inline
def up3(h: int) -> int:
    """Return the cards three suits above those of h, same rank."""
    return (h & ONES) << 3


@inline
def covered(h: int) -> int:
    """Return the cards that have a lower one of the same rank in h."""
    return up1(h) | up2(h) | up3(h)


@inline
def presence(h: int) -> int:
    """Return one bit (the lowest of the nibble) for every rank in h."""
    return (h | h >> 1 | h >> 2 | h >> 3) & ONES


@inline
def counts(h: int) -> int:
    """Return the number of cards of each rank, 0 to 4, in its nibble."""
    pairs = h - ((h >> 1) & (ONES * 5))
    return (pairs & (ONES * 3)) + ((pairs >> 2) & (ONES * 3))


@inline
def count_at(lattice: int, rank: int) -> int:
    """Return one nibble of a count lattice."""
    return (lattice >> (4 * rank)) & 15


@inline
def pair_choices(n: int) -> int:
    """Return the number of pairs out of n cards of a rank."""
    return n * (n - 1) >> 1


@inline
def runs(p: int, n: int) -> int:
    """Return the ranks that start n (1 to 16) consecutive ones of a presence mask; by doubling."""
    if n <= 4:
        p &= p >> ((2 * n) & 12)
        return p & (p >> ((2 * n - 2) & 12))
    p &= p >> 4
    p &= p >> 8
    p &= p >> (4 * min(n - 4, 4))
    return p & (p >> (4 * max(n - 8, 0)))


@inline
def quads(h: int) -> int:
    """Return one bit (the lowest of the nibble) for every rank with all four cards in h."""
    return h & (h >> 1) & (h >> 2) & (h >> 3) & ONES


@inline
def holds_chop(h: int) -> bool:
    """Return whether h holds a quad, or a pair of each of three ranks in a row: what any chop of one deck needs."""
    lattice = counts(h)
    four = (lattice >> 2) & ONES
    two = ((lattice >> 1) & ONES) | four
    return four | (two & (two >> 4) & (two >> 8)) != 0


# ------------------------------------------------------------------------------------------------ all plays of a shape


@function
def write_of_a_rank(view: Any, n: int, h: int, hi: int, kind: int) -> int:
    """Write every single, pair, triple or quad of h with its top card in hi; return the new end."""
    while hi != 0:
        top = lowest(hi)
        hi ^= top
        lower = nibble(h, lowest_bit(top) >> 2) & (top - 1)
        if kind == SINGLE:
            view.plays[n] = top
            n += 1
        elif kind == PAIR:
            while lower != 0:
                view.plays[n] = top | lowest(lower)
                lower &= lower - 1
                n += 1
        elif kind == TRIPLE:
            if popcount(lower) == 2:
                view.plays[n] = top | lower
                n += 1
            elif popcount(lower) == 3:
                for k in range(3):
                    view.plays[n] = top | (lower ^ kth_bit(lower, k))
                    n += 1
        elif popcount(lower) == 3:
            view.plays[n] = top | lower
            n += 1
    return n


@function
def write_straights(view: Any, n: int, h: int, hi: int, length: int) -> int:
    """Write every straight of one length in h with its top card in hi; return the new end.

    All choices of suits, as an odometer whose digits are the cards of each rank.
    """
    starts = runs(presence(h), length) & (presence(hi) >> (4 * (length - 1)))
    while starts != 0:
        low = lowest_bit(starts)
        starts &= starts - 1
        last = (low >> 2) + length - 1
        digits = (h & ((1 << (4 * last)) - (1 << low))) | nibble(hi, last)
        first = digits & ~covered(digits)
        play = first
        while True:
            view.plays[n] = play
            n += 1
            rank = low >> 2
            while rank <= last:
                higher = nibble(digits, rank) & -(nibble(play, rank) << 1)
                play &= ~(15 << (4 * rank))
                if higher != 0:
                    play |= lowest(higher)
                    break
                play |= nibble(first, rank)
                rank += 1
            if rank > last:
                break
    return n


@inline
def kth_pair(g: int, hi: int, k: int) -> int:
    """Return the k-th pair of the cards g of one rank with its top card in hi."""
    a, b, c = hi & up1(g), hi & up2(g), hi & up3(g)
    n_a, n_b = popcount(a), popcount(b)
    if k < n_a:
        top = kth_bit(a, k)
        return top | top >> 1
    if k < n_a + n_b:
        top = kth_bit(b, k - n_a)
        return top | top >> 2
    return c | c >> 3


@inline
def count_pairs(g: int, hi: int) -> int:
    """Return the number of pairs in g with the top card in hi."""
    return popcount(hi & up1(g)) + popcount(hi & up2(g)) + popcount(hi & up3(g))


@inline
def double_starts(h: int, hi: int, length: int) -> int:
    """Return the ranks that start a double straight of `length` pairs in h with its top card in hi."""
    paired = h & covered(h)
    return runs(presence(paired), length) & (presence(paired & hi) >> (4 * (length - 1)))


@function
def count_doubles(h: int, hi: int, length: int) -> int:
    """Return the number of double straights of `length` pairs in h with the top card in hi."""
    starts, lattice, total = double_starts(h, hi, length), counts(h), 0
    while starts != 0:
        rank = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = rank + length - 1
        product = count_pairs(nibble(h, last), nibble(hi, last))
        for r in range(rank, last):
            product *= pair_choices(count_at(lattice, r))
        total += product
    return total


@function
def kth_double(h: int, hi: int, length: int, k: int) -> int:
    """Return the k-th double straight of those that `count_doubles` counts."""
    starts, lattice = double_starts(h, hi, length), counts(h)
    while True:
        rank = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = rank + length - 1
        n_top = count_pairs(nibble(h, last), nibble(hi, last))
        product = n_top
        for r in range(rank, last):
            product *= pair_choices(count_at(lattice, r))
        if k >= product:
            k -= product
            continue
        play = kth_pair(nibble(h, last), nibble(hi, last), k % n_top)
        k //= n_top
        for r in range(rank, last):
            g = nibble(h, r)
            n_pairs = pair_choices(count_at(lattice, r))
            play |= kth_pair(g, g, k % n_pairs)
            k //= n_pairs
        return play


@inline
def quad_run_starts(h: int, hi: int, length: int) -> int:
    """Return the ranks that start a run of `length` quads in h (no 2s) with its top card in hi."""
    return runs(quads(h & NO_TWOS), length) & (presence(hi) >> (4 * (length - 1)))
