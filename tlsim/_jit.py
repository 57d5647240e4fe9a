"""How kernels are compiled, in one place: the decorators, the cache folder, machine instructions, calls by address.

Everything else about Numba that the project leans on is here too, so that a new Numba version is checked here.
"""

import contextlib
import hashlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

_HAS_SCIPY = importlib.util.find_spec("scipy") is not None
if _HIDE_SCIPY := "scipy" not in sys.modules:
    # Numba loads SciPy to see whether it brings BLAS, which costs every start 0.13 s. Here it finds none; what it would
    # have found is put right below, so that other Numba code in this process misses nothing.
    sys.modules["scipy"] = None  # type: ignore[assignment]  # `None` is how an import is made to fail

import numba  # noqa: E402
from llvmlite import binding, ir  # noqa: E402
from numba import from_dtype as from_dtype  # noqa: E402
from numba import njit  # noqa: E402
from numba import types as types  # noqa: E402  # for modules that must not import Numba before this one
from numba.core import cgutils, config  # noqa: E402
from numba.core.runtime import rtsys  # noqa: E402
from numba.extending import lower_builtin, type_callable  # noqa: E402
from numba.np import arraymath  # noqa: E402

if _HIDE_SCIPY:
    del sys.modules["scipy"]
    arraymath._HAVE_BLAS = _HAS_SCIPY

F = TypeVar("F", bound=Callable[..., Any])

JIT = not config.DISABLE_JIT


def _has_bmi2() -> bool:
    """Return whether code compiled here may use the BMI2 instruction PDEP."""
    if os.environ.get("TLSIM_PORTABLE") or config.CPU_NAME:
        return False
    try:
        return bool(binding.get_host_cpu_features()["bmi2"])
    except (KeyError, RuntimeError):  # not an x86 machine, or LLVM cannot tell
        return False


HAS_PDEP = _has_bmi2()


# ------------------------------------------------------------------------------------------------ the cache folder


# The modules that kernels are made of, each importing only from those before it. Below them nothing knows Numba.
ENGINE = (
    "errors cards _prune _jit _calls rng rules variantfiles policies shapes view combos features double_deck legal deal "
    "trading payoffs policies.lowest policies.random tally turn game policies.load policies.header transcript batch "
    "matches kit speed handsample dealcount"
).split()


def _source(module: str) -> Path:
    path = Path(__file__).parent.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def engine_hash() -> str:
    """Return the hash that compiled code depends on: every engine source, the Numba version and the processor.

    Numba's disk cache looks at the file of a function, not at the files it imports: after a change in an imported
    kernel it would serve stale numbers. A folder named by this hash cannot.
    """
    digest = hashlib.sha256(f"{numba.__version__} {binding.get_host_cpu_name()} {HAS_PDEP}".encode())
    for module in ENGINE:
        digest.update(_source(module).read_bytes())
    return digest.hexdigest()[:16]


def cache_root() -> Path:
    """Return the folder that holds one cache folder per engine hash (`TLSIM_CACHE_DIR`, or the user's cache folder)."""
    chosen = os.environ.get("TLSIM_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(chosen) if chosen else (Path(base) if base else Path.home() / ".cache") / "tlsim"


def _make_cache_folder() -> Path | None:
    """Return the cache folder, made when missing; `None`, with one warning, when it cannot be written."""
    folder = cache_root() / engine_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.write_bytes(b"tlsim")
        probe.unlink()
    except OSError as error:
        warnings.warn(f"{folder}: {error.strerror}: compiling in memory, every start will be slow", stacklevel=2)
        return None
    return folder


CACHE_FOLDER = _make_cache_folder() if JIT else None


def is_compiled(kernels: Iterable[Any]) -> bool:
    """Return whether an earlier process has left these kernels compiled, for this version and machine."""
    names = [f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}-" for kernel in kernels]
    cached = [path.name for path in CACHE_FOLDER.glob("*/*.nbc")] if CACHE_FOLDER else []
    return all(any(file.startswith(name) for file in cached) for name in names)


_announced: list[str] = []


def announce_compiling(kernels: Iterable[Any], seconds: str) -> None:
    """Say on stderr, once, that kernels are going to be compiled, when no earlier process has left them compiled."""
    if JIT and not _announced and not is_compiled(kernels):
        _announced.append(seconds)
        often = "once" if CACHE_FOLDER else "at each start, for want of a cache folder"
        sys.stderr.write(f"compiling the engine for this machine, {often}: about {seconds}\n")
        sys.stderr.flush()


# ------------------------------------------------------------------------------------------------ decorators


def _compile(function: Callable[..., Any], *, cache: bool = False, **options: Any) -> Any:
    """Return the compiled function, with the options that all kernels share.

    `nogil`: blocks run on threads. `error_model="numpy"`: no test for division by zero in the hot loop. Only what
    Python calls is cached: it holds all that it calls, and object code for every inner function costs a minute.
    """
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER or "")
    try:
        compiled = njit(nogil=True, error_model="numpy", cache=cache and CACHE_FOLDER is not None, **options)(function)
    finally:
        config.CACHE_DIR = before
    if JIT:
        _forget_literals(compiled)
        if options.get("inline") != "always":
            _prune_when_compiled(compiled)
        if not cache:
            _make_inner(compiled, options.get("forceinline", False))
        elif CACHE_FOLDER is not None:
            forgive_the_cache(compiled)
    return compiled


def forgive_the_cache(compiled: Any) -> None:
    """Let a cache file that cannot be read be compiled anew, and one that cannot be written cost only a warning.

    Numba writes files under another name and renames them: processes that start at once do no harm to each other.
    """
    load, save = compiled._cache._load_overload, compiled._cache.save_overload

    def load_or_compile(signature: Any, context: Any) -> Any:
        rtsys.initialize(context)  # what compiled code calls; what the compiler needs takes 0.15 s, and comes with it
        try:
            return load(signature, context)
        except Exception:  # a file cut short can fail in any way
            with contextlib.suppress(OSError):
                compiled._cache.flush()  # start this kernel's index anew
            return None

    def save_or_warn(signature: Any, data: Any) -> None:
        unresolved = (one.name for one in data.library._final_module.global_variables)
        if any(name.startswith(".numba.unresolved") for name in unresolved):
            return  # it calls what calls itself: read from a file, Numba does not find that, and LLVM ends the process
        try:
            save(signature, data)
        except OSError as error:
            _warn_of_cache(f"{CACHE_FOLDER}: {error.strerror}: compiled in memory, the next start will compile again")

    compiled._cache.load_overload, compiled._cache.save_overload = load_or_compile, save_or_warn


_warned: list[str] = []


def _warn_of_cache(text: str) -> None:
    """Warn, once in a process."""
    if not _warned:
        _warned.append(text)
        warnings.warn(text, stacklevel=2)


def _forget_literals(compiled: Any) -> None:
    """Let calls with a literal argument use the version for any number, instead of compiling one for each literal."""
    template = compiled.get_call_template
    compiled.get_call_template = lambda args, kws: template(tuple(map(types.unliteral, args)), kws)


def _make_inner(compiled: Any, inlined: bool) -> None:
    """Stop an inner function at LLVM code for its callers: no machine code, no way in from Python (a quarter faster).

    Numba compiles its own inner functions with the same flags (`BaseContext.compile_only_no_cache`).
    """

    def flags_for_inner(flags: Any) -> Any:
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.forceinline = inlined  # Numba would hand down that of the caller
        return flags

    def keep_overload(result: Any) -> None:
        key = object()  # callers find the code by it, where else they have the machine code's entry point
        result.target_context.insert_user_function(key, result.fndesc, [result.library])
        compiled.overloads[tuple(result.signature.args)] = result._replace(entry_point=key)

    compiled._compiler._customize_flags = flags_for_inner
    compiled.add_overload = keep_overload


def _prune_when_compiled(compiled: Any) -> None:
    """Let a function be compiled without the branches that the constant flags of its parts rule out."""
    compiler = compiled._compiler
    compile_core = compiler._compile_core

    def compile_pruned(args: Any, return_type: Any) -> Any:
        from tlsim._prune import pruned  # only who compiles needs it

        compiler.py_func = pruned(compiled.py_func, part)
        return compile_core(args, return_type)

    compiler._compile_core = compile_pruned


def kernel(function: F) -> F:
    """Compile a function that Python calls: cached on disk, without the GIL."""
    return _compile(function, cache=True)


def inlined_kernel(function: F) -> F:
    """Compile a function that Python calls, and that compiled functions take into themselves, from the cache."""
    return _compile(function, cache=True, forceinline=True)


def scalar_kernel(function: F) -> F:
    """Compile a kernel without vector instructions.

    In a long loop with many branches LLVM keeps constants in vector registers for the few loops at its end, and saves
    and restores them all along (measured: 2 to 3 % of a game).
    """
    compiled = _compile(function, cache=True)
    if JIT:
        compile_it = compiled.compile

        def compile_scalar(signature: Any) -> Any:
            before = config.LOOP_VECTORIZE, config.SLP_VECTORIZE
            config.LOOP_VECTORIZE = config.SLP_VECTORIZE = 0
            try:
                return compile_it(signature)
            finally:
                config.LOOP_VECTORIZE, config.SLP_VECTORIZE = before

        compiled.compile = compile_scalar
    return compiled


def policy_kernel(function: F) -> F:
    """Compile a scalar kernel that calls policies: LLVM is told that its records do not overlap.

    What it has read of the rules then holds while it writes to the table (measured: 1 % of a game of a policy from a
    file; kernels of built-in policies, which write less, lose 2 %).
    """

    def without_overlap(flags: Any) -> Any:
        flags.noalias = True
        return flags

    compiled = scalar_kernel(function)
    if JIT:
        compiled._compiler._customize_flags = without_overlap  # type: ignore[attr-defined]  # inside of Numba
    return compiled


def primitive(function: F) -> F:
    """Compile a small function into each of its callers (measured: a quarter faster than calls)."""
    return _compile(function, forceinline=True)


def part(function: F) -> F:
    """Make a function part of its one caller before types are inferred.

    LLVM optimises every function together with all that it calls, so each level of calls between a kernel and the hot
    loop would optimise the whole of it once more (measured: 40 s against 10 s).
    """
    return _compile(function, inline="always")


def helper(function: F) -> F:
    """Compile a function that kernels call and LLVM may inline or not."""
    return _compile(function)


# ------------------------------------------------------------------------------------------------ machine instructions


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
    found = builder.shl(word(1), builder.and_(builder.add(shift, inside), word(63)))
    return builder.select(builder.icmp_unsigned("<", place, word(64)), found, word(0))


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

    def turned(a: Any, bits: int) -> Any:
        return builder.or_(builder.shl(a, by(bits)), builder.lshr(a, by(64 - bits)))

    group = builder.and_(at, ir.Constant(_WORD, 4))
    places = [place(builder.add(group, ir.Constant(_WORD, 8 * k))) for k in range(4)]
    s0, s1, s2, s3 = (builder.load(one, align=8) for one in places)
    for k in range(AHEAD):
        word = builder.add(turned(builder.add(s0, s3), 23), s0)
        builder.store(word, place(builder.add(at, ir.Constant(_WORD, 32 + 8 * k))), align=8)
        up = builder.shl(s1, by(17))
        s2, s3 = builder.xor(s2, s0), builder.xor(s3, s1)
        s1, s0 = builder.xor(s1, s2), builder.xor(s0, s3)
        s2, s3 = builder.xor(s2, up), turned(s3, 45)
    for state, one in zip((s0, s1, s2, s3), places, strict=True):
        builder.store(state, one, align=8)


def draw_four(lanes: Any, at: int) -> None:
    """Draw the next `AHEAD` words of the four seats that the word `at` is the first of (`tlsim.rng.LANES`)."""
    mask = 2**64 - 1
    for seat in range(at & 4, (at & 4) + 4):
        s0, s1, s2, s3 = (int(one) for one in lanes.state[:, seat])
        for k in range(AHEAD):
            total = (s0 + s3) & mask
            lanes.words[(at >> 3) + k, seat] = (((total << 23) | (total >> 41)) + s0) & mask
            up = s1 << 17
            s2, s3 = s2 ^ s0, s3 ^ s1
            s1, s0 = s1 ^ s2, s0 ^ s3
            s2, s3 = (s2 ^ up) & mask, ((s3 << 45) | (s3 >> 19)) & mask
        for k, one in enumerate((s0, s1, s2, s3)):
            lanes.state[k, seat] = one


@type_callable(draw_four)
def _type_draw_four(context: Any) -> Any:  # noqa: ARG001
    return lambda lanes, at: types.none if isinstance(lanes, types.Record) else None


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


# The k-th set bit of a mask (k from 0), as a mask; 0 when there are no more than k. k is taken modulo 64.
kth_bit = primitive(_kth_bit_loop if not JIT else _kth_bit_pdep if HAS_PDEP else _kth_bit_broadword)
