"""Answer a list of questions about dealt hands: exact odds, where they can be counted, beside sampled ones.

Every question gives a hand or a table a whole number. An event gives 0 or 1; an event at a table gives the number of
players who hold it. So an answer is a distribution: the exact one, and how often each number was seen in a sample. A
row of a table shows the odds of one number or of several.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import polars as pl

from tlsim.chances import exact_hands, exact_tables
from tlsim.chances.columns import Deck
from tlsim.chances.exact_hands import WEIGHT
from tlsim.chances.sample import LowestCard, Question, Sample, tallies
from tlsim.chances.sql import Condition
from tlsim.engine.bulk import SampledDeals
from tlsim.errors import OutOfReach
from tlsim.rules.ruleset import Rules, deal_of, player_counts
from tlsim.stats import estimate
from tlsim.stats.estimate import TableRow

SLOW_HANDS = 50_000  # sampled among all else for columns that take a microsecond and more each
_MAX_SLOW_PRODUCT = 112  # cards of a rank times cards of a hand up to which slow columns are counted: 0.3 s
_TOO_LONG = "takes seconds to try: it may be counted exactly when it is asked for alone"

ExactDistribution: TypeAlias = Mapping[int, Fraction]
"""The probability of each value."""
Exact: TypeAlias = ExactDistribution | str
"""An exact distribution, or the reason why there is none."""
Progress: TypeAlias = Callable[[int, int, Callable[[], str]], None]
"""Called with the deals that are sampled, those that are asked for, and a function that returns an estimate."""


class ValueRow(NamedTuple):
    """One row of a table: what stands in it beside the odds, and the values whose odds it shows."""

    keys: TableRow
    values: Sequence[int]
    among: Sequence[int] | None = None  # the values among which they count; `None`: all


RowsOf: TypeAlias = Callable[[Sequence[int]], Iterable[ValueRow]]
"""From all values that are possible or were seen, sorted, to the rows that show them."""


@dataclass(frozen=True)
class Setting:
    """What is dealt, and how many deals are sampled."""

    rules: Rules
    players: int
    deck: Deck
    cards: int
    deals: int
    seed: int
    threads: int
    level: float
    effort: float = 1.0  # share of the numbers that an exact count may hold

    @property
    def is_hurried(self) -> bool:
        """Return whether many questions are asked at once, so that what takes long is left out."""
        return self.effort < 1

    def tables(self) -> list[int]:
        """Return the numbers of players that are dealt the same hands: as many cards, from as many decks."""
        shape = deal_of(self.rules, self.players)
        return [players for players in player_counts(self.rules) if deal_of(self.rules, players) == shape]

    def n_dealt(self, ask: "Ask") -> int:
        """Return how many hands or tables are dealt to answer a question."""
        if self.is_hurried and ask.is_slow:
            return min(self.deals, SLOW_HANDS // (ask.question.players or 1))
        return self.deals


@dataclass(frozen=True)
class Ask:
    """A question, and the rows that it becomes in one of the tables."""

    table: str
    keys: TableRow
    question: Question | LowestCard
    rows: RowsOf
    setting: Setting
    mean: Fraction | None = None  # the exact one: the row is the mean of the values
    condition: Condition | None = None  # what the hands are dealt to hold, which `question` needs

    @property
    def is_slow(self) -> bool:
        """Return whether a column takes long to work out."""
        slow = {"fewest_plays", "legal_leads"} if self.question.players else {"fewest_plays"}
        return bool(slow & set(self.question.roots))

    @property
    def key(self) -> tuple[Any, ...]:
        """Return a key that is equal for two questions with the same exact count, of a hand or of hands at a table."""
        return (id(self.setting), *self.question.key)

    @property
    def event(self) -> str:
        """Return the words that stand before the odds, without the number of players."""
        return " ".join(str(value) for name, value in self.keys.items() if name != "players")


def answer(asks: Sequence[Ask], progress: Progress | None = None) -> tuple[dict[str, pl.DataFrame], int]:
    """Return the tables of questions, and how many deals were sampled: fewer than asked after Ctrl-C.

    The last table, `sampled_only`, has the questions that are not counted exactly, with the reason. `progress` is
    called after each round of deals. The settings may differ in the hands they deal; seed, level, threads and number of
    deals are those of the first. Raises `InputError` when no hand holds what is given.
    """
    exact = _count_exactly(asks)

    def report(n_deals: int, first_counts: Counter[int]) -> None:
        if progress:
            progress(n_deals, asks[0].setting.deals, partial(_headline, asks[0], exact[0], first_counts))

    n_deals, counts = _count_sampled(asks, report)
    rows: dict[str, list[TableRow]] = {}
    for ask, distribution, seen in zip(asks, exact, counts, strict=True):
        sampled = replace(ask, setting=replace(ask.setting, deals=n_deals))
        rows.setdefault(ask.table, []).extend(_rows(sampled, distribution, seen))
    tables = {name: pl.DataFrame(of_table, infer_schema_length=None) for name, of_table in rows.items()}
    reasons = [
        (ask.table, ask.event, reason)
        for ask, reason in zip(asks, exact, strict=True)
        if isinstance(reason, str) and ask.mean is None
    ]
    if reasons:
        each_once = list(dict.fromkeys(reasons))
        tables["sampled_only"] = pl.DataFrame(each_once, ["rows_of", "event", "why"], orient="row")
    return tables, n_deals


# ------------------------------------------------------------------------------------------------ exact counts


def _count_exactly(asks: Sequence[Ask]) -> list[Exact]:
    """Return the exact distribution of each question, or why there is none."""
    largest: dict[Any, Ask] = {}  # an event at a table -> where it is asked of most players
    for ask in asks:
        if ask.question.players:
            largest[ask.key] = max(largest.get(ask.key, ask), ask, key=lambda asked: asked.question.players or 0)
    of_hands = {ask.key: ask for ask in asks if ask.key not in largest}
    pool = ThreadPoolExecutor(asks[0].setting.threads)
    try:
        # The last events are the unions, which take longest.
        counts = {key: pool.submit(_of_table, ask) for key, ask in reversed(largest.items())}
        counts |= {key: pool.submit(_of_hand, ask) for key, ask in of_hands.items()}
        return [_distribution(ask, counts[ask.key].result(), at_table=ask.key in largest) for ask in asks]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # after Ctrl-C only what runs goes on


def _distribution(ask: Ask, count: list[Fraction] | Exact, at_table: bool) -> Exact:
    """Return the distribution of a question from the count that it shares with others.

    `at_table`: the count was made for a table. A question about one hand may share it; when a table is out of reach the
    hand is tried alone.
    """
    if isinstance(count, list):
        return dict(enumerate(exact_tables.holders(count, ask.question.players or 1)))
    if isinstance(count, str) and at_table and not ask.question.players:
        return _of_hand(ask)
    return count


def _of_table(ask: Ask) -> list[Fraction] | Exact:
    """Return the probabilities that k players all hold an event, k = 0, 1, …, or why they are not known.

    For the lowest card dealt: its distribution.
    """
    question, setting = ask.question, ask.setting
    if isinstance(question, LowestCard):
        return _of_lowest_card(question, setting)
    if setting.is_hurried and ask.is_slow:
        return _TOO_LONG
    max_numbers = int(setting.effort * exact_tables.MAX_NUMBERS)
    players = question.players or 1
    try:
        return exact_tables.shared(question.value, setting.rules, players, setting.cards, setting.deck, max_numbers)
    except OutOfReach as error:
        return str(error)


def _of_lowest_card(question: LowestCard, setting: Setting) -> ExactDistribution:
    """Return the probability of each card, by its number, to be the lowest dealt; or of each place to hold it."""
    count, first = exact_tables.lowest_card, 0
    if question.place:
        count, first = exact_tables.lowest_card_holder, 1
    chances = count(question.players, setting.cards, setting.deck)
    return {number: chance for number, chance in enumerate(chances, first) if chance > 0}


def _of_hand(ask: Ask) -> Exact:
    """Return the exact distribution of what is asked of a hand, or why it is not known.

    Raises `InputError` when no hand holds what is given.
    """
    question, setting = ask.question, ask.setting
    assert isinstance(question, Question)
    if setting.is_hurried and ask.is_slow and setting.deck.copies * setting.cards > _MAX_SLOW_PRODUCT:
        return _TOO_LONG
    max_numbers = int(setting.effort * exact_hands.MAX_NUMBERS)
    names = dict.fromkeys(question.roots)
    try:
        hands = exact_hands.joint(names, setting.rules, setting.cards, setting.deck, max_numbers)
    except OutOfReach as error:
        return str(error)
    hands = exact_hands.holding(hands, question.given)
    by_value = hands.group_by(value=question.value.cast(pl.Int64)).agg(pl.col(WEIGHT).sum()).rows()
    total = sum(weight for _, weight in by_value)
    return {value: Fraction(weight, total) for value, weight in sorted(by_value)}


# ------------------------------------------------------------------------------------------------ samples


def _count_sampled(asks: Sequence[Ask], report: Callable[[int, Counter[int]], None]) -> tuple[int, list[Counter[int]]]:
    """Return how many deals were sampled, and for each question how often each value came.

    `report` is called after each round with the deals so far and the counts of the first question. Ctrl-C ends the
    sample; before the first round is done there is nothing to return, so that `KeyboardInterrupt` goes on.
    """
    n_deals, counts = 0, list[Counter[int]]()
    try:
        with closing(tallies(_samples(asks), asks[0].setting.threads)) as rounds:
            for n_dealt, of_samples in rounds:
                by_number = {int(name): count for of_sample in of_samples for name, count in of_sample.items()}
                n_deals, counts = n_dealt, [by_number[number] for number in range(len(asks))]
                report(n_deals, counts[0])
    except KeyboardInterrupt:
        if not counts:
            raise
    return n_deals, counts


def _samples(asks: Sequence[Ask]) -> list[Sample]:
    """Return what is sampled to answer questions, named by their numbers; all of a kind on the same deals."""
    kinds: dict[tuple[int, ...], list[int]] = {}
    for number, ask in enumerate(asks):
        kind = id(ask.setting), id(ask.condition), min(ask.question.players or 1, 2), int(ask.is_slow)
        kinds.setdefault(kind, []).append(number)
    samples = []
    for numbers in kinds.values():
        first = asks[numbers[0]]
        setting = first.setting
        players = max(asks[number].question.players or 1 for number in numbers)
        deals = SampledDeals(setting.deck.decks, players, setting.cards, setting.seed)
        if first.condition:
            deals = replace(deals, numbers=first.condition.numbers, chances=first.condition.chances)
        questions = {str(number): asks[number].question for number in numbers}
        samples.append(Sample(questions, setting.rules, deals, setting.n_dealt(first)))
    return samples


# ------------------------------------------------------------------------------------------------ rows


def _rows(ask: Ask, exact: Exact, seen: Counter[int]) -> Iterable[TableRow]:
    """Yield the rows of a question: keys, exact value, estimate, z, and what share of the dealt hands counted."""
    if ask.mean is not None:
        total, squares = (sum(value**power * times for value, times in seen.items()) for power in (1, 2))
        row = estimate.Sums(total, squares, seen.total()).mean(ask.setting.level)
        yield ask.keys | exact_keys(ask.mean) | row | {"z": _z(row["estimate"], ask.mean, row["se"])}
        return
    possible = () if isinstance(exact, str) else exact
    for shown in ask.rows(sorted({*possible, *seen})):
        yield _row_of_values(ask, shown, exact, seen)


def _row_of_values(ask: Ask, shown: ValueRow, exact: Exact, seen: Counter[int]) -> TableRow:
    """Return one row: the odds of some values.

    When hands are dealt to hold a condition that the event needs, the share among them is multiplied by the share of
    such hands among all.
    """
    question, condition = ask.question, ask.condition
    share_dealt = condition.share if condition and question.given is None else 1.0
    k = sum(seen[value] for value in shown.values)
    n = seen.total() if shown.among is None else sum(seen[value] for value in shown.among)
    chance = _exact_share(exact, shown.values, shown.among)
    row = estimate.proportion(k, n, ask.setting.level)
    row |= {name: row[name] * share_dealt for name in ("estimate", "se", "low", "high")}
    row["z"] = _z(row["estimate"], chance, _expected_se(chance, share_dealt, n) * share_dealt)
    if question.given is not None:
        row["acceptance"] = seen.total() / ask.setting.n_dealt(ask)
    elif condition:
        row["acceptance"] = k / ask.setting.n_dealt(ask)
    return ask.keys | shown.keys | exact_keys(chance) | row


def _exact_share(exact: Exact, values: Sequence[int], among: Sequence[int] | None) -> Fraction | None:
    """Return the exact probability of some values among others; `None` where it is not known."""
    if isinstance(exact, str):
        return None
    if among is None:
        return _probability(exact, values)
    if not any(value in exact for value in among):
        return None
    return _probability(exact, values) / _probability(exact, among)


def _probability(distribution: ExactDistribution, values: Iterable[int]) -> Fraction:
    """Return the probability of some values."""
    return sum((distribution.get(value, Fraction(0)) for value in values), Fraction(0))


def _expected_se(chance: Fraction | None, share_dealt: float, n: int) -> float:
    """Return the standard error that a share of n hands has by its exact value; `nan` without one.

    A proportion p of n has the variance p (1 - p) / n; p is the chance among the dealt hands.
    """
    if chance is None or n == 0:
        return math.nan
    among_dealt = float(chance) / share_dealt
    return math.sqrt(max(among_dealt * (1 - among_dealt), 0.0) / n)


def _z(sampled: float, exact: Fraction | None, se: float) -> float | None:
    """Return by how many standard errors a sample is off; `None` without an exact value or a spread."""
    if exact is None or not math.isfinite(se):
        return None
    if se > 0:
        return (sampled - float(exact)) / se
    if sampled == float(exact):
        return 0.0
    return None


def exact_keys(value: Fraction | None) -> TableRow:
    """Return an exact value as columns: a float, "1 in so many" of a probability, and the fraction.

    >>> exact_keys(Fraction(1, 4))
    {'exact': 0.25, 'one_in': 4.0, 'fraction': '1/4'}
    """
    if value is None:
        return {"exact": None, "one_in": None, "fraction": None}
    one_in = float(1 / value) if 0 < value <= 1 else None
    return {"exact": float(value), "one_in": one_in, "fraction": f"{value.numerator}/{value.denominator}"}


def _headline(ask: Ask, exact: Exact, seen: Counter[int]) -> str:
    """Return the first estimate, for a progress line."""
    row = next(iter(_rows(ask, exact, seen)), None)
    if row is None or ask.mean is not None:
        return ""
    columns = list(row)
    words = " ".join(str(row[name]) for name in columns[: columns.index("exact")])
    return f"{words} {100 * row['estimate']:.4g} % ± {50 * (row['high'] - row['low']):.2g}"
