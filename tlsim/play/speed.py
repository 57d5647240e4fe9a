"""How fast the engine is on this machine: its stages one by one and whole runs, measured in turns.

A rate is per second of CPU time of this process, all its threads together: the blocks of a run are played on a thread
of their own, one at a time.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim.engine.calls import address_of
from tlsim.engine.compile import kernel
from tlsim.engine.deal import deal_hands
from tlsim.engine.faults import NO_FAULT
from tlsim.engine.features import count_leads_of
from tlsim.engine.hand import GOVERNED
from tlsim.engine.one_deck import legal_plays
from tlsim.engine.rng import Word
from tlsim.engine.table import PLAY_HAND, ROW, TABLE, call_play_hand
from tlsim.engine.tally import DECISIONS
from tlsim.engine.view import VIEW
from tlsim.errors import PlayFault
from tlsim.play.plan import Plan
from tlsim.play.runner import blocks, kernels
from tlsim.rules.cards import Mask
from tlsim.rules.ruleset import Rules, pack

ROUNDS = 7  # samples of each measure, taken in turns, so that a slow spell of the machine hits all alike
N_HANDS = 1 << 16  # hands whose leads are generated: too many for the processor to learn their branches
_AT_ONCE = 1 << 12  # hands whose leads are counted in one call: they stay in the processor's cache
_SEED = np.uint64(1)
_GROWTH = 4  # of the size of a sample until it is long enough

Tables = Callable[[Plan, NDArray[np.int64]], Any]
"""What makes the tables of a run: `tlsim.stats.tables.tables`, which lies below the seam."""


# ------------------------------------------------------------------------------------------------ kernels


@kernel
def deal_many(rules: NDArray[Any], tables: NDArray[Any], seed: Word, stop: int) -> Mask:
    """Deal so many times; return something of every deal, so that none can be left out."""
    mixed = 0
    for deal in range(stop):
        deal_hands(rules[0], tables[0], seed, deal)
        mixed ^= tables[0].hands[0]
    return mixed


@kernel
def deal_into(rules: NDArray[Any], tables: NDArray[Any], seed: Word, hands: NDArray[np.int64]) -> None:
    """Fill an array with dealt hands."""
    players = rules[0].players
    for k in range(len(hands)):
        if k % players == 0:
            deal_hands(rules[0], tables[0], seed, k // players)
        hands[k] = tables[0].hands[k % players]


@kernel
def write_many(rules: NDArray[Any], views: NDArray[Any], hands: NDArray[np.int64], n: int) -> int:
    """Write the legal leads of n hands, the given ones over and over; return how many those are."""
    written = 0
    for k in range(n):
        views[0].hand = hands[k & (N_HANDS - 1)]
        written += legal_plays(rules[0], views[0])
    return written


@kernel
def play_many(
    rules: NDArray[Any], tables: NDArray[Any], rows: NDArray[Any], play_hand: int, seed: Word, stop: int
) -> int:
    """Deal and play so many hands with the kernel at an address; return the number of decisions, -1 at a fault."""
    decisions = 0
    for deal in range(stop):
        deal_hands(rules[0], tables[0], seed, deal)
        call_play_hand(play_hand, (rules[0], tables[0], rows[0], 1, GOVERNED))
        if tables[0].fault != NO_FAULT:
            return -1
        decisions += rows[0].plays + rows[0].passes
    return decisions


KERNELS = [deal_many, deal_into, count_leads_of, write_many, play_many]


# ------------------------------------------------------------------------------------------------ what is measured


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing to measure: `run(size)` does work of a size and returns the units done and the decisions made."""

    name: str
    does: str
    unit: str
    run: Callable[[int], tuple[int, int]]
    weight: int = 1  # how many times the share of time of a measure of weight 1


@dataclass(frozen=True, slots=True)
class Rate:
    """What came out: per second of CPU time, one value a sample."""

    measure: Measure
    units: list[float] = field(default_factory=list)
    decisions: list[float] = field(default_factory=list)

    def as_row(self) -> dict[str, Any]:
        """Return the median with the lowest and the highest sample; decisions are `None` where there are none."""
        decisions = round(median(self.decisions)) if any(self.decisions) else None
        return {
            "per_second": round(median(self.units)),
            "low": round(min(self.units)),
            "high": round(max(self.units)),
            "decisions_per_second": decisions,
        }


def dealt(rules: Rules, players: int) -> NDArray[np.int64]:
    """Return `N_HANDS` dealt hands."""
    hands = np.zeros(N_HANDS, np.int64)
    deal_into(pack(rules, players), np.zeros(1, TABLE).view(np.recarray), _SEED, hands)
    return hands


def counting(rules: Rules, players: int) -> Callable[[int], tuple[int, int]]:
    """Return `run(n)`, which counts the legal leads of n dealt hands and returns n."""
    packed, hands = pack(rules, players), dealt(rules, players)
    leads = np.zeros(_AT_ONCE, np.int64)

    def run(n: int) -> tuple[int, int]:
        for first in range(0, n, _AT_ONCE):
            at = first % N_HANDS
            count_leads_of(packed, hands[at : at + min(_AT_ONCE, n - first)], leads)
        return n, 0

    return run


def writing(rules: Rules, players: int) -> Callable[[int], tuple[int, int]]:
    """Return `run(n)`, which writes the legal leads of n dealt hands and returns how many those are."""
    packed, hands, views = pack(rules, players), dealt(rules, players), np.zeros(1, VIEW).view(np.recarray)
    return lambda n: (int(write_many(packed, views, hands, n)), 0)


def dealing(rules: Rules, players: int) -> Callable[[int], tuple[int, int]]:
    """Return `run(n)`, which deals n times and returns n."""
    packed, table = pack(rules, players), np.zeros(1, TABLE).view(np.recarray)

    def run(n: int) -> tuple[int, int]:
        deal_many(packed, table, _SEED, n)
        return n, 0

    return run


def playing(plan: Plan) -> Callable[[int], tuple[int, int]]:
    """Return `run(n)`, which deals and plays n hands, adding nothing up, and returns n and the decisions.

    The policies are built-in ones, seated as the plan has them.
    """
    packed = pack(plan.rules, plan.players)
    table, row = np.zeros(1, TABLE).view(np.recarray), np.zeros(1, ROW).view(np.recarray)
    table[0]["policy"][: plan.players] = [policy.number for policy in plan.policies]
    play_hand = address_of(kernels(plan)[0], PLAY_HAND)

    def run(n: int) -> tuple[int, int]:
        decisions = int(play_many(packed, table, row, play_hand, _SEED, n))
        if decisions < 0:
            raise PlayFault(f"a built-in policy played what is not legal (seed {_SEED}); please report it")
        return n, decisions

    return run


def running(plan: Plan, keep_rows: bool = False, tables: Tables | None = None) -> Callable[[int], tuple[int, int]]:
    """Return `run(n)`, which plays n deals of a plan in blocks, and returns the hands and the decisions.

    With `tables` it also makes the tables of the run.
    """
    seatings = len(plan.seatings)

    def run(n: int) -> tuple[int, int]:
        longer = replace(plan, deals=n)
        total: Any = 0
        for block in blocks(longer, keep_rows=keep_rows):
            total = total + block.tally
        if tables:
            tables(longer, total)
        return n * seatings, int(total[0, DECISIONS])

    return run


def tabulating(plan: Plan, tables: Tables) -> Callable[[int], tuple[int, int]]:
    """Return `run(n)`, which makes the tables of a run n times and returns n."""
    plan = replace(plan, deals=1000)
    tally: Any = sum(block.tally for block in blocks(plan))

    def run(n: int) -> tuple[int, int]:
        for _ in range(n):
            tables(plan, tally)
        return n, 0

    return run


def stages(plan: Plan, tables: Tables) -> list[Measure]:
    """Return the measures of the stages of a run; from `play` on each stage does all that the one before does."""
    rules, players = plan.rules, plan.players
    return [
        Measure("deal", "deal the cards", "deals", dealing(rules, players)),
        Measure("count", "count the leads of dealt hands", "hands", counting(rules, players)),
        Measure("generate", "write the leads of dealt hands", "plays", writing(rules, players)),
        Measure("play", "deal and play a hand", "games", playing(plan)),
        Measure("tally", "the same in blocks, added up", "games", running(plan)),
        Measure("record", "the same, every row kept", "games", running(plan, keep_rows=True)),
        Measure("aggregate", "make the tables of a run", "runs", tabulating(plan, tables)),
    ]


def runs(plans: Sequence[Plan], tables: Tables) -> list[Measure]:
    """Return the measures of whole runs, blocks and tables, one for the policy of each plan."""
    return [Measure(plan.policies[0].name, "", "games", running(plan, tables=tables), weight=3) for plan in plans]


# ------------------------------------------------------------------------------------------------ measuring


def take_turns(measures: Sequence[Measure], seconds: float, rounds: int = ROUNDS) -> list[Rate]:
    """Return the rates of measures after about so many seconds of samples, taken round by round.

    Everything is compiled before; finding the sizes of the samples takes about as long as one round.
    """
    for measure in measures:
        measure.run(1)
    share = seconds / ((rounds + 1) * sum(measure.weight for measure in measures))
    sizes = [_size(measure, share * measure.weight) for measure in measures]
    rates = [Rate(measure) for measure in measures]
    for _ in range(rounds):
        for rate, size in zip(rates, sizes, strict=True):
            units, decisions, used = _sample(rate.measure, size)
            rate.units.append(units / used)
            rate.decisions.append(decisions / used)
    return rates


def _sample(measure: Measure, size: int) -> tuple[int, int, float]:
    """Return the units done, the decisions made and the seconds of CPU time used."""
    began = time.process_time()
    units, decisions = measure.run(size)
    return units, decisions, max(time.process_time() - began, 1e-9)


def _size(measure: Measure, seconds: float) -> int:
    """Return the size of a sample that takes about so many seconds; one slow try is not believed."""
    size = 1
    while (used := min(_sample(measure, size)[2] for _ in range(2))) < seconds / _GROWTH:
        size *= _GROWTH
    return max(1, round(size * seconds / used))
