"""How kernels are compiled, in one place: the decorators, with the options that all kernels share."""

import contextlib
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from tlsim.engine.cache import CACHE_FOLDER
from tlsim.engine.host import JIT

# isort: split
from numba import njit, types
from numba.core import config
from numba.core.runtime import rtsys

F = TypeVar("F", bound=Callable[..., Any])


def _compile(function: Callable[..., Any], *, cache: bool = False, **options: Any) -> Any:
    """Return the compiled function, with the options that all kernels share.

    `nogil`: blocks run on threads. `error_model="numpy"`: no test for division by zero in the hot loop. Only what
    Python calls is cached: it holds all that it calls, and object code for every inner function costs a minute.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER or "")
    try:
        compiled = njit(nogil=True, error_model="numpy", cache=cache and CACHE_FOLDER is not None, **options)(function)
    finally:
        config.CACHE_DIR = before
    if JIT:
        _forget_literals(compiled)
        if options.get("inline") != "always":
            _prune_when_compiled(compiled)
        if not cache:
            _make_inner(compiled, options.get("forceinline", False))
        elif CACHE_FOLDER is not None:
            tolerate_cache_errors(compiled)
    return compiled


def tolerate_cache_errors(compiled: Any) -> None:
    """Let a cache file that cannot be read be compiled anew, and one that cannot be written cost only a warning.

    Numba writes files under another name and renames them: processes that start at once do no harm to each other.
    """
    load, save = compiled._cache._load_overload, compiled._cache.save_overload

    def load_or_compile(signature: Any, context: Any) -> Any:
        rtsys.initialize(context)  # what compiled code calls; what the compiler needs takes 0.15 s, and comes with it
        try:
            return load(signature, context)
        except Exception:  # a file cut short can fail in any way
            with contextlib.suppress(OSError):
                compiled._cache.flush()  # start this kernel's index anew
            return None

    def save_or_warn(signature: Any, data: Any) -> None:
        unresolved = (one.name for one in data.library._final_module.global_variables)
        if any(name.startswith(".numba.unresolved") for name in unresolved):
            return  # it calls what calls itself: read from a file, Numba does not find that, and LLVM ends the process
        try:
            save(signature, data)
        except OSError as error:
            _warn_of_cache(f"{CACHE_FOLDER}: {error.strerror}: compiled in memory, the next start will compile again")

    compiled._cache.load_overload, compiled._cache.save_overload = load_or_compile, save_or_warn


_warned: list[str] = []


def _warn_of_cache(text: str) -> None:
    """Warn, once in a process."""
    if not _warned:
        _warned.append(text)
        warnings.warn(text, stacklevel=2)


def _forget_literals(compiled: Any) -> None:
    """Let calls with a literal argument use the version for any number, instead of compiling one for each literal."""
    template = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: template(tuple(map(types.unliteral, args)), kws)


def _make_inner(compiled: Any, inlined: bool) -> None:
    """Stop an inner function at LLVM code for its callers: no machine code, no way in from Python (a quarter faster).

    Numba compiles its own inner functions with the same flags (`BaseContext.compile_only_no_cache`).
    """

    def flags_for_inner(flags: Any) -> Any:
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.forceinline = inlined  # Numba would hand down that of the caller
        return flags

    def keep_overload(result: Any) -> None:
        key = object()  # callers find the code by it, where else they have the machine code's entry point
        result.target_context.insert_user_function(key, result.fndesc, [result.library])
        compiled.overloads[tuple(result.signature.args)] = result._replace(entry_point=key)

    compiled._compiler._customize_flags = flags_for_inner
    compiled.add_overload = keep_overload


def _prune_when_compiled(compiled: Any) -> None:
    """Let a function be compiled without the branches that the constant flags of its parts rule out."""
    compiler = compiled._compiler
    compile_core = compiler._compile_core

    def compile_pruned(args: Any, return_type: Any) -> Any:
        from tlsim.engine.specialize import pruned  # only who compiles needs it

        compiler.py_func = pruned(compiled.py_func, spliced)
        return compile_core(args, return_type)

    compiler._compile_core = compile_pruned


def kernel(function: F) -> F:
    """Compile a function that Python calls: cached on disk, without the GIL."""
    return _compile(function, cache=True)


def inlined_kernel(function: F) -> F:
    """Compile a function that Python calls, and that compiled functions take into themselves, from the cache."""
    return _compile(function, cache=True, forceinline=True)


def scalar_kernel(function: F) -> F:
    """Compile a kernel without vector instructions.

    In a long loop with many branches LLVM keeps constants in vector registers for the few loops at its end, and saves
    and restores them all along (measured: 2 to 3 % of a game).
    """
    compiled = _compile(function, cache=True)
    if JIT:
        compile_it = compiled.compile

        def compile_scalar(signature: Any) -> Any:
            before = config.LOOP_VECTORIZE, config.SLP_VECTORIZE
            config.LOOP_VECTORIZE = config.SLP_VECTORIZE = 0
            try:
                return compile_it(signature)
            finally:
                config.LOOP_VECTORIZE, config.SLP_VECTORIZE = before

        compiled.compile = compile_scalar
    return compiled


def policy_kernel(function: F) -> F:
    """Compile a scalar kernel that calls policies: LLVM is told that its records do not overlap.

    What it has read of the rules then holds while it writes to the table (measured: 1 % of a game of a policy from a
    file; kernels of built-in policies, which write less, lose 2 %).
    """

    def without_overlap(flags: Any) -> Any:
        flags.noalias = True
        return flags

    compiled = scalar_kernel(function)
    if JIT:
        compiled._compiler._customize_flags = without_overlap  # type: ignore[attr-defined]  # inside of Numba
    return compiled


def inline(function: F) -> F:
    """Compile a small function into each of its callers (measured: a quarter faster than calls)."""
    return _compile(function, forceinline=True)


def spliced(function: F) -> F:
    """Make a function part of its one caller before types are inferred.

    LLVM optimises every function together with all that it calls, so each level of calls between a kernel and the hot
    loop would optimise the whole of it once more (measured: 40 s against 10 s).
    """
    return _compile(function, inline="always")


def function(function: F) -> F:
    """Compile a function that kernels call and LLVM may inline or not."""
    return _compile(function)
