"""The folder of compiled code: where it lies, and what it depends on."""

import hashlib
import os
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tlsim.engine.host import HAS_PDEP, JIT
from tlsim.engine.inside import PLAIN

# isort: split
import numba
from llvmlite import binding

PACKAGE = Path(__file__).parents[1]
# The sources that kernels are made of: all that knows Numba, and the rules.
SOURCES = ("errors.py", "kit.py", "rules/*.py", "engine/**/*.py", "plugins/*.py", "play/*.py")


def engine_sources() -> list[Path]:
    """Return the files whose code is compiled, or decides what is, in a fixed order."""
    return sorted(path for pattern in SOURCES for path in PACKAGE.glob(pattern))


def engine_hash() -> str:
    """Return the hash that compiled code depends on: all sources of the engine, Numba's version and the processor.

    Numba's disk cache looks at the file of a function, not at the files it imports: after a change in an imported
    kernel it would serve stale numbers. A folder named by this hash cannot.
    """
    digest = hashlib.sha256(f"{numba.__version__} {binding.get_host_cpu_name()} {HAS_PDEP} {PLAIN}".encode())
    for path in engine_sources():
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Return the folder that holds one cache folder per engine hash (`TLSIM_CACHE_DIR`, or the user's cache folder)."""
    chosen = os.environ.get("TLSIM_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(chosen) if chosen else (Path(base) if base else Path.home() / ".cache") / "tlsim"


def _make_cache_folder() -> Path | None:
    """Return the cache folder, made when missing; `None`, with one warning, when it cannot be written."""
    folder = cache_root() / engine_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"tlsim")
        probe.unlink()
    except OSError as error:
        warnings.warn(f"{folder}: {error.strerror}: compiling in memory, every start will be slow", stacklevel=2)
        return None
    return folder


CACHE_FOLDER = _make_cache_folder() if JIT else None


def is_compiled(kernels: Iterable[Any]) -> bool:
    """Return whether an earlier process has left these kernels compiled, for this version and machine."""
    names = [f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}-" for kernel in kernels]
    cached = [path.name for path in CACHE_FOLDER.rglob("*.nbc")] if CACHE_FOLDER else []
    return all(any(file.startswith(name) for file in cached) for name in names)


_announced: list[str] = []


def announce_compiling(kernels: Iterable[Any], seconds: str) -> None:
    """Say on stderr, once, that kernels are going to be compiled, when no earlier process has left them compiled."""
    if JIT and not _announced and not is_compiled(kernels):
        _announced.append(seconds)
        often = "once" if CACHE_FOLDER else "at each start, for want of a cache folder"
        sys.stderr.write(f"compiling the engine for this machine, {often}: about {seconds}\n")
        sys.stderr.flush()
