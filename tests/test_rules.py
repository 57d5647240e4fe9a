import random
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from tables import random_rules

from tlsim.errors import InputError
from tlsim.rules.ruleset import (
    LINES,
    TARGETS,
    Rules,
    check_players,
    chop_line,
    deal_of,
    format_value,
    pack,
    player_counts,
    rule_fields,
)
from tlsim.rules.variantfiles import builtin, builtin_names, differences, from_toml, parse_variant, to_toml

WINS = ("dragon", "five-pair-straight", "four-twos", "six-pairs")  # of mien-nam and dem-la (section 6)


def test_every_rule_says_what_it_means_and_where_it_is_from() -> None:
    for field in rule_fields():
        assert field.metadata["meaning"]
        assert field.metadata["section"][0].isdigit()
    assert all(builtin(name).summary for name in builtin_names())


def test_builtin_variants() -> None:
    assert builtin_names() == ("classic", "viet-cong", "southern", "mien-nam", "dem-la")
    southern = builtin("southern")
    assert dict(southern.chops)["quad"] == ("two", "two-twos", "double-straight-3")
    assert (southern.first_lead, builtin("classic").first_lead) == ("included", "alone")
    assert builtin("viet-cong").instant_wins == ("four-twos",)
    assert [(key, a, b) for key, a, b in differences(southern, builtin("mien-nam"))] == [
        ("unlocked_chops", "none", "double-straight-4"),
        ("instant_wins", "dragon+five-pair-straight+four-twos+six-pairs+one-colour", format_value(WINS)),
        ("opening_instant_wins", "four-threes+threes-double-straight", "four-threes"),
        ("payoff", "stake", "places"),
        ("chop_penalties", "no", "yes"),
        ("cong", "no", "yes"),
    ]
    assert [(key, a, b) for key, a, b in differences(builtin("mien-nam"), builtin("dem-la"))] == [
        ("ends", "last", "first-out"),
        ("payoff", "places", "cards"),
        ("leftover_penalties", "yes", "no"),
        ("chop_penalties", "yes", "no"),
    ]


def test_changes() -> None:
    rules = parse_variant("southern,pass_locks=no, chops.quad=two+two-twos,instant_wins=none")
    assert rules.name == "southern,pass_locks=no,chops.quad=two+two-twos,instant_wins=none"
    changed = {key: (a, b) for key, a, b in differences(builtin("southern"), rules)}
    assert changed["pass_locks"] == ("yes", "no")
    assert changed["chops.quad"] == ("two+two-twos+double-straight-3", "two+two-twos")
    assert changed["instant_wins"][1] == "none"
    assert len(changed) == 3
    assert parse_variant("southern,chops=none,chops.quad=two").chops == (("quad", ("two",)),)
    assert differences(rules, replace(rules, name="other")) == []
    assert rules == replace(rules, name="other")  # the name plays no part


def test_toml_holds_only_differences(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('base = "southern"\nmust_play = true\n[chops]\nquad = ["two"]\n')
    rules = parse_variant(f"{path},pass_locks=no")
    assert rules.name == "house.toml,pass_locks=no"
    assert {key for key, _, _ in differences(builtin("southern"), rules)} == {"must_play", "chops.quad", "pass_locks"}
    assert from_toml("", "empty", "empty.toml") == Rules()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("must_play = \n", r"house.toml: not valid TOML: .*line 1"),
        ("\n\nmust_play = maybe", r"house.toml: not valid TOML: .*line 3"),
        ("must_pla = true", r"house.toml: unknown key 'must_pla'; did you mean must_play\?"),
        ("must_play = 1", r"house.toml: must_play must be yes or no \(true or false in TOML\), got 1"),
        ("straight_min = 2", r"house.toml: straight_min must be from 3 to 13, got 2"),
        ("straight_min = true", r"house.toml: straight_min must be a whole number, got True"),
        ('straight_min = "3"', r"house.toml: straight_min must be a whole number, got '3'"),
        ('instant_wins = ["dragn"]', r"house.toml: instant_wins: unknown name 'dragn'; did you mean dragon\?"),
        ('instant_wins = "dragon"', r"house.toml: instant_wins must be a list of names, got 'dragon'"),
        ("instant_wins = [3]", r"house.toml: instant_wins must be a list of names, got \(3,\)"),
        ('instant_wins = ["dragon", "dragon"]', r"house.toml: instant_wins must not repeat a name, got dragon\+dragon"),
        ('base = "sothern"', r"house.toml: unknown variant 'sothern'; did you mean southern\?"),
        ("base = 3", r"house.toml: base must be the name of a built-in variant, got 3"),
        ("summary = 3", r"house.toml: summary must be one line of text, got 3"),
        ("chops = 3", r"house.toml: chops must be a table, .*, got 3"),
        ('[chops]\nquad = "two"', r"house.toml: chops.quad must be a list of names, got 'two'"),
        ('[chops]\nquads = ["two"]', r"house.toml: chops: unknown name 'quads'; did you mean quad\?"),
        (
            '[chops]\nquad = ["quad"]',
            r"house.toml: chops.quad must not name quad: a play beats its own kind by its top card",
        ),
        ("cards = 14", r"house.toml: cards must be one of 13, 17, equal, got 14"),
        ("min_players = 4\nmax_players = 3", r"house.toml: min_players must be at most max_players = 3, got 4"),
        (
            "cards = 17\nmax_players = 2",
            r"house.toml: cards = 17 with decks = auto can be dealt to 3 players, got min_players = 2",
        ),
        ('payoff = "cards"', r"house.toml: payoff = cards needs ends = first-out, got ends = last"),
        ("cong = true", r"house.toml: cong = yes needs payoff = places or payoff = cards, got payoff = stake"),
        (
            'unlocked_chops = ["quad"]',
            r"house.toml: unlocked_chops must be lines of the chop table, which has no line quad",
        ),
        (
            '[chops]\nquad = ["double-straight-3"]',
            r"house.toml: chops.quad must name .*, which has no line double-straight-3",
        ),
        (
            'instant_wins = ["dragon"]\nopening_instant_wins = ["dragon"]',
            r"house.toml: opening_instant_wins must not repeat what instant_wins lists, got dragon",
        ),
        (
            'cards = "equal"',
            r"house.toml: cards = equal with decks = auto can be dealt to 5 to 8 players, got min_players = 2 and",
        ),
        ('cards = "equal"\ndecks = 1', r"house.toml: cards = equal with decks = 1 can be dealt to nobody, got"),
        ("cards = 17\ndecks = 2", r"house.toml: cards = 17 with decks = 2 can be dealt to nobody, got"),
        (
            "decks = 1\nmin_players = 5\nmax_players = 6",
            r"house.toml: cards = 13 with decks = 1 can be dealt to 2 to 4 players",
        ),
        ("decks = 1.0", r"house.toml: decks must be one of auto, 1, 2, got 1.0"),
        ("ends = {last = true}", r"house.toml: ends must be one of last, first-out, got \{'last': True\}"),
        ("instant_wins = {dragon = true}", r"house.toml: instant_wins must be a list of names, got \{'dragon': True\}"),
        ("straight_min = 13", r"house.toml: straight_min must be at most 12 without straight_twos, got 13"),
    ],
)
def test_bad_toml(text: str, message: str) -> None:
    with pytest.raises(InputError, match="^" + message) as caught:
        from_toml(text, "house.toml", "house.toml")
    assert "\n" not in str(caught.value)


def check_toml(rules: Rules) -> None:
    text = to_toml(rules)
    again = from_toml(text, rules.name, "again.toml")
    assert (again, again.name, again.summary) == (rules, rules.name, rules.summary)
    assert to_toml(again) == text
    assert set(tomllib.loads(text)) == {"summary", *(field.name for field in rule_fields())}
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("name", builtin_names())
def test_toml_of_a_variant_reads_back(name: str) -> None:
    check_toml(builtin(name))
    check_toml(parse_variant(f"{name},pass_locks=no,unlocked_chops=none,chops=none,instant_wins=none"))
    text = to_toml(builtin(name))
    for field in rule_fields():
        assert f"\n{field.name} = " in text or field.name == "chops"
        assert f"(§{field.metadata['section']})" in text


def test_toml_of_a_file_with_a_base(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('base = "mien-nam"\nsummary = "\\"ours\\" \\\\ \\u007f \\n"\n[chops]\nquad = []\n')
    rules = parse_variant(f"{path},must_play=yes")
    check_toml(rules)
    assert "base" not in tomllib.loads(to_toml(rules))


def test_toml_of_random_rules() -> None:
    rng = random.Random(6)
    for _ in range(100):
        check_toml(random_rules(rng, two_decks=True))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("southen", r"unknown variant 'southen'; did you mean southern\?"),
        ("southern,pass_lock=no", r"southern,pass_lock=no: unknown key 'pass_lock'; did you mean pass_locks\?"),
        (
            "southern,pass_locks",
            r"southern,pass_locks: a change is written key=value, as pass_locks=no, got 'pass_locks'",
        ),
        ("southern,pass_locks=perhaps", r"southern,pass_locks=perhaps: pass_locks must be yes or no .*, got 'perhaps'"),
        ("southern,straight_min=three", r".*straight_min must be a whole number, got 'three'"),
        ("southern,chops=quad", r".*chops must be none, or set line by line as chops.quad=two\+two-twos, got quad"),
        ("southern,payoff=cash", r".*payoff must be one of stake, places, cards, got cash"),
        ("no/such/file.toml", r"cannot read no/such/file.toml: No such file or directory; built-in variants: classic"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(InputError, match="^" + message) as caught:
        parse_variant(spec)
    assert "\n" not in str(caught.value)


def test_player_counts() -> None:
    assert player_counts(builtin("classic")) == [2, 3, 4, 5, 6, 7, 8]
    assert player_counts(parse_variant("classic,decks=1")) == [2, 3, 4]
    assert player_counts(parse_variant("classic,cards=17")) == [3]
    assert player_counts(parse_variant("classic,cards=equal")) == [5, 6, 7, 8]
    assert [deal_of(parse_variant("classic,cards=equal"), n) for n in (5, 6, 7, 8)] == [
        (2, 20),
        (2, 17),
        (2, 14),
        (2, 13),
    ]
    assert check_players(builtin("classic"), None) == 4
    assert check_players(builtin("southern"), None) == 4
    with pytest.raises(InputError, match=r"players must be 2 to 4 in southern \(13 cards each from one .*\), got 5"):
        check_players(builtin("southern"), 5)
    with pytest.raises(
        InputError,
        match=r"players must be 2 to 8 in classic \(13 cards each from one deck, two above four players\), got 9",
    ):
        check_players(builtin("classic"), 9)
    with pytest.raises(InputError, match=r"players must be 3 in southern,cards=17 \(17 cards each .*\), got 4"):
        check_players(parse_variant("southern,cards=17"), 4)


def test_a_longer_double_straight_takes_the_nearest_shorter_line() -> None:
    viet_cong = builtin("viet-cong")
    lines = {chop: chop_line(viet_cong, chop) for chop in LINES}
    assert lines["double-straight-4"] == "double-straight-3"
    assert lines["double-straight-6"] == "double-straight-5"
    assert lines["double-straight-13"] == "double-straight-7"
    assert lines["quad-run-3"] == "quad-run-3"
    assert chop_line(builtin("southern"), "quad-run-2") is None


def test_packed_record() -> None:
    record = pack(builtin("southern"), 4)[0]
    chopped_by = {
        target: {TARGETS[bit] for bit in range(len(TARGETS)) if record["chopped_by"][i] >> bit & 1}
        for i, target in enumerate(TARGETS)
    }
    assert chopped_by["two"] == {"double-straight-3", "quad", "double-straight-4"}
    assert chopped_by["two-twos"] == {"quad", "double-straight-4"}
    assert chopped_by["double-straight-3"] == {"quad", "double-straight-4"}
    assert chopped_by["quad"] == {"double-straight-4"}
    assert chopped_by["double-straight-4"] == set()
    assert pack(builtin("southern"), 4).tobytes() == pack(replace(builtin("southern"), name="x"), 4).tobytes()
