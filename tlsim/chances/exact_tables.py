"""Exact odds of a whole table: how many players hold an event, and who is dealt the lowest card.

Inclusion and exclusion over the deals in which k given players all hold the event. They are counted rank by rank, on
the classes of their hands (`chances.automata`) and not on the hands. A hand that cannot hold the event any more ends
the count of its deal; one that is sure to draws all its other cards at once, from those that the undecided hands leave.
Hands are interchangeable, so their classes are sorted and equal deals added up; so are red and black, where an event
does not tell them apart.

Numbers of deals reach 104! / 13!^8 = 1e88: they are kept by their remainders to 2^64, which the processor takes for
nothing, and to a few odd coprime moduli below 2^32, and put together at the end (the Chinese remainder theorem).
Remainders to the latter are multiplied by one another without overflow in uint64; the ways to draw from a rank come by
a compiled kernel (`tlsim.engine.deal_counts`).
"""

import dataclasses
from fractions import Fraction
from itertools import pairwise
from math import comb, gcd, prod

import numpy as np
import polars as pl

from tlsim.chances.automata import DONE, FALSE, Automaton, Classes, Draws, Ints, automaton
from tlsim.chances.columns import ONE_DECK, Deck
from tlsim.engine import deal_counts
from tlsim.errors import InputError, OutOfReach
from tlsim.rules.ruleset import Rules

MOST_NUMBERS = 5_000_000  # keys and remainders held at once: some 2 s and 200 MB


# ------------------------------------------------------------------------------------------------ events


def shared(
    event: pl.Expr, rules: Rules, players: int, cards: int, deck: Deck = ONE_DECK, most: int = MOST_NUMBERS
) -> list[Fraction]:
    """Return the probabilities that k given players all hold an event, for k = 0 .. `players`.

    `event` is an expression over hand columns. Raises `InputError` for an unknown column and for too many cards,
    `OutOfReach` for a count that would hold more than `most` numbers at once.
    """
    deals(players, cards, deck)
    machine = automaton(event, rules, cards, deck)
    descending = range(players, 0, -1)  # what is out of reach fails at once
    found = [Fraction(count_deals(machine, k, cards, deck, most), deals(k, cards, deck)) for k in descending]
    return [Fraction(1), *found[::-1]]


def holders(shares: list[Fraction], players: int) -> list[Fraction]:
    """Return the probabilities that exactly 0, 1, …, `players` of the players at a table hold an event.

    `shares` is what `shared` returns for so many players or more. Some player holds it: one less the first.
    """
    sets = [comb(players, k) * shares[k] for k in range(players + 1)]  # mean number of sets of k players who all do
    return [
        sum(((-1) ** (k - j) * comb(k, j) * sets[k] for k in range(j, players + 1)), Fraction(0))
        for j in range(players + 1)
    ]


# ------------------------------------------------------------------------------------------------ the lowest card


def undealt(players: int, cards: int, deck: Deck = ONE_DECK) -> Fraction:
    """Return the probability that no player is dealt a given card, in any copy."""
    return Fraction(_deals_without(1, players * cards, deck), comb(deck.size, players * cards))


def lowest_card(players: int, cards: int, deck: Deck = ONE_DECK) -> list[Fraction]:
    """Return for each card, by its number, the probability that it is the lowest one dealt to anybody (section 4.3)."""
    dealt = players * cards
    without = [_deals_without(lower, dealt, deck) for lower in range(deck.ranks * deck.suits + 1)]
    return [Fraction(a - b, comb(deck.size, dealt)) for a, b in pairwise(without)]


def lowest_card_holder(players: int, cards: int, deck: Deck = ONE_DECK) -> list[Fraction]:
    """Return the probability of each place in turn order, dealer + 1 first, to hold the lowest card dealt.

    With two decks the first in turn order who holds a copy counts (section 4.3), so early places are likelier.
    """
    dealt = players * cards
    kinds = deck.ranks * deck.suits
    chances = [Fraction(0)] * players
    for copies in range(1, deck.decks + 1):
        lowest = sum(
            comb(deck.decks, copies) * comb(deck.size - deck.decks * (card + 1), dealt - copies)
            for card in range(kinds)
        )
        share = Fraction(lowest, comb(deck.size, dealt))
        later = [Fraction(comb((players - place) * cards, copies), comb(dealt, copies)) for place in range(players + 1)]
        chances = [sum_ + share * (a - b) for sum_, (a, b) in zip(chances, pairwise(later), strict=True)]
    return chances


def _deals_without(lower: int, dealt: int, deck: Deck) -> int:
    """Return the number of sets of `dealt` cards with no copy of the `lower` lowest ones."""
    return comb(deck.size - deck.decks * lower, dealt)


# ------------------------------------------------------------------------------------------------ deals


@dataclasses.dataclass
class Deals:
    """Classes of deals of k hands: the classes of the hands, sorted, and how many deals there are, by modulus."""

    hands: Ints  # (rows, k)
    gone: Ints  # (rows,): number of the set of cards of this rank that is drawn
    ways: Ints  # (rows, moduli), uint64: remainders to 2^64 and to the others


def deals(k: int, cards: int, deck: Deck = ONE_DECK) -> int:
    """Return the number of ways to deal k hands, each a set of cards; raise `InputError` for too many cards."""
    if k * cards > deck.size:
        raise InputError(f"{k} hands of {cards} cards: there are {deck.size} cards")
    return prod(comb(deck.size - i * cards, cards) for i in range(k))


def count_deals(machine: Automaton, k: int, cards: int, deck: Deck, most: int = MOST_NUMBERS) -> int:
    """Return the number of deals of k hands that all hold the event; raise `OutOfReach` as `shared` does."""
    if machine.start == FALSE:
        return 0
    each = _moduli(deals(k, cards, deck))
    moduli = np.array(each[1:], np.uint64)
    binomials = [[[comb(n, m) % q for q in each] for m in range(cards + 1)] for n in range(deck.size + 1)]
    choose = np.array(binomials, np.uint64)
    table = Deals(np.full((1, k), machine.start, np.int16), np.zeros(1, np.int64), np.ones((1, len(each)), np.uint64))
    left = deck.size
    table = _settle(table, machine.classes[0], cards, left, choose, moduli)
    for draws, after in zip(machine.draws, machine.classes[1:], strict=True):
        left -= deck.copies
        for hand in reversed(range(k)):
            table = _draw(table, hand, draws, moduli, most)
        table = _settle(table, after, cards, left, choose, moduli)
        table = _add_up(_mirrored(table, after.mirror), moduli)
    assert len(table.hands) <= 1
    assert (table.hands == DONE).all()
    return _number(table.ways.sum(axis=0).tolist(), each)


def _draw(table: Deals, hand: int, draws: Draws, moduli: Ints, most: int) -> Deals:
    """Let one hand of each deal draw from a rank, in all ways; `table.hands` is sorted from the next one on."""
    listed = deal_counts.DrawColumns(draws.first, draws.n_ways, draws.to, draws.gone, draws.ways)
    deals = deal_counts.DealClasses(table.hands, table.gone, table.ways)
    found = deal_counts.draw_all(deals, hand, listed, moduli, most)
    if found is None:
        raise OutOfReach(f"the exact count for {table.hands.shape[1]} players would need more than {most:,} numbers")
    return Deals(*found)


def _settle(table: Deals, classes: Classes, cards: int, left: int, choose: Ints, moduli: Ints) -> Deals:
    """Let the hands that are sure of the event draw all their other cards, from those that the undecided ones leave.

    `left` cards are in the ranks to come. Undecided hands will draw as many of them as they need, whenever they are
    decided; hands that drew at once after an earlier rank did so from what all these leave.
    """
    needs = np.where(table.hands >= 2, cards - classes.cards[table.hands], 0)
    fits = needs.sum(axis=1) <= left
    hands, gone, ways, needs = table.hands[fits], table.gone[fits], table.ways[fits], needs[fits]
    sure = classes.sure[hands]
    pool = left - (needs * ~sure).sum(axis=1)
    for hand in np.flatnonzero(sure.any(axis=0)):
        own = needs[:, hand] * sure[:, hand]
        ways = _reduced(ways * choose[pool, own], moduli)
        pool -= own
    hands[sure] = DONE
    hands.sort(axis=1)
    return Deals(hands, gone, ways)


def _mirrored(table: Deals, mirror: Ints) -> Deals:
    """Return the deals with red and black changed where that comes first in order; `mirror` empty: nothing changes."""
    if len(mirror) == 0:
        return table
    other = np.sort(mirror[table.hands].astype(np.int16), axis=1)
    comes_first = _keys(other) < _keys(table.hands)
    return Deals(np.where(comes_first[:, None], other, table.hands), table.gone, table.ways)


def _add_up(table: Deals, moduli: Ints) -> Deals:
    """Return the deals with equal ones added up."""
    if len(table.hands) == 0:
        return table
    keys = _keys(np.column_stack([table.gone, table.hands]))
    order = np.argsort(keys)
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    kept = order[starts]
    ways = _reduced(np.add.reduceat(table.ways[order], starts), moduli)
    return Deals(table.hands[kept], table.gone[kept], ways)


def _keys(rows: Ints) -> Ints:
    """Return a number for each row that tells different rows apart and has their order."""
    radix = 1 + int(rows.max(initial=0))
    if radix ** rows.shape[1] >= 2**63:
        raise OutOfReach(f"the exact count for {rows.shape[1]} hands of {radix} classes would need too many states")
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * radix + column
    return keys


# ------------------------------------------------------------------------------------------------ numbers


def _reduced(ways: Ints, moduli: Ints) -> Ints:
    """Return numbers reduced in place to their remainders, that to 2^64 being what they are."""
    ways[:, 1:] %= moduli
    return ways


def _moduli(most: int) -> list[int]:
    """Return coprime moduli whose product is more than `most`: 2^64 and others below 2^32."""
    found = [2**64]
    candidate = 2**32 - 1
    while prod(found) <= most:
        if all(gcd(candidate, modulus) == 1 for modulus in found):
            found.append(candidate)
        candidate -= 1
    return found


def _number(remainders: list[int], moduli: list[int]) -> int:
    """Return the number with these remainders (Chinese remainder theorem)."""
    number, product = 0, 1
    for remainder, modulus in zip(remainders, moduli, strict=True):
        number += product * ((remainder - number) * pow(product, -1, modulus) % modulus)
        product *= modulus
    return number
