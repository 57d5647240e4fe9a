"""Sampled odds: questions about dealt hands, counted as integers over independent units (hands or whole tables)."""

from collections import Counter, deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.chances.columns import Deck, columns
from tlsim.engine.bulk import Deals, fill
from tlsim.rules.ruleset import Rules

BLOCK = 1 << 16  # hands: some MB of columns

Counts = dict[str, Counter[int]]


@dataclass(frozen=True)
class Question:
    """What is asked of each hand: `value`, yes or no or a whole number from 0 on, of those that hold `given`."""

    value: pl.Expr
    given: pl.Expr | None = None
    players: int | None = None  # not of a hand: of so many first players of a table, how many hold `value`

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Return what tells questions about one hand apart."""
        return self.value.meta.serialize(), b"" if self.given is None else self.given.meta.serialize()

    @property
    def roots(self) -> list[str]:
        """Return the hand columns that it reads."""
        return self.value.meta.root_names() + ([] if self.given is None else self.given.meta.root_names())


@dataclass(frozen=True)
class LowestCard:
    """What is asked of so many first players of a table: which card is the lowest that is dealt to any of them.

    `place`: which of them holds it, in turn order from 1, the first of two who hold a copy.
    """

    players: int
    place: bool = False
    given: None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Return what tells such questions apart."""
        return (self,)

    @property
    def roots(self) -> list[str]:
        """Return no hand column: it reads the cards."""
        return []


@dataclass(frozen=True)
class Sample:
    """Questions that the same `n` deals answer: deals of one hand, or of a table for questions about players."""

    questions: Mapping[str, Question | LowestCard]
    rules: Rules
    deals: Deals
    n: int


def tallies(samples: Sequence[Sample], threads: int = 1) -> Generator[tuple[int, list[Counts]]]:
    """Yield again and again how many deals are done, and for each question of each sample how often each value came.

    Hands that do not hold `given` give none. After d deals a sample has those numbered 0..d-1, if it has so many.
    Counts do not depend on `threads`. Closing the generator stops the work.
    """
    found: list[Counts] = [{name: Counter() for name in sample.questions} for sample in samples]
    rounds: deque[tuple[int, list[tuple[int, Future[Counts]]]]] = deque()
    start, stop = 0, max(sample.n for sample in samples)
    with ThreadPoolExecutor(threads, thread_name_prefix="tlsim") as pool:
        try:
            while start < stop or rounds:
                while start < stop and len(rounds) <= threads:
                    tasks = [
                        (i, first, last) for i, sample in enumerate(samples) for first, last in _blocks(sample, start)
                    ]
                    start = min(start + BLOCK, stop)
                    rounds.append(
                        (start, [(i, pool.submit(_block, samples[i], first, last)) for i, first, last in tasks])
                    )
                done, work = rounds.popleft()
                found = _added(found, [(i, future.result()) for i, future in work])
                yield done, found
        finally:
            for _, work in rounds:
                for _, future in work:
                    future.cancel()


def _blocks(sample: Sample, start: int) -> Iterable[tuple[int, int]]:
    """Yield the deals of one round, `BLOCK` of them, in blocks of so many hands."""
    size, stop = max(1, BLOCK // sample.deals.players), min(start + BLOCK, sample.n)
    return ((first, min(first + size, stop)) for first in range(start, stop, size))


def _added(found: list[Counts], blocks: list[tuple[int, Counts]]) -> list[Counts]:
    """Return the counts with those of some blocks added."""
    total = [{name: counts.copy() for name, counts in of_sample.items()} for of_sample in found]
    for i, block in blocks:
        for name, counts in block.items():
            total[i][name].update(counts)
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


def _block(sample: Sample, start: int, stop: int) -> Counts:
    """Return how often each value comes in some deals."""
    players, hands = sample.deals.players, sample.deals.hands(start, stop)
    of_cards = {name: one for name, one in sample.questions.items() if isinstance(one, LowestCard)}
    of_columns = {name: one for name, one in sample.questions.items() if not isinstance(one, LowestCard)}
    found = {
        name: _count_lowest(hands[0].reshape(-1, players)[:, : one.players], one) for name, one in of_cards.items()
    }
    names = dict.fromkeys(root for question in of_columns.values() for root in question.roots)
    table = hand_columns(names, sample.rules, sample.deals.cards, sample.deals.decks, hands)
    different = {question.key: question for question in of_columns.values()}
    values = table.select(question.value.alias(str(number)) for number, question in enumerate(different.values()))
    asked = {}
    for value, question in zip(values, different.values(), strict=True):
        if question.given is not None:
            value = value.filter(table.select(given=question.given)["given"])
        seen = value.to_numpy()
        asked[question.key] = _count_seats(seen.view(np.uint8), players) if question.players else _count(seen)
    return found | {name: _of_players(asked[one.key], one.players) for name, one in of_columns.items()}


def _count(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return how often each value comes."""
    if values.dtype == bool:
        held = np.count_nonzero(values)
        return np.array([len(values) - held, held])
    return np.bincount(values)


def _count_seats(holds: NDArray[np.uint8], seats: int) -> NDArray[np.intp]:
    """Return how often each set of seats holds an event, sets as masks; `holds` is table by table, seat by seat."""
    sets = reduce(np.bitwise_or, (holds[seat::seats] << np.uint8(seat) for seat in range(seats)))
    return np.bincount(sets, minlength=256)


def _of_players(times: NDArray[np.intp], players: int | None) -> Counter[int]:
    """Return numbers of values as a counter; with `players`, from those of sets, how many of the first seats hold."""
    if players:
        holders = np.bitwise_count(np.arange(256) & ((1 << players) - 1))
        times = np.bincount(holders, times).astype(np.intp)  # exact below 2^53
    return Counter({int(i): int(times[i]) for i in np.flatnonzero(times)})


def _count_lowest(hands: NDArray[np.int64], asked: LowestCard) -> Counter[int]:
    """Return how often each card is the lowest, or each place has it, in hands (deals, players) held at least once."""
    dealt = np.bitwise_or.reduce(hands, axis=1)
    lowest = dealt & -dealt
    values = 1 + (hands & lowest[:, None] != 0).argmax(axis=1) if asked.place else np.bitwise_count(lowest - 1)
    return _of_players(np.bincount(values), None)
