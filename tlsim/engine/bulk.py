"""Dealt hands in bulk, and features of them: hands and tables of any size, of one or two decks.

A hand is two masks, the cards held at least once and those held twice (none with one deck). Features are filled tile by
tile in loops over hands without branches, which LLVM turns into vector instructions. A feature is data: its kind and
its parameters (`QUESTION`), so that the analysis asks for what it needs and a new rule set compiles nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tlsim.engine.bits import kth_bit, lowest_bit, popcount
from tlsim.engine.compile import function, inline, kernel
from tlsim.engine.deal import deal_four_by_13
from tlsim.engine.features import fewest_plays_within, limits
from tlsim.engine.rng import PURPOSE_DEAL, STREAM, Stream, below, draw_open, open_stream, set_key
from tlsim.engine.shapes import Copies, Lattice, RankBits, counts, pair_choices
from tlsim.rules.cards import BLACK, FULL, NO_TWOS, ONES, RED, TWOS, Mask
from tlsim.rules.ruleset import MAX_PLAYERS, Rules

# What a feature counts or claims: of the ranks held at least `least` times, or of the cards, that are in `cards`; runs
# have `shortest` to `longest` ranks. `FEWEST`: straights from `shortest`, double straights to `longest`, quads of what
# is in `cards`; bit 0 of `least` where straights may end in 2s, bit 1 where double straights may. What is asked of one
# feature is added up, into row `into` of what is filled.
COUNT, RANKS_HELD, PAIR_UNITS, CARDS, STRENGTH, HOLDS_ANY, HOLDS_ALL, LONGEST, FEWEST, OF_A_RANK, RUNS = range(11)
QUESTION = np.dtype((np.record, [(name, "i8") for name in ("into", "kind", "least", "cards", "shortest", "longest")]))

DealRecord: TypeAlias = np.record
"""The hands of a deal, a record of dtype `DEAL_RECORD`."""
Question: TypeAlias = np.record
"""What is asked of hands, a record of dtype `QUESTION`."""
Masks: TypeAlias = NDArray[np.int64]
"""One mask, or count lattice, a hand."""
Numbers: TypeAlias = NDArray[np.int32]
"""Numbers of 32 bits, one a hand in the last axis."""

DEAL_RECORD = np.dtype(
    (np.record, [("deal_stream", STREAM), ("hands", "i8", (MAX_PLAYERS,)), ("twice", "i8", (MAX_PLAYERS,))])
)

RANK_WORDS = "threes fours fives sixes sevens eights nines tens jacks queens kings aces twos".split()

_TILE = 1024  # hands whose masks and counts stay in the nearest cache
_N_RANKS = 13
_WITH_BIT = tuple(sum(15 << 4 * rank for rank in range(_N_RANKS) if rank >> bit & 1) for bit in range(4))


def features(rules: Rules) -> dict[str, list[tuple[int, ...]]]:
    """Return what is asked of a hand for each feature, named as the states of `tlsim.chances.steps`."""
    straight, double, quad = (
        FULL if twos else NO_TWOS for twos in (rules.straight_twos, rules.double_straight_twos, rules.quad_twos)
    )
    single_questions = {
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
    return {name: [question] for name, question in single_questions.items()} | {"legal_leads": leads}


# ------------------------------------------------------------------------------------------------ the deal


@inline
def _some_of(stream: Stream, cards: Mask, sixteenths: int) -> Mask:
    """Return each of the cards with probability `sixteenths` / 16, 1 to 15, by at most four random words.

    Bit by bit of the probability, the lowest first: `or` with a random word halves the distance to 1, `and` that to 0.
    """
    chosen = np.int64(0)
    for bit in range(lowest_bit(sixteenths), 4):
        word = np.int64(draw_open(stream) >> np.uint64(12))
        chosen = chosen | word if sixteenths >> bit & 1 else chosen & word
    return chosen & cards


@inline
def _kth_card(first: Mask, second: Mask, k: int) -> Copies:
    """Return the k-th of the cards of two masks, as two masks one of which is empty; without a branch."""
    left = popcount(first)
    in_first = -np.int64(k < left)  # all bits or none
    return kth_bit(first, k) & in_first, kth_bit(second, k - left) & ~in_first


@function
def _draw_cards(stream: Stream, first: Mask, second: Mask, n: int) -> Copies:
    """Return a uniform choice of n cards from the first copies `first` and the second copies `second`, as two masks.

    Cards drawn independently, about n of them, then some drawn or put back until there are n: by symmetry every set of
    n is as likely, and few random numbers are needed.
    """
    pool = popcount(first) + popcount(second)
    sixteenths = max(1, min(15, (16 * n + pool // 2) // max(pool, 1)))
    x = _some_of(stream, first, sixteenths)
    y = _some_of(stream, second, sixteenths) if second else 0
    size = popcount(x) + popcount(y)
    while size > n:
        card, card_second = _kth_card(x, y, below(draw_open(stream), size))
        x, y, size = x ^ card, y ^ card_second, size - 1
    while size < n:
        card, card_second = _kth_card(first & ~x, second & ~y, below(draw_open(stream), pool - size))
        x, y, size = x | card, y | card_second, size + 1
    return x, y


@function
def _deal_any(table: DealRecord, decks: int, players: int, cards: int) -> None:
    """Deal hands of any size."""
    first, second = FULL, FULL * (decks - 1)  # no second copies with one deck
    for seat in range(players):
        x, y = _draw_cards(table.deal_stream, first, second, cards)
        first, second = first ^ x, second ^ y
        table.hands[seat] = x | y
        table.twice[seat] = x & y


@function
def _deal_with(table: DealRecord, decks: int, cards: int, numbers: NDArray[np.int64]) -> None:
    """Deal one hand that holds `numbers[rank]` cards of each rank, where that is not -1.

    With one deck `decks - 1` leaves no second copies.
    """
    free, rest, first, second = FULL, cards, 0, 0
    for rank in range(_N_RANKS):
        n = numbers[rank]
        if n >= 0:
            of_rank = 15 << (4 * rank)
            x, y = _draw_cards(table.deal_stream, of_rank, of_rank * (decks - 1), n)
            first, second, free, rest = first | x, second | y, free ^ of_rank, rest - n
    x, y = _draw_cards(table.deal_stream, free, free * (decks - 1), rest)
    first, second = first | x, second | y
    table.hands[0] = first | second
    table.twice[0] = first & second


@kernel
def _deal(
    tables: NDArray[Any],
    key: tuple[np.uint64, int],
    sizes: tuple[int, int, int],
    numbers: NDArray[np.int64],
    up_to: NDArray[np.float64],
    hands: Masks,
) -> None:
    """Write the hands of the deals into `hands`, shape (2, hands), deal by deal.

    `key` is the seed and the number of the first deal, `sizes` are decks, players and cards. Where `numbers` has rows,
    a deal is one hand: what it holds of each rank is drawn first, row r where a uniform number is below `up_to[r]` and
    not below the one before.
    """
    table = tables[0]
    seed, start = key
    decks, players, cards = sizes
    for k in range(hands.shape[1] // players):
        set_key(table.deal_stream, seed, start + k, PURPOSE_DEAL, 0)
        open_stream(table.deal_stream)
        if len(numbers) > 0:
            share = np.int64(draw_open(table.deal_stream) >> np.uint64(11)) * 2.0**-53
            row = 0
            while row < len(numbers) - 1 and share >= up_to[row]:
                row += 1
            _deal_with(table, decks, cards, numbers[row])
        elif decks == 1 and cards == 13 and players == 4:
            deal_four_by_13(table)
        else:
            _deal_any(table, decks, players, cards)
        for seat in range(players):
            hands[0, k * players + seat] = table.hands[seat]
            hands[1, k * players + seat] = table.twice[seat]


# ------------------------------------------------------------------------------------------------ features


@inline
def _at_least(lattice: Lattice, least: int) -> RankBits:
    """Return the ranks held at least so often, 1 to 4, of a count lattice with up to 8 cards a rank.

    `two_decks.at_least` as four cases: `least` is the same for a whole loop, and LLVM takes the choice out of it.
    """
    four = lattice >> 2 | lattice >> 3
    if least == 1:
        return (lattice | lattice >> 1 | four) & ONES
    if least == 2:
        return (lattice >> 1 | four) & ONES
    if least == 3:
        return (lattice & lattice >> 1 | four) & ONES
    return four & ONES


@function
def _fill_fewest(question: Question, lattice: Masks, held: Masks, twice: Masks, out: Numbers) -> None:
    """Add the fewest plays that shed each hand of a tile to `out`."""
    straight_twos, double_twos, quad_twos = question.least & 1, question.least >> 1 & 1, question.cards >> 48 & 1
    within = limits(question.shortest, question.longest, straight_twos, double_twos, quad_twos)
    for i in range(len(out)):
        out[i] += fewest_plays_within(within, lattice[i], popcount(held[i]) + popcount(twice[i]))


@function
def _fill_strength(held: Masks, twice: Masks, out: Numbers) -> None:
    """Add the sum of the ranks of the cards to `out`: by the bits of the rank, so that all cards count at once."""
    for bit in range(4):
        of_bit = _WITH_BIT[bit]
        for i in range(len(out)):
            out[i] += (popcount(held[i] & of_bit) + popcount(twice[i] & of_bit)) << bit


@function
def _fill_simple(question: Question, lattice: Masks, held: Masks, twice: Masks, out: Numbers) -> None:
    """Add the value of a feature to `out[i]` for each hand of a tile; `lattice` has their counts by rank."""
    n = len(out)
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
            ranks_of = lattice[i]  # a rank of n cards has n // 2 pairs: its nibble without the lowest bit
            twos, fours, eights = ranks_of >> 1 & ONES, ranks_of >> 2 & ONES, ranks_of >> 3 & ONES
            out[i] += popcount(twos) + 2 * popcount(fours) + 4 * popcount(eights)
    elif kind == CARDS:
        for i in range(n):
            out[i] += popcount(held[i] & cards) + popcount(twice[i] & cards)
    elif kind == STRENGTH:
        _fill_strength(held, twice, out)
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
        _fill_fewest(question, lattice, held, twice, out)


@function
def _fill_of_a_rank(with_quads: int, kinds: Numbers, pairs: Numbers, out: Numbers) -> None:
    """Add the number of singles, pairs, triples and quads of one rank, plays of equal cards being one play.

    `kinds` has the different cards of the rank, `pairs` the pairs: those of different cards and those held twice.
    """
    for i in range(len(out)):
        different = kinds[i]
        mixed = pair_choices(different)
        same = pairs[i] - mixed
        four = (different >> 2) + same * pair_choices(different - 1) + pair_choices(same)  # 4; 2 + 1 + 1; 2 + 2
        three = mixed * (different - 2) // 3 + same * (different - 1)
        out[i] += different + mixed + same + three + with_quads * four


@function
def _fill_runs(ways: Numbers, last: int, shortest: int, sign: int, scratch: Numbers, out: Numbers) -> None:
    """Add (`sign` 1) or take away (-1) the number of runs of at least `shortest` ranks, as `count_straights_any` does.

    `ways[rank, i]` is the number of ways to take a rank, and runs end before rank `last`. Of `scratch`, `here` counts
    the runs that end at a rank, `below_here` the ways to take the ranks below it that make one long enough.
    """
    n, here, below_here = len(out), scratch[0], scratch[1]
    here[:n] = 0
    for rank in range(shortest - 1, last):
        below_here[:n] = 1
        for r in range(rank - shortest + 1, rank):
            row = ways[r]
            for i in range(n):
                below_here[i] *= row[i]
        row = ways[rank]
        for i in range(n):
            t = row[i] * (here[i] + below_here[i])
            here[i] = t
            out[i] += sign * t


@function
def _fill_leads(question: Question, ways: Numbers, scratch: Numbers, out: Numbers) -> None:
    """Add the number of legal leads of a kind; `ways[0]` has the kinds of each rank, `ways[1]` the pairs."""
    if question.kind == OF_A_RANK:
        for rank in range(_N_RANKS):
            _fill_of_a_rank(question.cards >> (4 * rank) & 1, ways[0, rank], ways[1, rank], out)
        return
    chosen, last = ways[question.least - 1], 12 + (question.cards >> 48 & 1)
    _fill_runs(chosen, last, question.shortest, 1, scratch, out)
    _fill_runs(chosen, last, question.longest + 1, -1, scratch, out)


@function
def _count_ways(held: Masks, twice: Masks, kinds: Numbers, pairs: Numbers) -> None:
    """Write the different cards and the pairs of each rank for the hands of a tile, shape (ranks, tile)."""
    for rank in range(_N_RANKS):
        kinds_row, pairs_row, shift = kinds[rank], pairs[rank], 4 * rank
        for i in range(len(held)):
            different = counts(held[i]) >> shift & 15
            kinds_row[i] = different
            pairs_row[i] = pair_choices(different) + (counts(twice[i]) >> shift & 15)


@kernel
def _fill(questions: NDArray[Any], hands: Masks, out: Numbers) -> None:
    """Add the values of what is asked of hands, shape (2, hands), to `out`, shape (features, hands)."""
    lattice = np.empty(_TILE, np.int64)
    ways = np.empty((2, _N_RANKS, _TILE), np.int32)
    scratch = np.empty((2, _TILE), np.int32)
    with_leads = False
    for q in range(len(questions)):
        with_leads |= questions[q].kind >= OF_A_RANK
    for start in range(0, hands.shape[1], _TILE):
        n = min(_TILE, hands.shape[1] - start)
        held, twice = hands[0, start : start + n], hands[1, start : start + n]
        for i in range(n):
            lattice[i] = counts(held[i]) + counts(twice[i])
        if with_leads:
            _count_ways(held, twice, ways[0], ways[1])
        for q in range(len(questions)):
            into = out[questions[q].into, start : start + n]
            if questions[q].kind < OF_A_RANK:
                _fill_simple(questions[q], lattice, held, twice, into)
            else:
                _fill_leads(questions[q], ways, scratch, into)


KERNELS = [_deal, _fill]


# ------------------------------------------------------------------------------------------------ from Python


@dataclass(frozen=True)
class SampledDeals:
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
        up_to = np.zeros(0) if self.chances is None else np.cumsum(self.chances)
        table, key = np.zeros(1, DEAL_RECORD).view(np.recarray), (np.uint64(self.seed % 2**64), start)
        _deal(table, key, (self.decks, self.players, self.cards), numbers, up_to, hands)
        return hands


def fill(names: Sequence[str], rules: Rules, hands: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the named features of hands, shape (names, hands); claims are 0 and 1."""
    all_features = features(rules)
    questions = [
        (into, *question, *(0,) * (5 - len(question)))
        for into, name in enumerate(names)
        for question in all_features[name]
    ]
    out = np.zeros((len(names), hands.shape[1]), np.int32)
    _fill(np.array(questions, QUESTION).view(np.recarray), hands, out)
    return out


def warm_up() -> None:
    """Compile the kernels, or load them from the cache."""
    fill(["twos"], Rules(), SampledDeals(1, 1, 13, 0).hands(0, 1))
