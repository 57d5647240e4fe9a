"""Dealt hands: `odds`, `check_deals`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tlsim.api.common import (
    DEFAULT_DEALS,
    DEFAULT_LEVEL,
    DEFAULT_VARIANT,
    Progress,
    as_text,
    as_text_or_none,
    as_texts,
    check_level,
    check_progress,
    check_threads,
    choose_seed,
    command_line,
    level_option,
    plan_of_variant,
    share,
    whole_number,
    whole_number_or_none,
)
from tlsim.errors import InputError, brief, check_range, nearest

if TYPE_CHECKING:
    import polars as pl

    from tlsim.chances.answers import Ask, Setting
    from tlsim.chances.columns import Column
    from tlsim.output.result import Result
    from tlsim.rules.variantfiles import VariantSpec

MAX_DEALS = 10**12
DEFAULT_ALPHA = 0.01  # of `check_deals`


def odds(
    *events: str,
    variant: "VariantSpec" = DEFAULT_VARIANT,
    where: str | None = None,
    given: str | None = None,
    by: str | None = None,
    any_player: bool = False,
    count_players: bool = False,
    players: int | None = None,
    deals: int = DEFAULT_DEALS,
    seed: int | None = None,
    threads: int | None = None,
    level: float = DEFAULT_LEVEL,
    progress: Progress | None = None,
) -> "Result":
    """Return the odds of what a dealt hand holds: exact where they can be counted, beside sampled ones.

    Without events, `where` and `by` these are the tables of a rule set, for every number of players unless `players` is
    given; a question without `players` is of four where the variant allows it. Hands that hold a rare condition on the
    cards of ranks are dealt so, and the odds weighted.

    Parameters
    ----------
    events
        Hand columns: yes or no as `"dragon"`, or a number as `"twos"` for its whole distribution.
    variant
        A built-in variant or a TOML file, with changes.
    where
        An event in SQL over hand columns: `"twos >= 2 and longest_straight >= 5"`.
    given
        An event that all hands hold which count.
    by
        A column: the odds are those of each of its values.
    any_player
        The event is that some player at the table holds it.
    count_players
        The odds of how many players at the table hold the event.
    players
        Players at the table.
    deals
        Hands, or tables, that are sampled, 1 to 10^12.
    seed, threads, level, progress
        As of `simulate`.

    Raises
    ------
    InputError
        For what is not allowed, before any work.
    Interrupted
        At Ctrl-C, with the result of the deals that were sampled.

    Examples
    --------
    >>> import tlsim
    >>> tlsim.odds("four_twos", deals=1000, seed=1).tables["odds"]["fraction"].item()
    '11/4165'
    """
    for name, value in (("where", where), ("given", given), ("by", by)):
        as_text_or_none(name, value)
    request = _Request(as_texts("events", events), where, given, by, any_player, count_players)
    check_progress(progress)
    setting = _setting(variant, players, deals, seed, check_threads(threads), check_level(level))
    asks = _asks(request, setting)
    from tlsim.chances import answers, questions
    from tlsim.engine import bulk, cache, deal_counts

    cache.announce_compiling([*bulk.KERNELS, *deal_counts.KERNELS], "10 s")
    of_all_tables = not asks and players is None
    settings = [setting]
    if of_all_tables:
        settings = questions.every_setting(setting)
    if asks:
        tables, sampled = answers.answer(asks, progress)
    else:
        tables, sampled = questions.overview(settings, progress)
    plan = request.as_dict() | plan_of_variant(setting.rules, variant)
    plan |= _what_is_dealt(settings, of_all_tables=of_all_tables)
    return _result(plan, setting, variant, tables, sampled)


@dataclass(frozen=True, slots=True)
class _Request:
    """What is asked, as the user gave it."""

    events: Sequence[str]
    where: str | None
    given: str | None
    by: str | None
    any_player: bool
    count_players: bool

    def __post_init__(self) -> None:
        """Refuse what cannot be asked together."""
        is_of_table = self.any_player or self.count_players
        is_of_hand = self.given is not None or self.by is not None
        if is_of_table and (is_of_hand or self.any_player == self.count_players):
            raise InputError("any or count must be asked alone, without given and by, which are about one hand")
        has_event = bool(self.events) or self.where is not None or self.by is not None
        if not has_event and (is_of_table or is_of_hand):
            raise InputError("an event, where or by is needed with given, any or count")

    @property
    def at_table(self) -> str | None:
        """Return what is asked about a table, `None` for a question about one hand."""
        if self.any_player:
            return "any"
        if self.count_players:
            return "count"
        return None

    def as_dict(self) -> dict[str, Any]:
        """Return what is asked as plain data, without what is not."""
        asked: dict[str, Any] = {"events": list(self.events), "where": self.where, "given": self.given, "by": self.by}
        asked |= {"any": self.any_player, "count": self.count_players}
        return {key: value for key, value in asked.items() if value}


def _setting(
    variant: "VariantSpec", players: int | None, deals: int, seed: int | None, threads: int, level: float
) -> "Setting":
    """Return what is dealt, checked."""
    from tlsim.rules.ruleset import check_players, deal_of
    from tlsim.rules.variantfiles import parse_variant

    rules = parse_variant(variant)
    players = check_players(rules, whole_number_or_none("players", players))
    deals = whole_number("deals", deals)
    check_range("deals", deals, 1, MAX_DEALS)
    seed = choose_seed(seed)
    from tlsim.chances.answers import Setting
    from tlsim.chances.columns import Deck

    decks, cards = deal_of(rules, players)
    return Setting(rules, players, Deck(decks), cards, deals, seed, threads, level)


# ------------------------------------------------------------------------------------------------ questions


def _asks(request: _Request, setting: "Setting") -> "list[Ask]":
    """Return the questions; none for the tables of a rule set."""
    from tlsim.chances import questions, sql
    from tlsim.chances.columns import columns

    available = columns(setting.rules, setting.cards, setting.deck)
    named = [_column(text, available, "event") for text in request.events]
    events = {column.name: sql.parse(column.name, available, "event") for column in named if column.boolean}
    if request.where is not None:
        events[request.where] = sql.parse(request.where, available, "where")
    condition = None if request.given is None else sql.parse(request.given, available, "given")
    by = None if request.by is None else _column(request.by, available, "by")
    numbers = [column for column in named if not column.boolean]
    if numbers and (by is not None or request.at_table):
        name = numbers[0].name
        raise InputError(f"event {name!r} is a number: with by, any or count compare it, as in --where '{name} >= 2'")
    asks = []
    if events or by:
        asks += questions.asked(events, condition, by, request.at_table, setting)
    for number in numbers:
        asks += questions.asked({}, condition, number, None, setting)
    return asks


def _column(name: str, available: "dict[str, Column]", what: str) -> "Column":
    column = available.get(name.strip().replace("-", "_"))
    if column is None:
        raise InputError(f"{what} {brief(name)}: unknown column; {nearest(name, list(available))}")
    return column


# ------------------------------------------------------------------------------------------------ results


def _what_is_dealt(settings: "Sequence[Setting]", *, of_all_tables: bool) -> dict[str, Any]:
    """Return what is dealt, one value or several; to every number of players with `of_all_tables`."""
    if of_all_tables:
        players = [n for setting in settings for n in setting.tables()]
    else:
        players = [setting.players for setting in settings]
    cards = [setting.cards for setting in settings]
    decks = [setting.deck.decks for setting in settings]
    dealt = {"players": players, "cards": cards, "decks": decks}
    return {name: values[0] if len(set(values)) == 1 else values for name, values in dealt.items()}


def _result(
    plan: dict[str, Any], setting: "Setting", variant: "VariantSpec", tables: "dict[str, pl.DataFrame]", sampled: int
) -> "Result":
    """Return the result of `odds`; raise `Interrupted` with it if fewer deals than asked for are `sampled`."""
    from tlsim.engine.rng import VERSION
    from tlsim.output.result import Interrupted, Result, provenance

    line = _command(plan, replace(setting, deals=sampled), variant)
    plan = plan | {"deals": sampled, "seed": setting.seed, "level": setting.level}
    result = Result("odds", plan, provenance(line, stream=VERSION, threads=setting.threads), tables)
    if sampled < setting.deals:
        raise Interrupted(result, "deals", setting.deals, _command(plan, setting, variant))
    return result


def _command(plan: dict[str, Any], setting: "Setting", variant: "VariantSpec") -> str:
    """Return the command line that makes a result."""
    options: dict[str, Any] = {f"--{name}": plan.get(name) for name in ("any", "count", "where", "given", "by")}
    options["-v"] = variant
    if isinstance(plan["players"], int):  # otherwise the tables are of every number of players
        options["--players"] = plan["players"]
    options |= {"-n": setting.deals, "--seed": setting.seed} | level_option(setting.level)
    return command_line("odds", *plan.get("events", []), options=options)


# ------------------------------------------------------------------------------------------------ deals of others


def check_deals(
    file: str | Path, *, variant: "VariantSpec" = DEFAULT_VARIANT, alpha: float = DEFAULT_ALPHA
) -> "Result":
    """Return tests of the dealt hands in a file against a fair shuffle: uniformity, exact odds, independence of deals.

    The column `effect` is the least relative one that a test finds nine times in ten, `detectable` says it in words.
    `extra["verdict"]` says in a line whether the shuffle is fair.

    Parameters
    ----------
    file
        Transcripts (docs/rules.md, section 11), one a line or in an array, or CSV with commas, semicolons or tabs: a
        row a deal and a column a seat, with or without names and a first column that numbers the deals; or columns
        `seat` and `cards`, and `deal` if it is known; or columns `deal`, `seat` and `card`. In UTF-8, or UTF-16 with
        its mark, and of 1 GiB at most; `"-"` is standard input.
    variant
        The variant whose decks are dealt and whose instant wins are counted.
    alpha
        The chance, at most, that a fair shuffle fails any test.

    Raises
    ------
    InputError
        For a file that cannot be read, with the line, and one of too few deals.

    Examples
    --------
    >>> import json, tlsim
    >>> hands = tlsim.replay(seed=1, deal=(0, 500)).extra["hands"]
    >>> with open("hands.jsonl", "w", encoding="utf-8") as file:
    ...     for hand in hands:
    ...         print(json.dumps(hand), file=file)
    >>> tlsim.check_deals("hands.jsonl").tables["tests"]["fair"].all()
    True
    """
    alpha, path = share("alpha", alpha, DEFAULT_ALPHA), as_text("file", file)
    from tlsim.chances import deal_files
    from tlsim.rules.variantfiles import parse_variant

    rules = parse_variant(variant)
    deals = deal_files.read(Path(path), rules)
    from tlsim.chances import deal_check
    from tlsim.engine import bulk, cache
    from tlsim.output.result import Result, provenance

    cache.announce_compiling(bulk.KERNELS, "10 s")
    tests, outliers = deal_check.check(deals, rules, alpha)
    plan = {"file": path, "deals": deals.n_deals, "players": deals.n_seats, "cards": deals.cards}
    plan |= {"decks": deals.decks} | plan_of_variant(rules, variant) | {"alpha": alpha}
    read_otherwise = {"header": deals.header, "other_seatings_left_out": deals.n_other_seatings}
    plan |= {name: value for name, value in read_otherwise.items() if value}
    line = command_line("check-deals", path, options={"-v": variant, "--alpha": alpha})
    verdict = deal_check.verdict(tests, deals.n_deals)
    tables = {"tests": tests, "farthest_off": outliers}
    return Result("check-deals", plan, provenance(line), tables, extra={"verdict": verdict}, note=verdict)
