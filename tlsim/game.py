"""One hand from deal to payoffs (RULES.md, sections 4 to 6 and 10).

A `TABLE` is all that one thread needs to play hands: the hidden cards, the view, the streams and the policies. Every
hand leaves its result in a `ROW`, and its turns in the view.
"""

from typing import Any

import numpy as np
from numba import from_dtype, types

from tlsim._calls import RAISED as POLICY_RAISED
from tlsim._calls import call_by_address
from tlsim._jit import helper, lowest_bit, part, popcount, primitive, scalar_kernel
from tlsim.cards import TWOS
from tlsim.combos import beats, chop_class, classify, keeps_obligations, kind_of, legal_plays, matches
from tlsim.features import instant_kind, instant_win, leftover
from tlsim.payoffs import pay, pay_instant_win, place_the_rest
from tlsim.policies import BY_ADDRESS, BY_C_ADDRESS, LOWEST, RANDOM, lowest, random
from tlsim.rng import STREAM
from tlsim.rules import N_TARGETS, RULES
from tlsim.shapes import QUAD_RUN
from tlsim.tally import MAX_METRICS
from tlsim.view import C_SIGNATURE, MAX_DECISIONS, MAX_SEATS, PARAMS, VIEW

# What is wrong with a play, as `play_hand` reports it.
NO_FAULT, RAISED, NOT_HELD, ILLEGAL, MUST_LEAD, MUST_PLAY, SCRIPT_ENDS = range(7)
FAULTS = {
    RAISED: "the policy raised an exception",
    NOT_HELD: "it does not hold these cards",
    ILLEGAL: "this is not a legal play",
    MUST_LEAD: "the leader of a pile may not pass",
    MUST_PLAY: "it may not pass while it can play (must_play)",
    SCRIPT_ENDS: "the plays given end before the hand does",
}
SCRIPT_IS_OVER = POLICY_RAISED + 1  # what a script answers then: no cards are that word

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
            ("hands", "i8", (MAX_SEATS,)),  # the cards each seat holds now
            ("dealt", "i8", (MAX_SEATS,)),
            ("sight", VIEW),
            ("streams", STREAM, (MAX_SEATS,)),  # of the policy in each seat
            ("deal_stream", STREAM),
            ("policy", "i8", (MAX_SEATS,)),  # the number of the policy in each seat …
            ("address", "i8", (MAX_SEATS,)),  # … and its address, 0 for those without
            ("params", PARAMS, (MAX_SEATS,)),  # … and its parameters
            ("script", "i8", (MAX_DECISIONS,)),  # the turns of the policy SCRIPT, whoever's they are
            ("n_script", "i8"),
            ("fault", "i8"),  # what is wrong with the last play; NO_FAULT
            ("fault_cards", "i8"),
            ("pile_value", "i8"),  # chop penalties of this pile, half units
            ("payer", "i8"),  # who pays them, -1: nobody, it went out on the play that was chopped …
            ("payee", "i8"),  # … and to whom
            ("owed", "i8", (MAX_SEATS,)),  # chop penalties settled so far
            ("sums", "i8", (MAX_METRICS,)),  # of the metrics of one deal (`tlsim.tally`) …
            ("any_rare", "i8"),  # … 1: the rare ones among them are not all 0
        ],
    )
)

call_policy = call_by_address(C_SIGNATURE)
PLAY_HAND = types.int64(from_dtype(RULES), from_dtype(TABLE), from_dtype(ROW), types.int64, types.int64)
call_play_hand = call_by_address(PLAY_HAND)


# ------------------------------------------------------------------------------------------------ who acts


@primitive
def after(seats: int, seat: int) -> int:
    """Return a mask of seats as seen from a seat: bit k is the seat k + 1 places on, its own not among them.

    Eight chairs stand around the table; empty ones are just never in a mask.
    """
    return ((seats | seats << 8) >> (seat + 1)) & 0x7F


@primitive
def next_seat(seats: int, seat: int) -> int:
    """Return the first of a mask of seats in turn order after `seat`."""
    return (seat + 1 + lowest_bit(after(seats, seat))) & 7


@helper
def decide_otherwise(rules: Any, table: Any, seat: int, hand: int, on: int) -> int:
    """Return the cards that a policy plays which is not a compiled function called by its address."""
    table.sight.hand, table.sight.on = hand, on
    stream = table.streams[seat]
    if table.policy[seat] == BY_C_ADDRESS:
        return call_policy(table.address[seat], (rules, table.sight, stream, table.params[seat], hand, on))
    if table.policy[seat] == LOWEST:
        return lowest.choose(rules, table.sight, stream)
    if table.policy[seat] == RANDOM:
        return random.choose(rules, table.sight, stream)
    turn = table.sight.n_turns
    return table.script[turn] if turn < table.n_script else SCRIPT_IS_OVER


@part
def decide_any(rules: Any, table: Any, seat: int, hand: int, on: int) -> int:
    """Return the cards that the policy in a seat plays, whichever it is, or a word that says why it plays none."""
    at = np.uint64(seat)
    if table.policy[at] != BY_ADDRESS:
        return decide_otherwise(rules, table, seat, hand, on)
    return call_policy(table.address[at], (rules, table.sight, table.streams[at], table.params[at], hand, on))


@part
def decide_plain(rules: Any, table: Any, seat: int) -> int:
    """Return the cards that one of the two built-in policies plays when nothing binds it, with their code in place."""
    if table.policy[np.uint64(seat)] == LOWEST:
        return lowest.choose_free(rules, table.sight)
    return random.choose_free(rules, table.sight, table.streams[np.uint64(seat)])


@helper
def can_come_back(rules: Any, view: Any, hand: int, on: int) -> bool:
    """Return whether a seat that has passed holds an unlocked chop that beats the play (section 4.5)."""
    view.hand, view.on, view.required, view.asked_again = hand, on, 0, 1
    return legal_plays(rules, view) > 0


# ------------------------------------------------------------------------------------------------ one turn


@helper
def could_play(rules: Any, view: Any, hand: int, on: int) -> bool:
    """Return whether a hand holds a legal play on `on`; the policy may have changed the view since."""
    view.hand, view.on, view.required, view.asked_again = hand, on, 0, 0
    return legal_plays(rules, view) > 0


@helper
def fault_when_bound(rules: Any, view: Any, hand: int, on: int, required: int, again: int, cards: int) -> int:
    """Return what is wrong with a play or pass under the obligations of the first lead and of sections 4.5 and 9."""
    if cards == 0:
        return MUST_PLAY if rules.must_play != 0 and again == 0 and could_play(rules, view, hand, on) else NO_FAULT
    return NO_FAULT if keeps_obligations(rules, hand, on, required, again, cards) else ILLEGAL


@part
def basic_fault(rules: Any, hand: int, on: int, cards: int, code: int) -> int:
    """Return what is wrong with what the seat to act plays, obligations apart."""
    if cards == 0:
        return NO_FAULT if on != 0 else MUST_LEAD
    if cards & ~hand != 0:
        return NOT_HELD
    if on != 0:
        return NO_FAULT if code != 0 and beats(rules, code, on) else ILLEGAL
    return NO_FAULT if code != 0 and kind_of(code) != QUAD_RUN else ILLEGAL


@part
def fault_of(
    rules: Any, table: Any, hand: int, on: int, required: int, again: int, cards: int, code: int, bound: bool
) -> int:
    """Return what is wrong with what the seat to act plays; NO_FAULT when it is legal. The engine mends nothing."""
    fault = basic_fault(rules, hand, on, cards, code)
    if fault == NO_FAULT and (bound or (on == 0 and required != 0)):
        return fault_when_bound(rules, table.sight, hand, on, required, again, cards)
    return fault


@helper
def note_beaten(rules: Any, table: Any, row: Any, seat: int, code: int, on: int, on_cards: int, payer: int) -> None:
    """Count a chop, and enter it into the chop penalties of the pile when it is a paid one (sections 3 and 10).

    Paid are combinations of the chop table on 2s or on combinations of the chop table, of their own kind or not.
    `payer` is the owner of the play that is beaten, -1 when it went out on it.
    """
    chop, beaten = chop_class(code), chop_class(on)
    if not matches(code, on):
        row.chops[chop] += 1
        row.any_chop = 1
    if rules.chop_penalties == 0 or rules.chop_classes >> chop & 1 == 0:
        return
    if beaten < 3 or rules.chop_classes >> beaten & 1:
        table.pile_value += leftover(rules, on_cards)
        table.payer = payer
        table.payee = seat


@helper
def settle_pile(table: Any) -> None:
    """Let the owner of the last play that was chopped pay the last chopper, unless it went out on that play."""
    if table.payer >= 0:
        table.owed[table.payer] -= table.pile_value
        table.owed[table.payee] += table.pile_value
    table.pile_value = 0


@helper
def stop_at_fault(table: Any, fault: int, cards: int, seat: int, holding: int, turns: int) -> int:
    """Return the seats that hold cards, with the fault and its place noted in the table."""
    table.fault = RAISED if cards == POLICY_RAISED else SCRIPT_ENDS if cards == SCRIPT_IS_OVER else fault
    table.fault_cards = cards
    table.sight.seat, table.sight.n_turns = seat, turns
    return holding


@part
def show_turn(
    view: Any, seat: int, hand: int, on: int, again: int, passed: int, turns: int, bound: bool, shown: bool
) -> None:
    """Write what the seat to act has to know; with `shown` the hand and the play to beat go with the call."""
    if bound:
        view.asked_again = again
    if shown:
        view.seat, view.passed, view.n_turns = seat, passed, turns
    else:
        view.hand, view.on = hand, on


@part
def show_play(table: Any, seat: int, cards: int, rest: int) -> None:
    """Write a play, and what remains of the hand, to what everybody has seen."""
    at, view = np.uint64(seat), table.sight
    view.owner, view.on_cards = seat, cards
    view.left[at] = popcount(rest)
    view.played[at] = table.dealt[at] ^ rest


@part
def is_over(rules: Any, holding: int) -> bool:
    """Return whether the hand has ended: one player holds cards, or, with `ends = first-out`, one is out."""
    if rules.ends == 0:
        return holding & (holding - 1) == 0
    return popcount(holding) < rules.players


@part
def play_out(rules: Any, table: Any, row: Any, bound: bool, shown: bool) -> int:
    """Play a dealt hand from the first lead (sections 4.3 to 4.7); return the seats that hold cards at its end.

    The state is local: a policy writes to its view what it likes, and changes nothing. Stops at a fault. Compiled for
    each `bound` (obligations after the first lead, or paid chops) and `shown` (somebody reads the whole view).
    """
    view = table.sight
    required = view.required
    leader, holding = np.int64(row.leader), (1 << rules.players) - 1
    turns, passes, piles = 0, 0, 0
    while True:
        piles += 1
        on, on_cards, owner, seat = 0, 0, leader, leader
        view.on_cards = 0
        passed, waiting = 0, 0  # masks: seats that passed; those still to be asked for this play, as `after` sees them
        while True:
            hand = table.hands[np.uint64(seat)]
            again = (passed >> seat) & 1 if bound else 0
            show_turn(view, seat, hand, on, again, passed, turns, bound, shown)
            cards = decide_any(rules, table, seat, hand, on) if shown else decide_plain(rules, table, seat)
            code = classify(rules, cards)
            fault = fault_of(rules, table, hand, on, required, again, cards, code, bound)
            if fault != NO_FAULT:
                return stop_at_fault(table, fault, cards, seat, holding, turns)
            if shown:
                view.turn_seat[np.uint64(turns)], view.turn_cards[np.uint64(turns)] = seat, cards
            turns += 1
            if cards == 0:
                passes, passed = passes + 1, passed | 1 << seat
            else:
                if on != 0 and (bound or not matches(code, on)):
                    note_beaten(rules, table, row, seat, code, on, on_cards, owner if (holding >> owner) & 1 else -1)
                on, on_cards, owner, required = code, cards, seat, 0
                view.required = 0
                if shown:
                    show_play(table, seat, cards, hand ^ cards)
                table.hands[np.uint64(seat)] = hand ^ cards
                if hand == cards:
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
                if not bound or (passed >> seat) & 1 == 0 or can_come_back(rules, view, table.hands[seat], on):
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
def open_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> None:
    """Set the view, the row and the first lead for dealt hands.

    `leader` -1: section 4.3 governs the hand, and the holder of the lowest card leads; any other seat leads freely.
    """
    view = table.sight
    lowest_dealt = 0
    for seat in range(rules.players):
        lowest_dealt |= table.hands[seat]
    lowest_dealt &= -lowest_dealt
    holder, seats = 0, (1 << rules.players) - 1
    while seats != 0:
        at = np.uint64(lowest_bit(seats))
        seats &= seats - 1
        view.left[at] = popcount(table.hands[at])
        view.played[at] = 0
        table.owed[at] = 0
        holder = np.int64(at) if table.hands[at] & lowest_dealt != 0 else holder
    view.opening = opening
    view.required = lowest_dealt if leader < 0 and rules.first_lead != 2 else 0
    leader = holder if leader < 0 else leader
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
def find_instant_win(rules: Any, table: Any, row: Any) -> int:
    """Return the seat that wins at once, -1 for none: the best kind, then the first from the leader (section 6)."""
    winner, best = -1, 1 << 8
    for step in range(rules.players):
        seat = (row.leader + step) % rules.players
        priority = instant_win(rules, table.hands[seat], table.sight.opening)
        if 0 <= priority < best:
            winner, best = seat, priority
    if winner >= 0:
        row.instant = instant_kind(rules, best)
    return winner


@part
def play_dealt(rules: Any, table: Any, row: Any, opening: int, leader: int, bound: bool, shown: bool) -> int:
    """Play dealt hands to the end into `row` and the view; return the fault that stopped it, NO_FAULT for none."""
    open_hand(rules, table, row, opening, leader)
    if rules.instant_wins[0] >= 0 or rules.opening_instant_wins[0] >= 0:
        winner = find_instant_win(rules, table, row)
        if winner >= 0:
            pay_instant_win(rules, row, winner)
            return NO_FAULT
    holding = play_out(rules, table, row, bound, shown)
    if table.fault != NO_FAULT:
        return table.fault
    place_the_rest(rules, table, row, holding)
    left = holding
    while left != 0:
        row.twos_left += popcount(table.hands[np.uint64(lowest_bit(left))] & TWOS)
        left &= left - 1
    pay(rules, table, row, holding)
    return NO_FAULT


@scalar_kernel
def play_plain_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_dealt` for rules without obligations after the first lead or paid chops, and built-in policies."""
    return play_dealt(rules, table, row, opening, leader, False, False)


@scalar_kernel
def play_shown_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_dealt` for the same rules, any policies, and the whole view."""
    return play_dealt(rules, table, row, opening, leader, False, True)


@scalar_kernel
def play_any_hand(rules: Any, table: Any, row: Any, opening: int, leader: int) -> int:
    """Return `play_dealt` for all rules, any policies, and the whole view."""
    return play_dealt(rules, table, row, opening, leader, True, True)


def play_hand_kernel(rules: Any, shown: bool) -> Any:
    """Return the kernel that plays a hand; other kernels call it by its address (`PLAY_HAND`), so it compiles once.

    `rules` is the packed record. `shown`: somebody reads the whole view, a policy called by address or a transcript.
    """
    bound = rules["must_play"] | rules["unlocked_classes"] | rules["chop_penalties"]
    bound |= (1 - rules["finish_on_two"]) | (1 - rules["pass_locks"])
    return play_any_hand if bound else play_shown_hand if shown else play_plain_hand
