"""The kernels for one deck and the slow twin agree on single positions; whole hands are in `test_twin_hands`."""

import random
from typing import Any

import naive
import naive_hand
import numpy as np
import pytest
from naive import Cards
from tables import every_table, random_rules

from tlsim.engine import features, one_deck, two_decks
from tlsim.engine.compile import kernel
from tlsim.engine.policies import lowest
from tlsim.engine.policies import random as random_policy
from tlsim.engine.view import VIEW
from tlsim.play import legal
from tlsim.rules.cards import mask, numbers
from tlsim.rules.ruleset import INSTANT_WINS, Rules, deal_of, pack, player_counts
from tlsim.rules.variantfiles import parse_variant

ONE_DECK = [(spec, players) for spec, players in every_table() if deal_of(parse_variant(spec), players)[0] == 1]


@kernel
def plain_lowest(rules: Any, views: Any) -> int:
    return lowest.choose_plain(rules[0], views[0])


@kernel
def fast_lowest(rules: Any, views: Any) -> int:
    return lowest.choose(rules[0], views[0], 0)


@kernel
def may_pass(rules: Any, views: Any) -> bool:
    return two_decks.may_pass(rules[0], views[0])


@kernel
def random_at(rules: Any, views: Any, word: Any) -> int:
    view = views[0]
    if view.on != 0:
        return random_policy.random_answer(rules[0], view.hand, view.on, word)
    if view.required != 0:
        return random_policy.random_first_lead(rules[0], view.hand, view.required, word)
    return random_policy.random_lead(rules[0], view.hand, word)


@kernel
def plain_random(rules: Any, views: Any, word: Any) -> int:
    return random_policy.choose_plain(rules[0], views[0], word)


@kernel
def count_leads(rules: Any, hand: int) -> int:
    return features.count_leads(rules[0], hand)


@kernel
def leftover(rules: Any, cards: int) -> int:
    return features.leftover(rules[0], cards)


@kernel
def instant_win(rules: Any, hand: int, opening: int) -> int:
    priority = features.instant_win(rules[0], hand, opening)
    return features.instant_kind(rules[0], priority) if priority >= 0 else -1


def cards_of(hand: int) -> Cards:
    return tuple(sorted(numbers(hand)))


def constructed(rng: random.Random, size: int) -> Cards:
    """Return a hand with more runs, pairs, quads and 2s than a fair deal gives."""
    weights = [rng.choice([0.2, 1, 5]) for _ in range(13)]
    weights[12] *= rng.choice([1, 4])
    deck = sorted(range(52), key=lambda card: rng.random() / weights[card // 4])
    return tuple(sorted(deck[:size]))


def hand_and_play(rng: random.Random, rules: Rules, size: int) -> tuple[Cards, Cards | None]:
    """Return a hand and a play of other cards to beat, or none to lead."""
    hand = constructed(rng, size)
    others = sorted(set(range(52)) - set(hand))
    for _ in range(20):
        kind = rng.random()
        if kind < 0.25:
            return hand, None
        pool = tuple(sorted(rng.sample(others, min(len(others), rng.choice([8, 13, 17])))))
        plays = naive.combinations_in(rules, pool)
        if kind < 0.5:  # what is chopped, and what is long
            plays = tuple(p for p in plays if len(p) > 3 or min(p) >= 48)
        if plays:
            return hand, rng.choice(plays)
    return hand, None


class Position:
    """One position in both worlds."""

    def __init__(self, rules: Rules, players: int) -> None:
        self.rules, self.packed = rules, pack(rules, players)
        self.views = np.zeros(1, VIEW).view(np.recarray)

    def set(self, hand: Cards, on: Cards | None, required: int | None, again: bool) -> None:
        view = self.views[0]
        view["hand"], view["on_cards"] = mask(hand), mask(on or ())
        view["on"] = one_deck.classify_kernel(self.packed, mask(on or ()))
        view["required"] = 0 if required is None else 1 << required
        view["asked_again"] = again

    def legal(self) -> list[int]:
        n = one_deck.legal_plays_kernel(self.packed, self.views)
        return [int(play) for play in self.views[0]["plays"][:n]]


def check_position(rng: random.Random, position: Position, size: int) -> None:
    rules = position.rules
    hand, on = hand_and_play(rng, rules, size)
    again = on is not None and rng.random() < 0.2
    required = min(hand) if on is None and rng.random() < 0.3 and rules.first_lead != "free" else None
    position.set(hand, on, required, again)
    written = position.legal()
    here = naive_hand.Position(rules, 0, hand, on, None if on is None else 1, required, again, (), frozenset())
    expected, where = here.legal, (rules, hand, on, required, again)
    assert len(set(written)) == len(written), where
    assert {cards_of(play) for play in written} == expected, where
    if on is not None:
        assert bool(may_pass(position.packed, position.views)) == here.may_pass, where
    check_policies(position, here, where)
    for play in rng.sample(sorted(expected), min(3, len(expected))):
        kind = naive.classify(rules, play)
        assert legal.describe(rules, mask(play)) == kind, where
    some = tuple(sorted(rng.sample(hand, rng.randint(1, 6))))
    assert legal.describe(rules, mask(some)) == naive.classify(rules, some), (rules, some)
    check_features(position, hand, rng)


def check_policies(position: Position, here: naive_hand.Position, where: Any) -> None:
    rules, legal, on, required, again = here.rules, here.legal, here.on, here.required, here.again
    expected = mask(naive_hand.lowest(rules, here))
    assert plain_lowest(position.packed, position.views) == expected, where
    assert fast_lowest(position.packed, position.views) == expected, where
    barred = len(legal) < len(naive.legal_plays(rules_finishing(rules), here.hand, on, required, again))
    if not again and not barred and len(legal) <= 200 and (required is None or rules.first_lead == "included"):
        n = len(legal) + (on is not None)
        words = [-((-k << 64) // n) for k in range(n)]  # the lowest word of the k-th of n equal parts
        drawn = [random_at(position.packed, position.views, np.uint64(word)) for word in words]
        assert sorted(drawn) == sorted([*map(mask, legal), *([0] if on is not None else [])]), where
        if required is not None:
            assert drawn == [plain_random(position.packed, position.views, np.uint64(word)) for word in words], where


def rules_finishing(rules: Rules) -> Rules:
    from dataclasses import replace

    return replace(rules, finish_on_two=True)


def check_features(position: Position, hand: Cards, rng: random.Random) -> None:
    rules, packed = position.rules, position.packed
    free = naive.legal_plays(rules_finishing(rules), hand, None)
    assert count_leads(packed, mask(hand)) == len(free), (rules, hand)
    some = tuple(sorted(rng.sample(hand, rng.randint(1, len(hand)))))
    assert leftover(packed, mask(some)) == naive.leftover(rules, some), (rules, some)
    for opening in (False, True) if len(hand) == packed[0]["cards"] else ():  # as dealt
        kind = int(instant_win(packed, mask(hand), opening))
        name = INSTANT_WINS[kind] if kind >= 0 else None
        assert name == naive.instant_win(rules, hand, opening), (rules, hand, opening)


@pytest.mark.parametrize(("variant", "players"), ONE_DECK)
def test_positions(variant: str, players: int, request: pytest.FixtureRequest) -> None:
    rules = parse_variant(variant)
    rng = random.Random(f"{variant} {players}")
    position = Position(rules, players)
    size = deal_of(rules, players)[1]
    for _ in range(request.config.getoption("--twin-positions")):
        check_position(rng, position, rng.choice([size, size, rng.randint(6, size)]))


def test_positions_of_random_rules(request: pytest.FixtureRequest) -> None:
    rng = random.Random(2)
    for _ in range(request.config.getoption("--twin-rule-sets")):
        rules = random_rules(rng)
        position = Position(rules, player_counts(rules)[-1])
        for _ in range(10):
            check_position(rng, position, rng.choice([int(position.packed[0]["cards"]), rng.randint(6, 13)]))
