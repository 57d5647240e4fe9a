"""The folder of compiled code: where it lies, and what it depends on."""

import hashlib
import os
import re
import shutil
import sys
import tempfile
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
_OTHERS_KEPT = 3  # folders of other engines, for versions that are used in turns
_HASH = re.compile(r"[0-9a-f]{16}")
_OUR_FILES = (".nbi", ".nbc")  # what Numba writes


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
    """Return the folder that holds one cache folder per engine hash (`TLSIM_CACHE_DIR`, or the user's cache folder).

    For a user without a home, as an unknown one in a container, it is a folder of the user's among temporary files.
    """
    chosen = os.environ.get("TLSIM_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    try:
        if not chosen:
            return Path.home() / ".cache" / "tlsim"
        folder = Path(chosen).expanduser()
    except RuntimeError:  # there is no home, or no such user
        return _folder_for_now()
    return folder if os.environ.get("TLSIM_CACHE_DIR") else folder / "tlsim"


def _folder_for_now() -> Path:
    """Return the folder of the user's among temporary files."""
    return Path(tempfile.gettempdir()) / f"tlsim-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


def _make_cache_folder() -> Path | None:
    """Return the cache folder, made when missing; `None`, with one warning, when it cannot be written.

    One that cannot be written but holds compiled code, as of an image that another user has made, is used: Numba wants
    to write wherever it reads, so it gets a copy.
    """
    folder = cache_root() / engine_hash()
    try:
        if not folder.exists():
            folder.mkdir(parents=True, exist_ok=True)
            remove_old(folder)
        _check_writable(folder)
    except OSError as error:
        copy = _copy_of(folder)
        if copy is None:
            warnings.warn(f"{folder}: {error.strerror}: compiling in memory, every start will be slow", stacklevel=2)
        return copy
    return folder


def _check_writable(folder: Path) -> None:
    """Raise `OSError` unless a file can be written in a folder; this also marks when the folder was used last."""
    probe = folder / f".probe-{os.getpid()}"
    probe.write_bytes(b"tlsim")
    probe.unlink()


def _copy_of(folder: Path) -> Path | None:
    """Return a copy of a folder of compiled code that can be written, `None` without any such code or place.

    The copy must be of this user: compiled code from a folder that others can write would be theirs.
    """
    copy = _folder_for_now() / folder.name
    try:
        if not any(folder.rglob("*.nbc")):
            return None
        copy.parent.mkdir(mode=0o700, exist_ok=True)
        status = copy.parent.lstat()
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
            return None
        if not copy.exists():
            half = copy.with_name(f"{copy.name}-{os.getpid()}")
            shutil.copytree(folder, half, copy_function=shutil.copyfile)
            half.chmod(0o700)
            for inner in (path for path in half.rglob("*") if path.is_dir()):
                inner.chmod(0o700)
            half.rename(copy)
        _check_writable(copy)
    except OSError:
        return None
    return copy


def remove_old(folder: Path) -> None:
    """Remove the folders of other engines beside a new one, but for those used last; only what is surely ours."""
    others = [path for path in folder.parent.iterdir() if path != folder and _is_ours(path)]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[_OTHERS_KEPT:]:
        shutil.rmtree(path, ignore_errors=True)


def _is_ours(path: Path) -> bool:
    """Return whether a path is a folder named by a hash that holds compiled code and nothing else."""
    if not _HASH.fullmatch(path.name) or path.is_symlink() or not path.is_dir():
        return False
    return all(inner.suffix in _OUR_FILES or inner.is_dir() for inner in path.rglob("*"))


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
        if sys.stderr is not None:  # as where a parent has closed it
            sys.stderr.write(f"compiling the engine for this machine, {often}: about {seconds}\n")
            sys.stderr.flush()
