"""Count the exact odds of a whole table: how many players hold an event, and who is dealt the lowest card.

Inclusion and exclusion needs, for each k, the number of deals in which k given players all hold the event. Deals are
counted rank by rank, on the classes of their hands (`chances.automata`) and not on the hands. A hand that cannot hold
the event any more ends the count of its deal. A hand that is sure to hold it draws all its other cards at once, from
those that the undecided hands leave. Hands are interchangeable, so their classes are sorted and equal deals added up.
So are red and black, where an event treats both alike.

Numbers of deals reach 104! / 13!^8 = 1e88. They are kept by their remainders: to 2^64, which costs nothing in uint64,
and to a few odd coprime moduli below 2^32, whose remainders multiply without overflow. The Chinese remainder theorem
puts them together at the end. A compiled kernel lists the ways to draw from a rank (`tlsim.engine.deal_counts`).
"""

from fractions import Fraction
from itertools import pairwise
from math import comb, gcd, prod

import numpy as np
import polars as pl

from tlsim.chances.automata import DONE, FALSE, Automaton, Classes, Draws, Ints, automaton
from tlsim.chances.columns import ONE_DECK, Deck
from tlsim.engine.deal_counts import DealClasses, DrawColumns, draw_all
from tlsim.errors import InputError, OutOfReach
from tlsim.rules.ruleset import Rules

MAX_NUMBERS = 5_000_000  # keys and remainders held at once: some 2 s and 200 MB
_WORD = 2**64  # the first modulus: a sum or product in uint64 is its remainder
_HALF_WORD = 2**32  # the other moduli are below it
_KEY_LIMIT = 2**63  # keys of rows are int64
_FIRST_CLASS = 2  # the first that is neither `FALSE` nor `DONE`


# ------------------------------------------------------------------------------------------------ events


def shared(
    event: pl.Expr, rules: Rules, players: int, cards: int, deck: Deck = ONE_DECK, max_numbers: int = MAX_NUMBERS
) -> list[Fraction]:
    """Return the probabilities that k given players all hold an event, for k = 0, 1, …, `players`.

    `event` is an expression over hand columns.

    Raises
    ------
    InputError
        For an unknown column, and for more cards than there are.
    OutOfReach
        For a count that would hold more than `max_numbers` numbers at once.

    Examples
    --------
    >>> shared(pl.col("holds_3s"), Rules(), 2, 13)  # no two players hold the one 3 of spades
    [Fraction(1, 1), Fraction(1, 4), Fraction(0, 1)]
    """
    number_of_deals(players, cards, deck)  # too many cards fail before the automaton is made
    machine = automaton(event, rules, cards, deck)
    chances = []
    for k in range(players, 0, -1):  # what is out of reach fails at once
        n_holding = count_deals(machine, k, cards, deck, max_numbers)
        chances.append(Fraction(n_holding, number_of_deals(k, cards, deck)))
    return [Fraction(1), *reversed(chances)]


def holders(shares: list[Fraction], players: int) -> list[Fraction]:
    """Return the probabilities that exactly 0, 1, …, `players` of the players at a table hold an event.

    `shares` is what `shared` returns for so many players or more. By inclusion and exclusion: exactly j hold it with
    probability sum (-1)^(k - j) C(k, j) S_k over k >= j, where S_k is the mean number of sets of k players who all do.
    That some player holds it has probability one less the first.

    >>> holders([Fraction(1), Fraction(1, 4), Fraction(0)], 2)
    [Fraction(1, 2), Fraction(1, 2), Fraction(0, 1)]
    """
    sets = [comb(players, k) * shares[k] for k in range(players + 1)]
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
    return [Fraction(no_lower - nor_it, comb(deck.size, dealt)) for no_lower, nor_it in pairwise(without)]


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
        firsts = [share * (here_or_later - after) for here_or_later, after in pairwise(later)]
        chances = [chance + first for chance, first in zip(chances, firsts, strict=True)]
    return chances


def _deals_without(lower: int, dealt: int, deck: Deck) -> int:
    """Return the number of sets of `dealt` cards with no copy of the `lower` lowest ones."""
    return comb(deck.size - deck.decks * lower, dealt)


# ------------------------------------------------------------------------------------------------ deals


def number_of_deals(k: int, cards: int, deck: Deck = ONE_DECK) -> int:
    """Return the number of ways to deal k hands, each a set of cards; raise `InputError` for too many cards.

    >>> number_of_deals(4, 13)
    53644737765488792839237440000
    """
    if k * cards > deck.size:
        raise InputError(f"{k} hands of {cards} cards are {k * cards} cards, but the deck has {deck.size}")
    return prod(comb(deck.size - i * cards, cards) for i in range(k))


def count_deals(machine: Automaton, k: int, cards: int, deck: Deck, max_numbers: int = MAX_NUMBERS) -> int:
    """Return the number of deals of k hands that all hold the event; raise `OutOfReach` as `shared` does."""
    if machine.start == FALSE:
        return 0
    all_moduli = _moduli(number_of_deals(k, cards, deck))
    moduli = np.array(all_moduli[1:], np.uint64)
    binomials = [[[comb(n, m) % q for q in all_moduli] for m in range(cards + 1)] for n in range(deck.size + 1)]
    choose = np.array(binomials, np.uint64)
    start = np.full((1, k), machine.start, np.int16)
    table = DealClasses(start, np.zeros(1, np.int64), np.ones((1, len(all_moduli)), np.uint64))
    left = deck.size
    table = _settle(table, machine.classes[0], cards, left, choose, moduli)
    for draws, after in zip(machine.draws, machine.classes[1:], strict=True):
        left -= deck.copies
        for hand in reversed(range(k)):
            table = _draw(table, hand, draws, moduli, max_numbers)
        table = _settle(table, after, cards, left, choose, moduli)
        table = _add_up(_mirrored(table, after.mirror), moduli)
    assert len(table.hands) <= 1
    assert (table.hands == DONE).all()
    return _number(table.ways.sum(axis=0).tolist(), all_moduli)


def _draw(table: DealClasses, hand: int, draws: Draws, moduli: Ints, max_numbers: int) -> DealClasses:
    """Let one hand of each deal draw from a rank, in all ways; `table.hands` is sorted from the next one on."""
    columns = DrawColumns(draws.first, draws.n_ways, draws.to, draws.gone, draws.ways)
    after = draw_all(table, hand, columns, moduli, max_numbers)
    if after is None:
        players = table.hands.shape[1]
        raise OutOfReach(f"the exact count for {players} players would need more than {max_numbers:,} numbers")
    return after


def _settle(table: DealClasses, classes: Classes, cards: int, left: int, choose: Ints, moduli: Ints) -> DealClasses:
    """Let the hands that are sure of the event draw all their other cards, from those that the undecided ones leave.

    `left` cards are in the ranks to come. Undecided hands will draw as many of them as they need, whenever they are
    decided; hands that drew at once after an earlier rank did so from what all these leave.
    """
    needs = np.where(table.hands >= _FIRST_CLASS, cards - classes.cards[table.hands], 0)
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
    return DealClasses(hands, gone, ways)


def _mirrored(table: DealClasses, mirror: Ints) -> DealClasses:
    """Return the deals with red and black changed where that comes first in order; none if `mirror` is empty."""
    if len(mirror) == 0:
        return table
    other = np.sort(mirror[table.hands].astype(np.int16), axis=1)
    comes_first = _keys(other) < _keys(table.hands)
    return DealClasses(np.where(comes_first[:, None], other, table.hands), table.gone, table.ways)


def _add_up(table: DealClasses, moduli: Ints) -> DealClasses:
    """Return the deals with equal ones added up."""
    if len(table.hands) == 0:
        return table
    keys = _keys(np.column_stack([table.gone, table.hands]))
    order = np.argsort(keys)
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    kept = order[starts]
    ways = _reduced(np.add.reduceat(table.ways[order], starts), moduli)
    return DealClasses(table.hands[kept], table.gone[kept], ways)


def _keys(rows: Ints) -> Ints:
    """Return a number for each row: equal for equal rows, and in the order of the rows."""
    radix = 1 + int(rows.max(initial=0))
    if radix ** rows.shape[1] >= _KEY_LIMIT:
        raise OutOfReach(f"the exact count for {rows.shape[1]} hands of {radix} classes would need too many states")
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * radix + column
    return keys


# ------------------------------------------------------------------------------------------------ numbers


def _reduced(ways: Ints, moduli: Ints) -> Ints:
    """Return numbers reduced in place to their remainders; the first column is one already, to 2^64."""
    ways[:, 1:] %= moduli
    return ways


def _moduli(most: int) -> list[int]:
    """Return coprime moduli whose product is more than `most`: 2^64 and others below 2^32."""
    moduli = [_WORD]
    candidate = _HALF_WORD - 1
    while prod(moduli) <= most:
        if all(gcd(candidate, modulus) == 1 for modulus in moduli):
            moduli.append(candidate)
        candidate -= 1
    return moduli


def _number(remainders: list[int], moduli: list[int]) -> int:
    """Return the number with these remainders (Chinese remainder theorem).

    >>> _number([2, 3], [5, 7])
    17
    """
    number, product = 0, 1
    for remainder, modulus in zip(remainders, moduli, strict=True):
        number += product * ((remainder - number) * pow(product, -1, modulus) % modulus)
        product *= modulus
    return number
