"""`tlsim doctor` and `tlsim warmup`: this machine."""

import click

from tlsim import api
from tlsim.cli.common import FORMATS, emit, example, format_option


@click.command(epilog=example("tlsim doctor"))
@format_option(*FORMATS)
def doctor(form: str) -> None:
    """Show versions, processor, cache folder and cores, and what is wrong and what to do about it."""
    emit(api.doctor(), form)


@click.command(epilog=example("tlsim warmup"))
@format_option(*FORMATS)
def warmup(form: str) -> None:
    """Compile the engine for this machine now, so that no later command waits for it."""
    emit(api.warmup(), form)
