"""What the functions share: defaults, checks of arguments, and the command line that does the same."""

import numbers
import operator
import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, cast

from tlsim.errors import InputError, brief

if TYPE_CHECKING:
    import polars as pl

    from tlsim.play.plan import Plan
    from tlsim.rules.ruleset import Rules
    from tlsim.rules.variantfiles import VariantSpec

DEFAULT_VARIANT = "southern"
DEFAULT_POLICY = "lowest"
DEFAULT_DEALS = 1_000_000
DEFAULT_LEVEL = 0.95
SEED_BITS = 53  # of a drawn seed: what every reader of JSON keeps exactly

Progress = Callable[[int, int, Callable[[], str]], None]
"""A function of the deals (or matches) played, those asked for, and a function that returns the estimate so far."""


# ------------------------------------------------------------------------------------------------ plans


def make_plan(
    variant: "VariantSpec",
    policies: str | Sequence[str],
    *,
    deals: int,
    seed: int | None = None,
    players: int | None = None,
    match: int | None = None,
    trade: str | None = None,
) -> "Plan":
    """Return the checked plan; a seed is drawn when there is none.

    What needs no engine is checked first: it takes a second to load.
    """
    from tlsim.rules.ruleset import check_players
    from tlsim.rules.variantfiles import parse_variant

    rules = parse_variant(variant)
    deals = whole_number("deals", deals)
    players = check_players(rules, whole_number_or_none("players", players))
    match = whole_number_or_none("match", match)
    seed = choose_seed(seed)
    from tlsim.play.plan import Plan
    from tlsim.plugins.load import parse_policies, parse_trading

    seated = parse_policies(as_texts("policies", policies), players)
    trading = None if trade is None else parse_trading(as_text("trade", trade))
    return Plan(rules, players, tuple(seated), deals, seed, match, trading)


def choose_seed(seed: int | None) -> int:
    """Return a seed as a plain `int`, one that is drawn for `None`."""
    if seed is None:
        return secrets.randbits(SEED_BITS)
    seed = whole_number("seed", seed)
    if not -(1 << 63) <= seed < 1 << 64:
        raise InputError(f"seed must be a 64-bit integer, got {brief(seed)}")
    return seed


def plan_of_variant(rules: "Rules", variant: "VariantSpec") -> dict[str, Any]:
    """Return what the plan of a result says of its variant: for one of a file also its rules and their hash."""
    from tlsim.rules.variantfiles import as_plain_data, digest, is_of_file

    if not is_of_file(variant):
        return {"variant": rules.name}
    return {"variant": rules.name, "rules": {"sha256": digest(rules), **as_plain_data(rules)}}


# ------------------------------------------------------------------------------------------------ numbers


def whole_number(name: str, value: Any) -> int:
    """Return a whole number as a plain `int`, also from NumPy's, and from `1e4`; refuse anything else."""
    number = real_number(value)
    if number is None or (isinstance(number, float) and not number.is_integer()):
        raise InputError(f"{name} must be a whole number, got {_in_quotes(value)}")
    return int(number)


def real_number(value: Any) -> int | float | None:
    """Return a number as Python's own `int` or `float`, `None` for what is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    try:
        return operator.index(cast(Any, value))
    except TypeError:
        return float(value)


def whole_number_or_none(name: str, value: Any) -> int | None:
    """Return `None` for `None`, else what `whole_number` does."""
    return None if value is None else whole_number(name, value)


def share(name: str, value: Any, default: float) -> float:
    """Return a number between 0 and 1 as a plain `float`; raise `InputError` for anything else."""
    number = real_number(value)
    if number is None or not 0 < number < 1:
        raise InputError(f"{name} must lie between 0 and 1, as {default}, got {_in_quotes(value)}")
    return float(number)


def check_level(level: float) -> float:
    """Return the level of intervals; raise `InputError` unless it lies between 0 and 1."""
    checked = share("level", level, DEFAULT_LEVEL)
    if (1 + checked) / 2 == 1:  # the quantile of a level that close to 1 is not finite
        raise InputError(f"level must lie between 0 and 1, as {DEFAULT_LEVEL}, got {checked!r}")
    return checked


def _in_quotes(value: Any) -> str:
    """Return a value for an error message as Python writes it."""
    return brief(value) if isinstance(value, str) else f"{brief(repr(value))[1:-1]}"


def check_threads(threads: int | None) -> int:
    """Return the number of threads, all cores for `None`; raise `InputError` for fewer than 1."""
    from tlsim.play.machine import n_cores

    if threads is None:
        return n_cores()
    threads = whole_number("threads", threads)
    if threads < 1:
        raise InputError(f"threads must be at least 1, got {brief(threads)}; this machine has {n_cores()} cores")
    return threads


def check_progress(progress: Any) -> None:
    """Raise `InputError` for what cannot be called after each block."""
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function, got {_in_quotes(progress)}")


# ------------------------------------------------------------------------------------------------ texts


def as_text(name: str, value: Any) -> str:
    """Return text, or a path as text; raise `InputError` for anything else."""
    if isinstance(value, PathLike):
        value = fspath(value)
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, got {_in_quotes(value)}")
    return value


def as_text_or_none(name: str, value: Any) -> str | None:
    """Return `None` for `None`, else what `as_text` does."""
    return None if value is None else as_text(name, value)


def as_texts(name: str, value: Any) -> list[str]:
    """Return one text, or a sequence of them, as a list; raise `InputError` for anything else."""
    if isinstance(value, str | PathLike):
        return [as_text(name, value)]
    if not isinstance(value, Iterable):
        raise InputError(f"{name} must be text, or a list of texts, got {_in_quotes(value)}")
    return [as_text(name, entry) for entry in value]


# ------------------------------------------------------------------------------------------------ results


def make_table(columns: str | Sequence[str], rows: Iterable[Sequence[Any]]) -> "pl.DataFrame":
    """Return a frame of rows; a column without values holds text."""
    import polars as pl

    if isinstance(columns, str):
        columns = columns.split()
    listed = list(rows)
    if not listed:
        return pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
    return pl.DataFrame(listed, columns, orient="row")


def command_line(*words: str, options: Mapping[str, Any] | None = None) -> str:
    """Return a command line of `tlsim`, quoted for a shell.

    An option whose value is `None` or `False` is left out, one that is `True` has no value, one that is a list stands
    once a value.

    >>> command_line("odds", "dragon", options={"--any": True, "--given": None, "-v": "classic,ties=later"})
    'tlsim odds dragon --any -v classic,ties=later'
    """
    line = ["tlsim", *words]
    for name, value in (options or {}).items():
        if value is True:
            line.append(name)
        elif isinstance(value, list):
            for entry in value:
                line += [name, str(entry)]
        elif value is not None and value is not False:
            line += [name, str(value)]
    return shlex.join(line)


def run_options(plan: "Plan", variant: "VariantSpec", which: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that name a run: rules, policies, players, seed, `which` hands of it, matches and trading.

    `variant` is the variant as given, which may be a file.
    """
    policies = [policy.name for policy in plan.policies]
    if len(set(policies)) == 1:
        policies = policies[:1]
    named = {"-v": variant, "-p": policies, "--players": plan.players, "--seed": plan.seed}
    return named | dict(which) | {"--match": plan.match, "--trade": plan.trade and plan.trade.name}


def level_option(level: float) -> dict[str, Any]:
    """Return the option that names a level of intervals, unless it is the default."""
    return {} if level == DEFAULT_LEVEL else {"--level": level}
