"""The slow twin of the hand columns: their meanings in sets and loops."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb

from tlsim.chances.columns import Deck, columns
from tlsim.rules.ruleset import Rules, chop_line

Card = tuple[int, int]  # rank (0 the 3s, the last the 2s), suit (spades first, hearts last, the lower half black)


def cards_of(deck: Deck) -> list[Card]:
    return [(rank, suit) for rank in range(deck.ranks) for suit in range(deck.suits) for _ in range(deck.decks)]


def run_of(ranks: set[int]) -> int:
    return max(
        (len(set(range(low, high + 1))) for low in ranks for high in ranks if set(range(low, high + 1)) <= ranks),
        default=0,
    )


def is_lead(rules: Rules, deck: Deck, play: tuple[Card, ...]) -> bool:
    counts = Counter(rank for rank, _ in play)
    each, twos = set(counts.values()), deck.ranks - 1
    if len(counts) == 1:
        return len(play) <= 4 and (len(play) < 4 or twos not in counts or rules.quad_twos)
    if len(each) > 1 or max(counts) - min(counts) != len(counts) - 1:
        return False
    if each == {1}:
        return len(counts) >= rules.straight_min and (rules.straight_twos or twos not in counts)
    return (
        each == {2}
        and 3 <= len(counts) <= rules.double_straight_max
        and (rules.double_straight_twos or twos not in counts)
    )


def all_plays(hand: tuple[Card, ...]) -> Iterator[tuple[Card, ...]]:
    yield from {tuple(sorted(play)) for size in range(1, len(hand) + 1) for play in combinations(hand, size)}


def look(hand: tuple[Card, ...], rules: Rules, deck: Deck) -> dict[str, int]:
    """Return the columns of a hand, from their meanings."""
    twos, size = deck.ranks - 1, len(hand)
    n = [sum(rank == r for rank, _ in hand) for r in range(deck.ranks)]
    colours = [suit >= deck.suits // 2 for _, suit in hand]
    at_least = [{rank for rank in range(deck.ranks) if n[rank] >= copies} for copies in range(5)]
    straight = run_of(at_least[1] - (set() if rules.straight_twos else {twos}))
    double = run_of(at_least[2] - (set() if rules.double_straight_twos else {twos}))
    quad_run = run_of(at_least[4] - {twos})
    names = "threes fours fives sixes sevens eights nines tens jacks queens kings aces".split()[:twos]
    pair_units = sum(count // 2 for count in n)
    wins = {
        "dragon": min(n[:twos]) > 0,
        "five-pair-straight": run_of(at_least[2] - {twos}) >= 5,
        "four-twos": n[twos] >= 4,
        "six-pairs": (pair_units if rules.six_pairs_quads_twice else len(at_least[2])) >= 6,
        "one-colour": len(set(colours)) == 1,
        "four-threes": n[0] >= 4,
        "threes-double-straight": {0, 1, 2} <= at_least[2],
    }
    counted = {
        kind
        for kind, holds in wins.items()
        if holds and (kind == "four-twos" or rules.instant_wins_any_size or size == 13)
    }
    chops = {f"double-straight-{k}" for k in range(3, min(double, rules.double_straight_max) + 1)}
    chops |= {"quad"} if at_least[4] - (set() if rules.quad_twos else {twos}) else set()
    chops |= {f"quad-run-{k}" for k in range(2, quad_run + 1)}
    lines = {chop_line(rules, chop) for chop in chops} - {None}
    return {
        **dict(zip(names, n, strict=False)),
        "twos": n[twos],
        "ranks": len(at_least[1]),
        "pairs": len(at_least[2]),
        "triples": len(at_least[3]),
        "quads": len(at_least[4]),
        "pair_units": pair_units,
        "longest_straight": straight if straight >= rules.straight_min else 0,
        "longest_double_straight": double if double >= 3 else 0,
        "longest_quad_run": quad_run if quad_run >= 2 else 0,
        "strength": sum(rank for rank, _ in hand),
        "red_cards": sum(colours),
        "red_twos": sum(rank == twos and suit >= deck.suits // 2 for rank, suit in hand),
        "holds_3s": (0, 0) in hand,
        "holds_2h": (twos, deck.suits - 1) in hand,
        **{kind.replace("-", "_"): holds for kind, holds in wins.items()},
        "instant_win": bool(counted & set(rules.instant_wins)),
        "opening_instant_win": bool(counted & {*rules.instant_wins, *rules.opening_instant_wins}),
        **{
            name: name[5:].replace("_", "-") in lines for name in columns(rules, size, deck) if name.startswith("chop_")
        },
        "chop": bool(lines),
        "fewest_plays": fewest_plays(tuple(n), rules),
        "legal_leads": sum(is_lead(rules, deck, play) for play in all_plays(hand)) if size <= 7 else -1,
    }


def number_of_leads(hand: tuple[Card, ...], rules: Rules) -> int:
    """Return the number of legal leads of a hand of real cards, shape by shape: what may be any size."""
    kinds = [{suit for r, suit in hand if r == rank} for rank in range(13)]
    twice = [sum(hand.count((rank, suit)) == 2 for suit in kinds[rank]) for rank in range(13)]
    cards = [[suit for r, suit in hand if r == rank] for rank in range(13)]
    total = 0
    for rank in range(13):
        for size in range(1, 5 if rank < 12 or rules.quad_twos else 4):
            total += len(set(combinations(sorted(cards[rank]), size)))
    for start in range(13):
        singles, pairs = 1, 1
        for last in range(start, 13):
            singles *= len(kinds[last])
            pairs *= comb(len(kinds[last]), 2) + twice[last]
            length = last - start + 1
            if length >= rules.straight_min and (last < 12 or rules.straight_twos):
                total += singles
            if 3 <= length <= rules.double_straight_max and (last < 12 or rules.double_straight_twos):
                total += pairs
    return total


@cache
@cache
def fewest_plays(n: tuple[int, ...], rules: Rules) -> int:
    """Return the fewest plays that shed so many cards of each rank: by all plays of the lowest rank that is held."""
    if not any(n):
        return 0
    twos = len(n) - 1
    low = next(rank for rank, count in enumerate(n) if count)
    plays = [{low: size} for size in range(1, 5 if low < twos or rules.quad_twos else 4)]
    for last in range(low + 2, len(n)):
        run = range(low, last + 1)
        if len(run) >= rules.straight_min and (last < twos or rules.straight_twos):
            plays.append(dict.fromkeys(run, 1))
        if len(run) <= rules.double_straight_max and (last < twos or rules.double_straight_twos):
            plays.append(dict.fromkeys(run, 2))
    fitting = [play for play in plays if all(n[rank] >= size for rank, size in play.items())]
    return 1 + min(fewest_plays(tuple(c - play.get(rank, 0) for rank, c in enumerate(n)), rules) for play in fitting)
