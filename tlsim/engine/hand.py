"""One hand from deal to payoffs (RULES.md, sections 4 to 6 and 10).

A `TABLE` is all that one thread needs to play hands: the hidden cards, the view, the streams and the policies. Every
hand leaves its result in a `ROW`, and its turns in the view.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from tlsim.engine import two_decks
from tlsim.engine.bits import lowest_bit, opaque, popcount, unlikely
from tlsim.engine.compile import inline, scalar_kernel, spliced
from tlsim.engine.features import instant_kind, instant_win
from tlsim.engine.one_deck import SINGLE_TWO, as_single, classify_rarely, code_of_single, is_single, matches
from tlsim.engine.payoffs import pay, pay_instant_win, place_the_rest
from tlsim.engine.policies import BUILTIN_MODULES, LOWEST, RANDOM
from tlsim.engine.rng import open_lane
from tlsim.engine.shapes import holds_chop
from tlsim.engine.trading import trade_all
from tlsim.engine.turn import (
    BAD_TRADE,
    NO_FAULT,
    after,
    code_of_play,
    decide,
    decide_single,
    fault_of,
    fault_of_answer,
    fault_of_lead,
    follows,
    follows_single,
    holds_play,
    leads,
    next_seat,
    note_beaten,
    note_turn,
    settle_pile,
    show_play,
    show_turn,
    stop_at_fault,
)
from tlsim.rules.cards import TWOS
from tlsim.rules.ruleset import N_TARGETS

TWICE = 1 + (1 << 8)  # times a mask of seats: the mask twice in a row, so that a shift turns it


# ------------------------------------------------------------------------------------------------ playing it out

# Turns, passes and piles of a hand are counted in one word: this is what a play, a pass and a lead add.
PLAY, PASS, PILE = 1, 1 | 1 << 16, 1 << 32


@inline
def turns_of(counts: int) -> int:
    """Return the number of turns: plays and passes."""
    return counts & 0xFFFF


@inline
def passes_of(counts: int) -> int:
    """Return the number of passes."""
    return counts >> 16 & 0xFFFF


@spliced
def is_over(rules: Any, holding: int) -> bool:
    """Return whether the hand has ended: one player holds cards, or, with `ends = first-out`, one is out."""
    if rules.ends == 0:
        return holding & (holding - 1) == 0
    return popcount(holding) < rules.players


@spliced
def take_cards(table: Any, seat: int, hand: int, held: int, cards: int, second: int, shown: bool, two: bool) -> int:
    """Take a play from a hand; return the cards that remain, of those there twice one copy."""
    rest = two_decks.rest_of(hand, held, cards, second) if two else hand ^ cards
    if shown:
        show_play(table, seat, cards, second, rest, held & ~cards, two)
    table.hands[np.uint64(seat)] = rest
    if two:
        table.hands_second[np.uint64(seat)] = held & ~cards
        table.sight.on_cards, table.sight.on_second = cards, second
    return rest


@spliced
def go_out(rules: Any, view: Any, row: Any, seat: int, holding: int) -> int:
    """Note that a seat has played its last card; return the seats that still hold cards."""
    row.places[np.uint64(seat)] = rules.players + 1 - popcount(holding)
    holding ^= 1 << seat
    view.holding = holding
    return holding


@spliced
def answer_singles(rules: Any, table: Any, row: Any, pile: Any, shown: bool, only: int) -> Any:
    """Let seats answer while a single is to beat, where nothing binds them: most answers. Return how the pile stands.

    `pile`: the seats to be asked, as `after` sees them; a mask of those that have not passed, twice in a row; the
    counts; the play to beat and its owner; who holds cards. No seats but -1: a fault. With `shown` false it stops at
    a seat that may hold a chop of the single.
    """
    view = table.sight
    waiting, live, counts, on, owner, holding = pile
    while waiting != 0 and is_single(on):  # most answers
        seat = (owner + 1 + lowest_bit(waiting)) & 7
        hand = table.hands[np.uint64(seat)]
        if not shown and on >= SINGLE_TWO and unlikely(holds_chop(hand)):
            break  # what follows knows of chops
        show_turn(view, seat, hand, 0, on, 0, holding & ~live, turns_of(counts), False, shown, False)
        if shown:
            on = as_single(on)
            cards = decide(rules, table, seat, hand, on, False, False, shown, False, only)
        else:
            cards = decide_single(rules, table, seat, hand, on, only)
        if cards == 0:
            if shown:
                note_turn(view, turns_of(counts), seat, 0, 0, False)
            counts += PASS
            live &= ~(TWICE << seat)
            waiting &= waiting - 1
            continue
        code = code_of_single(cards)
        if unlikely(not follows_single(hand, cards, on)):
            code = classify_rarely(rules, cards)
            fault = fault_of_answer(rules, hand, on, cards, code)
            if unlikely(fault != NO_FAULT):
                holding = stop_at_fault(table, fault, cards, 0, seat, hand, holding, turns_of(counts))
                return -1, live, counts, on, owner, holding
            note_beaten(rules, table, row, seat, code, on, 0, 0, -1)
        if shown:
            note_turn(view, turns_of(counts), seat, cards, 0, False)
        counts += PLAY
        on, owner = code, seat
        rest = take_cards(table, seat, hand, 0, cards, 0, shown, False)
        if unlikely(rest == 0):
            holding = go_out(rules, view, row, seat, holding)
            live &= ~(TWICE << seat)
            if is_over(rules, holding):
                waiting = 0
                break
        waiting = (live >> (seat + 1)) & 0x7F
    return waiting, live, counts, on, owner, holding


@spliced
def play_out(rules: Any, table: Any, row: Any, bound: bool, shown: bool, two: bool, only: int) -> int:
    """Play a dealt hand from the first lead (sections 4.3 to 4.7); return the seats that hold cards at its end.

    The state is local: a policy that writes to its view changes nothing. Stops at a fault. `bound`: there are
    obligations after the first lead, or paid chops; `shown`: somebody reads the whole view; `two`: two decks.
    """
    view = table.sight
    required = view.required
    leader, holding = np.int64(row.leader), (1 << rules.players) - 1
    counts = 0  # plays, passes and piles in one word: registers are scarce in this loop
    while True:
        counts += PILE
        # The lead …
        seat = leader
        if shown or two:
            view.on_cards = 0
        hand, held = table.hands[np.uint64(seat)], table.hands_second[np.uint64(seat)] if two else 0
        show_turn(view, seat, hand, held, 0, 0, 0, turns_of(counts), bound, shown, two)
        cards = decide(rules, table, seat, hand, 0, True, bound, shown, two, only)
        second = view.second if two else 0
        code = code_of_play(rules, cards, second, two)
        fault = NO_FAULT
        if two or bound:
            fault = fault_of(rules, table, seat, hand, held, (0, 0, 0, required, 0), cards, second, code, bound, two)
        elif unlikely(required != 0) or unlikely(not leads(hand, cards, code)):
            fault = fault_of_lead(rules, hand, required, cards, code)
        if unlikely(fault != NO_FAULT):
            return stop_at_fault(table, fault, cards, second, seat, hand, holding, turns_of(counts))
        if shown:
            note_turn(view, turns_of(counts), seat, cards, second, two)
        counts += PLAY
        on, on_cards, on_second, owner, required = code, cards, second, seat, 0
        view.required = 0
        rest = take_cards(table, seat, hand, held, cards, second, shown, two)
        if unlikely(rest == 0):
            holding = go_out(rules, view, row, seat, holding)
        passed, live = 0, holding * TWICE  # masks: seats that passed on this pile; those that did not, twice in a row
        waiting = after(holding, seat)  # those still to be asked for this play, as `after` sees them
        if unlikely(rest == 0) and is_over(rules, holding):
            waiting = 0
        # … and the answers.
        while waiting != 0:
            if not (bound or two):
                pile = answer_singles(rules, table, row, (waiting, live, counts, on, owner, holding), shown, only)
                waiting, live, counts, on, owner, holding = pile
                if unlikely(waiting < 0):
                    return holding
                if waiting == 0:
                    break
            seat = (owner + 1 + lowest_bit(waiting)) & 7
            waiting &= waiting - 1
            again = (passed >> seat) & 1 if bound else 0
            if bound and again and not holds_play(rules, table, seat, on, on_cards, on_second, 1):
                continue
            hand, held = table.hands[np.uint64(seat)], table.hands_second[np.uint64(seat)] if two else 0
            those = passed if bound else holding & ~live
            show_turn(view, seat, hand, held, on, again, those, turns_of(counts), bound, shown, two)
            on = opaque(on)
            cards = decide(rules, table, seat, hand, on, False, bound, shown, two, only)
            second = view.second if two else 0
            if two or bound:
                code = code_of_play(rules, cards, second, two)
                last = (on, on_cards, on_second, 0, again)
                fault = fault_of(rules, table, seat, hand, held, last, cards, second, code, bound, two)
                if unlikely(fault != NO_FAULT):
                    return stop_at_fault(table, fault, cards, second, seat, hand, holding, turns_of(counts))
            if shown:
                note_turn(view, turns_of(counts), seat, cards, second, two)
            if cards == 0:
                counts += PASS
                passed |= 1 << seat
                live &= ~(TWICE << seat)
                continue
            if not (two or bound):
                code = code_of_play(rules, cards, second, two)
            if two or bound or unlikely(not follows(hand, cards, code, on)):
                if not (two or bound):
                    fault = fault_of_answer(rules, hand, on, cards, code)
                    if unlikely(fault != NO_FAULT):
                        return stop_at_fault(table, fault, cards, second, seat, hand, holding, turns_of(counts))
                if (bound and rules.chop_penalties) or not matches(code, on):
                    payer = owner if (holding >> owner) & 1 else -1
                    note_beaten(rules, table, row, seat, code, on, on_cards, on_second, payer)
            counts += PLAY
            on, owner = code, seat
            if two or bound:
                on_cards, on_second = cards, second
            rest = take_cards(table, seat, hand, held, cards, second, shown, two)
            if unlikely(rest == 0):
                holding = go_out(rules, view, row, seat, holding)
                live &= ~(TWICE << seat)
                if is_over(rules, holding):
                    break
            if bound:
                passed = passed & ~(1 << seat) if rules.pass_locks else 0
            if two or bound:
                waiting = after(holding if bound and rules.unlocked_classes else holding & ~passed, seat)
            else:
                waiting = (live >> (seat + 1)) & 0x7F
        if bound and table.pile_value != 0:
            settle_pile(table)
        if is_over(rules, holding):
            view.n_turns = turns_of(counts)
            row.plays, row.passes, row.piles = turns_of(counts) - passes_of(counts), passes_of(counts), counts >> 32
            return holding
        leader = owner if (holding >> owner) & 1 else next_seat(holding, owner)


# ------------------------------------------------------------------------------------------------ one hand


@spliced
def open_hand(rules: Any, table: Any, row: Any, opening: int, leader: int, bound: bool, shown: bool, two: bool) -> None:
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
        if shown or two:
            view.left[at] = popcount(table.hands[at])
            view.played[at] = 0
        if bound or two:
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


@spliced
def find_instant_win(rules: Any, table: Any, row: Any, two: bool) -> int:
    """Return the seat that wins at once, -1 for none: the best kind, then the first from the leader (section 6)."""
    winner, best = -1, 1 << 8
    for step in range(rules.players):
        seat = (row.leader + step) % rules.players
        hand, opening = table.hands[seat], table.sight.opening
        if two:
            priority = two_decks.instant_win(rules, hand, table.hands_second[seat], opening)
        else:
            priority = instant_win(rules, hand, opening)
        if 0 <= priority < best:
            winner, best = seat, priority
    if winner >= 0:
        row.instant = instant_kind(rules, best)
    return winner


@spliced
def play_dealt(
    rules: Any, table: Any, row: Any, opening: int, leader: int, bound: bool, shown: bool, two: bool, only: int
) -> int:
    """Play dealt hands to the end into `row` and the view; return the fault that stopped it, NO_FAULT for none."""
    open_hand(rules, table, row, opening, leader, bound, shown, two)
    if rules.instant_wins[0] >= 0 or rules.opening_instant_wins[0] >= 0:
        winner = find_instant_win(rules, table, row, two)
        if winner >= 0:
            pay_instant_win(rules, row, winner)
            return NO_FAULT
    if only == RANDOM:  # all at once is faster than one by one at their first draws
        for seat in range(rules.players):
            open_lane(table.lanes, table.streams[np.uint64(seat)], np.uint64(seat))
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


@scalar_kernel
def play_shown_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_dealt` for the same rules, any policies, and the whole view."""
    return play_dealt(rules, table, row, opening, leader, False, True, False, 0)


@scalar_kernel
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


def lazy_functions_of(rules: Any, numbers: Collection[int], kernel: Any) -> list[str]:
    """Return the lazy functions that a kernel calls for these rules and policies."""
    two, modules = rules["decks"] == 2, [BUILTIN_MODULES[number] for number in numbers if number in BUILTIN_MODULES]
    found = []
    if two or rules["unlocked_classes"] or not rules["finish_on_two"]:
        found += [f"{module}.choose_{'with_two' if two else 'plain'}" for module in modules]
    if not two and rules["first_lead"] and RANDOM in numbers:
        found.append(f"{BUILTIN_MODULES[RANDOM]}.random_first_lead")
    if kernel is play_shown_hand and RANDOM in numbers:
        found.append("engine.turn.choose_at_random")
    if two and (rules["leftover_penalties"] or rules["chop_penalties"]):
        found.append("engine.two_decks.leftover")
    if rules["must_play"] or rules["unlocked_classes"]:
        found.append("engine.two_decks.legal_plays_of_either")
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
