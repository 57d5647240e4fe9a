"""The slow twin of the rules engine: multisets and loops, written from docs/rules.md alone, to be compared with.

A card is an int `4*rank + suit`, 0..51: ranks 0 = 3 … 12 = 2, suits S C D H. Cards are a sorted tuple, and from two
decks a number may stand in it twice. Sections are those of docs/rules.md. Whole hands and matches are in `naive_hand`.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tlsim.rules.ruleset import Rules

Cards = tuple[int, ...]  # sorted
Kind = tuple[str, int]  # kind and length
TWO = 12  # the rank of the 2s
SAME_RANK = {1: "single", 2: "pair", 3: "triple", 4: "quad"}
RUNS = {1: "straight", 2: "double-straight", 4: "quad-run"}  # by the number of cards of each rank
TWOS = {"single": "two", "pair": "two-twos", "triple": "three-twos"}  # how targets call 2s (section 3)
PENALTIES = {"quad": 4, "double-straight-3": 3, "double-straight-4": 5}  # half units (section 10)


def ranks_of(cards: Cards) -> Counter[int]:
    """Count the cards of each rank (section 1)."""
    return Counter(card // 4 for card in cards)


@lru_cache(10_000)
def by_rank(cards: Cards) -> tuple[Cards, ...]:
    """Return the cards of each rank."""
    return tuple(tuple(card for card in cards if card // 4 == rank) for rank in range(TWO + 1))


def without(cards: Cards, played: Cards) -> Cards:
    """Return what is left of cards, one copy taken away for each card played."""
    rest = list(cards)
    for card in played:
        rest.remove(card)
    return tuple(rest)


def turns(seat: int, players: int) -> list[int]:
    """List all seats in turn order, clockwise, `seat` first (section 4.4)."""
    return [(seat + step) % players for step in range(players)]


# ------------------------------------------------------------------------------ combinations (sections 2, 3 and 7)


@lru_cache(100_000)
def classify(rules: Rules, cards: Cards) -> Kind | None:
    """Return `(kind, length)` of a combination, `None` when these rules have no such combination (sections 2, 9)."""
    count = ranks_of(cards)
    copies = set(count.values())
    if len(copies) != 1:
        return None  # no card at all, or uneven numbers
    each, length, twos = copies.pop(), len(count), TWO in count
    if length == 1:
        refused = each > 4 or (each == 4 and twos and not rules.quad_twos)
        return None if refused else (SAME_RANK[each], 1)
    if max(count) - min(count) != length - 1:
        return None  # not consecutive
    if each == 1:
        allowed = length >= rules.straight_min and (rules.straight_twos or not twos)
    elif each == 2:
        allowed = 3 <= length <= rules.double_straight_max and (rules.double_straight_twos or not twos)
    else:
        allowed = each == 4 and not twos and f"quad-run-{length}" in dict(rules.chops)
    return (RUNS[each], length) if allowed else None


def exact_name(kind: str, length: int) -> str:
    """Return the kind as the chop table spells it: `quad`, `double-straight-3`, … (section 3)."""
    return kind if kind in SAME_RANK.values() else f"{kind}-{length}"


def chop_line(rules: Rules, kind: str, length: int) -> str | None:
    """Return the line of the chop table that governs a combination, `None` without one (section 3)."""
    lines = [line for line, _ in rules.chops]
    if kind == "double-straight":  # the nearest shorter listed one, if its own length is not
        lengths = [shorter for shorter in range(3, length + 1) if f"double-straight-{shorter}" in lines]
        return f"double-straight-{max(lengths)}" if lengths else None
    return exact_name(kind, length) if exact_name(kind, length) in lines else None


def line_of(rules: Rules, cards: Cards) -> str | None:
    """Return the line of the chop table that governs these cards, `None` if they are no chop (section 3)."""
    kind = classify(rules, cards)
    return chop_line(rules, *kind) if kind else None


def target_name(rules: Rules, cards: Cards) -> str | None:
    """Return what a list of targets calls this play (section 3); names that are no target are in no list."""
    kind = classify(rules, cards)
    if kind is None:
        return None
    return TWOS[kind[0]] if kind[0] in TWOS and min(cards) // 4 == TWO else exact_name(*kind)


def chops_listed(rules: Rules, kind: Kind, target: str | None) -> bool:
    """Return whether the chop table lists a target for combinations of this kind and length (section 3)."""
    line = chop_line(rules, *kind)
    return line is not None and target in dict(rules.chops)[line]


def matches(rules: Rules, play: Cards, on: Cards) -> bool:
    """Return whether both are combinations of equal kind and length (section 2)."""
    return classify(rules, play) is not None and classify(rules, play) == classify(rules, on)


def is_chop(rules: Rules, play: Cards, on: Cards) -> bool:
    """Return whether `play` beats `on` without matching it (section 3)."""
    kind = classify(rules, play)
    return kind is not None and not matches(rules, play, on) and chops_listed(rules, kind, target_name(rules, on))


def outranks(rules: Rules, play: Cards, on: Cards) -> bool:
    """Return whether `play` may follow `on`, which it matches: by its top card, by `ties` if they are equal (2, 7)."""
    if max(play) != max(on):
        return max(play) > max(on)
    if rules.ties == "kickers":
        return sorted(play, reverse=True) > sorted(on, reverse=True)  # the first difference, from the top down
    return rules.ties == "later"


def beats(rules: Rules, play: Cards, on: Cards) -> bool:
    """Return whether `play` beats `on`: matching it and outranking it, or as a chop (sections 2, 3, 7)."""
    return outranks(rules, play, on) if matches(rules, play, on) else is_chop(rules, play, on)


# -------------------------------------------------------------------------------------------- legal plays (section 4)


class Shape(NamedTuple):
    """All combinations of a kind and length that start with one rank."""

    kind: Kind
    first: int  # rank
    each: int  # cards of each rank


@lru_cache(1000)
def shapes(rules: Rules) -> tuple[Shape, ...]:
    """Return every shape that is a combination: `classify` looks at ranks alone (section 2)."""
    found = []
    for each, first, last in itertools.product((1, 2, 3, 4), range(TWO + 1), range(TWO + 1)):
        sample = tuple(4 * rank + suit for rank in range(first, last + 1) for suit in range(each))
        kind = classify(rules, sample)
        if kind is not None:
            found.append(Shape(kind, first, each))
    return tuple(found)


@lru_cache(10_000)
def picks(cards: Cards, n: int) -> tuple[Cards, ...]:
    """Return every way to take `n` of the cards; ways that take the same cards are one way."""
    return tuple(sorted(set(itertools.combinations(cards, n))))


def made_of(hand: Cards, shape: Shape) -> Iterator[Cards]:
    """Yield every combination of one shape that can be made of a hand, each once (section 2)."""
    ranks = by_rank(hand)[shape.first : shape.first + shape.kind[1]]
    if all(len(cards) >= shape.each for cards in ranks):
        for some in itertools.product(*(picks(cards, shape.each) for cards in ranks)):
            yield tuple(itertools.chain(*some))


@lru_cache(500)
def combinations_in(rules: Rules, hand: Cards) -> tuple[Cards, ...]:
    """Return every combination that can be made of a hand, each once (section 2)."""
    return tuple(play for shape in shapes(rules) for play in made_of(hand, shape))


def barred(rules: Rules, hand: Cards, on: Cards | None, play: Cards) -> bool:
    """Return whether `finish_on_two` = no forbids a play (section 9)."""
    leaders_only_card = on is None and len(hand) == 1
    return not rules.finish_on_two and play == hand and max(play) // 4 == TWO and not leaders_only_card


def keeps_first_lead(rules: Rules, play: Cards, required: int | None) -> bool:
    """Return whether a lead is as section 4.3 wants it; one copy of the required card is enough."""
    if required is None or rules.first_lead == "free":
        return True
    return required in play and (rules.first_lead == "included" or len(play) == 1)


def may_lead(rules: Rules, play: Cards, required: int | None) -> bool:
    """Return whether a combination may be led: no quad run (section 3), the first lead as in section 4.3."""
    kind = classify(rules, play)
    return kind is not None and kind[0] != "quad-run" and keeps_first_lead(rules, play, required)


def leads(rules: Rules, hand: Cards, required: int | None) -> list[Cards]:
    """Return every combination in a hand that may be led, as `may_lead` says."""
    plays = [play for shape in shapes(rules) if shape.kind[0] != "quad-run" for play in made_of(hand, shape)]
    return [play for play in plays if keeps_first_lead(rules, play, required)]


@lru_cache(10_000)
def answering(rules: Rules, kind: Kind | None, target: str | None, again: bool) -> tuple[Shape, ...]:
    """Return the shapes that can beat a play of this kind and name; `again`: only those of a line that is unlocked."""
    found = [shape for shape in shapes(rules) if shape.kind == kind or chops_listed(rules, shape.kind, target)]
    return tuple(shape for shape in found if not again or chop_line(rules, *shape.kind) in rules.unlocked_chops)


def answers(rules: Rules, hand: Cards, on: Cards, again: bool) -> Iterator[Cards]:
    """Yield every combination in a hand that beats `on`, as `beats` says, without making the others."""
    same = classify(rules, on)
    for shape in answering(rules, same, target_name(rules, on), again):
        if shape.kind != same:
            yield from made_of(hand, shape)
        elif shape.first + shape.kind[1] > max(on) // 4:  # its top rank is not lower
            yield from (play for play in made_of(hand, shape) if outranks(rules, play, on))


def legal_plays(
    rules: Rules, hand: Cards, on: Cards | None, required: int | None = None, again: bool = False
) -> set[Cards]:
    """Return every play other than a pass: leading when `on` is `None`, else answering (sections 4.3 to 4.5).

    `again`: the player has passed on this pile, and may only play a chop of a line in `unlocked_chops`.
    """
    found = leads(rules, hand, required) if on is None else answers(rules, hand, on, again)
    return {play for play in found if not barred(rules, hand, on, play)}


def is_legal(rules: Rules, hand: Cards, on: Cards | None, required: int | None, again: bool, play: Cards) -> bool:
    """Return whether one play is among the `legal_plays`, from the rules of combinations and chops alone."""
    if any(play.count(card) > hand.count(card) for card in play) or barred(rules, hand, on, play):
        return False
    if again and line_of(rules, play) not in rules.unlocked_chops:
        return False
    return may_lead(rules, play, required) if on is None else beats(rules, play, on)


def can_answer(rules: Rules, hand: Cards, on: Cards, again: bool = False) -> bool:
    """Return whether there is any legal play on `on`; `again` as in `legal_plays`."""
    return any(not barred(rules, hand, on, play) for play in answers(rules, hand, on, again))


def may_pass(rules: Rules, hand: Cards, on: Cards | None, again: bool = False) -> bool:
    """Return whether the player may pass: never when leading (section 4.4); `must_play` (section 9)."""
    if on is None:
        return False
    return again or not rules.must_play or not can_answer(rules, hand, on)


# ------------------------------------------------------------------------------- instant wins, first lead (4.3, 6)


def holds(rules: Rules, hand: Cards, kind: str) -> bool:
    """Return whether a hand is an instant win of this kind (section 6), its size and the list of the rules aside."""
    count = ranks_of(hand)
    if kind == "dragon":
        return all(count[rank] >= 1 for rank in range(TWO))
    if kind == "five-pair-straight":
        return any(all(count[rank] >= 2 for rank in range(low, low + 5)) for low in range(TWO - 4))
    if kind == "six-pairs":
        return sum(n // 2 if rules.six_pairs_quads_twice else min(n // 2, 1) for n in count.values()) >= 6
    if kind == "one-colour":
        return len({card % 4 in (2, 3) for card in hand}) == 1
    if kind == "threes-double-straight":
        return all(count[rank] >= 2 for rank in (0, 1, 2))
    return count[{"four-twos": TWO, "four-threes": 0}[kind]] >= 4


def in_force(rules: Rules, kind: str, cards: int) -> bool:
    """Return whether an instant win that the rules list counts, with a hand of so many cards (section 6)."""
    if kind == "four-twos":
        return not rules.trading  # at any hand size
    return cards == 13 or rules.instant_wins_any_size


def instant_win(rules: Rules, hand: Cards, opening: bool) -> str | None:
    """Return the best instant win that a hand holds (section 6)."""
    for kind in rules.instant_wins + (rules.opening_instant_wins if opening else ()):
        if in_force(rules, kind, len(hand)) and holds(rules, hand, kind):
            return kind
    return None


def instant_winner(rules: Rules, hands: Sequence[Cards], leader: int, opening: bool) -> tuple[int, str] | None:
    """Return the seat that wins at once and its kind: the best; equal ones in turn order from `leader` (section 6)."""
    wins = {seat: instant_win(rules, hands[seat], opening) for seat in turns(leader, len(hands))}
    for kind in rules.instant_wins + rules.opening_instant_wins:
        for seat, best in wins.items():
            if best == kind:
                return seat, kind
    return None


def first_leader(hands: Sequence[Cards], dealer: int) -> tuple[int, int]:
    """Return the first of dealer+1, …, the dealer last, that holds the lowest card dealt, and that card (4.3)."""
    lowest_card = min(min(hand) for hand in hands)
    return next(seat for seat in turns(dealer + 1, len(hands)) if lowest_card in hands[seat]), lowest_card


# ---------------------------------------------------------------------------------- places and payoffs (4.8, 10)


def order(rules: Rules, out: Sequence[int], left: Sequence[int]) -> list[int]:
    """Return the seats from first to last: `out` are those without cards, first one first (sections 4.7, 4.8)."""
    rest = [seat for seat in turns(out[0], len(left)) if seat not in out]  # by turn from the winner's left
    return [*out, *(sorted(rest, key=lambda seat: left[seat]) if rules.ends == "first-out" else rest)]


def places(rules: Rules, out: Sequence[int], left: Sequence[int]) -> list[int]:
    """Return the place of each seat, 1 the best; first-out: equal numbers of cards share the better (section 4.8)."""
    if rules.ends == "first-out":
        return [1 + sum(fewer < mine for fewer in left) for mine in left]
    return [1 + order(rules, out, left).index(seat) for seat in range(len(left))]


@lru_cache(100_000)
def leftover(rules: Rules, cards: Cards) -> int:
    """Return what cards cost when they are left over, half units: the dearest split, each card once (section 10).

    The lowest card is left alone or stands in a combination that starts with its rank. Which suits that takes makes
    no difference below the 2s; of the 2s it takes the lowest: black ones cost less alone.
    """
    if not cards:
        return 0
    lowest_card, rank = cards[0], cards[0] // 4
    alone = (1 if lowest_card % 4 in (0, 1) else 2) if rank == TWO else 0
    best = alone + leftover(rules, cards[1:])
    for each, length in ((4, 1), (2, 3), (2, 4)):
        used = tuple(card for same in by_rank(cards)[rank : rank + length] for card in same[:each])
        kind = classify(rules, used)
        if kind and len(used) == each * length:
            best = max(best, PENALTIES[exact_name(*kind)] + leftover(rules, without(cards, used)))
    return best


def instant_payoffs(rules: Rules, winner: int, players: int, dealt: int) -> list[int]:
    """Return the payoffs after an instant win, half units; `dealt` cards were dealt to a hand (section 10)."""
    each = 2 * {"stake": 1, "places": 2, "cards": 2 * dealt}[rules.payoff]
    return [each * (players - 1) if seat == winner else -each for seat in range(players)]


def base_payoffs(rules: Rules, ranking: Sequence[int], left: Sequence[int]) -> list[int]:
    """Return the payoffs before any penalty, half units, for seats ranked from first to last (section 10)."""
    n, m = len(left), len(left) // 2
    if rules.payoff == "cards":
        return [2 * sum(left) if seat == ranking[0] else -2 * left[seat] for seat in range(n)]
    if rules.payoff == "stake":
        return [-2 * (n - 1) if seat == ranking[-1] else 2 for seat in range(n)]
    by_place = [*range(m, 0, -1), *([0] if n % 2 else []), *range(-1, -m - 1, -1)]
    return [2 * by_place[ranking.index(seat)] for seat in range(n)]


@dataclass(frozen=True)
class PaidChop:
    """A paid chop (section 10): who played it on whose play, what that is worth, whether its owner went out on it."""

    chopper: int
    owner: int
    half_units: int
    owner_out: bool


def is_paid(rules: Rules, play: Cards, on: Cards) -> bool:
    """Return whether a play that beats `on` is a paid chop: of the table, on 2s or on one of the table (section 10)."""
    on_twos = target_name(rules, on) in TWOS.values()
    return line_of(rules, play) is not None and (on_twos or line_of(rules, on) is not None)


def payoffs(
    rules: Rules, ranking: Sequence[int], hands: Sequence[Cards], has_played: Set[int], piles: Sequence[list[PaidChop]]
) -> list[int]:
    """Return the payoffs of a hand that was played out, half units (section 10).

    `ranking`: seats from first to last; `hands`: what they still hold; `has_played`: seats that have played a card;
    `piles`: the paid chops of each pile, in order.
    """
    base = base_payoffs(rules, ranking, [len(hand) for hand in hands])
    paid, first = list(base), ranking[0]

    def pay(payer: int, payee: int, half_units: int) -> None:
        paid[payer] -= half_units
        paid[payee] += half_units

    for seat, hand in enumerate(hands):
        if rules.cong and seat not in has_played and base[seat] < 0:
            pay(seat, first, -base[seat])
        if rules.leftover_penalties and hand:
            pay(seat, first, leftover(rules, hand))
    for chops in piles:
        if rules.chop_penalties and chops and not chops[-1].owner_out:
            pay(chops[-1].owner, chops[-1].chopper, sum(chop.half_units for chop in chops))
    return paid
