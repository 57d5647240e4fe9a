"""Trading after the deal (docs/rules.md, section 8)."""

import random
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tlsim
from tlsim.engine import trading
from tlsim.engine.compile import kernel
from tlsim.errors import InputError, PlayFault
from tlsim.play.plan import Plan
from tlsim.play.runner import Runner, blocks, hands
from tlsim.play.transcript import replay
from tlsim.plugins.load import parse_policies, parse_trading
from tlsim.rules.cards import mask, numbers, parse_card, split
from tlsim.rules.ruleset import deal_of, pack
from tlsim.rules.variantfiles import parse_variant

TABLES = [("viet-cong,trading=yes,cards=17", 3), ("viet-cong,trading=yes", 4), ("classic,trading=yes,cards=equal", 5)]
Cards = tuple[int, ...]


def plan_of(variant: str, players: int, deals: int, trade: str | None = None, match: int | None = None) -> Plan:
    policies = tuple(parse_policies(["lowest"], players))
    return Plan(parse_variant(variant), players, policies, deals, 3, match, parse_trading(trade) if trade else None)


@kernel
def best_swap(rules: Any, offers: Any) -> int:
    return trading.best_swap(rules[0], offers[0], 0)  # type: ignore[arg-type]  # it draws nothing


def value(cards: Cards) -> int:
    """Return the hand value as `tlsim.engine.trading.hand_value` words it."""
    count = Counter(card // 4 for card in cards)
    total = sum(card // 4 for card in cards)
    total += sum((6 if n >= 2 else 0) + (8 if n >= 3 else 0) + (16 if n >= 4 else 0) for n in count.values())
    in_run = {rank + k for rank in range(10) for k in range(3) if all(count[rank + j] for j in range(3))}
    return total + 3 * len(in_run)


def ways(cards: Cards, n: int) -> list[Cards]:
    """Return the ways to give n cards, in the order of `tlsim.engine.trading.next_give`."""
    different = sorted(set(cards))
    if n == 1:
        return [(card,) for card in different]
    pairs: list[Cards] = sorted(combinations(different, 2), key=lambda pair: (pair[1], pair[0]))
    return [*pairs, *((card, card) for card in different if cards.count(card) == 2)]


def swapped(cards: Cards, give: Cards, get: Cards) -> Cards:
    return tuple(sorted((Counter(cards) - Counter(give) + Counter(get)).elements()))


def best_by_hand(a: Cards, b: Cards) -> tuple[Cards, Cards] | None:
    best, found, value_a, value_b = 0, None, value(a), value(b)
    for n in (1, 2):
        for give in ways(a, n):
            for get in ways(b, n):
                gain_a = value(swapped(a, give, get)) - value_a
                if gain_a <= 0:
                    continue
                gain_b = value(swapped(b, get, give)) - value_b
                if gain_b > 0 and gain_a + gain_b > best:
                    best, found = gain_a + gain_b, (give, get)
    return found


@pytest.mark.parametrize("decks", [1, 2])
def test_the_built_in_policy_makes_the_best_swap(decks: int) -> None:
    rng = random.Random(decks)
    packed = pack(parse_variant("classic,trading=yes"), 4 * decks)
    offers = np.zeros(1, trading.OFFER).view(np.recarray)
    swaps = 0
    for _ in range(25):
        deck = rng.sample([*range(rng.choice([20, 52]))] * decks, 20)
        a, b = tuple(sorted(deck[:10])), tuple(sorted(deck[10:]))
        offer = offers[0]
        offer["a"], offer["a_second"] = split(mask(a))
        offer["b"], offer["b_second"] = split(mask(b))
        expected = best_by_hand(a, b)
        assert bool(best_swap(packed, offers)) == (expected is not None)
        if expected:
            swaps += 1
            assert (offer["give_a"], offer["give_a_second"]) == split(mask(expected[0]))
            assert (offer["give_b"], offer["give_b_second"]) == split(mask(expected[1]))
    assert swaps > 10


def test_a_swap_of_small_hands_improves_both() -> None:
    """The best swap of four cards each, by loops: often one of the two would win more by what the other loses."""
    rng, packed = random.Random(4), pack(parse_variant("classic,trading=yes"), 4)
    offers = np.zeros(1, trading.OFFER).view(np.recarray)
    for _ in range(15):
        deck = rng.sample(range(20), 8)
        a, b = tuple(sorted(deck[:4])), tuple(sorted(deck[4:]))
        offers[0]["a"], offers[0]["b"] = mask(a), mask(b)
        expected = best_by_hand(a, b)
        assert bool(best_swap(packed, offers)) == (expected is not None), (a, b)
        if expected:
            assert (offers[0]["give_a"], offers[0]["give_b"]) == (mask(expected[0]), mask(expected[1])), (a, b)


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_cards_change_hands_and_none_is_lost(variant: str, players: int) -> None:
    changed = 0
    rules = parse_variant(variant)
    for written in hands(plan_of(variant, players, 20), 0, 20):
        before, after = ([sorted(map(parse_card, hand)) for hand in written[key]] for key in ("dealt", "hands"))
        assert Counter(card for hand in before for card in hand) == Counter(card for hand in after for card in hand)
        assert {len(hand) for hand in after} == {deal_of(rules, players)[1]}
        changed += before != after
        assert all(value(tuple(b)) >= value(tuple(a)) for a, b in zip(before, after, strict=True))
        assert replay(rules, written) == written
    assert changed > 10
    assert "dealt" not in next(hands(plan_of("viet-cong", 4, 1), 0, 1))


def test_the_deal_is_that_without_trading() -> None:
    with_trade = next(hands(plan_of("viet-cong,trading=yes", 4, 8), 7, 8))
    without = next(hands(plan_of("viet-cong", 4, 8), 7, 8))
    assert with_trade["dealt"] == without["hands"]


def test_four_twos_do_not_win_at_once_while_trading_is_on() -> None:
    plain = tlsim.simulate("viet-cong", deals=4_000, seed=3).tables["instant_wins"]
    assert not plain.filter(plain["estimate"] > 0).is_empty()
    traded = tlsim.simulate("viet-cong,trading=yes", deals=300, seed=3)
    assert traded.tables["instant_wins"].filter(traded.tables["instant_wins"]["estimate"] > 0).is_empty()


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(body: str) -> str:
        path = tmp_path / f"trade{abs(hash(body))}.py"
        path.write_text(f"from tlsim import kit\n\ndef trade(rules, offer, stream, n=1.0):\n    {body}\n    return 1\n")
        return f"{path}:trade"

    return write


HIGH_FOR_LOW = "offer.give_a, offer.give_b = offer.a & -offer.a, 1 << kit.highest_card(offer.b)"


def test_a_policy_of_ones_own(write: Any) -> None:
    """One of each pair always gives its lowest card for the highest of the other: neither likes it, both do it."""
    spec = write(HIGH_FOR_LOW)
    plan = plan_of("viet-cong,trading=yes", 4, 60, spec)
    one = [block.tally for block in blocks(plan, 1, block=7)]
    assert np.array_equal(sum(one), sum(block.tally for block in blocks(plan, 2)))
    assert plan.as_dict()["trade"] == spec
    assert not np.array_equal(sum(one), Runner(plan_of("viet-cong,trading=yes", 4, 60)).play(0, 60).tally)
    for written in hands(plan_of("viet-cong,trading=yes", 4, 3, f"{spec},n=2", match=3), 0, 3):
        assert [len(hand) for hand in written["hands"]] == [13] * 4
        assert replay(plan.rules, written) == written


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "offer.give_a, offer.give_b = offer.a, 0",
            "a swap is of equally many cards that the two hold: .* for nothing",
        ),
        (
            "offer.give_a, offer.give_b = offer.b & -offer.b, offer.a & -offer.a",
            "a swap is of equally many cards that the two hold",
        ),
        (
            f"{HIGH_FOR_LOW}\n    offer.give_a_second = offer.give_a",
            "a swap is of equally many cards that the two hold",
        ),
    ],
)
def test_a_swap_that_may_not_be_stops_the_run(write: Any, body: str, message: str) -> None:
    plan = plan_of("viet-cong,trading=yes", 4, 5, write(body))
    with pytest.raises(PlayFault, match=rf"^trading policy .*: {message}.*\(seed 3, deal 0\)$"):
        list(blocks(plan))


def test_bad_trading_policies(write: Any) -> None:
    spec = write(HIGH_FOR_LOW)
    for given, message in [
        ("best", "best: a trading policy is a function of a file"),
        ("none.py:trade", "none.py:trade: no such file"),
        (f"{spec},m=1", "unknown parameter 'm'"),
        (spec.replace(":trade", ":swap"), "has no function 'swap'"),
        (write("offer.x = 1"), "it cannot be compiled"),
    ]:
        with pytest.raises(InputError, match=message):
            parse_trading(given)
    with pytest.raises(InputError, match=r"has no trading \(trading=yes\)"):
        plan_of("viet-cong", 4, 5, spec)


def test_masks_of_swaps() -> None:
    assert swapped((0, 0, 5), (0,), (7,)) == (0, 5, 7)
    assert list(numbers(mask([0, 0, 5]))) == [0, 0, 5]
