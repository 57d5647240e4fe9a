"""Shapes on bit masks: ranks, runs and pairs read off the nibbles of a hand, and every way to pick cards for them.

A rank is a nibble of a mask, its suits are the four bits. A hand is looked at in three ways:

- as the mask itself, one bit a card;
- as `presence(hand)`, one bit a rank, the lowest of its nibble;
- as `counts(hand)`, the number of cards of each rank in its nibble.

`runs(ranks, n)` marks the ranks that start n consecutive ones. Where the top card of a play must be among some of the
hand's cards, those are called `tops`: all of them for a lead, the higher ones for an answer.
"""

from typing import TypeAlias

from tlsim.engine.bits import kth_bit, lowest_bit, popcount
from tlsim.engine.compile import function, inline
from tlsim.engine.view import View
from tlsim.rules.cards import NO_TWOS, ONES, Card, Mask, Rank

Code: TypeAlias = int
"""A play as one number, `kind << 10 | length << 6 | top card`; 0 is no combination, or a lead."""
Lattice: TypeAlias = int
"""The number of cards of each rank in its nibble."""
RankBits: TypeAlias = int
"""A set of ranks: one bit a rank, the lowest of its nibble."""

Copies: TypeAlias = tuple[Mask, Mask]
"""Cards of two decks: those there at least once, and those there twice."""

# Kinds of plays; a play of one rank has its number of cards.
SINGLE, PAIR, TRIPLE, QUAD, STRAIGHT, DOUBLE_STRAIGHT, QUAD_RUN = range(1, 8)
KINDS = ("pass", "single", "pair", "triple", "quad", "straight", "double-straight", "quad-run")

# ------------------------------------------------------------------------------------------------ bits and ranks


@inline
def lowest(mask: int) -> int:
    """Return the lowest set bit of a mask, as a mask; 0 when there is none."""
    return mask & -mask


@inline
def above(hand: Mask, top: Card) -> Mask:
    """Return the cards of a hand that are higher than a card."""
    return hand & (-2 << top)  # -2 << top has every bit above bit `top`


@inline
def nibble(hand: Mask, rank: Rank) -> Mask:
    """Return the cards of one rank."""
    return hand & (15 << (4 * rank))


@inline
def up1(hand: Mask) -> Mask:
    """Return the cards one suit above those of a hand, same rank: what leaves the nibble is dropped before."""
    return (hand & (ONES * 0b0111)) << 1


@inline
def up2(hand: Mask) -> Mask:
    """Return the cards two suits above those of a hand, same rank."""
    return (hand & (ONES * 0b0011)) << 2


@inline
def up3(hand: Mask) -> Mask:
    """Return the cards three suits above those of a hand, same rank."""
    return (hand & ONES) << 3


@inline
def covered(hand: Mask) -> Mask:
    """Return the cards, held or not, that have a lower one of the same rank in the hand."""
    return up1(hand) | up2(hand) | up3(hand)


@inline
def presence(hand: Mask) -> RankBits:
    """Return the ranks that a hand holds."""
    return (hand | hand >> 1 | hand >> 2 | hand >> 3) & ONES


@inline
def counts(hand: Mask) -> Lattice:
    """Return the number of cards of each rank, 0 to 4: the usual count of bits, all nibbles at once."""
    pairs = hand - ((hand >> 1) & (ONES * 0b0101))  # in every two bits how many of them were set
    return (pairs & (ONES * 0b0011)) + ((pairs >> 2) & (ONES * 0b0011))


@inline
def count_at(lattice: Lattice, rank: Rank) -> int:
    """Return the number of cards of one rank."""
    return (lattice >> (4 * rank)) & 15


@inline
def pair_choices(n: int) -> int:
    """Return the number of pairs out of n different cards of a rank."""
    return n * (n - 1) >> 1


@inline
def runs(ranks: RankBits, n: int) -> RankBits:
    """Return the ranks that start n (1 to 16) consecutive ones.

    The plain version is `ranks & ranks >> 4 & … & ranks >> 4 * (n - 1)`. Here each step doubles what is covered, and a
    step that is not needed shifts by 0: no branch but one.
    """
    if n <= 4:
        ranks &= ranks >> ((2 * n) & 12)  # 0 for n = 1, one rank for 2 and 3, two for 4
        return ranks & (ranks >> ((2 * n - 2) & 12))  # 0 for n = 1 and 2, one rank for 3 and 4
    ranks &= ranks >> 4
    ranks &= ranks >> 8
    ranks &= ranks >> (4 * min(n - 4, 4))
    return ranks & (ranks >> (4 * max(n - 8, 0)))


@inline
def runs_to(ranks: RankBits, tops: Mask, n: int) -> RankBits:
    """Return the ranks that start n consecutive ones the last of which is a rank of `tops`."""
    return runs(ranks, n) & (presence(tops) >> (4 * (n - 1)))


@inline
def has_three_in_a_row(ranks: RankBits) -> bool:
    """Return whether there are three consecutive ranks."""
    return ranks & (ranks >> 4) & (ranks >> 8) != 0


@inline
def quads(hand: Mask) -> RankBits:
    """Return the ranks of which a hand holds all four cards."""
    return hand & (hand >> 1) & (hand >> 2) & (hand >> 3) & ONES


@inline
def holds_chop(hand: Mask) -> bool:
    """Return whether a hand holds a quad, or pairs of three ranks in a row: what any chop of one deck needs."""
    lattice = counts(hand)
    four = (lattice >> 2) & ONES
    two = ((lattice >> 1) & ONES) | four
    return four | (two & (two >> 4) & (two >> 8)) != 0  # `has_three_in_a_row`, in one comparison with the quads


# ------------------------------------------------------------------------------------------------ all plays of a shape


@function
def write_of_a_rank(view: View, n: int, hand: Mask, tops: Mask, kind: int) -> int:
    """Write every single, pair, triple or quad of a hand to `view.plays` from n on; return the new end."""
    while tops != 0:
        top = lowest(tops)
        tops ^= top
        lower = nibble(hand, lowest_bit(top) >> 2) & (top - 1)
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
def write_straights(view: View, n: int, hand: Mask, tops: Mask, length: int) -> int:
    """Write every straight of one length of a hand to `view.plays` from n on; return the new end.

    All choices of suits, as an odometer: its digits are the cards of each rank, the lowest rank turns fastest.
    """
    starts = runs_to(presence(hand), tops, length)
    while starts != 0:
        low = lowest_bit(starts)
        starts &= starts - 1
        last = (low >> 2) + length - 1
        digits = (hand & ((1 << (4 * last)) - (1 << low))) | nibble(tops, last)
        first = digits & ~covered(digits)
        play = first
        while True:
            view.plays[n] = play
            n += 1
            rank = low >> 2
            while rank <= last:
                higher = nibble(digits, rank) & -(nibble(play, rank) << 1)  # the cards above the one that is in
                play &= ~(15 << (4 * rank))
                if higher != 0:
                    play |= lowest(higher)
                    break
                play |= nibble(first, rank)  # this digit starts anew, and the next rank turns
                rank += 1
            if rank > last:
                break
    return n


@inline
def kth_pair(cards: Mask, tops: Mask, k: int) -> Mask:
    """Return the k-th pair of the cards of one rank: by how many suits the two are apart, then by the top card."""
    one_apart, two_apart, three_apart = tops & up1(cards), tops & up2(cards), tops & up3(cards)
    n_one, n_two = popcount(one_apart), popcount(two_apart)
    if k < n_one:
        top = kth_bit(one_apart, k)
        return top | top >> 1
    if k < n_one + n_two:
        top = kth_bit(two_apart, k - n_one)
        return top | top >> 2
    return three_apart | three_apart >> 3


@inline
def count_pairs(cards: Mask, tops: Mask) -> int:
    """Return the number of pairs of the cards of one rank."""
    return popcount(tops & up1(cards)) + popcount(tops & up2(cards)) + popcount(tops & up3(cards))


@inline
def double_starts(hand: Mask, tops: Mask, length: int) -> RankBits:
    """Return the ranks that start a double straight of `length` pairs."""
    paired = hand & covered(hand)
    return runs_to(presence(paired), paired & tops, length)


@function
def count_doubles(hand: Mask, tops: Mask, length: int) -> int:
    """Return the number of double straights of `length` pairs."""
    starts, lattice, total = double_starts(hand, tops, length), counts(hand), 0
    while starts != 0:
        first = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = first + length - 1
        ways = count_pairs(nibble(hand, last), nibble(tops, last))
        for rank in range(first, last):
            ways *= pair_choices(count_at(lattice, rank))
        total += ways
    return total


@function
def kth_double(hand: Mask, tops: Mask, length: int, k: int) -> Mask:
    """Return the k-th of the double straights that `count_doubles` counts.

    Within those that start at a rank, k is a number whose digits are the choices of a pair of each rank, top first.
    """
    starts, lattice = double_starts(hand, tops, length), counts(hand)
    while True:
        first = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = first + length - 1
        n_top = count_pairs(nibble(hand, last), nibble(tops, last))
        ways = n_top
        for rank in range(first, last):
            ways *= pair_choices(count_at(lattice, rank))
        if k >= ways:
            k -= ways
            continue
        play = kth_pair(nibble(hand, last), nibble(tops, last), k % n_top)
        k //= n_top
        for rank in range(first, last):
            cards = nibble(hand, rank)
            n_pairs = pair_choices(count_at(lattice, rank))
            play |= kth_pair(cards, cards, k % n_pairs)
            k //= n_pairs
        return play


@inline
def quad_run_starts(hand: Mask, tops: Mask, length: int) -> RankBits:
    """Return the ranks that start a run of `length` quads, without 2s."""
    return runs_to(quads(hand & NO_TWOS), tops, length)


@inline
def quad_run_from(start: RankBits, length: int) -> Mask:
    """Return the run of `length` quads from a rank, given as its bit; 0 for no rank."""
    return start * ((1 << (4 * length)) - 1)  # all bits of `length` nibbles, moved to where the run starts
