"""The machine at hand: `doctor`, `warmup`, `bench`."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tlsim.api.common import DEFAULT_POLICY, command_line, make_plan, make_table, real_number
from tlsim.errors import InputError, brief

if TYPE_CHECKING:
    import polars as pl

    from tlsim.output.result import Result
    from tlsim.play.speed import Rate


DEFAULT_SECONDS = 6.0  # of `bench`
_MOST_SECONDS = 3600
BENCH_VARIANT = "southern,instant_wins=none,opening_instant_wins=none"


def doctor() -> "Result":
    """Return versions, processor, cache and cores of this machine, and what is wrong with it and what to do.

    Examples
    --------
    >>> import tlsim
    >>> list(tlsim.doctor().tables)
    ['machine', 'problems']
    """
    from tlsim.output.result import Result, provenance
    from tlsim.play import machine

    tables = {
        "machine": make_table("item value", machine.facts()),
        "problems": make_table(["problem", "what to do"], machine.problems()),
    }
    return Result("doctor", {}, provenance(command_line("doctor")), tables)


def warmup() -> "Result":
    """Return where the compiled engine is, and how many seconds it took to compile it, or to load it if it was.

    Examples
    --------
    >>> import tlsim
    >>> tlsim.warmup().tables["warmup"].columns
    ['engine', 'seconds', 'folder']
    """
    began = time.perf_counter()
    from tlsim import kit
    from tlsim.engine import bulk, cache, calls, deal_counts
    from tlsim.output.result import Result, provenance
    from tlsim.play import machine, matches, runner

    was_compiled = cache.is_compiled(machine.all_kernels())
    cache.announce_compiling(machine.all_kernels(), "80 s")
    for module in (runner, matches, bulk, deal_counts, kit, calls):
        module.warm_up()
    folder = str(cache.CACHE_FOLDER or "none: compiled in memory, for this process only")
    row = ("loaded" if was_compiled else "compiled", time.perf_counter() - began, folder)
    tables = {"warmup": make_table("engine seconds folder", [row])}
    return Result("warmup", {}, provenance(command_line("warmup")), tables)


def bench(*, seconds: float = DEFAULT_SECONDS) -> "Result":
    """Return how fast this machine is: the stages of a run, and whole runs of each built-in policy, on one thread.

    Rates are per second of CPU time, each the median of some samples taken in turns, with the lowest and the highest.
    The rules are `southern` without instant wins, so that every hand is played out; the stages are those of the policy
    `lowest`.

    Parameters
    ----------
    seconds
        About how long the samples take in all.

    Raises
    ------
    InputError
        For a time that is not positive, or more than an hour.

    Examples
    --------
    >>> import tlsim
    >>> list(tlsim.bench(seconds=0.01).tables)
    ['stages', 'policies']
    """
    number = real_number(seconds)
    if number is None or not 0 < number <= _MOST_SECONDS:
        raise InputError(f"seconds must be more than 0 and at most {_MOST_SECONDS:,}, got {brief(seconds)}")
    from tlsim.engine import cache
    from tlsim.output.result import Result, provenance
    from tlsim.play import speed
    from tlsim.plugins.load import builtin_names
    from tlsim.stats import tables

    plans = [make_plan(BENCH_VARIANT, name, deals=1, seed=1) for name in builtin_names()]
    cache.announce_compiling(speed.KERNELS, "30 s")
    stages = speed.stages(make_plan(BENCH_VARIANT, DEFAULT_POLICY, deals=1, seed=1), tables.tables)
    rates = speed.take_turns([*stages, *speed.runs(plans, tables.tables)], seconds)
    plan = {"variant": BENCH_VARIANT, "players": plans[0].players, "policy": DEFAULT_POLICY}
    plan |= {"seconds": seconds, "samples": speed.ROUNDS, "threads": 1}
    origin = provenance(command_line("bench", options={"--seconds": f"{seconds:g}"}))
    return Result("bench", plan, origin, _bench_tables(rates[: len(stages)], rates[len(stages) :]))


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
