"""The commands about dealt hands as functions: like those in `tlsim.api`, which this module goes on."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tlsim.api.common import (
    DEFAULT_DEALS,
    DEFAULT_LEVEL,
    DEFAULT_VARIANT,
    SEED_BITS,
    Progress,
    as_options,
    check_level,
    check_threads,
    command_line,
    whole_number,
)
from tlsim.errors import InputError, nearest

if TYPE_CHECKING:
    import polars as pl

    from tlsim.chances.answers import Ask, Setting
    from tlsim.chances.columns import Column
    from tlsim.output.result import Result

MAX_DEALS = 10**12
DEFAULT_ALPHA = 0.01  # of `check_deals`


def odds(
    *events: str,
    where: str | None = None,
    given: str | None = None,
    by: str | None = None,
    any_player: bool = False,
    count_players: bool = False,
    variant: str = DEFAULT_VARIANT,
    players: int | None = None,
    deals: int = DEFAULT_DEALS,
    seed: int | None = None,
    threads: int | None = None,
    level: float = DEFAULT_LEVEL,
    progress: Progress | None = None,
) -> "Result":
    """Return the odds of what a dealt hand holds: exact where they can be counted, beside sampled ones.

    `events` are hand columns (`"dragon"`, `"twos"`), `where` an event in SQL over them
    (`"twos >= 2 and longest_straight >= 5"`), `given` what all hands hold that count, `by` a column for whose values
    the odds are told one by one. `any_player`: that some player at the table holds the event, `count_players`: how many
    do. Without events and `by`: the tables of a rule set, for every number of players where `players` is not given; a
    question without is of four where the variant allows it. `deals` hands, or tables, are sampled; `progress` is called
    now and then. Rare conditions on the cards of ranks are dealt, and the odds weighted.

    Raises `InputError` for what is not allowed; `Interrupted` at Ctrl-C, with the result of the deals that were done.
    """
    setting = _setting(variant, players, deals, seed, check_threads(threads), check_level(level))
    asks = _asks(events, where, given, by, any_player, count_players, setting)
    from tlsim.chances import answers, questions
    from tlsim.engine import bulk, cache, deal_counts

    cache.announce_compiling([*bulk.KERNELS, *deal_counts.KERNELS], "10 s")
    whole = not asks and players is None
    settings = questions.every_setting(setting) if whole else [setting]
    tables, done = answers.answer(asks, progress) if asks else questions.overview(settings, progress)
    told: dict[str, Any] = {"events": list(events), "where": where, "given": given, "by": by}
    told |= {"any": any_player, "count": count_players}
    told = {key: value for key, value in told.items() if value} | _dealt(settings, whole)
    return _odds_result(told, setting, variant, tables, done)


def _dealt(settings: "Sequence[Setting]", whole: bool) -> dict[str, Any]:
    """Return what is dealt, one value or several; `whole`: to every number of players."""
    found = {
        "players": [n for one in settings for n in (one.tables() if whole else [one.players])],
        "cards": [one.cards for one in settings],
        "decks": [one.deck.decks for one in settings],
    }
    single = {name: values[0] if len(set(values)) == 1 else values for name, values in found.items()}
    return {"variant": settings[0].rules.name} | single


def _odds_result(
    told: dict[str, Any], setting: "Setting", variant: str, tables: "dict[str, pl.DataFrame]", done: int
) -> "Result":
    """Return the result of `odds`; `told` is what was asked and is dealt. Raise `Interrupted` if fewer are `done`."""
    from tlsim.engine.rng import VERSION
    from tlsim.output.result import Interrupted, Result, provenance

    plan = told | {"deals": done, "seed": setting.seed, "level": setting.level}
    line = _odds_line(told, replace(setting, deals=done), variant)
    result = Result("odds", plan, provenance(line, stream=VERSION, threads=setting.threads), tables)
    if done < setting.deals:
        raise Interrupted(result, "deals", setting.deals, _odds_line(told, setting, variant))
    return result


def _odds_line(told: dict[str, Any], setting: "Setting", variant: str) -> str:
    """Return the command line that makes a result."""
    flags = [f"--{name}" for name in ("any", "count") if name in told]
    options: dict[str, Any] = {f"--{name}": told.get(name) for name in ("where", "given", "by")}
    options |= {"-v": variant, "--players": told["players"] if isinstance(told["players"], int) else None}
    options |= {"-n": setting.deals, "--seed": setting.seed}
    options |= {"--level": None if setting.level == DEFAULT_LEVEL else setting.level}
    return command_line("odds", *told.get("events", []), *flags, *as_options(options))


def _setting(variant: str, players: int | None, deals: int, seed: int | None, threads: int, level: float) -> "Setting":
    """Return what is dealt, checked."""
    from tlsim.rules.ruleset import check_players, deal_of
    from tlsim.rules.variantfiles import parse_variant

    rules = parse_variant(variant)
    players = check_players(rules, None if players is None else whole_number("players", players))
    if not 1 <= whole_number("deals", deals) <= MAX_DEALS:
        raise InputError(f"{deals} deals: it is from 1 to {MAX_DEALS}")
    seed = secrets.randbits(SEED_BITS) if seed is None else whole_number("seed", seed)
    if not -(1 << 63) <= seed < 1 << 64:
        raise InputError(f"seed {seed}: it is a 64-bit integer")
    from tlsim.chances.answers import Setting
    from tlsim.chances.columns import Deck

    decks, cards = deal_of(rules, players)
    return Setting(rules, players, Deck(decks), cards, deals, seed, threads, level)


def _asks(
    events: Sequence[str],
    where: str | None,
    given: str | None,
    by: str | None,
    any_player: bool,
    count_players: bool,
    setting: "Setting",
) -> "list[Ask]":
    """Return what is asked; none for the tables of a rule set."""
    if (any_player or count_players) and (given is not None or by is not None or any_player == count_players):
        raise InputError("odds at the table: any or count, without given and by, which are of one hand")
    if not (events or where is not None or by is not None) and (given is not None or any_player or count_players):
        raise InputError("odds: an event, where or by is needed with given, any or count")
    at_table = "any" if any_player else "count" if count_players else None
    from tlsim.chances import questions, sql
    from tlsim.chances.columns import columns

    known = columns(setting.rules, setting.cards, setting.deck)
    chosen: dict[str, Any] = {}
    numbers: list[Column] = []
    for text in events:
        named = _column(text, known, "event")
        if named.boolean:
            chosen[named.name] = sql.parse(text, known, "event")
        else:
            numbers.append(named)
    if where is not None:
        chosen[where] = sql.parse(where, known, "where")
    condition = None if given is None else sql.parse(given, known, "given")
    column = None if by is None else _column(by, known, "by")
    if numbers and (column is not None or at_table):
        raise InputError(
            f"event {numbers[0].name!r}: it is a number: compare it, as in --where '{numbers[0].name} >= 2'"
        )
    asks = questions.asked(chosen, condition, column, at_table, setting) if chosen or column else []
    return asks + [ask for number in numbers for ask in questions.asked({}, condition, number, None, setting)]


def _column(name: str, known: "dict[str, Column]", what: str) -> "Column":
    found = known.get(name.strip().replace("-", "_"))
    if found is None:
        raise InputError(f"{what} {name!r}: unknown column; {nearest(name, list(known))}")
    return found


# ------------------------------------------------------------------------------------------------ somebody's deals


def check_deals(file: str | Path, variant: str = DEFAULT_VARIANT, alpha: float = DEFAULT_ALPHA) -> "Result":
    """Return tests of the dealt hands in a file against a fair shuffle: uniformity, exact odds, independence of deals.

    `file` has transcripts (RULES.md, section 11), or CSV: a row a deal and a column a seat, or columns `seat` and
    `cards`. The chance that a fair shuffle fails any test is at most `alpha`; the instant wins are those of `variant`.
    `effect` is the least relative one that a test finds nine times in ten, `detectable` says it in words. Raises
    `InputError`.
    """
    if not isinstance(alpha, float) or not 0 < alpha < 1:
        raise InputError(f"alpha {alpha}: it lies between 0 and 1, as {DEFAULT_ALPHA}")
    from tlsim.chances import deal_files
    from tlsim.rules.variantfiles import parse_variant

    rules, dealt = parse_variant(variant), deal_files.read(Path(file))
    from tlsim.chances import deal_check
    from tlsim.engine import bulk, cache
    from tlsim.output.result import Result, provenance

    cache.announce_compiling(bulk.KERNELS, "10 s")
    tests, outliers = deal_check.check(dealt, rules, alpha)
    deals, players = dealt.held.shape[:2]
    plan = {"file": str(file), "deals": deals, "players": players, "cards": dealt.cards, "decks": dealt.decks}
    plan |= {"variant": rules.name, "alpha": alpha}
    line = command_line("check-deals", str(file), *as_options({"-v": variant, "--alpha": alpha}))
    return Result("check-deals", plan, provenance(line), {"tests": tests, "farthest_off": outliers})
