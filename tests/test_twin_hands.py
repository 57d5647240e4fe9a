"""The kernels and the slow twin agree on whole hands: every turn, who is asked, the end, places, payoffs and counts.

Each table prints how many hands it compared (`pytest -s`). `scripts/deep` runs many more hands, in processes side by
side that share the deals of every table among them.
"""

import random
import time
from collections.abc import Iterator
from typing import Any

import naive_hand
import pytest
from naive import Cards
from tables import every_table, random_table

from tlsim.play.plan import Plan
from tlsim.play.runner import Runner
from tlsim.play.transcript import replay, transcript
from tlsim.plugins.load import parse_policies
from tlsim.rules.cards import parse_card
from tlsim.rules.ruleset import TARGETS, Rules
from tlsim.rules.variantfiles import parse_variant

HANDS_OF_RANDOM_RULES = 20  # each rule set


def cards_of(names: list[str]) -> Cards:
    return tuple(sorted(map(parse_card, names)))


def replay_in_twin(rules: Rules, written: dict[str, Any], row: Any, ask_lowest: bool) -> None:
    """Play the turns of a transcript in the twin and compare everything that comes out.

    `ask_lowest`: and that the seats of `lowest` play what the twin's own player does.
    """
    turns: Iterator[dict[str, Any]] = iter(written["plays"])

    def choose(seat: int, position: naive_hand.Position) -> Cards:
        turn = next(turns)
        play = cards_of(turn["cards"])
        assert turn["player"] == seat, written
        if ask_lowest and written["policies"][seat] == "lowest":
            assert play == naive_hand.lowest(rules, position), written
        return play

    hand = naive_hand.play_hand(rules, [*map(cards_of, written["hands"])], written["dealer"], choose)
    assert next(turns, None) is None, written
    required = None if hand.required is None else parse_card(written["required"])
    assert (hand.leader, hand.required) == (written["leader"], required), written
    won = written["instant_win"]
    assert hand.instant_win == (won and (won["player"], won["kind"])), written
    assert hand.places == written["places"], written
    assert [half / 2 for half in hand.payoffs] == written["payoffs"], written
    counts = (hand.n_plays, hand.passes, hand.piles, hand.twos_left)
    assert counts == tuple(int(row[key]) for key in ("plays", "passes", "piles", "twos_left")), written
    chops = {TARGETS[chop]: int(n) for chop, n in enumerate(row["chops"]) if n}
    assert dict(hand.chops) == chops, written


class Lineup:
    """Hands of one table with these policies, each deal in the next seating of them."""

    def __init__(self, rules: Rules, players: int, policies: list[str], seed: int) -> None:
        self.plan = Plan(rules, players, tuple(parse_policies(policies, players)), 1 << 30, seed)
        self.runner = Runner(self.plan, shown=True)
        distinct = [policy.name for policy in self.plan.distinct]
        self.seatings = [[distinct[policy] for policy in seating] for seating in self.plan.seatings]

    def check(self, deal: int, seating: int) -> None:
        """Compare one hand; one in ten also with the twin's player `lowest`, which is slow."""
        rules, seating = self.plan.rules, seating % len(self.seatings)
        table, row = self.runner.hand(deal, seating)
        names = self.seatings[seating]
        written = transcript(rules, table, row, len(names), index=deal, seed=self.plan.seed, policies=names)
        assert replay(rules, written) == written
        replay_in_twin(rules, written, row, ask_lowest=deal % 20 < 2)


def check_hands(rules: Rules, players: int, deals: range, seed: int) -> None:
    """Compare the hands of these deals, in turn with `lowest` in every seat, in no seat and in half of them."""
    half = ["lowest"] * (players // 2) + ["random"] * (players - players // 2)
    lineups = [Lineup(rules, players, policies, seed) for policies in (["lowest"], ["random"], half)]
    for deal in deals:
        lineups[deal % 3].check(deal, deal // 3)


def share(request: pytest.FixtureRequest, hands: int) -> range:
    """Return the deals that this process compares, of so many."""
    k, n = map(int, request.config.getoption("--twin-share").split("/"))
    return range(k - 1, hands, n)


@pytest.mark.parametrize(("variant", "players"), every_table())
def test_hands(variant: str, players: int, request: pytest.FixtureRequest) -> None:
    deals = share(request, request.config.getoption("--twin-hands"))
    seed = random.Random(f"hands {variant} {players}").getrandbits(60)  # other deals in every table
    began = time.perf_counter()
    check_hands(parse_variant(variant), players, deals, seed)
    rate = len(deals) / (time.perf_counter() - began)
    print(f" {variant}, {players} players: {len(deals)} hands, {rate:.0f} a second")


def test_hands_of_random_rules(request: pytest.FixtureRequest) -> None:
    rng, n_rules = random.Random(3), request.config.getoption("--twin-rule-sets")
    deals = share(request, HANDS_OF_RANDOM_RULES)
    began = time.perf_counter()
    for k in range(n_rules):
        rules, players = random_table(rng, decks=2 if k % 3 == 0 else 1)
        check_hands(rules, players, deals, k)
    hands = n_rules * len(deals)
    rate = hands / (time.perf_counter() - began)
    print(f" {n_rules} random rule sets: {hands} hands, {rate:.0f} a second")
