"""Test whether a shuffle is fair: dealt hands against exact odds and uniformity.

Under a fair shuffle every way to deal is as likely, so the mean and the variance of each count below are known exactly.
Statistics are scaled by them, and are chi-square or normal for many deals. The p-values are corrected for the number of
tests (Holm 1979): the chance that a fair shuffle fails any of them is at most alpha.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import optimize, stats

from tlsim.chances.columns import Deck
from tlsim.chances.deal_files import DealtHands
from tlsim.chances.exact_hands import probability
from tlsim.chances.sample import hand_columns
from tlsim.errors import InputError
from tlsim.rules.cards import DECK, RANKS, SUITS, names
from tlsim.rules.ruleset import Rules

POWER = 0.9  # with which an effect that is called detectable would have been found
MIN_DEALS = 30
_N_OUTLIERS = 5  # cards and seats that are shown
_NONCENTRALITIES = (1e-6, 1e6)  # between which the least that is detectable lies

Groups: TypeAlias = NDArray[np.int8]
"""The copies of each card by group, shape (deals, groups, cards): the seats, and the undealt cards if there are any."""


@dataclass(frozen=True)
class FairnessTest:
    """One test with its p-value, and what the least effect depends on that it finds with probability `POWER`."""

    name: str
    statistic: float
    df: int | None  # degrees of freedom of a chi-square statistic; `None`: the statistic is normal
    p: float
    scale: float  # relative effect for a noncentrality, or a distance in standard errors, of 1; 0: there is none
    effect: str  # in words, what changes
    tries: int = 1  # cells among which the largest was taken

    def detectable(self, alpha: float) -> float:
        """Return the least relative effect that is found with probability `POWER` at level `alpha`.

        The distance of a normal statistic is the sum of two normal quantiles. A chi-square statistic has the
        noncentrality at which it exceeds its bound with probability `POWER`; an effect grows with the root of it.
        """
        if self.df is None:
            return self.scale * float(stats.norm.isf(alpha / (2 * self.tries)) + stats.norm.isf(1 - POWER))
        bound = stats.chi2.isf(alpha, self.df)
        noncentrality = optimize.brentq(lambda nc: stats.ncx2.sf(bound, self.df, nc) - POWER, *_NONCENTRALITIES)
        return self.scale * math.sqrt(noncentrality)


def check(dealt: DealtHands, rules: Rules, alpha: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a row a test, and the cards that stand out most; raise `InputError` for too few deals."""
    if dealt.n_deals < MIN_DEALS:
        raise InputError(f"a check needs at least {MIN_DEALS} deals, got {dealt.n_deals}")
    groups = _groups(dealt)
    tests = [*_cards(groups, dealt), _pairs(dealt), *_evenness(dealt), *_events(dealt, rules)]
    tests += [_serial(groups, dealt), _repeats(dealt)]
    corrected = holm([test.p for test in tests])
    rows = [_row(test, p, alpha, len(tests)) for test, p in zip(tests, corrected, strict=True)]
    return pl.DataFrame(rows, infer_schema_length=None), _outliers(groups, dealt)


def _row(test: FairnessTest, p_corrected: float, alpha: float, n_tests: int) -> dict[str, Any]:
    """Return a test as a row of the table; the least effect is that at level alpha / number of tests."""
    effect, words = None, None
    if test.scale:
        effect = test.detectable(alpha / n_tests)
        words = f"{100 * effect:.2g} % of {test.effect}"
    return {
        "test": test.name,
        "statistic": test.statistic,
        "df": test.df,
        "p": test.p,
        "p_corrected": p_corrected,
        "fair": p_corrected >= alpha,
        "effect": effect,
        "detectable": words,
    }


def holm(p_values: list[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979, "A simple sequentially rejective multiple test").

    The smallest of m is multiplied by m, the next by m - 1, …; none is smaller than one before it, or larger than 1.

    >>> holm([0.01, 0.5, 0.04])
    [0.03, 0.5, 0.08]
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        corrected[index] = largest
    return corrected


# ------------------------------------------------------------------------------------------------ the tests


def _groups(dealt: DealtHands) -> Groups:
    """Return the copies of each card by seat, and those that are not dealt if there are any."""
    undealt = np.int8(dealt.decks) - dealt.held.sum(axis=1, dtype=np.int8)
    if not undealt.any():
        return dealt.held
    return np.concatenate([dealt.held, undealt[:, None]], axis=1)


def _shares(groups: Groups, dealt: DealtHands) -> NDArray[np.float64]:
    """Return the share of the cards that each group has in every deal."""
    return np.asarray(groups[0].sum(axis=1) / dealt.deck_size)


def _z_of_cards(groups: Groups, dealt: DealtHands) -> NDArray[np.float64]:
    """Return by how many standard errors each group has each card too often, shape (groups, cards).

    Of N cards with k copies of each a group has the share p. The copies of a card that it is dealt have the mean k p
    and the hypergeometric variance k p (1 - p) (N - k) / (N - 1).
    """
    n, size, p = len(groups), dealt.deck_size, _shares(groups, dealt)[:, None]
    variance = n * dealt.decks * p * (1 - p) * (size - dealt.decks) / (size - 1)
    return np.asarray((groups.sum(axis=0, dtype=np.int64) - n * dealt.decks * p) / np.sqrt(variance))


def _cards(groups: Groups, dealt: DealtHands) -> Iterator[FairnessTest]:
    """Yield whether every card comes to every seat as often, over all cards and for the one that stands out most.

    Pearson's chi-square. Cards of a deal are drawn without replacement: it has the factor (size - 1) / size.
    """
    n, size, p = len(groups), dealt.deck_size, _shares(groups, dealt)[:, None]
    expected = n * dealt.decks * p
    seen = groups.sum(axis=0, dtype=np.int64)
    statistic = float(((seen - expected) ** 2 / expected).sum() * (size - 1) / size)
    df = (groups.shape[1] - 1) * (DECK - 1)
    scale = 1 / math.sqrt(n * size)
    yield _chi2("cards by seat", statistic, df, scale, "the chance of each card")
    z = _z_of_cards(groups, dealt)
    largest = float(np.abs(z).max())
    p_of_cell = _two_sided(largest)
    n_cells = DECK if groups.shape[1] == 2 else z.size  # what one of two groups has, the other has not
    p_any = -math.expm1(n_cells * math.log1p(-p_of_cell))  # 1 - (1 - p)^cells (Sidak 1967)
    share = float(p[0, 0])
    scale = math.sqrt((1 - share) / (share * n * dealt.decks))
    yield FairnessTest("single cards", largest, None, p_any, scale, "the chance of one card", n_cells)


def _chi2(name: str, statistic: float, df: int, scale: float, effect: str) -> FairnessTest:
    """Return a test whose statistic is chi-square with `df` degrees of freedom."""
    return FairnessTest(name, statistic, df, float(stats.chi2.sf(statistic, df)), scale, effect)


def _pairs(dealt: DealtHands) -> FairnessTest:
    """Return whether every two cards come together as often.

    `q`, `q_three` and `q_four` are the probabilities that two, three and two times two given cards come together. So
    pairs of cards have three covariances: of a pair with itself, with one that shares a card, with another one. What
    is left of the counts without the means of the cards has one variance (Johnson scheme J(52, 2)), in 52 * 49 / 2
    dimensions. With two decks a pair counts in all its copies.
    """
    n, seats, cards, decks, size = dealt.n_deals, dealt.n_seats, dealt.cards, dealt.decks, dealt.deck_size
    two, three = cards * (cards - 1), cards * (cards - 1) * (cards - 2)
    q = seats * two / (size * (size - 1))
    q_three = seats * three / (size * (size - 1) * (size - 2))
    q_four = (seats * three * (cards - 3) + seats * (seats - 1) * two**2) / math.perm(size, 4)
    variance = q * (1 - q) - 2 * (q_three - q * q) + (q_four - q * q)
    hands = dealt.held.reshape(-1, DECK).astype(np.float32)
    off = (hands.T @ hands).astype(np.float64) - n * decks**2 * q
    np.fill_diagonal(off, 0)
    by_card = off.sum(axis=0)
    left = off - (by_card[:, None] + by_card[None, :]) / (DECK - 2) + by_card.sum() / ((DECK - 1) * (DECK - 2))
    statistic = float((left[np.triu_indices(DECK, 1)] ** 2).sum() / (n * decks**2 * variance))
    scale = math.sqrt(variance / (n * math.comb(DECK, 2) * decks**2)) / q
    return _chi2("pairs of cards", statistic, DECK * (DECK - 3) // 2, scale, "the chance of each pair")


def _evenness(dealt: DealtHands) -> Iterator[FairnessTest]:
    """Yield whether suits and ranks are spread over hands as they should: sums of squares of their counts."""
    by_rank = dealt.held.reshape(dealt.n_deals, dealt.n_seats, len(RANKS), len(SUITS))
    size = dealt.deck_size
    for name, axis, n_classes in (("suit", 2, len(SUITS)), ("rank", 3, len(RANKS))):
        squares = (by_rank.sum(axis=axis, dtype=np.int64) ** 2).sum(axis=(1, 2))
        mean = dealt.cards / n_classes
        variance = mean * (1 - 1 / n_classes) * (size - dealt.cards) / (size - 1)  # hypergeometric
        expected = dealt.n_seats * n_classes * (mean**2 + variance)
        se = float(squares.std(ddof=1)) / math.sqrt(len(squares))
        z = (float(squares.mean()) - expected) / se if se > 0 else 0.0
        effect = f"the mean square of cards by {name}"
        yield FairnessTest(f"{name}s", z, None, _two_sided(z), se / expected, effect)


def _two_sided(z: float) -> float:
    """Return the probability that a standard normal value is as far from 0."""
    return 2 * float(stats.norm.sf(abs(z)))


def _events(dealt: DealtHands, rules: Rules) -> Iterator[FairnessTest]:
    """Yield whether hands hold events as often as the exact odds say, by the binomial test.

    Hands of a deal count as independent.
    """
    once, twice = (dealt.held >= copies for copies in (1, 2))
    bits = np.left_shift(np.int64(1), np.arange(DECK))
    hands = np.stack([(held.reshape(-1, DECK) * bits).sum(axis=1) for held in (once, twice)])
    win = "opening_instant_win" if rules.opening_instant_wins else "instant_win"
    events = {"instant wins": win, "quads": "quads >= 1", "straights of 6": "longest_straight >= 6"}
    columns = hand_columns([win, "quads", "longest_straight"], rules, dealt.cards, dealt.decks, hands)
    n = len(columns)
    for name, event in events.items():
        chance = _chance(event, rules, dealt.cards, dealt.decks)
        if 0 < chance < 1:
            n_holding = int(columns.select(pl.sql_expr(event).sum().alias("n"))["n"][0])
            p = float(stats.binomtest(n_holding, n, chance).pvalue)
            se = math.sqrt(chance * (1 - chance) / n)
            yield FairnessTest(name, (n_holding / n - chance) / se, None, p, se / chance, f"the odds of {name}")


@cache
def _chance(event: str, rules: Rules, cards: int, decks: int) -> float:
    """Return the exact probability that a hand holds an event, in SQL."""
    return float(probability(pl.sql_expr(event), rules, cards, Deck(decks)))


def _serial(groups: Groups, dealt: DealtHands) -> FairnessTest:
    """Return whether cards come to a seat whatever seat they came to in the deal before."""
    p, size, n = _shares(groups, dealt), dealt.deck_size, len(groups) - 1
    before, after = (deals.astype(np.float32) for deals in (groups[:-1], groups[1:]))
    moved = np.einsum("dsk,drk->sr", before, after, dtype=np.float64, optimize=True)
    even = np.outer(p, p)
    unit = (dealt.decks * size / (size - 1)) ** 2 * (DECK - 1)
    statistic = float(((moved - n * size * dealt.decks * even) ** 2 / even).sum() / (n * unit))
    scale = math.sqrt((DECK - 1) / n) / (size - 1)
    return _chi2("serial dependence", statistic, (len(p) - 1) ** 2, scale, "the chance to go from seat to seat")


def _repeats(dealt: DealtHands) -> FairnessTest:
    """Return whether a deal comes twice, which a fair shuffle never does in a lifetime."""
    n_repeated = dealt.n_deals - len({deal.tobytes() for deal in dealt.held})
    return FairnessTest("repeated deals", float(n_repeated), None, float(n_repeated == 0), 0.0, "")


def _outliers(groups: Groups, dealt: DealtHands) -> pl.DataFrame:
    """Return the cards and seats that are farthest off, for who wants to look for a cause."""
    z = _z_of_cards(groups, dealt)
    seen, p = groups.sum(axis=0, dtype=np.int64), _shares(groups, dealt)
    rows = []
    for flat in np.argsort(-np.abs(z), axis=None)[:_N_OUTLIERS]:
        group, card = (int(i) for i in np.unravel_index(flat, z.shape))
        seat = f"seat {group}" if group < dealt.n_seats else "undealt"
        expected = len(groups) * dealt.decks * float(p[group])
        row: dict[str, Any] = {"card": names(1 << card)[0], "at": seat, "seen": int(seen[group, card])}
        rows.append(row | {"expected": round(expected, 1), "z": float(z[group, card])})
    return pl.DataFrame(rows)
