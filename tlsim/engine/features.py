"""Compiled features of a hand: instant wins, legal leads, fewest plays to shed it, what is left to pay for.

Hands are masks of one deck (`tlsim.rules.cards`); `rules` is the packed record of `tlsim.rules.ruleset.pack`.
"""

from typing import Any

from tlsim.engine.bits import popcount
from tlsim.engine.compile import function, inline, kernel
from tlsim.engine.shapes import (
    count_at,
    count_doubles,
    counts,
    covered,
    double_starts,
    presence,
    quads,
    runs,
    up1,
    up2,
    up3,
)
from tlsim.rules.cards import BLACK, NO_TWOS, ONES, RED, TWOS
from tlsim.rules.ruleset import INSTANT_WINS

_FOUR_TWOS = INSTANT_WINS.index("four-twos")
_THREES_TO_FIVES = 0x111

# Leftover amounts of section 10, in half units.
BLACK_TWO, RED_TWO, DOUBLE_STRAIGHT_3, QUAD_LEFT, DOUBLE_STRAIGHT_4 = 1, 2, 3, 4, 5


@inline
def instant_win_bits_of(rules: Any, hand: int, paired: int, pairs: int, threes: int, twos: int) -> int:
    """Return the instant wins that a hand holds, whichever the rule set has: bit i is INSTANT_WINS[i] (section 6).

    `hand` are its cards, `paired` the ranks with two cards, `pairs` their number as six pairs count it.
    """
    bits = 0
    if presence(hand & NO_TWOS) == ONES & NO_TWOS:
        bits |= 1
    if runs(paired & NO_TWOS, 5) != 0:
        bits |= 2
    if pairs >= 6:
        bits |= 8
    if hand & RED == 0 or hand & BLACK == 0:
        bits |= 16
    if threes >= 4:
        bits |= 32
    if paired & _THREES_TO_FIVES == _THREES_TO_FIVES:
        bits |= 64
    if rules.cards != 13 and rules.instant_wins_any_size == 0:
        bits = 0
    return bits | (1 << _FOUR_TWOS if twos >= 4 else 0)


@function
def instant_win_bits(rules: Any, hand: int) -> int:
    """Return `instant_win_bits_of` for one deck."""
    lattice, paired = counts(hand), presence(hand & covered(hand))
    pairs = popcount(paired) + (popcount(quads(hand)) if rules.six_pairs_quads_twice else 0)
    return instant_win_bits_of(rules, hand, paired, pairs, count_at(lattice, 0), count_at(lattice, 12))


@function
def instant_win(rules: Any, hand: int, opening: int) -> int:
    """Return the rank in the rule set's priority (0 the best) of the hand's best instant win, -1 for none."""
    return pick_instant_win(rules, instant_win_bits(rules, hand), opening)


@function
def pick_instant_win(rules: Any, bits: int, opening: int) -> int:
    """Return the rank in the rule set's priority (0 the best) of the best of the instant wins that are bits."""
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
def instant_kind(rules: Any, priority: int) -> int:
    """Return the kind (index into INSTANT_WINS) of a priority that `instant_win` returned."""
    if priority >= len(INSTANT_WINS):
        return rules.opening_instant_wins[priority - len(INSTANT_WINS)]
    return rules.instant_wins[priority]


# ------------------------------------------------------------------------------------------------ legal leads


@function
def count_straights_any(lattice: int, straight_min: int) -> int:
    """Return the number of straights of at least `straight_min` cards, from the counts of the ranks they may use.

    t counts those that end at the current rank: one more card on a shorter one, or on `straight_min - 1` ranks below.
    """
    total = 0
    t = 0
    for rank in range(straight_min - 1, 13):
        below = 1
        for r in range(rank - straight_min + 1, rank):
            below *= count_at(lattice, r)
        t = count_at(lattice, rank) * (t + below)
        total += t
    return total


@inline
def count_usual_straights(lattice: int) -> int:
    """Return the number of straights of 3 and more cards: `count_straights_any` with the two ranks below at hand.

    From both ends at once, since each rank waits for the one before. A straight across the middle is anything that ends
    at rank 6 with anything that starts at rank 7, except the two ranks alone.
    """
    total, t, a, b = 0, 0, lattice & 15, (lattice >> 4) & 15
    for rank in range(2, 7):
        c = (lattice >> (4 * rank)) & 15
        t = c * (t + a * b)
        total += t
        a, b = b, c
    six, ending = b, t + a * b + b
    t, a, b = 0, (lattice >> 48) & 15, (lattice >> 44) & 15
    for rank in range(10, 6, -1):
        c = (lattice >> (4 * rank)) & 15
        t = c * (t + a * b)
        total += t
        a, b = b, c
    return total + ending * (t + a * b + b) - six * b


@inline
def count_straights(lattice: int, straight_min: int) -> int:
    """Return the number of straights of a count lattice."""
    return count_usual_straights(lattice) if straight_min == 3 else count_straights_any(lattice, straight_min)


@inline
def count_of_a_kind(hand: int, quad_cards: int) -> int:
    """Return the number of singles, pairs, triples and quads of a hand."""
    x, y, z = up1(hand), up2(hand), up3(hand)
    a, b, c = hand & x, hand & y, hand & z
    n = popcount(hand) + popcount(a) + popcount(b) + popcount(c)
    return n + popcount(a & y) + popcount(a & z) + popcount(b & z) + popcount(a & y & z & quad_cards)


@function
def count_all_doubles(rules: Any, hand: int) -> int:
    """Return the number of double straights of a hand."""
    h, n = hand & rules.double_cards, 0
    for length in range(3, rules.double_straight_max + 1):
        if double_starts(h, h, length) == 0:
            break
        n += count_doubles(h, h, length)
    return n


@function
def count_leads(rules: Any, hand: int) -> int:
    """Return the number of plays that may be led from a hand without obligation: all kinds, all choices of suits."""
    n = count_of_a_kind(hand, rules.quad_cards) + count_all_doubles(rules, hand)
    return n + count_straights(counts(hand & rules.straight_cards), rules.straight_min)


@kernel
def count_leads_of(rules_: Any, hands: Any, found: Any) -> None:
    """Write `count_leads` of many hands, eight at a time in vector instructions."""
    rules = rules_[0]
    if rules.straight_min != 3:
        for i in range(len(hands)):
            found[i] = count_leads(rules, hands[i])
        return
    straight_cards, double_cards, quad_cards = rules.straight_cards, rules.double_cards, rules.quad_cards
    for i in range(len(hands)):
        hand = hands[i]
        n = count_of_a_kind(hand, quad_cards) + count_usual_straights(counts(hand & straight_cards))
        pairs = presence(hand & covered(hand) & double_cards)
        found[i] = n if pairs & (pairs >> 4) & (pairs >> 8) == 0 else -n
    for i in range(len(hands)):
        if found[i] < 0:
            found[i] = count_all_doubles(rules, hands[i]) - found[i]


# ------------------------------------------------------------------------------------------------ fewest plays


@function
def _fewest(rules: Any, lattice: int, twos_straight: int, twos_double: int, best: int) -> int:
    """Return the fewest plays that shed the cards of a count lattice, or `best` when it takes as many.

    The lowest rank is shed by a play of one rank, or by a run that starts there: exhaustive, since every play of the
    lowest rank is one of these, and which suits it takes never matters.
    """
    if lattice == 0:
        return 0
    if best <= 1:
        return best
    rank = 0
    while count_at(lattice, rank) == 0:
        rank += 1
    one = 1 << (4 * rank)
    n = count_at(lattice, rank)
    most = 3 if rank == 12 and rules.quad_cards & TWOS == 0 else 4
    # all cards of the lowest rank at once, then fewer: the rest of them goes by runs
    rest, last = lattice, rank
    while last < 13 and count_at(lattice, last) >= 1 and (last < 12 or twos_straight):
        rest -= 1 << (4 * last)
        last += 1
        if last - rank >= rules.straight_min:
            best = min(best, 1 + _fewest(rules, rest, twos_straight, twos_double, best - 1))
    rest, last = lattice, rank
    while last < 13 and count_at(lattice, last) >= 2 and (last < 12 or twos_double):
        rest -= 2 << (4 * last)
        last += 1
        if 3 <= last - rank <= rules.double_straight_max:
            best = min(best, 1 + _fewest(rules, rest, twos_straight, twos_double, best - 1))
    for taken in range(min(n, most), 0, -1):
        best = min(best, 1 + _fewest(rules, lattice - taken * one, twos_straight, twos_double, best - 1))
    return best


@function
def fewest_plays_of(rules: Any, lattice: int, n: int) -> int:
    """Return the fewest plays that shed the n cards of a count lattice, of one deck or two, when nobody answers.

    Leads only, obligations apart.
    """
    twos_straight = 1 if rules.straight_cards & TWOS else 0
    twos_double = 1 if rules.double_cards & TWOS else 0
    return _fewest(rules, lattice, twos_straight, twos_double, n + 1)


@function
def fewest_plays(rules: Any, hand: int) -> int:
    """Return `fewest_plays_of` for a hand of one deck."""
    return fewest_plays_of(rules, counts(hand), popcount(hand))


# ------------------------------------------------------------------------------------------------ leftovers


@function
def _costliest(rules: Any, lattice: int, rank: int, last_pair: int) -> int:
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
            amount = DOUBLE_STRAIGHT_3 if last - rank == 3 else DOUBLE_STRAIGHT_4
            lost = last_pair if last == 13 else 0
            best = max(best, amount - lost + _costliest(rules, rest, rank, 4 if last == 13 else last_pair))
    return best


@function
def leftover(rules: Any, cards: int) -> int:
    """Return what cards cost by the leftover amounts, in half units: the split that costs most (section 10)."""
    red, black = popcount(cards & TWOS & RED), popcount(cards & TWOS & BLACK)
    paired = presence(cards & covered(cards))
    total = red * RED_TWO + black * BLACK_TWO
    if runs(paired, 3) != 0 or quads(cards & NO_TWOS) != 0:
        cheap = min(black, 2)
        total += _costliest(rules, counts(cards), 0, cheap * BLACK_TWO + (2 - cheap) * RED_TWO)
    return total


# ------------------------------------------------------------------------------------------------ from Python


@kernel
def _instant_win_kind(rules: Any, hand: int, opening: int) -> int:
    priority = instant_win(rules[0], hand, opening)
    return instant_kind(rules[0], priority) if priority >= 0 else -1


@kernel
def _fewest_plays(rules: Any, lattice: int, n: int) -> int:
    return fewest_plays_of(rules[0], lattice, n)


@kernel
def _count_leads(rules: Any, hand: int) -> int:
    return count_leads(rules[0], hand)
