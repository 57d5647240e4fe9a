"""The slow twin of the rules engine, continued: whole hands, matches, and the two plain players.

Written from docs/rules.md alone, like `naive`, whose cards and rules it plays with.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from naive import (
    TWO,
    Cards,
    PaidChop,
    can_answer,
    classify,
    exact_name,
    first_leader,
    instant_payoffs,
    instant_winner,
    is_chop,
    is_legal,
    is_paid,
    leftover,
    legal_plays,
    line_of,
    matches,
    may_pass,
    order,
    payoffs,
    places,
    turns,
    without,
)

from tlsim.rules.ruleset import LINES, Rules

# ------------------------------------------------------------------------------------------------ a hand (section 4)


@dataclass(frozen=True)
class Position:
    """What the player to act may know, and what it may do; the latter is found out when somebody asks."""

    rules: Rules
    seat: int
    hand: Cards
    on: Cards | None  # the current play, None when leading
    owner: int | None  # whose play that is
    required: int | None  # the card that this lead must respect
    again: bool  # has passed on this pile and is asked again
    left: tuple[int, ...]  # cards held by each seat
    passed: frozenset[int]  # seats that have passed

    @cached_property
    def legal(self) -> set[Cards]:
        """Every play other than a pass."""
        return legal_plays(self.rules, self.hand, self.on, self.required, self.again)

    @cached_property
    def may_pass(self) -> bool:
        """Whether a pass is legal."""
        return may_pass(self.rules, self.hand, self.on, self.again)

    def allows(self, play: Cards) -> bool:
        """Return whether a play, or no cards for a pass, is legal."""
        if not play:
            return self.may_pass
        return is_legal(self.rules, self.hand, self.on, self.required, self.again, play)


Choose = Callable[[int, Position], Cards]


@dataclass
class Hand:
    """A hand that is over (section 11), with counts. `n_plays` has no passes; `chops` are by exact kind."""

    dealer: int
    leader: int
    required: int | None
    instant_win: tuple[int, str] | None = None
    plays: list[tuple[int, Cards]] = field(default_factory=list)  # no cards: a pass
    ranking: list[int] = field(default_factory=list)  # seats, first to last, equal places by turn (section 4.8)
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
        left, passed = tuple(map(len, self.hands)), frozenset(self.passed)
        return Position(self.rules, seat, hand, on, owner, required, again, left, passed)

    def ask(self, position: Position) -> Cards:
        """Return what a player does, after carrying it out."""
        seat, play = position.seat, self.choose(position.seat, position)
        assert position.allows(play), (seat, play, position)
        self.hand.plays.append((seat, play))
        if not play:
            self.passed.add(seat)
            return play
        self.hands[seat] = without(self.hands[seat], play)
        self.passed = self.passed - {seat} if self.rules.pass_locks else set()
        if not self.hands[seat]:
            self.out.append(seat)
        return play

    def answer(self, on: Cards, owner: int) -> tuple[Cards, int] | None:
        """Ask the seats to the owner's left, each once; return the first play and its seat (section 4.5)."""
        for seat in turns(owner, len(self.hands))[1:]:
            if not self.hands[seat]:
                continue
            if seat in self.passed and not can_answer(self.rules, self.hands[seat], on, again=True):
                continue  # has passed, and holds no unlocked chop that beats the play
            play = self.ask(self.position(seat, on, owner))
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
    """Play a hand, after trading (section 4). `leader` leads freely; without one section 4.3 says who leads what.

    That section governs opening hands, and with `first_lead_every_hand` all. `choose(seat, position)` returns a play,
    or no cards for a pass. Raises `AssertionError` when it may not.
    """
    governed = opening or rules.first_lead_every_hand
    assert governed == (leader is None), "a hand that section 4.3 governs finds its leader, any other is given it"
    required = None
    if leader is None:
        leader, lowest_card = first_leader(hands, dealer)
        required = None if rules.first_lead == "free" else lowest_card
    players = len(hands)
    hand = Hand(dealer, leader, required, instant_winner(rules, hands, leader, opening))
    if hand.instant_win is not None:
        winner = hand.instant_win[0]
        hand.ranking = turns(winner, players)
        hand.places = [1 if seat == winner else players for seat in range(players)]
        hand.payoffs = instant_payoffs(rules, winner, players, len(hands[0]))
        return hand
    table = Table(rules, list(hands), choose, hand)
    table.play()
    left = [len(cards) for cards in table.hands]
    has_played = {seat for seat, cards in hand.plays if cards}
    hand.ranking = order(rules, table.out, left)
    hand.places = places(rules, table.out, left)
    hand.payoffs = payoffs(rules, hand.ranking, table.hands, has_played, table.paid)
    hand.n_plays = sum(1 for _, cards in hand.plays if cards)
    hand.passes = len(hand.plays) - hand.n_plays
    hand.piles = len(table.paid)
    hand.twos_left = sum(card // 4 == TWO for cards in table.hands for card in cards)
    return hand


# ----------------------------------------------------------------------------------------------- a match (section 5)


@dataclass(frozen=True)
class Start:
    """What is known of a hand before its cards are dealt (sections 4.1, 4.3, 5)."""

    dealer: int
    opening: bool
    leader: int | None  # leads freely; None: section 4.3 finds the leader, and the card that the first lead must hold


def first_start(dealer: int) -> Start:
    """Return how a match starts, its first dealer drawn at random (sections 4.1, 5)."""
    return Start(dealer, opening=True, leader=None)


def next_start(rules: Rules, ranking: Sequence[int], won_at_once: bool) -> Start:
    """Return how the hand starts that follows one with this ranking, which was an instant win or not (4.1, 5).

    The loser deals, after an instant win the winner's right-hand neighbour.
    """
    first, loser = ranking[0], ranking[-1]
    if won_at_once:
        return Start((first - 1) % len(ranking), opening=True, leader=None)
    return Start(loser, opening=False, leader=None if rules.first_lead_every_hand else first)


def play_match(rules: Rules, deals: Sequence[Sequence[Cards]], dealer: int, choose: Choose) -> list[Hand]:
    """Play one hand after another, each with the cards of one deal (section 5)."""
    start, played = first_start(dealer), []
    for hands in deals:
        hand = play_hand(rules, hands, start.dealer, choose, start.opening, start.leader)
        played.append(hand)
        start = next_start(rules, hand.ranking, hand.instant_win is not None)
    return played


# ------------------------------------------------------------------------------------------------ the two policies


def choices(position: Position) -> list[Cards]:
    """Return what the player `random` chooses from, each as likely: every legal play, no cards for a pass if it may."""
    return sorted(position.legal) + [()] * position.may_pass


def lowest(rules: Rules, position: Position) -> Cards:
    """Return what the policy `lowest` plays, as the header of `tlsim/engine/policies/lowest.py` says.

    Plays that this leaves equal (two decks with `kickers`: 5S 5D 5H and 5C 5C 5H): the smallest sorted tuple of card
    numbers, compared from the lowest card up.
    """

    def lead_key(play: Cards) -> tuple[int, int, int, Cards]:
        kind = (classify(rules, play) or ("", 0))[0]
        return -len(play), {"double-straight": 0, "straight": 1}.get(kind, 2), sum(play), play

    on = position.on
    if not position.legal:
        return ()
    if on is None:
        card = min(position.hand) if position.required is None else position.required
        return min((play for play in position.legal if card in play), key=lead_key)
    matching = [play for play in position.legal if matches(rules, play, on)]
    if matching:
        return min(matching, key=lambda play: (max(play), sum(play), play))
    return min(position.legal, key=lambda play: (LINES.index(line_of(rules, play) or ""), max(play), sum(play), play))
