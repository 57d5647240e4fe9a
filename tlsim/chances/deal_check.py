"""Is a shuffle fair? Tests of dealt hands against exact odds and uniformity.

Under a fair shuffle every way to deal is as likely, so the mean and the variance of each count below are known exactly;
statistics are scaled by them and are chi-square or normal for many deals. The p-values are corrected for the number of
tests (Holm 1979): the chance that a fair shuffle fails any of them is at most alpha.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import optimize, stats

from tlsim.chances.columns import Deck
from tlsim.chances.deal_files import Dealt
from tlsim.chances.exact_hands import probability
from tlsim.chances.sample import hand_columns
from tlsim.errors import InputError
from tlsim.rules.ruleset import Rules

POWER = 0.9  # with which what is called detectable would have been found
FEWEST_DEALS = 30
_KINDS = 52


@dataclass(frozen=True)
class Test:
    """One test: its p-value, and `detect(alpha)`, the least relative effect that it finds with probability `POWER`."""

    name: str
    statistic: float
    df: int | None
    p: float
    scale: float  # of the effect: that for a noncentrality, or a distance in standard errors, of 1
    effect: str
    tries: int = 1  # cells among which the largest was taken

    def detectable(self, alpha: float) -> float:
        """Return the least effect that is found with probability `POWER` at level `alpha`."""
        if self.df is None:
            return self.scale * float(stats.norm.isf(alpha / (2 * self.tries)) + stats.norm.isf(1 - POWER))
        bound = stats.chi2.isf(alpha, self.df)
        found = optimize.brentq(lambda nc: stats.ncx2.sf(bound, self.df, nc) - POWER, 1e-6, 1e6)
        return self.scale * math.sqrt(found)


def check(dealt: Dealt, rules: Rules, alpha: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a row a test, and the cards that stand out most; raise `InputError` for too few deals."""
    n_deals = len(dealt.held)
    if n_deals < FEWEST_DEALS:
        raise InputError(f"{n_deals} deals: at least {FEWEST_DEALS} are needed")
    groups = _groups(dealt)
    tests = [*_cards(groups, dealt), _pairs(dealt), *_evenness(dealt), *_events(dealt, rules)]
    tests += [_serial(groups, dealt), _repeats(dealt)]
    corrected = holm([test.p for test in tests])
    effects = [test.detectable(alpha / len(tests)) if test.scale else None for test in tests]
    rows = [
        {
            "test": test.name,
            "statistic": test.statistic,
            "df": test.df,
            "p": test.p,
            "p_corrected": p,
            "fair": p >= alpha,
            "effect": effect,
            "detectable": None if effect is None else f"{100 * effect:.2g} % of {test.effect}",
        }
        for test, p, effect in zip(tests, corrected, effects, strict=True)
    ]
    return pl.DataFrame(rows, infer_schema_length=None), _outliers(groups, dealt)


def holm(p_values: list[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979, "A simple sequentially rejective multiple test")."""
    corrected, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = largest
    return corrected


# ------------------------------------------------------------------------------------------------ the tests


def _groups(dealt: Dealt) -> NDArray[np.int8]:
    """Return the copies of each card by seat, and undealt if any are, shape (deals, groups, cards)."""
    rest = np.int8(dealt.decks) - dealt.held.sum(axis=1, dtype=np.int8)
    return np.concatenate([dealt.held, rest[:, None]], axis=1) if rest.any() else dealt.held


def _shares(groups: NDArray[np.int8], dealt: Dealt) -> NDArray[np.float64]:
    """Return the share of the cards that each group has in every deal."""
    return np.asarray(groups[0].sum(axis=1) / (_KINDS * dealt.decks))


def _z_of_cards(groups: NDArray[np.int8], dealt: Dealt) -> NDArray[np.float64]:
    """Return by how many standard errors each group has each card too often, shape (groups, cards)."""
    n, size, p = len(groups), _KINDS * dealt.decks, _shares(groups, dealt)[:, None]
    variance = n * dealt.decks * p * (1 - p) * (size - dealt.decks) / (size - 1)
    return np.asarray((groups.sum(axis=0, dtype=np.int64) - n * dealt.decks * p) / np.sqrt(variance))


def _cards(groups: NDArray[np.int8], dealt: Dealt) -> Iterable[Test]:
    """Yield whether every card comes to every seat as often, over all cards and for the one that stands out most.

    Cards of a deal are drawn without replacement: chi-square after a factor (size - 1) / size.
    """
    n, size, p = len(groups), _KINDS * dealt.decks, _shares(groups, dealt)[:, None]
    expected = n * dealt.decks * p
    seen = groups.sum(axis=0, dtype=np.int64)
    statistic = float(((seen - expected) ** 2 / expected).sum() * (size - 1) / size)
    df = (groups.shape[1] - 1) * (_KINDS - 1)
    scale = 1 / math.sqrt(n * size)
    yield _chi2("cards by seat", statistic, df, scale, "the chance of each card")
    z = _z_of_cards(groups, dealt)
    largest = float(np.abs(z).max())
    p_one = 2 * float(stats.norm.sf(largest))
    cells = (groups.shape[1] - 1) * _KINDS if groups.shape[1] == 2 else z.size
    share = float(p[0, 0])
    one = math.sqrt((1 - share) / (share * n * dealt.decks))
    p_any = -math.expm1(cells * math.log1p(-p_one))
    yield Test("single cards", largest, None, p_any, one, "the chance of one card", cells)


def _chi2(name: str, statistic: float, df: int, scale: float, effect: str) -> Test:
    return Test(name, statistic, df, float(stats.chi2.sf(statistic, df)), scale, effect)


def _pairs(dealt: Dealt) -> Test:
    """Return whether every two cards come together as often.

    Pairs of cards have three covariances: of a pair with itself, with one that shares a card, with another one. What
    is left of the counts without the means of the cards has one variance (Johnson scheme J(52, 2)), in 52 * 49 / 2
    dimensions. With two decks a pair counts in all its copies.
    """
    n, seats, cards, decks, size = len(dealt.held), dealt.held.shape[1], dealt.cards, dealt.decks, _KINDS * dealt.decks
    two, three = cards * (cards - 1), cards * (cards - 1) * (cards - 2)
    q = seats * two / (size * (size - 1))
    q_three = seats * three / (size * (size - 1) * (size - 2))
    q_four = (seats * three * (cards - 3) + seats * (seats - 1) * two**2) / math.perm(size, 4)
    variance = q * (1 - q) - 2 * (q_three - q * q) + (q_four - q * q)
    hands = dealt.held.reshape(-1, _KINDS).astype(np.float32)
    off = (hands.T @ hands).astype(np.float64) - n * decks**2 * q
    np.fill_diagonal(off, 0)
    by_card = off.sum(axis=0)
    left = off - (by_card[:, None] + by_card[None, :]) / (_KINDS - 2) + by_card.sum() / ((_KINDS - 1) * (_KINDS - 2))
    statistic = float((left[np.triu_indices(_KINDS, 1)] ** 2).sum() / (n * decks**2 * variance))
    scale = math.sqrt(variance / (n * math.comb(_KINDS, 2) * decks**2)) / q
    return _chi2("pairs of cards", statistic, _KINDS * (_KINDS - 3) // 2, scale, "the chance of each pair")


def _evenness(dealt: Dealt) -> Iterable[Test]:
    """Yield whether suits and ranks are spread over hands as they should: sums of squares of their counts."""
    by_rank = dealt.held.reshape(*dealt.held.shape[:2], 13, 4)
    size = _KINDS * dealt.decks
    for name, axis, parts in (("suits", 2, 4), ("ranks", 3, 13)):
        squares = (by_rank.sum(axis=axis, dtype=np.int64) ** 2).sum(axis=(1, 2))
        mean = dealt.cards / parts
        spread = mean * (1 - 1 / parts) * (size - dealt.cards) / (size - 1)
        expected = dealt.held.shape[1] * parts * (mean**2 + spread)
        se = float(squares.std(ddof=1)) / math.sqrt(len(squares))
        z = (float(squares.mean()) - expected) / se if se > 0 else 0.0
        yield Test(
            name, z, None, 2 * float(stats.norm.sf(abs(z))), se / expected, f"the mean square of cards by {name[:-1]}"
        )


def _events(dealt: Dealt, rules: Rules) -> Iterable[Test]:
    """Yield whether hands hold events as often as the exact odds say; hands of a deal count as independent."""
    once, twice = (dealt.held >= copies for copies in (1, 2))
    bits = np.left_shift(np.int64(1), np.arange(_KINDS))
    hands = np.stack([(held.reshape(-1, _KINDS) * bits).sum(axis=1) for held in (once, twice)])
    win = "opening_instant_win" if rules.opening_instant_wins else "instant_win"
    events = {"instant wins": win, "quads": "quads >= 1", "straights of 6": "longest_straight >= 6"}
    held = hand_columns([win, "quads", "longest_straight"], rules, dealt.cards, dealt.decks, hands)
    for name, event in events.items():
        chance = _chance(event, rules, dealt.cards, dealt.decks)
        if 0 < chance < 1:
            seen = int(held.select(pl.sql_expr(event).sum().alias("seen"))["seen"][0])
            p = float(stats.binomtest(seen, len(held), chance).pvalue)
            se = math.sqrt(chance * (1 - chance) / len(held))
            yield Test(name, (seen / len(held) - chance) / se, None, p, se / chance, f"the odds of {name}")


@cache
def _chance(event: str, rules: Rules, cards: int, decks: int) -> float:
    return float(probability(pl.sql_expr(event), rules, cards, Deck(decks)))


def _serial(groups: NDArray[np.int8], dealt: Dealt) -> Test:
    """Return whether cards come to a seat whatever seat they came to in the deal before."""
    p, size, n = _shares(groups, dealt), _KINDS * dealt.decks, len(groups) - 1
    before, after = (part.astype(np.float32) for part in (groups[:-1], groups[1:]))
    moved = np.einsum("dsk,drk->sr", before, after, dtype=np.float64, optimize=True)
    even = np.outer(p, p)
    unit = (dealt.decks * size / (size - 1)) ** 2 * (_KINDS - 1)
    statistic = float(((moved - n * size * dealt.decks * even) ** 2 / even).sum() / (n * unit))
    scale = math.sqrt((_KINDS - 1) / n) / (size - 1)
    return _chi2("serial dependence", statistic, (len(p) - 1) ** 2, scale, "the chance to go from seat to seat")


def _repeats(dealt: Dealt) -> Test:
    """Return whether a deal comes twice, which a fair shuffle never does in a lifetime."""
    distinct = len({deal.tobytes() for deal in dealt.held})
    repeated = len(dealt.held) - distinct
    return Test("repeated deals", float(repeated), None, 0.0 if repeated else 1.0, 0.0, "")


def _outliers(groups: NDArray[np.int8], dealt: Dealt) -> pl.DataFrame:
    """Return the five cards and seats that are farthest off, for who wants to look for a cause."""
    from tlsim.rules.cards import names

    z = _z_of_cards(groups, dealt)
    seen, p = groups.sum(axis=0, dtype=np.int64), _shares(groups, dealt)
    rows = []
    for flat in np.argsort(-np.abs(z), axis=None)[:5]:
        group, card = (int(i) for i in np.unravel_index(flat, z.shape))
        seat = f"seat {group}" if group < dealt.held.shape[1] else "undealt"
        expected = len(groups) * dealt.decks * float(p[group])
        row: dict[str, Any] = {"card": names(1 << card)[0], "at": seat, "seen": int(seen[group, card])}
        rows.append(row | {"expected": round(expected, 1), "z": float(z[group, card])})
    return pl.DataFrame(rows)
