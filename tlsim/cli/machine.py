"""`tlsim bench`, `tlsim doctor` and `tlsim warmup`: this machine."""

import click

import tlsim
from tlsim.api.machine import DEFAULT_SECONDS
from tlsim.cli import command
from tlsim.cli.common import FORMATS, emit, example, format_option


@command(epilog=example("tlsim bench", "tlsim bench --seconds 30 --format json"))
@click.option(
    "--seconds",
    type=float,
    default=DEFAULT_SECONDS,
    show_default=True,
    metavar="S",
    help="About how long to measure, in all.",
)
@format_option(*FORMATS)
def bench(seconds: float, form: str) -> None:
    """Measure how fast this machine is, on one thread: what each stage of a run does a second, and games and decisions
    a second of whole runs with each built-in policy.

    Rates are per second of CPU time: the median of samples taken in turns, the lowest and the highest.
    """
    emit(tlsim.bench(seconds=seconds), form)


@command(epilog=example("tlsim doctor"))
@format_option(*FORMATS)
def doctor(form: str) -> None:
    """Show versions, processor, cache folder and cores, and what is wrong and what to do about it."""
    emit(tlsim.doctor(), form)


@command(epilog=example("tlsim warmup"))
@format_option(*FORMATS)
def warmup(form: str) -> None:
    """Compile the engine for this machine now, so that no later command waits for it."""
    emit(tlsim.warmup(), form)
