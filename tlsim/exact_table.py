"""Exact odds of a whole table: how many players hold an event, and who is dealt the lowest card.

Inclusion and exclusion over the deals in which k given players all hold the event, k = 1 .. n. They are counted rank by
rank on the classes of their hands, not on the hands: two states of a hand are one class when the same cards still to
come decide them alike (the smallest automaton of the event). A hand that cannot hold the event any more ends the count
of its deal; one that is sure to draws its other cards at once, from those that the undecided hands leave. Hands are
interchangeable, so their classes are sorted and equal deals added up.

Numbers of deals reach 104! / 13!^8 = 1e88: they are kept by their remainders to a few coprime moduli below 2^31 and put
together at the end (the Chinese remainder theorem), so that NumPy counts in int64 without overflow: remainders are
multiplied by remainders (below 2^62), and added up fewer than 2^32 at once.
"""

import dataclasses
from fractions import Fraction
from math import comb, gcd, prod

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.errors import InputError
from tlsim.exact import ONE_DECK, OutOfReach
from tlsim.handcolumns import Deck, Update, find, plan
from tlsim.rules import Rules

Ints = NDArray[np.int64]

MOST_DEALS = 400_000  # classes of deals at once: some 10 s
FALSE, DONE = 0, 1  # the classes of hands that cannot hold the event, and of those that have it and drew their cards


# ------------------------------------------------------------------------------------------------ classes of a hand


@dataclasses.dataclass(frozen=True)
class Classes:
    """What is known of the classes of a hand at one moment, arrays of shape `(classes,)`; class 2 is the first real one."""

    cards: Ints  # cards drawn so far
    sure: NDArray[np.bool_]  # holds the event, whatever comes


@dataclasses.dataclass(frozen=True)
class Draw:
    """The ways to draw from one rank, and where they lead."""

    sizes: list[int]  # cards of the rank, by group of suits
    drawn: Ints  # (ways, groups): cards drawn
    goes_to: Ints  # (classes before, ways): the class after; FALSE also where a hand cannot be dealt so


@dataclasses.dataclass(frozen=True)
class Automaton:
    """The smallest automaton that tells whether a hand holds an event: `classes` before the first rank and after each."""

    start: int  # class before the first rank
    classes: list[Classes]
    draws: list[Draw]


def automaton(event: pl.Expr, rules: Rules, cards: int, deck: Deck) -> Automaton:
    """Return the automaton of an event, an expression over hand columns; raise `InputError` for an unknown column."""
    asked = find(event.meta.root_names(), rules, cards, deck)
    values = [column.value.alias(name) for name, column in asked.items()]
    hands = [pl.DataFrame({"cards": [0]}, {"cards": pl.Int16})]
    ways, moves, left = [], [], deck.size
    for fields, updates in plan(values, rules, cards, deck):
        left -= deck.copies
        ways.append(deck.branches(fields))
        move, after = _moves(hands[-1], ways[-1][1], updates, cards, left)
        moves.append(move)
        hands.append(after)
    holds = hands[-1].with_columns(values).select(pl.lit(True) & event).to_series().to_numpy()
    numbers = np.where(holds, 2, FALSE)
    found = [Classes(np.array([0, 0, cards]), np.array([False, False, True]))]
    draws: list[Draw] = []
    for before, (sizes, branches), move in zip(hands[-2::-1], ways[::-1], moves[::-1], strict=True):
        to = np.full((len(before), len(branches)), -1)  # -1: no such hand
        to[move[:, 0], move[:, 1]] = numbers[move[:, 2]]
        numbers, goes_to, classes = _classes(to, before["cards"].to_numpy(), found[0])
        drawn = branches.select(pl.col("^group.*$")).to_numpy().astype(np.int64)
        goes_to[DONE] = np.where(drawn.any(axis=1), FALSE, DONE)
        draws.insert(0, Draw(sizes, drawn, goes_to))
        found.insert(0, classes)
    return Automaton(int(numbers[0]), found, draws)


def _moves(
    hands: pl.DataFrame, branches: pl.DataFrame, updates: Update, cards: int, left: int
) -> tuple[Ints, pl.DataFrame]:
    """Return rows `(state, way, state after)` for a rank with `left` cards after it, and the states after."""
    drawn = pl.col("cards") + pl.col("n")
    moved = (
        hands.with_row_index("hand")
        .join(branches.with_row_index("way"), how="cross")
        .filter(drawn.is_between(cards - left, cards))
        .select("hand", "way", drawn.alias("cards"), **updates)
    )
    keys = ["cards", *updates]
    after = moved.select(keys).unique()
    to = moved.join(after.with_row_index("to"), on=keys)
    return to.select("hand", "way", "to").to_numpy().astype(np.int64), after


def _classes(to: Ints, cards: Ints, after: Classes) -> tuple[Ints, Ints, Classes]:
    """Return the class of each state, where each way leads from each class, and what is known of the classes.

    `to` has the class after each way from each state, -1 where there is no such hand.
    """
    lost = (to <= FALSE).all(axis=1)
    sure = ((to < 0) | after.sure[to]).all(axis=1) & ~lost
    rows = np.column_stack([cards, sure, np.where(sure[:, None], 0, np.maximum(to, FALSE))])
    rows[lost] = 0
    distinct, number = np.unique(rows[~lost], axis=0, return_inverse=True)
    numbers = np.zeros(len(to), np.int64)
    numbers[~lost] = 2 + number.reshape(-1)
    known = np.vstack([np.zeros((2, rows.shape[1]), np.int64), distinct])
    return numbers, known[:, 2:], Classes(known[:, 0], known[:, 1] > 0)


# ------------------------------------------------------------------------------------------------ deals


@dataclasses.dataclass
class Deals:
    """Classes of deals of k hands: the sorted classes of the hands, and how many deals there are, by modulus."""

    hands: Ints  # (rows, k)
    used: Ints  # (rows, groups): cards of this rank drawn so far
    ways: Ints  # (rows, moduli)


def deals_that_hold(machine: Automaton, k: int, cards: int, deck: Deck) -> int:
    """Return the number of deals of k hands (in order, each a set of cards) that all hold the event.

    Raises `OutOfReach` for a count of more than `MOST_DEALS` classes of deals.
    """
    moduli = _moduli(deals(k, cards, deck))
    choose = np.array([[[comb(n, m) % q for q in moduli] for m in range(cards + 1)] for n in range(deck.size + 1)])
    if machine.start == FALSE:
        return 0
    table = Deals(np.full((1, k), machine.start), np.zeros((1, 0), np.int64), np.ones((1, len(moduli)), np.int64))
    left = deck.size
    _settle(table, machine.classes[0], cards, left, choose, moduli)
    for draw, before, after in zip(machine.draws, machine.classes, machine.classes[1:], strict=False):
        left -= deck.copies
        table.used = np.zeros((len(table.hands), len(draw.sizes)), np.int64)
        for hand in range(k):
            _draw(table, hand, draw, choose, moduli)
            _merge(table, hand + 1, max(len(before.cards), len(after.cards)), moduli)
        table.used = table.used[:, :0]
        _settle(table, after, cards, left, choose, moduli)
        _merge(table, k, len(after.cards), moduli)
    assert (table.hands == DONE).all()
    assert len(table.hands) <= 1
    return _together(table.ways.sum(axis=0).tolist(), moduli)


def _draw(table: Deals, hand: int, draw: Draw, choose: Ints, moduli: Ints) -> None:
    """Let one hand of each deal draw from a rank, in all ways."""
    to = draw.goes_to[table.hands[:, hand]]
    rows, ways = np.nonzero(to != FALSE)
    free = np.array(draw.sizes) - table.used[rows]
    fits = (draw.drawn[ways] <= free).all(axis=1)
    rows, ways, free = rows[fits], ways[fits], free[fits]
    drawn = draw.drawn[ways]
    counts = table.ways[rows]
    for group in range(len(draw.sizes)):
        counts = counts * choose[free[:, group], drawn[:, group]] % moduli
    table.hands = table.hands[rows]
    table.hands[:, hand] = to[rows, ways]
    table.used, table.ways = table.used[rows] + drawn, counts


def _settle(table: Deals, classes: Classes, cards: int, left: int, choose: Ints, moduli: Ints) -> None:
    """Let the hands that are sure of the event draw all their other cards, from those that the undecided ones leave.

    `left` cards are in the ranks to come. The hands that drew before at once draw after all these: theirs is the rest.
    """
    sure = classes.sure[table.hands]
    needs = np.where(table.hands >= 2, cards - classes.cards[table.hands], 0)
    keep = needs.sum(axis=1) <= left
    table.hands, table.used, table.ways = table.hands[keep], table.used[keep], table.ways[keep]
    sure, needs = sure[keep], needs[keep]
    pool = left - (needs * ~sure).sum(axis=1)
    for hand in np.flatnonzero(sure.any(axis=0)):
        own = needs[:, hand] * sure[:, hand]
        table.ways = table.ways * choose[pool, own] % moduli
        pool -= own
    table.hands[sure] = DONE


def _merge(table: Deals, n_sorted: int, radix: int, moduli: Ints) -> None:
    """Sort the first hands of each deal and add up equal deals."""
    table.hands[:, :n_sorted].sort(axis=1)
    keys = np.zeros(len(table.hands), np.int64)
    base = 1 + table.used.max(initial=0)
    if radix ** table.hands.shape[1] * int(base) ** table.used.shape[1] >= 2**63:
        raise OutOfReach(f"{radix} classes of {table.hands.shape[1]} hands: the exact count would need too many states")
    for column in table.hands.T:
        keys = keys * radix + column
    for column in table.used.T:
        keys = keys * base + column
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(number, kind="stable")
    starts = np.searchsorted(number[order], np.arange(len(first)))
    table.hands, table.used = table.hands[first], table.used[first]
    table.ways = np.add.reduceat(table.ways[order], starts) % moduli if len(first) else table.ways
    if len(first) > MOST_DEALS:
        raise OutOfReach(f"the exact count would need more than {MOST_DEALS:,} classes of deals")


# ------------------------------------------------------------------------------------------------ numbers


def deals(k: int, cards: int, deck: Deck = ONE_DECK) -> int:
    """Return the number of ways to deal k hands; raise `InputError` when there are not enough cards."""
    if k * cards > deck.size:
        raise InputError(f"{k} hands of {cards} cards: there are {deck.size} cards")
    return prod(comb(deck.size - i * cards, cards) for i in range(k))


def _moduli(most: int) -> Ints:
    """Return coprime moduli below 2^31 whose product is more than `most`."""
    found: list[int] = []
    candidate = 2**31 - 1
    while prod(found) <= most:
        if all(gcd(candidate, q) == 1 for q in found):
            found.append(candidate)
        candidate -= 1
    return np.array(found)


def _together(remainders: list[int], moduli: Ints) -> int:
    """Return the number with these remainders (Chinese remainder theorem)."""
    number, product = 0, 1
    for remainder, modulus in zip(remainders, moduli.tolist(), strict=True):
        number += product * ((remainder - number) * pow(product, -1, modulus) % modulus)
        product *= modulus
    return number


def holders(event: pl.Expr, rules: Rules, players: int, cards: int, deck: Deck = ONE_DECK) -> list[Fraction]:
    """Return the probabilities that exactly 0, 1, …, `players` of the players at a table hold an event.

    `event` is an expression over hand columns. Raises `InputError` for an unknown column and for too many cards,
    `OutOfReach` for a count of more than `MOST_DEALS` classes of deals.
    """
    deals(players, cards, deck)
    machine = automaton(event, rules, cards, deck)
    expected = [Fraction(1)]  # the mean number of sets of k players who all hold it
    for k in range(1, players + 1):
        share = Fraction(deals_that_hold(machine, k, cards, deck), deals(k, cards, deck)) if expected[-1] else Fraction(0)
        expected.append(comb(players, k) * share)
    return [
        sum(((-1) ** (k - j) * comb(k, j) * expected[k] for k in range(j, players + 1)), Fraction(0))
        for j in range(players + 1)
    ]
