"""The k-th play of a kind: what `random` looks up by a random number, without writing plays out.

Every `count_…` says how many there are, and the `kth_…` after it gives them for k from 0 on, each once. Where a play
has a card or pair of each of several ranks, k is a number whose digits, in a base of their own each, are the choices.
The plain version is the k-th of the list that `tlsim.engine.one_deck.legal_plays` writes, in another order.
"""

from tlsim.engine.bits import kth_bit, lowest_bit, popcount, quotient
from tlsim.engine.compile import function, inline
from tlsim.engine.host import HAS_PDEP
from tlsim.engine.shapes import (
    DOUBLE_STRAIGHT,
    QUAD,
    STRAIGHT,
    count_at,
    count_doubles,
    counts,
    kth_double,
    kth_pair,
    nibble,
    pair_choices,
    presence,
    quad_run_from,
    quad_run_starts,
    quads,
    runs_to,
)
from tlsim.rules.cards import Mask, Rank
from tlsim.rules.ruleset import RulesRecord


@inline
def take_digit(cards: Mask, n: int, k: int) -> tuple[Mask, int]:
    """Return one of n cards by k modulo n, and the quotient: the other digits of k."""
    rest = quotient(k, n)
    return kth_bit(cards, k - rest * n), rest


# ------------------------------------------------------------------------------------------------ one rank


@inline
def kth_pair_of(mates: tuple[Mask, Mask, Mask], k: int) -> Mask:
    """Return the k-th pair by top cards whose mate is 1, 2, 3 suits down (the three masks); 0 past the end.

    No branch: `kth_bit` of an index past the end of a mask is 0, and one below 0 is taken modulo 64, which is past the
    end of a hand of 20 as well. So the k-th bit is looked up in all three masks, and two of them give nothing.
    """
    one_down, two_down, three_down = mates
    n_one, n_two = popcount(one_down), popcount(two_down)
    if not HAS_PDEP:  # one search costs more than to choose where
        mask, at, down = one_down, k, 1
        if k >= n_one:
            mask, at, down = two_down, k - n_one, 2
        if k >= n_one + n_two:
            mask, at, down = three_down, k - n_one - n_two, 3
        top = kth_bit(mask, at)
        return top | top >> down
    x, y, z = kth_bit(one_down, k), kth_bit(two_down, k - n_one), kth_bit(three_down, k - n_one - n_two)
    return x | x >> 1 | y | y >> 2 | z | z >> 3


@inline
def kth_triple_of(mates: tuple[Mask, Mask, Mask], k: int) -> Mask:
    """Return the k-th triple by top cards whose mates are 1 and 2, 1 and 3, 2 and 3 suits down (the three masks).

    0 past the end, and without branches, as `kth_pair_of`.
    """
    without_three, without_two, without_one = mates
    n_first, n_second = popcount(without_three), popcount(without_two)
    if not HAS_PDEP:
        mask, at, down, lower = without_three, k, 1, 2
        if k >= n_first:
            mask, at, down, lower = without_two, k - n_first, 1, 3
        if k >= n_first + n_second:
            mask, at, down, lower = without_one, k - n_first - n_second, 2, 3
        top = kth_bit(mask, at)
        return top | top >> down | top >> lower
    x, y = kth_bit(without_three, k), kth_bit(without_two, k - n_first)
    z = kth_bit(without_one, k - n_first - n_second)
    return x | x >> 1 | x >> 2 | y | y >> 1 | y >> 3 | z | z >> 2 | z >> 3


# ------------------------------------------------------------------------------------------------ straights


@function
def kth_straight(hand: Mask, straight_min: int, k: int) -> Mask:
    """Return the k-th of the straights that `features.count_straights` counts.

    First the rank that it ends at, then card by card downwards: at each rank either it ends there, with a choice of
    cards of the `straight_min - 1` ranks below, or it is one card longer.
    """
    lattice = counts(hand)
    rank = straight_min - 1
    here = 0  # the straights that end at `rank`
    while True:
        shortest = 1
        for r in range(rank - straight_min + 1, rank):
            shortest *= count_at(lattice, r)
        here = count_at(lattice, rank) * (here + shortest)
        if k < here:
            break
        k -= here
        rank += 1
    play = 0
    while True:
        card, k = take_digit(nibble(hand, rank), count_at(lattice, rank), k)
        play |= card
        shortest = 1
        for r in range(rank - straight_min + 1, rank):
            shortest *= count_at(lattice, r)
        if k < shortest:
            break
        k -= shortest
        rank -= 1
    for r in range(rank - straight_min + 1, rank):
        card, k = take_digit(nibble(hand, r), count_at(lattice, r), k)
        play |= card
    return play


@function
def count_fixed_straights(hand: Mask, tops: Mask, length: int) -> int:
    """Return the number of straights of one length with the top card in `tops`."""
    starts = runs_to(presence(hand), tops, length)
    if starts == 0:
        return 0
    lattice, total = counts(hand), 0
    while starts != 0:
        first = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = first + length - 1
        ways = popcount(nibble(tops, last))
        for rank in range(first, last):
            ways *= count_at(lattice, rank)
        total += ways
    return total


@function
def kth_fixed_straight(hand: Mask, tops: Mask, length: int, k: int) -> Mask:
    """Return the k-th of the straights that `count_fixed_straights` counts."""
    starts = runs_to(presence(hand), tops, length)
    lattice = counts(hand)
    while True:
        first = lowest_bit(starts) >> 2
        starts &= starts - 1
        last = first + length - 1
        n_top = popcount(nibble(tops, last))
        ways = n_top
        for rank in range(first, last):
            ways *= count_at(lattice, rank)
        if k >= ways:
            k -= ways
            continue
        play, k = take_digit(nibble(tops, last), n_top, k)
        for rank in range(first, last):
            card, k = take_digit(nibble(hand, rank), count_at(lattice, rank), k)
            play |= card
        return play


# ------------------------------------------------------------------------------------------------ any kind from quad on


@function
def count_long(rules: RulesRecord, hand: Mask, tops: Mask, kind: int, length: int) -> int:
    """Return the number of plays of a kind from quad on with the top card in `tops`."""
    if kind == STRAIGHT:
        return count_fixed_straights(hand & rules.straight_cards, tops & rules.straight_cards, length)
    if kind == QUAD:
        return popcount(quads(hand & rules.quad_cards) & presence(tops))
    if kind == DOUBLE_STRAIGHT:
        return count_doubles(hand & rules.double_cards, tops & rules.double_cards, length)
    return popcount(quad_run_starts(hand, tops, length))


@function
def kth_long(rules: RulesRecord, hand: Mask, tops: Mask, kind: int, length: int, k: int) -> Mask:
    """Return the k-th of the plays that `count_long` counts."""
    if kind == STRAIGHT:
        return kth_fixed_straight(hand & rules.straight_cards, tops & rules.straight_cards, length, k)
    if kind == QUAD:
        return quad_run_from(kth_bit(quads(hand & rules.quad_cards) & presence(tops), k), 1)
    if kind == DOUBLE_STRAIGHT:
        return kth_double(hand & rules.double_cards, tops & rules.double_cards, length, k)
    return quad_run_from(kth_bit(quad_run_starts(hand, tops, length), k), length)


# ------------------------------------------------------------------------------------------------ runs from a rank on


@function
def kth_first_straight(hand: Mask, rank: Rank, straight_min: int, k: int) -> Mask:
    """Return the k-th straight of a hand that starts at a rank, by length; without the card of that rank."""
    lattice = counts(hand)
    n, last = count_at(lattice, rank + 1), rank + 1
    while last - rank + 1 < straight_min or k >= n:
        if last - rank + 1 >= straight_min:
            k -= n
        last += 1
        n *= count_at(lattice, last)
    play = 0
    for r in range(rank + 1, last + 1):
        n = count_at(lattice, r)
        play |= kth_bit(nibble(hand, r), k % n)
        k //= n
    return play


@function
def kth_first_double(hand: Mask, rank: Rank, mates: Mask, k: int) -> Mask:
    """Return the k-th double straight of a hand that starts at a rank, by length; of that rank one of `mates`."""
    lattice = counts(hand)
    last = rank + 2
    n = popcount(mates) * pair_choices(count_at(lattice, rank + 1)) * pair_choices(count_at(lattice, last))
    while k >= n:
        k -= n
        last += 1
        n *= pair_choices(count_at(lattice, last))
    n = pair_choices(count_at(lattice, last))
    play = kth_pair(nibble(hand, last), nibble(hand, last), k % n)
    k //= n
    play |= kth_bit(mates, k % popcount(mates))
    k //= popcount(mates)
    for r in range(rank + 1, last):
        n = pair_choices(count_at(lattice, r))
        play |= kth_pair(nibble(hand, r), nibble(hand, r), k % n)
        k //= n
    return play
