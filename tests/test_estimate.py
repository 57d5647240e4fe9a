import math
import random

import numpy as np
import pytest
from scipy.special import betaincinv, gammainc, gammaincinv, stdtrit

from tlsim.stats.estimate import COLUMNS, Deviation, Distribution, Ratio, Sums, by_rule, proportion
from tlsim.stats.intervals import (
    clopper_pearson,
    fay_feuer,
    gamma_quantile,
    none_of,
    regularised_gamma,
    t_quantile,
    wilson,
)


def test_wilson_against_a_published_example() -> None:
    # Newcombe 1998, Statistics in Medicine 17, 857-872, table I, method 3: 81/263, 15/148, 0/20, 1/29.
    published = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611), (1, 29, 0.0061, 0.1718)]
    for k, n, low, high in published:
        assert tuple(round(end, 4) for end in wilson(k / n, n, 0.95)) == (low, high)
        row = proportion(k, n, 0.95)
        assert tuple(row) == COLUMNS
        assert row["estimate"] == k / n
        assert row["method"] == ("wilson" if k >= 5 else "clopper-pearson")


def test_clopper_pearson_against_a_published_example() -> None:
    # Newcombe 1998, table I, method 5: 0/20 and 1/29.
    assert round(proportion(0, 20, 0.95)["high"], 4) == 0.1684
    row = proportion(1, 29, 0.95)
    assert (round(row["low"], 4), round(row["high"], 4)) == (0.0009, 0.1776)
    assert none_of(20, 0.95) == pytest.approx(row_of_none := clopper_pearson(0, 20, 0.95)[1])
    assert row_of_none < 3.69 / 20


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_clopper_pearson_against_the_beta_distribution(level: float) -> None:
    tail = (1 - level) / 2
    for n in (5, 9, 50, 5_000, 10**6):
        for k in (*range(5), *range(n - 4, n + 1)):
            low, high = clopper_pearson(k, n, level)
            assert low == pytest.approx(0 if k == 0 else betaincinv(k, n - k + 1, tail), rel=1e-9, abs=1e-300)
            assert high == pytest.approx(1 if k == n else betaincinv(k + 1, n - k, 1 - tail), rel=1e-9)


def test_the_gamma_distribution_against_scipy() -> None:
    rng = random.Random(3)
    for _ in range(1_000):
        shape, q = 10 ** rng.uniform(0, 2), rng.choice([0.0005, 0.025, 0.25, 0.975, 0.9995, rng.random()])
        assert gamma_quantile(q, shape) == pytest.approx(gammaincinv(shape, q), rel=1e-9)
        x = shape * rng.uniform(0.01, 4)
        assert regularised_gamma(shape, x) == pytest.approx(gammainc(shape, x), rel=1e-9, abs=1e-15)


def test_fay_and_feuer_of_events_that_count_one_is_the_exact_poisson_interval() -> None:
    # Garwood 1936, "Fiducial limits for the Poisson distribution", Biometrika 28, 437-442: 0, 1 and 10 events.
    for count, low, high in [(0, 0, 3.689), (1, 0.025, 5.572), (10, 4.795, 18.390)]:
        found = fay_feuer(count, count, 1, 0.95)
        assert (round(found[0], 3), round(found[1], 3)) == (low, high)
    assert fay_feuer(6, 36, 6, 0.95) == pytest.approx([6 * end for end in fay_feuer(1, 1, 1, 0.95)])
    assert fay_feuer(10, 28, 4, 0.95)[1] == pytest.approx(44 / 14 * gammaincinv(14**2 / 44, 0.975))


def test_mean() -> None:
    values = [3, 5, 5, 9]
    sums = Sums(sum(values), sum(v * v for v in values), 4)
    row = sums.mean(0.95)
    assert row["estimate"] == 5.5
    assert row["se"] == pytest.approx(1.2583057)  # sqrt(19/3) / 2
    assert row["high"] - row["estimate"] == pytest.approx(3.182446 * 1.2583057)  # t with 3 degrees of freedom
    halved = sums.mean(0.95, scale=2)
    assert (halved["estimate"], halved["se"]) == (2.75, row["se"] / 2)
    wider = sums.mean(0.95, far=(5.5, 11.5))  # a fifth unit of 11.5: 36 more beside the 19 of the sum of squares
    assert (wider["se"], wider["low"]) == (row["se"], row["low"])
    assert wider["high"] - 5.5 == pytest.approx(3.182446 * math.sqrt(55 / 12))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.999])
def test_quantiles_of_students_t(level: float) -> None:
    for n in (2, 30, 100, 101, 102, 300, 1000, 10**6):
        assert t_quantile(level, n) == pytest.approx(stdtrit(n - 1, (1 + level) / 2), rel=1e-8)


def test_what_has_no_spread_says_so_and_has_an_interval_where_it_is_bounded() -> None:
    alike = Sums(20, 100, 4)
    assert alike.mean(0.95)["method"] == "all equal"
    assert math.isnan(alike.mean(0.95)["high"])
    row = alike.mean(0.95, bounds=(0, 9))  # four units of 5: a share of 1 - 0.025 ** (1 / 4) may be others
    assert (row["low"], row["high"]) == pytest.approx((5 - 5 * none_of(4, 0.95), 5 + 4 * none_of(4, 0.95)))
    one = Sums(5, 25, 1).mean(0.95)
    assert one["method"] == "one unit"
    assert math.isnan(one["low"])
    assert math.isnan(Sums(0, 0, 0).mean(0.95)["estimate"])
    assert by_rule(0.25, 3, 0.95) == dict(zip(COLUMNS, (0.25, 0.0, 0.25, 0.25, 0.95, 3, "by rule"), strict=True))


def test_rare_counts() -> None:
    none = Sums(0, 0, 50).count(0.95, 1, 1)
    assert (none["estimate"], none["low"], none["method"]) == (0, 0, "gamma")
    assert none["high"] == pytest.approx(3.688879 / 50)
    assert Sums(0, 0, 50).count(0.95, 4, 4)["high"] == none["high"]  # in four seatings, which an event can all be in
    few = Sums(29, 29, 50).count(0.95, 1, 1)
    assert (few["low"], few["high"]) == pytest.approx([end / 50 for end in fay_feuer(29, 29, 1, 0.95)])
    assert Sums(30, 30, 50).count(0.95, 1, 1)["method"] == "mean"
    assert Sums(3, 3, 3).count(0.95, 1, 1)["low"] < 0.21  # three deals with one event each
    assert Ratio(0, 0, 0, 180, 700, 50).count(0.95, 4, 1)["high"] == pytest.approx(3.688879 / 180)


def test_all_or_none_by_unit_is_a_proportion() -> None:
    assert Sums(24, 96, 20).share(0.95, most=4) == proportion(6, 20, 0.95)  # six deals with 4 of 4
    assert Sums(24, 60, 20).share(0.95, most=4)["method"] == "share"


def test_a_share_by_seatings_is_wilsons_of_the_units_that_have_its_error() -> None:
    sums = Sums(24, 60, 20)
    row = sums.share(0.95, most=4)
    n_effective = 0.3 * 0.7 / (row["se"] * t_quantile(0.95, 20) / 1.9599640) ** 2
    assert (row["low"], row["high"]) == pytest.approx(wilson(0.3, n_effective, 0.95))
    turned = Sums(80 - 24, sums.other(4), 20).share(0.95, most=4)
    assert (1 - turned["high"], 1 - turned["low"]) == pytest.approx((row["low"], row["high"]))
    few = Sums(3, 5, 50).share(0.95, most=4)
    assert few["method"] == "rare share"
    assert few["high"] == pytest.approx(fay_feuer(3, 5, 4, 0.95)[1] / 200)
    alike = Sums(10, 10, 10).share(0.95, most=4)  # one of four in each
    assert alike["method"] == "share, all equal"
    assert (alike["low"], alike["high"]) == pytest.approx(
        (0.25 - 0.25 * none_of(10, 0.95), 0.25 + 0.75 * none_of(10, 0.95))
    )


def ratio_of(pairs: list[tuple[int, int]]) -> Ratio:
    products = ((x, x * x, x * y, y, y * y) for x, y in pairs)
    x, xx, xy, y, yy = map(sum, zip(*products, strict=True))
    return Ratio(x, xx, xy, y, yy, len(pairs))


def test_ratio() -> None:
    row = ratio_of([(1, 2), (4, 3), (2, 1)]).mean(0.95)
    assert row["estimate"] == 7 / 6
    assert row["se"] == pytest.approx(math.sqrt((8**2 + 3**2 + 5**2) / 36 * 3 / 2) / 6)  # residuals -8/6, 3/6, 5/6
    assert ratio_of([(3, 4), (0, 0), (7, 4)]).mean(0.95, 4) == Sums(10, 58, 2).mean(0.95, 4)
    assert ratio_of([(3, 4)]).mean(0.95)["method"] == "one unit"
    assert math.isnan(ratio_of([(0, 0), (0, 0)]).mean(0.95)["estimate"])


def test_a_ratio_that_is_a_share() -> None:
    row = ratio_of([(1, 2), (3, 3), (0, 1)]).share(0.95, 1)
    assert (row["estimate"], row["method"]) == (4 / 6, "rare share")
    assert 0 <= row["low"] < 4 / 6 < row["high"] <= 1
    row = ratio_of([(1, 2), (2, 3), (0, 1), (1, 1)] * 25).share(0.95, 1)
    assert row["method"] == "share"
    none = ratio_of([(0, 2), (0, 3)]).share(0.95, 1)
    assert (none["low"], none["n"]) == (0, 2)
    assert none["high"] == pytest.approx(none_of(5, 0.95))
    both = ratio_of([(0, 2), (0, 4)]).share(0.95, 2)  # what happens in one seating does so in the other
    assert both["high"] == pytest.approx(none_of(3, 0.95))
    assert ratio_of([(2, 2), (4, 4)]).share(0.95, 2)["low"] == pytest.approx(1 - none_of(3, 0.95))
    assert ratio_of([(1, 2), (2, 4)]).share(0.95, 1)["method"] == "share, all equal"
    assert math.isnan(ratio_of([(0, 0), (0, 0)]).share(0.95, 1)["estimate"])


def distribution_of(units: list[list[int]], scale: float = 1.0) -> Distribution:
    values, at = np.unique(np.array(units), return_inverse=True)
    counts = np.zeros((len(units), len(values)), int)
    np.add.at(counts, (np.arange(len(units))[:, None], at.reshape(len(units), -1)), 1)
    squares = np.diff((counts.cumsum(1) ** 2).sum(0), prepend=0)
    return Distribution(values.tolist(), counts.sum(0).tolist(), squares.tolist(), len(units), 0.95, scale)


def test_distribution() -> None:
    found = distribution_of([[-2, 2], [0, 0], [-1, 1], [-3, 3]], 2)
    assert [found.quantile(q)["estimate"] for q in (0.125, 0.13, 0.5, 1)] == [-1.5, -1, 0, 1.5]
    assert found.quantile(0.5)["low"] == -1.5  # with Student's t for four units
    assert math.isnan(found.quantile(0.05)["low"])  # with four units it may lie below all that were seen
    assert math.isnan(distribution_of([[1, 2]]).quantile(0.5)["low"])


def deviation_of(units: list[list[int]]) -> Deviation:
    sums = [(sum(unit), sum(v * v for v in unit)) for unit in units]
    products = ((a, b, a * a, a * b, b * b) for a, b in sums)
    a, b, aa, ab, bb = map(sum, zip(*products, strict=True))
    return Deviation(a, b, aa, ab, bb, n=len(units), size=len(units[0]))


def test_the_deviation_and_its_error_by_unit() -> None:
    rng = random.Random(2)
    units = [[rng.randint(-3, 9) for _ in range(4)] for _ in range(30)]
    row, values = deviation_of(units).row(0.95, 2), np.array(units) / 2
    by_unit = ((values - values.mean()) ** 2).sum(1)
    assert row["estimate"] == pytest.approx(values.std())
    assert row["se"] == pytest.approx(by_unit.std(ddof=1) / math.sqrt(30) / 4 / (2 * values.std()))
    assert row["low"] * row["high"] == pytest.approx(row["estimate"] ** 2)
    alike = deviation_of([[-1, 1], [-1, 1]]).row(0.95, 1, 5)
    assert (alike["estimate"], alike["method"]) == (1, "all equal")
    assert 0 < alike["low"] < 1 < alike["high"]
    assert math.isnan(deviation_of([[1, 2]]).row(0.95)["high"])


def test_coverage() -> None:
    """Means of 40 skewed values: the 95 % interval holds the truth in 93.5 to 96.5 % of 4,000 experiments."""
    rng = random.Random(12)
    truth, hits, wilson = 4.5, 0, 0
    for _ in range(4_000):
        values = [rng.randint(0, 9) for _ in range(40)]
        row = Sums(sum(values), sum(v * v for v in values), 40).mean(0.95)
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
            "deviation": deviation_of(units).row(0.95),
        }
        for name, row in rows.items():
            hits[name] += row["low"] <= truth[name] <= row["high"]
    assert all(930 <= n <= 985 for n in hits.values()), hits
