"""What all commands check, and how they are written as a command line."""

import operator
import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tlsim.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from tlsim.play.plan import Plan


DEFAULT_VARIANT = "southern"
DEFAULT_POLICY = "lowest"
DEFAULT_DEALS = 1_000_000
DEFAULT_LEVEL = 0.95
SEED_BITS = 53  # of a drawn seed: what every reader of JSON keeps exactly

Progress = Callable[[int, int, Callable[[], str]], None]
"""Told the deals (or matches) done, those asked for, and a function that returns the current estimate as text."""


def make_plan(
    variant: str,
    policies: str | Sequence[str],
    deals: int,
    seed: int | None,
    players: int | None,
    match: int | None = None,
    trade: str | None = None,
) -> "Plan":
    """Return the checked plan; a seed is drawn when there is none."""
    from tlsim.plugins.load import parse_policies, parse_trading
    from tlsim.rules.ruleset import check_players
    from tlsim.rules.variantfiles import parse_variant

    rules = parse_variant(variant)
    deals = whole_number("deals", deals)
    players = check_players(rules, None if players is None else whole_number("players", players))
    chosen = parse_policies([policies] if isinstance(policies, str) else list(policies), players)
    match = None if match is None else whole_number("match", match)
    if deals < 1:
        raise InputError(f"{deals} {'deals' if match is None else 'matches'}: at least 1 is needed")
    from tlsim.play.plan import Plan

    seed = secrets.randbits(SEED_BITS) if seed is None else whole_number("seed", seed)
    return Plan(rules, players, tuple(chosen), deals, seed, match, None if trade is None else parse_trading(trade))


def match_options(plan: "Plan") -> dict[str, Any]:
    """Return the options of a plan of matches, and its trading policy."""
    return {"--match": plan.match, "--trade": plan.trade and plan.trade.name}


def whole_number(name: str, value: Any) -> int:
    """Return a whole number as a plain `int`, also from NumPy's; refuse anything else."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise InputError(f"{name} = {value!r}: it is a whole number") from None


def check_level(level: float) -> float:
    """Return the level of intervals; raise `InputError` unless it lies between 0 and 1."""
    if not isinstance(level, float) or not 0 < level < 1 or (1 + level) / 2 == 1:  # a share that is no 1 in binary
        raise InputError(f"level {level}: it lies between 0 and 1, as 0.95")
    return level


def check_threads(threads: int | None) -> int:
    """Return the number of threads, all cores for `None`; raise `InputError` for fewer than 1."""
    from tlsim.play.machine import n_cores

    threads = None if threads is None else whole_number("threads", threads)
    if threads is not None and threads < 1:
        raise InputError(f"{threads} threads: at least 1 is needed; this machine has {n_cores()} cores")
    return threads or n_cores()


def make_table(columns: str | Sequence[str], rows: Iterable[Sequence[Any]]) -> "pl.DataFrame":
    """Return a frame of rows; a column without values holds text."""
    import polars as pl

    names = columns.split() if isinstance(columns, str) else columns
    found = list(rows)
    return pl.DataFrame(found, names, orient="row") if found else pl.DataFrame(schema=dict.fromkeys(names, pl.String))


def command_line(*words: str) -> str:
    """Return a command line of `tlsim`, quoted for a shell."""
    return shlex.join(("tlsim", *words))


def as_options(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of a command line, without those that are `None`."""
    return [word for name, value in options.items() if value is not None for word in (name, str(value))]


def plan_options(plan: "Plan", spec: str) -> list[str]:
    """Return the options that name the rules, policies and seed of a plan; `spec` is its variant as given."""
    names = [policy.name for policy in plan.policies]
    words = [word for name in (names[:1] if len(set(names)) == 1 else names) for word in ("-p", name)]
    return ["-v", spec, *words, "--players", str(plan.players), "--seed", str(plan.seed)]
