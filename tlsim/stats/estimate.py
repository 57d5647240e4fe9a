"""Estimates with standard error and interval, from sums over independent units (deals, matches).

No number leaves without its uncertainty: every function returns a row `estimate, se, low, high, level, n, method`.
docs/design/statistics.md has the methods, with their sources.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, TypeAlias

from tlsim.stats.intervals import (
    FEW,
    Interval,
    clopper_pearson,
    fay_feuer,
    none_of,
    normal_quantile,
    of_equal_units,
    t_quantile,
    wilson,
)

COLUMNS = ("estimate", "se", "low", "high", "level", "n", "method")
METHODS_OF_SHARES = ("wilson", "clopper-pearson", "share", "rare share", "share, all equal")
SHARE = (0.0, 1.0)  # what a share can be
_RARE = 30  # events, counted as equal ones, up to which a mean count has the interval of a rare one

TableRow: TypeAlias = dict[str, Any]
"""A row of a table: the columns that say of what, then those of an estimate."""

_NO_INTERVAL = math.nan, math.nan


def _row(estimate: float, se: float, interval: Interval, level: float, n: int, method: str) -> TableRow:
    """Return an estimate as a row."""
    return dict(zip(COLUMNS, (estimate, se, *interval, level, n, method), strict=True))


def by_rule(value: float, n: int, level: float) -> TableRow:
    """Return a value that every unit must have by the rules of the game, whatever is dealt and played.

    >>> by_rule(0.25, 100, 0.95)["method"]
    'by rule'
    """
    return _row(value, 0.0, (value, value), level, n, "by rule")


def proportion(k: int, n: int, level: float) -> TableRow:
    """Return the share k/n of independent units: Wilson's score interval, or Clopper and Pearson's at either end.

    >>> row = proportion(5, 10, 0.95)
    >>> row["estimate"], round(row["low"], 4), round(row["high"], 4), row["method"]
    (0.5, 0.2366, 0.7634, 'wilson')
    >>> proportion(0, 1000, 0.95)["method"]
    'clopper-pearson'
    """
    if n == 0:
        return _row(math.nan, math.nan, SHARE, level, 0, "wilson")
    p = k / n
    se = math.sqrt(p * (1 - p) / n)
    if min(k, n - k) < FEW:
        return _row(p, se, clopper_pearson(k, n, level), level, n, "clopper-pearson")
    return _row(p, se, wilson(p, n, level), level, n, "wilson")


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums over n units of integers, and of their squares: what a mean needs.

    >>> row = Sums(6, 14, 3).mean(0.95)  # of 1, 2 and 3
    >>> row["estimate"], round(row["se"], 4), round(row["low"], 4), round(row["high"], 4)
    (2.0, 0.5774, -0.4841, 4.4841)
    """

    total: int
    squares: int
    n: int

    @property
    def spread(self) -> int:
        """Return n (n - 1) times the variance: an exact integer, 0 where all units are equal."""
        return self.n * self.squares - self.total * self.total

    def error(self, scale: float = 1.0) -> float:
        """Return the standard error of the mean, divided by `scale`; `nan` for one unit."""
        n = self.n
        return math.sqrt(self.spread / (n * (n - 1))) / math.sqrt(n) / scale if n > 1 else math.nan

    def errors(self, scale: float, far: Interval | None) -> Interval:
        """Return the error below the mean and that above, each with what one more unit far out there would add."""
        se = self.error(scale)
        if far is None or self.n < 2:
            return se, se
        mean, root = self.total / self.n / scale, math.sqrt(self.n * (self.n - 1))
        below, above = max(mean - far[0], 0.0), max(far[1] - mean, 0.0)
        return math.hypot(se, below / root), math.hypot(se, above / root)

    def mean(
        self, level: float, scale: float = 1.0, bounds: Interval | None = None, far: Interval | None = None
    ) -> TableRow:
        """Return the mean over units, divided by `scale`, with Student's interval.

        `far`: what a rare unit may be, of which few may have been seen. Either end of the interval allows for one more.

        Units that happen to be all equal show no spread. What they can be at all (`bounds`, of the result) then says
        how far off the mean may be. Without bounds they have no interval, and neither has one unit.
        """
        n = self.n
        if n == 0:
            return _row(math.nan, math.nan, _NO_INTERVAL, level, 0, "mean")
        value, se = self.total / n / scale, self.error(scale)
        if n == 1:
            return _row(value, se, _NO_INTERVAL, level, n, "one unit")
        if self.spread == 0:
            interval = of_equal_units(value, n, level, bounds) if bounds else _NO_INTERVAL
            return _row(value, se, interval, level, n, "all equal")
        t, (below, above) = t_quantile(level, n), self.errors(scale, far)
        return _row(value, se, (value - t * below, value + t * above), level, n, "mean")

    def count(self, level: float, scale: float, event: int) -> TableRow:
        """Return the mean count of something, divided by `scale`: rare events have the interval of Fay and Feuer.

        `event` is what one event adds to a unit, at most.

        >>> row = Sums(0, 0, 1000).count(0.95, 1, 1)
        >>> row["low"], round(row["high"], 5), row["method"]
        (0.0, 0.00369, 'gamma')
        """
        if self.n == 0 or not self.is_rare:
            return self.mean(level, scale)
        low, high = fay_feuer(self.total, self.squares, event, level)
        parts = self.n * scale
        return _row(self.total / parts, self.error(scale), (low / parts, high / parts), level, self.n, "gamma")

    @property
    def is_rare(self) -> bool:
        """Return whether the sum is that of so few events, counted as equal ones, that they are rare."""
        return self.total * self.total < _RARE * self.squares or self.total == 0

    def share(self, level: float, most: int, event: int | None = None, far: Interval | None = None) -> TableRow:
        """Return a share from units that count up to `most` successes each; `event` is what one occasion can add.

        When every unit has none or all it is a proportion of units. `far` is as of `mean`.

        >>> Sums(20, 80, 50).share(0.95, 4) == proportion(5, 50, 0.95)  # five units have 4 of 4, the others none
        True
        """
        event = event or most
        if event == most and self.squares == most * self.total:
            return proportion(self.total // most, self.n, level)
        if self.spread == 0 and self.total not in (0, most * self.n):
            return self.mean(level, most, SHARE) | {"method": "share, all equal" if self.n > 1 else "one unit"}
        p = self.total / (most * self.n)
        occasions = _Occasions(self.total, self.squares, most * self.n, self.other(most), event)
        return _share_row(p, self.error(most), self.errors(most, far), occasions, (level, self.n))

    def other(self, most: int) -> int:
        """Return the sum of the squares of what units lack of `most`."""
        return most * most * self.n - 2 * most * self.total + self.squares


@dataclass(frozen=True, slots=True)
class _Occasions:
    """What is counted of a share: successes and their squares by unit, all occasions, the squares of failures."""

    total: int
    squares: int
    all: int
    squares_of_others: int
    event: int  # what one independent occasion can add

    def interval_of_few(self, level: float) -> Interval:
        """Return the interval of a share of few successes, or of few failures."""
        if 2 * self.total > self.all:
            low, high = self.turned().interval_of_few(level)
            return 1 - high, 1 - low
        if self.total == 0:
            return 0.0, none_of(self.all / self.event, level)
        low, high = fay_feuer(self.total, self.squares, self.event, level)
        return low / self.all, min(high / self.all, 1.0)

    def turned(self) -> "_Occasions":
        """Return the failures as successes."""
        return _Occasions(self.all - self.total, self.squares_of_others, self.all, self.squares, self.event)


def _share_row(
    p: float, se: float, errors: Interval, occasions: _Occasions, level_and_units: tuple[float, int]
) -> TableRow:
    """Return a share as a row: Wilson's interval of as many independent units as have its error, at either end.

    The error comes from n units, so that Student's t replaces the normal quantile. Few successes or failures are rare
    events.
    """
    level, n = level_and_units
    if p in (0, 1) or not se > 0:
        return _row(p, se, occasions.interval_of_few(level), level, n, "rare share")
    ratio = t_quantile(level, n) / normal_quantile(level)
    if p * (1 - p) / (se * ratio) ** 2 * min(p, 1 - p) < FEW:
        return _row(p, se, occasions.interval_of_few(level), level, n, "rare share")
    below, above = (wilson(p, p * (1 - p) / (error * ratio) ** 2, level) for error in errors)
    return _row(p, se, (below[0], above[1]), level, n, "share")


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

    def mean(self, level: float, most: int | None = None, bounds: Interval | None = None) -> TableRow:
        """Return the mean of what x sums up over the parts that units have, y in number: a linearised ratio.

        Where units have at most `most` parts and each has none or all: a plain mean over those that have.
        """
        if most is not None and self.yy == most * self.y:
            return Sums(self.x, self.xx, self.y // most).mean(level, most, bounds)
        value, se, n = self.value, self.error(), self.n
        if n == 1:
            return _row(value, math.nan, _NO_INTERVAL, level, n, "one unit")
        if self.y == 0:
            return _row(value, math.nan, _NO_INTERVAL, level, n, "ratio")
        if se == 0:
            interval = of_equal_units(value, n, level, bounds) if bounds else _NO_INTERVAL
            return _row(value, se, interval, level, n, "all equal")
        half = t_quantile(level, n) * se
        return _row(value, se, (value - half, value + half), level, n, "ratio")

    @property
    def value(self) -> float:
        """Return x/y."""
        return self.x / self.y if self.y else math.nan

    def error(self) -> float:
        """Return the standard error of x/y; `nan` where it has none.

        Its square is n / (n - 1) sum (x - R y)² / (sum y)², where R is the ratio (Cochran, "Sampling techniques", 1977,
        chapter 6).
        """
        x, y, n = self.x, self.y, self.n
        if n == 1 or y == 0:
            return math.nan
        spread = self.xx * y * y - 2 * self.xy * x * y + self.yy * x * x  # y**2 times the sum of (x - R y)**2
        return math.sqrt(spread / (y * y) * n / (n - 1)) / y

    def count(self, level: float, most: int, event: int) -> TableRow:
        """Return the mean count of something a part, as `mean`; rare events as in `Sums.count`."""
        if self.yy == most * self.y:
            return Sums(self.x, self.xx, self.y // most).count(level, most, event)
        if not Sums(self.x, self.xx, self.n).is_rare:
            return self.mean(level, most)
        low, high = fay_feuer(self.x, self.xx, event, level)
        return _row(self.value, self.error(), (low / self.y, high / self.y), level, self.n, "gamma")

    def share(self, level: float, event: int) -> TableRow:
        """Return x/y, a share of y occasions, of which `event` hang together."""
        if self.y == 0:
            return proportion(0, 0, level) | {"n": self.n}
        se = self.error()
        if se == 0 and self.x not in (0, self.y):
            return self.mean(level, bounds=SHARE) | {"method": "share, all equal"}
        occasions = _Occasions(self.x, self.xx, self.y, self.yy - 2 * self.xy + self.xx, event)
        return _share_row(self.value, se, (se, se), occasions, (level, self.n))


@dataclass(frozen=True, slots=True)
class Deviation:
    """Sums over n units of `size` integers each, of A, their sum, and of B, the sum of their squares.

    `a`, `b` are the sums of A and B over units, `aa`, `ab`, `bb` those of their products.

    >>> row = Deviation(a=0, b=20, aa=0, ab=0, bb=250, n=2, size=5).row(0.95)  # of units with B = 15 and B = 5
    >>> round(row["estimate"], 4), round(row["se"], 4)
    (1.4142, 0.3536)
    """

    a: int
    b: int
    aa: int
    ab: int
    bb: int
    n: int
    size: int

    def row(self, level: float, scale: float = 1.0, most: float = math.inf) -> TableRow:
        """Return the standard deviation of all values, divided by `scale`; none is further from 0 than `most`.

        By the delta method: the error of the variance is that of the mean, over units, of the sum of (x - m)² in a
        unit, and that of its root is as large divided by twice the root.
        """
        n, values = self.n, self.n * self.size
        variance = (values * self.b - self.a * self.a) / (values * values)
        sd = math.sqrt(variance) / scale
        if n == 1:
            return _row(sd, math.nan, _NO_INTERVAL, level, n, "one unit")
        spread = self._spread()
        if spread == 0:
            unseen, furthest = none_of(n, level), (2 * most / scale) ** 2
            ends = math.sqrt((1 - unseen) * sd * sd), math.sqrt((1 - unseen) * sd * sd + unseen * furthest)
            return _row(sd, 0.0, ends, level, n, "all equal")
        se = math.sqrt(spread / (n - 1)) / values / (2 * math.sqrt(variance)) / scale
        factor = math.exp(t_quantile(level, n) * se / sd)
        return _row(sd, se, (sd / factor, sd * factor), level, n, "deviation")

    def _spread(self) -> float:
        """Return n times the sum, over units, of (D - mean D)² where D is the sum of (x - m)² in a unit.

        D is B - 2 m A and a constant. All is exact up to the one division.
        """
        n, values = self.n, self.n * self.size
        bb, ab, aa = n * self.bb - self.b**2, n * self.ab - self.a * self.b, n * self.aa - self.a**2
        return (values * values * bb - 4 * self.a * values * ab + 4 * self.a**2 * aa) / (values * values)


@dataclass(slots=True)
class Distribution:
    """Integer values, equally many in each of n units: how often each occurs over all units.

    `counts[k]` is the number of `values[k]`, which rise; the first k `squares` add up to the sum of the squares, over
    units, of how many values of a unit are up to the k-th. So every share of values has an error by unit. Results are
    divided by `scale`.

    >>> rolls = Distribution([1, 2, 3], [25, 50, 25], [25, 50, 25], 100, 0.95)  # a value a unit
    >>> rolls.quantile(0.5)["estimate"]
    2.0
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
    shrinking: float = field(init=False)  # the square of what the normal quantile is of Student's

    def __post_init__(self) -> None:
        self.total = sum(self.counts)
        self.shrinking = (normal_quantile(self.level) / t_quantile(self.level, self.n)) ** 2 if self.n > 1 else 0.0
        self.up_to = list(accumulate(self.counts))
        self.bounds = list(map(self._bounds, self.up_to, accumulate(self.squares)))

    def _bounds(self, count: int, square: int) -> Interval:
        """Return the interval of a share of values, from as many independent values as have its error."""
        n, total, spread = self.n, self.total, self.n * square - count * count
        if n == 1:
            return -math.inf, math.inf
        if spread == 0:
            return wilson(count / total, n, self.level)
        # The variance of the share is spread / (n - 1) / total**2; the error comes from n units.
        n_effective = count * (total - count) * (n - 1) / spread * self.shrinking
        return wilson(count / total, n_effective, self.level)

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
        low, high = low / self.scale, high / self.scale
        se = (high - low) / 2 / normal_quantile(self.level)
        return _row(estimate / self.scale, se, (low, high), self.level, self.n, "quantile")
