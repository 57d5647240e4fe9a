"""Count the states of a hand rank by rank: how each rank updates them.

A *state* is a small number. A *step* gives it after a rank, as an expression in the states before the rank and in the
fields of the rank (`tlsim.chances.columns`). The first rank of the count has no states before it.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import add, and_, or_
from typing import TypeAlias

import polars as pl

from tlsim.chances.columns import FIELDS, MIN_DOUBLE_STRAIGHT, RANK_NAMES, Deck
from tlsim.chances.fewest_plays import RankUse, RunLengths, readings
from tlsim.rules.cards import Rank
from tlsim.rules.ruleset import Rules

Step: TypeAlias = Callable[[Rank], pl.Expr]
"""From a rank to the state after it, an expression in the states before and the fields."""
Update: TypeAlias = dict[str, pl.Expr]
"""Each state, with its value after a rank."""

N, RED, SPADES, HEARTS, KINDS = (pl.col(field) for field in FIELDS)
_LOW_PAIRS = 3  # ranks, from the 3s on, that an instant win wants pairs of


def order(rules: Rules, deck: Deck) -> list[Rank]:
    """Return the ranks in the order of the count.

    The 2s come first: what they decide by themselves is then known at once. Then 3 to A, so that the 3s of opening
    instant wins are known early, too; or, where runs may end in 2s, A to 3.
    """
    below = range(deck.ranks - 1)
    if rules.straight_twos or rules.double_straight_twos:
        below = below[::-1]
    return [deck.ranks - 1, *below]


def plan(values: Iterable[pl.Expr], rules: Rules, cards: int, deck: Deck) -> list[tuple[set[str], Update]]:
    """Return the steps of a count, one a rank: the fields it reads, and how states go on.

    Only the states that `values` or a later step need are there, so what is decided is dropped.
    """
    steps_of = states(rules, cards, deck)
    assert not steps_of.keys() & set(FIELDS)
    needed = {root for value in values for root in value.meta.root_names()}
    steps: list[tuple[set[str], Update]] = []
    for rank in reversed(order(rules, deck)):
        updates = {state: steps_of[state](rank) for state in sorted(needed)}
        read = {root for update in updates.values() for root in update.meta.root_names()}
        steps.append((read & set(FIELDS), updates))
        needed = read - set(FIELDS)
    assert not needed, "a state starts before the first rank"
    return steps[::-1]


def states(rules: Rules, cards: int, deck: Deck) -> dict[str, Step]:
    """Return for each state, by name, how a rank updates it; ranks come in the order of the count."""
    twos, ranks = deck.ranks - 1, order(rules, deck)

    terms = {
        "ranks": N >= 1,
        "pairs": N >= 2,
        "triples": N >= 3,
        "quads": N >= 4,
        "pair_units": N // 2,
        "red_cards": RED,
    }
    lowest = [rank for rank in ranks if rank < _LOW_PAIRS]
    return {
        **{name: _fold(name, N, or_, [rank]) for rank, name in enumerate(RANK_NAMES[:twos])},
        "twos": _fold("twos", N, or_, [twos]),
        "strength": _total("strength", lambda rank: N * rank, ranks[0]),
        **{name: _fold(name, term.cast(pl.Int16), pl.Expr.add, ranks) for name, term in terms.items()},
        "red_twos": _fold("red_twos", RED, or_, [twos]),
        "holds_3s": _fold("holds_3s", SPADES > 0, or_, [0]),
        "holds_2h": _fold("holds_2h", HEARTS > 0, or_, [twos]),
        "any_red": _fold("any_red", RED > 0, or_, ranks),
        "any_black": _fold("any_black", N > RED, or_, ranks),
        "no_gap": _fold("no_gap", N >= 1, and_, ranks[1:]),
        "low_pairs": _fold("low_pairs", N >= 2, and_, lowest),
        "low_quad": _fold("low_quad", N >= 4, or_, ranks[1:]),
        **_runs("straight", 1, rules.straight_twos, ranks),
        **_runs("double", 2, rules.double_straight_twos, ranks),
        **_runs("low_double", 2, False, ranks),
        **_runs("quad", 4, False, ranks),
        **_leads(rules, cards, deck),
        **_fewest(rules, cards, deck),
    }


def _fold(name: str, term: pl.Expr, merge: Callable[[pl.Expr, pl.Expr], pl.Expr], ranks: list[Rank]) -> Step:
    """Return the step of a state that merges a term of each of some ranks, and is the same after the others."""

    def step(rank: Rank) -> pl.Expr:
        if rank not in ranks:
            return pl.col(name)
        return term if rank == ranks[0] else merge(pl.col(name), term)

    return step


def _total(name: str, term: Callable[[Rank], pl.Expr], first: Rank) -> Step:
    """Return the step of a state that adds up a term of each rank, from the first one on."""

    def step(rank: Rank) -> pl.Expr:
        return term(rank) if rank == first else pl.col(name) + term(rank)

    return step


def _runs(name: str, copies: int, with_twos: bool, ranks: list[Rank]) -> dict[str, Step]:
    """Return the states of runs of ranks held `copies` times: lengths of the one that ends here and of the longest."""
    run, longest, held = pl.col(f"{name}_run"), pl.col(f"longest_{name}"), pl.col("n") >= copies

    def ends_here(rank: Rank) -> pl.Expr:
        place, first = ranks.index(rank), 0 if with_twos else 1
        if place < first:
            return pl.lit(0, pl.Int16)
        return held.cast(pl.Int16) if place == first else (run + 1) * held

    def longest_here(rank: Rank) -> pl.Expr:
        return ends_here(rank) if rank == ranks[0] else pl.max_horizontal(longest, ends_here(rank))

    return {f"{name}_run": ends_here, f"longest_{name}": longest_here}


def _leads(rules: Rules, cards: int, deck: Deck) -> dict[str, Step]:
    """Return the states of the number of legal leads. Plays of equal cards are one play.

    `line_j` is the number of ways to take a card of each of the last j ranks, `straights` that of the straights that
    end here, `double_j` that of the double straights of j pairs (any j >= 1) that end here.
    """
    ranks, shortest = order(rules, deck), rules.straight_min
    longest = min(rules.double_straight_max, cards // 2)
    one, two, three, four = _plays_of_a_rank(deck)

    def chain(name: str, j: int, each: pl.Expr, with_twos: bool) -> Step:
        def step(rank: Rank) -> pl.Expr:
            if ranks.index(rank) < j - with_twos:  # no run can be so long yet
                return pl.lit(0, pl.Int32)
            ways = each if j == 1 else each * pl.col(f"{name}{j - 1}")
            return ways.cast(pl.Int32)

        return step

    lines = {f"line{j}": chain("line", j, one, rules.straight_twos) for j in range(1, shortest)}
    doubles = {f"double{j}": chain("double", j, two, rules.double_straight_twos) for j in range(1, longest + 1)}

    def straights(rank: Rank) -> pl.Expr:
        if ranks.index(rank) < shortest - rules.straight_twos:
            return pl.lit(0, pl.Int32)
        return one * (pl.col("straights") + pl.col(f"line{shortest - 1}"))

    def leads(rank: Rank) -> pl.Expr:
        quads = four if rank != ranks[0] or rules.quad_twos else 0
        here = (one + two + three + quads).cast(pl.Int32)
        if rank == ranks[0]:
            return here
        runs = [straights(rank), *(doubles[f"double{j}"](rank) for j in range(MIN_DOUBLE_STRAIGHT, longest + 1))]
        return reduce(add, runs, pl.col("legal_leads") + here)

    return {**lines, **doubles, "straights": straights, "legal_leads": leads}


def _plays_of_a_rank(deck: Deck) -> tuple[pl.Expr, pl.Expr, pl.Expr, pl.Expr]:
    """Return the numbers of singles, pairs, triples and quads of a rank.

    Of k kinds, t of them held in both copies, there are C(k, 2) + t pairs, C(k, 3) + t (k - 1) triples and
    C(k, 4) + t C(k - 1, 2) + C(t, 2) quads.
    """
    one = N if deck.decks == 1 else KINDS
    twice = N - one  # cards held in both copies
    two = one * (one - 1) // 2 + twice
    three = one * (one - 1) * (one - 2) // 6 + twice * (one - 1)
    four = one * (one - 1) * (one - 2) * (one - 3) // 24 + twice * (one - 1) * (one - 2) // 2 + twice * (twice - 1) // 2
    return one, two, three, four


def _fewest(rules: Rules, cards: int, deck: Deck) -> dict[str, Step]:
    """Return the states of the fewest plays that shed a hand: that of `chances.fewest_plays`, and the plays so far."""
    ranks, below = order(rules, deck), RankUse(straights=True, doubles=True, most=4)
    twos = RankUse(rules.straight_twos, rules.double_straight_twos, 4 if rules.quad_twos else 3)
    uses = (twos, *[below] * (deck.ranks - 1))
    straights = RunLengths(rules.straight_min, deck.ranks)
    doubles = RunLengths(MIN_DOUBLE_STRAIGHT, rules.double_straight_max)

    def look_up(what: str, rank: Rank) -> pl.Expr:
        reading = readings(uses, straights, doubles, deck.copies, cards)[ranks.index(rank)]
        before = pl.col("shedding").cast(pl.Int32) * (deck.copies + 1) if rank != ranks[0] else 0
        return pl.lit(pl.Series(getattr(reading, what).ravel())).gather(before + N)

    plays = _total("fewest_plays", lambda rank: look_up("plays", rank), ranks[0])
    return {"shedding": lambda rank: look_up("after", rank), "fewest_plays": plays}
