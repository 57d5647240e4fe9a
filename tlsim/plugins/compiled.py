"""Policies of users, compiled: their C functions, and loops with a policy in them.

What is written here about Numba's and LLVM's inside was checked against Numba 0.68 with LLVM 22.
"""

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

from tlsim.engine.cache import CACHE_FOLDER
from tlsim.engine.calls import PLAIN, POLICY_RAISED, POLICY_SYMBOL, address_of
from tlsim.engine.compile import tolerate_cache_errors
from tlsim.engine.host import JIT

# isort: split
from llvmlite import binding, ir
from numba import njit, types
from numba.core import config, lowering
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

_WORD = ir.IntType(64)
_NO_LOOP = b"", "", ""


class Called:
    """What a policy's address comes from when it is there already: C code, a callback."""

    loop = 0  # the address of a kernel that has the policy in place of its one call by address; 0: none

    def __init__(self, address: int, keep: Any = None) -> None:
        self.address = address
        self._keep = keep  # what must live as long as the address is used


class Compiled:
    """A policy of a user, `function(rules, view, stream, *parameters)`: its addresses, each compiled when asked for.

    A table needs one of the two: all seats can share one `loop`, or the policy is called by its `address`.
    """

    def __init__(self, function: Any, source: str, signature: Any, written: Sequence[int], kernel: Any) -> None:
        self._function, self._source, self._signature, self._written = function, source, signature, written
        self._kernel = kernel
        self._keep: list[Any] = []  # what must live as long as the addresses are used

    @functools.cached_property
    def address(self) -> int:
        """Return the address of its C function. Raises what Numba raises."""
        if not JIT:
            return _plain_policy(self._function, len(self._signature.args) - 3, self._written)
        if address := self._compile(_NO_LOOP, ""):
            return address
        raise TypeError("it does not always return a number")  # Numba makes no C function then

    @functools.cached_property
    def loop(self) -> int:
        """Return the address of the kernel with the policy in place of its one call by address; 0: it cannot be had.

        The kernel is taken from the cache as LLVM code and compiled once more: Numba has nothing to do for it.
        """
        if not JIT or not self._kernel:
            return 0
        loop = _loop_of(*self._kernel)
        return self._compile(loop, _LOOP) if loop[0] else 0

    @global_compiler_lock  # the settings of Numba that change meanwhile are for all threads
    def _compile(self, loop: tuple[bytes, str, str], suffix: str) -> int:
        # The names in the loop's code are those of one compilation.
        key = hashlib.sha256(self._source.encode() + loop[0]).hexdigest()
        cached = CACHE_FOLDER is not None and self._source != ""
        compiler = type("PolicyCompiler", (_PolicyCompiler,), {"extras": (self._written, loop)})
        before = config.CACHE_DIR, config.LOOP_VECTORIZE, config.SLP_VECTORIZE
        config.CACHE_DIR = str(CACHE_FOLDER / f"policy-{key[:16]}") if CACHE_FOLDER else ""
        config.LOOP_VECTORIZE = config.SLP_VECTORIZE = 0  # as in `scalar_kernel`
        try:
            compiled = njit(nogil=True, cache=cached, pipeline_class=compiler)(self._function)
            if cached:
                tolerate_cache_errors(compiled)
            compiled.compile(self._signature)
        finally:
            config.CACHE_DIR, config.LOOP_VECTORIZE, config.SLP_VECTORIZE = before
        self._keep.append(compiled)
        overload = compiled.overloads[self._signature.args]
        name = overload.fndesc.llvm_cfunc_wrapper_name + suffix
        return int(overload.library.get_pointer_to_function(name))


_KNOWN: dict[Any, Compiled] = {}  # by what they are compiled from, where it is known


def compiled_policy(
    function: Any, source: str, signature: Any, written: Sequence[int] = (), kernel: Any = None
) -> Compiled:
    """Return where the addresses of a policy come from.

    `source` is the hash of the source of the function; with `""` nothing is cached. The policy's C function is `(rules,
    view, stream, parameters, *words)`: it first writes the words to the offsets `written` in the view, so that what the
    policy reads there comes in registers. `kernel` is the one whose one call by address is that of a policy, with its
    signature; `None`: there is none.
    """
    code = Compiled(function, source, signature, written, kernel)
    if source != "":
        code = _KNOWN.setdefault((source, function.__module__, function.__qualname__, signature), code)
    return code


def _plain_policy(function: Any, n_params: int, written: Sequence[int]) -> int:
    """Return the address of a policy without the compiler."""

    def entry(rules: Any, view: Any, stream: Any, params: Any, *words: int) -> int:
        names = {at: name for name, (_, at, *_) in view.dtype.fields.items()}
        for word, at in zip(words, written, strict=True):
            view[names[at]] = word
        try:
            return int(function(rules, view, stream, *params["value"][:n_params]))
        except Exception:
            return POLICY_RAISED

    PLAIN[id(entry)] = entry
    return id(entry)


class _PolicyLower(lowering.Lower):  # type: ignore[misc]  # Numba has no types
    """What makes LLVM code of a policy: it adds our C function and loop in place of Numba's ways in."""

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Make no way in from Python."""

    def create_cfunc_wrapper(self) -> None:
        """Make our C function, and the loop, if there is one."""
        written, loop = self.metadata["extras"]
        outer = self.fndesc.llvm_cfunc_wrapper_name
        entry = POLICY_SYMBOL if loop[0] else outer
        self.library.add_ir_module(_entry_module(self.context, self.fndesc, entry, written))
        module = self.library._final_module
        inlined = [self.fndesc.llvm_func_name]  # into the C function, and that into the loop
        if loop[0]:
            _link_loop(module, loop, outer + _LOOP)
            inlined.append(entry)
        for function in map(module.get_function, inlined):
            function.linkage = "internal"
            function.add_function_attribute("alwaysinline")
        self.library._optimize_final_module = functools.partial(_optimize_around, self.library)


@register_pass(mutates_CFG=True, analysis_only=False)
class _PolicyLowering(BaseNativeLowering):  # type: ignore[misc]  # Numba has no types
    """Numba's pass to LLVM code, with `_PolicyLower`."""

    _name = "policy_lowering"
    lowering_class = _PolicyLower


class _PolicyCompiler(CompilerBase):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler with `_PolicyLowering`; what a policy calls is compiled by Numba's own."""

    extras: tuple[Sequence[int], tuple[bytes, str, str]]  # what the C function writes, and the loop

    def define_pipelines(self) -> Any:
        """Return the one pipeline."""
        self.state.metadata["extras"] = self.extras
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = [(_PolicyLowering if one is NativeLowering else one, text) for one, text in pipeline.passes]
        pipeline.passes = passes
        pipeline.finalize()
        return [pipeline]


def _optimize_around(library: Any) -> None:
    """Inline a policy, and optimise what it went into: all that it calls of ours is optimised already.

    Numba optimises the whole library, twice: that takes three times as long, and is worth it for other helpers alone.
    """
    module = library._final_module
    defined = [function for function in module.functions if not function.is_declaration]
    helpers = [function.name for function in defined if function.linkage == binding.Linkage.linkonce_odr]
    if not all(name.startswith(_OURS) for name in helpers):
        type(library)._optimize_final_module(library)
        return
    inliner, builder = library._codegen._module_pass_manager(opt=0)
    inliner.run(module, builder)
    optimizer, builder = library._codegen._function_pass_manager()
    finished = (binding.Linkage.linkonce_odr, binding.Linkage.available_externally)
    for function in module.functions:
        if not function.is_declaration and function.linkage not in finished:
            optimizer.run(function, builder)


def _entry_module(context: Any, fndesc: Any, name: str, written: Sequence[int]) -> Any:
    """Return the LLVM module of the C function of a policy, see `compiled_policy`."""
    module = context.create_module("entry")
    function_type = context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes)
    policy = ir.Function(module, function_type, fndesc.llvm_func_name)
    records, numbers = list(function_type.args[2:5]), function_type.args[5:]
    params = ir.DoubleType().as_pointer()
    address = ir.IntType(8).as_pointer()  # what `tlsim.engine.calls` would call: here it is not needed
    entry_type = ir.FunctionType(_WORD, [*records, params, *[_WORD] * len(written), address])
    entry = ir.Function(module, entry_type, name)
    for record in entry.args[:3]:
        record.add_attribute("noalias")
    entry.args[-1].add_attribute("nest")
    builder = ir.IRBuilder(entry.append_basic_block("entry"))
    bytes_of_view = builder.bitcast(entry.args[1], ir.IntType(8).as_pointer())
    for word, offset in zip(entry.args[4:-1], written, strict=True):
        place = builder.gep(bytes_of_view, [ir.Constant(_WORD, offset)])
        builder.store(word, builder.bitcast(place, _WORD.as_pointer()))
    values = [builder.load(builder.gep(entry.args[3], [ir.Constant(_WORD, k)])) for k in range(len(numbers))]
    arguments = [*entry.args[:3], *values]
    status, play = context.call_conv.call_function(builder, policy, fndesc.restype, fndesc.argtypes, arguments)
    raised = ir.Constant(_WORD, POLICY_RAISED)
    returns = fndesc.restype == types.int64  # not when all it does is raise
    builder.ret(builder.select(status.is_error, raised, play) if returns else raised)
    return module


# ------------------------------------------------------------------------------------------------ a loop with a policy

_OURS = "_ZN5tlsim"  # what the names of compiled functions of this package begin with
_LOOP = ".loop"  # what the name of a policy's C function is followed by in that of its loop


@functools.cache
def _loop_of(kernel: Any, signature: Any) -> tuple[bytes, str, str]:
    """Return the LLVM code of a kernel, and the names in it of its function and its C function.

    Empty code when the kernel calls no policy by its name: it cannot be replaced then.
    """
    address_of(kernel, signature)
    compiled = kernel.overloads[signature.args]
    module = compiled.library._get_module_for_linking()
    calls = any(function.name == POLICY_SYMBOL for function in module.functions)
    return module.as_bitcode() if calls else b"", compiled.fndesc.llvm_func_name, compiled.fndesc.llvm_cfunc_wrapper_name


def _link_loop(module: Any, loop: tuple[bytes, str, str], name: str) -> None:
    """Link a kernel to the module of a policy, which has its own `POLICY_SYMBOL`, as the C function `name`.

    All else that the kernel's code holds is there already, since the kernel was loaded before: it is found by name.
    """
    code, inner, outer = loop
    kernel = binding.parse_bitcode(code)
    for function in kernel.functions:
        if function.name == inner:
            function.linkage = "internal"
        elif function.name == outer:
            function.name, function.linkage = name, "external"
        elif not function.is_declaration and function.name != POLICY_SYMBOL:
            function.linkage = "available_externally"
    module.link_in(kernel)
