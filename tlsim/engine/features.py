"""Compiled features of a hand: instant wins, legal leads, fewest plays to shed it, what is left to pay for.

Hands are masks of one deck (`tlsim.rules.cards`). `rules` is the packed record of `tlsim.rules.ruleset.pack`.
"""

from typing import Any, TypeAlias

from numpy.typing import NDArray

from tlsim.engine.bits import lowest_bit, popcount
from tlsim.engine.compile import function, inline, kernel
from tlsim.engine.shapes import (
    QUAD,
    TRIPLE,
    Lattice,
    RankBits,
    count_at,
    count_doubles,
    counts,
    covered,
    double_starts,
    has_three_in_a_row,
    presence,
    quads,
    runs,
    up1,
    up2,
    up3,
)
from tlsim.rules.cards import BLACK, NO_TWOS, ONES, RED, TWOS, Mask, Rank
from tlsim.rules.ruleset import INSTANT_WINS, RulesRecord

# Instant wins as bits: bit i is INSTANT_WINS[i].
_DRAGON, _FIVE_PAIR_STRAIGHT, _FOUR_TWOS, _SIX_PAIRS, _ONE_COLOUR, _FOUR_THREES, _THREES_DOUBLE_STRAIGHT = (
    1 << INSTANT_WINS.index(name)
    for name in (
        "dragon",
        "five-pair-straight",
        "four-twos",
        "six-pairs",
        "one-colour",
        "four-threes",
        "threes-double-straight",
    )
)
_CARDS_OF_INSTANT_WINS = 13  # the hand size that all but four 2s are for
_THREES_TO_FIVES: RankBits = 0x111

# Leftover amounts of section 10, in half units.
BLACK_TWO, RED_TWO, DOUBLE_STRAIGHT_3, QUAD_LEFT, DOUBLE_STRAIGHT_4 = 1, 2, 3, 4, 5


@inline
def instant_win_bits_of(rules: RulesRecord, hand: Mask, paired: RankBits, pairs: int, threes: int, twos: int) -> int:
    """Return the instant wins that a hand holds, whichever the rule set has: bit i is INSTANT_WINS[i] (section 6).

    `hand` are its cards, `paired` the ranks with two cards, `pairs` their number as six pairs count it. `threes` and
    `twos` are how many 3s and 2s it holds.
    """
    bits = 0
    if presence(hand & NO_TWOS) == ONES & NO_TWOS:
        bits |= _DRAGON
    if runs(paired & NO_TWOS, 5) != 0:
        bits |= _FIVE_PAIR_STRAIGHT
    if pairs >= 6:
        bits |= _SIX_PAIRS
    if hand & RED == 0 or hand & BLACK == 0:
        bits |= _ONE_COLOUR
    if threes >= 4:
        bits |= _FOUR_THREES
    if paired & _THREES_TO_FIVES == _THREES_TO_FIVES:
        bits |= _THREES_DOUBLE_STRAIGHT
    if rules.cards != _CARDS_OF_INSTANT_WINS and rules.instant_wins_any_size == 0:
        bits = 0
    if twos >= 4:
        bits |= _FOUR_TWOS
    return bits


@function
def instant_win_bits(rules: RulesRecord, hand: Mask) -> int:
    """Return `instant_win_bits_of` for one deck."""
    lattice, paired = counts(hand), presence(hand & covered(hand))
    pairs = popcount(paired)
    if rules.six_pairs_quads_twice:
        pairs += popcount(quads(hand))
    return instant_win_bits_of(rules, hand, paired, pairs, count_at(lattice, 0), count_at(lattice, 12))


@function
def instant_win(rules: RulesRecord, hand: Mask, opening: int) -> int:
    """Return the rank in the rule set's priority (0 the best) of the hand's best instant win, -1 for none."""
    return pick_instant_win(rules, instant_win_bits(rules, hand), opening)


@function
def pick_instant_win(rules: RulesRecord, bits: int, opening: int) -> int:
    """Return the rank in the rule set's priority (0 the best) of the best of the instant wins that are bits.

    Those of opening hands come after all others; -1 for none.
    """
    if bits == 0:
        return -1
    for i in range(len(INSTANT_WINS)):
        kind = rules.instant_wins[i]
        if kind >= 0 and bits >> kind & 1:
            return i
    for i in range(len(INSTANT_WINS)):
        kind = rules.opening_instant_wins[i]
        if opening and kind >= 0 and bits >> kind & 1:
            return len(INSTANT_WINS) + i
    return -1


@inline
def instant_kind(rules: RulesRecord, priority: int) -> int:
    """Return the kind (index into INSTANT_WINS) of a priority that `instant_win` returned."""
    if priority >= len(INSTANT_WINS):
        return rules.opening_instant_wins[priority - len(INSTANT_WINS)]
    return rules.instant_wins[priority]


# ------------------------------------------------------------------------------------------------ legal leads


@function
def count_straights_any(lattice: Lattice, straight_min: int) -> int:
    """Return the number of straights of at least `straight_min` cards, from the counts of the ranks they may use.

    `here` counts those that end at the current rank. Each is one more card on a shorter one, or on a choice of cards of
    the `straight_min - 1` ranks below.
    """
    total = 0
    here = 0
    for rank in range(straight_min - 1, 13):
        below = 1
        for r in range(rank - straight_min + 1, rank):
            below *= count_at(lattice, r)
        here = count_at(lattice, rank) * (here + below)
        total += here
    return total


@inline
def count_usual_straights(lattice: Lattice) -> int:
    """Return the number of straights of 3 and more cards: `count_straights_any` with the two ranks below at hand.

    From both ends at once, since each rank waits for the one before. A straight across the middle is anything that ends
    at rank 6 with anything that starts at rank 7, except the two ranks alone.
    """
    total, here, two_back, one_back = 0, 0, lattice & 15, (lattice >> 4) & 15
    for rank in range(2, 7):
        n = (lattice >> (4 * rank)) & 15
        here = n * (here + two_back * one_back)
        total += here
        two_back, one_back = one_back, n
    # what ends at rank 6, straight or not: straights, two cards, and the card of rank 6 alone
    sixth, ending = one_back, here + two_back * one_back + one_back
    here, two_back, one_back = 0, (lattice >> 48) & 15, (lattice >> 44) & 15
    for rank in range(10, 6, -1):
        n = (lattice >> (4 * rank)) & 15
        here = n * (here + two_back * one_back)
        total += here
        two_back, one_back = one_back, n
    starting = here + two_back * one_back + one_back
    return total + ending * starting - sixth * one_back


@inline
def count_straights(lattice: Lattice, straight_min: int) -> int:
    """Return the number of straights of a count lattice."""
    return count_usual_straights(lattice) if straight_min == 3 else count_straights_any(lattice, straight_min)


@inline
def count_of_a_kind(hand: Mask, quad_cards: Mask) -> int:
    """Return the number of singles, pairs, triples and quads of a hand: by the top card, and which it has below it."""
    x, y, z = up1(hand), up2(hand), up3(hand)
    a, b, c = hand & x, hand & y, hand & z  # the top cards of pairs one, two, three suits apart
    n = popcount(hand) + popcount(a) + popcount(b) + popcount(c)
    return n + popcount(a & y) + popcount(a & z) + popcount(b & z) + popcount(a & y & z & quad_cards)


@function
def count_all_doubles(rules: RulesRecord, hand: Mask) -> int:
    """Return the number of double straights of a hand."""
    cards, n = hand & rules.double_cards, 0
    for length in range(3, rules.double_straight_max + 1):
        if double_starts(cards, cards, length) == 0:
            break
        n += count_doubles(cards, cards, length)
    return n


@function
def count_leads(rules: RulesRecord, hand: Mask) -> int:
    """Return the number of plays that may be led from a hand without obligation: all kinds, all choices of suits."""
    n = count_of_a_kind(hand, rules.quad_cards) + count_all_doubles(rules, hand)
    return n + count_straights(counts(hand & rules.straight_cards), rules.straight_min)


@kernel
def count_leads_of(rules_: NDArray[Any], hands: NDArray[Any], n_leads: NDArray[Any]) -> None:
    """Write `count_leads` of many hands to `n_leads`, eight at a time in vector instructions.

    The first loop has no branches and no calls, so that LLVM can. It leaves a hand with pairs of three ranks in a row
    as a negative number; the second adds the double straights of those.
    """
    rules = rules_[0]
    if rules.straight_min != 3:
        for i in range(len(hands)):
            n_leads[i] = count_leads(rules, hands[i])
        return
    straight_cards, double_cards, quad_cards = rules.straight_cards, rules.double_cards, rules.quad_cards
    for i in range(len(hands)):
        hand = hands[i]
        n = count_of_a_kind(hand, quad_cards) + count_usual_straights(counts(hand & straight_cards))
        pairs = presence(hand & covered(hand) & double_cards)
        n_leads[i] = -n if has_three_in_a_row(pairs) else n
    for i in range(len(hands)):
        if n_leads[i] < 0:
            n_leads[i] = count_all_doubles(rules, hands[i]) - n_leads[i]


# ------------------------------------------------------------------------------------------------ fewest plays

Limits: TypeAlias = int
"""What a hand may be shed by, in one word (measured: handed as five, the search is 12 % slower). See `limits`."""


@inline
def limits(straight_min: int, double_straight_max: int, straight_twos: int, double_twos: int, quad_twos: int) -> Limits:
    """Return the limits in one word; the last three are 1 where straights, double straights, quads may hold 2s."""
    return straight_min | double_straight_max << 4 | straight_twos << 8 | double_twos << 9 | quad_twos << 10


@function
def fewest_plays_within(limits: Limits, lattice: Lattice, best: int) -> int:
    """Return the fewest plays that shed the cards of a count lattice, or `best` when it takes as many.

    The definition, for one deck and two. The lowest rank is shed by a play of one rank, or by a run that starts there:
    exhaustive, since every play of the lowest rank is one of these, and which suits it takes never matters. Two things
    are checked against it: trying every play of `legal_plays` (`tests/test_combos.py`), and the automaton that counts
    all hands (`tlsim.chances.fewest_plays`, in `tests/test_exact_odds.py`).
    """
    if lattice == 0:
        return 0
    if best <= 1:
        return best
    shift = lowest_bit(lattice) & -4  # of the lowest rank's nibble
    rank = shift >> 2
    for each in range(1, 3):
        shortest, longest, with_twos = limits & 15, 13, limits >> 8 & 1
        if each == 2:
            shortest, longest, with_twos = 3, limits >> 4 & 15, limits >> 9 & 1
        rest, last = lattice, rank
        while last < 13 and count_at(rest, last) >= each and (last < 12 or with_twos):
            rest -= each << (4 * last)
            last += 1
            if shortest <= last - rank <= longest:
                best = min(best, 1 + fewest_plays_within(limits, rest, best - 1))
    # all cards of the lowest rank at once, then fewer: the rest of them goes by runs
    most = min(count_at(lattice, rank), QUAD if rank < 12 or limits >> 10 & 1 else TRIPLE)
    for taken in range(most, 0, -1):
        best = min(best, 1 + fewest_plays_within(limits, lattice - (taken << shift), best - 1))
    return best


@function
def fewest_plays_of(rules: RulesRecord, lattice: Lattice, n: int) -> int:
    """Return the fewest plays that shed the n cards of a count lattice, of one deck or two, when nobody answers.

    Leads only, obligations apart.
    """
    twos = rules.straight_cards >> 48 & 1, rules.double_cards >> 48 & 1, rules.quad_cards >> 48 & 1
    within = limits(rules.straight_min, rules.double_straight_max, twos[0], twos[1], twos[2])
    return fewest_plays_within(within, lattice, n + 1)


@function
def fewest_plays(rules: RulesRecord, hand: Mask) -> int:
    """Return `fewest_plays_of` for a hand of one deck."""
    return fewest_plays_of(rules, counts(hand), popcount(hand))


# ------------------------------------------------------------------------------------------------ leftovers


@inline
def amount_of_double(pairs: int) -> int:
    """Return the leftover amount of a double straight of three or four pairs, in half units."""
    return DOUBLE_STRAIGHT_3 if pairs == 3 else DOUBLE_STRAIGHT_4


@function
def _costliest(rules: RulesRecord, lattice: Lattice, rank: Rank, last_pair: int) -> int:
    """Return the costliest split of a count lattice into quads and double straights of 3 and 4, in half units.

    Nothing below `rank` is left. `last_pair` is what the two cheapest 2s cost by themselves: a double straight that
    takes them must be worth more. With at most four 2s no second one can take a pair and be worth it: the other two
    cost at least as much as what the second one adds.
    """
    while rank < 13 and count_at(lattice, rank) < 2:
        rank += 1
    if rank >= 11:  # a double straight starts at a K at the latest, where 2s may stand on top; quads of 2s never pay
        return QUAD_LEFT if rank == 11 and count_at(lattice, rank) == 4 else 0
    best = _costliest(rules, lattice, rank + 1, last_pair)
    if count_at(lattice, rank) == 4:
        best = max(best, QUAD_LEFT + _costliest(rules, lattice, rank + 1, last_pair))
    rest, last = lattice, rank
    while last < 13 and last - rank < 4 and count_at(rest, last) >= 2 and (last < 12 or rules.double_cards & TWOS):
        rest -= 2 << (4 * last)
        last += 1
        if 3 <= last - rank <= rules.double_straight_max:
            amount, next_pair = amount_of_double(last - rank), last_pair
            if last == 13:  # it takes the two cheapest 2s: they are paid no more, and the next two are red
                amount, next_pair = amount - last_pair, 2 * RED_TWO
            best = max(best, amount + _costliest(rules, rest, rank, next_pair))
    return best


@function
def leftover(rules: RulesRecord, cards: Mask) -> int:
    """Return what cards cost by the leftover amounts, in half units: the split that costs most (section 10)."""
    red, black = popcount(cards & TWOS & RED), popcount(cards & TWOS & BLACK)
    paired = presence(cards & covered(cards))
    total = red * RED_TWO + black * BLACK_TWO
    if runs(paired, 3) != 0 or quads(cards & NO_TWOS) != 0:
        cheap = min(black, 2)
        total += _costliest(rules, counts(cards), 0, cheap * BLACK_TWO + (2 - cheap) * RED_TWO)
    return total


# ------------------------------------------------------------------------------------------------ from Python

# The rules come in an array of one. `tlsim.play.legal` calls these.


@kernel
def instant_kind_kernel(rules: NDArray[Any], hand: Mask, opening: int) -> int:
    """Return the kind of the hand's best instant win, an index into INSTANT_WINS; -1 for none."""
    priority = instant_win(rules[0], hand, opening)
    return instant_kind(rules[0], priority) if priority >= 0 else -1


@kernel
def fewest_plays_kernel(rules: NDArray[Any], lattice: Lattice, n: int) -> int:
    """Return `fewest_plays_of`."""
    return fewest_plays_of(rules[0], lattice, n)


@kernel
def count_leads_kernel(rules: NDArray[Any], hand: Mask) -> int:
    """Return `count_leads`."""
    return count_leads(rules[0], hand)
