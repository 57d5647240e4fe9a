"""Estimates with standard error and interval, from sums over independent units (deals, matches).

No number leaves without its uncertainty: every function returns a row `estimate, se, low, high, level, n, method`.
"""

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import NormalDist
from typing import Any, TypeAlias

COLUMNS = ("estimate", "se", "low", "high", "level", "n", "method")
_MANY = 100  # degrees of freedom from which on the expansion of Student's t below is exact to 1e-8 (level 0.999)

TableRow: TypeAlias = dict[str, Any]
"""A row of a table: the columns that say of what, then those of an estimate."""
Interval: TypeAlias = tuple[float, float]
"""The lower and the upper end."""

_NO_INTERVAL = math.nan, math.nan


def _row(estimate: float, se: float, interval: Interval, level: float, n: int, method: str) -> TableRow:
    """Return an estimate as a row."""
    return dict(zip(COLUMNS, (estimate, se, *interval, level, n, method), strict=True))


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal value lies within ±z with probability `level`.

    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf((1 + level) / 2)


def t_quantile(level: float, n: int) -> float:
    """Return t such that the mean of n normal values lies within ±t standard errors with probability `level`.

    Student's t with v = n - 1 degrees of freedom. For many: its expansion in powers of 1/v around the normal quantile
    (Abramowitz and Stegun, "Handbook of mathematical functions", 1964, 26.7.5).

    >>> round(t_quantile(0.95, 4), 6)
    3.182446
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


def proportion(k: int, n: int, level: float) -> TableRow:
    """Return the share k/n of independent units with Wilson's score interval.

    >>> row = proportion(3, 10, 0.95)
    >>> row["estimate"], round(row["low"], 4), round(row["high"], 4), row["method"]
    (0.3, 0.1078, 0.6032, 'wilson')
    """
    if n == 0:
        return _row(math.nan, math.nan, (0.0, 1.0), level, 0, "wilson")
    p = k / n
    return _row(p, math.sqrt(p * (1 - p) / n), wilson(p, n, level), level, n, "wilson")


def wilson(p: float, n: float, level: float) -> Interval:
    """Return Wilson's interval of a share p of n: all shares from which p is not further off than z standard errors.

    (p + z²/2n ± z sqrt(p (1 - p) / n + z²/4n²)) / (1 + z²/n), where z is the normal quantile (Wilson 1927, "Probable
    inference, the law of succession, and statistical inference"). n need not be whole.

    >>> low, high = wilson(0.0, 20, 0.95)
    >>> low, round(high, 4)
    (0.0, 0.1611)
    """
    z = normal_quantile(level)
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if p == 0 else centre - half
    high = 1.0 if p == 1 else centre + half
    return low, high


def mean(total: int, squares: int, n: int, level: float, scale: float = 1.0) -> TableRow:
    """Return the mean over units, divided by `scale`, from the sum of integer values and of their squares.

    The interval is Student's; the variance is exact before the one division. Units that are all equal have no spread:
    the method says so, and the interval is the value itself. One unit has no interval.

    >>> row = mean(6, 14, 3, 0.95)  # of 1, 2 and 3
    >>> row["estimate"], round(row["se"], 4), round(row["low"], 4), round(row["high"], 4)
    (2.0, 0.5774, -0.4841, 4.4841)
    """
    if n == 0:
        return _row(math.nan, math.nan, _NO_INTERVAL, level, 0, "mean")
    estimate = total / n / scale
    if n == 1:
        return _row(estimate, math.nan, _NO_INTERVAL, level, 1, "one unit")
    spread = n * squares - total * total  # n (n - 1) times the variance, an exact integer
    se = math.sqrt(spread / (n * (n - 1))) / math.sqrt(n) / scale
    if spread == 0:
        return _row(estimate, se, (estimate, estimate), level, n, "identical")
    half = t_quantile(level, n) * se
    return _row(estimate, se, (estimate - half, estimate + half), level, n, "mean")


def share(total: int, squares: int, n: int, level: float, most: int) -> TableRow:
    """Return a share from units that count up to `most` successes each.

    When every unit has none or all it is a proportion of units (Wilson); otherwise a mean over units.

    >>> share(8, 32, 10, 0.95, most=4) == proportion(2, 10, 0.95)  # two units with 4 of 4, eight with none
    True
    """
    if squares == most * total:
        return proportion(total // most, n, level)
    return _within(mean(total, squares, n, level, most))


def _within(row: TableRow) -> TableRow:
    """Return a row of a share, which is never beyond 0 and 1; the method says that it is one."""
    bounded = row | {"low": max(row["low"], 0.0), "high": min(row["high"], 1.0)}
    if row["method"] in ("mean", "ratio"):
        bounded["method"] = "share"
    return bounded


@dataclass(frozen=True, slots=True)
class Ratio:
    """Sums over n units of integers x and y, of their squares and of their product: what a ratio x/y needs.

    >>> row = Ratio(x=7, xx=21, xy=16, y=6, yy=14, n=3).mean(0.95)  # of the units (1, 2), (4, 3) and (2, 1)
    >>> round(row["estimate"], 4), round(row["se"], 4), row["method"]
    (1.1667, 0.3368, 'ratio')
    """

    x: int
    xx: int
    xy: int
    y: int
    yy: int
    n: int

    def mean(self, level: float, most: int | None = None) -> TableRow:
        """Return the mean of what x sums up over the parts that units have, y in number: a linearised ratio.

        Its variance is n / (n - 1) sum (x - R y)² / (sum y)², where R is the ratio (Cochran, "Sampling techniques",
        1977, chapter 6). Where units have at most `most` parts and each has none or all: a plain mean over those that
        have.
        """
        x, y, n = self.x, self.y, self.n
        if most is not None and self.yy == most * y:
            return mean(x, self.xx, y // most, level, most)
        value = x / y if y else math.nan
        if n == 1:
            return _row(value, math.nan, _NO_INTERVAL, level, n, "one unit")
        if y == 0:
            return _row(value, math.nan, _NO_INTERVAL, level, n, "ratio")
        spread = self.xx * y * y - 2 * self.xy * x * y + self.yy * x * x  # y**2 times the sum of (x - R y)**2
        se = math.sqrt(spread / (y * y) * n / (n - 1)) / y
        half = t_quantile(level, n) * se
        return _row(value, se, (value - half, value + half), level, n, "ratio" if spread else "identical")

    def share(self, level: float) -> TableRow:
        """Return x/y, a share of y occasions; Wilson's interval of so many where it is 0 or 1 and has no spread."""
        if self.x in (0, self.y):
            return proportion(self.x, self.y, level) | {"n": self.n}
        return _within(self.mean(level))


@dataclass(slots=True)
class Distribution:
    """Integer values, equally many in each of n units: how often each occurs over all units.

    `counts[k]` is the number of `values[k]`, which rise; the first k `squares` add up to the sum of the squares, over
    units, of how many values of a unit are up to the k-th. So every share of values has an error by unit. Results are
    divided by `scale`.

    >>> rolls = Distribution([1, 2, 3], [25, 50, 25], [25, 50, 25], 100, 0.95)  # a value a unit
    >>> rolls.quantile(0.5)["estimate"], round(rolls.deviation()["estimate"], 4)
    (2.0, 0.7071)
    """

    values: Sequence[int]
    counts: Sequence[int]
    squares: Sequence[int]
    n: int
    level: float
    scale: float = 1.0
    total: int = field(init=False)
    up_to: list[int] = field(init=False)  # the number of values up to each
    bounds: list[Interval] = field(init=False)  # the interval of the share of values up to each

    def __post_init__(self) -> None:
        self.total = sum(self.counts)
        self.up_to = list(accumulate(self.counts))
        self.bounds = list(map(self._bounds, self.up_to, accumulate(self.squares)))

    def _bounds(self, count: int, square: int) -> Interval:
        """Return the interval of a share of values, from as many independent values as have its error."""
        n, total, spread = self.n, self.total, self.n * square - count * count
        if n == 1:
            return -math.inf, math.inf
        if spread == 0:
            return wilson(count / total, n, self.level)
        # The variance of the share is spread / (n - 1) / total**2.
        return wilson(count / total, count * (total - count) * (n - 1) / spread, self.level)

    def deviation(self) -> TableRow:
        """Return the standard deviation, by the delta method from the second and the fourth central moment.

        In its error the values of a unit count as one, as if they were equal: the interval is at most too wide.
        """
        centre, second, fourth = sum(map(operator.mul, self.values, self.counts)) / self.total, 0.0, 0.0
        for value, count in zip(self.values, self.counts, strict=True):
            second += (value - centre) ** 2 * count / self.total
            fourth += (value - centre) ** 4 * count / self.total
        sd, n = math.sqrt(second), self.n
        if n == 1:
            return self._row(sd, math.nan, _NO_INTERVAL, "one unit")
        if sd == 0:
            return self._row(sd, 0.0, (sd, sd), "identical")
        se = math.sqrt(max(fourth - second**2, 0.0) / (n - 1)) / (2 * sd)
        half = t_quantile(self.level, n) * se
        return self._row(sd, se, (max(sd - half, 0.0), sd + half), "deviation")

    def quantile(self, q: float) -> TableRow:
        """Return the smallest value that a share q of all are up to.

        Its interval has each value that may be it: the interval of the share of values up to it holds q. An end that
        lies beyond what was seen is `nan`.
        """
        estimate = next(v for v, count in zip(self.values, self.up_to, strict=True) if count >= q * self.total)
        low = next((v for v, (_, most) in zip(self.values, self.bounds, strict=True) if most >= q), math.nan)
        high = next((v for v, (least, _) in zip(self.values, self.bounds, strict=True) if least >= q), math.nan)
        if self.n == 1 or wilson(0.0, self.n, self.level)[1] >= q:
            low = math.nan
        se = (high - low) / 2 / normal_quantile(self.level)
        return self._row(estimate, se, (low, high), "quantile")

    def _row(self, value: float, se: float, interval: Interval, method: str) -> TableRow:
        """Return an estimate as a row, in units of the scale."""
        low, high = (end / self.scale for end in interval)
        return _row(value / self.scale, se / self.scale, (low, high), self.level, self.n, method)
