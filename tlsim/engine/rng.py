"""Random streams keyed by (seed, deal, purpose, seat); version 1.

Each key opens a xoshiro256++ stream (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021). The
256-bit state comes from the key by the splitmix64 finaliser, and different keys always give different states: any deal
can be replayed alone, and results do not depend on threads or on the order of work. Changing a stream is a breaking
change: raise `VERSION`.
"""

from typing import TypeAlias

import numpy as np

from tlsim.engine.bits import AHEAD, add64, draw_four, high_product, multiply64, unlikely
from tlsim.engine.compile import function, inline
from tlsim.rules.cards import Seat

VERSION = 1

PURPOSE_DEAL, PURPOSE_POLICY, PURPOSE_TRADE = 0, 1, 2  # of a stream

# A stream opens at its first draw, so that players who never draw cost nothing. `word` is deal, purpose and seat.
STREAM = np.dtype(
    (
        np.record,
        [
            ("s0", "u8"),
            ("s1", "u8"),
            ("s2", "u8"),
            ("s3", "u8"),
            ("seed_mix", "u8"),  # two words of the seed, the same for all streams of a run
            ("seed_product", "u8"),
            ("word", "u8"),
            ("is_open", "i8"),
        ],
    )
)

Stream: TypeAlias = np.record
"""A random stream, a record of dtype `STREAM`."""
Word: TypeAlias = np.uint64
"""64 bits: of a seed, of a state, or random."""

_PHI = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_S23, _S41, _S17, _S45, _S19 = np.uint64(23), np.uint64(41), np.uint64(17), np.uint64(45), np.uint64(19)


@inline
def mix64(z: Word) -> Word:
    """Return the splitmix64 finaliser of a word: a bijection (Steele, Lea and Flood 2014, Stafford's variant 13)."""
    z = multiply64(z ^ (z >> _S30), _M1)
    z = multiply64(z ^ (z >> _S27), _M2)
    return z ^ (z >> _S31)


@inline
def set_key(stream: Stream, seed: Word, deal: int, purpose: int, seat: Seat) -> None:
    """Key a stream (deal < 2**56, purpose < 32, seat < 8); it opens at its first draw."""
    stream.seed_mix = mix64(add64(seed, _PHI))
    stream.seed_product = multiply64(seed, _M1)
    stream.word = np.uint64((deal << 8) | (purpose << 3) | seat)
    stream.is_open = 0


@function
def open_stream(stream: Stream) -> None:
    """Fill the state from the key.

    Injective: s1 is a bijection of the seed for given s0, and s0 one of the word for a given seed. Never all zero: s0
    and s2 cannot both be 0, since s2 = mix64(s0 + PHI) is 0 only for s0 = -PHI.
    """
    s0 = mix64(add64(stream.word, stream.seed_mix))
    s1 = mix64(add64(s0, stream.seed_product) ^ _PHI)
    stream.s0 = s0
    stream.s1 = s1
    stream.s2 = mix64(add64(s0, _PHI))
    stream.s3 = mix64(add64(s1, _PHI))
    stream.is_open = 1


# The streams of all seats side by side, for hands in which all draw: each word of all of them is drawn at once, by
# vector instructions, some words ahead. A seat finds its own by its place in `words`.
MAX_WORDS = 448  # a seat makes at most 416 decisions: one for each of the 52 cards and eight seats
LANES = np.dtype(
    (
        np.record,
        [
            ("state", "u8", (4, 8)),
            ("words", "u8", (MAX_WORDS, 8)),
            ("next", "i8", (8,)),  # per seat: the index of its next word among all of them
            ("stop", "i8"),  # … and where they end
        ],
    )
)


Lanes: TypeAlias = np.record
"""The streams of all seats side by side, a record of dtype `LANES`."""


@inline
def open_lane(lanes: Lanes, stream: Stream, seat: np.uint64) -> None:
    """Open the stream of a seat beside the others; see `open_stream`."""
    s0 = mix64(add64(stream.word, stream.seed_mix))
    s1 = mix64(add64(s0, stream.seed_product) ^ _PHI)
    lanes.state[0, seat] = s0
    lanes.state[1, seat] = s1
    lanes.state[2, seat] = mix64(add64(s0, _PHI))
    lanes.state[3, seat] = mix64(add64(s1, _PHI))
    lanes.next[seat] = seat
    lanes.stop = 0


@function
def draw_ahead(lanes: Lanes, players: int) -> None:
    """Draw the next words of all seats."""
    draw_four(lanes, lanes.stop)
    if players > 4:
        draw_four(lanes, lanes.stop + 4)
    lanes.stop += 8 * AHEAD


@inline
def draw_beside(lanes: Lanes, players: int, seat: np.uint64) -> Word:
    """Return the next word of a seat, where those of all are drawn at once."""
    at = lanes.next[seat]
    if unlikely(at >= lanes.stop):
        draw_ahead(lanes, players)
    lanes.next[seat] = at + 8
    return lanes.words[np.uint64(at >> 3), np.uint64(at & 7)]


@inline
def draw(stream: Stream) -> Word:
    """Return the next word of a stream: 64 independent random bits, as `uint64`."""
    if stream.is_open == 0:
        open_stream(stream)
    return draw_open(stream)


@inline
def draw_open(stream: Stream) -> Word:
    """Return the next word of a stream that is open: several in a row stay in registers."""
    s0, s1, s2, s3 = stream.s0, stream.s1, stream.s2, stream.s3
    total = add64(s0, s3)
    word = add64((total << _S23) | (total >> _S41), s0)
    s2 ^= s0
    s3 ^= s1
    stream.s1 = s1 ^ s2
    stream.s0 = s0 ^ s3
    stream.s2 = s2 ^ (s1 << _S17)
    stream.s3 = (s3 << _S45) | (s3 >> _S19)
    return word


@inline
def below(word: Word, n: int) -> int:
    """Return a number 0..n-1 from a random word, uniform up to n / 2**64."""
    return np.int64(high_product(word, np.uint64(n)))
