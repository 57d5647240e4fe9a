"""The deal is uniform: sampled shares of hands against their exact odds."""

from fractions import Fraction
from itertools import combinations
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest

from tlsim.engine import features
from tlsim.engine.bits import popcount
from tlsim.engine.compile import kernel
from tlsim.engine.deal import deal_hands
from tlsim.engine.shapes import quads
from tlsim.engine.table import TABLE
from tlsim.rules.cards import TWOS
from tlsim.rules.ruleset import INSTANT_WINS, deal_of, pack
from tlsim.rules.variantfiles import parse_variant

HANDS = comb(52, 13)
EXACT = {
    "four twos": Fraction(11, 4165),
    "any quad": Fraction(1357355571, 39688347475),
    "dragon": Fraction(369098752, HANDS),
    "one colour": Fraction(20801200, HANDS),
    "six pairs": Fraction(2856863152, HANDS),
}
_DRAGON, _SIX, _COLOUR = (1 << INSTANT_WINS.index(kind) for kind in ("dragon", "six-pairs", "one-colour"))


@kernel
def _count_events(rules_: Any, tables: Any, seed: Any, first: int, stop: int, sums: Any) -> None:
    """Add to `sums[0]` the hands of each deal that show each event, to `sums[1]` their squares."""
    rules, table = rules_[0], tables[0]
    for deal in range(first, stop):
        deal_hands(rules, table, seed, deal)
        twos, quad, dragon, colour, six = 0, 0, 0, 0, 0
        for seat in range(rules.players):
            hand = table.hands[seat]
            bits = features.instant_win_bits(rules, hand)
            twos += hand & TWOS == TWOS
            quad += quads(hand) != 0
            dragon += bits & _DRAGON != 0
            colour += bits & _COLOUR != 0
            six += bits & _SIX != 0
        for i, x in enumerate((twos, quad, dragon, colour, six)):
            sums[0, i] += x
            sums[1, i] += x * x


@kernel
def _count_cards(rules_: Any, tables: Any, seed: Any, first: int, stop: int, by_seat: Any, pairs: Any) -> int:
    """Count the cards by seat, and pairs of cards in one hand (seat 0); return how often nobody holds the 3S."""
    undealt = 0
    for deal in range(first, stop):
        deal_hands(rules_[0], tables[0], seed, deal)
        found = 0
        for seat in range(rules_[0].players):
            hand = tables[0].hands[seat]
            found |= hand & 1
            while hand != 0:
                card = popcount((hand & -hand) - 1)
                hand &= hand - 1
                by_seat[seat, card] += 1
                if seat == 0:
                    rest = hand
                    while rest != 0:
                        pairs[card, popcount((rest & -rest) - 1)] += 1
                        rest &= rest - 1
        undealt += 1 - found
    return undealt


def _table() -> Any:
    return np.zeros(1, TABLE).view(np.recarray)


@pytest.mark.parametrize(("variant", "players"), [("southern", 4), ("southern", 3), ("southern", 2)])
def test_events(variant: str, players: int, request: pytest.FixtureRequest) -> None:
    n = request.config.getoption("--exact-deals")
    sums = np.zeros((2, len(EXACT)), np.int64)
    _count_events(pack(parse_variant(variant), players), _table(), np.uint64(17), 0, n, sums)
    scores = {}
    for i, (event, exact) in enumerate(EXACT.items()):
        total, squares = map(int, sums[:, i])
        spread = max(squares / n - (total / n) ** 2, players * float(exact) / 2)
        scores[event] = (total / n - players * float(exact)) / sqrt(spread / n)
    print(f"{n} deals, {players} players: " + ", ".join(f"{event} z = {z:+.2f}" for event, z in scores.items()))
    assert all(abs(z) < 4 for z in scores.values()), scores


TABLES = [("southern", 4), ("southern", 3), ("southern", 2), ("classic,cards=17", 3)]


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_every_card_and_pair_is_as_likely_anywhere(variant: str, players: int, request: pytest.FixtureRequest) -> None:
    n = request.config.getoption("--exact-deals")
    rules = parse_variant(variant)
    cards = deal_of(rules, players)[1]
    by_seat, pairs = np.zeros((players, 52), np.int64), np.zeros((52, 52), np.int64)
    undealt = _count_cards(pack(rules, players), _table(), np.uint64(23), 0, n, by_seat, pairs)
    assert by_seat.sum() == n * players * cards
    p = cards / 52
    z = (by_seat - n * p) / sqrt(n * p * (1 - p))
    assert abs(z).max() < 5
    p = cards * (cards - 1) / (52 * 51)
    z = np.array([(pairs[a, b] - n * p) / sqrt(n * p * (1 - p)) for a, b in combinations(range(52), 2)])
    assert abs(z).max() < 5  # 1,326 pairs: beyond 5 once in 1,300 seeds
    assert 0.85 < z.std() < 1.15
    nobody = 1 - players * cards / 52
    z_3s = (undealt - n * nobody) / sqrt(n * nobody * (1 - nobody)) if nobody else float(undealt)
    print(f"{n} deals, {players} x {cards}: 3S undealt {undealt / n:.5f}, exact {nobody:.5f}, z = {z_3s:+.2f}")
    assert abs(z_3s) < 4
