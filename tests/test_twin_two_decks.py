"""The kernels for two decks and the slow twin agree on single positions; whole hands are in `test_twin_hands`."""

import random
from typing import Any

import naive
import naive_hand
import numpy as np
import pytest
from naive import Cards
from tables import every_table, random_table

from tlsim.engine import features, two_decks
from tlsim.engine.compile import kernel
from tlsim.engine.policies import lowest, lowest_two_decks
from tlsim.engine.policies import random as random_policy
from tlsim.engine.view import VIEW
from tlsim.rules.cards import join, mask, numbers, split
from tlsim.rules.ruleset import INSTANT_WINS, Rules, deal_of, pack
from tlsim.rules.variantfiles import parse_variant

TABLES = [(spec, players) for spec, players in every_table() if deal_of(parse_variant(spec), players)[0] == 2]


@kernel
def fast_lowest(rules: Any, views: Any) -> int:
    return lowest.choose(rules[0], views[0], 0)


@kernel
def plain_lowest(rules: Any, views: Any) -> int:
    return lowest_two_decks.choose_plain(rules[0], views[0])


@kernel
def random_choice(rules: Any, views: Any, word: Any) -> int:
    return random_policy.choose_with_two(rules[0], views[0], word)


@kernel
def may_pass(rules: Any, views: Any) -> bool:
    return two_decks.may_pass(rules[0], views[0])


@kernel
def leftover(rules: Any, h: int, s: int) -> int:
    return two_decks.leftover(rules[0], h, s)


@kernel
def instant_win(rules: Any, h: int, s: int, opening: int) -> int:
    priority = two_decks.instant_win(rules[0], h, s, opening)
    return features.instant_kind(rules[0], priority) if priority >= 0 else -1


def constructed(rng: random.Random, size: int) -> tuple[Cards, Cards]:
    """Return a hand with more runs, pairs, quads and 2s than a fair deal gives, and the rest of two decks."""
    weights = [rng.choice([0.2, 1, 5]) for _ in range(13)]
    weights[12] *= rng.choice([1, 4])
    deck = sorted([*range(52)] * 2, key=lambda card: rng.random() / weights[card // 4])
    return tuple(sorted(deck[:size])), tuple(sorted(deck[size:]))


def play_to_beat(rng: random.Random, rules: Rules, hand: Cards, others: Cards) -> Cards | None:
    """Return a play of other cards, now and then what the hand itself holds a copy of; none to lead."""
    if rng.random() < 0.25:
        return None
    for _ in range(20):
        kind = rng.random()
        copies = [card for card in hand if card in others]
        pool = rng.sample(others, min(len(others), rng.choice([8, 13, 17])))
        pool = copies if kind < 0.4 and copies else pool
        plays = naive.combinations_in(rules, tuple(sorted(pool)))
        if kind > 0.7:  # what is chopped, and what is long
            plays = tuple(play for play in plays if len(play) > 3 or min(play) >= 48)
        if plays:
            return rng.choice(plays)
    return None


class Position:
    """One position in both worlds."""

    def __init__(self, rules: Rules, players: int) -> None:
        self.rules, self.packed = rules, pack(rules, players)
        self.views = np.zeros(1, VIEW).view(np.recarray)

    def set(self, hand: Cards, on: Cards | None, required: int | None, again: bool) -> None:
        view = self.views[0]
        view["hand"], view["hand_second"] = split(mask(hand))
        view["on_cards"], view["on_second"] = split(mask(on or ()))
        view["on"] = two_decks.classify_kernel(self.packed, *split(mask(on or ())))
        view["required"] = 0 if required is None else 1 << required
        view["asked_again"] = again

    def played(self, choose: Any, *word: Any) -> int:
        """Return what a policy plays."""
        self.views[0]["second"] = 0
        cards = choose(self.packed, self.views, *word)
        return join(cards, self.views[0]["second"])


def check_position(rng: random.Random, position: Position, size: int) -> None:
    rules, packed, view = position.rules, position.packed, position.views[0]
    hand, others = constructed(rng, size)
    on = play_to_beat(rng, rules, hand, others)
    again = on is not None and rng.random() < 0.2
    required = min(hand) if on is None and rng.random() < 0.3 and rules.first_lead != "free" else None
    position.set(hand, on, required, again)
    where = (rules, hand, on, required, again)
    n = two_decks.legal_plays_kernel(packed, position.views)
    written = [join(*both) for both in zip(view["plays"][:n], view["plays_second"][:n], strict=True)]
    here = naive_hand.Position(rules, 0, hand, on, None, required, again, (), frozenset())
    legal = here.legal
    assert len(set(written)) == len(written), where
    assert {tuple(numbers(play)) for play in written} == legal, where
    assert bool(may_pass(packed, position.views)) == here.may_pass, where
    expected = mask(naive_hand.lowest(rules, here))
    assert position.played(fast_lowest) == position.played(plain_lowest) == expected, where
    choices = naive_hand.choices(here)
    if len(choices) <= 200:
        words = [np.uint64(-((-k << 64) // len(choices))) for k in range(len(choices))]
        drawn = sorted(position.played(random_choice, word) for word in words)
        assert drawn == sorted(map(mask, choices)), where
    for play in (
        *rng.sample(sorted(legal), min(3, len(legal))),
        tuple(sorted(rng.sample(hand, rng.randint(1, min(6, len(hand)))))),
    ):
        code = int(two_decks.classify_kernel(packed, *split(mask(play))))
        kind = naive.classify(rules, play)
        assert bool(code) == bool(kind), where
        assert not kind or ((code >> 6) & 15, code & 63) == (kind[1], max(play)), where
    some = tuple(sorted(rng.sample(hand, rng.randint(1, len(hand)))))
    assert leftover(packed, *split(mask(some))) == naive.leftover(rules, some), (rules, some)
    for opening in (False, True) if len(hand) == packed[0]["cards"] else ():
        won = int(instant_win(packed, *split(mask(hand)), opening))
        assert (INSTANT_WINS[won] if won >= 0 else None) == naive.instant_win(rules, hand, opening), where


@pytest.mark.parametrize("ties", ["forbidden", "later", "kickers"])
@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_positions(variant: str, players: int, ties: str, request: pytest.FixtureRequest) -> None:
    rules = parse_variant(f"{variant},ties={ties}")
    rng, position = random.Random(f"{variant} {players} {ties}"), Position(rules, players)
    size = deal_of(rules, players)[1]
    for _ in range(request.config.getoption("--twin-positions") // 6):
        check_position(rng, position, rng.choice([size, rng.randint(5, size)]))


def test_positions_of_random_rules(request: pytest.FixtureRequest) -> None:
    rng = random.Random(4)
    for _ in range(request.config.getoption("--twin-rule-sets")):
        rules, players = random_table(rng, decks=2)
        position = Position(rules, players)
        for _ in range(5):  # half as many as with one deck
            check_position(rng, position, rng.choice([deal_of(rules, players)[1], rng.randint(5, 20)]))
