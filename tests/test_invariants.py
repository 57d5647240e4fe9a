"""What holds at every turn of every game."""

import random
from collections import Counter

import numpy as np
import pytest
from tables import every_table, random_rules

from tlsim.play.legal import describe, may_follow
from tlsim.play.plan import Plan
from tlsim.play.runner import Runner, hands
from tlsim.play.transcript import Hand, Script
from tlsim.plugins.load import parse_policies
from tlsim.rules.cards import join, mask, names, numbers, parse_card, parse_hand
from tlsim.rules.ruleset import Rules, deal_of, player_counts
from tlsim.rules.variantfiles import parse_variant


def walk(rules: Rules, players: int, deal: int) -> None:
    """Walk through one hand of `random`, turn by turn."""
    plan = Plan(rules, players, tuple(parse_policies(["random"], players)), deal + 1, 5)
    written = next(hands(plan, deal, deal + 1))
    dealt = [mask(map(parse_card, hand)) for hand in written["hands"]]
    cards = cards_of(*dealt)
    assert max(cards.values()) <= deal_of(rules, players)[0]
    assert sum(written["payoffs"]) == 0
    assert sorted(written["places"])[0] == 1
    script = [mask(map(parse_card, play["cards"])) for play in written["plays"]]
    on = 0
    for turn, play in enumerate(script):
        hand = Hand(rules, Script(dealt, script[:turn], written["dealer"]))
        assert not hand.is_over
        assert hand.seat == written["plays"][turn]["player"]
        assert cards_of(*hand.held, *script[:turn]) == cards
        moves, passing = hand.moves()
        view = hand._table[0]["sight"]
        on = join(view["on_cards"], view["on_second"]) if view["on"] else 0
        assert len(set(moves)) == len(moves)
        assert play in moves or (play == 0 and passing)
        if on == 0:
            assert not passing
            assert moves
        for move in random.Random(turn).sample(moves, min(len(moves), 40)):
            assert cards_of(move) <= cards_of(hand.held[hand.seat])
            assert describe(rules, move) is not None
            assert may_follow(rules, move, on)
            assert parse_hand(" ".join(names(move))) == move
    end = Hand(rules, Script(dealt, script, written["dealer"]))
    assert end.is_over
    assert cards_of(*end.held, *script) == cards


def cards_of(*masks: int) -> Counter[int]:
    return Counter(card for one in masks for card in numbers(one))


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
    rules = parse_variant(variant)
    few = 20_000 if deal_of(rules, players)[0] == 1 else 500
    plan = Plan(rules, players, tuple(parse_policies([policy], players)), few, 6)
    rows = Runner(plan).play(0, plan.deals, keep=True).rows
    assert rows is not None
    assert (rows["payoffs"].astype(int).sum(axis=1) == 0).all()
    places = np.sort(rows["places"][:, :players].astype(int), axis=1)
    played = rows["instant"] < 0
    if rules.ends == "last":  # else places are shared
        assert (places[played] == np.arange(1, players + 1)).all()
    assert (places[~played, 0] == 1).all()
    assert (places[~played, 1:] == players).all()
    assert (rows["plays"][played] >= rows["piles"][played]).all()
    assert (rows["deal"] == np.arange(plan.deals)).all()
