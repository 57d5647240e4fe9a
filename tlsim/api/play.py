"""Many hands, and one: `simulate`, `replay`."""

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tlsim.api.common import (
    DEFAULT_DEALS,
    DEFAULT_LEVEL,
    DEFAULT_POLICY,
    DEFAULT_VARIANT,
    Progress,
    as_options,
    check_level,
    check_threads,
    command_line,
    make_plan,
    match_options,
    plan_options,
    whole_number,
)
from tlsim.errors import InputError

if TYPE_CHECKING:
    from tlsim.output.result import Result
    from tlsim.play.plan import Plan


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
    are by match, and tables by hand, of streaks and of money over a match follow (`stats.match_tables.tables`). `trade`
    is a trading policy in a file, for variants with `trading`; without, the built-in one (`tlsim.engine.trading`).

    Raises `InputError` for what is not allowed, before any work; `PlayFault` when a policy plays what is not legal;
    `Interrupted` at Ctrl-C, with the result of the deals that were done.
    """
    plan = make_plan(variant, policies, deals, seed, players, match, trade)
    threads = check_threads(threads)
    level = check_level(level)
    from tlsim.engine import cache
    from tlsim.play import matches, runner

    cache.announce_compiling(matches.kernels_of(plan) if plan.match else runner.kernels(plan), "10 to 20 s")
    (matches if plan.match else runner).load(plan)  # so that the time is that of the hands
    return _run(plan, variant, level, threads, progress)


def _run(plan: "Plan", variant: str, level: float, threads: int, progress: Progress | None) -> "Result":
    """Return the result of a plan; at Ctrl-C raise `Interrupted` with that of the blocks that are done."""
    from tlsim.stats import tables

    state: tuple[int, Any] | None = None  # deals done, their tally
    finish = partial(_simulated, plan, variant, level, threads, time.perf_counter())
    try:
        with closing(_totals(plan, threads)) as totals:
            for state in totals:
                if progress:
                    progress(state[0], plan.deals, partial(tables.headline, plan, state[1], level))
    except KeyboardInterrupt:
        if state is None:
            raise
        from tlsim.output.result import Interrupted

        raise Interrupted(finish(*state), plan.unit, plan.deals, _simulate_line(plan, variant, level)) from None
    assert state is not None  # there is at least one deal
    return finish(*state)


def _totals(plan: "Plan", threads: int) -> Generator[tuple[int, Any], None, None]:
    """Yield the deals done so far with the tally of all of them, block by block."""
    from tlsim.play import matches, runner

    total: Any = 0
    with closing((matches if plan.match else runner).blocks(plan, threads)) as found:
        for block in found:
            total = total + block.tally
            yield block.stop, total


def _simulated(plan: "Plan", spec: str, level: float, threads: int, began: float, done: int, tally: Any) -> "Result":
    """Return the result of the first `done` deals of a plan: that of the same plan with so many deals."""
    from tlsim.engine import rng
    from tlsim.output.result import Result, provenance
    from tlsim.stats import match_tables, tables

    seconds = time.perf_counter() - began
    plan = replace(plan, deals=done)
    made = provenance(_simulate_line(plan, spec, level), stream=rng.VERSION, threads=threads, seconds=seconds)
    shown = (match_tables if plan.match else tables).tables(plan, tally, level)
    return Result("simulate", plan.as_dict() | {"level": level}, made, shown)


def _simulate_line(plan: "Plan", spec: str, level: float) -> str:
    """Return the command line that runs a plan; `spec` is its variant as given."""
    options = {"-n": plan.deals, **match_options(plan), "--level": None if level == DEFAULT_LEVEL else level}
    return command_line("simulate", *plan_options(plan, spec), *as_options(options))


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
    first, stop = map(
        partial(whole_number, "deal"), deal if isinstance(deal, tuple) else (deal, whole_number("deal", deal) + 1)
    )
    if not 0 <= first < stop:
        raise InputError(f"deals {first}:{stop}: deals count from 0, and the second number is the first one left out")
    plan = make_plan(variant, policies, stop, seed, players, match, trade)
    from tlsim.engine import cache, rng
    from tlsim.output.result import Result, provenance
    from tlsim.play import matches, runner
    from tlsim.stats import tables

    cache.announce_compiling((matches.kernels_of if plan.match else runner.kernels)(plan, shown=True), "10 to 20 s")
    hands = list((matches if plan.match else runner).hands(plan, first, stop))
    shown = plan.as_dict() | {plan.unit: [first, stop]}
    line = command_line(
        "replay", *plan_options(plan, variant), *as_options({"--deal": f"{first}:{stop}", **match_options(plan)})
    )
    made = provenance(line, stream=rng.VERSION)
    return Result("replay", shown, made, tables.hand_tables(plan, hands), {"hands": hands}, plan.rules)
