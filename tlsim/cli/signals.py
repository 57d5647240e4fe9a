"""What ends a run: Ctrl-C, and the signals of schedulers and closed terminals, which end it as Ctrl-C does."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_PAUSE = 0.02  # seconds until a signal that came during an import is sent again
_received: list[int] = []


def exit_code() -> int:
    """Return the exit code of an interrupted run: 128 and the number of the signal, so 130 for Ctrl-C."""
    return 128 + (_received[-1] if _received else signal.SIGINT)


@contextlib.contextmanager
def as_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP interrupt the block, unless they are ignored, as under `nohup`."""
    _received.clear()
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Raise `KeyboardInterrupt`; while a module is imported or compiled code loaded, as soon as it is.

    NumPy and others take any exception in their midst for a broken installation, and what is raised in a function that
    LLVM has called is lost. SIGTERM and SIGHUP count once: what is
    done is printed in the time that is left.
    """
    if _is_loading(frame):
        again = threading.Timer(_PAUSE, os.kill, (os.getpid(), number))
        again.daemon = True
        again.start()
        return
    _received.append(number)
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _is_loading(frame: FrameType | None) -> bool:
    """Return whether a place in the code is within an import, or within what calls LLVM or is called by it."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith("<frozen importlib") or "llvmlite" in file:
            return True
        frame = frame.f_back
    return False
