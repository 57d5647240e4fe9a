"""The fewest plays that shed a hand, as an automaton that reads how many cards of each rank it holds.

A hand is split into groups of one rank and runs. Of the ranks read so far only the *open* runs matter, which may or
must go on: for each set of them that is possible, how many plays the cards so far take at least. Such a list of costs,
less the lowest of them, is a state; few different ones can be reached (195 for 13 of 52 cards, 1,752 for 20 of 104).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tlsim.errors import OutOfReach

MOST_STATES = 4_000  # after a rank: some seconds

# How many open straights there are of 1, 2, … ranks, and how many double straights. The last length that is told apart
# stands for all longer ones, too, when these may be played.
Runs = tuple[int, ...]
Open = tuple[Runs, Runs]
Costs = frozenset[tuple[Open, int]]


@dataclass(frozen=True)
class Rank:
    """What a rank may stand in: straights, double straights; and the most cards of it that are one play."""

    straights: bool
    doubles: bool
    most: int


@dataclass(frozen=True)
class Kind:
    """What runs may be: from `shortest` ranks on, up to `longest`."""

    shortest: int
    longest: int


@dataclass(frozen=True)
class Reading:
    """The automaton at one rank: for each state and each number of cards the state after, and the plays it takes."""

    after: NDArray[np.int16]  # (states, cards of the rank + 1)
    plays: NDArray[np.int16]


@cache
def readings(ranks: tuple[Rank, ...], straights: Kind, doubles: Kind, copies: int, cards: int) -> list[Reading]:
    """Return the automaton rank by rank, from state 0 on; the plays of all ranks add up to the fewest plays of a hand.

    A hand holds up to `copies` cards of a rank, and up to `cards` in all. Raises `OutOfReach` for too many states.
    """
    kinds = _told_apart(straights, len(ranks), cards), _told_apart(doubles, len(ranks), cards // 2)
    nothing = ((0,) * kinds[0].longest, (0,) * kinds[1].longest)
    states = {frozenset({(nothing, 0)}): (0, 0)}  # -> its number, and the fewest cards that lead there
    read = cache(partial(_read, kinds=kinds))  # most ranks are alike
    found = []
    for rank in ranks:
        after, plays = np.zeros((2, len(states), copies + 1), np.int16)
        later: dict[Costs, tuple[int, int]] = {}
        for costs, (number, least) in states.items():
            for n in range(min(copies, cards - least) + 1):
                reached, plays[number, n] = read(costs, n, rank)
                after[number, n], fewest = later.get(reached, (len(later), cards))
                later[reached] = after[number, n], min(fewest, least + n)
        if len(later) > MOST_STATES:
            raise OutOfReach(f"the fewest plays for {cards} cards would need more than {MOST_STATES:,} states")
        found.append(Reading(after, plays))
        states = later
    last = np.array([min(cost for runs, cost in costs if _may_end(runs, kinds)) for costs in states], np.int16)
    return [*found[:-1], Reading(np.zeros_like(found[-1].after), found[-1].plays + last[found[-1].after])]


# ------------------------------------------------------------------------------------------------ one rank


@dataclass(frozen=True)
class _Kind:
    """Runs from `shortest` ranks on; lengths are told apart up to `longest`, which is all longer ones if `endless`."""

    shortest: int
    longest: int
    endless: bool


def _told_apart(kind: Kind, ranks: int, most: int) -> _Kind:
    endless = kind.longest >= min(ranks, most)
    return _Kind(kind.shortest, kind.shortest if endless else kind.longest, endless)


def _may_end(runs: Open, kinds: tuple[_Kind, _Kind]) -> bool:
    return not any(any(of_kind[: kind.shortest - 1]) for of_kind, kind in zip(runs, kinds, strict=True))


def _read(costs: Costs, n: int, rank: Rank, kinds: tuple[_Kind, _Kind]) -> tuple[Costs, int]:
    """Return the state after n cards of a rank, and what all of its costs are more than they say."""
    reached: dict[Open, int] = {}
    for runs, cost in costs:
        for after, plays in _splits(runs, n, rank, kinds):
            if cost + plays < reached.get(after, 1 << 30):
                reached[after] = cost + plays
    lowest = min(reached.values())
    return frozenset((runs, cost - lowest) for runs, cost in reached.items()), lowest


@cache
def _splits(runs: Open, n: int, rank: Rank, kinds: tuple[_Kind, _Kind]) -> list[tuple[Open, int]]:
    """Return the ways to split n cards of a rank: those that go on, the new runs, a group; and the plays it takes."""
    found = []
    goes_on = (_going_on(*of_kind) for of_kind in zip(runs, kinds, (rank.straights, rank.doubles), strict=True))
    for straights, doubles in product(*map(list, goes_on)):
        free = n - sum(straights) - 2 * sum(doubles)
        for new in range(free + 1 if rank.straights else min(free + 1, 1)):
            for pairs in range((free - new) // 2 + 1 if rank.doubles else 1):
                group = free - new - 2 * pairs
                after = (new, *straights[1:]), (pairs, *doubles[1:])
                found.append((after, new + pairs - (-group // rank.most)))
    return found


def _going_on(runs: Runs, kind: _Kind, allowed: bool) -> Iterator[Runs]:
    """Yield the open runs of a kind after a rank, without new ones: short ones must go on, others may if allowed."""
    if not allowed:
        if not any(runs[: kind.shortest - 1]):
            yield (0,) * len(runs)
        return
    choices = [
        (count,) if length < kind.shortest else range(count + 1 if length < kind.longest or kind.endless else 1)
        for length, count in enumerate(runs, 1)
    ]
    for going in product(*choices):
        yield (0, *going[:-2], going[-2] + (going[-1] if kind.endless else 0))
