"""Tables and hands as text, and what a result can be turned into."""

import csv as csv_reader
import io
import json
import math
from typing import Any

import polars as pl
import pytest
from matplotlib.figure import Figure

import tlsim
from tlsim.errors import InputError
from tlsim.output import cells, export, text
from tlsim.output.hand_text import show_hand
from tlsim.output.result import Result
from tlsim.play.transcript import piles
from tlsim.rules.variantfiles import parse_variant


def row(estimate: float, low: float, high: float, method: str = "mean", **keys: Any) -> dict[str, Any]:
    numbers = {"estimate": estimate, "se": 0.1, "low": low, "high": high, "level": 0.95, "n": 1000, "method": method}
    return keys | numbers


@pytest.fixture(scope="module")
def result() -> Result:
    return tlsim.simulate(deals=2000, seed=1)


# ------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    ("estimate", "shown"),
    [
        (row(0.3512, 0.3503, 0.3521, "wilson"), "35.120 % ± 0.090"),
        (row(0.3512, 0.3503, 0.3521, metric="first_out"), "35.120 % ± 0.090"),
        (row(36.15, 36.13, 36.17), "36.150 ± 0.020"),
        (row(-1234.5, -1334.5, -1134.5), "-1,234 ± 100"),
        (row(0.0001, 0.00005, 0.0002, "wilson"), "0.0100 % (0.0050 to 0.0200)"),
        (row(0.0, 0.0, 0.004, "clopper-pearson"), "0 % (0 to 0.40)"),
        (row(1.0, 0.996, 1.0, "rare share"), "100 % (99.60 to 100)"),
        (row(0.0, 0.0, 0.0037, "gamma"), "0 (0 to 0.0037)"),
        (row(0.25, 0.25, 0.25, "by rule", metric="first_out"), "25 % (by rule)"),
        (row(0.25, 0.1, 0.6, "share, all equal"), "25 % (10 to 60)"),
        (row(13.0, math.nan, math.nan, "all equal"), "13.0000"),
        (row(2.5, math.nan, math.nan, "one unit"), "2.5000"),
        (row(math.nan, math.nan, math.nan), "–"),
        (row(math.nan, 0, 1, "wilson"), "–"),
        (row(0.351, 0.35, 0.352, "share"), "35.10 % ± 0.10"),
        (row(-7.5, math.nan, -6, "quantile"), "-7.5 (– to -6)"),
    ],
)
def test_estimates_with_their_intervals(estimate: dict[str, Any], shown: str) -> None:
    assert cells.with_interval(estimate) == shown


def test_cards_get_symbols_and_other_text_does_not() -> None:
    assert cells.to_symbols("3S 10D 2H") == "3♠ 10♦ 2♥"
    assert cells.to_symbols("DRASTIC 3S") == "DRASTIC 3S"
    assert cells.to_symbols("") == ""


# ------------------------------------------------------------------------------------------------ tables


def test_metrics_stand_side_by_side() -> None:
    rows = [row(0.25, 0.24, 0.26, "wilson", seat=seat, metric="first_out") for seat in (0, 1)]
    rows += [row(2.5, 2.4, 2.6, seat=seat, metric="mean_place") for seat in (0, 1)]
    assert text.show_tables({"by_seat": pl.DataFrame(rows)}).splitlines() == [
        "by seat (95 % intervals, n = 1,000)",
        "seat  first out     mean place",
        "────  ────────────  ───────────",
        "   0  25.0 % ± 1.0  2.50 ± 0.10",
        "   1  25.0 % ± 1.0  2.50 ± 0.10",
    ]


def test_decimal_points_stand_under_one_another_and_n_is_shown_where_it_varies() -> None:
    rows = [row(36.15, 36.13, 36.17, metric="plays"), row(0.1, 0.09, 0.11, metric="twos_left") | {"n": 900}]
    assert text.show_tables({"length": pl.DataFrame(rows)}).splitlines() == [
        "length (per hand, 95 % intervals)",
        "metric     estimate            n",
        "─────────  ──────────────  ─────",
        "plays      36.150 ± 0.020  1,000",
        "twos left   0.100 ± 0.010    900",
    ]


@pytest.mark.parametrize("width", [80, 100])
def test_text_fits(width: int) -> None:
    tables = tlsim.variants("southern").tables | tlsim.variants(diff=("classic", "southern")).tables
    lines = text.show_tables(tables, width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert any("threes-double-straight" in line for line in lines)  # words stay whole


def test_colour_is_asked_for() -> None:
    table = {"x": pl.DataFrame({"cards": ["3S 4S"]})}
    assert text.show_tables(table) == "x\ncards\n─────\n3S 4S"
    assert text.show_tables(table, colour=True, symbols=True) == "\033[1mx\033[0m\ncards\n─────\n3♠ 4♠"


def test_empty_tables() -> None:
    tables = {"full": pl.DataFrame({"a": [1]}), "empty": pl.DataFrame()}
    assert text.show_tables(tables).endswith("empty\n  none")
    assert export.markdown(tables).endswith("**empty**\n\nnone")
    assert export.csv(tables) == "table,a\nfull,1\n"
    assert export.csv({"empty": pl.DataFrame()}) == ""


def test_csv_is_one_table(result: Result) -> None:
    rows = list(csv_reader.DictReader(io.StringIO(export.csv(result.tables))))
    assert len(rows) == sum(table.height for table in result.tables.values())
    assert list(rows[0])[-7:] == list(cells.ESTIMATE)
    first = result.tables["seats"].row(0, named=True)
    assert float(rows[0]["estimate"]) == first["estimate"]
    assert rows[-1]["table"] == "instant_wins"


def test_one_table_as_csv_has_no_name_column() -> None:
    assert export.csv({"x": pl.DataFrame({"a": ["p,q"], "b": [[1, 2]]})}) == 'a,b\n"p,q",1 2\n'


def test_markdown() -> None:
    table = pl.DataFrame({"chop_line": ["a|b"], "n_of": [1200]})
    assert export.markdown({"x": table}).splitlines() == [
        "**x**",
        "",
        "| chop line | n of |",
        "| --- | --: |",
        "| a\\|b | 1,200 |",
    ]


# ------------------------------------------------------------------------------------------------ results


def test_result_as_text_and_html(result: Result) -> None:
    assert str(result).startswith("simulate · variant southern")
    html = result._repr_html_()
    assert html.count("<table>") == html.count("</table>") == len(result.tables)
    assert "<caption>seats (95 % intervals, n = 2,000)</caption>" in html


def test_result_as_json(result: Result) -> None:
    assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict()))
    table = pl.DataFrame({"v": [math.nan, math.inf, 1.5]})
    odd = Result("x", {"a": [1], "b": []}, {}, {"t": table}, {"more": [["3S"]]})
    assert json.loads(odd.to_json()) == {
        "command": "x",
        "plan": {"a": [1], "b": []},
        "provenance": {},
        "tables": {"t": [{"v": None}, {"v": None}, {"v": 1.5}]},
        "more": [["3S"]],
    }


def test_result_as_pandas(result: Result) -> None:
    frames = result.to_pandas()
    assert list(frames) == list(result.tables)
    assert frames["seats"]["estimate"].tolist() == result.tables["seats"]["estimate"].to_list()


def test_result_as_figure(result: Result) -> None:
    figure = result.plot()
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_xticklabels()] == [f"seat {seat}" for seat in range(4)]
    assert axes.containers  # error bars
    with pytest.raises(InputError, match="only results of simulate and odds can be plotted, got one of variants"):
        tlsim.variants().plot()


# ------------------------------------------------------------------------------------------------ hands

HAND = {
    "index": 7, "seed": 1, "variant": "southern", "players": 2, "policies": ["lowest", "cmd:./a-bot " + "x" * 40],
    "opening": True, "dealer": 1, "hands": [["3S", "6C", "6D", "10H"], ["4H", "9S", "9C", "9D", "9H", "2S"]],
    "leader": 0, "required": "3S", "instant_win": None,
    "plays": [
        {"player": 0, "cards": ["3S"]}, {"player": 1, "cards": ["2S"]}, {"player": 0, "cards": []},
        {"player": 1, "cards": ["4H"]}, {"player": 0, "cards": ["10H"]}, {"player": 1, "cards": []},
        {"player": 0, "cards": ["6C", "6D"]},
    ],
    "places": [1, 2], "payoffs": [1.5, -1.5],
}  # fmt: skip


def test_a_hand_as_text() -> None:
    assert show_hand(HAND).splitlines() == [
        "deal 7 · seed 1 · southern · opening hand · seat 1 deals · seat 0 leads, with 3♠",
        "  seat 0  lowest                          3♠ 6♣ 6♦ 10♥",
        "  seat 1  cmd:./a-bot xxxxxxxxxxxxxxxx …  4♥ 9♠ 9♣ 9♦ 9♥ 2♠",
        "  pile 1   0: 3♠   1: 2♠   0: pass",
        "  pile 2   1: 4♥   0: 10♥   1: pass",
        "  pile 3   0: 6♣ 6♦ (out)",
        "  seat 0  place 1   +1.5",
        "  seat 1  place 2   -1.5  holds 9♠ 9♣ 9♦ 9♥",
    ]
    assert "  pile 3   0: 6C 6D (out)" in show_hand(HAND, symbols=False)


def test_a_hand_fits_a_narrow_terminal() -> None:
    (hand,) = tlsim.replay(seed=1, deal=17).extra["hands"]
    assert max(map(len, show_hand(hand, width=80).splitlines())) <= 80


def test_a_chop_is_marked() -> None:
    plays = [{"player": 0, "cards": ["3S"]}, {"player": 1, "cards": ["2S"]}, {"player": 0, "cards": ["2C"]}]
    plays.append({"player": 1, "cards": ["9S", "9C", "9D", "9H"]})
    chopped = HAND | {"plays": plays, "hands": [["3S", "6D", "2C"], ["4H", "9S", "9C", "9D", "9H", "2S"]]}
    assert "0: 3♠   1: 2♠   0: 2♣   1: chops with 9♠ 9♣ 9♦ 9♥" in show_hand(chopped)


def test_turns_that_are_not_legal_are_shown_in_one_pile() -> None:
    plays = [{"player": 1, "cards": ["3H"]}, {"player": 0, "cards": []}, {"player": 1, "cards": ["4H"]}]
    assert "  pile 1   1: 3♥   0: pass   1: 4♥" in show_hand(HAND | {"plays": plays}).splitlines()


def test_an_instant_win_is_told() -> None:
    won = HAND | {"plays": [], "instant_win": {"player": 1, "kind": "dragon"}}
    assert "  seat 1 wins at once: dragon" in show_hand(won).splitlines()
    assert "holds" not in show_hand(won)


def test_a_variant_of_the_users_own_has_the_default_rules() -> None:
    assert show_hand(HAND | {"variant": "house.toml"}) == show_hand(HAND).replace("southern", "house.toml")


@pytest.mark.parametrize(
    "variant",
    [
        "southern",
        "classic",
        "viet-cong",
        "southern,pass_locks=no",
        "southern,unlocked_chops=double-straight-4",
        "southern,unlocked_chops=double-straight-3+quad,chops.quad=two",
    ],
)
@pytest.mark.parametrize("policy", ["lowest", "random"])
def test_piles_and_chops_are_those_that_the_engine_counts(variant: str, policy: str) -> None:
    hands = tlsim.replay(variant, policy, seed=5, deal=(0, 300)).extra["hands"]
    rules = parse_variant(variant)
    played = [piles(rules, hand) for hand in hands if not hand["instant_win"]]
    counted = tlsim.simulate(variant, policy, deals=300, seed=5).tables["length"]
    means = dict(zip(counted["metric"], counted["estimate"], strict=True))
    chops = [turn.is_chop for found in played for pile in found for turn in pile]
    assert sum(map(len, played)) / len(played) == pytest.approx(means["piles"])
    assert sum(chops) / len(played) == pytest.approx(means["chops"])
    assert all(len(line) <= text.WIDTH for hand in hands for line in show_hand(hand, rules).splitlines())
