"""The commands as functions: each checks everything, then works, and returns a `Result`.

What a function needs is imported inside it, so that `tlsim variants` does not wait for Numba.
"""

import operator
import secrets
import shlex
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tlsim.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from tlsim.batch import Plan
    from tlsim.result import Result
    from tlsim.rules import Rules
    from tlsim.speed import Rate

DEFAULT_VARIANT = "southern"
DEFAULT_POLICY = "lowest"
DEFAULT_DEALS = 1_000_000
DEFAULT_LEVEL = 0.95
DEFAULT_SECONDS = 6.0  # of `bench`
_MOST_SECONDS = 3600
BENCH_VARIANT = "southern,instant_wins=none,opening_instant_wins=none"
_SEED_BITS = 53  # of a drawn seed: what every reader of JSON keeps exactly

Progress = Callable[[int, int, Callable[[], str]], None]
"""Told the deals (or matches) done, those asked for, and a function that returns the current estimate as text."""


# ------------------------------------------------------------------------------------------------ many hands


def simulate(
    variant: str = DEFAULT_VARIANT,
    policies: str | Sequence[str] = DEFAULT_POLICY,
    deals: int = DEFAULT_DEALS,
    seed: int | None = None,
    players: int | None = None,
    threads: int | None = None,
    level: float = DEFAULT_LEVEL,
    progress: Progress | None = None,
    match: int | None = None,
    trade: str | None = None,
) -> "Result":
    """Return tables of win rates, places, payoffs, lengths, chops and instant wins over many hands.

    `variant` is a built-in variant or a TOML file, with changes (`southern,pass_locks=no`); `policies` one for all
    seats, or one a seat: when they differ, each deal is played in every distinct seating. `seed` is any 64-bit integer,
    drawn when `None`; `players` four where the variant allows it; `threads` all cores, and never changes the result.
    `level` is that of the intervals, between 0 and 1. `progress` is called after each block of deals.

    With `match` so many hands are played in sequence by the same seats, with carry-over: `deals` counts matches, errors
    are by match, and tables by hand, of streaks and of money over a match follow (`tlsim.matchtables.tables`). `trade`
    is a trading policy in a file, for variants with `trading`; without, the built-in one (`tlsim.trading`).

    Raises `InputError` for what is not allowed, before any work; `PlayFault` when a policy plays what is not legal;
    `Interrupted` at Ctrl-C, with the result of the deals that were done.
    """
    plan = _plan(variant, policies, deals, seed, players, match, trade)
    threads = _check_threads(threads)
    level = _check_level(level)
    from tlsim import _jit, batch, matches

    _jit.announce_compiling(matches.kernels_of(plan) if plan.match else batch.kernels(plan), "10 to 20 s")
    (matches if plan.match else batch).load(plan)  # so that the time is that of the hands
    return _run(plan, variant, level, threads, progress)


def _run(plan: "Plan", variant: str, level: float, threads: int, progress: Progress | None) -> "Result":
    """Return the result of a plan; at Ctrl-C raise `Interrupted` with that of the blocks that are done."""
    from tlsim import summary

    state: tuple[int, Any] | None = None  # deals done, their tally
    finish = partial(_simulated, plan, variant, level, threads, time.perf_counter())
    try:
        with closing(_totals(plan, threads)) as totals:
            for state in totals:
                if progress:
                    progress(state[0], plan.deals, partial(summary.headline, plan, state[1], level))
    except KeyboardInterrupt:
        if state is None:
            raise
        from tlsim.result import Interrupted

        raise Interrupted(finish(*state), plan.unit, plan.deals, _simulate_line(plan, variant, level)) from None
    assert state is not None  # there is at least one deal
    return finish(*state)


def _totals(plan: "Plan", threads: int) -> Generator[tuple[int, Any], None, None]:
    """Yield the deals done so far with the tally of all of them, block by block."""
    from tlsim import batch, matches

    total: Any = 0
    with closing((matches if plan.match else batch).blocks(plan, threads)) as found:
        for block in found:
            total = total + block.tally
            yield block.stop, total


def _simulated(plan: "Plan", spec: str, level: float, threads: int, began: float, done: int, tally: Any) -> "Result":
    """Return the result of the first `done` deals of a plan: that of the same plan with so many deals."""
    from tlsim import matchtables, rng, summary
    from tlsim.result import Result, provenance

    seconds = time.perf_counter() - began
    plan = replace(plan, deals=done)
    made = provenance(_simulate_line(plan, spec, level), stream=rng.VERSION, threads=threads, seconds=seconds)
    tables = (matchtables if plan.match else summary).tables(plan, tally, level)
    return Result("simulate", plan.as_dict() | {"level": level}, made, tables)


def _simulate_line(plan: "Plan", spec: str, level: float) -> str:
    """Return the command line that runs a plan; `spec` is its variant as given."""
    options = {"-n": plan.deals, **_match_options(plan), "--level": None if level == DEFAULT_LEVEL else level}
    return _line("simulate", *_plan_options(plan, spec), *_options(options))


def replay(
    variant: str = DEFAULT_VARIANT,
    policies: str | Sequence[str] = DEFAULT_POLICY,
    seed: int | None = None,
    deal: int | tuple[int, int] = 0,
    players: int | None = None,
    match: int | None = None,
    trade: str | None = None,
) -> "Result":
    """Return the hands of a deal, or of the deals `(first, stop)`, of the run that `simulate` makes of the arguments.

    With `match` these are matches of so many hands. The result prints as readable text; `extra["hands"]` holds the
    transcripts (RULES.md, section 11); the table `seats` has a row a hand and seat, `turns` a row a play or pass.

    Raises `InputError` and `PlayFault`.
    """
    if isinstance(deal, tuple) and len(deal) != 2:
        raise InputError(f"deal = {deal!r}: it is a number, or the first and the stop of a range")
    first, stop = map(partial(_whole, "deal"), deal if isinstance(deal, tuple) else (deal, _whole("deal", deal) + 1))
    if not 0 <= first < stop:
        raise InputError(f"deals {first}:{stop}: deals count from 0, and the second number is the first one left out")
    plan = _plan(variant, policies, stop, seed, players, match, trade)
    from tlsim import _jit, batch, matches, rng, summary
    from tlsim.result import Result, provenance

    _jit.announce_compiling((matches.kernels_of if plan.match else batch.kernels)(plan, shown=True), "10 to 20 s")
    hands = list((matches if plan.match else batch).hands(plan, first, stop))
    shown = plan.as_dict() | {plan.unit: [first, stop]}
    line = _line(
        "replay", *_plan_options(plan, variant), *_options({"--deal": f"{first}:{stop}", **_match_options(plan)})
    )
    made = provenance(line, stream=rng.VERSION)
    return Result("replay", shown, made, summary.hand_tables(plan, hands), {"hands": hands}, plan.rules)


# ------------------------------------------------------------------------------------------------ cards


_HAND_FACTS = ("instant_win", "opening_instant_win", "legal_leads", "fewest_plays")


def hand(cards: str | Sequence[str], variant: str = DEFAULT_VARIANT) -> "Result":
    """Return what a hand holds: combinations by kind, chops, instant wins, legal leads, fewest plays to shed it.

    Among all hands of its size: `percentiles`, by fewest plays and by strength, and `rarity` of what it holds.
    """
    rules, held = _hand(cards, variant)
    from tlsim import _jit, handodds, handsample, legal
    from tlsim.cards import names
    from tlsim.result import Result, provenance

    _jit.announce_compiling([*legal.KERNELS, *handsample.KERNELS], "10 s")
    found = legal.describe_hand(rules, held)
    chops = [(name, count, " ".join(names(play))) for name, count, play in found["chops"]]
    tables = {
        "hand": _table(["cards", *_HAND_FACTS], [[held.bit_count(), *(found[name] for name in _HAND_FACTS)]]),
        "combinations": _table("kind count", found["combinations"].items()),
        "percentiles": handodds.percentiles(rules, held, 1, DEFAULT_LEVEL),
        "rarity": handodds.rarity(rules, held),
        "chops": _table("chop count lowest", chops),
    }
    plan = {"variant": rules.name, "hand": names(held)}
    return Result("hand", plan, provenance(_line("hand", *names(held), "-v", variant)), tables)


def moves(
    cards: str | Sequence[str],
    on: str | Sequence[str] | None = None,
    opening: bool = False,
    variant: str = DEFAULT_VARIANT,
) -> "Result":
    """Return every legal play of a hand: to lead, or on the play `on`.

    With `opening` the lead must respect the hand's lowest card as the variant's `first_lead` says. `extra` holds the
    plays as lists of cards (`moves`) and whether passing is legal (`pass`).
    """
    rules, held = _hand(cards, variant)
    pile = 0 if on is None else _cards(on)
    if pile and opening:
        raise InputError("opening is about the first lead: there is no play to beat then")
    from tlsim import _jit, legal
    from tlsim.cards import names
    from tlsim.result import Result, provenance

    _jit.announce_compiling(legal.MOVES, "5 s")

    plays = legal.moves(rules, held, pile, opening)
    rows = [(" ".join(names(play)), *(legal.describe(rules, play) or ("", 0))) for play in plays]
    plan = {"variant": rules.name, "hand": names(held), "on": names(pile), "opening": opening}
    line = _line("moves", *names(held), *_options({"--on": " ".join(names(pile)) or None, "-v": variant}))
    may_pass = bool(pile) and not (rules.must_play and plays)
    extra = {"moves": [names(play) for play in plays], "pass": may_pass}
    made = provenance(line + (" --opening" if opening else ""))
    return Result("moves", plan, made, {"moves": _table("cards kind length", rows)}, extra)


def _hand(cards: str | Sequence[str], variant: str) -> "tuple[Rules, int]":
    """Return checked rules and hand."""
    from tlsim.rules import deal_of, player_counts
    from tlsim.variantfiles import parse_variant

    rules, held = parse_variant(variant), _cards(cards)
    most = max(deal_of(rules, players)[1] for players in player_counts(rules))
    if held.bit_count() > most:
        raise InputError(f"{held.bit_count()} cards: a hand of {rules.name} has at most {most}")
    return rules, held


def _cards(cards: str | Sequence[str]) -> int:
    from tlsim.cards import parse_hand

    return parse_hand(cards if isinstance(cards, str) else " ".join(cards))


# ------------------------------------------------------------------------------------------------ what there is


def variants(name: str | None = None, diff: tuple[str, str] | None = None) -> "Result":
    """Return the list of built-in variants; the rules of the variant `name`; or where the two of `diff` differ.

    The result of a variant writes it as a TOML file: `tlsim.variants("southern,pass_locks=no").to_toml()`.
    """
    from tlsim import rules, variantfiles
    from tlsim.result import Result, provenance

    if name is not None and diff is not None:
        raise InputError("variants: give a name, or two to compare, not both")
    if diff is not None:
        a, b = (variantfiles.parse_variant(spec) for spec in diff)
        if diff[0] == diff[1]:
            raise InputError(f"variants: {diff[0]} is given twice: two to compare are needed")
        tables = {"differences": _table(["rule", *diff], variantfiles.differences(a, b))}
        return Result("variants", {"diff": list(diff)}, provenance(_line("variants", "--diff", *diff)), tables)
    if name is not None:
        chosen = variantfiles.parse_variant(name)
        plan = {"variant": chosen.name, "summary": chosen.summary}
        made = provenance(_line("variants", name))
        tables = {name: _table(*table) for name, table in variantfiles.rule_book(chosen).items()}
        return Result("variants", plan, made, tables, rules=chosen)
    known = [variantfiles.builtin(known) for known in variantfiles.builtin_names()]
    rows = [(one.name, rules.span(rules.player_counts(one)), one.cards, one.summary) for one in known]
    tables = {"variants": _table("variant players cards summary", rows)}
    return Result("variants", {}, provenance(_line("variants")), tables)


def policies(spec: str | None = None) -> "Result":
    """Return the built-in policies with a line each, or the policy that `spec` names."""
    from tlsim.policies.load import builtin_names, parse_policy
    from tlsim.result import Result, provenance

    chosen = [parse_policy(name) for name in ([spec] if spec is not None else builtin_names())]
    _ = [policy.address for policy in chosen]  # what cannot be compiled is said now
    rows = [(policy.name, policy.summary) for policy in chosen]
    line = _line("policies", *([spec] if spec is not None else []))
    return Result("policies", {"policy": spec}, provenance(line), {"policies": _table("policy summary", rows)})


def include_folder() -> str:
    """Return the folder that holds `tlsim.h`, the header for policies in C."""
    from tlsim.policies.header import PATH

    return str(PATH.parent)


# ------------------------------------------------------------------------------------------------ this machine


def doctor() -> "Result":
    """Return versions, processor, cache and cores of this machine, and what is wrong with it and what to do."""
    from tlsim import machine
    from tlsim.result import Result, provenance

    tables = {
        "machine": _table("item value", machine.facts()),
        "problems": _table(["problem", "what to do"], machine.problems()),
    }
    return Result("doctor", {}, provenance(_line("doctor")), tables)


def warmup() -> "Result":
    """Return where the compiled engine is and how long it took to compile it, or to load it if it was."""
    began = time.perf_counter()
    from tlsim import _calls, _jit, batch, dealcount, handsample, kit, machine, matches
    from tlsim.result import Result, provenance

    was_compiled = _jit.is_compiled(machine.all_kernels())
    _jit.announce_compiling(machine.all_kernels(), "80 s")
    for module in (batch, matches, handsample, dealcount, kit, _calls):
        module.warm_up()
    folder = str(_jit.CACHE_FOLDER or "none: compiled in memory, for this process only")
    row = ("loaded" if was_compiled else "compiled", time.perf_counter() - began, folder)
    return Result("warmup", {}, provenance(_line("warmup")), {"warmup": _table("engine seconds folder", [row])})


def bench(seconds: float = DEFAULT_SECONDS) -> "Result":
    """Return how fast this machine is: the stages of a run, and whole runs of each built-in policy, on one thread.

    Rates are per second of CPU time, each the median of some samples taken in turns, with the lowest and the highest.
    `seconds` is about how long the samples take in all. The rules are `southern` without instant wins, so that every
    hand is played out; the stages are those of the policy `lowest`.
    """
    if not 0 < seconds <= _MOST_SECONDS:
        raise InputError(f"{seconds:g} seconds: more than 0 and at most {_MOST_SECONDS} are possible")
    from tlsim import _jit, speed, summary
    from tlsim.policies.load import builtin_names
    from tlsim.result import Result, provenance

    plans = [_plan(BENCH_VARIANT, name, 1, 1, None) for name in builtin_names()]
    _jit.announce_compiling(speed.KERNELS, "30 s")
    stages = speed.stages(_plan(BENCH_VARIANT, DEFAULT_POLICY, 1, 1, None), summary.tables)
    rates = speed.take_turns([*stages, *speed.runs(plans, summary.tables)], seconds)
    shown = {"variant": BENCH_VARIANT, "players": plans[0].players, "policy": DEFAULT_POLICY}
    shown |= {"seconds": seconds, "samples": speed.ROUNDS, "threads": 1}
    made = provenance(_line("bench", "--seconds", f"{seconds:g}"))
    return Result("bench", shown, made, _bench_tables(rates[: len(stages)], rates[len(stages) :]))


def _bench_tables(stages: "Sequence[Rate]", runs: "Sequence[Rate]") -> "dict[str, pl.DataFrame]":
    """Return a row a stage, and a row a policy."""
    import polars as pl

    rows = [
        {"stage": rate.measure.name, "does": rate.measure.does, "unit": rate.measure.unit, **rate.as_row()}
        for rate in stages
    ]
    games = [{"policy": rate.measure.name, **rate.as_row()} for rate in runs]
    policies = pl.DataFrame(games).rename({"per_second": "games_per_second"})
    each = (pl.col("decisions_per_second") / pl.col("games_per_second")).round(1).alias("decisions_per_game")
    return {"stages": pl.DataFrame(rows), "policies": policies.with_columns(each)}


# ------------------------------------------------------------------------------------------------ common


def _plan(
    variant: str,
    policies: str | Sequence[str],
    deals: int,
    seed: int | None,
    players: int | None,
    match: int | None = None,
    trade: str | None = None,
) -> "Plan":
    """Return the checked plan; a seed is drawn when there is none."""
    from tlsim.policies.load import parse_policies, parse_trading
    from tlsim.rules import check_players
    from tlsim.variantfiles import parse_variant

    rules = parse_variant(variant)
    deals = _whole("deals", deals)
    players = check_players(rules, None if players is None else _whole("players", players))
    chosen = parse_policies([policies] if isinstance(policies, str) else list(policies), players)
    match = None if match is None else _whole("match", match)
    if deals < 1:
        raise InputError(f"{deals} {'deals' if match is None else 'matches'}: at least 1 is needed")
    from tlsim.batch import Plan  # brings Numba along, so late

    seed = secrets.randbits(_SEED_BITS) if seed is None else _whole("seed", seed)
    return Plan(rules, players, tuple(chosen), deals, seed, match, None if trade is None else parse_trading(trade))


def _match_options(plan: "Plan") -> dict[str, Any]:
    return {"--match": plan.match, "--trade": plan.trade and plan.trade.name}


def _whole(name: str, value: Any) -> int:
    """Return a whole number as a plain `int`, also from NumPy's; refuse anything else."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise InputError(f"{name} = {value!r}: it is a whole number") from None


def _check_level(level: float) -> float:
    if not isinstance(level, float) or not 0 < level < 1 or (1 + level) / 2 == 1:  # a share that is no 1 in binary
        raise InputError(f"level {level}: it lies between 0 and 1, as 0.95")
    return level


def _check_threads(threads: int | None) -> int:
    from tlsim.machine import n_cores

    threads = None if threads is None else _whole("threads", threads)
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads: at least 1 is needed; this machine has {n_cores()} cores")
    return threads or n_cores()


def _table(columns: str | Sequence[str], rows: Iterable[Sequence[Any]]) -> "pl.DataFrame":
    """Return a frame of rows; a column without values holds text."""
    import polars as pl

    names = columns.split() if isinstance(columns, str) else columns
    found = list(rows)
    return pl.DataFrame(found, names, orient="row") if found else pl.DataFrame(schema=dict.fromkeys(names, pl.String))


def _line(*words: str) -> str:
    return shlex.join(("tlsim", *words))


def _options(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of a command line, without those that are `None`."""
    return [word for name, value in options.items() if value is not None for word in (name, str(value))]


def _plan_options(plan: "Plan", spec: str) -> list[str]:
    """Return the options that name the rules, policies and seed of a plan; `spec` is its variant as given."""
    names = [policy.name for policy in plan.policies]
    words = [word for name in (names[:1] if len(set(names)) == 1 else names) for word in ("-p", name)]
    return ["-v", spec, *words, "--players", str(plan.players), "--seed", str(plan.seed)]
