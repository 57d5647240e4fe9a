"""One small test for each thing of Numba's and llvmlite's inside that the fast way of compiling leans on.

When one fails with a new version of Numba, its message says what broke and where we use it; `docs/design/numba.md` says
what it is for. Until it is mended, `TLSIM_PLAIN_NUMBA=1` works without all of them.
"""

import ctypes
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tlsim.engine.host import JIT
from tlsim.engine.inside import PLAIN, missing

# isort: split
from llvmlite import binding, ir
from numba import njit, types
from numba.core import compiler, config, lowering
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

pytestmark = pytest.mark.skipif(not JIT or PLAIN, reason="the fast way is not taken")

INT = types.int64(types.int64)


def twice(n: int) -> int:
    return 2 * n


@njit  # type: ignore[untyped-decorator]  # Numba has no types
def is_even(n: Any) -> Any:
    return True if n == 0 else is_odd(n - 1)


@njit  # type: ignore[untyped-decorator]  # as above
def is_odd(n: Any) -> Any:
    return False if n == 0 else is_even(n - 1)


def compiled(**options: Any) -> Any:
    function = njit(**options)(twice)
    function.compile(INT)
    return function


def test_all_that_we_name_is_there() -> None:
    assert list(missing()) == [], "tlsim.engine.inside.NEEDED: the plain way is taken by itself"


def test_flags_of_a_compilation_can_be_changed() -> None:
    """`compile._make_inner`: no machine code and no ways in for inner functions."""
    function: Any = njit(twice)
    seen = []

    def note(flags: Any) -> Any:
        seen.append(flags)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        flags.forceinline = False
        return flags

    function._compiler._customize_flags = note
    result = function._compiler.compile((types.int64,), types.int64)
    assert len(seen) == 1, "_compiler._customize_flags is not called once a compilation"
    names = [f.name for f in result.library._final_module.functions if not f.is_declaration]
    assert names == [result.fndesc.llvm_func_name], "Flags.no_cpython_wrapper or no_cfunc_wrapper changed its meaning"


def test_an_overload_can_be_kept_without_machine_code() -> None:
    """`compile._make_inner`: callers find an inner function by a key instead of an entry point."""
    function: Any = njit(twice)
    kept = []

    def keep(result: Any) -> None:
        key = object()
        result.target_context.insert_user_function(key, result.fndesc, [result.library])
        function.overloads[tuple(result.signature.args)] = result._replace(entry_point=key)
        kept.append(result)

    function.add_overload = keep

    def caller(n: Any) -> Any:
        return function(n) + 1

    assert njit(INT)(caller)(4) == 9, "add_overload, insert_user_function or CompileResult.entry_point changed"
    assert kept, "add_overload is not called by compile"


def test_call_templates_can_be_changed() -> None:
    """`compile._forget_literals`: one version for all numbers."""
    function: Any = njit(twice)
    template = function.get_call_template
    function.get_call_template = lambda args, kws: template(tuple(map(types.unliteral, args)), kws)

    def caller() -> Any:
        return function(3) + function(4)

    assert njit(caller)() == 14
    assert list(function.overloads) == [(types.int64,)], "get_call_template gets other arguments than it did"


def test_what_is_compiled_can_be_exchanged() -> None:
    """`compile._prune_when_compiled`: a function is compiled without the branches that flags rule out."""
    function: Any = njit(twice)
    inside = function._compiler
    core = inside._compile_core

    def compile_another(args: Any, return_type: Any) -> Any:
        inside.py_func = lambda n: 3 * n
        return core(args, return_type)

    inside._compile_core = compile_another
    assert function(5) == 15, "_compiler.py_func or _compile_core is not what compile uses"


def test_settings_act_while_the_program_runs(tmp_path: Path) -> None:
    """`compile.settings`: the folder of the cache, and compiling without vector instructions."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(tmp_path)
    try:
        function: Any = njit(cache=True)(twice)
    finally:
        config.CACHE_DIR = before
    assert Path(function.stats.cache_path).is_relative_to(tmp_path), "config.CACHE_DIR is not read when decorating"
    function(1)
    files = [path.name for path in tmp_path.rglob("*.nbc")]
    expected = f"{__name__.rpartition('.')[2]}.twice-"
    assert [name.startswith(expected) for name in files] == [True], f"cache.is_compiled: cache files are named {files}"
    for name in ("LOOP_VECTORIZE", "SLP_VECTORIZE"):
        assert getattr(config, name) in (0, 1), f"config.{name} is not a flag"


def test_the_cache_calls_what_we_put_around_it(tmp_path: Path) -> None:
    """`compile.tolerate_cache_errors`: a damaged file is compiled anew, a full disk costs a warning."""
    from numba.core.runtime import rtsys

    def cached() -> Any:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(tmp_path)
        try:
            return njit(cache=True)(twice)
        finally:
            config.CACHE_DIR = before

    called = []
    for _ in range(2):
        function = cached()
        load, save = function._cache._load_overload, function._cache.save_overload

        def load_it(signature: Any, context: Any, load: Any = load) -> Any:
            rtsys.initialize(context)
            called.append(("load", load(signature, context)))
            return called[-1][1]

        def save_it(signature: Any, data: Any, save: Any = save) -> None:
            assert data.library._final_module.global_variables is not None
            called.append(("save", save(signature, data)))

        function._cache.load_overload, function._cache.save_overload = load_it, save_it
        function.compile(INT)
        assert function(4) == 8
    assert [name for name, _ in called] == ["load", "save", "load"], "the cache is called otherwise"
    assert called[-1][1] is not None, "_cache._load_overload finds nothing without load_overload around it"
    function._cache.flush()
    assert function._cache._load_overload(INT, function.targetctx) is None, "_cache.flush does not empty the index"


def test_functions_that_wait_for_themselves_are_named() -> None:
    """`compile.tolerate_cache_errors`: such a function must not be cached, or LLVM ends the next process."""

    @njit(INT)  # type: ignore[untyped-decorator]  # Numba has no types
    def caller(n: Any) -> Any:
        return 1 if is_even(n) else 0

    module = caller.overloads[INT.args].library._final_module
    names = [variable.name for variable in module.global_variables]
    assert any(name.startswith(".numba.unresolved") for name in names), f"another name, or mended: {names}"


def test_c_functions_have_an_address() -> None:
    """`calls._address_inside`: kernels are called by the address of the C function beside them."""
    result = compiled().overloads[INT.args]
    address = result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    assert call(address)(21) == 42, "llvm_cfunc_wrapper_name or get_pointer_to_function changed"
    assert result.library.get_pointer_to_function("no such function") == 0


def test_code_can_be_taken_and_linked() -> None:
    """`plugins.compiled._loop_of`, `plugins.pipeline.link_loop`: a weak function makes way for another of its name."""
    result = compiled().overloads[INT.args]
    code = result.library._get_module_for_linking().as_bitcode()
    names = {f.name for f in binding.parse_bitcode(code).functions}
    assert result.fndesc.llvm_func_name in names, "_get_module_for_linking has not the function"
    first = "define weak i64 @asked(i64 %a) {\n ret i64 %a\n}\ndefine i64 @caller() {\n"
    first += "  %r = call i64 @asked(i64 7)\n  ret i64 %r\n}"
    kernel, policy = binding.parse_assembly(first), binding.parse_assembly("define i64 @asked(i64 %a) {\n ret i64 9\n}")
    caller = kernel.get_function("caller")
    caller.name = "renamed"
    policy.link_in(kernel)
    assert "ret i64 9" in str(policy.get_function("asked")), "the linker kept the weak function"
    policy.get_function("renamed").linkage = "available_externally"
    assert "available_externally" in str(policy.get_function("renamed"))


def test_an_argument_has_a_register_of_its_own() -> None:
    """`calls._weak_caller`: the address travels as LLVM's `nest` argument."""
    module = ir.Module()
    word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    function = ir.Function(module, ir.FunctionType(word, [word, pointer]), "f")
    function.args[1].add_attribute("nest")
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(builder.call(function, function.args, arg_attrs={1: ("nest",)}))
    binding.parse_assembly(str(module)).verify()
    assert str(module).count("nest") == 2


def test_the_compiler_of_policies_is_numbas_with_another_lowering() -> None:
    """`plugins.pipeline`: our C function in place of Numba's ways in."""
    state = compiler.StateDict()
    state.flags, state.func_ir = compiler.Flags(), None
    passes = [one for one, _ in compiler.DefaultPassBuilder.define_nopython_pipeline(state).passes]
    assert passes.count(NativeLowering) == 1, "the pipeline has not one pass NativeLowering"
    assert issubclass(NativeLowering, BaseNativeLowering)
    assert NativeLowering().lowering_class is lowering.Lower, "passes have no lowering_class"
    for name in ("setup_function", "create_cpython_wrapper", "create_cfunc_wrapper"):
        assert hasattr(lowering.Lower, name), f"Lower.{name} is gone"


def test_libraries_are_optimised_by_two_pass_managers() -> None:
    """`plugins.pipeline._optimize_around`: what is optimised already is left alone."""
    library = compiled().overloads[INT.args].library
    code = library._codegen
    for manager, builder in (code._module_pass_manager(opt=0), code._function_pass_manager()):
        assert hasattr(manager, "run"), "a pass manager cannot be run"
        assert builder is not None
    assert library._optimize_final_module.__self__ is library, "_optimize_final_module is no method"
    assert binding.Linkage.linkonce_odr != binding.Linkage.available_externally


def test_names_of_compiled_functions_begin_with_their_package() -> None:
    """`plugins.pipeline._OURS`: which helpers are ours is told by their names."""
    name = compiled().overloads[INT.args].fndesc.llvm_func_name
    module = twice.__module__
    assert name.startswith(f"_ZN{len(module)}{module}"), f"functions are named otherwise: {name}"


def test_scipy_is_hidden_from_numba() -> None:
    """`engine.host`: Numba's import of SciPy costs every start 0.13 s."""
    code = "import sys; from tlsim.engine import host; from numba.np import arraymath\n"
    code += "print('scipy' in sys.modules, arraymath._HAVE_BLAS)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "True"], "numba.np.arraymath looks for SciPy otherwise"


def test_what_is_half_documented() -> None:
    """`bits`, `calls`: the tools of `numba.extending`'s examples; `compile`: LLVM's inlining as an option."""
    from numba.core import cgutils

    for name in ("unpack_tuple", "get_or_insert_function"):
        assert hasattr(cgutils, name), f"cgutils.{name} is gone"

    @njit(forceinline=True)  # type: ignore[untyped-decorator]  # Numba has no types
    def inner(n: Any) -> Any:
        return n + 1

    @njit(INT)  # type: ignore[untyped-decorator]  # as above
    def outer(n: Any) -> Any:
        return inner(n)

    text = outer.inspect_llvm(INT.args)
    assert not [line for line in text.splitlines() if "call" in line and "inner" in line], "forceinline does not inline"
