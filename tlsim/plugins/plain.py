"""Policies of users compiled the plain way: with what Numba documents alone (`tlsim.engine.inside`)."""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from tlsim.engine.cache import CACHE_FOLDER
from tlsim.engine.calls import POLICY_RAISED, UNCOMPILED, c_function
from tlsim.engine.compile import cached_in

# isort: split
from numba import njit

# In the globals of copies of the functions that follow: the policy, and a call of it with as many parameters as it has.
_policy: Any = None
_call: Any = None

_CALLS: list[Callable[..., int]] = [
    lambda rules, seen, stream, params: _policy(rules, seen, stream),  # noqa: ARG005  # all take the record
    lambda rules, seen, stream, params: _policy(rules, seen, stream, params.value[0]),
    lambda rules, seen, stream, params: _policy(rules, seen, stream, params.value[0], params.value[1]),
    lambda rules, seen, stream, params: _policy(rules, seen, stream, params.value[0], params.value[1], params.value[2]),
    lambda rules, seen, stream, params: _policy(
        rules, seen, stream, params.value[0], params.value[1], params.value[2], params.value[3]
    ),
]


def _choose(rules: Any, view: Any, stream: Any, params: Any, hand: int, on: int) -> int:
    """Call a policy with the two words of `tlsim.engine.view.IN_REGISTERS` in its view."""
    view.hand = hand
    view.on = on
    try:
        return _call(rules, view, stream, params)
    except Exception:
        return POLICY_RAISED


def _trade(rules: Any, offer: Any, stream: Any, params: Any) -> int:
    """Call a trading policy."""
    try:
        return _call(rules, offer, stream, params)
    except Exception:
        return POLICY_RAISED


def _with_globals(function: Any, **names: Any) -> Any:
    """Return a copy of a function with other globals: one with its policy in a closure would never be cached."""
    return FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)


def c_policy(function: Any, source: str, signature: Any, c_signature: Any) -> int:
    """Return the address of the C function of a policy; cached by the hash of its source, unless that is `""`.

    Raises what Numba raises.
    """
    folder = None
    if CACHE_FOLDER is not None and source != "":
        folder = CACHE_FOLDER / f"plain-{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    n_params = len(signature.args) - 3
    with cached_in(folder):
        policy = njit(signature, nogil=True, cache=folder is not None)(function)
    call = njit(nogil=True)(_with_globals(_CALLS[n_params], _policy=policy))
    entry = _with_globals(_choose if len(c_signature.args) > 4 else _trade, _call=call)
    compiled = c_function(entry, c_signature, folder)
    if folder is not None and not compiled.cache_hits and ".numba.unresolved" in compiled.inspect_llvm():
        _drop(folder)
    return int(compiled.address)


def _drop(folder: Path) -> None:
    """Delete cached code that calls what calls itself: read from a file, Numba does not find that, and LLVM ends us."""
    shutil.rmtree(folder, ignore_errors=True)


def uncompiled_policy(function: Any, n_params: int, written: Sequence[int]) -> int:
    """Return the address of a policy without the compiler."""

    def entry(rules: Any, view: Any, stream: Any, params: Any, *words: int) -> int:
        names = {at: name for name, (_, at, *_) in view.dtype.fields.items()}
        for word, at in zip(words, written, strict=True):
            view[names[at]] = word
        try:
            return int(function(rules, view, stream, *params["value"][:n_params]))
        except Exception:
            return POLICY_RAISED

    UNCOMPILED[id(entry)] = entry
    return id(entry)
