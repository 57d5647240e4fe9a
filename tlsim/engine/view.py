"""What a policy may know, and how it is called.

A policy is a function `choose(rules, view, stream)` of three records (`tlsim.rules.ruleset.RULES`, `VIEW`,
`tlsim.engine.rng.STREAM`), and of its parameters, numbers with defaults. It returns the mask of the cards it plays, 0
to pass; second copies of cards (two decks) it writes to `view.second`. The engine checks every play.

Seats are absolute: `view.seat` is the policy's own, play goes to `(seat + 1) % rules.players`. Nothing in the record
tells a hidden card: it holds the hand of the seat to act, what was played, and how many cards the others hold.
"""

from typing import TypeAlias

import numpy as np

from tlsim.engine.host import from_dtype, types
from tlsim.engine.rng import STREAM
from tlsim.rules.ruleset import RULES

MAX_SEATS = 8
# Decisions in a hand. Every play sheds a card of the 104 in two decks, and is followed by at most one pass of each
# other seat: 104 * 8 = 832.
MAX_DECISIONS = 832
# Legal plays of a hand: at most 2,793 for 17 cards of one deck, and 12,819 for 20 cards of two (four different cards of
# five ranks in a row), by the complete enumerations of `tests/test_combos.py`.
MAX_PLAYS = 1 << 14
MAX_PARAMS = 4

VIEW = np.dtype(
    (
        np.record,
        [
            ("seat", "i8"),  # whose turn it is
            ("hand", "i8"),  # the cards of that seat (first copies)
            ("hand_second", "i8"),  # … second copies; 0 with one deck
            ("second", "i8"),  # written by the policy: second copies that it plays
            ("on", "i8"),  # the play to beat, as a code (`tlsim.engine.one_deck.classify`); 0: lead a pile
            ("on_cards", "i8"),  # … its cards
            ("on_second", "i8"),
            ("owner", "i8"),  # whose play it is
            ("required", "i8"),  # mask of the card that the first lead must respect; 0: none
            ("asked_again", "i8"),  # 1: has passed on this pile; may play an unlocked chop or pass
            ("opening", "i8"),  # 1 on an opening hand
            ("dealer", "i8"),
            ("holding", "i8"),  # mask of the seats that hold cards
            ("passed", "i8"),  # mask of the seats that have passed on this pile
            ("left", "i8", (MAX_SEATS,)),  # cards left with each seat
            ("played", "i8", (MAX_SEATS,)),  # cards played by each seat
            ("played_second", "i8", (MAX_SEATS,)),
            ("n_turns", "i8"),  # entries in the three arrays that follow: plays and passes of this hand, in order
            ("turn_seat", "i8", (MAX_DECISIONS,)),
            ("turn_cards", "i8", (MAX_DECISIONS,)),
            ("turn_second", "i8", (MAX_DECISIONS,)),
            ("plays", "i8", (MAX_PLAYS,)),  # scratch: what `tlsim.engine.one_deck.legal_plays` writes
            ("plays_second", "i8", (MAX_PLAYS,)),
        ],
    )
)

View: TypeAlias = np.record
"""What the seat to act may know, a record of dtype `VIEW`."""
Params: TypeAlias = np.record
"""Parameters of a policy, a record of dtype `PARAMS`."""

# Parameters of the policy in one seat.
PARAMS = np.dtype((np.record, [("value", "f8", (MAX_PARAMS,))]))

# The three records of a policy, as types.
CONTRACT = (from_dtype(RULES), from_dtype(VIEW), from_dtype(STREAM))
# The type of a policy written in Python, by its number of parameters.
SIGNATURES = [types.int64(*CONTRACT, *[types.float64] * n) for n in range(MAX_PARAMS + 1)]
# Types of what policies call: of a hand; of a view, alone and with a random word.
OF_HAND = types.int64(CONTRACT[0], types.int64)
OF_VIEW, OF_VIEW_AND_WORD = types.int64(*CONTRACT[:2]), types.int64(*CONTRACT[:2], types.uint64)
# The C function behind every policy but the built-in ones: it gets its parameters, and the words of the view that
# matter most once more, in registers. C code may leave the last ones out. It returns POLICY_RAISED
# (`tlsim.engine.calls`) to report a failure.
C_SIGNATURE = types.int64(*CONTRACT, from_dtype(PARAMS), types.int64, types.int64)
IN_REGISTERS = tuple(dict(VIEW.fields or {})[name][1] for name in ("hand", "on"))  # their offsets in the view
