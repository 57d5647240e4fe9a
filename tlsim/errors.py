"""What can go wrong: bad input, a fault in play, a version of Numba that does not fit; words that errors share."""

import unicodedata
from collections.abc import Sequence
from typing import Any

MOST_CHARACTERS = 60  # of a value in an error message


class InputError(ValueError):
    """Input that is not allowed. The message is one line: what must be, what was given, and where."""


def nearest(name: str, allowed: Sequence[str]) -> str:
    """Return the advice that ends the error about an unknown name: the nearest allowed name, then all of them."""
    from difflib import get_close_matches

    close = get_close_matches(name[:MOST_CHARACTERS], allowed, n=1, cutoff=0.5)
    advice = [f"did you mean {match}?" for match in close]
    return " ".join([*advice, f"known: {', '.join(allowed)}"])


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Raise `InputError` unless `low <= value <= high`."""
    if not low <= value <= high:
        raise InputError(f"{name} must be from {low} to {_in_words(high)}, got {brief(value)}")


def brief(value: Any) -> str:
    r"""Return a value for an error message: text in quotes, cut to 60 characters, without control characters.

    >>> brief("x" * 100)[:20], brief(10**70)[-3:], brief("\x1b[31m")
    ("'xxxxxxxxxxxxxxxxxxx", '00…', "'\\x1b[31m'")
    """
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number of more than 4,300 digits"
    text = printable(text)
    if len(text) <= MOST_CHARACTERS:
        return text
    closing = text[0] if isinstance(value, str) else ""
    return f"{text[: MOST_CHARACTERS - 1 - len(closing)]}…{closing}"


def printable(text: str) -> str:
    """Return text whose control characters, and signs that turn the direction of writing, stand as escapes."""
    if text.isprintable():
        return text
    return "".join(map(_printable_sign, text))


def _printable_sign(sign: str) -> str:
    r"""Return a character that shows, or its escape: `\x1b`."""
    if sign.isprintable() or unicodedata.category(sign) == "Zs":
        return sign
    return sign.encode("unicode_escape").decode("ascii")


def _in_words(number: int) -> str:
    """Return a whole number for reading, a large power of ten as `10^15`."""
    exponent = len(str(number)) - 1
    if number == 10**exponent and exponent > 6:
        return f"10^{exponent}"
    return f"{number:,}"


class OutOfReach(InputError):
    """An exact count would need more states than fit the time and memory that an answer may take."""


class PlayFault(RuntimeError):
    """A policy raised, or played what is not legal. The message is one line: what it did, and in which hand."""


class DoesNotFit(RuntimeError):
    """A version of Numba with which tlsim does not work: neither the user nor a policy is to blame."""


def first_line(error: BaseException) -> str:
    """Return what an exception says, in one line; of a long report of Numba the line that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("Failed in nopython", "During:", "File "))]
    return (telling or lines or [type(error).__name__])[0]
