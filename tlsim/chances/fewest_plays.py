"""Count the fewest plays that shed a hand, by an automaton that reads how many cards of each rank it holds.

The *definition*: the least number of combinations that a hand splits into, when nobody answers and obligations do not
matter. `tests/odds_by_sight.py` has it as it is said, by trying all splits, and every other form is held to it. The
kernels in `tlsim.engine.features` and `tlsim.engine.bulk` search the splits of one hand: `tests/test_combos.py` and
`tests/test_handsample.py` compare them. This automaton serves the count of all hands: `tests/test_exact_odds.py`
compares it on all hands of small decks, and with the kernel on all ways to spread 13 cards over the ranks.

A hand is split into groups of one rank and runs. Of the ranks read so far only the *open* runs matter, which may or
must go on. A state lists, for each set of open runs that is possible, the least number of plays that the cards so far
take, less the lowest of these costs. Few states can be reached: 195 for 13 of 52 cards, 1,752 for 20 of 104.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tlsim.errors import OutOfReach

MAX_STATES = 4_000  # after a rank: some seconds
_NOT_REACHED = 1 << 30  # more plays than any hand takes

Runs: TypeAlias = tuple[int, ...]
"""How many open runs there are of 1, 2, … ranks. The last number is of all longer ones, too, if these may be played."""
Open: TypeAlias = tuple[Runs, Runs]
"""The open straights, and the open double straights."""
Costs: TypeAlias = frozenset[tuple[Open, int]]
"""For each set of open runs that is possible the fewest plays, less the lowest of all."""


@dataclass(frozen=True)
class RankUse:
    """What a rank may stand in: straights, double straights; and the most cards of it that are one play."""

    straights: bool
    doubles: bool
    most: int


@dataclass(frozen=True)
class RunLengths:
    """How long runs may be: from `shortest` ranks on, up to `longest`."""

    shortest: int
    longest: int


@dataclass(frozen=True)
class Reading:
    """The automaton at one rank: for each state and each number of cards the state after, and the plays it takes."""

    after: NDArray[np.int16]  # (states, cards of the rank + 1)
    plays: NDArray[np.int16]


@cache
def readings(
    ranks: tuple[RankUse, ...], straights: RunLengths, doubles: RunLengths, copies: int, cards: int
) -> list[Reading]:
    """Return the automaton rank by rank, from state 0 on; the plays of all ranks add up to the fewest plays of a hand.

    A hand holds up to `copies` cards of a rank, and up to `cards` in all. The plays of the runs that are open at the
    end are added at the last rank. Raises `OutOfReach` for too many states.

    >>> any_run = RankUse(straights=True, doubles=True, most=4)
    >>> steps = readings((any_run,) * 5, RunLengths(3, 5), RunLengths(3, 5), copies=4, cards=5)
    >>> state, n_plays = 0, 0
    >>> for step, n in zip(steps, (1, 1, 1, 0, 2), strict=True):  # a straight of three, and a pair
    ...     state, n_plays = step.after[state, n], n_plays + int(step.plays[state, n])
    >>> n_plays
    2
    """
    kinds = _tracked(straights, len(ranks), cards), _tracked(doubles, len(ranks), cards // 2)
    nothing = ((0,) * kinds[0].longest, (0,) * kinds[1].longest)
    states = {frozenset({(nothing, 0)}): (0, 0)}  # -> its number, and the fewest cards that lead there
    read = cache(partial(_read, kinds=kinds))  # most ranks are alike
    steps = []
    for rank in ranks:
        after, plays = np.zeros((2, len(states), copies + 1), np.int16)
        later: dict[Costs, tuple[int, int]] = {}
        for costs, (number, least) in states.items():
            for n in range(min(copies, cards - least) + 1):
                reached, plays[number, n] = read(costs, n, rank)
                after[number, n], fewest = later.get(reached, (len(later), cards))
                later[reached] = after[number, n], min(fewest, least + n)
        if len(later) > MAX_STATES:
            raise OutOfReach(f"the fewest plays for {cards} cards would need more than {MAX_STATES:,} states")
        steps.append(Reading(after, plays))
        states = later
    last = np.array([min(cost for runs, cost in costs if _may_end(runs, kinds)) for costs in states], np.int16)
    return [*steps[:-1], Reading(np.zeros_like(steps[-1].after), steps[-1].plays + last[steps[-1].after])]


# ------------------------------------------------------------------------------------------------ one rank


@dataclass(frozen=True)
class _Tracked:
    """Runs from `shortest` ranks on, counted by length up to `longest`, which is all longer ones if `endless`."""

    shortest: int
    longest: int
    endless: bool


def _tracked(lengths: RunLengths, ranks: int, most: int) -> _Tracked:
    """Return what a state counts of runs, of which a hand has at most `most` ranks."""
    if lengths.longest >= min(ranks, most):
        return _Tracked(lengths.shortest, lengths.shortest, endless=True)
    return _Tracked(lengths.shortest, lengths.longest, endless=False)


def _may_end(runs: Open, kinds: tuple[_Tracked, _Tracked]) -> bool:
    """Return whether no open run is too short to be played."""
    return not any(any(of_kind[: kind.shortest - 1]) for of_kind, kind in zip(runs, kinds, strict=True))


def _read(costs: Costs, n: int, rank: RankUse, kinds: tuple[_Tracked, _Tracked]) -> tuple[Costs, int]:
    """Return the state after n cards of a rank, and the plays to add to all of its costs."""
    reached: dict[Open, int] = {}
    for runs, cost in costs:
        for after, plays in _splits(runs, n, rank, kinds):
            if cost + plays < reached.get(after, _NOT_REACHED):
                reached[after] = cost + plays
    lowest = min(reached.values())
    return frozenset((runs, cost - lowest) for runs, cost in reached.items()), lowest


@cache
def _splits(runs: Open, n: int, rank: RankUse, kinds: tuple[_Tracked, _Tracked]) -> list[tuple[Open, int]]:
    """Return the ways to split n cards of a rank: the open runs after it, and the plays it takes.

    Some cards go on open runs, some begin new ones, and the others form groups of this rank. A new run counts as a play
    where it begins.
    """
    splits = []
    going_on = (_going_on(*of_kind) for of_kind in zip(runs, kinds, (rank.straights, rank.doubles), strict=True))
    for straights, doubles in product(*map(list, going_on)):
        free = n - sum(straights) - 2 * sum(doubles)
        for new in _up_to(free, rank.straights):
            for pairs in _up_to((free - new) // 2, rank.doubles):
                in_groups = free - new - 2 * pairs
                n_groups = -(-in_groups // rank.most)  # rounded up
                after = (new, *straights[1:]), (pairs, *doubles[1:])
                splits.append((after, new + pairs + n_groups))
    return splits


def _up_to(most: int, allowed: bool) -> range:
    """Return how many new runs may begin: up to `most`, none if not allowed; no number at all if `most` is negative."""
    return range(most + 1) if allowed else range(min(most + 1, 1))


def _going_on(runs: Runs, kind: _Tracked, allowed: bool) -> Iterator[Runs]:
    """Yield the open runs of a kind after a rank, without new ones: short ones must go on, others may if allowed."""
    if not allowed:
        if not any(runs[: kind.shortest - 1]):
            yield (0,) * len(runs)
        return
    choices = []
    for length, count in enumerate(runs, 1):
        if length < kind.shortest:
            choices.append(range(count, count + 1))
        elif length < kind.longest or kind.endless:
            choices.append(range(count + 1))
        else:
            choices.append(range(1))
    for going in product(*choices):
        *shorter, last, longest = going
        yield (0, *shorter, last + longest * kind.endless)
