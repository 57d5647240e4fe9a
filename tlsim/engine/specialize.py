"""Spliced functions without what their constants rule out, before Numba reads them.

A spliced function is written once for all kernels, with a `Mode` and flags that each kernel sets to constants. Numba
would infer the types of every branch of it before LLVM drops most of them, and puts functions into their callers one
by one, which takes time by the square of their size. Here calls with a constant mode or flag become calls of copies
that have only the branches left: their syntax trees with the constants put in (`play_lowest_hand`: 42 s against 11 s).
"""

import ast
import inspect
import textwrap
from typing import Any

from tlsim.engine.mode import Mode

_COPIES: dict[Any, Any] = {}  # by function and constants: the function with these put in …
_SPLICED: dict[Any, Any] = {}  # … by that: its compiled form …
_CONSTANT: dict[Any, Any] = {}  # … and where it does nothing but return a constant: that one


def _is_spliced(value: Any) -> bool:
    return getattr(value, "targetoptions", {}).get("inline") == "always"


def _is_put_in(value: Any) -> bool:
    """Return whether a constant argument is put into a copy: a mode or a flag; other numbers go with the call."""
    return isinstance(value, bool | Mode)


class _Pruner(ast.NodeTransformer):
    """Puts known values in place of parameters, and drops the branches that they rule out."""

    def __init__(self, names: dict[str, Any], known: dict[str, Any], own: set[str], spliced: Any) -> None:
        self.names, self.known, self.own, self.spliced = names, known, own, spliced

    def _value(self, node: ast.expr) -> Any:
        """Return the value of a constant, None for anything else."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id not in self.own:
            value = self.names.get(node.id)
            return value if type(value) in (bool, int, Mode) else None
        return None

    def visit_Name(self, node: ast.Name) -> Any:
        """Put in a known value."""
        return ast.copy_location(ast.Constant(self.known[node.id]), node) if node.id in self.known else node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        """Put in a field of a known mode."""
        self.generic_visit(node)
        value = self._value(node.value)
        return ast.copy_location(ast.Constant(getattr(value, node.attr)), node) if isinstance(value, Mode) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        """Fold `not`."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.copy_location(ast.Constant(not node.operand.value), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        """Fold `==` and `!=` of known numbers."""
        self.generic_visit(node)
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
            left, right = self._value(node.left), self._value(node.comparators[0])
            if left is not None and right is not None:
                same = (left == right) is isinstance(node.ops[0], ast.Eq)
                return ast.copy_location(ast.Constant(same), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        """Fold `and` and `or` where a known value decides, or does not matter."""
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for value in node.values:
            if isinstance(value, ast.Constant) and isinstance(value.value, bool):
                if value.value is not decides:
                    continue
                kept.append(value)
                break
            kept.append(value)
        if not kept:
            return ast.copy_location(ast.Constant(not decides), node)
        if len(kept) == 1:
            return kept[0]
        node.values = kept
        return node

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """Choose a value."""
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self.visit(node.body if test.value else node.orelse)
        node.test, node.body, node.orelse = test, self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_If(self, node: ast.If) -> Any:
        """Choose a branch."""
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self._all(node.body if test.value else node.orelse)
        node.test, node.body, node.orelse = test, self._all(node.body) or [ast.Pass()], self._all(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> Any:
        """Keep a body where all of it is dropped."""
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    visit_For = visit_While  # noqa: N815  # the name that `ast` looks for

    def _all(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        kept: list[ast.stmt] = []
        for statement in statements:
            found = self.visit(statement)
            kept += found if isinstance(found, list) else [found]
        return kept

    def visit_Call(self, node: ast.Call) -> Any:
        """Call the copy of a spliced function that knows its constants."""
        self.generic_visit(node)
        called: Any = self.names.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if not _is_spliced(called):
            return node
        function = called.py_func
        named = {keyword.arg or "": keyword.value for keyword in node.keywords}
        arguments = inspect.signature(function).bind(*node.args, **named).arguments
        known, rest = {}, []
        for name, argument in arguments.items():
            value = self._value(argument)
            if _is_put_in(value):
                known[name] = value
            else:
                rest.append(argument)
        copy = _copy(function, known, self.spliced)
        if copy in _CONSTANT:
            return ast.copy_location(ast.Constant(_CONSTANT[copy]), node)
        if copy not in _SPLICED:
            _SPLICED[copy] = self.spliced(copy)
        self.names[copy.__name__] = _SPLICED[copy]
        call = ast.Call(ast.Name(copy.__name__, ast.Load()), rest, [])
        return ast.copy_location(call, node)


def _copy(function: Any, known: dict[str, Any], spliced: Any) -> Any:
    """Return a function with some parameters put in."""
    key = (function, *sorted(known.items()))
    if key not in _COPIES:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
        node = tree.body[0]
        assert isinstance(node, ast.FunctionDef)
        node.decorator_list = []
        own = set(function.__code__.co_varnames)
        stored = {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
        assert not stored & set(known), f"{function.__qualname__} changes a constant"
        node.args.args = [one for one in node.args.args if one.arg not in known]
        node.name = "_".join([function.__name__, *(_label(*constant) for constant in known.items()), "pruned"])
        pruner = _Pruner(function.__globals__, known, own, spliced)
        node.body = [one for statement in node.body for one in _as_list(pruner.visit(statement))]
        code = compile(ast.fix_missing_locations(ast.Module([node], [])), function.__code__.co_filename, "exec")
        names: dict[str, Any] = {}
        exec(code, function.__globals__, names)  # our own source
        _COPIES[key] = names[node.name]
        steps = [step for step in node.body if not _does_nothing(step)]
        if not steps:
            _CONSTANT[_COPIES[key]] = None
        elif isinstance(steps[0], ast.Return) and isinstance(steps[0].value, ast.Constant):
            _CONSTANT[_COPIES[key]] = steps[0].value.value
    return _COPIES[key]


def _does_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement is a docstring, or what a call that does nothing left."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _label(name: str, value: Any) -> str:
    """Return a constant as part of the name of a copy."""
    return name + "".join(str(int(number)) for number in (value if isinstance(value, Mode) else [value]))


def _as_list(found: Any) -> list[Any]:
    return found if isinstance(found, list) else [found]


def pruned(function: Any, spliced: Any) -> Any:
    """Return a function that calls pruned copies, made by the decorator `spliced`; itself if it calls none."""
    if not any(_is_spliced(function.__globals__.get(name)) for name in function.__code__.co_names):
        return function
    copy = _copy(function, {}, spliced)
    copy.__name__, copy.__qualname__ = function.__name__, function.__qualname__
    return copy
