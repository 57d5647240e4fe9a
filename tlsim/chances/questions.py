"""What `tlsim odds` is asked: the questions of a user, and those of a rule set, as rows of tables."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import polars as pl

from tlsim.chances.answers import Ask, Progress, Row, RowsOf, Setting, answer, exact_keys
from tlsim.chances.columns import Column, Deck, columns
from tlsim.chances.exact_hands import mean_leads
from tlsim.chances.query import OF_RANKS, Condition, condition
from tlsim.chances.sample import LowestCard, Question
from tlsim.rules.cards import names
from tlsim.rules.ruleset import deal_of, player_counts

_EFFORT = 0.2  # of many exact counts at once; what is out of reach then may be counted when it is asked for alone
_RARE = 0.1  # hands that hold a condition: fewer, and they are dealt so that they do
_LEADS = [0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 200]  # where the bins of the number of legal leads start
_LOWEST = 4  # cards that may be the lowest one dealt, of which each has a row
_Z_COUNTS = 20  # seen and not seen, at least, expected for a z to be looked at among others

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


def holds(_: Sequence[int]) -> Iterable[tuple[Row, Iterable[int], None]]:
    """Yield the one row of an event: it holds, or some player holds it."""
    yield {}, range(1, 99), None


def each(column: Column | str, event: bool = False) -> RowsOf:
    """Return rows, one for each value of a column; with `event` odds among them: values are twice theirs, or 1 more."""
    name, boolean = (column, False) if isinstance(column, str) else (column.name, column.boolean)

    def rows(values: Sequence[int]) -> Iterable[tuple[Row, Iterable[int], Iterable[int] | None]]:
        for value in sorted({v // 2 for v in values}) if event else values:
            key = {name: bool(value) if boolean else value}
            yield (key, [2 * value + 1], [2 * value, 2 * value + 1]) if event else (key, [value], None)

    return rows


def bins(name: str, starts: Sequence[int]) -> RowsOf:
    """Return rows, one for each range of values that begins at one of `starts`."""

    def rows(values: Sequence[int]) -> Iterable[tuple[Row, Iterable[int], None]]:
        for low, high in zip(starts, [*starts[1:], max(values) + 1], strict=True):
            if any(low <= value < high for value in values):
                yield {name: f"{low}–{high - 1}" if high in starts else f"{low}+"}, range(low, high), None

    return rows


def lowest_cards(values: Sequence[int]) -> Iterable[tuple[Row, Iterable[int], None]]:
    """Yield a row for each of the cards that may be the lowest one dealt, the last ones together."""
    for card in values[:_LOWEST]:
        yield {"card": names(1 << card)[0]}, [card], None
    if len(values) > _LOWEST:
        yield {"card": "higher"}, values[_LOWEST:], None


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
        rows = holds if at_table == "any" else each("holders")
        return [
            Ask("odds", {"event": text} | {"players": n}, Question(event, None, n), rows, setting)
            for text, event in events.items()
            for n in (setting.tables() if at_table == "any" else [setting.players])
        ]
    if by is not None and not events:
        needs = None if given is None else _rare(given, setting)
        return [Ask(by.name, {}, Question(pl.col(by.name), given), each(by), setting, condition=needs)]
    found = []
    for text, event in events.items():
        needs = None
        if given is not None:
            needs = _rare(given, setting)
        elif by is None and not set(event.meta.root_names()) <= OF_RANKS:  # where something is left to sample
            needs = _rare(event, setting)
        if by is None:
            found.append(Ask("odds", {"event": text}, Question(event, given), holds, setting, condition=needs))
        else:
            both = 2 * pl.col(by.name).cast(pl.Int64) + event.cast(pl.Int64)
            rows = each(by, event=True)
            found.append(Ask("odds", {"event": text}, Question(both, given), rows, setting, condition=needs))
    return found


def _rare(event: pl.Expr, setting: Setting) -> Condition | None:
    """Return what an event needs of ranks, if that is rare enough to deal hands that hold it."""
    needs = condition(event, setting.cards, setting.deck)
    return needs if needs is not None and needs.share < _RARE else None


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
    varying = {"decks": {setting.deck.decks for setting in settings}, "cards": {one.cards for one in settings}}
    asks, leads = [], []
    for setting in settings:
        keys = {"decks": setting.deck.decks, "cards": setting.cards}
        keys = {name: value for name, value in keys.items() if len(varying[name]) > 1}
        by_kind = mean_leads(setting.rules, setting.cards, setting.deck)
        leads += [keys | {"kind": kind} | exact_keys(mean) for kind, mean in by_kind.items()]
        asks += [*_of_one_hand(keys, setting), *_of_table(setting)]
        every = Question(pl.col("legal_leads"))
        mean = sum(by_kind.values(), Fraction(0))
        asks.append(Ask("mean_leads", {"of": "legal leads"} | keys, every, holds, setting, mean=mean))
    tables, done = answer(asks, progress)
    tables["leads_by_kind"] = pl.DataFrame(leads).drop("one_in")
    return {**tables, "agreement": _agreement(tables)}, done


def _events(setting: Setting) -> tuple[list[str], list[str]]:
    """Return the columns of instant wins, the unions last, and those of chops."""
    rules = setting.rules
    kinds = [kind.replace("-", "_") for kind in (*rules.instant_wins, *rules.opening_instant_wins)]
    wins = [*kinds, "instant_win", *(["opening_instant_win"] if rules.opening_instant_wins else [])] if kinds else []
    return wins, [name for name in columns(rules, setting.cards, setting.deck) if name.startswith("chop")]


def _of_one_hand(keys: Row, setting: Setting) -> Iterable[Ask]:
    """Yield the questions of a rule set about one hand."""
    for table, events in zip(("instant_wins", "chops"), _events(setting), strict=True):
        for name in events:
            yield Ask(table, {"event": name} | keys, Question(pl.col(name)), holds, setting)
    for name in ("twos", "quads", "longest_straight", "longest_double_straight", "fewest_plays"):
        yield Ask(name, keys, Question(pl.col(name)), each(name), setting)
    yield Ask("legal_leads", keys, Question(pl.col("legal_leads")), bins("legal_leads", _LEADS), setting)


def _of_table(setting: Setting) -> Iterable[Ask]:
    """Yield the questions of a rule set about a table, for every number of players."""
    wins, chops = _events(setting)
    events = _AT_LEAST | {name: pl.col(name) for name in [*wins, *chops]}
    for table, asked_of in (("some_player", events), ("some_player_sampled", _AT_LEAST_SAMPLED)):
        for (name, event), players in product(asked_of.items(), setting.tables()):
            yield Ask(table, {"event": name, "players": players}, Question(event, None, players), holds, setting)
    for players in setting.tables():
        yield Ask("lowest_card", {"players": players}, LowestCard(players), lowest_cards, setting)
        if setting.deck.decks == 2:  # else all places are alike
            holder = LowestCard(players, place=True)
            yield Ask("lowest_card_holder", {"players": players}, holder, each("place"), setting)


def _agreement(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return how well samples and exact odds agree, over the rows that are seen often enough."""
    rows = []
    for name, table in tables.items():
        if "z" in table.columns and "estimate" in table.columns:
            often = (pl.col("estimate") * pl.col("n")).is_between(_Z_COUNTS, pl.col("n") - _Z_COUNTS)
            z = table.filter(often & pl.col("z").is_not_null())["z"].cast(pl.Float64).to_list()
            if z:
                spread = math.sqrt(sum(one * one for one in z) / len(z))
                rows.append({"rows_of": name, "rows": len(z), "largest_z": max(map(abs, z)), "spread": spread})
    return pl.DataFrame(rows)
