"""One use of everything that leans on another package: what `scripts/test-lowest` runs with the lowest versions."""

from pathlib import Path

import pytest

import tlsim

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_a_policy_from_a_file_plays_as_the_built_in_one() -> None:
    built_in = tlsim.simulate(deals=200, seed=3).tables["seats"]
    from_file = tlsim.simulate(policies=f"{EXAMPLES / 'lowest.py'}:choose", deals=200, seed=3).tables["seats"]
    assert from_file.drop("policy", strict=False).equals(built_in.drop("policy", strict=False))


def test_a_match() -> None:
    assert tlsim.simulate(deals=5, seed=3, match=10).tables


def test_exact_odds() -> None:
    """Four 2s among 13 of 52 cards: 13 * 12 * 11 * 10 / (52 * 51 * 50 * 49) = 11 / 4165."""
    [table] = tlsim.odds("four_twos", deals=10_000, seed=1).tables.values()
    assert table["exact"][0] == pytest.approx(11 / 4165)


def test_a_plot_and_pandas(tmp_path: Path) -> None:
    result = tlsim.odds(variant="southern", players=4, deals=2_000, seed=1)
    assert len(result.to_pandas()) == len(result.tables)
    path = tmp_path / "odds.svg"
    result.plot().savefig(path)
    assert path.stat().st_size > 0
