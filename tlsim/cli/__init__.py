"""The command line, `tlsim COMMAND …`: parse, call the function of the same name in `tlsim.api`, print.

A command is imported when it is used, and what it needs when it runs: `tlsim --help` imports click and nothing else.
"""

import os
import sys
import warnings
from importlib import import_module
from typing import Any, NoReturn

import click

from tlsim.errors import DoesNotFit, InputError, PlayFault, nearest

# name -> (module in this package, what the list of commands says)
COMMANDS: dict[str, tuple[str, str]] = {
    "simulate": ("play", "play many deals: win rates, places, payoffs, lengths, chops"),
    "replay": ("play", "show hands of a run, readable or as transcripts"),
    "hand": ("cards", "what a hand holds"),
    "moves": ("cards", "every legal play of a hand"),
    "odds": ("odds", "odds of dealt hands, exact beside sampled"),
    "check-deals": ("odds", "is the shuffle of an app fair?"),
    "variants": ("catalogue", "the variants, the rules of one, or what differs"),
    "policies": ("catalogue", "the built-in ways to play"),
    "bench": ("machine", "how fast this machine is: games/s and decisions/s by stage and policy"),
    "doctor": ("machine", "versions, processor, cache, and what is wrong"),
    "warmup": ("machine", "compile the engine now"),
}
BAD_INPUT, FAULT, INTERRUPTED, BROKEN_PIPE = 2, 1, 130, 141  # exit codes


_COMPLETION = """

\b
Completion, for your .bashrc (zsh and fish likewise):
  eval "$(_TLSIM_COMPLETE=bash_source tlsim)"
"""


def example(*lines: str) -> str:
    """Return the end of a help text: command lines to try, which click must not fold."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


class _Commands(click.Group):
    """The group of all commands, each imported when it is used; errors become one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"tlsim.cli.{COMMANDS[name][0]}"), name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            raise InputError(f"unknown command {args[0]!r}; {nearest(args[0], list(COMMANDS))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and exit: 0 done, 1 a fault in play, 2 bad input (one line), 130 interrupted, 141 pipe."""
        kwargs = {"prog_name": "tlsim", **kwargs, "standalone_mode": False}
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                code = super().main(*args, **kwargs)
            except (InputError, click.ClickException) as error:
                code = _say(_line_of(error), BAD_INPUT)
            except (PlayFault, DoesNotFit) as error:
                code = _say(str(error), FAULT)
            except click.Abort:  # click's name for Ctrl-C
                code = _say("interrupted", INTERRUPTED)
            except OSError as error:
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still in the buffer has nowhere to go
                code = _say(f"the output cannot be written: {error.strerror}", FAULT)
            except SystemExit as error:  # 1 is click's way out when the reader of a pipe has gone
                code = BROKEN_PIPE if error.code == 1 else error.code
        sys.exit(code if isinstance(code, int) else 0)


def _say(message: str, code: int) -> int:
    """Write one line to stderr; return the exit code that goes with it."""
    click.echo("tlsim: " + " ".join(message.split()), err=True)
    return code


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Write a warning as one line, without the place in the code."""
    _say(f"warning: {message}", 0)


def _line_of(error: InputError | click.ClickException) -> str:
    """Return the message of an error, with what is allowed where click does not say it."""
    if isinstance(error, click.NoSuchOption):
        options = [name for param in error.ctx.command.params for name in param.opts] if error.ctx else []
        return f"unknown option {error.option_name}; {nearest(error.option_name, [*options, '--help'])}"
    if isinstance(error, click.UsageError):
        message = error.format_message().rstrip(".")
        command = error.ctx.command_path if error.ctx else "tlsim"
        return f"{message[:1].lower()}{message[1:]}; see {command} --help"
    if isinstance(error, click.ClickException):
        return error.format_message()
    return str(error)


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        import tlsim

        click.echo(f"tlsim {tlsim.__version__}")
        ctx.exit()


@click.command(
    "tlsim",
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example(
        "tlsim simulate -v southern -p lowest -n 1_000_000 --seed 1",
        "tlsim moves 7S 7D 8H 2C --on 6H",
        "tlsim variants --diff classic southern",
    )
    + _COMPLETION,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def main(ctx: click.Context) -> None:
    """Simulate the card game Tiến lên, and measure it.

    Results go to stdout, progress and warnings to stderr.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
