"""Numba's compiler, changed for policies: it makes our C function, and a loop, in place of Numba's ways in.

All of this leans on Numba's inside (`tlsim.engine.inside`), so it is imported by the fast way alone. It was written for
Numba 0.68 with LLVM 22.
"""

import functools
from collections.abc import Sequence
from typing import Any

from tlsim.engine.calls import POLICY_RAISED, POLICY_SYMBOL

# isort: split
from llvmlite import binding, ir
from numba import types
from numba.core import lowering
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

_WORD = ir.IntType(64)
_OURS = "_ZN5tlsim"  # what the names of compiled functions of this package begin with
LOOP_SUFFIX = ".loop"  # what the name of a policy's C function is followed by in that of its loop


def policy_compiler(written: Sequence[int], loop: Any) -> Any:
    """Return the compiler of one policy: what its C function writes, and its `Loop`, or `None`."""
    return type("PolicyCompiler", (_PolicyCompiler,), {"extras": (written, loop)})


class _PolicyLower(lowering.Lower):  # type: ignore[misc]  # Numba has no types
    """What makes LLVM code of a policy: it adds our C function and loop in place of Numba's ways in."""

    def setup_function(self, fndesc: Any) -> None:
        """Let the policy be inlined into its C function, and that into the loop."""
        super().setup_function(fndesc)
        self.function.attributes.add("alwaysinline")

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Make no way in from Python."""

    def create_cfunc_wrapper(self) -> None:
        """Make our C function, and the loop, if there is one."""
        written, loop = self.metadata["extras"]
        outer = self.fndesc.llvm_cfunc_wrapper_name
        entry = POLICY_SYMBOL if loop else outer
        self.library.add_ir_module(_entry_module(self.context, self.fndesc, entry, written))
        module = self.library._final_module
        if loop:
            link_loop(module, loop, outer + LOOP_SUFFIX)
            module.get_function(POLICY_SYMBOL).linkage = "internal"
        module.get_function(self.fndesc.llvm_func_name).linkage = "internal"
        self.library._optimize_final_module = functools.partial(_optimize_around, self.library)


@register_pass(mutates_CFG=True, analysis_only=False)
class _PolicyLowering(BaseNativeLowering):  # type: ignore[misc]  # Numba has no types
    """Numba's pass to LLVM code, with `_PolicyLower`."""

    _name = "policy_lowering"
    lowering_class = _PolicyLower


class _PolicyCompiler(CompilerBase):  # type: ignore[misc]  # Numba has no types
    """Numba's compiler with `_PolicyLowering`; what a policy calls is compiled by Numba's own."""

    extras: tuple[Sequence[int], Any]  # what the C function writes, and the loop

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
    if name == POLICY_SYMBOL:
        entry.attributes.add("alwaysinline")
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


def link_loop(module: Any, loop: Any, name: str) -> None:
    """Link a kernel to the module of a policy, which has its own `POLICY_SYMBOL`, as the C function `name`.

    All else that the kernel's code holds is there already, since the kernel was loaded before: it is found by name.
    """
    kernel = binding.parse_bitcode(loop.code)
    for function in kernel.functions:
        if function.name == loop.inner:
            function.linkage = "internal"
        elif function.name == loop.outer:
            function.name, function.linkage = name, "external"
        elif not function.is_declaration and function.name != POLICY_SYMBOL:
            function.linkage = "available_externally"
    module.link_in(kernel)
