"""Sample odds: deal hands or whole tables, and count how often questions about them have each value.

Counts are integers over independent units, which are hands or tables. The same deals answer many questions at once.
"""

from collections import Counter, deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.chances.columns import Deck, columns
from tlsim.engine.bulk import SampledDeals, fill
from tlsim.rules.ruleset import MAX_PLAYERS, Rules

BLOCK = 1 << 16  # hands of a block: some MB of columns; deals of a round
CLAIM_PREFIXES = ("any_", "holds_", "no_", "low_")  # how the features that are yes or no are named
_N_SEAT_SETS = 1 << MAX_PLAYERS

Counts: TypeAlias = dict[str, Counter[int]]
"""For each question of a sample how often each value came."""


@dataclass(frozen=True)
class Question:
    """What is asked of each hand: `value`, yes or no or a whole number from 0 on, of the hands that hold `given`."""

    value: pl.Expr
    given: pl.Expr | None = None
    players: int | None = None  # asked of a table instead: how many of so many first players hold `value`

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """Return a key that is equal for questions that ask the same of one hand."""
        return tuple(expression.meta.serialize() for expression in self._expressions)

    @property
    def roots(self) -> list[str]:
        """Return the hand columns that it reads."""
        return [name for expression in self._expressions for name in expression.meta.root_names()]

    @property
    def _expressions(self) -> list[pl.Expr]:
        return [self.value] if self.given is None else [self.value, self.given]


@dataclass(frozen=True)
class LowestCard:
    """What is asked of so many first players of a table: which card is the lowest that is dealt to any of them.

    With `place`: which of them holds it, in turn order from 1. The first counts where two hold a copy.
    """

    players: int
    place: bool = False
    given: None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """Return a key that is equal for such questions that ask the same."""
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
    deals: SampledDeals
    n: int


def tallies(samples: Sequence[Sample], threads: int = 1) -> Generator[tuple[int, list[Counts]]]:
    """Yield after each round how many deals are done, and for each sample how often each value came so far.

    Hands that do not hold `given` do not count. After d deals a sample has those numbered 0 to d - 1, if it has so
    many. Counts do not depend on `threads`. Closing the generator stops the work.
    """
    totals: list[Counts] = [{name: Counter() for name in sample.questions} for sample in samples]
    rounds: deque[tuple[int, list[tuple[int, Future[Counts]]]]] = deque()  # deals after it; sample and block
    n_submitted, n_deals = 0, max(sample.n for sample in samples)
    with ThreadPoolExecutor(threads, thread_name_prefix="tlsim") as pool:
        try:
            while n_submitted < n_deals or rounds:
                while n_submitted < n_deals and len(rounds) <= threads:
                    blocks = [
                        (i, pool.submit(_count_block, sample, first, last))
                        for i, sample in enumerate(samples)
                        for first, last in _blocks(sample, n_submitted)
                    ]
                    n_submitted = min(n_submitted + BLOCK, n_deals)
                    rounds.append((n_submitted, blocks))
                n_done, blocks = rounds.popleft()
                totals = _added(totals, [(i, block.result()) for i, block in blocks])
                yield n_done, totals
        finally:
            for _, blocks in rounds:
                for _, block in blocks:
                    block.cancel()


def _blocks(sample: Sample, start: int) -> Iterable[tuple[int, int]]:
    """Return the first deal of each block of a round and the first after it: `BLOCK` deals, `BLOCK` hands a block."""
    size, stop = max(1, BLOCK // sample.deals.players), min(start + BLOCK, sample.n)
    return ((first, min(first + size, stop)) for first in range(start, stop, size))


def _added(totals: list[Counts], blocks: list[tuple[int, Counts]]) -> list[Counts]:
    """Return the counts of samples with those of some blocks added; the counts before stay as they are."""
    added = [{name: counts.copy() for name, counts in of_sample.items()} for of_sample in totals]
    for i, block in blocks:
        for name, counts in block.items():
            added[i][name].update(counts)
    return added


def hand_columns(names: Iterable[str], rules: Rules, cards: int, decks: int, hands: NDArray[np.int64]) -> pl.DataFrame:
    """Return the asked columns of hands of `cards` cards, a row a hand.

    `hands` has the shape (2, hands): the masks of the cards held at least once, and of those held twice.
    """
    known_columns = columns(rules, cards, Deck(decks))
    values = {name: known_columns[name].value for name in names}
    features = list(dict.fromkeys(root for value in values.values() for root in value.meta.root_names()))
    filled = dict(zip(features, fill(features, rules, hands), strict=True))
    frame = pl.DataFrame({"held": hands[0], **filled})  # a column that needs no feature has as many rows
    claims = [feature for feature in features if feature.startswith(CLAIM_PREFIXES)]
    return frame.with_columns(pl.col(claims).cast(pl.Boolean)).with_columns(**values).select(list(values))


# ------------------------------------------------------------------------------------------------ one block


def _count_block(sample: Sample, start: int, stop: int) -> Counts:
    """Return how often each value comes in the deals `start` to `stop` - 1."""
    players, hands = sample.deals.players, sample.deals.hands(start, stop)
    held_once = hands[0].reshape(-1, players)
    of_cards = {name: asked for name, asked in sample.questions.items() if isinstance(asked, LowestCard)}
    of_columns = {name: asked for name, asked in sample.questions.items() if not isinstance(asked, LowestCard)}
    counts = {name: _count_lowest(held_once[:, : asked.players], asked) for name, asked in of_cards.items()}
    names = dict.fromkeys(root for question in of_columns.values() for root in question.roots)
    table = hand_columns(names, sample.rules, sample.deals.cards, sample.deals.decks, hands)
    times = _count_values({question.key: question for question in of_columns.values()}, table, players)
    return counts | {name: _as_counter(times[asked.key], asked.players) for name, asked in of_columns.items()}


def _count_values(
    questions: Mapping[tuple[Any, ...], Question], table: pl.DataFrame, players: int
) -> dict[tuple[Any, ...], NDArray[np.intp]]:
    """Return for each question how often each value comes, or for one about players each set of seats that hold it."""
    values = table.select(question.value.alias(str(number)) for number, question in enumerate(questions.values()))
    times = {}
    for column, (key, question) in zip(values, questions.items(), strict=True):
        of_hands = column
        if question.given is not None:
            of_hands = column.filter(table.select(given=question.given)["given"])
        array = of_hands.to_numpy()
        times[key] = _count_seats(array.view(np.uint8), players) if question.players else _count(array)
    return times


def _count(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return how often each value comes."""
    if values.dtype == bool:
        n_true = np.count_nonzero(values)
        return np.array([len(values) - n_true, n_true])
    return np.bincount(values)


def _count_seats(holds: NDArray[np.uint8], seats: int) -> NDArray[np.intp]:
    """Return how often each set of seats holds an event, sets as masks; `holds` is table by table, seat by seat."""
    sets = reduce(np.bitwise_or, (holds[seat::seats] << np.uint8(seat) for seat in range(seats)))
    return np.bincount(sets, minlength=_N_SEAT_SETS)


def _as_counter(times: NDArray[np.intp], players: int | None) -> Counter[int]:
    """Return numbers of values as a counter; with `players`, from those of sets, how many of the first seats hold."""
    if players:
        n_holders = np.bitwise_count(np.arange(_N_SEAT_SETS) & ((1 << players) - 1))
        times = np.bincount(n_holders, times).astype(np.intp)  # exact below 2^53
    return Counter({int(i): int(times[i]) for i in np.flatnonzero(times)})


def _count_lowest(hands: NDArray[np.int64], asked: LowestCard) -> Counter[int]:
    """Return how often each card is the lowest dealt, or how often each place has it.

    `hands` has the shape (deals, players): the masks of the cards held at least once.
    """
    dealt = np.bitwise_or.reduce(hands, axis=1)
    lowest = dealt & -dealt
    if not asked.place:
        return _as_counter(np.bincount(np.bitwise_count(lowest - 1)), None)
    places = 1 + (hands & lowest[:, None] != 0).argmax(axis=1)
    return _as_counter(np.bincount(places), None)
