"""The machine we are on: its processor, its cores, what is installed, and what is wrong with it."""

import os
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

NEEDED = ("numba", "numpy", "polars")  # packages that results may depend on
OPTIONAL = {"matplotlib": "plots", "pandas": "to_pandas"}


def cpu_name() -> str:
    """Return the name of the processor, as far as the system tells it."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def n_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def version_of(package: str) -> str | None:
    """Return the version of an installed package, `None` when it is missing."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def all_kernels() -> list[Any]:
    """Return the kernels that commands and policies call: what `tlsim warmup` compiles."""
    from tlsim import kit
    from tlsim.engine import bulk, calls, deal_counts
    from tlsim.play import matches, runner

    others = [kernel for module in (matches, bulk, deal_counts, kit) for kernel in module.KERNELS]
    return [*runner.all_kernels(), *others, *calls.lazy_kernels()]


def facts() -> Iterator[tuple[str, str]]:
    """Yield what there is to know about this machine, as `(item, value)`."""
    from tlsim import __version__
    from tlsim.engine import cache, host, inside, rng

    yield "tlsim", __version__
    yield "python", f"{platform.python_implementation()} {platform.python_version()}"
    for package in (*NEEDED, "llvmlite", "click", "scipy", *OPTIONAL):
        yield package, version_of(package) or "not installed"
    yield "random stream", f"version {rng.VERSION}"
    yield "system", f"{platform.system()} {platform.release()} {platform.machine()}"
    yield "cpu", cpu_name()
    yield "bit deposit", "BMI2 (PDEP)" if host.HAS_PDEP else "portable loop"
    yield "compiler", "the plain way (only what Numba documents)" if inside.PLAIN else "the fast way"
    yield "threads", f"{n_cores()} of {os.cpu_count()} cores"
    yield "cache folder", str(cache.CACHE_FOLDER or f"none: {cache.cache_root()} cannot be used")
    yield "compiled", "yes" if cache.is_compiled(all_kernels()) else "not all of it"


def problems() -> Iterator[tuple[str, str]]:
    """Yield what is wrong, as `(problem, what to do)`."""
    from tlsim.engine import cache, host

    if not host.JIT:
        yield "NUMBA_DISABLE_JIT is set: everything runs hundreds of times slower", "unset it, but to debug"
    elif cache.CACHE_FOLDER is None:
        yield f"{cache.cache_root()} cannot be written: each start compiles", "set TLSIM_CACHE_DIR to a folder of yours"
    elif not cache.is_compiled(all_kernels()):
        yield "not all of the engine is compiled yet: some commands take 20 s longer once", "tlsim warmup"
    if os.environ.get("TLSIM_PORTABLE") and platform.machine() in ("x86_64", "AMD64"):
        yield "TLSIM_PORTABLE is set: instructions of this processor are not used", "unset it, but to test"
    for package, use in OPTIONAL.items():
        if version_of(package) is None:
            yield f"{package} is not installed: no {use}", f"pip install {package}"
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"  # what replaces stdout need not have one
    if encoding.lower().replace("-", "") != "utf8":
        yield f"the output is {sys.stdout.encoding}, not UTF-8: ♠ ± may fail", "set PYTHONUTF8=1"
