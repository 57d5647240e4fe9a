"""Trading after the deal (docs/rules.md, section 8): who swaps with whom, before instant wins and the first lead.

The pairs of seats are visited in random order. What two of them swap is up to the trading policy (`engine.trading`).
"""

from tlsim.engine.bits import kth_bit, lowest_bit, popcount
from tlsim.engine.compile import function, inline, scalar_kernel
from tlsim.engine.faults import BAD_TRADE, NO_FAULT
from tlsim.engine.rng import PURPOSE_TRADE, Word, below, draw, set_key
from tlsim.engine.table import Table
from tlsim.engine.trading import best_swap, call_trade, joined
from tlsim.engine.two_decks import rest_of, size_of
from tlsim.rules.cards import Mask, Seat
from tlsim.rules.ruleset import RulesRecord


@inline
def is_held(hand: Mask, second: Mask, cards: Mask, cards_second: Mask) -> bool:
    """Return whether a hand holds cards."""
    return cards & ~hand == 0 and cards_second & ~(second & cards) == 0


@function
def swap(table: Table, first: Seat, second: Seat) -> bool:
    """Carry out the swap of an offer between two seats; return whether it may be."""
    offer = table.offer
    give, give_second, get, get_second = offer.give_a, offer.give_a_second, offer.give_b, offer.give_b_second
    hand, hand_second = table.hands[first], table.hands_second[first]
    other, other_second = table.hands[second], table.hands_second[second]
    if size_of(give, give_second) != size_of(get, get_second):
        return False
    if not (is_held(hand, hand_second, give, give_second) and is_held(other, other_second, get, get_second)):
        return False
    rest, rest_second = rest_of(hand, hand_second, give, give_second), hand_second & ~give
    table.hands[first], table.hands_second[first] = joined(rest, rest_second, get, get_second)
    rest, rest_second = rest_of(other, other_second, get, get_second), other_second & ~get
    table.hands[second], table.hands_second[second] = joined(rest, rest_second, give, give_second)
    return True


@function
def trade_all(rules: RulesRecord, table: Table, seed: Word, deal: int) -> bool:
    """Let the pairs of seats trade, in random order; return whether all trades are ones that may be.

    `table.before` keeps the hands as they were dealt, `table.dealt` gets those after it.
    """
    players, stream, offer = rules.players, table.trade_stream, table.offer
    set_key(stream, seed, deal, PURPOSE_TRADE, 0)
    for seat in range(players):
        table.before[seat], table.before_second[seat] = table.hands[seat], table.hands_second[seat]
    left = (1 << (players * (players - 1) // 2)) - 1
    n = popcount(left)
    while n > 0:
        pair = kth_bit(left, below(draw(stream), n))
        left ^= pair
        n -= 1
        first, second = 0, lowest_bit(pair)  # pair k of (0, 1), (0, 2), (1, 2), (0, 3), …
        while second > first:
            second -= first + 1
            first += 1
        first, second = second, first + 1
        offer.a, offer.a_second = table.hands[first], table.hands_second[first]
        offer.b, offer.b_second = table.hands[second], table.hands_second[second]
        if table.trade == 0:
            agreed = best_swap(rules, offer, stream)
        else:
            agreed = call_trade(table.trade, (rules, offer, stream, table.trade_params))
        if agreed != 0 and not swap(table, first, second):
            return False
    for seat in range(players):
        table.dealt[seat], table.dealt_second[seat] = table.hands[seat], table.hands_second[seat]
    return True


@scalar_kernel
def trade_hands(rules: RulesRecord, table: Table, seed: Word, deal: int) -> int:
    """Let the seats trade after the deal; return the fault of the trading policy, NO_FAULT for none.

    Apart from the kernels that deal and play, since few rules have it.
    """
    table.fault = NO_FAULT if trade_all(rules, table, seed, deal) else BAD_TRADE
    return table.fault
