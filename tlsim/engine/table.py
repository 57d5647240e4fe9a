"""The records of a hand: the table that it is played at, and the row that tells how it ended."""

from typing import TypeAlias

import numpy as np

from tlsim.engine.calls import call_by_address
from tlsim.engine.host import from_dtype, types
from tlsim.engine.rng import LANES, STREAM
from tlsim.engine.tally import MAX_METRICS
from tlsim.engine.trading import OFFER
from tlsim.engine.view import MAX_DECISIONS, MAX_SEATS, PARAMS, VIEW
from tlsim.rules.ruleset import N_TARGETS, RULES

Table: TypeAlias = np.record
"""A table at which hands are played, a record of dtype `TABLE`."""
Row: TypeAlias = np.record
"""How a hand ended, a record of dtype `ROW`."""

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
            ("lanes", LANES),
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
            ("sums", "i8", (MAX_METRICS,)),  # of the metrics of one deal (`tlsim.engine.tally`) …
            ("any_rare", "i8"),  # … 1: the rare ones among them are not all 0
        ],
    )
)

PLAY_HAND = types.int64(from_dtype(RULES), from_dtype(TABLE), from_dtype(ROW), types.int64, types.int64)
call_play_hand = call_by_address(PLAY_HAND)
TRADE_HANDS = types.int64(from_dtype(RULES), from_dtype(TABLE), types.uint64, types.int64)
call_trade_hands = call_by_address(TRADE_HANDS)
