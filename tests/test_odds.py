"""`tlsim odds`: exact beside sampled, questions in SQL, conditions that are dealt, and what is refused."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tlsim
from tlsim.chances.columns import Deck, columns
from tlsim.chances.sql import condition, parse
from tlsim.errors import InputError
from tlsim.rules.variantfiles import parse_variant

KNOWN = columns(parse_variant("southern"), 13)
DEALS = 100_000


def rows(*events: str, **more: Any) -> list[dict[str, Any]]:
    result = tlsim.odds(*events, **{"deals": DEALS, "seed": 1, **more})
    return [row for table in result.to_dict()["tables"].values() for row in table if "estimate" in row]


# ---------------------------------------------------------------------------------------------- expressions

GOOD = {
    "twos >= 2 and longest_straight >= 5": Fraction(84668224, 922984825),
    "twos between 4 and 4": Fraction(11, 4165),
    "not twos < 4": Fraction(11, 4165),
    "twos in (4, 5)": Fraction(11, 4165),
    "case when twos = 4 then true else false end": Fraction(11, 4165),
    "twos * 1000000000000 >= 4000000000000": Fraction(11, 4165),
    "abs(twos - 2) = 2 and twos > 1": Fraction(11, 4165),
    "greatest(twos, 3) = 4": Fraction(11, 4165),
    "four-twos": Fraction(11, 4165),
    "four_twos = true": Fraction(11, 4165),
    "twos % 4 = 0 and twos != 0": Fraction(11, 4165),
    "4.5 > twos and twos > 3.5": Fraction(11, 4165),
    "twos + 0.5 > 4 and 5 - twos < 1.5": Fraction(11, 4165),
    "twos * 1.5 >= 6": Fraction(11, 4165),
    "twos % 2.5 = 1.5": Fraction(11, 4165),
    "twos % (pairs + 5) >= 4": Fraction(11, 4165),
    " and ".join(["twos > 3"] * 150): Fraction(11, 4165),
    "-twos < -3": Fraction(11, 4165),
    "(legal_leads * 1000)::bigint >= 0 and twos = 4": Fraction(11, 4165),
    "holds_3s::int = 1": Fraction(1, 4),
}


@pytest.mark.parametrize("text", GOOD)
def test_expressions(text: str) -> None:
    (row,) = rows(where=text, deals=1000)
    assert Fraction(row["fraction"]) == GOOD[text]
    assert row["exact"] == float(GOOD[text])


BAD = {
    "twoss > 2": "unknown column 'twoss'; did you mean twos",
    "weight > 3": "unknown column 'weight'",
    "cards > 3": "unknown column 'cards'",
    "twos": "not yes or no",
    "twos + 1": "not yes or no",
    "twos >": "not an SQL expression",
    "": "not an SQL expression",
    "*": "not an SQL expression",
    "twos > 1; select 1": "not an SQL expression",
    "select twos > 1 from self": "not an SQL expression",
    "random() > 1": "not an SQL expression",
    "read_csv('x') > 1": "not an SQL expression",
    "sum(twos) > 3": "an aggregate",
    "max(twos) > 3": "an aggregate",
    "count(*) > 1": "an aggregate",
    "first(twos) > 1": "an aggregate",
    "sum(twos) over () > 3": "is not allowed",
    "rank() over (order by twos) > 1": "is not allowed",
    "row_number() > 1": "is not allowed",
    "lag(twos) over (order by threes) > 1": "is not allowed",
    "twos > (select 1)": "a subquery",
    "exists (select 1)": "a subquery",
    "twos as x": "AS is not allowed",
    "columns('.*') > 1": "is not allowed",
    "1 = 1": "names no column",
    "true": "names no column",
    "twos > 'a'": "must be a number, true or false",
    "twos like 'a%'": "is not allowed",
    "twos is null": "is not allowed",
    "twos / 2 > 1": "is not allowed",
    "case when twos > 1 then true end": "case needs an else",
    "case when twos > 1 then 3 end > 2": "case needs an else",
    "twos % 0 = 0": "% needs a number to its right that is never 0",
    "twos % pairs = 0": "% needs a number to its right that is never 0",
    "twos % (pairs - 3) = 0": "% needs a number to its right that is never 0",
    "mod(twos, abs(pairs)) = 0": "% needs a number to its right that is never 0",
    "case when pairs > 0 then twos % pairs else 1 end = 0": "% needs a number to its right that is never 0",
    "twos in (1, null)": "null is not allowed",
    "nullif(twos, 1) > 1": "must be a number, true or false",
    "twos * 9223372036854775807 >= 0": "a number may be as large as 1.8e+20, more than 64 bits hold",
    "twos * 1000000000 * 1000000000 * 10 > 0": "more than 64 bits hold",
    "legal_leads * legal_leads * legal_leads > 0": "more than 64 bits hold",
    "twos - 9223372036854775807 - 2 < 0": "more than 64 bits hold",
    "abs(twos * -4e18) > 0": "more than 64 bits hold",
    "twos > 99999999999999999999": "more than 64 bits hold",
    "(legal_leads * 1000)::int > 0": "a number may be larger than int holds: write bigint",
    "greatest() > 1": "greatest() is not allowed without arguments",
    "least ( ) > 1": "least() is not allowed without arguments",
    "foo(twos) > 1": "not an SQL expression",
    " and ".join(["twos > 1"] * 8000): "an expression has at most 2,000 characters, got 103,995",
    "+".join(["twos"] * 390) + " > 1": "it has too many terms",
    "case when twos > 1 then " * 60 + "true": "parentheses and cases can be 10 deep at most",
    "abs(" * 11 + "twos" + ")" * 11 + " > 1": "parentheses and cases can be 10 deep at most",
    "not twos": "expected yes or no, got a number",
    "chop > 1": "expected yes or no, got a number",
    "chop and twos": "expected yes or no, got a number",
    "twos > true": "expected a number, got yes or no",
    "twos in ('a')": "",
}


def test_what_is_no_expression() -> None:
    for text, reason in BAD.items():
        try:
            parse(text, KNOWN, "--where")
        except InputError as error:
            message = str(error)
        else:
            pytest.fail(f"{text!r} is taken")
        assert message.startswith(f"--where {text!r}: ")
        assert "\n" not in message, text
        assert reason in message, text


def test_deep_expressions_end_in_a_line() -> None:
    with pytest.raises(InputError):
        parse("(" * 5000 + "twos > 1" + ")" * 5000, KNOWN, "where")


# ---------------------------------------------------------------------------------------------- answers


def test_an_event_of_a_hand() -> None:
    (row,) = rows("dragon")
    assert list(row) == [
        *("event", "exact", "one_in", "fraction"),
        *("estimate", "se", "low", "high", "level", "n", "method", "z"),
    ]
    assert (row["fraction"], row["n"]) == ("23068672/39688347475", DEALS)
    assert row["one_in"] == pytest.approx(1720.4435)
    assert row["low"] < row["exact"] < row["high"]
    assert row["z"] == pytest.approx((row["estimate"] - row["exact"]) / math.sqrt(row["exact"] / DEALS), rel=1e-3)


def test_a_condition() -> None:
    (row,) = rows(where="twos = 3", given="twos >= 2 and chop")
    assert 0.01 < row["acceptance"] < 0.2
    assert row["n"] == round(row["acceptance"] * DEALS)
    assert abs(row["z"]) < 4
    with pytest.raises(InputError, match="no hand of this size"):
        rows("dragon", given="twos > 4")


def test_rare_conditions_are_dealt() -> None:
    """Four 2s and a straight of 6: 1 in 2,000 hands, but a fifth of those that hold four 2s."""
    (plain,) = rows(where="longest_straight >= 6 and not twos <> 4")
    (dealt,) = rows(where="twos = 4 and longest_straight >= 6")
    assert plain["fraction"] == dealt["fraction"]
    assert "acceptance" not in plain
    assert 0.05 < dealt["acceptance"] < 0.5
    assert dealt["se"] < plain["se"] / 10
    assert abs(dealt["z"]) < 4
    (given,) = rows(where="longest_straight >= 6", given="twos = 4")
    assert given["acceptance"] == 1
    assert given["n"] == DEALS
    assert abs(given["z"]) < 4
    (two_decks,) = rows(where="twos >= 5 and threes <= 1 and ranks >= 7", variant="viet-cong", players=5)
    assert 0.3 < two_decks["acceptance"] < 1
    assert abs(two_decks["z"]) < 4
    (whole,) = rows("four_twos")  # a condition that tells all leaves nothing to sample
    assert "acceptance" not in whole


def test_what_an_event_needs_of_ranks() -> None:
    def needs(text: str, copies: int = 4) -> list[list[int]]:
        found = condition(parse(text, KNOWN, "where"), 13, Deck(copies // 4))
        return [] if found is None else found.numbers[:, [0, 12]].tolist()

    assert needs("twos >= 3 and 4 = threes and chop") == [[4, 3], [4, 4]]
    assert needs("four_twos", 8) == [[-1, n] for n in range(4, 9)]
    assert needs("twos > 3 or chop") == needs("not twos = 3") == needs("twos = threes") == []
    assert needs("twos > 4") == []


def test_by_a_column() -> None:
    by_value = rows(by="twos")
    assert [row["twos"] for row in by_value] == [0, 1, 2, 3, 4]
    assert sum(Fraction(row["fraction"]) for row in by_value) == 1
    assert rows("twos")[2] == by_value[2]
    among = rows("four_threes", by="twos")
    assert [row["n"] for row in among] == [round(row["estimate"] * DEALS) for row in by_value]
    assert Fraction(among[4]["fraction"]) * Fraction(11, 4165) == Fraction(math.comb(44, 5), math.comb(52, 13))
    assert [row["chop"] for row in rows(by="chop")] == [False, True]


def test_players() -> None:
    some = rows("four_twos", any_player=True)
    assert [(row["players"], row["fraction"]) for row in some] == [(2, "22/4165"), (3, "33/4165"), (4, "44/4165")]
    counted = rows("four_twos", count_players=True)
    assert [row["holders"] for row in counted] == [0, 1, 2, 3, 4]
    assert counted[1]["fraction"] == "44/4165"
    assert counted[2]["exact"] == counted[2]["estimate"] == 0
    assert all(abs(row["z"]) < 4 for row in some + counted)


@pytest.mark.parametrize("variant", ["classic", "viet-cong,trading=yes"])
def test_what_no_hand_holds(variant: str) -> None:
    """No instant wins in classic; four 2s are none where cards are traded (section 6)."""
    for more in ({}, {"any_player": True}):
        for row in rows("instant_win", variant=variant, players=4, deals=1000, **more):
            assert (row["exact"], row["estimate"], row["n"], row["z"]) == (0, 0, 1000, 0)


def test_where_exact_is_out_of_reach_the_sample_stands_alone() -> None:
    result = tlsim.odds("legal_leads", variant="viet-cong,cards=equal", players=5, deals=20_000, seed=1)
    table = result.to_dict()["tables"]["legal_leads"]
    assert all(row["exact"] is None and row["z"] is None for row in table)
    assert sum(row["estimate"] for row in table) == pytest.approx(1)
    assert "20 cards from 104" in result.to_dict()["tables"]["sampled_only"][0]["why"]


@pytest.mark.parametrize(("variant", "players"), [("classic,cards=17", 3), ("viet-cong", 5)])
def test_a_table_that_is_out_of_reach(variant: str, players: int) -> None:
    """So many states of a hand that not even their keys fit a word."""
    where = "legal_leads >= 100 and strength > 80"
    result = tlsim.odds(where=where, any_player=True, variant=variant, players=players, deals=1000, seed=1)
    assert all(row["exact"] is None and row["n"] == 1000 for row in result.to_dict()["tables"]["odds"])
    assert "100,000 states of a hand" in result.to_dict()["tables"]["sampled_only"][0]["why"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"given": "chop"}, "an event, where or by is needed"),
        ({"any_player": True}, "an event, where or by is needed"),
        (
            {"where": "chop", "any_player": True, "given": "chop"},
            "any or count must be asked alone, without given and by",
        ),
        ({"where": "chop", "any_player": True, "count_players": True}, "any or count"),
        ({"where": "chop", "by": "twoss"}, "by 'twoss': unknown column; did you mean twos"),
        ({"where": "chop", "deals": 0}, r"deals must be from 1 to 10\^12, got 0"),
        ({"where": "chop", "level": 95}, "between 0 and 1"),
        ({"where": "chop", "seed": 2**64}, "64-bit"),
        ({"where": "chop", "players": 9}, "players must be 2 to 4 in southern .*, got 9"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        tlsim.odds(**arguments)
    with pytest.raises(InputError, match="event 'dragn': unknown column; did you mean dragon"):
        tlsim.odds("dragn")
    with pytest.raises(
        InputError, match="event 'twos' is a number: with by, any or count compare it, as in --where 'twos >= 2'"
    ):
        tlsim.odds("twos", any_player=True)


def test_threads_do_not_matter_and_the_command_makes_the_same() -> None:
    one, two = (tlsim.odds("chop", where="twos > 2", by="ranks", deals=200_000, seed=3, threads=n) for n in (1, 2))
    assert json.dumps(one.to_dict()["tables"]) == json.dumps(two.to_dict()["tables"])
    assert one.provenance["command"].startswith("tlsim odds chop --where 'twos > 2' --by ranks -v southern")


# ---------------------------------------------------------------------------------------------- a rule set


@pytest.fixture(scope="module")
def southern(request: pytest.FixtureRequest) -> tlsim.Result:
    return tlsim.odds(deals=request.config.getoption("--odds-deals"), seed=1)


def test_tables_of_a_rule_set(southern: tlsim.Result) -> None:
    tables = southern.tables
    exact = {row["event"]: row["fraction"] for row in tables["instant_wins"].to_dicts()}
    assert exact["four_twos"] == "11/4165"
    assert Fraction(exact["six_pairs"]) == Fraction(2856863152, math.comb(52, 13))
    table = {(row["event"], row["players"]): row["fraction"] for row in tables["some_player"].to_dicts()}
    assert table["instant_win", 4] == "1132238163013952937509383/34924959482740099504711875"  # the number in the README
    mean = tables["mean_leads"].to_dicts()[0]
    by_kind = sum((Fraction(text) for text in tables["leads_by_kind"]["fraction"]), Fraction(0))
    assert Fraction(mean["fraction"]) == by_kind
    assert abs(mean["z"]) < 4
    for name in ("twos", "quads", "longest_straight", "longest_double_straight", "legal_leads", "fewest_plays"):
        assert sum((Fraction(text) for text in tables[name]["fraction"]), Fraction(0)) == 1, name


def test_sampled_and_exact_agree(southern: tlsim.Result) -> None:
    z = southern.tables["agreement"]
    print(z)
    assert z["rows"].sum() > 60
    assert max(z["largest_z"]) < 4.2
    spread = z.filter(pl.col("rows_of").is_in(["longest_straight", "legal_leads"]))["spread"]
    assert all(0.4 < value < 1.7 for value in spread)


@pytest.mark.parametrize(
    ("variant", "players", "by"),
    [("southern", 4, "legal_leads"), ("southern", 4, "strength"), ("viet-cong", 5, "strength")],
)
def test_spread_of_z_over_disjoint_events(variant: str, players: int, by: str, request: pytest.FixtureRequest) -> None:
    deals = request.config.getoption("--odds-deals")
    found = rows(by=by, variant=variant, players=players, deals=deals, seed=4)
    z = [row["z"] for row in found if row["exact"] * deals >= 20]
    spread = math.sqrt(sum(one * one for one in z) / len(z))
    print(f"{variant}, {by}: {len(z)} disjoint events, spread {spread:.3f}, largest |z| {max(map(abs, z)):.2f}")
    assert len(z) > 70
    assert 0.8 < spread < 1.2
    assert max(map(abs, z)) < 4.5


def test_every_number_of_players_and_every_kind_of_hand() -> None:
    found = tlsim.odds(variant="viet-cong", deals=20_000, seed=5)
    assert found.plan["players"] == [2, 3, 4, 5, 6, 7, 8]
    assert (found.plan["cards"], found.plan["decks"]) == (13, [1, 2])
    assert "--players" not in found.provenance["command"]
    for players, decks in ((4, 1), (5, 2)):
        alone = tlsim.odds(variant="viet-cong", players=players, deals=20_000, seed=5)
        for name in ("chops", "twos", "legal_leads", "mean_leads", "leads_by_kind"):
            of_decks = found.tables[name].filter(pl.col("decks") == decks).drop("decks")
            assert of_decks.equals(alone.tables[name]), name
        at_table = found.tables["some_player"].filter(pl.col("players").is_in(alone.tables["some_player"]["players"]))
        assert at_table.equals(alone.tables["some_player"])
    assert not any("decks" in table.columns for table in tlsim.odds(deals=1000, seed=5).tables.values())


def test_the_lowest_card_dealt() -> None:
    """Section 4.3; exact values by hand: 3 of 4 quarters of the deck are dealt, so that 3S is with probability 3/4."""
    cards = tlsim.odds(deals=DEALS, seed=6).tables["lowest_card"]
    exact = {(row["players"], row["card"]): row["fraction"] for row in cards.to_dicts()}
    assert [exact[players, "3S"] for players in (2, 3, 4)] == ["1/2", "3/4", "1/1"]
    assert exact[2, "3C"] == "13/51"
    assert exact[3, "3C"] == "13/68"
    assert sum(Fraction(text) for (players, _), text in exact.items() if players == 2) == 1
    assert max(map(abs, cards["z"])) < 4.2
    places = tlsim.odds(variant="viet-cong", players=5, deals=DEALS, seed=7).tables["lowest_card_holder"]
    assert max(map(abs, places["z"])) < 4.2
    for players in (5, 6, 7, 8):
        of_table = places.filter(pl.col("players") == players)
        assert of_table["place"].to_list() == list(range(1, players + 1))
        assert of_table["exact"].is_sorted(descending=True)
        assert sum(map(Fraction, of_table["fraction"])) == 1


def test_ctrl_c_leaves_the_result_of_the_deals_that_were_done() -> None:
    calls = []

    def stop(done: int, deals: int, estimate: Any) -> None:
        calls.append((done, deals, estimate()))
        if len(calls) == 2:
            raise KeyboardInterrupt

    asked: dict[str, Any] = {"where": "twos = 4", "seed": 8}
    with pytest.raises(tlsim.Interrupted, match="interrupted after 131,072 of 1,000,000 deals") as caught:
        tlsim.odds("dragon", "fewest_plays", deals=1_000_000, progress=stop, **asked)
    assert calls[1][2].startswith("dragon 0.0")
    done = caught.value.result
    assert done.plan["deals"] == calls[1][0]
    again = tlsim.odds("dragon", "fewest_plays", deals=done.plan["deals"], **asked)
    assert json.dumps(again.to_dict()["tables"]) == json.dumps(done.to_dict()["tables"])
    assert "-n 1000000" in caught.value.command


@pytest.mark.parametrize("width", [80, 100])
def test_text_fits(southern: tlsim.Result, width: int) -> None:
    lines = southern.to_text(width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert any("1,720.44" in line for line in lines)
    assert any("11 / 4165" in line for line in lines)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_figures(southern: tlsim.Result, tmp_path: Path, suffix: str) -> None:
    for number, result in enumerate(
        (southern, tlsim.odds("chop", where="dragon", any_player=True, deals=1000, seed=1))
    ):
        result.plot().savefig(tmp_path / f"{number}.{suffix}")
        assert (tmp_path / f"{number}.{suffix}").stat().st_size > 5000


@pytest.mark.parametrize(
    ("variant", "players", "cards"), [("classic,cards=17", 3, 17), ("viet-cong,cards=equal", 5, 20)]
)
def test_other_hands(variant: str, players: int, cards: int) -> None:
    result = tlsim.odds("chop", "quads", variant=variant, players=players, deals=50_000, seed=2)
    assert result.plan["cards"] == cards
    assert all(abs(row["z"]) < 4.5 for row in result.to_dict()["tables"]["quads"] + result.to_dict()["tables"]["odds"])


def test_a_hand_of_two_decks() -> None:
    """Its odds are those of two decks: four 2s in 14 of 104 cards, by hand."""
    found = tlsim.hand("3S 3S 4S 4S 5S 5C 2S 2S 2C 2D 9H 9H 9D 9S", variant="classic,cards=equal").tables
    assert found["hand"]["legal_leads"][0] == found["combinations"]["count"].sum() == 32
    four = Fraction(sum(math.comb(8, k) * math.comb(96, 14 - k) for k in range(4, 9)), math.comb(104, 14))
    rare = dict(zip(found["rarity"]["holds"], found["rarity"]["fraction"], strict=True))
    assert Fraction(rare["twos >= 4"]) == four
