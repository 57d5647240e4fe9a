"""Dealt hands in bulk, and features of them: hands and tables of any size, of one or two decks.

A hand is two masks, the cards held at least once and those held twice (none with one deck). Features are filled tile by
tile in loops over hands without branches, which LLVM turns into vector instructions. A feature is told as data: its
kind and its parameters (`QUESTION`), so that the analysis asks for what it needs and a new rule set compiles nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tlsim.engine.bits import kth_bit, lowest_bit, popcount
from tlsim.engine.compile import function, inline, kernel
from tlsim.engine.deal import deal_four_by_13
from tlsim.engine.rng import PURPOSE_DEAL, STREAM, below, draw_open, open_stream, set_key
from tlsim.engine.shapes import counts, pair_choices
from tlsim.rules.cards import BLACK, FULL, NO_TWOS, ONES, RED, TWOS
from tlsim.rules.ruleset import MAX_PLAYERS, Rules

# What a feature counts or claims: of the ranks held at least `least` times, or of the cards, that are in `cards`; runs
# have `shortest` to `longest` ranks. `FEWEST`: straights from `shortest`, double straights to `longest`, quads of what
# is in `cards`; bit 0 of `least` where straights may end in 2s, bit 1 where double straights may. What is asked of one
# feature is added up, into row `into` of what is filled.
COUNT, RANKS_HELD, PAIR_UNITS, CARDS, STRENGTH, HOLDS_ANY, HOLDS_ALL, LONGEST, FEWEST, OF_A_RANK, RUNS = range(11)
QUESTION = np.dtype((np.record, [(name, "i8") for name in ("into", "kind", "least", "cards", "shortest", "longest")]))

TABLE = np.dtype(
    (np.record, [("deal_stream", STREAM), ("hands", "i8", (MAX_PLAYERS,)), ("twice", "i8", (MAX_PLAYERS,))])
)

RANK_WORDS = "threes fours fives sixes sevens eights nines tens jacks queens kings aces twos".split()

_TILE = 1024  # hands whose masks and counts stay in the nearest cache
_N_RANKS = 13
_WITH_BIT = tuple(sum(15 << 4 * rank for rank in range(_N_RANKS) if rank >> bit & 1) for bit in range(4))


def features(rules: Rules) -> dict[str, list[tuple[int, ...]]]:
    """Return what is asked of a hand for each feature, named as the states of `tlsim.chances.columns`."""
    straight, double, quad = (
        FULL if twos else NO_TWOS for twos in (rules.straight_twos, rules.double_straight_twos, rules.quad_twos)
    )
    one = {
        **{name: (COUNT, 0, 15 << 4 * rank) for rank, name in enumerate(RANK_WORDS)},
        **{name: (RANKS_HELD, least, FULL) for least, name in enumerate(("ranks", "pairs", "triples", "quads"), 1)},
        "pair_units": (PAIR_UNITS, 0, FULL),
        "red_cards": (CARDS, 0, RED),
        "strength": (STRENGTH, 0, FULL),
        "red_twos": (CARDS, 0, RED & TWOS),
        "holds_3s": (HOLDS_ANY, 1, 1),
        "holds_2h": (HOLDS_ANY, 1, 1 << 51),
        "any_red": (HOLDS_ANY, 1, RED),
        "any_black": (HOLDS_ANY, 1, BLACK),
        "low_quad": (HOLDS_ANY, 4, NO_TWOS),
        "no_gap": (HOLDS_ALL, 1, NO_TWOS),
        "low_pairs": (HOLDS_ALL, 2, 0xFFF),
        "longest_straight": (LONGEST, 1, straight),
        "longest_double": (LONGEST, 2, double),
        "longest_low_double": (LONGEST, 2, NO_TWOS),
        "longest_quad": (LONGEST, 4, NO_TWOS),
        "fewest_plays": (
            FEWEST,
            rules.straight_twos + 2 * rules.double_straight_twos,
            quad,
            rules.straight_min,
            rules.double_straight_max,
        ),
    }
    leads = [
        (OF_A_RANK, 0, quad),
        (RUNS, 1, straight, rules.straight_min, 13),
        (RUNS, 2, double, 3, rules.double_straight_max),
    ]
    return {name: [question] for name, question in one.items()} | {"legal_leads": leads}


# ------------------------------------------------------------------------------------------------ the deal


@inline
def _some_of(stream: Any, cards: int, sixteenths: int) -> Any:
    """Return each of the cards with probability `sixteenths` / 16, 1 to 15, by at most four random words."""
    chosen = np.int64(0)
    for bit in range(lowest_bit(sixteenths), 4):
        word = np.int64(draw_open(stream) >> np.uint64(12))
        chosen = chosen | word if sixteenths >> bit & 1 else chosen & word
    return chosen & cards


@inline
def _kth_card(a: int, b: int, k: int) -> Any:
    """Return the k-th of the cards a and b, as a pair of masks one of which is empty; without a branch."""
    left = popcount(a)
    in_a = -np.int64(k < left)
    return kth_bit(a, k) & in_a, kth_bit(b, k - left) & ~in_a


@function
def _draw_cards(stream: Any, a: int, b: int, n: int) -> Any:
    """Return a uniform choice of n cards from the first copies `a` and the second copies `b`, as a pair of masks.

    Cards drawn independently, about n of them, then some drawn or put back until there are n: by symmetry every set of
    n is as likely, and few random numbers are needed.
    """
    pool = popcount(a) + popcount(b)
    sixteenths = max(1, min(15, (16 * n + pool // 2) // max(pool, 1)))
    x = _some_of(stream, a, sixteenths)
    y = _some_of(stream, b, sixteenths) if b else 0
    size = popcount(x) + popcount(y)
    while size > n:
        first, second = _kth_card(x, y, below(draw_open(stream), size))
        x, y, size = x ^ first, y ^ second, size - 1
    while size < n:
        first, second = _kth_card(a & ~x, b & ~y, below(draw_open(stream), pool - size))
        x, y, size = x | first, y | second, size + 1
    return x, y


@function
def _deal_any(table: Any, decks: int, players: int, cards: int) -> None:
    """Deal hands of any size."""
    a, b = FULL, FULL if decks == 2 else 0
    for seat in range(players):
        x, y = _draw_cards(table.deal_stream, a, b, cards)
        a, b = a ^ x, b ^ y
        table.hands[seat] = x | y
        table.twice[seat] = x & y


@function
def _deal_given(table: Any, decks: int, cards: int, numbers: Any, row: int) -> None:
    """Deal one hand that holds `numbers[row, rank]` cards of each rank, where that is not -1."""
    free, rest, first, second = FULL, cards, 0, 0
    for rank in range(_N_RANKS):
        n = numbers[row, rank]
        if n >= 0:
            of_rank = 15 << (4 * rank)
            x, y = _draw_cards(table.deal_stream, of_rank, of_rank if decks == 2 else 0, n)
            first, second, free, rest = first | x, second | y, free ^ of_rank, rest - n
    x, y = _draw_cards(table.deal_stream, free, free if decks == 2 else 0, rest)
    first, second = first | x, second | y
    table.hands[0] = first | second
    table.twice[0] = first & second


@kernel
def _deal(
    tables: Any, seed: Any, start: int, decks: int, players: int, cards: int, numbers: Any, below_: Any, hands: Any
) -> None:
    """Write the hands of the deals from `start` on into `hands`, shape (2, hands), deal by deal.

    With `numbers` given a deal is one hand: what it holds of each rank is drawn first, row r of `numbers` where a
    uniform number is below `below_[r]` and not below the one before.
    """
    table = tables[0]
    for k in range(hands.shape[1] // players):
        set_key(table.deal_stream, seed, start + k, PURPOSE_DEAL, 0)
        open_stream(table.deal_stream)
        if len(numbers) > 0:
            share = np.int64(draw_open(table.deal_stream) >> np.uint64(11)) * 2.0**-53
            row = 0
            while row < len(numbers) - 1 and share >= below_[row]:
                row += 1
            _deal_given(table, decks, cards, numbers, row)
        elif decks == 1 and cards == 13 and players == 4:
            deal_four_by_13(table)
        else:
            _deal_any(table, decks, players, cards)
        for seat in range(players):
            hands[0, k * players + seat] = table.hands[seat]
            hands[1, k * players + seat] = table.twice[seat]


# ------------------------------------------------------------------------------------------------ features


@inline
def _at_least(c: int, least: int) -> int:
    """Return one bit a nibble for every rank of a count lattice (0 to 8 a nibble) that is held so often, 1 to 4."""
    high = c >> 2 | c >> 3
    if least == 1:
        return (c | c >> 1 | high) & ONES
    if least == 2:
        return (c >> 1 | high) & ONES
    if least == 3:
        return (c & c >> 1 | high) & ONES
    return high & ONES


@function
def _fewest(question: Any, lattice: int, best: int) -> int:
    """Return the fewest plays that shed the cards of a count lattice, or `best` when it takes as many.

    As `tlsim.engine.features.fewest_plays`, with up to eight cards of a rank: a play of one rank has at most four.
    """
    if lattice == 0:
        return 0
    if best <= 1:
        return best
    shift = lowest_bit(lattice) & -4
    rank = shift >> 2
    most = min(lattice >> shift & 15, 4 if question.cards >> shift & 1 else 3)
    for each in range(1, 3):
        rest, last = lattice, rank
        shortest = question.shortest if each == 1 else 3
        longest = _N_RANKS if each == 1 else question.longest
        with_twos = question.least >> (each - 1) & 1
        while last < _N_RANKS and rest >> (4 * last) & 15 >= each and (last < 12 or with_twos):
            rest -= each << (4 * last)
            last += 1
            if shortest <= last - rank <= longest:
                best = min(best, 1 + _fewest(question, rest, best - 1))
    for taken in range(most, 0, -1):
        best = min(best, 1 + _fewest(question, lattice - (taken << shift), best - 1))
    return best


@function
def _fill_simple(question: Any, lattice: Any, held: Any, twice: Any, n: int, out: Any) -> None:
    """Add the value of a feature to `out[i]` for the first n hands of a tile; `lattice` has their counts by rank."""
    kind, least, cards = question.kind, question.least, question.cards
    ranks = cards & ONES
    if kind == COUNT:
        shift = lowest_bit(cards)
        for i in range(n):
            out[i] += lattice[i] >> shift & 15
    elif kind == RANKS_HELD:
        for i in range(n):
            out[i] += popcount(_at_least(lattice[i], least))
    elif kind == PAIR_UNITS:
        for i in range(n):
            c = lattice[i]
            out[i] += popcount(c >> 1 & ONES) + 2 * popcount(c >> 2 & ONES) + 4 * popcount(c >> 3 & ONES)
    elif kind == CARDS:
        for i in range(n):
            out[i] += popcount(held[i] & cards) + popcount(twice[i] & cards)
    elif kind == STRENGTH:
        for bit in range(4):
            of_bit = _WITH_BIT[bit]
            for i in range(n):
                out[i] += (popcount(held[i] & of_bit) + popcount(twice[i] & of_bit)) << bit
    elif kind == HOLDS_ANY and least == 1:
        for i in range(n):
            out[i] += held[i] & cards != 0
    elif kind == HOLDS_ANY:
        for i in range(n):
            out[i] += _at_least(lattice[i], least) & ranks != 0
    elif kind == HOLDS_ALL:
        for i in range(n):
            out[i] += _at_least(lattice[i], least) & ranks == ranks
    elif kind == LONGEST:
        for i in range(n):
            starts = _at_least(lattice[i], least) & ranks
            longest = 0
            for _ in range(_N_RANKS):
                longest += starts != 0
                starts &= starts >> 4
            out[i] += longest
    else:
        for i in range(n):
            out[i] += _fewest(question, lattice[i], popcount(held[i]) + popcount(twice[i]))


@function
def _fill_of_a_rank(with_quads: int, kinds: Any, pairs: Any, n: int, out: Any) -> None:
    """Add the number of singles, pairs, triples and quads of one rank, plays of equal cards being one play.

    `kinds` has the different cards of the rank, `pairs` the pairs: those of different cards and those held twice.
    """
    for i in range(n):
        a = kinds[i]
        c = pair_choices(a)
        b = pairs[i] - c
        four = (a >> 2) + b * pair_choices(a - 1) + pair_choices(b)
        out[i] += a + c + b + c * (a - 2) // 3 + b * (a - 1) + with_quads * four


@function
def _fill_runs(ways: Any, last: int, shortest: int, sign: int, here: Any, below_: Any, n: int, out: Any) -> None:
    """Add (`sign` 1) or take away (-1) the number of runs of at least `shortest` ranks, as `count_straights_any` does.

    `ways[rank, i]` is the number of ways to take a rank, and runs end before rank `last`. `here` counts the runs that
    end at a rank, `below_` the ways to take the ranks below it that make one long enough.
    """
    here[:n] = 0
    for rank in range(shortest - 1, last):
        below_[:n] = 1
        for r in range(rank - shortest + 1, rank):
            row = ways[r]
            for i in range(n):
                below_[i] *= row[i]
        row = ways[rank]
        for i in range(n):
            t = row[i] * (here[i] + below_[i])
            here[i] = t
            out[i] += sign * t


@function
def _fill_leads(question: Any, ways: Any, here: Any, below_: Any, n: int, out: Any) -> None:
    """Add the number of legal leads of a kind; `ways[0]` has the kinds of each rank, `ways[1]` the pairs."""
    if question.kind == OF_A_RANK:
        for rank in range(_N_RANKS):
            _fill_of_a_rank(question.cards >> (4 * rank) & 1, ways[0, rank], ways[1, rank], n, out)
        return
    chosen, last = ways[question.least - 1], 12 + (question.cards >> 48 & 1)
    _fill_runs(chosen, last, question.shortest, 1, here, below_, n, out)
    _fill_runs(chosen, last, question.longest + 1, -1, here, below_, n, out)


@function
def _count_ways(held: Any, twice: Any, n: int, kinds: Any, pairs: Any) -> None:
    """Write the different cards and the pairs of each rank for the first n hands, shape (ranks, tile)."""
    for rank in range(_N_RANKS):
        kinds_row, pairs_row, shift = kinds[rank], pairs[rank], 4 * rank
        for i in range(n):
            a = counts(held[i]) >> shift & 15
            kinds_row[i] = a
            pairs_row[i] = pair_choices(a) + (counts(twice[i]) >> shift & 15)


@kernel
def _fill(asked: Any, hands: Any, out: Any) -> None:
    """Add the values of the asked features of hands, shape (2, hands), to `out`, shape (features, hands)."""
    lattice = np.empty(_TILE, np.int64)
    ways = np.empty((2, _N_RANKS, _TILE), np.int32)
    here, below_ = np.empty(_TILE, np.int32), np.empty(_TILE, np.int32)
    with_leads = False
    for q in range(len(asked)):
        with_leads |= asked[q].kind >= OF_A_RANK
    for start in range(0, hands.shape[1], _TILE):
        n = min(_TILE, hands.shape[1] - start)
        held, twice = hands[0, start : start + n], hands[1, start : start + n]
        for i in range(n):
            lattice[i] = counts(held[i]) + counts(twice[i])
        if with_leads:
            _count_ways(held, twice, n, ways[0], ways[1])
        for q in range(len(asked)):
            into = out[asked[q].into, start : start + n]
            if asked[q].kind < OF_A_RANK:
                _fill_simple(asked[q], lattice, held, twice, n, into)
            else:
                _fill_leads(asked[q], ways, here, below_, n, into)


KERNELS = [_deal, _fill]


# ------------------------------------------------------------------------------------------------ from Python


@dataclass(frozen=True)
class Deals:
    """What is dealt: one hand, or the hands of a table; for one hand what it must hold, if anything.

    `numbers` has the allowed numbers of cards of each rank, a row a case, -1 for any; `chances` the chance of each row
    among all of them.
    """

    decks: int
    players: int
    cards: int
    seed: int
    numbers: NDArray[np.int64] | None = None
    chances: NDArray[np.float64] | None = None

    def hands(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the hands of the deals start..stop-1, deal by deal: held at least once, held twice, shape (2, hands).

        Hands of a table of one deck are those that `simulate` deals for the seed.
        """
        hands = np.empty((2, (stop - start) * self.players), np.int64)
        numbers = np.zeros((0, _N_RANKS), np.int64) if self.numbers is None else self.numbers
        below_ = np.zeros(0) if self.chances is None else np.cumsum(self.chances)
        table, seed = np.zeros(1, TABLE).view(np.recarray), np.uint64(self.seed % 2**64)
        _deal(table, seed, start, self.decks, self.players, self.cards, numbers, below_, hands)
        return hands


def fill(names: Sequence[str], rules: Rules, hands: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the named features of hands, shape (names, hands); claims are 0 and 1."""
    known = features(rules)
    asked = [
        (into, *question, *(0,) * (5 - len(question))) for into, name in enumerate(names) for question in known[name]
    ]
    out = np.zeros((len(names), hands.shape[1]), np.int32)
    _fill(np.array(asked, QUESTION).view(np.recarray), hands, out)
    return out


def warm_up() -> None:
    """Compile the kernels, or load them from the cache."""
    fill(["twos"], Rules(), Deals(1, 1, 13, 0).hands(0, 1))
