"""Intervals, and the quantiles that they need; docs/design/statistics.md says which is used for what, and why.

None of this needs SciPy but Student's t for few units: every run has a rare count, and the import costs 0.15 s.
"""

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import TypeAlias

Interval: TypeAlias = tuple[float, float]
"""The lower and the upper end."""

FEW = 5  # successes or failures of independent units, from which on Wilson's interval covers what it says

_MANY = 100  # degrees of freedom from which on the expansion of Student's t below is exact to 1e-8 (level 0.999)
_PRECISE, _MOST_STEPS = 1e-14, 200


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


# ------------------------------------------------------------------------------------------------ shares


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


def none_of(n: float, level: float) -> float:
    """Return the largest share of which n independent units may well hold none; n need not be whole.

    The chance of none is (1 - p)^n; here it is half of what the level leaves (Clopper and Pearson for 0 of n).

    >>> round(none_of(100, 0.95), 4)
    0.0362
    """
    return -math.expm1(math.log((1 - level) / 2) / n)


def clopper_pearson(k: int, n: int, level: float) -> Interval:
    """Return the interval of a share k/n, where k or n - k is small: all shares from which k is not too far off.

    By the binomial distribution itself (Clopper and Pearson 1934, "The use of confidence or fiducial limits illustrated
    in the case of the binomial").

    >>> low, high = clopper_pearson(1, 20, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0013, 0.2487)
    """
    if 2 * k > n:
        low, high = clopper_pearson(n - k, n, level)
        return 1 - high, 1 - low
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else _where(lambda p: _at_most(k - 1, n, p) - (1 - tail))
    return low, _where(lambda p: _at_most(k, n, p) - tail)


def _at_most(k: int, n: int, p: float) -> float:
    """Return the probability of at most k successes among n, each with probability p."""
    if p >= 1:
        return float(k >= n)
    return math.fsum(math.comb(n, i) * p**i * math.exp((n - i) * math.log1p(-p)) for i in range(k + 1))


def _where(falls: Callable[[float], float]) -> float:
    """Return where a function that falls from 0 to 1 is zero, by halving."""
    low, high = 0.0, 1.0
    while high - low > _PRECISE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if falls(middle) > 0 else (low, middle)
    return (low + high) / 2


# ------------------------------------------------------------------------------------------------ counts


def fay_feuer(total: float, squares: float, most: float, level: float) -> Interval:
    """Return the interval of the expected sum of a few rare events that count differently; `most`: what one can add.

    A sum X of events that add up to the squares Q is like a Poisson count of X²/Q events of Q/X each; the upper end
    allows for one more event of the largest kind (Fay and Feuer 1997, "Confidence intervals for directly standardized
    rates: a method based on the gamma distribution").

    >>> low, high = fay_feuer(0, 0, 1, 0.95)
    >>> low, round(high, 2)
    (0.0, 3.69)
    """
    tail, more = (1 - level) / 2, total + most
    low = 0.0 if total == 0 else squares / total * gamma_quantile(tail, total * total / squares)
    wider = squares + most * most
    return low, wider / more * gamma_quantile(1 - tail, more * more / wider)


def gamma_quantile(q: float, shape: float) -> float:
    """Return what a gamma variable of scale 1 is below with probability q: half a chi-square of twice the shape.

    Newton's method from Wilson and Hilferty's cube, with halving where a step leaves what is known to hold it.

    >>> round(2 * gamma_quantile(0.975, 1), 6)  # chi-square with two degrees of freedom: -2 log 0.025
    7.377759
    """
    cube = 1 - 1 / (9 * shape) + NormalDist().inv_cdf(q) / (3 * math.sqrt(shape))
    x = shape * max(cube, 0.1) ** 3
    low, high = 0.0, math.inf
    for _ in range(_MOST_STEPS):
        excess = regularised_gamma(shape, x) - q
        low, high = (low, x) if excess > 0 else (x, high)
        density = math.exp((shape - 1) * math.log(x) - x - math.lgamma(shape))
        after = x - excess / density if density > 0 else math.inf
        if not low < after < high:
            after = (low + high) / 2 if math.isfinite(high) else 2 * x
        if abs(after - x) <= _PRECISE * x:
            break
        x = after
    return x


def regularised_gamma(shape: float, x: float) -> float:
    """Return the probability that a gamma variable of scale 1 is below x.

    By its power series for small x, otherwise by Lentz's continued fraction (Press and others, "Numerical recipes",
    1992, 6.2).

    >>> round(regularised_gamma(1, 2), 6)  # 1 - exp(-2)
    0.864665
    """
    front = math.exp(shape * math.log(x) - x - math.lgamma(shape))
    if x < shape + 1:
        term = total = 1 / shape
        k = shape
        while abs(term) > total * 1e-17:
            k += 1
            term *= x / k
            total += term
        return front * total
    tiny = 1e-300
    b = x + 1 - shape
    c, d = 1 / tiny, 1 / b
    fraction = d
    for k in range(1, 10_000):
        a, b = -k * (k - shape), b + 2
        d, c = 1 / (a * d + b or tiny), b + a / c or tiny
        fraction *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return 1 - front * fraction


# ------------------------------------------------------------------------------------------------ values all equal


def of_equal_units(value: float, n: int, level: float, bounds: Interval) -> Interval:
    """Return the interval of a mean of which n units all had the same value, by what values are possible at all.

    A share of others as large as `none_of(n)` may have gone unseen. They may lie at either bound.

    >>> low, high = of_equal_units(0.5, 100, 0.95, (0.0, 1.0))
    >>> round(low, 4), round(high, 4)
    (0.4819, 0.5181)
    """
    unseen = none_of(n, level)
    return value - unseen * (value - bounds[0]), value + unseen * (bounds[1] - value)
