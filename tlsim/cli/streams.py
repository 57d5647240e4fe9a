"""Text on its way to stdout and stderr: whatever these can show, and whether they are there at all."""

import json
import os
import sys
import unicodedata
from collections.abc import Callable
from typing import TextIO

import click

from tlsim.errors import printable

# For streams that have no other signs than those of English: what stands for the signs of our tables.
_FALLBACKS = {"±": "+-", "–": "-", "−": "-", "─": "-", "…": "...", "·": "-", "×": "x", "§": "section "}
_FALLBACKS |= {"♠": "S", "♣": "C", "♦": "D", "♥": "H", "\xa0": " ", "≥": ">=", "≤": "<=", "đ": "d", "Đ": "D"}


class CannotWriteError(OSError):
    """The output cannot be written, as to a full disk."""


def open_closed_streams() -> None:
    """Let what goes to a closed stdin, stdout or stderr go nowhere.

    Otherwise the next file that is opened would get their number, and what is printed would land in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # open to the end
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  # open to the end


def encodable(text: str, stream: TextIO, fallback: Callable[[str], str] | None = None) -> str:
    """Return text that a stream can encode: signs that it lacks become similar ones, or escapes.

    A `fallback` returns what stands for a sign, otherwise one is chosen for readers.
    """
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        text.encode(encoding)
    except (UnicodeError, LookupError):
        stand_in = fallback or _for_readers
        return "".join(sign if _can_encode(sign, encoding) else stand_in(sign) for sign in text)
    return text


def _can_encode(sign: str, encoding: str) -> bool:
    try:
        sign.encode(encoding)
    except (UnicodeError, LookupError):
        return False
    return True


def _for_readers(sign: str) -> str:
    r"""Return a sign of English that looks alike, or the number of the sign: `\u4e2d`."""
    if sign in _FALLBACKS:
        return _FALLBACKS[sign]
    letter = unicodedata.normalize("NFKD", sign)[0]  # without its accents
    return letter if letter.isascii() else sign.encode("ascii", "backslashreplace").decode("ascii")


def _json_escape(sign: str) -> str:
    return json.dumps(sign)[1:-1]


def write(text: str, *, nl: bool = True) -> None:
    """Write text to stdout."""
    _write(encodable(text, sys.stdout), nl=nl)


def write_json(text: str) -> None:
    """Write JSON to stdout, with escapes for what does not show or cannot be encoded."""
    if not text.replace("\n", "").isprintable():
        text = "".join(sign if sign == "\n" or printable(sign) == sign else _json_escape(sign) for sign in text)
    _write(encodable(text, sys.stdout, _json_escape), nl=True)


def _write(text: str, *, nl: bool) -> None:
    try:
        click.echo(text, nl=nl)
    except OSError as error:  # also where the reader of a pipe has gone, which click knows by the number
        raise CannotWriteError(error.errno, error.strerror) from None


def tell(line: str) -> None:
    """Write a line to stderr; control characters stand as escapes."""
    click.echo(encodable(printable(line), sys.stderr), err=True)
