"""Perft: the number of ways to play on from a position, to a depth; passes count like plays."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tlsim.play.transcript import Hand, Script
from tlsim.rules.cards import names, parse_hand
from tlsim.rules.variantfiles import parse_variant

PATH = Path(__file__).parent / "data" / "perft.txt"


@dataclass(frozen=True)
class Case:
    variant: str
    hands: tuple[int, ...]
    leader: int | None  # None: an opening hand
    counts: tuple[int, ...]  # at depth 1, 2, …


def read_cases(path: Path = PATH) -> list[Case]:
    cases = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            variant, leader, hands, counts = (part.strip() for part in line.split("|"))
            masks = tuple(parse_hand(hand) for hand in hands.split("/"))
            cases.append(
                Case(variant, masks, None if leader == "opening" else int(leader), tuple(map(int, counts.split())))
            )
    return cases


def perft(case: Case, depth: int, script: Sequence[int] = ()) -> int:
    """Return the number of sequences of `depth` turns; a hand that ends sooner counts once."""
    if depth == 0:
        return 1
    hand = Hand(parse_variant(case.variant), Script(case.hands, script, leader=case.leader))
    if hand.is_over:
        return 1
    moves, passing = hand.moves()
    if depth == 1:
        return len(moves) + passing
    return sum(perft(case, depth - 1, [*script, play]) for play in moves + [0] * passing)


def divide(case: Case, depth: int) -> dict[str, int]:
    """Return the count below each first play, to find where two engines part."""
    moves, passing = Hand(parse_variant(case.variant), Script(case.hands, leader=case.leader)).moves()
    below: Counter[str] = Counter()
    for play in moves + [0] * passing:
        below[" ".join(names(play)) or "pass"] = perft(case, depth - 1, [play])
    return dict(below)
