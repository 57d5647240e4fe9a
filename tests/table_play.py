"""Hands dealt and played as a test writes them down, through the kernels."""

from typing import Any

import numpy as np

from tlsim.engine.rng import STREAM
from tlsim.play.transcript import Hand, Script
from tlsim.rules.cards import parse_hand
from tlsim.rules.ruleset import Rules


def play(rules: Rules, hands: list[str], turns: str = "", leader: int | None = None, dealer: int = 0) -> Hand:
    """Return a hand after its turns, `3S 3C, -, 5S 5C`: a dash is a pass; without a leader it is an opening hand."""
    script = [0 if turn.strip() == "-" else parse_hand(turn) for turn in turns.split(",") if turn.strip()]
    return Hand(rules, Script([parse_hand(hand) for hand in hands], script, dealer, leader))


def written(hand: Hand) -> dict[str, object]:
    """Return the transcript of a hand that must be over."""
    assert hand.is_over, f"seat {hand.seat} is to act"
    return hand.transcript(index=0, seed=0, policies=[])


def payoffs(rules: Rules, hands: list[str], turns: str = "", leader: int | None = 0) -> list[float]:
    """Return what a hand pays, in units, which must sum to zero."""
    paid = written(play(rules, hands, turns, leader))["payoffs"]
    assert isinstance(paid, list)
    assert sum(paid) == 0
    return paid


def stream_of(word: int) -> Any:
    """Return a stream whose next word is `word`: xoshiro256++ returns rotl(s0 + s3, 23) + s0."""
    stream: Any = np.zeros(1, STREAM).view(np.recarray)[0]
    stream["is_open"] = 1
    stream["s3"] = np.uint64((word >> 23 | word << 41) & (2**64 - 1))
    return stream
