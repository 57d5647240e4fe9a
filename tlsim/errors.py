"""What can go wrong: input that a user can mend, a fault in play, a version of Numba that does not fit."""


class InputError(ValueError):
    """Bad input, told in one line: what was given, what is allowed, and where."""


def nearest(name: str, known: list[str] | tuple[str, ...]) -> str:
    """Return the advice that ends an unknown-name error: the nearest known name, then all of them."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, 1, 0.5)
    return (f"did you mean {close[0]}? " if close else "") + f"known: {', '.join(known)}"


class OutOfReach(InputError):
    """An exact count would need more states than fit the time and memory that an answer may take."""


class PlayFault(RuntimeError):
    """A policy raised or played what is not legal: the run stops, and the line says where."""


class DoesNotFit(RuntimeError):
    """A version of Numba with which tlsim does not work: neither the user nor a policy is to blame."""


def first_line(error: BaseException) -> str:
    """Return what an exception says, in one line; of a long report of Numba the line that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("Failed in nopython", "During:", "File "))]
    return (telling or lines or [type(error).__name__])[0]
