"""The command line, `tlsim COMMAND …`: parse, call the function of the same name in `tlsim.api`, print.

A command is imported when it is used, and what it needs when it runs: `tlsim --help` imports click and nothing else.
"""

import errno
import os
import re
import sys
import warnings
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

import click

from tlsim.cli import signals
from tlsim.cli.streams import CannotWriteError, encodable, open_closed_streams, tell
from tlsim.errors import DoesNotFit, InputError, PlayFault, brief, nearest

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
BAD_INPUT, FAULT, BROKEN_PIPE = 2, 1, 141  # exit codes; of what a signal has ended: `signals.exit_code`
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_MOST_OF_AN_ERROR = 1000  # characters
_LONGEST_WORD = 200


_COMPLETION = """

\b
Completion, for your .bashrc (zsh and fish likewise):
  eval "$(_TLSIM_COMPLETE=bash_source tlsim)"
"""


def example(*lines: str) -> str:
    """Return the end of a help text: command lines to try, which click must not fold."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


class Command(click.Command):
    """A command whose help is shown on every stdout."""

    def get_help(self, ctx: click.Context) -> str:
        """Return the help text in signs that stdout has."""
        return encodable(super().get_help(ctx), sys.stdout)


command = partial(click.command, cls=Command)


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
            raise InputError(f"unknown command {brief(args[0])}; {nearest(args[0], list(COMMANDS))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def get_help(self, ctx: click.Context) -> str:
        """Return the help text in signs that stdout has."""
        return encodable(super().get_help(ctx), sys.stdout)

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and exit.

        0 done, 1 a fault in play or of the output, 2 bad input (one line), 141 the reader of a pipe has gone; 130 after
        Ctrl-C, 143 after SIGTERM, 129 after SIGHUP.
        """
        open_closed_streams()
        with warnings.catch_warnings(), signals.as_ctrl_c():
            warnings.showwarning = _show_warning
            code = self._code_of(args, {"prog_name": "tlsim", **kwargs, "standalone_mode": False})
        sys.exit(code if isinstance(code, int) else 0)

    def _code_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a command; return the exit code, after a line on stderr for an error."""
        try:
            return super().main(*args, **kwargs)
        except (InputError, click.ClickException) as error:
            return _say(_line_of(error), BAD_INPUT)
        except (PlayFault, DoesNotFit) as error:
            return _say(str(error), FAULT)
        except (click.Abort, KeyboardInterrupt):  # click's name for Ctrl-C, and Ctrl-C while click works
            return _say("interrupted", signals.exit_code())
        except OSError as error:
            return _say_what_failed(error)
        except SystemExit as error:  # 1 is click's way out when the reader of a pipe has gone
            return BROKEN_PIPE if error.code == 1 else error.code


def _say_what_failed(error: OSError) -> int:
    """Write what the system has refused to stderr; return the exit code."""
    if not isinstance(error, CannotWriteError) and error.errno not in _NO_ROOM:
        return _say(f"cannot read {error.filename or 'a file'}: {error.strerror}", BAD_INPUT)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still in the buffer has nowhere to go
    return _say(f"the output cannot be written: {error.strerror}", FAULT)


def _say(message: str, code: int) -> int:
    """Write one line to stderr, cut where it is very long; return the exit code that goes with it."""
    words = (word if len(word) <= _LONGEST_WORD else f"{word[:_LONGEST_WORD]}…" for word in message.split())
    line = " ".join(words)
    if len(line) > _MOST_OF_AN_ERROR:
        line = f"{line[: _MOST_OF_AN_ERROR * 2 // 3]} … {line[-_MOST_OF_AN_ERROR // 3 :]}"
    tell(f"tlsim: {line}")
    return code


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Write a warning as one line, without the place in the code."""
    _say(f"warning: {message}", 0)


def _line_of(error: InputError | click.ClickException) -> str:
    """Return the message of an error, with what is allowed where click does not say it."""
    if isinstance(error, click.NoSuchOption):
        return _unknown_option(error)
    if isinstance(error, click.UsageError):
        message = _QUOTED.sub(lambda match: brief(match[1]), error.format_message().rstrip("."))
        command = error.ctx.command_path if error.ctx else "tlsim"
        return f"{message[:1].lower()}{message[1:]}; see {command} --help"
    if isinstance(error, click.ClickException):
        return error.format_message()
    return str(error)


_QUOTED = re.compile(r"'([^']{60,})'")  # a value in a message of click


def _unknown_option(error: click.NoSuchOption) -> str:
    """Return the advice for an unknown option; a rule of the variant is no option, but a change of it."""
    params = error.ctx.command.params if error.ctx else []
    options = [name for param in params for name in param.opts]
    name = brief(error.option_name)[1:-1]
    if "--variant" in options:
        from tlsim.rules.ruleset import rule_fields

        key = name.lstrip("-").replace("-", "_")
        if key in [field.name for field in rule_fields()]:
            return f"unknown option {name}; {key} is a rule, a change of the variant: -v southern,{key}=…"
    return f"unknown option {name}; {nearest(name, [*options, '--help'])}"


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

    Exit codes: 0 done, 1 a fault in play or an unfair shuffle, 2 bad input. Ctrl-C, SIGTERM and SIGHUP end a run with
    what is done, and with 130, 143 and 129.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
