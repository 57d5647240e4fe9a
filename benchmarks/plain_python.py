"""Tiến lên in plain Python, as one would write it in an evening: cards as objects, combinations by itertools.

`python plain_python.py p1|p2 HANDS [SEED]` plays hands of southern without instant wins (p1: all play `lowest`, p2:
`random`) and prints games per second of CPU time, and the averages that a right engine must agree with.
"""

import itertools
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass


class Card:
    __slots__ = ("rank", "suit")

    def __init__(self, rank: int, suit: int) -> None:
        self.rank = rank
        self.suit = suit

    @property
    def value(self) -> int:
        return self.rank * 4 + self.suit

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Card) and self.value == other.value

    def __hash__(self) -> int:
        return self.value

    def __lt__(self, other: "Card") -> bool:
        return self.value < other.value


DECK = [Card(rank, suit) for rank in range(13) for suit in range(4)]


class Combo:
    __slots__ = ("cards", "kind", "length", "top")

    def __init__(self, kind: str, length: int, cards: tuple[Card, ...]) -> None:
        self.kind = kind
        self.length = length
        self.cards = cards
        self.top = max(card.value for card in cards)

    def beats(self, other: "Combo") -> bool:
        if self.kind == other.kind and self.length == other.length:
            return self.top > other.top
        one_two = other.kind == "single" and other.top >= 48
        two_twos = other.kind == "pair" and other.top >= 48
        short = other.kind == "ds" and other.length == 3
        if self.kind == "ds" and self.length == 3:
            return one_two
        if self.kind == "quad":
            return one_two or two_twos or short
        if self.kind == "ds" and self.length == 4:
            return one_two or two_twos or other.kind == "quad" or short
        return False


def all_combos(hand: set[Card]) -> list[Combo]:
    by_rank: dict[int, list[Card]] = defaultdict(list)
    for card in sorted(hand):
        by_rank[card.rank].append(card)
    found = [Combo("single", 1, (card,)) for card in hand]
    for rank, cards in by_rank.items():
        for n, kind in ((2, "pair"), (3, "triple"), (4, "quad")):
            if kind == "quad" and rank == 12:
                continue
            found += [Combo(kind, n, chosen) for chosen in itertools.combinations(cards, n)]
    for start in range(10):
        for n in range(3, 13 - start):
            ranks = range(start, start + n)
            if not all(rank in by_rank for rank in ranks):
                break
            found += [Combo("straight", n, chosen) for chosen in itertools.product(*(by_rank[rank] for rank in ranks))]
        for n in (3, 4):
            ranks = range(start, start + n)
            if start + n > 12 or not all(len(by_rank.get(rank, ())) >= 2 for rank in ranks):
                break
            pairs = (list(itertools.combinations(by_rank[rank], 2)) for rank in ranks)
            found += [Combo("ds", n, tuple(itertools.chain.from_iterable(t))) for t in itertools.product(*pairs)]
    return found


class RandomPlayer:
    def choose(self, legal: list[Combo], pile: Combo | None) -> Combo | None:
        return random.choice([*legal, None] if pile else legal)


class LowestPlayer:
    WEAKEST = (("ds", 3), ("quad", 4), ("ds", 4))

    def choose(self, legal: list[Combo], pile: Combo | None) -> Combo | None:
        if not legal:
            return None
        if pile is None:
            low = min(card for combo in legal for card in combo.cards)
            return max((combo for combo in legal if low in combo.cards), key=self._length)
        same = [combo for combo in legal if combo.kind == pile.kind and combo.length == pile.length]
        return min(same, key=self._height) if same else min(legal, key=self._strength)

    @staticmethod
    def _height(combo: Combo) -> tuple[int, int]:
        return combo.top, sum(card.value for card in combo.cards)

    def _strength(self, combo: Combo) -> tuple[int, int, int]:
        return self.WEAKEST.index((combo.kind, combo.length)), *self._height(combo)

    @staticmethod
    def _length(combo: Combo) -> tuple[int, int, int]:
        runs = {"ds": 2, "straight": 1}
        return len(combo.cards), runs.get(combo.kind, 0), -sum(card.value for card in combo.cards)


@dataclass
class Totals:
    hands: int = 0
    plays: int = 0
    passes: int = 0
    chops: int = 0
    starter_wins: int = 0


class Game:
    """One hand: `play` returns the order in which the seats go out."""

    def __init__(self, players: list[RandomPlayer] | list[LowestPlayer], totals: Totals) -> None:
        deck = DECK[:]
        random.shuffle(deck)
        self.players = players
        self.totals = totals
        self.hands = [set(deck[13 * seat : 13 * seat + 13]) for seat in range(4)]
        self.order: list[int] = []
        self.first = True

    def turn(self, seat: int, pile: Combo | None) -> Combo | None:
        legal = all_combos(self.hands[seat])
        if pile is not None:
            legal = [combo for combo in legal if combo.beats(pile)]
        elif self.first:
            legal = [combo for combo in legal if DECK[0] in combo.cards]
            self.first = False
        combo = self.players[seat].choose(legal, pile)
        if combo is None:
            self.totals.passes += 1
            return None
        self.totals.plays += 1
        self.totals.chops += pile is not None and (combo.kind, combo.length) != (pile.kind, pile.length)
        self.hands[seat] -= set(combo.cards)
        return combo

    def pile(self, leader: int) -> int:
        pile: Combo | None = None
        seat = owner = leader
        asked = [seat for seat in range(4) if self.hands[seat]]
        while True:
            combo = self.turn(seat, pile)
            if combo is None:
                asked.remove(seat)
            else:
                pile, owner = combo, seat
                if not self.hands[seat]:
                    self.order.append(seat)
                    asked.remove(seat)
            if len(self.order) == 3 or all(seat == owner for seat in asked):
                return owner
            seat = next(i % 4 for i in range(seat + 1, seat + 5) if i % 4 in asked and i % 4 != owner)

    def play(self) -> list[int]:
        leader = starter = next(seat for seat in range(4) if DECK[0] in self.hands[seat])
        while len(self.order) < 3:
            owner = self.pile(leader)
            leader = next(i % 4 for i in range(owner, owner + 4) if self.hands[i % 4])
        self.totals.hands += 1
        self.totals.starter_wins += self.order[0] == starter
        return self.order + [seat for seat in range(4) if self.hands[seat]]


def main(policy: str, hands: int, seed: int = 0) -> None:
    random.seed(seed)
    players = [LowestPlayer() for _ in range(4)] if policy == "p1" else [RandomPlayer() for _ in range(4)]
    totals = Totals()
    began = time.process_time()
    for _ in range(hands):
        Game(players, totals).play()
    seconds = time.process_time() - began
    means = {name: getattr(totals, name) / hands for name in ("plays", "passes", "chops", "starter_wins")}
    shown = " ".join(f"{name}={mean:.4f}" for name, mean in means.items())
    print(f"{policy} games={hands} games/cpu-s={hands / seconds:.1f} {shown}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:4]))
