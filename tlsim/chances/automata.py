"""Sort the hands that are dealt rank by rank into classes, by what an event still depends on.

Two states of a hand are one class when the same cards to come decide the event alike. So the classes are the states of
the smallest automaton that accepts the hands which hold the event (Myhill and Nerode). They are worked out from the
last rank back to the first.
"""

import dataclasses
import functools
from collections.abc import Iterable
from itertools import product
from math import comb, prod
from operator import add, sub
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.chances.columns import Deck, find
from tlsim.chances.steps import Update, plan
from tlsim.errors import OutOfReach
from tlsim.rules.ruleset import Rules

Ints = NDArray[np.integer[Any]]
Ways = tuple[list[int], pl.DataFrame]  # to draw from a rank: `Deck.branches`

MAX_STATES = 100_000  # of a hand after a rank, before classes are made of them
FALSE = 0  # the class of the hands that cannot hold the event any more
DONE = 1  # the class of the hands that hold it and are dealt
_N_FIXED = 2  # these two; the other classes have the numbers from here on
_NO_HAND = -1  # stands for a state after a draw that no hand can make
_KEY_LIMIT = 2**63  # keys of rows are int64


@dataclasses.dataclass(frozen=True)
class Classes:
    """The facts of each class before the first rank, or after a rank, by its number."""

    cards: Ints  # (classes,): cards drawn so far
    sure: NDArray[np.bool_]  # (classes,): holds the event, whatever comes
    mirror: Ints  # (classes,): the class when red and black change places; empty where it is the same, or that matters


@dataclasses.dataclass(frozen=True)
class Draws:
    """The ways to draw from one rank, listed for each class of a hand and each set of its cards that is gone.

    Sets gone are numbered; nothing gone is 0. The ways of a class, with a set gone, are the `n_ways[class, gone]`
    entries from `first[class, gone]` on.
    """

    first: Ints  # (classes before, sets)
    n_ways: Ints  # (classes before, sets)
    to: Ints  # (entries,): class after
    gone: Ints  # (entries,): set gone after
    ways: NDArray[np.uint64]  # (entries,): ways to draw so


@dataclasses.dataclass(frozen=True)
class Automaton:
    """The automaton of an event; `classes` before the first rank and after each rank, `draws` a rank."""

    start: int  # class before the first rank
    classes: list[Classes]
    draws: list[Draws]


def automaton(event: pl.Expr, rules: Rules, cards: int, deck: Deck) -> Automaton:
    """Return the automaton of an event, an expression over hand columns.

    Raises
    ------
    InputError
        For an unknown column.
    OutOfReach
        For more states than are sorted into classes.
    """
    asked = find(event.meta.root_names(), rules, cards, deck)
    values = {name: column.value for name, column in asked.items()}
    steps = plan(values.values(), rules, cards, deck)
    ways = [deck.branches(fields) for fields, _ in steps]
    moves, last = _unfold([updates for _, updates in steps], ways, cards, deck)
    holds = last.with_columns(**values).with_columns(holds=event)["holds"].to_numpy()
    class_of = np.where(holds, _N_FIXED, FALSE)  # after the last rank all that hold the event are one class
    facts = [(np.array([0, 0, cards]), np.array([False, False, True]))]  # by rank: cards drawn, whether sure
    leads: list[Ints] = []  # by rank: the class after each way, (classes, ways)
    for cards_before, to in reversed(moves):
        to_class = np.where(to < 0, _NO_HAND, class_of[to])
        class_of, goes_to, drawn, sure = _classes(to_class, cards_before, facts[0][1])
        leads.insert(0, goes_to)
        facts.insert(0, (drawn, sure))
    start = int(class_of[0])
    mirrors = _mirrors(start, leads, [len(drawn) for drawn, _ in facts], ways)
    classes = [Classes(drawn, sure, mirror) for (drawn, sure), mirror in zip(facts, mirrors, strict=True)]
    return Automaton(start, classes, [_list_draws(goes_to, *way) for goes_to, way in zip(leads, ways, strict=True)])


def _unfold(
    updates: list[Update], ways: list[Ways], cards: int, deck: Deck
) -> tuple[list[tuple[Ints, Ints]], pl.DataFrame]:
    """Return the moves of all states of a hand, rank by rank, and the states after the last rank.

    Moves: the cards drawn before the rank, `(states,)`, and the number of the state after it, `(states, ways)`, -1
    where a hand cannot be dealt so.
    """
    states: dict[str, NDArray[Any]] = {"cards": np.zeros(1, np.int16)}
    moves, left = [], deck.size
    for update, (_, branches) in zip(updates, ways, strict=True):
        left -= deck.copies
        fields = {name: column.to_numpy() for name, column in zip(branches.columns, branches, strict=True)}
        drawn = states["cards"][:, None] + fields["n"]
        hand, way = np.nonzero((drawn >= cards - left) & (drawn <= cards))
        before = {name: values[hand] for name, values in states.items()}
        before |= {name: values[way] for name, values in fields.items()}
        after = {"cards": drawn[hand, way]}
        if update:
            frame = pl.DataFrame(before).with_columns(**update)
            after |= {name: frame[name].to_numpy() for name in update}
        first, number = _distinct(after.values())
        if len(first) > MAX_STATES:
            raise OutOfReach(f"an exact count for a table would need more than {MAX_STATES:,} states of a hand")
        to = np.full(drawn.shape, _NO_HAND)
        to[hand, way] = number
        moves.append((states["cards"], to))
        states = {name: values[first] for name, values in after.items()}
    return moves, pl.DataFrame(states)


def _distinct(columns: Iterable[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Return where each different row of small integers first stands, and for each row the number of its equals.

    >>> _distinct([np.array([5, 3, 5]), np.array([0, 1, 0])])
    (array([1, 0]), array([1, 0, 1]))
    """
    keys: Ints = np.zeros(1, np.int64)
    n_keys = 1
    for column in columns:
        values = column.astype(np.int64)
        values -= values.min()
        size = 1 + int(values.max())
        if n_keys * size >= _KEY_LIMIT:  # few of so many keys are there
            keys = np.unique(keys, return_inverse=True)[1]
            n_keys = 1 + int(keys.max())
        keys, n_keys = keys * size + values, n_keys * size
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return first, number


def _classes(to: Ints, cards: Ints, sure_after: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints, NDArray[np.bool_]]:
    """Return the class of each state before a rank; for each class where each way leads, cards drawn, whether sure.

    `to` has the class after each way from each state, -1 where there is no such hand. States are one class when they
    have as many cards, and each way leads from them to the same class. All that are sure are one class of their size.
    """
    lost: NDArray[np.bool_] = np.all(to <= FALSE, axis=1)
    sure = np.all((to < 0) | sure_after[to], axis=1) & ~lost
    rows = np.column_stack([cards, sure, np.where(sure[:, None], FALSE, np.maximum(to, FALSE))])
    distinct, number = np.unique(rows[~lost], axis=0, return_inverse=True)
    class_of = np.full(len(to), FALSE)
    class_of[~lost] = _N_FIXED + number.reshape(-1)
    of_classes = np.vstack([np.zeros((_N_FIXED, rows.shape[1]), np.int64), distinct])
    return class_of, of_classes[:, 2:], of_classes[:, 0], of_classes[:, 1] > 0


def _mirrors(start: int, leads: list[Ints], n_classes: list[int], ways: list[Ways]) -> list[Ints]:
    """Return the mirror of each class, before the first rank and after each: its class with red and black changed.

    Arrays are empty where no class has another mirror than itself, or where the event depends on the colour.
    """
    none: list[Ints] = [np.zeros(0, np.int64)] * len(n_classes)
    groups = [sizes for sizes, _ in ways if len(sizes) > 1]
    if not groups or any(len(sizes) > 2 or sizes[0] != sizes[1] for sizes in groups):
        return none  # suits do not matter, or not only by their colour
    mirrors: list[Ints] = [np.array([FALSE, DONE, start])]
    for goes_to, size, (sizes, _) in zip(leads, n_classes[1:], ways, strict=True):
        swapped = np.arange(goes_to.shape[1]).reshape([n + 1 for n in sizes]).T.ravel()
        reached = np.flatnonzero(mirrors[-1])
        to, other = goes_to[reached], goes_to[mirrors[-1][reached]][:, swapped]
        mirror = np.zeros(size, np.int64)
        mirror[to] = other
        mirror[DONE] = DONE
        if (mirror[to] != other).any():
            return none  # the event depends on the colour
        mirrors.append(mirror)
    return mirrors


def _list_draws(goes_to: Ints, sizes: list[int], branches: pl.DataFrame) -> Draws:
    """Return the draws from a rank, where `goes_to[class, way]` is the class after; sets gone are numbered as ways."""
    drawn = branches.select(pl.col("^group.*$")).to_numpy()
    goes_to[DONE, ~drawn.any(axis=1)] = DONE
    after, ways = _draws_of(tuple(sizes), tuple(map(tuple, drawn.tolist())))
    listed = (goes_to != FALSE)[:, None, :] & (ways > 0)
    classes, gone, way = np.nonzero(listed)
    n_ways = listed.sum(axis=2)
    first = np.cumsum(n_ways).reshape(n_ways.shape) - n_ways
    return Draws(
        first, n_ways, goes_to[classes, way].astype(np.int16), after[gone, way], ways[gone, way].astype(np.uint64)
    )


@functools.cache
def _draws_of(sizes: tuple[int, ...], drawn: tuple[tuple[int, ...], ...]) -> tuple[Ints, Ints]:
    """Return for each set gone and each way to draw: the number of the set gone after (-1: none), and of the ways."""
    numbers = {gone: number for number, gone in enumerate(drawn)}
    after, ways = np.zeros((2, len(drawn), len(drawn)), np.int64)
    for (i, gone), (j, way) in product(enumerate(drawn), repeat=2):
        after[i, j] = numbers.get(tuple(map(add, gone, way)), _NO_HAND)
        ways[i, j] = prod(map(comb, map(sub, sizes, gone), way))
    return after, ways
