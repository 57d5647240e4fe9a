import math
import random

import pytest

from tlsim.estimate import COLUMNS, mean, proportion, share


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


def test_what_has_no_spread_says_so() -> None:
    assert mean(20, 100, 4, 0.95)["method"] == "identical"
    one = mean(5, 25, 1, 0.95)
    assert one["method"] == "one unit"
    assert math.isnan(one["low"])
    assert math.isnan(mean(0, 0, 0, 0.95)["estimate"])


def test_all_or_none_by_unit_is_a_proportion() -> None:
    assert share(8, 32, 10, 0.95, most=4) == proportion(2, 10, 0.95)  # two deals with 4 of 4
    assert share(8, 20, 10, 0.95, most=4)["method"] == "mean"


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
