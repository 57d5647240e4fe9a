"""Rule sets, cards and players that the tests of the slow twin share."""

import random
from collections.abc import Sequence
from dataclasses import replace

import naive_hand
from naive import Cards
from naive_hand import Position

from tlsim.rules.variantfiles import parse_variant

NOTHING: Cards = ()
CLASSIC, SOUTHERN, VIET_CONG = (parse_variant(name) for name in ("classic", "southern", "viet-cong"))
MIEN_NAM = replace(
    SOUTHERN,
    payoff="places",
    cong=True,
    chop_penalties=True,
    unlocked_chops=("double-straight-4",),
    instant_wins=("dragon", "five-pair-straight", "four-twos", "six-pairs"),
    opening_instant_wins=("four-threes",),
)
DEM_LA = replace(MIEN_NAM, ends="first-out", payoff="cards", leftover_penalties=False, chop_penalties=False)
ODD = replace(
    VIET_CONG,
    straight_twos=True,
    finish_on_two=False,
    must_play=True,
    pass_locks=False,
    unlocked_chops=("double-straight-3", "quad"),
    cards=17,
    leftover_penalties=True,
    chop_penalties=True,
    instant_wins=(),
)


def cards(text: str | Sequence[str]) -> Cards:
    """Return the cards of `3S 10D` or of a list of such names."""
    names = text.split() if isinstance(text, str) else text
    ranks = ["3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A", "2"]
    return tuple(sorted(4 * ranks.index(name[:-1]) + "SCDH".index(name[-1]) for name in names))


def deal(rng: random.Random, players: int, size: int, decks: int = 1, first: int = 0) -> list[Cards]:
    """Return hands from whole decks, or from what is in them from card number `first` on."""
    deck = rng.sample([*range(first, 52)] * decks, players * size)
    return [tuple(sorted(deck[seat * size : (seat + 1) * size])) for seat in range(players)]


def uniform(rng: random.Random) -> naive_hand.Choose:
    def choose(_seat: int, position: Position) -> Cards:
        return rng.choice(naive_hand.choices(position))

    return choose


class Script:
    """Plays as written, then for everybody what has fewest cards, of those the lowest; keeps all positions."""

    def __init__(self, *plays: str) -> None:
        self.plays = [cards(play) for play in plays]
        self.positions: list[Position] = []

    def __call__(self, _seat: int, position: Position) -> Cards:
        self.positions.append(position)
        if self.plays:
            return self.plays.pop(0)
        return min(position.legal, key=lambda play: (len(play), play[::-1]), default=())
