"""What commands share: options, numbers as users write them, and printing a result."""

import contextlib
import errno
import os
import re
import shutil
import sys
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import tlsim
from tlsim.api.common import DEFAULT_DEALS, DEFAULT_LEVEL, DEFAULT_POLICY, DEFAULT_VARIANT
from tlsim.cli import example as example
from tlsim.cli import signals
from tlsim.cli.completion import complete_policy, complete_variant
from tlsim.cli.progress import ProgressLine
from tlsim.cli.streams import tell, write, write_json
from tlsim.errors import InputError, brief

if TYPE_CHECKING:
    from tlsim.output.result import Interrupted, Result

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("table", "json", "csv", "markdown")
_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_COUNT = re.compile(r"(-?[0-9][0-9_]{0,40}(?:\.[0-9]{1,40})?(?:[eE][0-9]{1,2})?)([kMG]?)")


def parse_count(text: str) -> int:
    """Return a whole number written as `1000`, `1_000`, `1e3`, `1k`, `2.5M` or `1G`; raise `InputError`."""
    match = _COUNT.fullmatch(text.strip())
    if match:
        value = Fraction(match[1].replace("_", "")) * _UNITS[match[2]]
        if value.denominator == 1:
            return int(value)
    raise InputError(f"a count must be a whole number, as 1_000_000, 1e6 or 1M, got {brief(text)}")


variant_option = click.option(
    "-v",
    "--variant",
    default=DEFAULT_VARIANT,
    show_default=True,
    metavar="SPEC",
    help="A built-in variant or a TOML file, with changes: southern,pass_locks=no.",
    shell_complete=complete_variant,
)
policy_option = click.option(
    "-p",
    "--policy",
    "policies",
    multiple=True,
    default=[DEFAULT_POLICY],
    show_default=True,
    metavar="SPEC",
    help="A policy, once for all seats or once a seat: a built-in name, or a function as mybot.py:choose,greed=0.3.",
    shell_complete=complete_policy,
)
seed_option = click.option("--seed", type=int, help="Any 64-bit integer; drawn and printed without.")
players_option = click.option("--players", type=int, help="Players at the table; without, 4 where allowed.")
deals_option = click.option(
    "-n",
    "--deals",
    default=f"{DEFAULT_DEALS:_}",
    show_default=True,
    metavar="N",
    callback=lambda _context, _option, text: parse_count(text),
    help="How many, as 1_000_000, 1e6 or 10M; with --match, matches.",
)
trade_option = click.option(
    "--trade",
    metavar="FILE.py:FUNCTION",
    help="Who swaps which cards, where the variant has trading; without, the built-in policy.",
)
match_option = click.option(
    "--match",
    type=int,
    metavar="N",
    help="Play matches of N hands: the first out of a hand leads the next, the loser deals it.",
)
threads_option = click.option("--threads", type=int, help="Without, all cores; the result does not depend on it.")
level_option = click.option("--level", type=float, default=DEFAULT_LEVEL, show_default=True, help="Of the intervals.")
plot_option = click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a figure, .png or .svg.",
    callback=lambda _context, _option, path: _check_plot(path),
)
cards_argument = click.argument("cards", nargs=-1, metavar="CARDS…")


def format_option(*formats: str) -> Callable[[F], F]:
    """Return the option that chooses a format, the first being the default."""
    return click.option(
        "--format", "form", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print."
    )


def _check_plot(path: Path | None) -> Path | None:
    """Return the file of a figure; raise `InputError`, before any work, for one that cannot be written."""
    if path is None:
        return None
    if path.suffix not in (".png", ".svg"):
        raise InputError(f"--plot must name a .png or .svg file, got {path}")
    if find_spec("matplotlib") is None:
        raise InputError("--plot needs Matplotlib: pip install 'tlsim[plot]'")
    try:
        with contextlib.suppress(FileNotFoundError):
            path.lstat()  # which refuses a name that is too long
        path.parent.stat()
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    return path


def save_plot(result: "Result", path: Path) -> None:
    """Write the figure of a result to a file, under another name first, so that no half of one stays."""
    half = path.with_name(f".tlsim-{os.getpid()}{path.suffix}")
    try:
        result.plot().savefig(half, dpi=150)
        half.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    finally:
        half.unlink(missing_ok=True)


def run_with_progress(run: "Callable[..., Result]", unit: str) -> "tuple[Result, Interrupted | None]":
    """Return the result of a long run under a live line; at Ctrl-C that of what is played, and the interruption.

    `run` takes the progress function as `progress`; `unit` is what it counts.
    """
    line = ProgressLine(sys.stderr, unit)
    try:
        return run(progress=line), None
    except KeyboardInterrupt as interruption:  # to name `Interrupted` here would load Polars for every bad input
        if isinstance(interruption, tlsim.Interrupted):
            return interruption.result, interruption
        raise
    finally:
        line.clear()


def say_how_to_go_on(interruption: "Interrupted") -> int:
    """Write what was interrupted, and the command that runs all of it; return the exit code."""
    tell(f"{interruption}; to run all of them: {interruption.command}")
    return signals.exit_code()


def emit(result: "Result", form: str) -> None:
    """Print a result to stdout in one of `FORMATS`."""
    from tlsim.output import export

    if form == "json":
        write_json(result.to_json())
    elif form == "csv":
        write(export.csv(result.tables, _origin(result)), nl=False)
    elif form == "markdown":
        write(export.markdown(result.tables, _origin(result)))
    else:
        write(result.to_text(**text_options()))


def _origin(result: "Result") -> dict[str, str]:
    """Return what tables carry that have no plan beside them, where there is a seed: it, and the command line."""
    if "seed" not in result.plan:
        return {}
    return {"seed": str(result.plan["seed"]), "command": result.provenance["command"]}


def text_options() -> dict[str, Any]:
    """Return how to show text on stdout: width, colour and suit symbols, which only a terminal gets."""
    from tlsim.output.text import WIDTH

    is_terminal = sys.stdout is not None and sys.stdout.isatty()  # without stdout where a parent closed it
    width = min(WIDTH, shutil.get_terminal_size().columns) if is_terminal else WIDTH
    has_colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return {"width": width, "colour": has_colour, "symbols": is_terminal}
