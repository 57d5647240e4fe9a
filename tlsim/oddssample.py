"""Sampled odds: questions about dealt hands, counted as integers over independent units (hands or whole tables)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.handcolumns import Deck, columns
from tlsim.handsample import Deals, fill
from tlsim.rules import Rules

BLOCK = 1 << 16  # hands: some MB of columns


@dataclass(frozen=True)
class Question:
    """What is asked of each hand: `value`, yes or no or a whole number from 0 on, of those that hold `given`."""

    value: pl.Expr
    given: pl.Expr | None = None
    players: int | None = None  # not of a hand: of so many first players of a table, how many hold `value`

    @cached_property
    def key(self) -> tuple[bytes, bytes]:
        """Return what tells questions about one hand apart."""
        return self.value.meta.serialize(), b"" if self.given is None else self.given.meta.serialize()

    @property
    def roots(self) -> list[str]:
        """Return the hand columns that it reads."""
        return self.value.meta.root_names() + ([] if self.given is None else self.given.meta.root_names())


def tallies(
    questions: Mapping[str, Question], rules: Rules, deals: Deals, n: int, threads: int = 1
) -> dict[str, Counter[int]]:
    """Return for each question how many of the deals 0..n-1 gave each value; hands that do not hold `given` give none.

    The deals are of one hand, or of a table for questions about players. Counts do not depend on `threads`.
    """
    size = max(1, BLOCK // deals.players)
    total: dict[str, Counter[int]] = {name: Counter() for name in questions}
    with ThreadPoolExecutor(threads, thread_name_prefix="tlsim") as pool:
        work = partial(_block, questions, rules, deals)
        for found in pool.map(work, range(0, n, size), (min(start + size, n) for start in range(0, n, size))):
            for name, counts in found.items():
                total[name].update(counts)
    return total


def hand_columns(names: Iterable[str], rules: Rules, cards: int, decks: int, hands: NDArray[np.int64]) -> pl.DataFrame:
    """Return the asked columns of hands of `cards` cards, masks of shape (2, hands), a row a hand."""
    known = columns(rules, cards, Deck(decks))
    values = {name: known[name].value for name in names}
    roots = list(dict.fromkeys(root for value in values.values() for root in value.meta.root_names()))
    filled = dict(zip(roots, fill(roots, rules, hands), strict=True))
    frame = pl.DataFrame({"held": hands[0], **filled})  # a column that needs no feature has as many rows
    claims = [root for root in roots if root.startswith(_CLAIMS)]
    return frame.with_columns(pl.col(claims).cast(pl.Boolean)).with_columns(**values).select(list(values))


_CLAIMS = ("any_", "holds_", "no_", "low_")  # how features that are yes or no are named


def _block(
    questions: Mapping[str, Question], rules: Rules, deals: Deals, start: int, stop: int
) -> dict[str, Counter[int]]:
    names = dict.fromkeys(root for question in questions.values() for root in question.roots)
    hands = hand_columns(names, rules, deals.cards, deals.decks, deals.hands(start, stop))
    different = {question.key: question for question in questions.values()}
    values = hands.select(question.value.alias(str(number)) for number, question in enumerate(different.values()))
    found = {}
    for value, question in zip(values, different.values(), strict=True):
        if question.given is not None:
            value = value.filter(hands.select(given=question.given)["given"])
        found[question.key] = value.to_numpy()
    return {name: _count(found[question.key], deals.players, question.players) for name, question in questions.items()}


def _count(values: NDArray[Any], seats: int, players: int | None) -> Counter[int]:
    """Return how often each value comes; with `players` how often so many of the first ones of a table hold it."""
    if players is None and values.dtype == bool:
        held = int(np.count_nonzero(values))
        return Counter({0: len(values) - held, 1: held})
    if players is not None:
        values = reduce(np.add, (values[seat::seats].view(np.int8) for seat in range(players)))
    times = np.bincount(values)
    return Counter({int(i): int(times[i]) for i in np.flatnonzero(times)})
