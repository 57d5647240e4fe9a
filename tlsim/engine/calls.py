"""Calls by address: how a kernel calls another one that it was not compiled with.

An address is that of a C function, so records cross as plain pointers.
"""

import ctypes
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from tlsim.engine.cache import CACHE_FOLDER
from tlsim.engine.compile import F, cached_in, inline, kernel
from tlsim.engine.host import JIT
from tlsim.engine.inside import PLAIN, does_not_fit, warn_of_plain_way
from tlsim.errors import DoesNotFit

# isort: split
import numpy as np
from llvmlite import binding, ir
from numba import cfunc, types
from numba.core import cgutils
from numba.core.errors import NumbaError
from numba.extending import intrinsic

_WORD = ir.IntType(64)

# Without the compiler an address is a number in this table.
UNCOMPILED: dict[int, Callable[..., Any]] = {}


def call_by_address(signature: Any, symbol: str = "") -> Any:
    """Return `call(address, arguments) -> value` for functions of the C calling convention: records are pointers.

    `arguments` is a tuple. Those that the function does not take are ignored, as C has it. With `symbol` the call goes
    through a function of that name, which gets the address as its last argument. It is a weak one: LLVM inlines it
    nowhere, and who links a function of the same name to the kernel's code puts that in its place.
    """
    if not JIT:
        return _call_uncompiled
    result, arguments_type = signature.return_type, types.Tuple(signature.args)

    def codegen(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[1])
        function_type = ir.FunctionType(context.get_value_type(result), [value.type for value in values])
        address = builder.inttoptr(args[0], function_type.as_pointer())
        if symbol:
            caller = _weak_caller(builder.module, symbol, function_type)
            return builder.call(caller, [*values, address], arg_attrs={len(values): ("nest",)})
        return builder.call(address, values)

    @intrinsic
    def call(_context: Any, address: Any, arguments: Any) -> Any:  # noqa: ARG001  # their types are always the same
        return result(types.int64, arguments_type), codegen

    return call


def _weak_caller(module: Any, symbol: str, function_type: Any) -> Any:
    """Return the weak function `symbol` of an LLVM module: it calls the address that is its last argument."""
    if symbol in module.globals:
        return module.globals[symbol]
    address_type = function_type.as_pointer()
    caller_type = ir.FunctionType(function_type.return_type, [*function_type.args, address_type])
    caller = ir.Function(module, caller_type, symbol)
    caller.linkage = "weak"
    *arguments, address = caller.args
    address.add_attribute("nest")  # in a register of its own: the others stay where the function called finds them
    builder = ir.IRBuilder(caller.append_basic_block("entry"))
    builder.ret(builder.call(address, arguments, tail=True))
    return caller


def _call_uncompiled(address: int, arguments: Sequence[Any]) -> Any:
    """Call without the compiler: a function of Python by its number, or C code, which gets the addresses of records."""
    if int(address) in UNCOMPILED:
        return UNCOMPILED[int(address)](*arguments)
    words = [word.__array_interface__["data"][0] if isinstance(word, np.void) else int(word) for word in arguments]
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(words))(int(address))(*words)


def address_of(function: Any, signature: Any) -> int:
    """Return the address, valid in this process, of a kernel's C function; compile it for `signature`, or load it.

    Raises `DoesNotFit` when this version of Numba cannot do it.
    """
    if not JIT:
        UNCOMPILED[id(function)] = function
        return id(function)
    try:
        return _plain_address(function, signature) if PLAIN else _address_inside(function, signature)
    except (NumbaError, DoesNotFit) as error:  # a kernel of ours that this version cannot compile
        raise does_not_fit(error) from error
    except Exception as error:
        address = _plain_address(function, signature)
        warn_of_plain_way(f"{type(error).__name__}: {error}")
        return address


def _plain_address(function: Any, signature: Any) -> int:
    try:
        return int(c_function(function.py_func, signature, CACHE_FOLDER).address)
    except Exception as error:
        raise does_not_fit(error) from error


def _address_inside(function: Any, signature: Any) -> int:
    """Return the address of the C function that Numba makes beside every compiled function."""
    if signature.args not in function.overloads:
        function.compile(signature)
    compiled = function.overloads[signature.args]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


_C_FUNCTIONS: dict[Any, Any] = {}  # what `cfunc` made: it lives as long as the process


def c_function(function: Any, signature: Any, folder: Path | None) -> Any:
    """Return Numba's documented C function of a Python function, cached in a folder; `None`: not cached."""
    key = function, signature
    if key not in _C_FUNCTIONS:
        folder = folder and folder / "cfunc"  # apart from what `njit` caches of the same function
        with cached_in(folder):
            try:
                made = cfunc(signature, cache=folder is not None, error_model="numpy")(function)
            except (NumbaError, KeyboardInterrupt):
                raise
            except Exception:  # a cache file cut short can fail in any way
                made = cfunc(signature, error_model="numpy")(function)
        if folder is not None and not made.cache_hits and ".numba.unresolved" in made.inspect_llvm():
            # It calls what calls itself: read from a file, Numba does not find that, and LLVM ends the process.
            for file in folder.rglob(f"*{function.__name__}-{function.__code__.co_firstlineno}.*"):
                file.unlink(missing_ok=True)
        _C_FUNCTIONS[key] = made
    return _C_FUNCTIONS[key]


_LAZY: dict[Any, Any] = {}  # by function, what is bound when it is first called: it lives as long as the process
_FAILED: list[BaseException] = []  # what happened while one of them was bound


def lazy(signature: Any) -> Callable[[F], F]:
    """Return a decorator: a function that kernels call now and then is a kernel of its own, bound when first called.

    Callers hold none of its code and need not wait for it: they call through a slot, as one calls a shared library.
    (Measured: with the rare parts of its helpers in its code, a new policy takes twice as long to compile.)
    """

    def decorate(body: F) -> F:
        if not JIT:
            return body
        name = f"{body.__module__}.{body.__qualname__}"
        bound = _make_slot(name, kernel(body), signature)

        def load_slot(_context: Any, builder: Any, _signature: Any, _args: Any) -> Any:
            place = builder.module.globals.get(name) or ir.GlobalVariable(builder.module, _WORD, name)
            return builder.load(place)

        @intrinsic
        def address(_context: Any) -> Any:
            return types.int64(), load_slot

        @inline
        def through(*arguments: Any) -> Any:
            return call(address(), arguments)

        call = call_by_address(signature)
        _LAZY[through] = bound
        return cast("F", through)

    return decorate


def _make_slot(name: str, compiled: Any, signature: Any) -> Any:
    """Make the slot `name` of compiled code: it holds a Python function, which puts the kernel in its place.

    Return the kernel, its signature, the slot, and that function, which has to live.
    """
    slot = ctypes.c_void_p()
    words = (ctypes.c_void_p if isinstance(argument, types.Record) else ctypes.c_int64 for argument in signature.args)
    function_type = ctypes.CFUNCTYPE(ctypes.c_int64, *words)

    @function_type
    def bind_first(*arguments: Any) -> int:
        try:
            slot.value = address_of(compiled, signature)
        except BaseException as error:  # Ctrl-C as well: C code, which called, knows no exceptions
            _FAILED.append(error)
            return 0
        return int(function_type(slot.value)(*arguments))

    slot.value = ctypes.cast(bind_first, ctypes.c_void_p).value
    binding.add_symbol(name, ctypes.addressof(slot))
    return compiled, signature, slot, bind_first


def lazy_kernels() -> list[Any]:
    """Return the kernels of all lazy functions."""
    return [compiled for compiled, *_ in _LAZY.values()]


def bind(functions: Iterable[Callable[..., Any]]) -> None:
    """Bind lazy functions before they are called: compile them, or load them."""
    for compiled, signature, slot, _ in (_LAZY[function] for function in functions if JIT):
        slot.value = address_of(compiled, signature)


def raise_failed() -> None:
    """Raise what happened while a function was bound, if anything: the kernels that called it went on with 0."""
    if _FAILED:
        raise _FAILED.pop()


def warm_up() -> None:
    """Bind all lazy functions."""
    bind(_LAZY)


# The name of the function through which kernels call a policy: a loop with a policy in it has another one of that name.
POLICY_SYMBOL = "tlsim_policy"
# What the C function of a policy returns when the policy raises an exception: no card is that bit.
POLICY_RAISED = -(1 << 63)
