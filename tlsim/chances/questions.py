"""Write what `tlsim odds` is asked as questions: those of a user, and those of a rule set, each as rows of tables."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import polars as pl

from tlsim.chances.answers import Ask, Progress, RowsOf, Setting, ValueRow, answer, exact_keys
from tlsim.chances.columns import Column, Deck, columns
from tlsim.chances.exact_hands import mean_leads
from tlsim.chances.sample import LowestCard, Question
from tlsim.chances.sql import OF_RANKS, Condition, condition
from tlsim.rules.cards import names
from tlsim.rules.ruleset import deal_of, player_counts
from tlsim.stats.estimate import TableRow

_EFFORT = 0.2  # of many exact counts at once; what is out of reach then may be counted when it is asked for alone
_RARE = 0.1  # share of hands that hold a condition below which hands are dealt so that they do
_MAX_HOLDERS = 98  # more than any table has players
_LEADS = [0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200]  # where the bins of the number of legal leads start
_N_LOWEST = 4  # cards that may be the lowest one dealt, of which each has a row
_Z_COUNTS = 20  # seen and not seen, at least, for a z to be looked at among others

# What some player may hold, besides instant wins and chops.
_AT_LEAST = {
    **{f"twos >= {n}": pl.col("twos") >= n for n in (2, 3)},
    "quads >= 1": pl.col("quads") >= 1,
    **{f"longest_straight >= {n}": pl.col("longest_straight") >= n for n in (8, 10, 12)},
    **{f"longest_double_straight >= {n}": pl.col("longest_double_straight") >= n for n in (3, 4, 5)},
}
_AT_LEAST_SAMPLED = {
    "legal_leads >= 100": pl.col("legal_leads") >= 100,
    "fewest_plays <= 3": pl.col("fewest_plays") <= 3,
}


# ------------------------------------------------------------------------------------------------ rows of an answer


def holds(_: Sequence[int]) -> Iterable[ValueRow]:
    """Yield the one row of an event: it holds, or some player holds it."""
    yield ValueRow({}, range(1, _MAX_HOLDERS + 1))


def each(column: Column | str) -> RowsOf:
    """Return rows, one for each value of a column, or of a number with this name."""

    def rows(values: Sequence[int]) -> Iterable[ValueRow]:
        for value in values:
            yield ValueRow(_key_of(column, value), [value])

    return rows


def event_by(column: Column) -> RowsOf:
    """Return rows, one for each value of a column: the odds of an event among the hands that have it.

    The question gives 2 * value + 1 to a hand that holds the event, and 2 * value to another.
    """

    def rows(values: Sequence[int]) -> Iterable[ValueRow]:
        for value in sorted({both // 2 for both in values}):
            yield ValueRow(_key_of(column, value), [2 * value + 1], [2 * value, 2 * value + 1])

    return rows


def _key_of(column: Column | str, value: int) -> TableRow:
    """Return a value as a row shows it."""
    if isinstance(column, str):
        return {column: value}
    return {column.name: bool(value) if column.boolean else value}


def bins(name: str, starts: Sequence[int]) -> RowsOf:
    """Return rows, one for each range of values that begins at one of `starts`."""

    def rows(values: Sequence[int]) -> Iterable[ValueRow]:
        for low, high in zip(starts, [*starts[1:], max(values) + 1], strict=True):
            if any(low <= value < high for value in values):
                yield ValueRow({name: f"{low}–{high - 1}" if high in starts else f"{low}+"}, range(low, high))

    return rows


def lowest_cards(values: Sequence[int]) -> Iterable[ValueRow]:
    """Yield a row for each of the cards that may be the lowest one dealt, the last ones together."""
    for card in values[:_N_LOWEST]:
        yield ValueRow({"card": names(1 << card)[0]}, [card])
    if len(values) > _N_LOWEST:
        yield ValueRow({"card": "higher"}, values[_N_LOWEST:])


# ------------------------------------------------------------------------------------------------ of a user


def asked(
    events: Mapping[str, pl.Expr],
    given: pl.Expr | None,
    by: Column | None,
    at_table: str | None,
    setting: Setting,
) -> list[Ask]:
    """Return the questions of a user: `events` by their texts, all of hands that hold `given`.

    `by`: for each value of a column; without events how often it comes. `at_table`: "any" for some player at the
    table, "count" for the number of players who hold an event.
    """
    if at_table:
        return list(_asked_at_table(events, at_table, setting))
    if by is not None and not events:
        needs = None if given is None else _rare(given, setting)
        return [Ask(by.name, {}, Question(pl.col(by.name), given), each(by), setting, condition=needs)]
    return [_asked_of_hand(text, event, given, by, setting) for text, event in events.items()]


def _asked_at_table(events: Mapping[str, pl.Expr], at_table: str, setting: Setting) -> Iterator[Ask]:
    """Yield questions about how many players hold an event; about any of them for every number of players."""
    rows: RowsOf = holds
    players = setting.tables()
    if at_table == "count":
        rows, players = each("holders"), [setting.players]
    for (text, event), n in product(events.items(), players):
        yield Ask("odds", {"event": text, "players": n}, Question(event, None, n), rows, setting)


def _asked_of_hand(text: str, event: pl.Expr, given: pl.Expr | None, by: Column | None, setting: Setting) -> Ask:
    """Return a question about one hand; what it needs of ranks, where that is rare, is dealt."""
    needs = None
    if given is not None:
        needs = _rare(given, setting)
    elif by is None and not set(event.meta.root_names()) <= OF_RANKS:  # where something is left to sample
        needs = _rare(event, setting)
    if by is None:
        return Ask("odds", {"event": text}, Question(event, given), holds, setting, condition=needs)
    both = 2 * pl.col(by.name).cast(pl.Int64) + event.cast(pl.Int64)
    return Ask("odds", {"event": text}, Question(both, given), event_by(by), setting, condition=needs)


def _rare(event: pl.Expr, setting: Setting) -> Condition | None:
    """Return what an event needs of ranks, if that is rare enough to deal hands that hold it."""
    needs = condition(event, setting.cards, setting.deck)
    if needs is None or needs.share >= _RARE:
        return None
    return needs


# ------------------------------------------------------------------------------------------------ of a rule set


def every_setting(setting: Setting) -> list[Setting]:
    """Return a setting for each kind of hand that the rules deal: so many cards from so many decks."""
    shapes = {deal_of(setting.rules, players): players for players in reversed(player_counts(setting.rules))}
    return [
        replace(setting, players=players, deck=Deck(decks), cards=cards)
        for (decks, cards), players in reversed(shapes.items())
    ]


def overview(settings: Sequence[Setting], progress: Progress | None = None) -> tuple[dict[str, pl.DataFrame], int]:
    """Return the tables of a rule set, and how many deals were sampled; a setting for each kind of hand it deals.

    Instant wins, chops, shapes, leads and fewest plays of a hand; what some player holds, and the lowest card dealt.
    """
    settings = [replace(setting, effort=_EFFORT) for setting in settings]
    asks: list[Ask] = []
    leads: list[TableRow] = []
    for setting, keys in zip(settings, _shape_keys(settings), strict=True):
        by_kind = mean_leads(setting.rules, setting.cards, setting.deck)
        leads += [keys | {"kind": kind} | exact_keys(mean) for kind, mean in by_kind.items()]
        asks += [*_of_one_hand(keys, setting), *_of_table(setting)]
        every_lead = Question(pl.col("legal_leads"))
        mean = sum(by_kind.values(), Fraction(0))
        asks.append(Ask("mean_leads", {"of": "legal leads"} | keys, every_lead, holds, setting, mean=mean))
    tables, n_deals = answer(asks, progress)
    tables["leads_by_kind"] = pl.DataFrame(leads).drop("one_in")
    return {**tables, "agreement": _agreement(tables)}, n_deals


def _shape_keys(settings: Sequence[Setting]) -> list[TableRow]:
    """Return for each setting its decks and cards, those of them that are not the same in all settings."""
    keys = [{"decks": setting.deck.decks, "cards": setting.cards} for setting in settings]
    varying = [name for name in ("decks", "cards") if len({key[name] for key in keys}) > 1]
    return [{name: key[name] for name in varying} for key in keys]


def _events(setting: Setting) -> tuple[list[str], list[str]]:
    """Return the columns of instant wins, the unions last, and those of chops."""
    rules = setting.rules
    wins = [kind.replace("-", "_") for kind in (*rules.instant_wins, *rules.opening_instant_wins)]
    if wins:
        wins.append("instant_win")
    if rules.opening_instant_wins:
        wins.append("opening_instant_win")
    return wins, [name for name in columns(rules, setting.cards, setting.deck) if name.startswith("chop")]


def _of_one_hand(keys: TableRow, setting: Setting) -> Iterator[Ask]:
    """Yield the questions of a rule set about one hand."""
    for table, events in zip(("instant_wins", "chops"), _events(setting), strict=True):
        for name in events:
            yield Ask(table, {"event": name} | keys, Question(pl.col(name)), holds, setting)
    for name in ("twos", "quads", "longest_straight", "longest_double_straight", "fewest_plays"):
        yield Ask(name, keys, Question(pl.col(name)), each(name), setting)
    yield Ask("legal_leads", keys, Question(pl.col("legal_leads")), bins("legal_leads", _LEADS), setting)


def _of_table(setting: Setting) -> Iterator[Ask]:
    """Yield the questions of a rule set about a table, for every number of players."""
    wins, chops = _events(setting)
    events = _AT_LEAST | {name: pl.col(name) for name in [*wins, *chops]}
    for table, of_table in (("some_player", events), ("some_player_sampled", _AT_LEAST_SAMPLED)):
        for (name, event), players in product(of_table.items(), setting.tables()):
            yield Ask(table, {"event": name, "players": players}, Question(event, None, players), holds, setting)
    for players in setting.tables():
        yield Ask("lowest_card", {"players": players}, LowestCard(players), lowest_cards, setting)
        if setting.deck.decks == 2:  # else all places are alike
            holder = LowestCard(players, place=True)
            yield Ask("lowest_card_holder", {"players": players}, holder, each("place"), setting)


def _agreement(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return how well samples and exact odds agree, over the rows that are seen often enough.

    `spread` is the root of the mean square of z; it is near 1 where the rows are independent.
    """
    rows = []
    for name, table in tables.items():
        if not {"z", "estimate"} <= set(table.columns):
            continue
        is_often = (pl.col("estimate") * pl.col("n")).is_between(_Z_COUNTS, pl.col("n") - _Z_COUNTS)
        scores = table.filter(is_often & pl.col("z").is_not_null())["z"].cast(pl.Float64).to_list()
        if scores:
            spread = math.sqrt(sum(z * z for z in scores) / len(scores))
            rows.append({"rows_of": name, "rows": len(scores), "largest_z": max(map(abs, scores)), "spread": spread})
    return pl.DataFrame(rows)
