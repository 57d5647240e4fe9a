"""The live line of a long run, on stderr when that is a terminal."""

import os
import shutil
import time
from collections.abc import Callable
from typing import TextIO

from tlsim.cli.streams import encodable

_PAUSE = 0.1  # seconds between two updates


class ProgressLine:
    """A line that is written over itself: count, rate, time left, current estimate. Without colour."""

    def __init__(self, stream: TextIO, unit: str = "deals") -> None:
        self._stream = stream
        self._unit = unit
        self._is_live = stream.isatty() and os.environ.get("TERM") != "dumb"  # which cannot write over a line
        self._start: tuple[float, int] | None = None  # time and deals of the first call, which rates count from
        self._last_time = 0.0  # of the last update
        self._length = 0

    def __call__(self, n_played: int, n_asked: int, estimate: Callable[[], str]) -> None:
        """Show where the run is, at most ten times a second."""
        now = time.monotonic()
        if self._start is None:
            self._start, self._last_time = (now, n_played), now
        elif self._is_live and now - self._last_time >= _PAUSE and n_played > self._start[1]:
            rate = (n_played - self._start[1]) / (now - self._start[0])
            left = duration((n_asked - n_played) / rate)
            count = f"{short(n_played)} of {short(n_asked)} {self._unit}"
            self._last_time = now
            self._write(f"{count} · {short(rate)}/s · {left} left · {estimate()}")

    def clear(self) -> None:
        """Erase the line."""
        if self._length:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, line: str) -> None:
        line = encodable(line, self._stream)[: shutil.get_terminal_size().columns - 1]
        self._stream.write("\r" + line.ljust(self._length))
        self._stream.flush()
        self._length = len(line)


def short(number: float) -> str:
    """Return a count with three digits, as `-n` reads it: `4.26M`."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= 1e3 * size:
            return f"{number / size:,.0f}{unit}"
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


def duration(seconds: float) -> str:
    """Return a time for reading: `12 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
