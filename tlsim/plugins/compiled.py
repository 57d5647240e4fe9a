"""Policies of users, compiled: their C functions, and loops with a policy in them.

The fast way leans on Numba's inside (`tlsim.engine.inside`); where it fails, a policy is compiled the plain way.
"""

import functools
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tlsim.engine.cache import CACHE_FOLDER
from tlsim.engine.calls import POLICY_SYMBOL, address_of
from tlsim.engine.compile import cached_in, scalar, tolerate_cache_errors
from tlsim.engine.host import JIT
from tlsim.engine.inside import PLAIN, does_not_fit, warn_of_plain_way
from tlsim.errors import InputError, first_line
from tlsim.plugins.plain import c_policy, uncompiled_policy

# isort: split
from numba import njit
from numba.core.errors import NumbaError, UnsupportedBytecodeError


class Called:
    """What a policy's address comes from when it is there already: C code, a callback."""

    loop = 0  # the address of a kernel that has the policy in place of its call; 0: none

    def __init__(self, address: int, keep: Any = None) -> None:
        self.address = address
        self._keep = keep  # what must live as long as the address is used


class Contract(NamedTuple):
    """How policies of a kind are called."""

    signature: Any  # of the Python function
    c_signature: Any  # of its C function
    written: Sequence[int] = ()  # offsets in the view that the C function first writes its last words to
    kernel: Any = None  # the kernel that calls such a policy by `POLICY_SYMBOL`, with its signature; `None`: none


class Compiled:
    """A policy of a user, `function(rules, view, stream, *parameters)`: its addresses, each compiled when asked for.

    A table needs one of the two: all seats can share one `loop`, or the policy is called by its `address`.
    """

    def __init__(self, function: Any, source: str, contract: Contract) -> None:
        self._function, self._source, self._contract = function, source, contract
        self._keep: list[Any] = []  # what must live as long as the addresses are used

    @functools.cached_property
    def address(self) -> int:
        """Return the address of its C function.

        Raises `InputError` when the policy cannot be compiled, `DoesNotFit` for what is no fault of the policy.
        """
        signature = self._contract.signature
        if not JIT:
            return uncompiled_policy(self._function, len(signature.args) - 3, self._contract.written)
        if PLAIN:
            return self._plain_address()
        try:
            return self._compile(None)
        except _OF_THE_POLICY as error:
            raise _cannot_compile(self._function, error) from None
        except Exception as error:  # the policy's or ours: the plain way tells
            address = self._plain_address()
            warn_of_plain_way(f"{type(error).__name__}: {error}")
            return address

    def _plain_address(self) -> int:
        contract = self._contract
        try:
            return c_policy(self._function, self._source, contract.signature, contract.c_signature)
        except _OF_THE_POLICY as error:
            raise _cannot_compile(self._function, error) from None
        except Exception as error:  # Numba lets a dozen kinds through that a policy is to blame for
            if _compiles_a_plain_pass(contract):
                raise _cannot_compile(self._function, error) from None
            raise does_not_fit(error) from error

    @functools.cached_property
    def loop(self) -> int:
        """Return the address of the kernel with the policy in place of its call; 0: it cannot be had.

        The kernel is taken from the cache as LLVM code and compiled once more: Numba has nothing to do for it. Raises
        as `address` does.
        """
        if not JIT or PLAIN or self._contract.kernel is None:
            return 0
        try:
            loop = _loop_of(*self._contract.kernel)
            return self._compile(loop) if loop else 0
        except _OF_THE_POLICY as error:
            raise _cannot_compile(self._function, error) from None
        except Exception:  # `address` tells what is wrong
            return 0

    def _compile(self, loop: "_Loop | None") -> int:
        from numba.core.compiler_lock import global_compiler_lock

        from tlsim.plugins.pipeline import LOOP_SUFFIX, policy_compiler

        # The names in the loop's code are those of one compilation.
        key = hashlib.sha256(self._source.encode() + (loop.code if loop else b"")).hexdigest()
        folder = CACHE_FOLDER / f"policy-{key[:16]}" if CACHE_FOLDER and self._source != "" else None
        compiler = policy_compiler(self._contract.written, loop)
        with global_compiler_lock, cached_in(folder), scalar():  # the settings are for all threads
            compiled = njit(nogil=True, cache=folder is not None, pipeline_class=compiler)(self._function)
            if folder is not None:
                tolerate_cache_errors(compiled)
            compiled.compile(self._contract.signature)
        self._keep.append(compiled)
        overload = compiled.overloads[self._contract.signature.args]
        name = overload.fndesc.llvm_cfunc_wrapper_name + (LOOP_SUFFIX if loop else "")
        address = int(overload.library.get_pointer_to_function(name))
        if address == 0:
            raise NotANumber("it does not always return a number")  # Numba makes no C function then
        return address


class NotANumber(TypeError):
    """A policy does not return a number."""


_OF_THE_POLICY = (
    NumbaError,
    UnsupportedBytecodeError,
    NotANumber,
)  # a policy cannot be compiled


def _pass(rules: Any, view: Any, stream: Any) -> int:  # noqa: ARG001  # the contract
    """Pass: the simplest policy."""
    return 0


def _compiles_a_plain_pass(contract: Contract) -> bool:
    """Return whether the simplest policy can be compiled: what fails then is not ours."""
    signature = contract.signature.return_type(*contract.signature.args[:3])
    try:
        return c_policy(_pass, "", signature, contract.c_signature) != 0
    except Exception:
        return False


def _cannot_compile(function: Any, error: Exception) -> InputError:
    """Return what to tell the writer of a policy: what Numba says, and the line that it says it of."""
    file = re.escape(Path(function.__code__.co_filename).name)  # Numba shortens the path
    place = re.search(rf'File "[^"]*\b{file}", line (\d+)', str(error))
    line = f"line {place[1]}: " if place else ""
    # Numba does not wrap what a record raises for a field that it does not have.
    reason = f"there is no field {error}" if isinstance(error, KeyError) else first_line(error)
    return InputError(f"it cannot be compiled: {line}{reason}")


_KNOWN: dict[Any, Compiled] = {}  # by what they are compiled from, where it is known


def compiled_policy(function: Any, source: str, contract: Contract) -> Compiled:
    """Return where the addresses of a policy come from.

    `source` is the hash of the source of the function; with `""` nothing is cached.
    """
    code = Compiled(function, source, contract)
    if source != "":
        code = _KNOWN.setdefault((source, function.__module__, function.__qualname__, contract.signature), code)
    return code


# ------------------------------------------------------------------------------------------------ a loop with a policy


class _Loop(NamedTuple):
    """The LLVM code of a kernel, and the names in it."""

    code: bytes
    inner: str  # the function
    outer: str  # its C function


@functools.cache
def _loop_of(kernel: Any, signature: Any) -> _Loop | None:
    """Return the LLVM code of a kernel; `None` when it calls no policy by its name, which cannot be replaced then."""
    address_of(kernel, signature)
    compiled = kernel.overloads[signature.args]
    module = compiled.library._get_module_for_linking()
    if all(function.name != POLICY_SYMBOL for function in module.functions):
        return None
    return _Loop(module.as_bitcode(), compiled.fndesc.llvm_func_name, compiled.fndesc.llvm_cfunc_wrapper_name)
