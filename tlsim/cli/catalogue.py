"""`tlsim variants` and `tlsim policies`: what there is to choose from."""

import click

from tlsim import api
from tlsim.cli.common import FORMATS, emit, example, format_option


@click.command(epilog=example("tlsim variants southern", "tlsim variants --diff classic southern,pass_locks=no"))
@click.argument("name", required=False, metavar="[SPEC]")
@click.option("--diff", nargs=2, metavar="A B", help="What differs between two variants.")
@format_option(*FORMATS)
def variants(name: str | None, diff: tuple[str, str] | None, form: str) -> None:
    """List the built-in variants; with SPEC print its rules in words, each with its value and its section of the rule
    book.
    """
    emit(api.variants(name, diff), form)


@click.command(epilog=example("tlsim policies"))
@click.argument("spec", required=False)
@format_option(*FORMATS)
def policies(spec: str | None, form: str) -> None:
    """List the built-in policies with a line each, or the one that SPEC names."""
    emit(api.policies(spec), form)
