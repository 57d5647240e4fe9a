"""One hand from deal to payoffs (RULES.md, sections 4 to 6 and 10).

A `TABLE` is all that one thread needs to play hands: the hidden cards, the view, the streams and the policies. Every
hand leaves its result in a `ROW`, and its turns in the view.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from tlsim import double_deck
from tlsim._calls import call_by_address
from tlsim._jit import from_dtype, lowest_bit, part, policy_kernel, popcount, scalar_kernel, types
from tlsim.cards import TWOS
from tlsim.combos import matches
from tlsim.features import instant_kind, instant_win
from tlsim.payoffs import pay, pay_instant_win, place_the_rest
from tlsim.policies import BUILTIN_MODULES, LOWEST, RANDOM
from tlsim.rng import STREAM, open_stream
from tlsim.rules import N_TARGETS, RULES
from tlsim.tally import MAX_METRICS
from tlsim.trading import OFFER, trade_all
from tlsim.turn import (
    BAD_TRADE,
    NO_FAULT,
    after,
    code_of_play,
    decide,
    decide_free,
    fault_of,
    holds_play,
    next_seat,
    note_beaten,
    note_turn,
    settle_pile,
    show_play,
    show_turn,
    stop_at_fault,
)
from tlsim.view import MAX_DECISIONS, MAX_SEATS, PARAMS, VIEW

# The result of one hand.
ROW = np.dtype(
    (
        np.record,
        [
            ("deal", "i8"),
            ("seating", "i2"),
            ("dealer", "i1"),
            ("leader", "i1"),  # who leads first, or would have after an instant win
            ("instant", "i1"),  # index into INSTANT_WINS, -1: played out
            ("piles", "i2"),  # piles led
            ("plays", "i2"),
            ("passes", "i2"),
            ("twos_left", "i1"),  # 2s still held when the hand ends
            ("places", "i1", (MAX_SEATS,)),
            ("payoffs", "i2", (MAX_SEATS,)),  # half units
            ("any_chop", "i1"),
            ("chops", "i1", (N_TARGETS,)),  # per chop class: how often it was played on what it does not match
        ],
    )
)

TABLE = np.dtype(
    (
        np.record,
        [
            ("hands", "i8", (MAX_SEATS,)),  # the cards each seat holds now …
            ("hands_second", "i8", (MAX_SEATS,)),  # … and of which a second copy (two decks)
            ("dealt", "i8", (MAX_SEATS,)),
            ("dealt_second", "i8", (MAX_SEATS,)),
            ("sight", VIEW),
            ("streams", STREAM, (MAX_SEATS,)),  # of the policy in each seat
            ("deal_stream", STREAM),
            ("policy", "i8", (MAX_SEATS,)),  # the number of the policy in each seat …
            ("address", "i8", (MAX_SEATS,)),  # … and its address, 0 for those without
            ("params", PARAMS, (MAX_SEATS,)),  # … and its parameters
            ("before", "i8", (MAX_SEATS,)),  # the hands before trading
            ("before_second", "i8", (MAX_SEATS,)),
            ("trade_hands", "i8"),  # address of the kernel `trade_hands`; 0: no trading
            ("trade", "i8"),  # address of the trading policy; 0: the built-in one
            ("trade_params", PARAMS),
            ("trade_stream", STREAM),
            ("offer", OFFER),
            ("script", "i8", (MAX_DECISIONS,)),  # the turns of the policy SCRIPT, whoever's they are
            ("script_second", "i8", (MAX_DECISIONS,)),
            ("n_script", "i8"),
            ("fault", "i8"),  # what is wrong with the last play; NO_FAULT
            ("fault_cards", "i8"),
            ("fault_second", "i8"),
            ("pile_value", "i8"),  # chop penalties of this pile, half units
            ("payer", "i8"),  # who pays them, -1: nobody, it went out on the play that was chopped …
            ("payee", "i8"),  # … and to whom
            ("owed", "i8", (MAX_SEATS,)),  # chop penalties settled so far
            ("sums", "i8", (MAX_METRICS,)),  # of the metrics of one deal (`tlsim.tally`) …
            ("any_rare", "i8"),  # … 1: the rare ones among them are not all 0
        ],
    )
)

PLAY_HAND = types.int64(from_dtype(RULES), from_dtype(TABLE), from_dtype(ROW), types.int64, types.int64)
call_play_hand = call_by_address(PLAY_HAND)
TRADE_HANDS = types.int64(from_dtype(RULES), from_dtype(TABLE), types.uint64, types.int64)
call_trade_hands = call_by_address(TRADE_HANDS)


# ------------------------------------------------------------------------------------------------ playing it out


@part
def is_over(rules: Any, holding: int) -> bool:
    """Return whether the hand has ended: one player holds cards, or, with `ends = first-out`, one is out."""
    if rules.ends == 0:
        return holding & (holding - 1) == 0
    return popcount(holding) < rules.players


@part
def take_cards(table: Any, seat: int, hand: int, held: int, cards: int, second: int, shown: bool, two: bool) -> int:
    """Take a play from a hand; return the cards that remain, of those there twice one copy."""
    rest = double_deck.rest_of(hand, held, cards, second) if two else hand ^ cards
    if shown:
        show_play(table, seat, cards, second, rest, held & ~cards, two)
    table.hands[np.uint64(seat)] = rest
    if two:
        table.hands_second[np.uint64(seat)] = held & ~cards
        table.sight.on_cards, table.sight.on_second = cards, second
    return rest


@part
def play_out(rules: Any, table: Any, row: Any, bound: bool, shown: bool, two: bool, only: int) -> int:
    """Play a dealt hand from the first lead (sections 4.3 to 4.7); return the seats that hold cards at its end.

    The state is local: a policy that writes to its view changes nothing. Stops at a fault. `bound`: there are
    obligations after the first lead, or paid chops; `shown`: somebody reads the whole view; `two`: two decks.
    """
    view = table.sight
    required = view.required
    leader, holding = np.int64(row.leader), (1 << rules.players) - 1
    turns, passes, piles = 0, 0, 0
    while True:
        piles += 1
        on, on_cards, on_second, owner, seat, view.on_cards = 0, 0, 0, leader, leader, 0
        passed, waiting = 0, 0  # masks: seats that passed; those still to be asked for this play, as `after` sees them
        while True:
            hand = table.hands[np.uint64(seat)]
            again = (passed >> seat) & 1 if bound else 0
            held = table.hands_second[np.uint64(seat)] if two else 0
            show_turn(view, seat, hand, held, on, again, passed, turns, bound, shown, two)
            cards = decide(rules, table, seat, hand, on, bound) if shown else decide_free(rules, table, seat, two, only)
            second = view.second if two else 0
            code = code_of_play(rules, cards, second, two)
            last = (on, on_cards, on_second, required, again)
            fault = fault_of(rules, table, seat, hand, held, last, cards, second, code, bound, two)
            if fault != NO_FAULT:
                return stop_at_fault(table, fault, cards, second, seat, holding, turns)
            if shown:
                note_turn(view, turns, seat, cards, second, two)
            turns += 1
            if cards == 0:
                passes, passed = passes + 1, passed | 1 << seat
            else:
                if on != 0 and ((bound and rules.chop_penalties) or not matches(code, on)):
                    payer = owner if (holding >> owner) & 1 else -1
                    note_beaten(rules, table, row, seat, code, on, on_cards, on_second, payer)
                on, on_cards, on_second, owner, required = code, cards, second, seat, 0
                view.required = 0
                rest = take_cards(table, seat, hand, held, cards, second, shown, two)
                if rest == 0:
                    row.places[seat] = rules.players + 1 - popcount(holding)
                    view.holding = holding = holding ^ 1 << seat
                    if is_over(rules, holding):
                        break
                if bound:
                    passed = passed & ~(1 << seat) if rules.pass_locks else 0
                waiting = after(holding if bound and rules.unlocked_classes else holding & ~passed, seat)
            while waiting != 0:
                step = lowest_bit(waiting) + 1
                waiting >>= step
                seat = (seat + step) & 7
                asked = not bound or (passed >> seat) & 1 == 0
                if asked or holds_play(rules, table, seat, on, on_cards, on_second, 1):
                    break
            else:
                break  # back at the owner: the pile is won
        if bound and table.pile_value != 0:
            settle_pile(table)
        if is_over(rules, holding):
            view.n_turns = turns
            row.plays, row.passes, row.piles = turns - passes, passes, piles
            return holding
        leader = owner if (holding >> owner) & 1 else next_seat(holding, owner)


# ------------------------------------------------------------------------------------------------ one hand


@part
def open_hand(rules: Any, table: Any, row: Any, opening: int, leader: int, two: bool) -> None:
    """Set the view, the row and the first lead for dealt hands.

    `leader` -1: section 4.3 says who leads, and what that must hold; else that seat leads freely.
    """
    view = table.sight
    lowest_dealt = 0
    for seat in range(rules.players):
        lowest_dealt |= table.hands[seat]
    lowest_dealt &= -lowest_dealt
    holders, seats = 0, (1 << rules.players) - 1
    while seats != 0:
        at = np.uint64(lowest_bit(seats))
        seats &= seats - 1
        view.left[at] = popcount(table.hands[at])
        view.played[at] = 0
        table.owed[at] = 0
        holders |= 1 << np.int64(at) if table.hands[at] & lowest_dealt != 0 else 0
        if two:
            view.left[at] += popcount(table.hands_second[at])
            view.played_second[at] = 0
    view.opening = opening
    view.required = lowest_dealt if leader < 0 and rules.first_lead != 2 else 0
    if leader < 0:  # with two decks there may be two holders, and the dealer comes last
        leader = next_seat(holders, view.dealer) if two and holders & (holders - 1) else lowest_bit(holders)
    view.holding = (1 << rules.players) - 1
    view.n_turns = 0
    view.asked_again = 0
    table.fault = NO_FAULT
    table.pile_value = 0
    row.dealer = view.dealer
    row.leader = leader
    row.instant = -1
    row.piles = 0
    row.plays = 0
    row.passes = 0
    row.twos_left = 0
    if row.any_chop != 0:
        row.any_chop = 0
        for chop in range(N_TARGETS):
            row.chops[chop] = 0


@part
def find_instant_win(rules: Any, table: Any, row: Any, two: bool) -> int:
    """Return the seat that wins at once, -1 for none: the best kind, then the first from the leader (section 6)."""
    winner, best = -1, 1 << 8
    for step in range(rules.players):
        seat = (row.leader + step) % rules.players
        hand, opening = table.hands[seat], table.sight.opening
        if two:
            priority = double_deck.instant_win(rules, hand, table.hands_second[seat], opening)
        else:
            priority = instant_win(rules, hand, opening)
        if 0 <= priority < best:
            winner, best = seat, priority
    if winner >= 0:
        row.instant = instant_kind(rules, best)
    return winner


@part
def play_dealt(
    rules: Any, table: Any, row: Any, opening: int, leader: int, bound: bool, shown: bool, two: bool, only: int
) -> int:
    """Play dealt hands to the end into `row` and the view; return the fault that stopped it, NO_FAULT for none."""
    open_hand(rules, table, row, opening, leader, two)
    if rules.instant_wins[0] >= 0 or rules.opening_instant_wins[0] >= 0:
        winner = find_instant_win(rules, table, row, two)
        if winner >= 0:
            pay_instant_win(rules, row, winner)
            return NO_FAULT
    if only == RANDOM:  # all at once is faster than one by one at their first draws
        for seat in range(rules.players):
            open_stream(table.streams[np.uint64(seat)])
    holding = play_out(rules, table, row, bound, shown, two, only)
    if table.fault != NO_FAULT:
        return table.fault
    place_the_rest(rules, table, row, holding)
    left = holding
    while left != 0:
        seat = np.uint64(lowest_bit(left))
        row.twos_left += popcount(table.hands[seat] & TWOS) + popcount(table.hands_second[seat] & TWOS)
        left &= left - 1
    pay(rules, table, row, holding)
    return NO_FAULT


@scalar_kernel
def play_plain_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_dealt` for rules without obligations after the first lead or paid chops, and built-in policies."""
    return play_dealt(rules, table, row, opening, leader, False, False, False, 0)


@scalar_kernel
def play_lowest_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_plain_hand` where all seats play `lowest`."""
    return play_dealt(rules, table, row, opening, leader, False, False, False, LOWEST)


@scalar_kernel
def play_random_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_plain_hand` where all seats play `random`."""
    return play_dealt(rules, table, row, opening, leader, False, False, False, RANDOM)


@policy_kernel
def play_shown_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_dealt` for the same rules, any policies, and the whole view."""
    return play_dealt(rules, table, row, opening, leader, False, True, False, 0)


@policy_kernel
def play_any_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_dealt` for all rules with one deck, any policies, and the whole view."""
    return play_dealt(rules, table, row, opening, leader, True, True, False, 0)


@scalar_kernel
def play_plain_two_deck_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_plain_hand` for two decks."""
    return play_dealt(rules, table, row, opening, leader, False, False, True, 0)


@scalar_kernel
def play_any_two_deck_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_any_hand` for two decks."""
    return play_dealt(rules, table, row, opening, leader, True, True, True, 0)


def play_hand_kernel(rules: Any, shown: bool, numbers: Collection[int] = ()) -> Any:
    """Return the kernel that plays a hand; other kernels call it by its address (`PLAY_HAND`), so it compiles once.

    `rules` is the packed record. `shown`: somebody reads the whole view, a policy called by address or a transcript.
    `numbers` are those of the policies at the table: one of the built-in ones alone has a kernel of its own.
    """
    bound = rules["must_play"] | rules["unlocked_classes"] | rules["chop_penalties"]
    bound |= (1 - rules["finish_on_two"]) | (1 - rules["pass_locks"])
    if rules["decks"] == 2:
        return play_any_two_deck_hand if bound or shown else play_plain_two_deck_hand
    if bound or shown:
        return play_any_hand if bound else play_shown_hand
    alone = {LOWEST: play_lowest_hand, RANDOM: play_random_hand}
    return alone.get(next(iter(numbers)), play_plain_hand) if len(numbers) == 1 else play_plain_hand


def apart_of(rules: Any, numbers: Collection[int], kernel: Any) -> list[str]:
    """Return the functions that are apart (`tlsim._calls`) and that a kernel calls for these rules and policies."""
    two, modules = rules["decks"] == 2, [BUILTIN_MODULES[number] for number in numbers if number in BUILTIN_MODULES]
    found = []
    if two or rules["unlocked_classes"] or not rules["finish_on_two"]:
        found += [f"{module}.choose_{'with_two' if two else 'plain'}" for module in modules]
    if not two and rules["first_lead"] and RANDOM in numbers:
        found.append(f"{BUILTIN_MODULES[RANDOM]}.random_first_lead")
    if kernel is play_shown_hand and RANDOM in numbers:
        found.append("turn.choose_at_random")
    if two and (rules["leftover_penalties"] or rules["chop_penalties"]):
        found.append("double_deck.leftover")
    if rules["must_play"] or rules["unlocked_classes"]:
        found.append("double_deck.legal_plays_of_either")
    return found


KERNELS = [
    *(play_plain_hand, play_lowest_hand, play_random_hand, play_shown_hand, play_any_hand),
    *(play_plain_two_deck_hand, play_any_two_deck_hand),
]


@scalar_kernel
def trade_hands(rules: Any, table: Any, seed: Any, deal: int) -> int:
    """Let the seats trade after the deal (section 8); return the fault of the trading policy, NO_FAULT for none.

    Apart from the kernels that deal and play, since few rules have it.
    """
    table.fault = NO_FAULT if trade_all(rules, table, seed, deal) else BAD_TRADE
    return table.fault
