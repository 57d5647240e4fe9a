"""Whether kernels are compiled the fast way, which leans on Numba's inside, or the plain way, which does not.

`docs/design/numba.md` names each thing of Numba's that the fast way uses without that Numba documents it: where, for
what gain, and which test in `tests/test_canaries.py` guards it. The plain way is slower to compile and gives the same
bits. It is taken when `TLSIM_PLAIN_NUMBA=1` asks for it, and by itself when something that the fast way needs is gone.
"""

import importlib
import warnings
from collections.abc import Iterator
from functools import reduce
from importlib import metadata
from typing import Any

from tlsim.engine.host import JIT, PLAIN_ASKED
from tlsim.errors import DoesNotFit

# isort: split
import numba
from numba import njit

# What must be there, by module. `tests/test_canaries.py` goes on from here: it tests that each does what it did.
NEEDED = {
    "numba.core.compiler": (
        *("CompilerBase", "DefaultPassBuilder.define_nopython_pipeline"),
        *("Flags.no_compile", "Flags.no_cpython_wrapper", "Flags.no_cfunc_wrapper", "Flags.forceinline"),
    ),
    "numba.core.compiler_machinery": ("register_pass",),
    "numba.core.compiler_lock": ("global_compiler_lock",),
    "numba.core.typed_passes": ("BaseNativeLowering", "NativeLowering"),
    "numba.core.lowering": ("Lower.create_cpython_wrapper", "Lower.create_cfunc_wrapper"),
    "numba.core.runtime": ("rtsys.initialize",),
    "numba.core.caching": ("FunctionCache._load_overload", "FunctionCache.save_overload", "FunctionCache.flush"),
    "numba.core.config": ("CACHE_DIR", "LOOP_VECTORIZE", "SLP_VECTORIZE"),
    "numba.core.codegen": (
        *("JITCPUCodegen._module_pass_manager", "JITCPUCodegen._function_pass_manager", "create_pass_builder"),
        *("JITCodeLibrary.get_pointer_to_function", "JITCodeLibrary._get_module_for_linking"),
        "JITCodeLibrary._optimize_final_module",
    ),
}
NEEDED_OF_DISPATCHERS = (
    *("_compiler._customize_flags", "_compiler._compile_core", "_compiler.py_func"),
    *("_cache", "add_overload", "get_call_template", "overloads", "targetoptions"),
)


def versions() -> str:
    """Return the versions of tlsim, Numba and llvmlite, as a part of a sentence."""
    try:
        own = metadata.version("tlsim")
    except metadata.PackageNotFoundError:  # run from a folder, not installed
        own = ""
    return f"tlsim {own} and Numba {numba.__version__} (llvmlite {metadata.version('llvmlite')})".replace("  ", " ")


def does_not_fit(error: BaseException) -> DoesNotFit:
    """Return the exception to raise where what we lean on fails with `error`: it says how to go on."""
    if isinstance(error, DoesNotFit):
        return error
    go_on = "install another version of Numba" if PLAIN else "set TLSIM_PLAIN_NUMBA=1 to compile the plain way"
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return DoesNotFit(f"{versions()} do not fit together: {reason[:300]}; {go_on}, and report this")


_warned: list[str] = []


def warn_of_plain_way(reason: str) -> None:
    """Warn, once in a process, that Numba is not as we know it and kernels are compiled the plain way."""
    if not _warned:
        _warned.append(reason)
        text = f"{versions()} do not fit together: {reason}; compiling the plain way, which takes longer"
        warnings.warn(f"{text} (TLSIM_PLAIN_NUMBA=1 chooses it without this warning)", stacklevel=2)


def _sample() -> None:
    """Do nothing: Numba's dispatcher of this shows what dispatchers have."""


def missing() -> Iterator[str]:
    """Yield what the fast way needs and Numba does not have."""
    for module, names in NEEDED.items():
        for name in names:
            try:
                reduce(getattr, name.split("."), importlib.import_module(module))
            except (AttributeError, ImportError):
                yield f"{module}.{name}"
    dispatcher: Any = njit(_sample)
    for name in NEEDED_OF_DISPATCHERS:
        try:
            reduce(getattr, name.split("."), dispatcher)
        except AttributeError:
            yield f"{type(dispatcher).__name__}.{name}"


def _is_plain() -> bool:
    """Return whether kernels are compiled the plain way; warn when nobody asked for it."""
    if PLAIN_ASKED or not JIT:
        return PLAIN_ASKED
    names = list(missing())
    if names:
        warn_of_plain_way(f"there is no {', '.join(names)}")
    return bool(names)


PLAIN = _is_plain()
