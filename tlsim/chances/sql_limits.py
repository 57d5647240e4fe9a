"""Refuse questions in SQL that Polars would read or work out wrongly: too long or deep, without value, beyond 64 bits.

Polars reads a text with a parser that is recursive: a long one ends the process, and `case` within `case` takes time
that doubles with each. Its whole numbers have 64 bits and wrap without a word, and `% 0` gives no value.
"""

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from tlsim.chances.columns import Column
from tlsim.errors import InputError

MAX_LENGTH = 2000  # characters
MAX_DEPTH = 10  # parentheses and cases within one another
_TOO_LARGE = 2**63
_INT32 = 2**31
_NOTHING = re.compile(r"\bnull\b")
_WITHOUT_ARGUMENTS = re.compile(r"([a-z_]\w*)\s*\(\s*\)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NESTING = re.compile(r"\(|\)|\bcase\b|\bend\b")

Bounds: TypeAlias = tuple[float, float]
"""The least and the largest value that a number can have; whole numbers stay exact."""


def check_text(text: str) -> None:
    """Raise `InputError` for a text that Polars must not read."""
    if len(text) > MAX_LENGTH:
        raise InputError(f"an expression has at most {MAX_LENGTH:,} characters, got {len(text):,}")
    bare = _QUOTED.sub("x", text.lower())
    depth = 0
    for sign in _NESTING.findall(bare):
        depth += 1 if sign in ("(", "case") else -1
        if depth > MAX_DEPTH:
            raise InputError(f"parentheses and cases can be {MAX_DEPTH} deep at most")
    if _NOTHING.search(bare):
        raise InputError("null is not allowed: every column has a value")
    call = _WITHOUT_ARGUMENTS.search(bare)
    if call:
        raise InputError(f"not an SQL expression: {call[1]}() is not allowed without arguments")


def bounds(node: Any, columns: Mapping[str, Column]) -> Bounds:
    """Return between which numbers a value lies, 0 and 1 for yes or no; `node` is of the checked kinds of `sql`.

    Raises `InputError` for a number that 64 bits do not hold, and for `%` by one that can be 0.
    """
    kind, inner = next(iter(node.items()))
    if kind == "Column":
        return 0, columns[inner].most
    if kind == "Literal":
        return _within_64_bits(_literal(inner))
    if kind == "BinaryExpr":
        left, right = bounds(inner["left"], columns), bounds(inner["right"], columns)
        return _within_64_bits(_of_operation(inner["op"], left, right))
    if kind == "Ternary":
        bounds(inner["predicate"], columns)
        return _union(bounds(inner["truthy"], columns), bounds(inner["falsy"], columns))
    if kind == "Cast":
        return _of_cast(inner["dtype"], bounds(inner["expr"], columns))
    return _within_64_bits(_of_function(inner, columns))


def _literal(literal: Any) -> Bounds:
    """Return the value of a literal, twice; 0 and 1 for true or false."""
    (inner,) = literal.values()
    (of_type, value), *_ = inner.items()
    if of_type == "Boolean":
        return 0, 1
    if of_type == "Decimal":
        digits, _, places = value
        value = digits / 10**places
    return value, value


def _of_operation(operation: str, left: Bounds, right: Bounds) -> Bounds:
    """Return the bounds of an operation of two sides; of all but arithmetic 0 and 1."""
    if operation == "Plus":
        return left[0] + right[0], left[1] + right[1]
    if operation == "Minus":
        return left[0] - right[1], left[1] - right[0]
    if operation in ("Multiply", "Mul"):
        products = [one * other for one in left for other in right]
        return min(products), max(products)
    if operation == "Rem":
        if right[0] <= 0 <= right[1]:
            raise InputError("% needs a number to its right that is never 0")
        most = max(abs(right[0]), abs(right[1]))
        return -most, most
    return 0, 1


def _of_function(inner: Any, columns: Mapping[str, Column]) -> Bounds:
    """Return the bounds of a function; those that compare give 0 or 1."""
    function, arguments = inner["function"], inner["input"]
    if isinstance(function, dict) and ("IsIn" in str(function)):
        bounds(arguments[0], columns)
        return 0, 1
    sides = [bounds(argument, columns) for argument in arguments]
    if function == "Abs":
        ((low, high),) = sides
        return 0, max(abs(low), abs(high))
    if function in ("MaxHorizontal", "MinHorizontal"):
        return min(low for low, _ in sides), max(high for _, high in sides)
    operation = function.get("Sql", {}).get("Binary", "") if isinstance(function, dict) else ""
    return _of_operation(operation, sides[0], sides[-1])


def _of_cast(dtype: Any, value: Bounds) -> Bounds:
    """Return the bounds of a number of another type."""
    if dtype == {"Literal": "Boolean"}:
        return 0, 1
    if dtype == {"Literal": "Int32"} and not -_INT32 <= value[0] <= value[1] < _INT32:
        raise InputError("a number may be larger than int holds: write bigint")
    return value


def _union(one: Bounds, other: Bounds) -> Bounds:
    return min(one[0], other[0]), max(one[1], other[1])


def _within_64_bits(value: Bounds) -> Bounds:
    """Return bounds; raise `InputError` where a number may be larger than 64 bits hold."""
    most = max(map(abs, value))
    if not most < _TOO_LARGE:
        raise InputError(f"a number may be as large as {float(most):.1e}, more than 64 bits hold")
    return value
