"""Estimates with standard error and interval, from sums over independent units (deals).

No number leaves without its uncertainty: every function returns a row `estimate, se, low, high, level, n, method`.
"""

import math
from statistics import NormalDist
from typing import Any

COLUMNS = ("estimate", "se", "low", "high", "level", "n", "method")
_MANY = 1000  # from here on Student's t is within 0.2 % of the normal distribution, and SciPy is not loaded


def _row(estimate: float, se: float, low: float, high: float, level: float, n: int, method: str) -> dict[str, Any]:
    return dict(zip(COLUMNS, (estimate, se, low, high, level, n, method), strict=True))


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal value lies within ±z with probability `level`."""
    return NormalDist().inv_cdf((1 + level) / 2)


def _t_quantile(level: float, n: int) -> float:
    """Return the same for Student's t with n - 1 degrees of freedom."""
    if n >= _MANY:
        return normal_quantile(level)
    from scipy.special import stdtrit  # 0.1 s, and only small runs need it

    return float(stdtrit(n - 1, (1 + level) / 2))


def proportion(k: int, n: int, level: float) -> dict[str, Any]:
    """Return the share k/n of independent units with Wilson's score interval (Wilson 1927)."""
    if n == 0:
        return _row(math.nan, math.nan, 0.0, 1.0, level, 0, "wilson")
    z, p = normal_quantile(level), k / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = 0.0 if k == 0 else centre - half
    high = 1.0 if k == n else centre + half
    return _row(p, math.sqrt(p * (1 - p) / n), low, high, level, n, "wilson")


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
    row = mean(total, squares, n, level, most)
    row["low"], row["high"] = max(row["low"], 0.0), min(row["high"], 1.0)  # a share is never beyond
    return row
