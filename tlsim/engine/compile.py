"""How kernels are compiled, in one place: the decorators, with the options that all kernels share.

What leans on Numba's inside is done the fast way only (`tlsim.engine.inside`).
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from tlsim.engine.cache import CACHE_FOLDER
from tlsim.engine.host import JIT
from tlsim.engine.inside import PLAIN, does_not_fit

# isort: split
from numba import njit, types
from numba.core import config
from numba.core.errors import NumbaError, UnsupportedBytecodeError

F = TypeVar("F", bound=Callable[..., Any])

# Inside of Numba, as all of `numba.core.config`: its names are those of the documented environment variables.
_VECTORIZE = ("LOOP_VECTORIZE", "SLP_VECTORIZE")


@contextlib.contextmanager
def settings(**values: Any) -> Iterator[None]:
    """Let Numba compile with other settings, for all threads."""
    before = {name: getattr(config, name) for name in values}
    try:
        for name, value in values.items():
            setattr(config, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(config, name, value)


def cached_in(folder: Path | None) -> contextlib.AbstractContextManager[None]:
    """Let what is decorated with `cache=True` be cached in a folder, whatever the user has chosen for other code."""
    return settings(CACHE_DIR=str(folder or ""))


def scalar() -> contextlib.AbstractContextManager[None]:
    """Let Numba compile without vector instructions."""
    return settings(**dict.fromkeys(_VECTORIZE, 0))


def _compile(function: Callable[..., Any], *, cache: bool = False, **options: Any) -> Any:
    """Return the compiled function, with the options that all kernels share.

    `nogil`: blocks run on threads. `error_model="numpy"`: no test for division by zero in the hot loop. Only what
    Python calls is cached: it holds all that it calls, and object code for every inner function costs a minute.
    """
    options |= {"nogil": True, "error_model": "numpy", "cache": cache and CACHE_FOLDER is not None}
    is_spliced = options.get("inline") == "always"
    if JIT and PLAIN and not is_spliced:
        function = _pruned(function)
    with cached_in(CACHE_FOLDER):
        compiled = njit(**options)(function)
    if JIT and not PLAIN:
        _forget_literals(compiled)
        if not is_spliced:
            _prune_when_compiled(compiled)
        if not cache:
            _make_inner(compiled, options.get("forceinline", False))
        else:
            _name_misfits(compiled)
            if CACHE_FOLDER is not None:
                tolerate_cache_errors(compiled)
    return compiled


def _pruned(function: Callable[..., Any]) -> Any:
    """Return a function without the branches that the constant flags of its parts rule out."""
    from tlsim.engine.specialize import pruned  # only who compiles needs it

    return pruned(function, spliced)


def _name_misfits(compiled: Any) -> None:
    """Let what fails inside of Numba while a kernel is compiled say that tlsim and Numba do not fit together.

    `NumbaError` and `KeyError` tell of a policy that calls the kernel with what it does not take.
    """
    compile_it = compiled.compile

    def compile_or_tell(signature: Any) -> Any:
        try:
            return compile_it(signature)
        except (NumbaError, UnsupportedBytecodeError, KeyError):
            raise
        except Exception as error:
            raise does_not_fit(error) from error

    compiled.compile = compile_or_tell


def tolerate_cache_errors(compiled: Any) -> None:
    """Let a cache file that cannot be read be compiled anew, and one that cannot be written cost only a warning.

    Numba writes files under another name and renames them: processes that start at once do no harm to each other.
    """
    load, save = compiled._cache._load_overload, compiled._cache.save_overload

    def load_or_compile(signature: Any, context: Any) -> Any:
        from numba.core.runtime import rtsys

        rtsys.initialize(context)  # what compiled code calls; what the compiler needs takes 0.15 s, and comes with it
        try:
            return load(signature, context)
        except Exception:  # a file cut short can fail in any way
            with contextlib.suppress(OSError):
                compiled._cache.flush()  # start this kernel's index anew
            return None

    def save_or_warn(signature: Any, data: Any) -> None:
        names = (variable.name for variable in data.library._final_module.global_variables)
        if any(name.startswith(".numba.unresolved") for name in names):
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
        compiler.py_func = _pruned(compiled.py_func)
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
    if JIT and not PLAIN:
        compile_it = compiled.compile

        def compile_scalar(signature: Any) -> Any:
            with scalar():
                return compile_it(signature)

        compiled.compile = compile_scalar
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
