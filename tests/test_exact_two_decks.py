"""Two decks dealt, and lowest cards, against exact odds: ten million deals with `--exact-deals 10000000`."""

from fractions import Fraction
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest

from tlsim.engine.bits import popcount
from tlsim.engine.compile import kernel
from tlsim.engine.deal import deal_hands
from tlsim.engine.table import TABLE
from tlsim.rules.cards import TWOS
from tlsim.rules.ruleset import deal_of, pack
from tlsim.rules.variantfiles import parse_variant


@kernel
def _count_deals(rules_: Any, tables: Any, seed: Any, stop: int, sums: Any, lowest: Any, copies: Any) -> None:
    """Add hands with four 2s by deal and their squares, lowest cards dealt, and copies of each card by seat."""
    rules, table = rules_[0], tables[0]
    for deal in range(stop):
        deal_hands(rules, table, seed, deal)
        hands, found = 0, 0
        for seat in range(rules.players):
            hand, second = table.hands[seat], table.hands_second[seat]
            found |= hand
            hands += 1 if popcount(hand & TWOS) + popcount(second & TWOS) >= 4 else 0
            for card in range(52):
                copies[seat, card] += (hand >> card & 1) + (second >> card & 1)
        sums[0] += hands
        sums[1] += hands * hands
        lowest[popcount((found & -found) - 1)] += 1


def count(variant: str, players: int, n: int) -> tuple[Any, Any, Any]:
    table = np.zeros(1, TABLE).view(np.recarray)
    sums, lowest, copies = np.zeros(2, np.int64), np.zeros(52, np.int64), np.zeros((players, 52), np.int64)
    _count_deals(pack(parse_variant(variant), players), table, np.uint64(29), n, sums, lowest, copies)
    return sums, lowest, copies


def z_of(k: int, n: int, p: float) -> float:
    return (k - n * p) / sqrt(n * p * (1 - p))


@pytest.mark.parametrize(("players", "undealt"), [(5, "57/412"), (6, "25/412"), (7, "3/206"), (8, "0")])
def test_thirteen_of_two_decks(players: int, undealt: str, request: pytest.FixtureRequest) -> None:
    n = request.config.getoption("--exact-deals")
    sums, lowest, copies = count("classic", players, n)
    four = sum(comb(8, k) * comb(96, 13 - k) for k in range(4, 9)) / comb(104, 13)
    assert four == pytest.approx(0.00805392796, abs=5e-12)
    total, squares = map(int, sums)
    z_four = (total / n - players * four) / sqrt((squares / n - (total / n) ** 2) / n)
    nobody = float(Fraction(undealt))
    missing = n - int(lowest[0])
    z_3s = z_of(missing, n, nobody) if nobody else float(missing)
    print(f"{n} deals, {players} x 13 of 104: four 2s z = {z_four:+.2f}, 3S undealt {missing / n:.5f}, z = {z_3s:+.2f}")
    assert abs(z_four) < 4
    assert abs(z_3s) < 4
    _check_copies(copies, 13, n)


@pytest.mark.parametrize("players", [5, 6, 7])
def test_equal_shares(players: int, request: pytest.FixtureRequest) -> None:
    n = request.config.getoption("--exact-deals")
    _, _, copies = count("classic,cards=equal", players, n)
    _check_copies(copies, deal_of(parse_variant("classic,cards=equal"), players)[1], n)


def _check_copies(copies: Any, cards: int, n: int) -> None:
    """Check that every card is as likely in every seat: a hand holds `cards` of the 104, two of them alike."""
    assert copies.sum() == n * len(copies) * cards
    p = cards / 104
    spread = 2 * p * (1 - p) - 2 * p * (1 - p) / 103  # of the copies of a card: hypergeometric
    z = (copies - 2 * n * p) / sqrt(n * spread)
    assert abs(z).max() < 5
    assert 0.8 < z.std() < 1.2


def test_the_lowest_card_dealt_to_three_players(request: pytest.FixtureRequest) -> None:
    n = request.config.getoption("--exact-deals")
    _, lowest, _ = count("southern", 3, n)
    exact = [Fraction(3, 4), Fraction(13, 68), Fraction(39, 850), Fraction(429, 41650)]
    scores = [z_of(int(lowest[card]), n, float(p)) for card, p in enumerate(exact)]
    print(f"{n} deals, 3 x 13 of 52, lowest card dealt: " + ", ".join(f"z = {z:+.2f}" for z in scores))
    assert all(abs(z) < 4 for z in scores)
