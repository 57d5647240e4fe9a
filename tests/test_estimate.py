import math
import random

import numpy as np
import pytest
from scipy.special import stdtrit

from tlsim.stats import estimate
from tlsim.stats.estimate import COLUMNS, Distribution, Ratio, mean, proportion, share


def test_wilson_against_a_published_example() -> None:
    # Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3: 81/263, 15/148, 0/20, 1/29.
    published = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)]
    for k, n, low, high in published:
        row = proportion(k, n, 0.95)
        assert tuple(row) == COLUMNS
        assert (round(row["low"], 4), round(row["high"], 4)) == (low, high)
        assert row["estimate"] == k / n


def test_mean() -> None:
    values = [3, 5, 5, 9]
    row = mean(sum(values), sum(v * v for v in values), 4, 0.95)
    assert row["estimate"] == 5.5
    assert row["se"] == pytest.approx(1.2583057)  # sqrt(19/3) / 2
    assert row["high"] - row["estimate"] == pytest.approx(3.182446 * 1.2583057)  # t with 3 degrees of freedom
    halved = mean(sum(values), sum(v * v for v in values), 4, 0.95, scale=2)
    assert (halved["estimate"], halved["se"]) == (2.75, row["se"] / 2)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_quantiles_of_students_t(level: float) -> None:
    for n in (2, 30, 100, 101, 102, 300, 1000, 10**6):
        assert estimate.t_quantile(level, n) == pytest.approx(stdtrit(n - 1, (1 + level) / 2), rel=1e-8)


def test_what_has_no_spread_says_so() -> None:
    assert mean(20, 100, 4, 0.95)["method"] == "identical"
    one = mean(5, 25, 1, 0.95)
    assert one["method"] == "one unit"
    assert math.isnan(one["low"])
    assert math.isnan(mean(0, 0, 0, 0.95)["estimate"])


def test_all_or_none_by_unit_is_a_proportion() -> None:
    assert share(8, 32, 10, 0.95, most=4) == proportion(2, 10, 0.95)  # two deals with 4 of 4
    assert share(8, 20, 10, 0.95, most=4)["method"] == "share"


def ratio_of(pairs: list[tuple[int, int]]) -> Ratio:
    products = ((x, x * x, x * y, y, y * y) for x, y in pairs)
    x, xx, xy, y, yy = map(sum, zip(*products, strict=True))
    return Ratio(x, xx, xy, y, yy, len(pairs))


def test_ratio() -> None:
    row = ratio_of([(1, 2), (4, 3), (2, 1)]).mean(0.95)
    assert row["estimate"] == 7 / 6
    assert row["se"] == pytest.approx(math.sqrt((8**2 + 3**2 + 5**2) / 36 * 3 / 2) / 6)  # residuals -8/6, 3/6, 5/6
    assert ratio_of([(3, 4), (0, 0), (7, 4)]).mean(0.95, 4) == mean(10, 58, 2, 0.95, 4)
    assert ratio_of([(3, 4)]).mean(0.95)["method"] == "one unit"
    assert math.isnan(ratio_of([(0, 0), (0, 0)]).mean(0.95)["estimate"])


def test_a_ratio_that_is_a_share() -> None:
    row = ratio_of([(1, 2), (3, 3), (0, 1)]).share(0.95)
    assert (row["estimate"], row["high"], row["method"]) == (4 / 6, 1.0, "share")
    assert ratio_of([(0, 2), (0, 3)]).share(0.95) == proportion(0, 5, 0.95) | {"n": 2}
    assert math.isnan(ratio_of([(0, 0), (0, 0)]).share(0.95)["estimate"])


def distribution_of(units: list[list[int]], scale: float = 1.0) -> Distribution:
    values, at = np.unique(np.array(units), return_inverse=True)
    counts = np.zeros((len(units), len(values)), int)
    np.add.at(counts, (np.arange(len(units))[:, None], at.reshape(len(units), -1)), 1)
    squares = np.diff((counts.cumsum(1) ** 2).sum(0), prepend=0)
    return Distribution(values.tolist(), counts.sum(0).tolist(), squares.tolist(), len(units), 0.95, scale)


def test_distribution() -> None:
    found = distribution_of([[-2, 2], [0, 0], [-1, 1], [-3, 3]], 2)
    assert found.deviation()["estimate"] == pytest.approx(math.sqrt(3.5) / 2)
    assert [found.quantile(q)["estimate"] for q in (0.125, 0.13, 0.5, 1)] == [-1.5, -1, 0, 1.5]
    assert found.quantile(0.5)["low"] == -1  # all of Wilson's interval of 4 where nothing varies by unit
    assert math.isnan(found.quantile(0.05)["low"])  # with four units it may lie below all that were seen
    assert distribution_of([[1, 1], [1, 1]]).deviation()["method"] == "identical"
    assert math.isnan(distribution_of([[1, 2]]).quantile(0.5)["low"])


def test_coverage() -> None:
    """Means of 40 skewed values: the 95 % interval holds the truth in 93.5 to 96.5 % of 4,000 experiments."""
    rng = random.Random(12)
    truth, hits, wilson = 4.5, 0, 0
    for _ in range(4_000):
        values = [rng.randint(0, 9) for _ in range(40)]
        row = mean(sum(values), sum(v * v for v in values), 40, 0.95)
        hits += row["low"] <= truth <= row["high"]
        row = proportion(sum(value < 2 for value in values), 40, 0.95)
        wilson += row["low"] <= 0.2 <= row["high"]
    assert 0.935 <= hits / 4_000 <= 0.965
    assert 0.92 <= wilson / 4_000 <= 0.985


def test_coverage_of_ratios_and_quantiles() -> None:
    """Units of four values that depend on one another: intervals hold the truth as often as they say, or more."""
    rng = random.Random(7)
    hits = dict.fromkeys(["ratio", "quarter", "upper", "deviation"], 0)
    for _ in range(1_000):
        units = []
        for _ in range(60):
            shared = rng.randint(0, 9)
            units.append([10 * shared + rng.randint(0, 9) for _ in range(4)])  # uniform on 0 .. 99
        found = distribution_of(units)
        parts = [(sum(unit), sum(1 for v in unit if v > 20)) for unit in units]
        truth = {"ratio": 49.5 / 0.79, "quarter": 24, "upper": 89, "deviation": math.sqrt(9999 / 12)}
        rows = {
            "ratio": ratio_of(parts).mean(0.95),
            "quarter": found.quantile(0.25),
            "upper": found.quantile(0.9),
            "deviation": found.deviation(),
        }
        for name, row in rows.items():
            hits[name] += row["low"] <= truth[name] <= row["high"]
    assert all(930 <= n <= 985 for n in hits.values()), hits
