"""Questions about hands in SQL: an expression over hand columns, parsed by Polars, that is worked out hand by hand.

Nothing else gets through: what Polars parsed is walked node by node, and a node that is not known to look at one hand
alone (an aggregate, a window, a subquery, a function of text, …) is refused.
"""

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tlsim.chances.columns import RANK_NAMES, Column, Deck
from tlsim.errors import InputError, nearest

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "Eq": operator.eq,
    "Lt": operator.lt,
    "LtEq": operator.le,
    "Gt": operator.gt,
    "GtEq": operator.ge,
}
_MIRRORED = {"Eq": "Eq", "Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}
_LOGICAL = ("And", "LogicalAnd", "Or", "LogicalOr", "Xor")
_ARITHMETIC = ("Plus", "Minus", "Multiply")
_OF_NUMBERS = ("Abs", "MaxHorizontal", "MinHorizontal", "Sql.Binary.Mul", "Sql.Binary.Rem")
_NUMBERS = ("Dyn.Int", "Dyn.Float", "Scalar.Decimal", "Scalar.Int32", "Scalar.Int64")
_ALLOWED = "comparisons, and, or, not, in, between, case, + - * % and abs"

OF_RANKS = {*RANK_NAMES, "twos", "four_twos", "four_threes"}  # columns that tell the cards of one rank

Node = Any  # of the tree that Polars serialises: an object with one key, the kind, or a kind alone


def parse(text: str, known: Mapping[str, Column], what: str) -> pl.Expr:
    """Return the yes-or-no expression that `text` is; raise `InputError`, in one line that starts with `what`.

    A name of a column is an expression, with hyphens too (`four-twos`).
    """
    named = text.strip().replace("-", "_")
    if named in known:
        expression, is_claim = pl.col(named), known[named].boolean
    else:
        try:
            expression = pl.sql_expr(text)
            is_claim = _is_claim(_tree(expression), known)
        except InputError as error:
            raise InputError(f"{what} {text!r}: {error}") from None
        except (pl.exceptions.PolarsError, RecursionError) as error:
            raise InputError(f"{what} {text!r}: no SQL expression: {_first_line(error)}") from None
    roots = expression.meta.root_names()
    if not roots:
        raise InputError(f"{what} {text!r}: it names no column; known: {', '.join(known)}")
    if not is_claim:
        raise InputError(f"{what} {text!r}: it is a number, not yes or no: compare it, as in 'twos >= 2'")
    try:
        pl.DataFrame(schema={name: pl.Boolean if known[name].boolean else pl.Int64 for name in roots}).select(
            expression
        )
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{what} {text!r}: {_first_line(error)}") from None
    return expression


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _tree(expression: pl.Expr) -> Node:
    return json.loads(expression.meta.serialize(format="json"))


def _is_claim(node: Node, known: Mapping[str, Column]) -> bool:
    """Return whether an expression is yes or no, else it is a number.

    Raises `InputError` for a node that is not known to be worked out hand by hand, for an unknown column, and for a
    number where a claim must be or the other way round: Polars would make one of the other.
    """
    kind, inner = _split(node)
    if kind == "Column":
        if inner not in known:
            raise InputError(f"unknown column {inner!r}; {nearest(inner, list(known))}")
        return known[inner].boolean
    if kind == "Literal":
        if not _path(inner).startswith((*_NUMBERS, "Scalar.Boolean")):
            raise InputError("a value that is no number and neither true nor false")
        return _path(inner).startswith("Scalar.Boolean")
    if kind == "BinaryExpr" and inner["op"] in (*_COMPARISONS, "NotEq", *_LOGICAL, *_ARITHMETIC):
        claims = [_is_claim(inner[side], known) for side in ("left", "right")]
        compares = inner["op"] in _COMPARISONS or inner["op"] == "NotEq"
        return _expect(
            claims, claims[0] if compares else inner["op"] in _LOGICAL, result=inner["op"] not in _ARITHMETIC
        )
    if kind == "Ternary":
        _expect([_is_claim(inner["predicate"], known)], True)
        claims = [_is_claim(inner[part], known) for part in ("truthy", "falsy")]
        return _expect(claims, claims[0])
    if kind == "Cast" and _path(inner["dtype"]) in ("Literal.Int32", "Literal.Int64"):
        _is_claim(inner["expr"], known)
        return False
    if kind == "Cast" and _path(inner["dtype"]) == "Literal.Boolean":
        return _expect([_is_claim(inner["expr"], known)], True)
    name = _path(inner["function"]) if kind == "Function" else ""
    if name == "Boolean.Not":
        return _expect([_is_claim(inner["input"][0], known)], True)
    if name.startswith(("Boolean.IsIn", "Sql.IsIn")) and _path(inner["input"][1]).startswith("Literal.Series"):
        return _expect([_is_claim(inner["input"][0], known)], False, result=True)
    compares = name.removeprefix("Sql.Binary.") in (*_COMPARISONS, "NotEq")
    if name in _OF_NUMBERS or compares:
        return _expect([_is_claim(part, known) for part in inner["input"]], False, result=compares)
    raise InputError(f"{_name(kind, inner)} is not worked out hand by hand; allowed: {_ALLOWED}")


def _split(node: Node) -> tuple[str, Any]:
    """Return the kind of a node and what is in it."""
    return next(iter(node.items())) if isinstance(node, dict) else (node, {})


def _expect(claims: list[bool], wanted: bool, result: bool | None = None) -> bool:
    """Return `result`, or `wanted`, after a check that all are claims, or all are numbers."""
    if any(claim != wanted for claim in claims):
        raise InputError("a number where yes or no must be" if wanted else "yes or no where a number must be")
    return wanted if result is None else result


def _path(value: Any) -> str:
    """Return the nested first keys of an object in words: `{"Boolean": {"IsIn": …}}` is `Boolean.IsIn`."""
    if isinstance(value, dict) and len(value) == 1:
        key, inner = next(iter(value.items()))
        return f"{key}.{_path(inner)}" if isinstance(inner, dict | str) else str(key)
    return value if isinstance(value, str) else ""


def _name(kind: str, inner: Any) -> str:
    """Return what a refused node is called."""
    names = {"Agg": "an aggregate", "Len": "an aggregate", "Over": "a window", "Window": "a window"}
    if kind in names:
        return names[kind]
    if kind == "BinaryExpr":
        return f"the operator {inner['op']}"
    words = _path(inner.get("function", "")) if kind == "Function" else kind
    return {"SubPlan": "a subquery", "Alias": "a name given with AS"}.get(kind) or re.sub(r"\W", " ", words).strip()


# ------------------------------------------------------------------------------------------------ conditions


@dataclass(frozen=True)
class Condition:
    """What an event needs of the cards of some ranks: `numbers` of cards, a row a case, -1 for any number.

    `chances` are those of each case among them all, `share` that of all of them among all hands.
    """

    numbers: NDArray[np.int64]
    chances: NDArray[np.float64]
    share: float


def condition(event: pl.Expr, cards: int, deck: Deck) -> Condition | None:
    """Return what an event needs of the ranks that it compares with numbers; `None` when it needs nothing.

    Read off the comparisons that all must hold: `twos >= 3 and threes = 4 and …`, or the columns of such names.
    """
    wanted: dict[int, set[int]] = {}
    for rank, allowed in _needs(_tree(event), deck.copies):
        wanted[rank] = wanted.get(rank, set(range(deck.copies + 1))) & allowed
    if not wanted or len(wanted) > 3:
        return None
    cases = [case for case in product(*(sorted(numbers) for numbers in wanted.values())) if sum(case) <= cards]
    rest = deck.size - deck.copies * len(wanted)
    ways = [prod(comb(deck.copies, n) for n in case) * comb(rest, cards - sum(case)) for case in cases]
    if sum(ways) == 0:
        return None
    numbers = np.full((len(cases), deck.ranks), -1)
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
