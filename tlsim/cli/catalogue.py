"""`tlsim variants` and `tlsim policies`: what there is to choose from."""

import click

import tlsim
from tlsim.api.catalogue import include_folder
from tlsim.cli import command
from tlsim.cli.common import FORMATS, emit, example, format_option
from tlsim.cli.streams import write


@command(
    epilog=example(
        "tlsim variants southern",
        "tlsim variants --diff classic southern,pass_locks=no",
        "tlsim variants southern --format toml > house.toml",
    )
)
@click.argument("name", required=False, metavar="[SPEC]")
@click.option("--diff", nargs=2, metavar="A B", help="What differs between two variants.")
@format_option(*FORMATS, "toml")
def variants(name: str | None, diff: tuple[str, str] | None, form: str) -> None:
    """List the built-in variants; with SPEC print its rules in words, each with its value and its section of
    docs/rules.md, the rule book, or with --format toml as a commented file to write house rules from.
    """
    result = tlsim.variants(name, diff=diff)
    if form == "toml":
        write(result.to_toml(), nl=False)
    else:
        emit(result, form)


@command(epilog=example("tlsim policies", "tlsim policies mybot.py:choose"))
@click.argument("spec", required=False)
@click.option("--include", is_flag=True, help="Print the folder of tlsim.h, the header for policies in C.")
@format_option(*FORMATS)
def policies(spec: str | None, include: bool, form: str) -> None:
    """List the built-in policies with a line each, or load and describe the one that SPEC names.

    SPEC is a built-in name, a function of a Python file (mybot.py:choose,greed=0.3), the same uncompiled
    (python:mybot.py:choose), or a function of a shared library (lib:./bot.so:choose).
    """
    if include:
        write(include_folder())
        return
    emit(tlsim.policies(spec), form)
