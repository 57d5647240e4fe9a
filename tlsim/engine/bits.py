"""Machine instructions on words: in kernels single instructions or a few, in plain Python the same by arithmetic."""

from collections.abc import Callable
from typing import Any

from tlsim.engine.compile import inline
from tlsim.engine.host import HAS_PDEP, JIT

# isort: split
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable


def _lowered(emit: Callable[..., Any], result: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator: in kernels the LLVM code of `emit(builder, *words)`, in plain Python the body."""

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        n_args = body.__code__.co_argcount

        @type_callable(body)
        def _type(context: Any) -> Any:  # noqa: ARG001  # Numba passes the context by position
            if n_args == 1:
                return lambda a: result if isinstance(a, types.Integer) else None
            return lambda a, b: result if isinstance(a, types.Integer) and isinstance(b, types.Integer) else None

        @lower_builtin(body, *[types.Integer] * n_args)
        def _lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            words = (context.cast(builder, a, t, result) for a, t in zip(args, signature.args, strict=True))
            return emit(builder, *words)

        return body

    return register


_WORD = ir.IntType(64)
_DOUBLE_WORD = ir.IntType(128)


def _emit_high_product(builder: Any, a: Any, b: Any) -> Any:
    wide = builder.mul(builder.zext(a, _DOUBLE_WORD), builder.zext(b, _DOUBLE_WORD))
    return builder.trunc(builder.lshr(wide, ir.Constant(_DOUBLE_WORD, 64)), _WORD)


def _emit_highest(builder: Any, a: Any) -> Any:
    return builder.sub(ir.Constant(_WORD, 63), builder.ctlz(a, ir.Constant(ir.IntType(1), 0)))


def _emit_pdep(builder: Any, source: Any, mask: Any) -> Any:
    function_type = ir.FunctionType(_WORD, [_WORD, _WORD])
    pdep = cgutils.get_or_insert_function(builder.module, function_type, "llvm.x86.bmi.pdep.64")
    return builder.call(pdep, [source, mask])


def _emit_kth_bit(builder: Any, a: Any, k: Any) -> Any:
    """Emit the search for a set bit without PDEP and without branches (Vigna, "Broadword implementation of rank/select
    queries", 2008): one product counts up to each byte, one comparison of all the counts finds the byte, its bits are
    found likewise.
    """

    def word(value: int) -> Any:
        return ir.Constant(_WORD, value)

    def passed(k: Any, counts: Any) -> Any:  # in the highest byte: how many of the eight counts are at most k
        over = builder.sub(builder.or_(builder.mul(k, each), tops), counts)
        return builder.mul(builder.lshr(builder.and_(over, tops), word(7)), each)

    each, tops = word(0x0101010101010101), word(0x8080808080808080)
    k = builder.and_(k, word(63))
    twos, fours = word(0x5555555555555555), word(0x3333333333333333)
    sums = builder.sub(a, builder.and_(builder.lshr(a, word(1)), twos))
    sums = builder.add(builder.and_(sums, fours), builder.and_(builder.lshr(sums, word(2)), fours))
    sums = builder.and_(builder.add(sums, builder.lshr(sums, word(4))), word(0x0F0F0F0F0F0F0F0F))
    sums = builder.mul(sums, each)  # byte i: the bits of the bytes 0..i
    place = builder.and_(builder.lshr(passed(k, sums), word(53)), word(0x78))  # 64: there is no such bit
    shift = builder.and_(place, word(63))
    byte = builder.and_(builder.lshr(a, shift), word(255))
    before = builder.and_(builder.lshr(builder.shl(sums, word(8)), shift), word(255))
    bits = builder.and_(builder.mul(byte, each), word(0x8040201008040201))
    bits = builder.lshr(builder.add(bits, word(0x7F7F7F7F7F7F7F7F)), word(7))
    counts = builder.mul(builder.and_(bits, each), each)
    inside = builder.lshr(passed(builder.sub(k, before), counts), word(56))
    bit = builder.shl(word(1), builder.and_(builder.add(shift, inside), word(63)))
    return builder.select(builder.icmp_unsigned("<", place, word(64)), bit, word(0))


def _expected(value: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator: in kernels a condition of which LLVM is told what it mostly is, in plain Python the body."""

    def register(body: Callable[..., Any]) -> Callable[..., Any]:
        @type_callable(body)
        def _type(context: Any) -> Any:  # noqa: ARG001  # Numba passes the context by position
            return lambda a: types.boolean if isinstance(a, types.Boolean) else None

        @lower_builtin(body, types.Boolean)
        def _lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
            bit = ir.IntType(1)
            function_type = ir.FunctionType(bit, [bit, bit])
            expect = cgutils.get_or_insert_function(builder.module, function_type, "llvm.expect.i1")
            return builder.call(expect, [args[0], ir.Constant(bit, value)])

        return body

    return register


def _emit_opaque(builder: Any, a: Any) -> Any:
    function_type = ir.FunctionType(_WORD, [_WORD])
    return builder.asm(function_type, "", "=r,0", [a], side_effect=True)


@_lowered(_emit_opaque, types.int64)
def opaque(a: int) -> int:
    """Return the word itself, of which LLVM then knows nothing; no instruction.

    What comes of it is worked out where it is written: LLVM moves what stays the same over several turns of a loop out
    of it, all of it, and runs out of registers.
    """
    return a


@_expected(1)
def likely(condition: bool) -> bool:
    """Return a condition that mostly holds: its code stands in line, what else happens out of the way."""
    return condition


@_expected(0)
def unlikely(condition: bool) -> bool:
    """Return a condition that seldom holds."""
    return condition


AHEAD = 8  # words of each seat that `draw_four` draws


def _emit_draw_four(builder: Any, lanes: Any, at: Any) -> None:
    """Emit xoshiro256++ for four seats at once: their states stay in four vectors for all the words."""
    four = ir.VectorType(_WORD, 4)

    def place(words: Any) -> Any:
        bytes_of = builder.bitcast(lanes, ir.IntType(8).as_pointer())
        return builder.bitcast(builder.gep(bytes_of, [builder.mul(words, ir.Constant(_WORD, 8))]), four.as_pointer())

    def by(bits: int) -> Any:
        return ir.Constant(four, [bits] * 4)

    def rotated(a: Any, bits: int) -> Any:
        return builder.or_(builder.shl(a, by(bits)), builder.lshr(a, by(64 - bits)))

    group = builder.and_(at, ir.Constant(_WORD, 4))
    places = [place(builder.add(group, ir.Constant(_WORD, 8 * k))) for k in range(4)]
    s0, s1, s2, s3 = (builder.load(address, align=8) for address in places)
    for k in range(AHEAD):
        word = builder.add(rotated(builder.add(s0, s3), 23), s0)
        builder.store(word, place(builder.add(at, ir.Constant(_WORD, 32 + 8 * k))), align=8)
        up = builder.shl(s1, by(17))
        s2, s3 = builder.xor(s2, s0), builder.xor(s3, s1)
        s1, s0 = builder.xor(s1, s2), builder.xor(s0, s3)
        s2, s3 = builder.xor(s2, up), rotated(s3, 45)
    for state, address in zip((s0, s1, s2, s3), places, strict=True):
        builder.store(state, address, align=8)


def draw_four(lanes: Any, at: int) -> None:
    """Draw the next `AHEAD` words of the four seats that the word `at` is the first of (`tlsim.engine.rng.LANES`)."""
    mask = 2**64 - 1
    for seat in range(at & 4, (at & 4) + 4):
        s0, s1, s2, s3 = map(int, lanes.state[:, seat])
        for k in range(AHEAD):
            total = (s0 + s3) & mask
            lanes.words[(at >> 3) + k, seat] = (((total << 23) | (total >> 41)) + s0) & mask
            up = s1 << 17
            s2, s3 = s2 ^ s0, s3 ^ s1
            s1, s0 = s1 ^ s2, s0 ^ s3
            s2, s3 = (s2 ^ up) & mask, ((s3 << 45) | (s3 >> 19)) & mask
        for k, state in enumerate((s0, s1, s2, s3)):
            lanes.state[k, seat] = state


@type_callable(draw_four)
def _type_draw_four(context: Any) -> Any:  # noqa: ARG001
    return lambda lanes, at: types.none if isinstance(lanes, types.Record) else None  # noqa: ARG005


@lower_builtin(draw_four, types.Record, types.Integer)
def _lower_draw_four(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    _emit_draw_four(builder, args[0], context.cast(builder, args[1], signature.args[1], types.int64))
    return context.get_dummy_value()


def _emit_quotient(builder: Any, a: Any, b: Any) -> Any:
    half = ir.IntType(32)
    return builder.zext(builder.udiv(builder.trunc(a, half), builder.trunc(b, half)), _WORD)


@_lowered(_emit_quotient, types.int64)
def quotient(a: int, b: int) -> int:
    """Return a // b of numbers that 32 bits hold without a sign: faster than that of 64, and without Python's signs."""
    return a // b


@_lowered(lambda builder, a: builder.ctpop(a), types.int64)
def popcount(a: int) -> int:
    """Return the number of set bits."""
    return int(a).bit_count()


@_lowered(lambda builder, a: builder.cttz(a, ir.Constant(ir.IntType(1), 0)), types.int64)
def lowest_bit(a: int) -> int:
    """Return the number of the lowest set bit; 64 when there is none."""
    return (int(a) & -int(a)).bit_length() - 1 if a else 64


@_lowered(_emit_highest, types.int64)
def highest_bit(a: int) -> int:
    """Return the number of the highest set bit; -1 when there is none."""
    return int(a).bit_length() - 1


@_lowered(lambda builder, a, b: builder.add(a, b), types.uint64)
def add64(a: int, b: int) -> Any:
    """Return a + b modulo 2**64, as `uint64`."""
    return np.uint64((int(a) + int(b)) & (2**64 - 1))


@_lowered(lambda builder, a, b: builder.mul(a, b), types.uint64)
def multiply64(a: int, b: int) -> Any:
    """Return a * b modulo 2**64, as `uint64`."""
    return np.uint64((int(a) * int(b)) & (2**64 - 1))


@_lowered(_emit_high_product, types.uint64)
def high_product(a: int, b: int) -> Any:
    """Return the upper 64 bits of the 128-bit product of two unsigned words, as `uint64`."""
    return np.uint64((int(a) * int(b)) >> 64)


@_lowered(_emit_pdep, types.int64)
def _pdep(source: int, mask: int) -> int:
    """Return the bits of `source` laid into the set bits of `mask`, low to high (BMI2)."""
    result = 0
    while mask:
        low = mask & -mask
        result |= low if source & 1 else 0
        source, mask = source >> 1, mask ^ low
    return result


def _kth_bit_pdep(a: int, k: int) -> int:
    return _pdep(1 << (k & 63), a)


def _kth_bit_loop(a: int, k: int) -> int:
    for _ in range(k & 63):
        a &= a - 1
    return a & -a


@_lowered(_emit_kth_bit, types.int64)
def _select(a: int, k: int) -> int:
    """Return the k-th set bit of a mask, see below."""
    return _kth_bit_loop(a, k)


def _kth_bit_broadword(a: int, k: int) -> int:
    return _select(a, k)


def _kth_bit_body() -> Callable[[int, int], int]:
    """Return the fastest way to the k-th set bit on this machine."""
    if not JIT:
        return _kth_bit_loop
    return _kth_bit_pdep if HAS_PDEP else _kth_bit_broadword


# The k-th set bit of a mask (k from 0), as a mask; 0 when there are no more than k. k is taken modulo 64.
kth_bit = inline(_kth_bit_body())
