"""The tables of `tlsim odds`: exact odds of hands and of tables, where they can be counted, beside sampled ones.

Every question gives a hand or a table a whole number (an event 0 or 1, an event at a table the number of players who
hold it), so that an answer is a distribution: an exact one, and how often each number was seen. A row of a table is
the odds of one number or of several.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import polars as pl

from tlsim.chances import exact_hands, exact_tables
from tlsim.chances.columns import Deck
from tlsim.chances.exact_hands import WEIGHT, joint
from tlsim.chances.exact_tables import holders, lowest_card, lowest_card_holder, shared
from tlsim.chances.query import Condition
from tlsim.chances.sample import LowestCard, Question, Sample, tallies
from tlsim.engine.bulk import Deals
from tlsim.errors import InputError, OutOfReach
from tlsim.rules.ruleset import Rules, deal_of, player_counts
from tlsim.stats import estimate

_TOO_LONG = "takes seconds to try: it may be counted exactly when it is asked for alone"
_MOST_SHED = 112  # cards of a rank times cards of a hand for which `fewest_plays` is counted among all else: 0.3 s
SLOW_HANDS = 50_000  # sampled among all else for columns that take a microsecond and more each

Distribution = Mapping[int, Fraction]
Row = dict[str, Any]
Progress = Callable[[int, int, Callable[[], str]], None]


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

    def tables(self) -> list[int]:
        """Return the numbers of players that are dealt the same hands: so many cards from so many decks."""
        shape = deal_of(self.rules, self.players)
        return [players for players in player_counts(self.rules) if deal_of(self.rules, players) == shape]

    def dealt(self, ask: "Ask") -> int:
        """Return how many hands or tables are dealt to answer a question."""
        few = ask.slow and self.effort < 1
        return min(self.deals, SLOW_HANDS // (ask.question.players or 1)) if few else self.deals


@dataclass(frozen=True)
class Ask:
    """A question, and the rows that it becomes in one of the tables.

    `rows` makes of all values that are possible or seen the further keys of a row, the values that count in it, and
    those among which they count (`None`: all).
    """

    table: str
    keys: Row
    question: Question | LowestCard
    rows: "RowsOf"
    setting: Setting
    mean: Fraction | None = None  # the exact one: the row is the mean of the values
    condition: Condition | None = None  # what the hands are dealt to hold, which `question` needs

    @property
    def slow(self) -> bool:
        """Return whether a column takes long to work out."""
        slow = {"fewest_plays", "legal_leads"} if self.question.players else {"fewest_plays"}
        return bool(slow & set(self.question.roots))

    @property
    def key(self) -> tuple[Any, ...]:
        """Return what tells what is counted exactly apart: of a hand, or of one of the hands at a table."""
        return (id(self.setting), *self.question.key)


RowsOf = Callable[[Sequence[int]], Iterable[tuple[Row, Iterable[int], Iterable[int] | None]]]


# ------------------------------------------------------------------------------------------------ answers


def answer(asks: Sequence[Ask], progress: Progress | None = None) -> tuple[dict[str, pl.DataFrame], int]:
    """Return the tables of questions, and how many deals were sampled: fewer than asked after Ctrl-C.

    The last table has the questions that are not counted exactly, with the reason. `progress` is called after each
    round of deals. What all settings share but the hands is that of the first.
    """
    counted = _exact(asks)
    done, seen = 0, list[Counter[int]]()
    try:
        with closing(tallies(_samples(asks), asks[0].setting.threads)) as rounds:
            for deals, counts in rounds:
                by_number = {int(name): found for of_sample in counts for name, found in of_sample.items()}
                done, seen = deals, [by_number[number] for number in range(len(asks))]
                if progress:
                    progress(done, asks[0].setting.deals, partial(_headline, asks[0], counted[0], seen[0]))
    except KeyboardInterrupt:
        if not seen:
            raise
    tables: dict[str, list[Row]] = {}
    for ask, distribution, values in zip(asks, counted, seen, strict=True):
        sampled = replace(ask, setting=replace(ask.setting, deals=done))
        tables.setdefault(ask.table, []).extend(_rows(sampled, distribution, values))
    found = {name: pl.DataFrame(rows, infer_schema_length=None) for name, rows in tables.items()}
    reasons = {
        (ask.table, " ".join(str(value) for key, value in ask.keys.items() if key != "players"), why): None
        for ask, why in zip(asks, counted, strict=True)
        if isinstance(why, str) and ask.mean is None
    }
    if reasons:
        found["sampled_only"] = pl.DataFrame(list(reasons), ["rows_of", "event", "why"], orient="row")
    return found, done


def _headline(ask: Ask, counted: "Distribution | str", seen: Counter[int]) -> str:
    """Return the first estimate, for a progress line."""
    row = next(iter(_rows(ask, counted, seen)), None)
    if row is None or ask.mean is not None:
        return ""
    words = " ".join(str(row[key]) for key in list(row)[: list(row).index("exact")])
    return f"{words} {100 * row['estimate']:.4g} % ± {50 * (row['high'] - row['low']):.2g}"


def _exact(asks: Sequence[Ask]) -> list[Distribution | str]:
    """Return the exact distribution of each question, or why there is none."""
    largest: dict[Any, Ask] = {}  # an event at a table -> where it is asked of most players
    for ask in asks:
        if ask.question.players:
            largest[ask.key] = max(largest.get(ask.key, ask), ask, key=lambda one: one.question.players or 0)
    others = {ask.key: ask for ask in asks if ask.key not in largest}
    pool = ThreadPoolExecutor(asks[0].setting.threads)
    try:
        # the last events are the unions, which take longest
        counts = {key: pool.submit(_shares, ask) for key, ask in reversed(largest.items())}
        counts |= {key: pool.submit(_of_hand, ask) for key, ask in others.items()}
        return [_distribution(ask, counts[ask.key].result(), ask.key in largest) for ask in asks]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # after Ctrl-C only what runs goes on


def _distribution(ask: Ask, known: list[Fraction] | Distribution | str, at_table: bool) -> Distribution | str:
    """Return the distribution of a question from what was counted: for a table, of which a hand may be one."""
    if isinstance(known, list):
        return dict(enumerate(holders(known, ask.question.players or 1)))
    return _of_hand(ask) if isinstance(known, str) and at_table and not ask.question.players else known


def _shares(ask: Ask) -> list[Fraction] | Distribution | str:
    """Return the probabilities that k players all hold an event, or why they are not known; or of the lowest card."""
    question, setting = ask.question, ask.setting
    if isinstance(question, LowestCard):
        of = lowest_card_holder if question.place else lowest_card
        chances = of(question.players, setting.cards, setting.deck)
        return {number: chance for number, chance in enumerate(chances, int(question.place)) if chance > 0}
    most = int(setting.effort * exact_tables.MOST_NUMBERS)
    if setting.effort < 1 and ask.slow:
        return _TOO_LONG
    try:
        return shared(question.value, setting.rules, question.players or 1, setting.cards, setting.deck, most)
    except OutOfReach as error:
        return str(error)


def _of_hand(ask: Ask) -> Distribution | str:
    """Return the exact distribution of what is asked of a hand, or why it is not known.

    Raises `InputError` when no hand is as given.
    """
    question, setting = ask.question, ask.setting
    assert isinstance(question, Question)
    if setting.effort < 1 and ask.slow and setting.deck.copies * setting.cards > _MOST_SHED:
        return _TOO_LONG
    most = int(setting.effort * exact_hands.MOST_NUMBERS)
    try:
        hands = joint(dict.fromkeys(question.roots), setting.rules, setting.cards, setting.deck, most)
    except OutOfReach as error:
        return str(error)
    if question.given is not None:
        hands = hands.filter(question.given)
        if hands.is_empty():
            raise InputError("no hand is as given")
    by_value = hands.group_by(value=question.value.cast(pl.Int64)).agg(pl.col(WEIGHT).sum()).rows()
    total = sum(weight for _, weight in by_value)
    return {value: Fraction(weight, total) for value, weight in sorted(by_value)}


def _samples(asks: Sequence[Ask]) -> list[Sample]:
    """Return what is sampled to answer questions, named by their numbers; all of a kind on the same deals."""
    kinds: dict[tuple[int, ...], list[int]] = {}
    for number, ask in enumerate(asks):
        condition_of = id(ask.condition) if ask.condition else 0
        kind = id(ask.setting), condition_of, min(ask.question.players or 1, 2), int(ask.slow)
        kinds.setdefault(kind, []).append(number)
    samples = []
    for numbers in kinds.values():
        first = asks[numbers[0]]
        setting = first.setting
        players = max(asks[number].question.players or 1 for number in numbers)
        deals = Deals(setting.deck.decks, players, setting.cards, setting.seed)
        if first.condition:
            deals = replace(deals, numbers=first.condition.numbers, chances=first.condition.chances)
        questions = {str(number): asks[number].question for number in numbers}
        samples.append(Sample(questions, setting.rules, deals, setting.dealt(first)))
    return samples


# ------------------------------------------------------------------------------------------------ rows


def _rows(ask: Ask, counted: Distribution | str, seen: Counter[int]) -> Iterable[Row]:
    """Yield the rows of a question: keys, exact value, estimate, z, and what share of the dealt hands counted."""
    known = counted if not isinstance(counted, str) else None
    if ask.mean is not None:
        total, squares = (sum(value**power * times for value, times in seen.items()) for power in (1, 2))
        row = estimate.mean(total, squares, seen.total(), ask.setting.level)
        yield ask.keys | exact_keys(ask.mean) | row | {"z": _z(row["estimate"], ask.mean, row["se"])}
        return
    share = ask.condition.share if ask.condition and ask.question.given is None else 1.0
    for keys, chosen, among in ask.rows(sorted({*(known or {}), *seen})):
        values, base = list(chosen), list(seen if among is None else among)
        p = None
        if known is not None and (among is None or any(value in known for value in base)):
            p = _share(known, values) / (1 if among is None else _share(known, base))
        k, n = (sum(seen[value] for value in found) for found in (values, base))
        row = estimate.proportion(k, n, ask.setting.level)
        expected = math.nan if p is None else float(p) / share
        se = math.sqrt(max(expected * (1 - expected), 0.0) / n) if n else math.nan
        row |= {name: row[name] * share for name in ("estimate", "se", "low", "high")}
        row |= {"z": _z(row["estimate"], p, se * share)}
        if ask.question.given is not None or ask.condition:
            row["acceptance"] = (k if ask.question.given is None else seen.total()) / ask.setting.dealt(ask)
        yield ask.keys | keys | exact_keys(p) | row


def _share(known: Distribution, values: Iterable[int]) -> Fraction:
    """Return the probability of some values."""
    return sum((known.get(value, Fraction(0)) for value in values), Fraction(0))


def exact_keys(value: Fraction | None) -> Row:
    """Return an exact value as columns: a float, "1 in so many" of a probability, and the fraction."""
    if value is None:
        return {"exact": None, "one_in": None, "fraction": None}
    one_in = float(1 / value) if 0 < value <= 1 else None
    return {"exact": float(value), "one_in": one_in, "fraction": f"{value.numerator}/{value.denominator}"}


def _z(seen: float, exact: float | Fraction | None, se: float) -> float | None:
    """Return by how many standard errors a sample is off; `None` without an exact value or a spread."""
    if exact is None or not math.isfinite(se) or not math.isfinite(exact):
        return None
    return (seen - float(exact)) / se if se > 0 else 0.0 if seen == float(exact) else None
