"""The slow twin of the rules engine: one deck, sets and loops, written from RULES.md alone, to be compared with.

A card is an int `4*rank + suit`, 0..51: ranks 0 = 3 … 12 = 2, suits S C D H. Sections are those of RULES.md.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache

from tlsim.rules import LINES, Rules

Cards = frozenset[int]
TWO = 12  # the rank of the 2s
SAME_RANK = {1: "single", 2: "pair", 3: "triple", 4: "quad"}
RUNS = {1: "straight", 2: "double-straight", 4: "quad-run"}  # by the number of cards of each rank
TWOS = {"single": "two", "pair": "two-twos", "triple": "three-twos"}  # how targets call 2s (section 3)
PENALTIES = {"quad": 4, "double-straight-3": 3, "double-straight-4": 5}  # half units (section 10)


def ranks_of(cards: Set[int]) -> Counter[int]:
    """Count the cards of each rank (section 1)."""
    return Counter(card // 4 for card in cards)


def turns(seat: int, players: int) -> list[int]:
    """List all seats in turn order, clockwise, `seat` first (section 4.4)."""
    return [(seat + step) % players for step in range(players)]


# ------------------------------------------------------------------------------------ combinations (sections 2, 3)


@lru_cache(100_000)
def classify(rules: Rules, cards: Cards) -> tuple[str, int] | None:
    """Return `(kind, length)` of a combination, `None` when these rules have no such combination (sections 2, 9)."""
    count = ranks_of(cards)
    copies = set(count.values())
    if len(copies) != 1:
        return None  # no card at all, or uneven numbers
    each, length, twos = copies.pop(), len(count), TWO in count
    if length == 1:
        return None if each == 4 and twos and not rules.quad_twos else (SAME_RANK[each], 1)
    if max(count) - min(count) != length - 1:
        return None  # not consecutive
    allowed = {
        1: length >= rules.straight_min and (rules.straight_twos or not twos),
        2: 3 <= length <= rules.double_straight_max and (rules.double_straight_twos or not twos),
        4: not twos and f"quad-run-{length}" in dict(rules.chops),
    }
    return (RUNS[each], length) if allowed.get(each, False) else None


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


def matches(rules: Rules, play: Cards, on: Cards) -> bool:
    """Return whether both are combinations of equal kind and length (section 2)."""
    return classify(rules, play) is not None and classify(rules, play) == classify(rules, on)


def is_chop(rules: Rules, play: Cards, on: Cards) -> bool:
    """Return whether `play` beats `on` without matching it (section 3)."""
    line = line_of(rules, play)
    return line is not None and not matches(rules, play, on) and target_name(rules, on) in dict(rules.chops)[line]


def beats(rules: Rules, play: Cards, on: Cards) -> bool:
    """Return whether `play` beats `on`: matching with the higher top card, or as a chop (sections 2, 3, 7)."""
    return max(play) > max(on) if matches(rules, play, on) else is_chop(rules, play, on)


# -------------------------------------------------------------------------------------------- legal plays (section 4)


@lru_cache(100_000)
def combinations_in(rules: Rules, hand: Cards) -> tuple[Cards, ...]:
    """Return every combination that can be made of a hand, each once (section 2)."""
    of_rank = [[card for card in sorted(hand) if card // 4 == rank] for rank in range(TWO + 1)]
    found = []
    for each, first in itertools.product((1, 2, 3, 4), range(TWO + 1)):
        for last in range(first, TWO + 1):
            if len(of_rank[last]) < each:
                break  # a longer run would need this rank too
            suits = [itertools.combinations(of_rank[rank], each) for rank in range(first, last + 1)]
            plays = [frozenset(itertools.chain(*parts)) for parts in itertools.product(*suits)]
            if classify(rules, plays[0]) is not None:  # it looks at ranks alone, and those are the same in all of them
                found += plays
    return tuple(found)


def barred(rules: Rules, hand: Cards, on: Cards | None, play: Cards) -> bool:
    """Return whether `finish_on_two` = no forbids a play (section 9)."""
    leaders_only_card = on is None and len(hand) == 1
    return not rules.finish_on_two and play == hand and max(play) // 4 == TWO and not leaders_only_card


def may_lead(rules: Rules, play: Cards, required: int | None) -> bool:
    """Return whether a combination may be led: no quad run (section 3), the first lead as in section 4.3."""
    kind = classify(rules, play)
    if kind is None or kind[0] == "quad-run":
        return False
    if required is None or rules.first_lead == "free":
        return True
    return required in play and (rules.first_lead == "included" or len(play) == 1)


def legal_plays(
    rules: Rules, hand: Cards, on: Cards | None, required: int | None = None, again: bool = False
) -> set[Cards]:
    """Return every play other than a pass: leading when `on` is `None`, else answering (sections 4.3 to 4.5).

    `again`: the player has passed on this pile, and may only play a chop of a line in `unlocked_chops`.
    """
    plays = {play for play in combinations_in(rules, hand) if not barred(rules, hand, on, play)}
    if on is None:
        return {play for play in plays if may_lead(rules, play, required)}
    plays = {play for play in plays if beats(rules, play, on)}
    return {play for play in plays if line_of(rules, play) in rules.unlocked_chops} if again else plays


def may_pass(rules: Rules, hand: Cards, on: Cards | None, again: bool = False) -> bool:
    """Return whether the player may pass: never when leading (section 4.4); `must_play` (section 9)."""
    if on is None:
        return False
    return again or not rules.must_play or not legal_plays(rules, hand, on)


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


def instant_win(rules: Rules, hand: Cards, opening: bool) -> str | None:
    """Return the best instant win that a hand holds (section 6)."""
    for kind in rules.instant_wins + (rules.opening_instant_wins if opening else ()):
        right_size = kind == "four-twos" or rules.instant_wins_any_size or len(hand) == 13
        if right_size and holds(rules, hand, kind):
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
    """Return the first of dealer+1, … that holds the lowest card dealt, and that card (section 4.3)."""
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


def leftover(rules: Rules, cards: Cards) -> int:
    """Return what cards cost when they are left over, half units: the dearest split, each card once (section 10).

    The lowest card is left alone or stands in a combination that starts with its rank. Which suits that takes makes
    no difference below the 2s; of the 2s it takes the lowest: black ones cost less alone.
    """
    if not cards:
        return 0
    lowest_card = min(cards)
    alone = (1 if lowest_card % 4 in (0, 1) else 2) if lowest_card // 4 == TWO else 0
    best = alone + leftover(rules, cards - {lowest_card})
    for each, length in ((4, 1), (2, 3), (2, 4)):
        ranks = range(lowest_card // 4, lowest_card // 4 + length)
        used = frozenset(card for r in ranks for card in sorted(c for c in cards if c // 4 == r)[:each])
        kind = classify(rules, used)
        if kind and len(used) == each * length:
            best = max(best, PENALTIES[exact_name(*kind)] + leftover(rules, cards - used))
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


# ------------------------------------------------------------------------------------------------ a hand (section 4)


@dataclass(frozen=True)
class Position:
    """What the player to act may know, and what it may do."""

    seat: int
    hand: Cards
    on: Cards | None  # the current play, None when leading
    owner: int | None  # whose play that is
    required: int | None  # the card that this lead must respect
    again: bool  # has passed on this pile and is asked again
    legal: set[Cards]
    may_pass: bool
    left: tuple[int, ...]  # cards held by each seat
    passed: Cards  # seats that have passed


Choose = Callable[[int, Position], Cards]


@dataclass
class Hand:
    """A hand that is over (section 11), with counts. `n_plays` has no passes; `chops` are by exact kind."""

    dealer: int
    leader: int
    required: int | None
    instant_win: tuple[int, str] | None = None
    plays: list[tuple[int, Cards]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    payoffs: list[int] = field(default_factory=list)  # half units
    n_plays: int = 0
    passes: int = 0
    piles: int = 0
    chops: Counter[str] = field(default_factory=Counter)
    twos_left: int = 0


@dataclass
class Table:
    """A hand that is being played."""

    rules: Rules
    hands: list[Cards]
    choose: Choose
    hand: Hand
    passed: set[int] = field(default_factory=set)
    out: list[int] = field(default_factory=list)
    paid: list[list[PaidChop]] = field(default_factory=list)  # a list for each pile

    def is_over(self) -> bool:
        """Return whether the hand has ended (section 4.7)."""
        return len(self.out) >= (1 if self.rules.ends == "first-out" else len(self.hands) - 1)

    def position(self, seat: int, on: Cards | None, owner: int | None) -> Position:
        """Return what `seat` is asked."""
        hand, again = self.hands[seat], on is not None and seat in self.passed
        required = None if self.hand.plays else self.hand.required  # ends with the first play (section 4.3)
        legal = legal_plays(self.rules, hand, on, required, again)
        free_to_pass, left = may_pass(self.rules, hand, on, again), tuple(map(len, self.hands))
        return Position(seat, hand, on, owner, required, again, legal, free_to_pass, left, frozenset(self.passed))

    def ask(self, position: Position) -> Cards:
        """Return what a player does, after carrying it out."""
        seat, play = position.seat, self.choose(position.seat, position)
        assert play in position.legal if play else position.may_pass, (seat, play, position)
        self.hand.plays.append((seat, play))
        if not play:
            self.passed.add(seat)
            return play
        self.hands[seat] -= play
        self.passed = self.passed - {seat} if self.rules.pass_locks else set()
        if not self.hands[seat]:
            self.out.append(seat)
        return play

    def answer(self, on: Cards, owner: int) -> tuple[Cards, int] | None:
        """Ask the seats to the owner's left, each once; return the first play and its seat (section 4.5)."""
        for seat in turns(owner, len(self.hands))[1:]:
            if not self.hands[seat]:
                continue
            position = self.position(seat, on, owner)
            if position.again and not position.legal:
                continue  # has passed, and holds no unlocked chop that beats the play
            play = self.ask(position)
            if play:
                self.note_chop(play, seat, on, owner)
                return play, seat
        return None

    def note_chop(self, play: Cards, seat: int, on: Cards, owner: int) -> None:
        """Count a chop, and keep it when it is a paid one (sections 3, 10)."""
        kind = classify(self.rules, play)
        if kind and is_chop(self.rules, play, on):
            self.hand.chops[exact_name(*kind)] += 1
        if is_paid(self.rules, play, on):
            self.paid[-1].append(PaidChop(seat, owner, leftover(self.rules, on), owner_out=not self.hands[owner]))

    def pile(self, leader: int) -> int:
        """Play a pile, until it is won or the hand is over; return the owner of its last play (section 4.5)."""
        self.passed = set()
        self.paid.append([])
        answer: tuple[Cards, int] | None = (self.ask(self.position(leader, None, None)), leader)
        while answer is not None:
            on, owner = answer
            answer = None if self.is_over() else self.answer(on, owner)
        return owner

    def play(self) -> None:
        """Play piles until the hand is over; who wins one leads the next, or the next who holds cards (4.6)."""
        leader = self.hand.leader
        while not self.is_over():
            winner = self.pile(leader)
            leader = next(seat for seat in turns(winner, len(self.hands)) if self.hands[seat])


def play_hand(
    rules: Rules, hands: Sequence[Cards], dealer: int, choose: Choose, opening: bool = True, leader: int | None = None
) -> Hand:
    """Play a hand (section 4): an opening one, or with `opening` = False one that `leader` leads freely (section 5).

    `choose(seat, position)` returns a play, or no cards for a pass. Raises `AssertionError` when it may not.
    """
    assert opening == (leader is None), "an opening hand finds its leader, any other is given it"
    required = None
    if leader is None:
        leader, lowest_card = first_leader(hands, dealer)
        required = None if rules.first_lead == "free" else lowest_card
    hand = Hand(dealer, leader, required, instant_winner(rules, hands, leader, opening))
    if hand.instant_win is not None:
        winner, players = hand.instant_win[0], len(hands)
        hand.places = [1 if seat == winner else players for seat in range(players)]
        hand.payoffs = instant_payoffs(rules, winner, players, len(hands[0]))
        return hand
    table = Table(rules, list(hands), choose, hand)
    table.play()
    left = [len(cards) for cards in table.hands]
    has_played = {seat for seat, cards in hand.plays if cards}
    hand.places = places(rules, table.out, left)
    hand.payoffs = payoffs(rules, order(rules, table.out, left), table.hands, has_played, table.paid)
    hand.n_plays = sum(1 for _, cards in hand.plays if cards)
    hand.passes = len(hand.plays) - hand.n_plays
    hand.piles = len(table.paid)
    hand.twos_left = sum(card // 4 == TWO for cards in table.hands for card in cards)
    return hand


# ----------------------------------------------------------------------------------- the player P1 (PERFORMANCE.md)


def lowest(rules: Rules, position: Position) -> Cards:
    """Return what the player `lowest` does: PERFORMANCE.md, "The two players, exactly"."""

    def lead_key(play: Cards) -> tuple[int, int, int]:
        kind = (classify(rules, play) or ("", 0))[0]
        return -len(play), {"double-straight": 0, "straight": 1}.get(kind, 2), sum(play)

    on = position.on
    if not position.legal:
        return frozenset()
    if on is None:
        card = min(position.hand) if position.required is None else position.required
        return min((play for play in position.legal if card in play), key=lead_key)
    matching = [play for play in position.legal if matches(rules, play, on)]
    if matching:
        return min(matching, key=lambda play: (max(play), sum(play)))
    return min(position.legal, key=lambda play: (LINES.index(line_of(rules, play) or ""), max(play), sum(play)))
