"""What the benchmarks time: the same work by the slow twin, by a kernel call each, and in one batch.

`BODIES[work, implementation](size)` returns a function without arguments, ready to be timed, which returns a number
that all implementations agree on.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tlsim.api.common import make_plan
from tlsim.api.machine import BENCH_VARIANT
from tlsim.engine import features
from tlsim.play import runner, speed
from tlsim.play.plan import Plan
from tlsim.rules.cards import numbers, parse_hand
from tlsim.rules.ruleset import pack

sys.path.append(str(Path(__file__).parent.parent / "tests"))

import naive  # the slow twin
import naive_hand

Body = Callable[[], int]

PLAN = make_plan(BENCH_VARIANT, "lowest", deals=1, seed=1)
RULES = PLAN.rules


def hands_of(size: int) -> Any:
    """Return dealt hands as masks."""
    return speed.dealt(RULES, PLAN.players)[:size]


def forget() -> None:
    """Let the slow twin work everything out again."""
    naive.combinations_in.cache_clear()
    naive.classify.cache_clear()
    naive.by_rank.cache_clear()
    naive.picks.cache_clear()
    naive.leftover.cache_clear()


def count_twin(size: int) -> Body:
    hands = [tuple(sorted(numbers(int(hand)))) for hand in hands_of(size)]

    def run() -> int:
        forget()
        return sum(len(naive.legal_plays(RULES, hand, None)) for hand in hands)

    return run


def count_kernel(size: int) -> Body:
    packed, hands = pack(RULES, PLAN.players), [int(hand) for hand in hands_of(size)]
    return lambda: sum(int(features.count_leads_kernel(packed, hand)) for hand in hands)


def count_batch(size: int) -> Body:
    packed, hands = pack(RULES, PLAN.players), np.resize(hands_of(speed.N_HANDS), size)
    found = np.zeros(size, np.int64)

    def run() -> int:
        features.count_leads_of(packed, hands, found)
        return int(found.sum())

    return run


def play_twin(size: int) -> Body:
    deals = [hand["hands"] for hand in runner.hands(plan_of(size), 0, size)]
    table = [[tuple(sorted(numbers(parse_hand(" ".join(cards))))) for cards in hands] for hands in deals]

    def choose(_: int, position: naive_hand.Position) -> naive.Cards:
        return naive_hand.lowest(RULES, position)

    def run() -> int:
        forget()
        return sum(len(naive_hand.play_hand(RULES, hands, 0, choose).plays) for hands in table)

    return run


def play_kernel(size: int) -> Body:
    one = runner.Runner(plan_of(size))

    def run() -> int:
        rows = [one.hand(deal, 0)[1] for deal in range(size)]
        return sum(int(row["plays"]) + int(row["passes"]) for row in rows)

    return run


def play_batch(size: int) -> Body:
    run = speed.running(plan_of(size))
    return lambda: run(size)[1]


def plan_of(size: int) -> Plan:
    return make_plan(BENCH_VARIANT, "lowest", deals=size, seed=1)


BODIES: dict[tuple[str, str], Callable[[int], Body]] = {
    ("count", "twin"): count_twin,
    ("count", "kernel"): count_kernel,
    ("count", "batch"): count_batch,
    ("play", "twin"): play_twin,
    ("play", "kernel"): play_kernel,
    ("play", "batch"): play_batch,
}
# Sizes that are timed: hands. The slow ones would take minutes with more.
SIZES = {"twin": (1, 10), "kernel": (1, 10, 1000), "batch": (1, 10, 1000, 100_000)}
