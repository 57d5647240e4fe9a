import random
from collections import Counter

import pytest

from tlsim.errors import InputError
from tlsim.rules.cards import FULL, join, mask, names, numbers, parse_card, parse_hand, show, split, without


def test_notation_is_a_fixed_point() -> None:
    assert names(FULL)[0] == "3S"
    assert names(FULL)[-1] == "2H"
    assert [parse_card(name) for name in names(FULL)] == list(range(52))
    assert [parse_card(name) for name in show(FULL).split()] == list(range(52))
    rng = random.Random(1)
    for _ in range(200):
        hand = mask(rng.sample(range(52), rng.randint(1, 17)))
        assert parse_hand(" ".join(names(hand))) == hand == mask(numbers(hand))
        assert parse_hand(", ".join(rng.sample(names(hand), hand.bit_count()))) == hand
        both = mask(rng.sample([*range(52)] * 2, rng.randint(1, 20)))
        assert parse_hand(" ".join(names(both))) == both == mask(numbers(both)) == join(*split(both))
        play = mask(rng.sample(list(numbers(both)), rng.randint(1, both.bit_count())))
        assert Counter(numbers(both)) - Counter(numbers(play)) == Counter(numbers(without(both, play)))


@pytest.mark.parametrize("text", ["10D", "10d", "TD", "td", "10♦"])
def test_spellings(text: str) -> None:
    assert names(1 << parse_card(text)) == ["10D"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3S 4X", "unknown card '4X'"),
        ("11S", "unknown card '11S'"),
        ("3S 10", "card '10' has a rank but no suit: write 10S or 10C or 10D or 10H"),
        ("3S 4S 3♠ 3S", "a card can be there twice at most, got 3S 3 times"),
        ("", "no cards given"),
        (" , ", "no cards given"),
    ],
)
def test_bad_cards(text: str, message: str) -> None:
    with pytest.raises(InputError, match="^" + message.replace("(", r"\(")):
        parse_hand(text)
