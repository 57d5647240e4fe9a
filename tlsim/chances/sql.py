"""Turn questions in SQL into checked expressions over hand columns, and read off them what a hand must hold.

Polars parses the text. Then the tree of the expression is walked node by node. A node gets through only when it is
listed here as one that looks at one hand alone: an aggregate, a window, a subquery or a function of text is refused.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.chances.columns import RANK_NAMES, Column, Deck
from tlsim.chances.sql_limits import bounds, check_text
from tlsim.errors import InputError, nearest

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "Eq": operator.eq,
    "Lt": operator.lt,
    "LtEq": operator.le,
    "Gt": operator.gt,
    "GtEq": operator.ge,
}
_MIRRORED = {"Eq": "Eq", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}
_COMPARED = (*_COMPARISONS, "NotEq")
_LOGICAL = ("And", "LogicalAnd", "Or", "LogicalOr", "Xor")
_ARITHMETIC = ("Plus", "Minus", "Multiply")
_OF_NUMBERS = (
    *("Abs", "MaxHorizontal", "MinHorizontal"),
    *(f"Sql.Binary.{operation}" for operation in ("Plus", "Minus", "Mul", "Rem")),
)
_NUMBERS = ("Dyn.Int", "Dyn.Float", "Scalar.Decimal", "Scalar.Int32", "Scalar.Int64")
_TRUE_OR_FALSE = "Scalar.Boolean"
_ALLOWED = "comparisons, and, or, not, in, between, case, + - * % and abs"

OF_RANKS = {*RANK_NAMES, "twos", "four_twos", "four_threes"}  # columns that depend on the cards of one rank alone

_ANY_NUMBER = -1  # of cards of a rank
_MAX_RANKS = 3  # that a condition is read of: the cases are the product of their numbers of cards

Node: TypeAlias = Any
"""A node of the tree that Polars serialises: an object with one key, the kind, or a kind alone."""
Columns: TypeAlias = Mapping[str, Column]
"""The columns that an expression may name."""


def parse(text: str, columns: Columns, what: str) -> pl.Expr:
    """Return the yes-or-no expression that `text` is, over some columns.

    A name of a column is an expression, with hyphens too (`four-twos`). Raises `InputError`, in one line that starts
    with `what` and the text, for anything else.

    >>> from tlsim.chances.columns import columns
    >>> from tlsim.rules.ruleset import Rules
    >>> event = parse("twos >= 2 and not chop", columns(Rules(), 13), "where")
    >>> event.meta.root_names()
    ['twos', 'chop']
    """
    try:
        return _checked(text, columns)
    except InputError as error:
        raise InputError(f"{what} {text!r}: {error}") from None


def _checked(text: str, columns: Columns) -> pl.Expr:
    """Return the expression; raise `InputError` with what is wrong."""
    column = columns.get(text.strip().replace("-", "_"))
    if column is not None:
        expression, is_claim = pl.col(column.name), column.boolean
    else:
        check_text(text)
        try:
            expression = pl.sql_expr(text)
            tree = _tree(expression)
            is_claim = _is_claim(tree, columns)
            bounds(tree, columns)
        except RecursionError:
            raise InputError("not an SQL expression that can be read: it has too many terms") from None
        except pl.exceptions.PolarsError as error:
            raise InputError(f"not an SQL expression: {_first_line(error)}") from None
        except pl.exceptions.PanicException as error:
            raise InputError(f"not an SQL expression: {_first_line(error)}") from None
    names = expression.meta.root_names()
    if not names:
        raise InputError(f"names no column; the columns are {', '.join(columns)}")
    if not is_claim:
        raise InputError("a number, not yes or no: compare it, as in 'twos >= 2'")
    no_hands = pl.DataFrame(schema={name: columns[name].value_type for name in names})
    try:
        no_hands.select(expression)
    except pl.exceptions.PolarsError as error:
        raise InputError(_first_line(error)) from None
    return expression


def _first_line(error: BaseException) -> str:
    """Return the first line of an error, or its name."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _tree(expression: pl.Expr) -> Node:
    """Return the tree of an expression, as Polars writes it."""
    return json.loads(expression.meta.serialize(format="json"))


def _is_claim(node: Node, columns: Columns) -> bool:
    """Return whether an expression is yes or no, else it is a number.

    Raises `InputError` for a node that is not listed as one that looks at one hand alone, for an unknown column, and
    for a number where a claim must be or the other way round: Polars would make one of the other.
    """
    kind, inner = _split(node)
    if kind == "Column":
        if inner not in columns:
            raise InputError(f"unknown column {inner!r}; {nearest(inner, list(columns))}")
        return columns[inner].boolean
    if kind == "Literal":
        if not _path(inner).startswith((*_NUMBERS, _TRUE_OR_FALSE)):
            raise InputError("a value must be a number, true or false")
        return _path(inner).startswith(_TRUE_OR_FALSE)
    if kind == "BinaryExpr" and inner["op"] in (*_COMPARED, *_LOGICAL, *_ARITHMETIC):
        return _is_claim_of_two(inner, columns)
    if kind == "Ternary":
        _all_claims([inner["predicate"]], columns)
        is_claim = _is_claim(inner["truthy"], columns)
        if _path(inner["falsy"]) == "Literal.Scalar.Null.Null":
            raise InputError("case needs an else: without it there is no value")
        claims = [is_claim, _is_claim(inner["falsy"], columns)]
        _check_alike(claims, claims[0])
        return claims[0]
    if kind == "Cast" and _path(inner["dtype"]) in ("Literal.Int32", "Literal.Int64"):
        _is_claim(inner["expr"], columns)
        return False
    if kind == "Cast" and _path(inner["dtype"]) == "Literal.Boolean":
        return _all_claims([inner["expr"]], columns)
    if kind == "Function":
        return _is_claim_of_function(inner, columns)
    raise InputError(f"{_name(kind, inner)} is not allowed; allowed are {_ALLOWED}")


def _is_claim_of_two(inner: Node, columns: Columns) -> bool:
    """Return whether an operator with two sides is yes or no."""
    operation = inner["op"]
    claims = [_is_claim(inner[side], columns) for side in ("left", "right")]
    wanted = claims[0] if operation in _COMPARED else operation in _LOGICAL
    _check_alike(claims, wanted)
    return operation not in _ARITHMETIC


def _is_claim_of_function(inner: Node, columns: Columns) -> bool:
    """Return whether a function is yes or no; all but `not` are of numbers."""
    name, arguments = _path(inner["function"]), inner["input"]
    if name == "Boolean.Not":
        return _all_claims([arguments[0]], columns)
    if name.startswith(("Boolean.IsIn", "Sql.IsIn")) and _path(arguments[1]).startswith("Literal.Series"):
        return not _all_numbers([arguments[0]], columns)
    compares = name.removeprefix("Sql.Binary.") in _COMPARED
    if name not in _OF_NUMBERS and not compares:
        raise InputError(f"{_name('Function', inner)} is not allowed; allowed are {_ALLOWED}")
    _all_numbers(arguments, columns)
    return compares


def _all_claims(nodes: Sequence[Node], columns: Columns) -> bool:
    """Return that what stands here is yes or no; raise `InputError` if a node is a number."""
    _check_alike([_is_claim(node, columns) for node in nodes], True)
    return True


def _all_numbers(nodes: Sequence[Node], columns: Columns) -> bool:
    """Return that what stands here is not yes or no; raise `InputError` if a node is."""
    _check_alike([_is_claim(node, columns) for node in nodes], False)
    return False


def _check_alike(claims: Sequence[bool], wanted: bool) -> None:
    """Raise `InputError` unless all are claims, or all are numbers, as wanted."""
    if wanted and not all(claims):
        raise InputError("expected yes or no, got a number")
    if not wanted and any(claims):
        raise InputError("expected a number, got yes or no")


def _split(node: Node) -> tuple[str, Any]:
    """Return the kind of a node and what is in it."""
    if not isinstance(node, dict):
        return node, {}
    kind, inner = next(iter(node.items()))
    return kind, inner


def _path(value: Any) -> str:
    """Return the nested first keys of an object in words.

    >>> _path({"Boolean": {"IsIn": {"nulls_equal": False}}})
    'Boolean.IsIn.nulls_equal'
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, dict) or len(value) != 1:
        return ""
    key, inner = next(iter(value.items()))
    return f"{key}.{_path(inner)}" if isinstance(inner, dict | str) else str(key)


def _name(kind: str, inner: Any) -> str:
    """Return what a refused node is called."""
    names = {"Agg": "an aggregate", "Len": "an aggregate", "Over": "a window", "Window": "a window"}
    names |= {"SubPlan": "a subquery", "Alias": "a name given with AS"}
    if kind in names:
        return names[kind]
    if kind == "BinaryExpr":
        return f"the operator {inner['op']}"
    words = kind
    if kind == "Function":
        words = _path(inner.get("function", ""))
    return re.sub(r"\W", " ", words).strip()


# ------------------------------------------------------------------------------------------------ conditions


@dataclass(frozen=True)
class Condition:
    """What an event needs of the cards of some ranks.

    `numbers` has the numbers of cards, shape (cases, ranks), -1 for any number. `chances` has the probability of each
    case among them all, `share` is that of all of them among all hands.
    """

    numbers: NDArray[np.int64]
    chances: NDArray[np.float64]
    share: float


def condition(event: pl.Expr, cards: int, deck: Deck) -> Condition | None:
    """Return what an event needs of the ranks that it compares with numbers; `None` when it needs nothing.

    Read off the comparisons that all must hold: `twos >= 3 and threes = 4 and …`, or the columns of such names.

    >>> condition(pl.sql_expr("twos >= 3 and quads = 1"), 13, Deck()).numbers[:, -1]  # of 2s; -1 of all other ranks
    array([3, 4])
    """
    wanted: dict[int, set[int]] = {}
    for rank, allowed in _needs(_tree(event), deck.copies):
        wanted[rank] = wanted.get(rank, set(range(deck.copies + 1))) & allowed
    if not wanted or len(wanted) > _MAX_RANKS:
        return None
    cases = [case for case in product(*(sorted(numbers) for numbers in wanted.values())) if sum(case) <= cards]
    other_cards = deck.size - deck.copies * len(wanted)
    ways = [prod(comb(deck.copies, n) for n in case) * comb(other_cards, cards - sum(case)) for case in cases]
    if sum(ways) == 0:
        return None
    numbers = np.full((len(cases), deck.ranks), _ANY_NUMBER)
    numbers[:, list(wanted)] = cases
    chances = np.array([way / sum(ways) for way in ways])
    return Condition(numbers[chances > 0], chances[chances > 0], sum(ways) / comb(deck.size, cards))


def _needs(node: Node, copies: int) -> Iterator[tuple[int, set[int]]]:
    """Yield ranks with the numbers of cards that an expression allows them."""
    ranks = {name: rank for rank, name in enumerate([*RANK_NAMES, "twos"])}
    kind, inner = _split(node)
    if kind == "Column" and inner in ("four_twos", "four_threes"):
        yield ranks[inner.removeprefix("four_")], set(range(4, copies + 1))
    elif kind == "BinaryExpr" and inner["op"] in ("And", "LogicalAnd"):
        yield from _needs(inner["left"], copies)
        yield from _needs(inner["right"], copies)
    elif kind == "BinaryExpr" and inner["op"] in _COMPARISONS:
        left, right, compare = inner["left"], inner["right"], inner["op"]
        if "Literal" in left:
            left, right, compare = right, left, _MIRRORED[compare]
        rank = ranks.get(left.get("Column", "")) if isinstance(left, dict) else None
        if rank is not None and _path(right).startswith("Literal.Dyn.Int"):
            number = right["Literal"]["Dyn"]["Int"]
            yield rank, {n for n in range(copies + 1) if _COMPARISONS[compare](n, number)}
