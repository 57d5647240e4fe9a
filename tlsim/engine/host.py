"""Numba, imported without SciPy, and what the compiler may use of this processor. Import it before Numba.

Below this module nothing imports Numba by itself before this one has been imported.
"""

import contextlib
import importlib.util
import os
import sys

# Whether to use nothing of Numba's that it does not document (`tlsim.engine.inside`).
PLAIN_ASKED = os.environ.get("TLSIM_PLAIN_NUMBA", "0") not in ("", "0")

_HAS_SCIPY = importlib.util.find_spec("scipy") is not None
if _HIDE_SCIPY := not PLAIN_ASKED and "scipy" not in sys.modules:
    # Numba loads SciPy to see whether it brings BLAS, which costs every start 0.13 s. Here it finds none; what it would
    # have found is put right below, so that other Numba code in this process misses nothing.
    sys.modules["scipy"] = None  # `None` is how an import is made to fail

from llvmlite import binding  # noqa: E402
from numba import from_dtype as from_dtype  # noqa: E402
from numba import types as types  # noqa: E402  # for modules that must not import Numba before this one
from numba.core import config  # noqa: E402

if _HIDE_SCIPY:
    with contextlib.suppress(ImportError):  # the module that asks for SciPy, as far as we know
        importlib.import_module("numba.np.arraymath")._HAVE_BLAS = _HAS_SCIPY  # type: ignore[attr-defined]  # not typed
    del sys.modules["scipy"]

JIT = not config.DISABLE_JIT


def _has_bmi2() -> bool:
    """Return whether code compiled here may use the BMI2 instruction PDEP."""
    if os.environ.get("TLSIM_PORTABLE") or config.CPU_NAME:
        return False
    try:
        return bool(binding.get_host_cpu_features()["bmi2"])
    except (KeyError, RuntimeError):  # not an x86 machine, or LLVM cannot tell
        return False


HAS_PDEP = _has_bmi2()
