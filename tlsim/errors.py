"""What can go wrong: bad input, a fault in play, a version of Numba that does not fit; words that errors share."""

from collections.abc import Sequence


class InputError(ValueError):
    """Input that is not allowed. The message is one line: what must be, what was given, and where."""


def nearest(name: str, allowed: Sequence[str]) -> str:
    """Return the advice that ends the error about an unknown name: the nearest allowed name, then all of them."""
    from difflib import get_close_matches

    close = get_close_matches(name, allowed, n=1, cutoff=0.5)
    advice = [f"did you mean {match}?" for match in close]
    return " ".join([*advice, f"known: {', '.join(allowed)}"])


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Raise `InputError` unless `low <= value <= high`."""
    if not low <= value <= high:
        raise InputError(f"{name} must be from {low} to {_in_words(high)}, got {value}")


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
