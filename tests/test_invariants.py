"""What holds at every turn of every game."""

import random

import numpy as np
import pytest
from tables import every_table, random_rules

from tlsim.batch import Plan, _Runner, hands
from tlsim.cards import FULL, mask, names, parse_card, parse_hand
from tlsim.combos import describe, may_follow
from tlsim.policies.load import parse_policies
from tlsim.rules import Rules, player_counts
from tlsim.transcript import Hand
from tlsim.variantfiles import parse_variant


def walk(rules: Rules, players: int, deal: int) -> None:
    """Walk through one hand of `random`, turn by turn."""
    plan = Plan(rules, players, tuple(parse_policies(["random"], players)), deal + 1, 5)
    written = next(hands(plan, deal, deal + 1))
    dealt = [mask(map(parse_card, hand)) for hand in written["hands"]]
    assert sum(dealt) == np.bitwise_or.reduce(dealt) <= FULL  # no card twice
    assert sum(written["payoffs"]) == 0
    assert sorted(written["places"])[0] == 1
    script = [mask(map(parse_card, play["cards"])) for play in written["plays"]]
    on = 0
    for turn, play in enumerate(script):
        hand = Hand(rules, dealt, script[:turn], written["dealer"])
        assert not hand.is_over
        assert hand.seat == written["plays"][turn]["player"]
        gone = sum(script[:turn])
        assert sum(hand.held) | gone == sum(dealt)
        assert sum(hand.held) & gone == 0
        moves, passing = hand.moves()
        on = int(hand._table[0]["sight"]["on_cards"]) if hand._table[0]["sight"]["on"] else 0
        assert len(set(moves)) == len(moves)
        assert play in moves or (play == 0 and passing)
        if on == 0:
            assert not passing
            assert moves
        for move in moves:
            assert move & ~hand.held[hand.seat] == 0
            assert describe(rules, move) is not None
            assert may_follow(rules, move, on)
            assert parse_hand(" ".join(names(move))) == move
    end = Hand(rules, dealt, script, written["dealer"])
    assert end.is_over
    assert sum(end.held) | sum(script) == sum(dealt)


@pytest.mark.parametrize(("variant", "players"), every_table())
def test_every_turn(variant: str, players: int) -> None:
    for deal in range(3):
        walk(parse_variant(variant), players, deal)


def test_every_turn_of_random_rules() -> None:
    rng = random.Random(8)
    for _ in range(10):
        rules = random_rules(rng)
        walk(rules, rng.choice(player_counts(rules)), 0)


@pytest.mark.parametrize(("variant", "players"), every_table())
@pytest.mark.parametrize("policy", ["lowest", "random"])
def test_every_hand_ends_and_sums_to_zero(variant: str, players: int, policy: str) -> None:
    plan = Plan(parse_variant(variant), players, tuple(parse_policies([policy], players)), 20_000, 6)
    rows = _Runner(plan).play(0, plan.deals, keep=True).rows
    assert rows is not None
    assert (rows["payoffs"].astype(int).sum(axis=1) == 0).all()
    places = np.sort(rows["places"][:, :players].astype(int), axis=1)
    played = rows["instant"] < 0
    assert (places[played] == np.arange(1, players + 1)).all()
    assert (places[~played, 0] == 1).all()
    assert (places[~played, 1:] == players).all()
    assert (rows["plays"][played] >= rows["piles"][played]).all()
    assert (rows["deal"] == np.arange(plan.deals)).all()
