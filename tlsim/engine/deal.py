"""The deal: hands of any size, exactly uniform, and the streams of a deal (docs/rules.md, section 4.1)."""

import numpy as np

from tlsim.engine.bits import kth_bit, popcount
from tlsim.engine.compile import function, inline, spliced
from tlsim.engine.policies import LOWEST
from tlsim.engine.rng import PURPOSE_DEAL, PURPOSE_POLICY, Stream, Word, below, draw_open, open_stream, set_key
from tlsim.engine.table import Table
from tlsim.rules.cards import DECK, FULL, Mask
from tlsim.rules.ruleset import RulesRecord


@inline
def deal_four_by_13(table: Table) -> None:
    """Deal four hands of 13, exactly uniformly, a third of the cost of a shuffle.

    26 of 52 cards: the set bits of a random word, then random set bits flipped until 26 are left; by symmetry every
    set is as likely. (More than 26 zeros: take the complement.) Each half is split the same way.
    """
    stream = table.deal_stream
    half = _halve(stream, FULL, 26)
    first = _halve(stream, half, 13)
    second = _halve(stream, half ^ FULL, 13)
    table.hands[0] = first
    table.hands[1] = half ^ first
    table.hands[2] = second
    table.hands[3] = half ^ FULL ^ second


@inline
def _halve(stream: Stream, cards: Mask, n: int) -> Mask:
    """Return a uniform choice of n of 2n cards."""
    chosen = cards & np.int64(draw_open(stream) >> np.uint64(12))
    size = popcount(chosen)
    if size < n:
        chosen ^= cards
        size = 2 * n - size
    while size > n:
        chosen ^= kth_bit(chosen, below(draw_open(stream), size))
        size -= 1
    return chosen


@function
def deal_any(table: Table, players: int, cards: int) -> None:
    """Deal `cards` to each player, one by one from what remains: any sizes."""
    remaining, size = FULL, DECK
    for seat in range(players):
        hand = 0
        for _ in range(cards):
            card = kth_bit(remaining, below(draw_open(table.deal_stream), size))
            size -= 1
            remaining ^= card
            hand |= card
        table.hands[seat] = hand


@function
def deal_two_decks(table: Table, players: int, cards: int) -> None:
    """Deal `cards` to each player, one by one from what remains of two decks, a and b."""
    a, b, size = FULL, FULL, 2 * DECK
    for seat in range(players):
        hand, second = 0, 0
        for _ in range(cards):
            k, n = below(draw_open(table.deal_stream), size), popcount(a)
            size -= 1
            of_a = -int(k < n)  # nobody can predict which: no branch
            card_a, card_b = kth_bit(a, k) & of_a, kth_bit(b, k - n) & ~of_a
            a ^= card_a
            b ^= card_b
            second |= hand & (card_a | card_b)
            hand |= card_a | card_b
        table.hands[seat], table.hands_second[seat] = hand, second


@spliced
def deal_hands(rules: RulesRecord, table: Table, seed: Word, deal: int) -> None:
    """Deal the hands of one deal and draw its dealer; key the streams of the policies."""
    set_key(table.deal_stream, seed, deal, PURPOSE_DEAL, 0)
    open_stream(table.deal_stream)
    if rules.players == 4 and rules.cards == 13 and rules.decks == 1:
        deal_four_by_13(table)
    elif rules.decks == 1:
        deal_any(table, rules.players, rules.cards)
    else:
        deal_two_decks(table, rules.players, rules.cards)
    table.sight.dealer = below(draw_open(table.deal_stream), rules.players)
    for seat in range(rules.players):
        table.dealt[seat] = table.hands[seat]
        if rules.decks == 2:
            table.dealt_second[seat] = table.hands_second[seat]
        if table.policy[seat] != LOWEST:  # which never draws
            set_key(table.streams[seat], seed, deal, PURPOSE_POLICY, seat)
