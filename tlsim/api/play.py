"""Hands from a seed: `simulate`, `replay`."""

import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tlsim.api.common import (
    DEFAULT_DEALS,
    DEFAULT_LEVEL,
    DEFAULT_POLICY,
    DEFAULT_VARIANT,
    Progress,
    check_level,
    check_progress,
    check_threads,
    command_line,
    level_option,
    make_plan,
    plan_of_variant,
    run_options,
    whole_number,
)
from tlsim.errors import InputError, brief

if TYPE_CHECKING:
    from types import ModuleType

    from tlsim.output.result import Result
    from tlsim.play.plan import Plan
    from tlsim.rules.variantfiles import VariantSpec


def simulate(
    variant: "VariantSpec" = DEFAULT_VARIANT,
    policies: str | Sequence[str] = DEFAULT_POLICY,
    *,
    players: int | None = None,
    deals: int = DEFAULT_DEALS,
    seed: int | None = None,
    threads: int | None = None,
    level: float = DEFAULT_LEVEL,
    match: int | None = None,
    trade: str | None = None,
    progress: Progress | None = None,
) -> "Result":
    """Return tables of win rates, places, payoffs, lengths, chops and instant wins over many hands.

    Parameters
    ----------
    variant
        A built-in variant or a TOML file, with changes: `southern,pass_locks=no`.
    policies
        One for all seats, or one a seat: when they differ, each deal is played in every distinct seating.
    players
        Players at the table; without, four where the variant allows it.
    deals
        Deals, or with `match` matches, 1 to 10^15.
    seed
        Any 64-bit integer; without, one is drawn, and stored in the plan of the result.
    threads
        Without, all cores. The result does not depend on it.
    level
        The level of the intervals, between 0 and 1.
    match
        Hands a match, played in sequence by the same seats with carry-over. Errors are then by match, and tables by
        hand, of streaks and of money over a match follow.
    trade
        A trading policy in a file, for variants with `trading`; without, the built-in one.
    progress
        A function that is called after each block of deals.

    Raises
    ------
    InputError
        For what is not allowed, before any work.
    PlayFault
        When a policy plays what is not legal.
    Interrupted
        At Ctrl-C, with the result of the deals that were played.

    Examples
    --------
    >>> import tlsim
    >>> result = tlsim.simulate("southern", "lowest", deals=2000, seed=1)
    >>> result.plan["players"]
    4
    """
    check_progress(progress)
    plan = make_plan(variant, policies, deals=deals, seed=seed, players=players, match=match, trade=trade)
    plan.check_sums()
    run = _Run(plan, variant, check_level(level), check_threads(threads))
    _announce_compiling(plan, shown=False)
    _game_of(plan).load(plan)  # so that the time is that of the hands
    return run.play(progress)


def _game_of(plan: "Plan") -> "ModuleType":
    """Return the module that plays a plan: deals each of its own, or matches."""
    from tlsim.play import matches, runner

    return matches if plan.match else runner


def _announce_compiling(plan: "Plan", *, shown: bool) -> None:
    """Say that the engine is compiled, if it must be; `shown` is for hands that are looked at."""
    from tlsim.engine import cache
    from tlsim.play import matches, runner

    kernels = matches.kernels_of if plan.match else runner.kernels
    cache.announce_compiling(kernels(plan, shown=shown), "10 to 20 s")


@dataclass(frozen=True, slots=True)
class _Run:
    """A plan, and what its result depends on beside it."""

    plan: "Plan"
    variant: "VariantSpec"  # as given
    level: float
    threads: int

    def play(self, progress: Progress | None) -> "Result":
        """Return the result of the plan; at Ctrl-C raise `Interrupted` with that of the blocks that are played."""
        from tlsim.stats import tables

        began = time.perf_counter()
        deals, tally = 0, None
        try:
            with closing(self._totals()) as totals:
                for deals, tally in totals:
                    if progress:
                        progress(deals, self.plan.deals, partial(tables.headline, self.plan, tally, self.level))
        except KeyboardInterrupt:
            if tally is None:
                raise
            from tlsim.output.result import Interrupted

            result = self._result(deals, tally, time.perf_counter() - began)
            raise Interrupted(result, self.plan.unit, self.plan.deals, self.command()) from None
        return self._result(deals, tally, time.perf_counter() - began)

    def command(self) -> str:
        """Return the command line of the run."""
        options = run_options(self.plan, self.variant, {"-n": self.plan.deals}) | level_option(self.level)
        return command_line("simulate", options=options)

    def _totals(self) -> Generator[tuple[int, Any], None, None]:
        """Yield the deals played so far with the tally of all of them, block by block."""
        total: Any = 0
        with closing(_game_of(self.plan).blocks(self.plan, self.threads)) as blocks:
            for block in blocks:
                total = total + block.tally
                yield block.stop, total

    def _result(self, deals: int, tally: Any, seconds: float) -> "Result":
        """Return the result of the first deals of the plan: that of the same plan with so many deals."""
        from tlsim.engine import rng
        from tlsim.output.result import Result, provenance
        from tlsim.stats import match_tables, tables

        run = replace(self, plan=replace(self.plan, deals=deals))
        origin = provenance(run.command(), stream=rng.VERSION, threads=self.threads, seconds=seconds)
        make_tables = match_tables.tables if self.plan.match else tables.tables
        plan = plan_of_variant(self.plan.rules, self.variant) | run.plan.as_dict() | {"level": self.level}
        return Result("simulate", plan, origin, make_tables(run.plan, tally, self.level))


def replay(
    variant: "VariantSpec" = DEFAULT_VARIANT,
    policies: str | Sequence[str] = DEFAULT_POLICY,
    *,
    players: int | None = None,
    deal: int | tuple[int, int] = 0,
    seed: int | None = None,
    match: int | None = None,
    trade: str | None = None,
) -> "Result":
    """Return hands of the run that `simulate` makes of the same arguments.

    The result prints as readable text. Its `extra["hands"]` holds the transcripts (docs/rules.md, section 11); the
    table `seats` has a row a hand and seat, `turns` a row a play or pass.

    Parameters
    ----------
    variant, policies, players, seed, match, trade
        As of `simulate`.
    deal
        A deal, counted from 0, or `(first, stop)` for the deals `first` to `stop - 1`. With `match` these are matches.

    Raises
    ------
    InputError
        For what is not allowed, before any work.
    PlayFault
        When a policy plays what is not legal.

    Examples
    --------
    >>> import tlsim
    >>> hand = tlsim.replay("southern", "lowest", seed=1, deal=17).extra["hands"][0]
    >>> hand["plays"][0]
    {'player': 0, 'cards': ['3S']}
    """
    first, stop = _range_of(deal)
    plan = make_plan(variant, policies, deals=stop, seed=seed, players=players, match=match, trade=trade)
    from tlsim.engine import rng
    from tlsim.output.result import Result, provenance
    from tlsim.stats import tables

    _announce_compiling(plan, shown=True)
    hands = list(_game_of(plan).hands(plan, first, stop))
    line = command_line("replay", options=run_options(plan, variant, {"--deal": f"{first}:{stop}"}))
    origin = provenance(line, stream=rng.VERSION)
    plan_of_hands = plan_of_variant(plan.rules, variant) | plan.as_dict() | {plan.unit: [first, stop]}
    return Result("replay", plan_of_hands, origin, tables.hand_tables(plan, hands), {"hands": hands}, plan.rules)


def _range_of(deal: int | tuple[int, int]) -> tuple[int, int]:
    """Return the first deal, and the one after the last."""
    if isinstance(deal, tuple):
        if len(deal) != 2:
            raise InputError(
                f"deal must be a number, or the first and the stop of a range, got {brief(repr(deal))[1:-1]}"
            )
        first, stop = (whole_number("deal", end) for end in deal)
    else:
        first = whole_number("deal", deal)
        stop = first + 1
    if not 0 <= first < stop:
        raise InputError(
            f"deals count from 0, and a range stops before its second number, got {brief(first)}:{brief(stop)}"
        )
    return first, stop
