"""Test whether a shuffle is fair: dealt hands against exact odds and uniformity.

Under a fair shuffle every way to deal is as likely, so the mean and the variance of each count below are known exactly.
Statistics are scaled by them, and are chi-square or normal for many deals; where few deals make a difference, their
distribution is taken. The p-values are corrected for the number of tests (Holm 1979, with weights): the chance that a
fair shuffle fails any of them is at most alpha. Half of alpha is for the 2s by seat, the first question about an app.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
_MIN_EXPECTED = 5  # counts in a class of a chi-square statistic
_TWOS = "2s by seat"
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
    weight: float = 1.0  # share of alpha that it has, beside those of the others

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
    tests = [*_cards(groups, dealt), *_by_seat(groups, dealt), _pairs(dealt), *_evenness(dealt)]
    tests += [*_events(dealt, rules), _serial(groups, dealt), *_succession(dealt), _repeats(dealt)]
    twos = next(test for test in tests if test.name == _TWOS)
    tests[tests.index(twos)] = replace(twos, weight=float(len(tests) - 1))  # as much as all others
    weights = [test.weight for test in tests]
    corrected = holm([test.p for test in tests], weights)
    total = sum(weights)
    rows = [_row(test, p, alpha, alpha * test.weight / total) for test, p in zip(tests, corrected, strict=True)]
    return pl.DataFrame(rows, infer_schema_length=None), _outliers(groups, dealt)


def verdict(tests: pl.DataFrame, n_deals: int) -> str:
    """Return in a line what the tests of so many deals say together."""
    worst = tests.sort("p_corrected", maintain_order=True)
    if tests["fair"].all():
        return f"fair as far as {n_deals:,} deals can tell: the least corrected p is {worst['p_corrected'][0]:.2g}"
    failed = worst.filter(~pl.col("fair")).select("test", "p_corrected").rows()
    return "not fair: " + ", ".join(f"{name} (corrected p {_p_in_words(p)})" for name, p in failed)


def _p_in_words(p: float) -> str:
    return "below 1e-15" if p < 1e-15 else f"{p:.2g}"


def _row(test: FairnessTest, p_corrected: float, alpha: float, alpha_of_test: float) -> dict[str, Any]:
    """Return a test as a row of the table; the least effect is that at the share of alpha that the test has."""
    effect, words = None, None
    if test.scale:
        effect = test.detectable(alpha_of_test)
        words = f"{_percent(effect)} of {test.effect}"
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


def _percent(share: float) -> str:
    """Return a share in percent with two digits, written out.

    >>> _percent(0.0234), _percent(2.54)
    ('2.3 %', '250 %')
    """
    percent = float(f"{100 * share:.2g}")
    return f"{percent:,.0f} %" if percent >= 10 else f"{percent:g} %"


def holm(p_values: Sequence[float], weights: Sequence[float] | None = None) -> list[float]:
    """Return p-values corrected for their number (Holm 1979, "A simple sequentially rejective multiple test").

    The smallest of m is multiplied by m, the next by m - 1, …; none is smaller than one before it, or larger than 1.
    With weights the one with the smallest p / weight comes first, and is multiplied by the weights that are left over
    its own.

    >>> holm([0.01, 0.5, 0.04])
    [0.03, 0.5, 0.08]
    """
    shares = weights or [1] * len(p_values)
    corrected, largest = [0.0] * len(p_values), 0.0
    in_order = sorted(range(len(p_values)), key=lambda index: p_values[index] / shares[index])
    for place, index in enumerate(in_order):
        left = sum(shares[later] for later in in_order[place:])
        largest = max(largest, min(1.0, left * p_values[index] / shares[index]))
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
    p_of_cell = float(_p_of_counts(seen, n * dealt.decks, p).min())
    n_cells = DECK if groups.shape[1] == 2 else z.size  # what one of two groups has, the other has not
    p_any = -math.expm1(n_cells * math.log1p(-p_of_cell))  # 1 - (1 - p)^cells (Sidak 1967)
    share = float(p[0, 0])
    scale = math.sqrt((1 - share) / (share * n * dealt.decks))
    yield FairnessTest("single cards", largest, None, p_any, scale, "the chance of one card", n_cells)


def _p_of_counts(seen: NDArray[np.int64], n: int, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the two-sided p-value of each count out of n, each of them with probability p: twice the smaller tail.

    Copies of a card in two decks go to different places: their number has a little less spread than this.
    """
    tails = np.minimum(stats.binom.cdf(seen, n, p), stats.binom.sf(seen - 1, n, p))
    return np.asarray(np.minimum(1.0, 2 * tails))


def _by_seat(groups: Groups, dealt: DealtHands) -> Iterator[FairnessTest]:
    """Yield whether seats get as many 2s, as strong hands, and as many cards of each rank.

    Every card has a score. Of N cards whose scores have the variance v, a group with the share p gets scores that add
    up to the variance N^2 v p (1 - p) / (N - 1), and the groups' sums are one less than they are (chi-square). For the
    ranks, Pearson's statistic of ranks and groups.
    """
    n, size, p = len(groups), dealt.deck_size, _shares(groups, dealt)
    df, share = len(p) - 1, float(p[0])
    seen = groups.sum(axis=0, dtype=np.int64).reshape(len(p), len(RANKS), len(SUITS)).sum(axis=2)
    rank = np.arange(len(RANKS))
    effects = {_TWOS: ((rank == rank[-1]) * 1, "the 2s of one seat"), "strength by seat": (rank, "its strength")}
    for name, (score, effect) in effects.items():
        mean, variance = float(score.mean()), float(score.var())
        off = seen @ score - n * size * p * mean
        unit = n * size**2 * variance / (size - 1)
        # One group that is off by a relative effect, to the cost of all others, adds (effect / scale)^2.
        scale = math.sqrt(unit * (1 - share) / share) / (n * size * mean)
        yield _chi2(name, float((off**2 / p).sum() / unit), df, scale, effect)
    expected = n * size / len(RANKS) * p[:, None]
    statistic = float(((seen - expected) ** 2 / expected).sum() * (size - 1) / size)
    scale = 1 / math.sqrt(n * size)
    yield _chi2("ranks by seat", statistic, df * (len(RANKS) - 1), scale, "the chance of each rank")


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
    """Yield whether suits and ranks are spread over hands as they should: sums of squares of their counts.

    Mean and variance of a deal are exact. Of few deals the sum is still as lopsided as Pearson's chi-square of suits
    and hands, which it is but for its scale: so it has the degrees of freedom of all deals together.
    """
    by_rank = dealt.held.reshape(dealt.n_deals, dealt.n_seats, len(RANKS), len(SUITS))
    n, n_groups = dealt.n_deals, dealt.n_seats + (dealt.n_seats * dealt.cards < dealt.deck_size)
    for name, axis, n_classes in (("suit", 2, len(SUITS)), ("rank", 3, len(RANKS))):
        squares = float((by_rank.sum(axis=axis, dtype=np.int64) ** 2).sum())
        mean, variance = _moments_of_squares(dealt.n_seats, dealt.cards, n_classes, dealt.deck_size)
        z = (squares - n * mean) / math.sqrt(n * variance)
        df = n * (n_groups - 1) * (n_classes - 1)
        chi2 = df + z * math.sqrt(2 * df)
        p = min(1.0, 2 * min(float(stats.chi2.cdf(chi2, df)), float(stats.chi2.sf(chi2, df))))
        effect = f"the mean square of cards by {name}"
        yield FairnessTest(f"{name}s", z, None, p, math.sqrt(variance / n) / mean, effect)


def _moments_of_squares(seats: int, cards: int, classes: int, size: int) -> tuple[float, float]:
    """Return mean and variance of the sum of the squared numbers of cards of each class in each hand of a deal.

    The expected product of falling factorials of the numbers, k cards in all, is the product of those of the hands'
    sizes and of the classes' sizes over that of the deck. A square is x (x - 1) + x, and the x add up to what is dealt.
    """
    of_class = size // classes

    def expected(hands: Sequence[int], of_classes: Sequence[int]) -> float:
        """Return it for so many cards of one hand and of another, and of one class and of another."""
        ways = [math.perm(cards, k) for k in hands] + [math.perm(of_class, k) for k in of_classes]
        return math.prod(ways) / math.perm(size, sum(hands))

    of_cell = expected([2], [2])
    squared = expected([4], [4]) + 4 * expected([3], [3]) + 2 * of_cell
    products = (classes - 1) * expected([4], [2, 2]) + (seats - 1) * expected([2, 2], [4])
    products += (seats - 1) * (classes - 1) * expected([2, 2], [2, 2])
    cells = seats * classes
    return cells * of_cell + seats * cards, cells * (squared + products) - (cells * of_cell) ** 2


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


def _succession(dealt: DealtHands) -> Iterator[FairnessTest]:
    """Yield whether the 3S goes on from its seat to any other alike, if there are deals enough.

    Of deals where one seat alone holds it, the next one of the kind follows by some seats to the left. Seats are alike,
    so that these steps are independent, and as likely each.
    """
    holds = dealt.held[:, :, 0] > 0
    holders = holds[holds.sum(axis=1) == 1].argmax(axis=1)
    steps, seats = (holders[1:] - holders[:-1]) % dealt.n_seats, dealt.n_seats
    expected = len(steps) / seats
    if expected >= _MIN_EXPECTED:
        seen = np.bincount(steps, minlength=seats)
        scale = math.sqrt((seats - 1) / len(steps))
        statistic = float(((seen - expected) ** 2 / expected).sum())
        yield _chi2("succession of the 3S", statistic, seats - 1, scale, "the chance of one step")


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
        seat = dealt.seat_name(group) if group < dealt.n_seats else "undealt"
        expected = len(groups) * dealt.decks * float(p[group])
        row: dict[str, Any] = {"card": names(1 << card)[0], "at": seat, "seen": int(seen[group, card])}
        rows.append(row | {"expected": round(expected, 1), "z": float(z[group, card])})
    return pl.DataFrame(rows)
