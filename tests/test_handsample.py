"""Hands in bulk: features against their meanings in sets and loops, and dealt hands against exact odds."""

import os
import random
import subprocess
import sys
from itertools import combinations
from math import comb, sqrt

import numpy as np
import polars as pl
import pytest
from odds_by_sight import look, number_of_leads

from tlsim.chances.columns import Deck, columns
from tlsim.chances.exact_hands import joint
from tlsim.chances.sample import CLAIM_PREFIXES
from tlsim.chances.steps import states
from tlsim.engine.bulk import SampledDeals, features, fill
from tlsim.rules.variantfiles import parse_variant

VARIANTS = [
    "southern",
    "viet-cong",
    "southern,instant_wins_any_size=yes,straight_twos=yes,double_straight_max=13,quad_twos=yes,straight_min=5",
]
SIZES = [(1, 13), (1, 17), (2, 13), (2, 20), (1, 3)]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("decks", "cards"), SIZES)
def test_features_of_random_hands(decks: int, cards: int, variant: str) -> None:
    """Every column by its meaning, on dealt hands and on hands of few ranks, where runs and quads are."""
    rules, deck, rng = parse_variant(variant), Deck(decks), random.Random(f"{decks} {cards}")
    chosen = []
    for k in range(400):
        pool = [(rank, suit) for rank in range(13) for suit in range(4)] * decks
        if k % 2:
            low = rng.randrange(13)
            near = [card for card in pool if (card[0] - low) % 13 < 7]
            pool = near if len(near) >= cards else pool
        chosen.append(tuple(sorted(rng.sample(pool, cards))))
    hands = np.zeros((2, len(chosen)), np.int64)
    for k, hand in enumerate(chosen):
        for rank, suit in hand:
            bit = 1 << (4 * rank + suit)
            hands[1 if hands[0, k] & bit else 0, k] |= bit
    names = list(features(rules))
    found = pl.DataFrame(dict(zip(names, fill(names, rules, hands), strict=True)))
    known = columns(rules, cards, deck)
    claims = [name for name in names if name.startswith(CLAIM_PREFIXES)]
    found = found.with_columns(pl.col(claims).cast(bool)).select(**{name: c.value for name, c in known.items()})
    for hand, row in zip(chosen, found.iter_rows(named=True), strict=True):
        seen = look(hand, rules, deck) | {"legal_leads": number_of_leads(hand, rules)}
        assert row == {name: seen[name] for name in row}, hand


def test_features_are_the_states_of_the_count() -> None:
    rules = parse_variant("southern")
    roots = {root for column in columns(rules, 13).values() for root in column.value.meta.root_names()}
    assert roots <= features(rules).keys() <= states(rules, 13, Deck()).keys()


@pytest.mark.parametrize(("decks", "players", "cards"), [(1, 4, 13), (1, 1, 13), (1, 3, 17), (2, 5, 20), (2, 8, 13)])
def test_dealt_hands(decks: int, players: int, cards: int) -> None:
    """Every hand has its cards, no card is dealt too often, and cards and pairs come as often as they should."""
    n = 20_000
    hands = SampledDeals(decks, players, cards, 5).hands(0, n)
    bits = (hands[:, :, None] >> np.arange(52)) & 1
    copies = bits.sum(axis=0)
    assert (hands[1] & ~hands[0] == 0).all()
    assert (copies.sum(axis=1) == cards).all()
    assert copies.reshape(n, players, 52).sum(axis=1).max() <= decks
    for seat in range(players):
        mine = copies[seat::players]
        share = mine.mean(axis=0)
        spread = mine.std(axis=0) / sqrt(n)
        assert np.abs((share - cards / 52) / spread).max() < 4.5
    together = (copies > 0).astype(np.float32)
    seen = together.T @ together / len(together)
    chance = float(np.mean(seen[np.triu_indices(52, 1)]))
    spread = sqrt(chance * (1 - chance) / len(together))
    assert np.abs(seen[np.triu_indices(52, 1)] - chance).max() < 5 * spread


def test_deals_are_keyed() -> None:
    deals = SampledDeals(2, 3, 17, 9)
    whole = deals.hands(0, 100)
    assert np.array_equal(whole[:, 3 * 40 : 3 * 60], deals.hands(40, 60))
    assert not np.array_equal(whole, SampledDeals(2, 3, 17, 10).hands(0, 100))


@pytest.mark.parametrize(("decks", "cards"), [(1, 13), (2, 20)])
def test_hands_that_hold_something(decks: int, cards: int) -> None:
    """Hands with given numbers of 2s and 3s: the numbers come as given, and the rest as in all hands that hold them."""
    rules, n = parse_variant("southern"), 40_000
    numbers = np.full((2, 13), -1)
    numbers[:, 12] = [4, 3]
    numbers[:, 0] = 1
    hands = SampledDeals(decks, 1, cards, 3, numbers, np.array([0.25, 0.75])).hands(0, n)
    twos, threes, red, ranks = fill(["twos", "threes", "red_cards", "ranks"], rules, hands)
    assert set(twos) == {3, 4}
    assert (threes == 1).all()
    assert abs((twos == 4).mean() - 0.25) < 4 * sqrt(0.25 * 0.75 / n)
    exact = joint(["twos", "threes", "ranks"], rules, cards, Deck(decks)).filter(
        (pl.col("twos") == 4) & (pl.col("threes") == 1)
    )
    weight = exact["weight"].cast(pl.Float64).to_numpy()
    mean = float(np.average(exact["ranks"].to_numpy(), weights=weight))
    chosen = ranks[twos == 4]
    assert abs(chosen.mean() - mean) < 4 * chosen.std() / sqrt(len(chosen))
    assert abs(red.mean() - cards / 2) < 4 * red.std() / sqrt(n)


def test_all_sets_are_as_likely() -> None:
    """The deal of few cards of one rank: every set comes as often (chi-square)."""
    numbers = np.full((1, 13), 0)
    numbers[0, 5] = 3
    numbers[0, 7] = -1
    hands = SampledDeals(2, 1, 5, 3, numbers, np.ones(1)).hands(0, 80_000)
    codes, times = np.unique(16 * (hands[0] >> 28) + (hands[1] >> 28), return_counts=True)
    sets = {tuple(sorted(cards)) for cards in combinations([0, 0, 1, 1, 2, 2, 3, 3], 2)}
    assert len(codes) == len(sets) == 10
    expected = np.where(codes % 16 > 0, 1, 4)
    expected = expected / comb(8, 2) * times.sum()
    assert ((times - expected) ** 2 / expected).sum() < 30  # 9 degrees of freedom: 0.0004


def test_without_compiling() -> None:
    """The kernels run as plain Python, too, and fill the same."""
    code = """
import numpy as np
from tlsim.engine.bulk import SampledDeals, features, fill
from tlsim.rules.ruleset import Rules
four_twos = np.array([[-1] * 12 + [4]])
samples = SampledDeals(1, 4, 13, 1), SampledDeals(2, 5, 20, 1), SampledDeals(1, 1, 13, 1, four_twos, np.ones(1))
for deals in samples:
    hands = deals.hands(0, 10)
    print(hands.tolist(), fill(list(features(Rules())), Rules(), hands).tolist())
"""
    plain, compiled = (
        subprocess.run(
            [sys.executable, "-W", "error", "-c", code], capture_output=True, check=True, env=os.environ | more
        )
        for more in ({"NUMBA_DISABLE_JIT": "1"}, {})
    )
    assert plain.stdout == compiled.stdout != b""
