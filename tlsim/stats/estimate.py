"""Estimates with standard error and interval, from sums over independent units (deals, matches).

No number leaves without its uncertainty: every function returns a row `estimate, se, low, high, level, n, method`.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist
from typing import Any

COLUMNS = ("estimate", "se", "low", "high", "level", "n", "method")
_MANY = 100  # degrees of freedom from which on the expansion of Student's t below is exact to 1e-8 (level 0.999)


def _row(estimate: float, se: float, low: float, high: float, level: float, n: int, method: str) -> dict[str, Any]:
    return dict(zip(COLUMNS, (estimate, se, low, high, level, n, method), strict=True))


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal value lies within ±z with probability `level`."""
    return NormalDist().inv_cdf((1 + level) / 2)


def _t_quantile(level: float, n: int) -> float:
    """Return the same for Student's t with n - 1 degrees of freedom.

    (Abramowitz and Stegun, "Handbook of mathematical functions", 1964, 26.7.5.)
    """
    z, v = normal_quantile(level), n - 1
    if v < _MANY:
        from scipy.special import stdtrit  # 0.15 s, and only small runs need it

        return float(stdtrit(v, (1 + level) / 2))
    y = z * z
    terms = (
        z * (y + 1) / 4,
        z * (5 * y**2 + 16 * y + 3) / 96,
        z * (3 * y**3 + 19 * y**2 + 17 * y - 15) / 384,
        z * (79 * y**4 + 776 * y**3 + 1482 * y**2 - 1920 * y - 945) / 92160,
    )
    return z + math.fsum(term / v**k for k, term in enumerate(terms, 1))


def proportion(k: int, n: int, level: float) -> dict[str, Any]:
    """Return the share k/n of independent units with Wilson's score interval (Wilson 1927)."""
    if n == 0:
        return _row(math.nan, math.nan, 0.0, 1.0, level, 0, "wilson")
    p = k / n
    low, high = _wilson(p, n, level)
    return _row(p, math.sqrt(p * (1 - p) / n), low, high, level, n, "wilson")


def _wilson(p: float, n: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share p of n."""
    z = normal_quantile(level)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return 0.0 if p == 0 else centre - half, 1.0 if p == 1 else centre + half


def mean(total: int, squares: int, n: int, level: float, scale: float = 1.0) -> dict[str, Any]:
    """Return the mean over units, divided by `scale`, from the sum of integer values and of their squares.

    Student's t interval; the variance is exact before the one division. Units that are all equal have no spread: the
    method says so, and the interval is the value itself. One unit has no interval.
    """
    if n == 0:
        return _row(math.nan, math.nan, math.nan, math.nan, level, 0, "mean")
    estimate = total / n / scale
    if n == 1:
        return _row(estimate, math.nan, math.nan, math.nan, level, 1, "one unit")
    spread = n * squares - total * total  # n (n - 1) times the variance, an exact integer
    se = math.sqrt(spread / (n * (n - 1))) / math.sqrt(n) / scale
    half = _t_quantile(level, n) * se if spread else 0.0
    return _row(estimate, se, estimate - half, estimate + half, level, n, "mean" if spread else "identical")


def share(total: int, squares: int, n: int, level: float, most: int) -> dict[str, Any]:
    """Return a share from units that count up to `most` successes each.

    When every unit has none or all it is a proportion of units (Wilson); otherwise a mean over units.
    """
    if squares == most * total:
        return proportion(total // most, n, level)
    return _within(mean(total, squares, n, level, most))


def _within(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of a share, which is never beyond 0 and 1; the method says that it is one."""
    method = "share" if row["method"] in ("mean", "ratio") else row["method"]
    return row | {"low": max(row["low"], 0.0), "high": min(row["high"], 1.0), "method": method}


@dataclass(frozen=True, slots=True)
class Ratio:
    """Sums over n units of integers x and y, of their squares and of their product: what a ratio x/y needs."""

    x: int
    xx: int
    xy: int
    y: int
    yy: int
    n: int

    def mean(self, level: float, most: int | None = None) -> dict[str, Any]:
        """Return the mean of what x sums up over the parts that units have, y in number: a linearised ratio.

        (Cochran, "Sampling techniques", 1977, chapter 6.) Where units have at most `most` parts and each has none or
        all, a plain mean over those that have.
        """
        x, y, n = self.x, self.y, self.n
        if most is not None and self.yy == most * y:
            return mean(x, self.xx, y // most, level, most)
        if y == 0 or n == 1:
            value = x / y if y else math.nan
            return _row(value, math.nan, math.nan, math.nan, level, n, "one unit" if n == 1 else "ratio")
        spread = self.xx * y * y - 2 * self.xy * x * y + self.yy * x * x  # y**2 times the sum of (x - R y)**2
        se = math.sqrt(spread / (y * y) * n / (n - 1)) / y
        half = _t_quantile(level, n) * se
        return _row(x / y, se, x / y - half, x / y + half, level, n, "ratio" if spread else "identical")

    def share(self, level: float) -> dict[str, Any]:
        """Return x/y, a share of y occasions; Wilson's interval of so many where it is 0 or 1 and has no spread."""
        if self.x in (0, self.y):
            return proportion(self.x, self.y, level) | {"n": self.n}
        return _within(self.mean(level))


class Distribution:
    """Integer values, equally many in each of n units: how often each occurs over all units.

    `counts[k]` is the number of `values[k]`, which rise; the first k `squares` add up to the sum of the squares, over
    units, of how many values of a unit are up to the k-th. So every share of values has an error by unit. Results are
    divided by `scale`.
    """

    def __init__(
        self,
        values: Sequence[int],
        counts: Sequence[int],
        squares: Sequence[int],
        n: int,
        level: float,
        scale: float = 1.0,
    ) -> None:
        self.values, self.counts, self.n, self.level, self.scale = values, counts, n, level, scale
        self.total = sum(counts)
        self.up_to = list(accumulate(counts))
        self.bounds = list(map(self._bounds, self.up_to, accumulate(squares)))

    def _bounds(self, count: int, square: int) -> tuple[float, float]:
        """Return the interval of a share of values, from as many independent values as have its error."""
        n, total, spread = self.n, self.total, self.n * square - count * count
        if n == 1:
            return -math.inf, math.inf
        # The variance of the share is spread / (n - 1) / total**2.
        return _wilson(count / total, count * (total - count) * (n - 1) / spread if spread else n, self.level)

    def deviation(self) -> dict[str, Any]:
        """Return the standard deviation.

        In its error the values of a unit count as one, as if they were equal: at most too wide.
        """
        centre, second, fourth = sum(map(operator.mul, self.values, self.counts)) / self.total, 0.0, 0.0
        for value, count in zip(self.values, self.counts, strict=True):
            second += (value - centre) ** 2 * count / self.total
            fourth += (value - centre) ** 4 * count / self.total
        sd, n = math.sqrt(second), self.n
        if n == 1 or sd == 0:
            half = math.nan if n == 1 else 0.0
            return self._row(sd, half, sd - half, sd + half, "one unit" if n == 1 else "identical")
        se = math.sqrt(max(fourth - second**2, 0.0) / (n - 1)) / (2 * sd)
        half = _t_quantile(self.level, n) * se
        return self._row(sd, se, max(sd - half, 0.0), sd + half, "deviation")

    def quantile(self, q: float) -> dict[str, Any]:
        """Return the smallest value that a share q of all are up to.

        It may be any value whose share up to it may be q by its interval; an end that lies beyond what was seen is
        `nan`.
        """
        found = next(v for v, count in zip(self.values, self.up_to, strict=True) if count >= q * self.total)
        low = next((v for v, (_, most) in zip(self.values, self.bounds, strict=True) if most >= q), math.nan)
        high = next((v for v, (least, _) in zip(self.values, self.bounds, strict=True) if least >= q), math.nan)
        if self.n == 1 or _wilson(0.0, self.n, self.level)[1] >= q:
            low = math.nan
        return self._row(found, (high - low) / 2 / normal_quantile(self.level), low, high, "quantile")

    def _row(self, value: float, se: float, low: float, high: float, method: str) -> dict[str, Any]:
        scale = self.scale
        return _row(value / scale, se / scale, low / scale, high / scale, self.level, self.n, method)
