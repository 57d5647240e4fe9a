"""Matches: kernels against the slow twin, their tally against loops over hands, the tables, and the command line."""

import json
import operator
import os
import random
import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from operator import floordiv
from typing import Any

import naive_hand
import numpy as np
import pytest
from click.testing import CliRunner
from naive import Cards
from tables import every_table, random_rules

import tlsim
from tlsim.cli import main
from tlsim.cli.progress import ProgressLine
from tlsim.errors import InputError, PlayFault
from tlsim.play import matches, runner
from tlsim.play.bounds import ONE, largest_metric_of_match, most_payoff
from tlsim.play.matches import MatchRunner
from tlsim.play.plan import MAX_MATCH, Plan
from tlsim.play.runner import Runner
from tlsim.play.transcript import replay
from tlsim.plugins.load import compile_function, parse_policies
from tlsim.rules.cards import parse_card
from tlsim.rules.ruleset import Rules, player_counts
from tlsim.rules.variantfiles import parse_variant
from tlsim.stats import match_tables, tables

TABLES = every_table()
Transcript = dict[str, Any]


def plan_of(
    *policies: str, variant: str | Rules = "southern", players: int = 4, match: int | None = 5, **more: int
) -> Plan:
    rules = parse_variant(variant) if isinstance(variant, str) else variant
    chosen = parse_policies(list(policies or ["lowest"]), players)
    return Plan(rules, players, tuple(chosen), more.get("deals", 2000), more.get("seed", 1), match)


def tally_of(plan: Plan, threads: int = 1, block: int | None = None) -> Any:
    module: Any = matches if plan.match else runner
    return sum(found.tally for found in module.blocks(plan, threads, block=block))


def played(plan: Plan, first: int, stop: int) -> list[list[Transcript]]:
    """Return the hands of matches, each in every seating."""
    written = matches.hands(plan, first, stop)
    return [list(hands) for _, hands in groupby(written, lambda hand: (hand["match"], hand["policies"]))]


# ------------------------------------------------------------------------------------------------ the slow twin


def play_in_twin(rules: Rules, written: list[Transcript]) -> None:
    """Play a match's turns in the twin and compare everything that comes out."""
    turns: Iterator[Transcript] = (turn for hand in written for turn in hand["plays"])

    def choose(seat: int, _position: naive_hand.Position) -> Cards:
        turn = next(turns)
        assert turn["player"] == seat
        return tuple(sorted(map(parse_card, turn["cards"])))

    deals = [[tuple(sorted(map(parse_card, hand))) for hand in one["hands"]] for one in written]
    expected = naive_hand.play_match(rules, deals, written[0]["dealer"], choose)
    assert next(turns, None) is None
    won_before = True
    for hand, one in zip(expected, written, strict=True):
        required = one["required"] and parse_card(one["required"])
        assert (one["dealer"], one["leader"], required) == (hand.dealer, hand.leader, hand.required), one
        assert one["opening"] == won_before, one
        won = one["instant_win"]
        assert hand.instant_win == (won and (won["player"], won["kind"])), one
        assert (hand.places, [half / 2 for half in hand.payoffs]) == (one["places"], one["payoffs"]), one
        won_before = won is not None


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_matches_are_those_of_the_slow_twin(variant: str, players: int) -> None:
    rng = random.Random(f"match {variant} {players}")
    for policies in (["lowest"], ["random"], ["random", *["lowest"] * (players - 1)]):
        for every in (False, True):
            rules = replace(parse_variant(variant), first_lead_every_hand=every)
            plan = plan_of(*policies, variant=rules, players=players, match=rng.randint(1, 5), seed=rng.getrandbits(60))
            for written in played(plan, 3, 5):
                play_in_twin(rules, written)
                assert [replay(rules, hand) for hand in written] == written


def test_matches_of_random_rules_are_those_of_the_slow_twin() -> None:
    rng = random.Random(11)
    for _ in range(30):
        rules = replace(random_rules(rng), first_lead_every_hand=rng.random() < 0.5)
        players = rng.choice(player_counts(rules))
        for written in played(plan_of("random", variant=rules, players=players, match=4), 0, 2):
            play_in_twin(rules, written)
            assert [replay(rules, hand) for hand in written] == written


@pytest.mark.parametrize("every", [False, True])
def test_the_next_hand_after_instant_wins(every: bool) -> None:
    """An opening hand, dealt by the winner's right-hand neighbour, so that the winner acts first after the dealer."""
    rules = replace(parse_variant("southern"), first_lead_every_hand=every)
    won = 0
    for written in played(plan_of(variant=rules), 0, 60):
        for hand, after in pairwise(written):
            first, loser = hand["places"].index(1), hand["places"].index(4)
            if hand["instant_win"]:
                won += 1
                assert after["opening"]
                assert after["dealer"] == (first - 1) % 4
            else:
                assert not after["opening"]
                assert after["dealer"] == loser
            governed = every or after["opening"]
            assert (after["required"] is not None) == governed
            lowest = min((parse_card(card), seat) for seat, cards in enumerate(after["hands"]) for card in cards)
            assert after["leader"] == (lowest[1] if governed else first)
            assert not after["plays"] or not governed or after["required"] in after["plays"][0]["cards"]
    assert won > 5


def test_the_first_hand_of_a_match_is_a_deal_of_its_own() -> None:
    (alone,) = runner.hands(plan_of("random", match=None), 35, 36)
    assert played(plan_of("random"), 7, 8)[0][0] == alone | {"match": 7}


# ------------------------------------------------------------------------------------------------ the tally


def metrics_of(plan: Plan, rows: Any) -> list[int]:
    """Return the metrics of one match, given the rows of all seatings, in the layout of its tally without the bins."""
    where, hands = matches.layout(plan), plan.match or 0
    found = np.zeros(where.money_at, object)
    for seats, played in zip(plan.seatings, rows.reshape(-1, hands), strict=True):
        totals, won = [0] * plan.players, [row["places"].tolist().index(1) for row in played]
        streaks = [next(k for k in range(1, h + 2) if k > h or won[h - k] != won[h]) for h in range(hands)]
        for h, row in enumerate(played):
            leader = row["leader"]
            totals = [total + int(paid) for total, paid in zip(totals, row["payoffs"], strict=False)]
            at, instant = where.hands_at + h * where.stride, row["instant"] >= 0
            plays = 0 if instant else int(row["plays"])
            found[at : at + 3] += [int(won[h] == leader), int(row["payoffs"][leader]), int(instant)]
            found[at + 3 : at + 5] += [plays, int(not instant)]
            if h:
                again, at_streak = won[h] == won[h - 1], where.hands_at + (streaks[h - 1] - 1) * where.stride
                found[at_streak + 5] += again
                found[at_streak + 6] += 1
                found[matches.AGAIN] += again
            groups = [[seat for seat in range(plan.players) if seats[seat] == p] for p in range(where.n_policies)]
            for g, group in enumerate([*groups, [played[0]["leader"]], [won[0]]]):
                ahead = sum(totals[seat] == max(totals) for seat in group) * ONE // totals.count(max(totals))
                found[at + 8 + 2 * g : at + 10 + 2 * g] += [sum(totals[seat] for seat in group), ahead]
        found[where.hands_at + (max(streaks) - 1) * where.stride + 7] += 1
        first, second = sorted(totals)[:-3:-1]
        found[: matches.POLICIES_AT] += [0, max(streaks), first - second]
        for p in range(where.n_policies):
            mine = [totals[seat] for seat in range(plan.players) if seats[seat] == p]
            rest, times = (sum(part(total * total, where.most) for total in mine) for part in (operator.mod, floordiv))
            ends = [sum(total > 0 for total in mine), sum(mine), rest, times, sum(mine)]
            found[where.policy_at(p) : where.policy_at(p + 1)] += ends
    return [int(value) for value in found]


@pytest.mark.parametrize(
    ("policies", "variant", "players"),
    [
        (["lowest"], "southern", 4),
        (["lowest", "random", "random"], "mien-nam", 3),
        (["lowest", "random", "random", "lowest"], "dem-la", 4),
        (["random", "lowest"], "viet-cong,first_lead_every_hand=yes", 2),
    ],
)
def test_the_tally_is_what_loops_over_the_hands_find(policies: list[str], variant: str, players: int) -> None:
    plan = plan_of(*policies, variant=variant, players=players, match=4, deals=40)
    block, where = MatchRunner(plan).play(0, 40, keep=True), matches.layout(plan)
    assert block.rows is not None
    units = np.array([metrics_of(plan, rows) for rows in block.rows.reshape(40, -1)], object)
    tally = block.tally[:, where.start : where.start + where.money_at]
    assert (tally[0] == units.sum(0)).all()
    assert (tally[1] == (units**2).sum(0)).all()
    assert (tally[2][:-1] == (units[:, :-1] * units[:, 1:]).sum(0)).all()
    assert block.tally[0, 0] == len(block.rows)
    assert block.tally[0, 1] == (block.rows["instant"] < 0).sum()
    assert block.tally[2, 2] == sum(
        rows["plays"].sum() * (rows["instant"] < 0).sum() for rows in block.rows.reshape(40, -1)
    )
    totals = block.rows["payoffs"].reshape(40, len(plan.seatings), 4, -1)[..., :players].sum(2)
    for p in range(len(plan.distinct)):
        counts, squares = block.tally[:2, where.start + where.money_at :].reshape(2, -1, where.bins)[:, p]
        mine = totals[:, np.array(plan.seatings) == p]
        for value in (-7, 0, 3):
            assert counts[: value + where.most + 1].sum() == (mine <= value).sum()
            assert squares[: value + where.most + 1].sum() == ((mine <= value).sum(1) ** 2).sum()


@pytest.mark.parametrize("policies", [["lowest"], ["random"], ["lowest", "random", "random", "lowest"]])
def test_results_depend_neither_on_threads_nor_on_blocks(policies: list[str]) -> None:
    plan = plan_of(*policies, deals=400)
    one = tally_of(plan)
    for threads, block in [(2, None), (2, 7), (1, 100), (3, 399)]:
        assert np.array_equal(tally_of(plan, threads, block), one)


@pytest.mark.parametrize(("variant", "players"), TABLES)
def test_payoffs_sum_to_zero_within_their_bound(variant: str, players: int) -> None:
    plan = plan_of("random", variant=variant, players=players, deals=300)
    rows = MatchRunner(plan).play(0, 300, keep=True).rows
    assert rows is not None
    paid = rows["payoffs"][:, :players]
    assert (paid.sum(1) == 0).all()
    assert abs(paid).max() <= most_payoff(plan.rules, players)


def test_the_bound_of_payoffs_holds_for_random_rules() -> None:
    rng = random.Random(5)
    for _ in range(40):
        rules = random_rules(rng)
        players = rng.choice(player_counts(rules))
        rows = Runner(plan_of("random", variant=rules, players=players, match=None)).play(0, 200, keep=True).rows
        assert rows is not None
        assert abs(rows["payoffs"][:, :players]).max() <= most_payoff(rules, players)


def test_a_fault_says_in_which_match() -> None:
    def choose(_rules: Any, _view: Any, _stream: Any) -> int:
        return 0

    policy = compile_function("bad", choose)
    with pytest.raises(PlayFault, match=r"may not pass: a pass \(seed 9, match 0, deal 0, turn 0, seat "):
        tally_of(Plan(parse_variant("southern"), 4, (policy,) * 4, 10, 9, 3))


# ------------------------------------------------------------------------------------------------ the tables


@pytest.mark.parametrize(
    ("policies", "variant"), [(["lowest"], "southern"), (["lowest", "random", "random", "lowest"], "mien-nam")]
)
def test_matches_of_one_hand_are_single_hands(policies: list[str], variant: str) -> None:
    """To the bit, in all tables that both have, but for what the units are called."""
    alone, match = (plan_of(*policies, variant=variant, match=n) for n in (None, 1))
    single = tables.tables(alone, tally_of(alone))
    both = match_tables.tables(match, tally_of(match))
    assert list(both)[: len(single)] == list(single)
    for name, table in single.items():
        assert both[name].to_dicts() == table.to_dicts()
    ends = {row["metric"]: row for row in both["by_hand"].to_dicts()}
    leader = {row["metric"]: row for row in single["leader"].to_dicts() if row["role"] == "leader"}
    assert ends["leader_payoff"]["estimate"] == leader["payoff"]["estimate"]


def test_every_number_has_its_interval() -> None:
    found = tlsim.simulate(policies=["lowest", "random"], players=2, deals=300, seed=4, match=6, level=0.9).to_dict()
    for name, rows in found["tables"].items():
        for row in rows:
            assert list(row)[-7:] == ["estimate", "se", "low", "high", "level", "n", "method"]
            assert row["estimate"] is None or row["low"] is None or row["low"] <= row["estimate"] <= row["high"], name
    assert [row["hand"] for row in found["tables"]["by_hand"][::4]] == [1, 2, 3, 4, 5, 6]
    assert {row["policy"] for row in found["tables"]["running"]} == {"lowest", "random"}


def test_tables_agree_with_one_another() -> None:
    tables = tlsim.simulate("mien-nam", ["lowest", "random", "random"], deals=3000, seed=1, players=3, match=6).tables
    money = {(row["policy"], row["metric"]): row["estimate"] for row in tables["money"].to_dicts()}
    by_policy = {(row["policy"], row["metric"]): row["estimate"] for row in tables["policies"].to_dicts()}
    assert money["lowest", "payoff"] == pytest.approx(6 * by_policy["lowest", "payoff"])
    assert money["lowest", "ahead"] + 2 * money["random", "ahead"] == pytest.approx(1)
    last = {row["policy"]: row for row in tables["running"].to_dicts() if row["hand"] == 6 and row["metric"] == "ahead"}
    assert last["random"]["estimate"] == money["random", "ahead"]
    longest = [row["estimate"] for row in tables["streaks"].to_dicts() if row["metric"] == "longest"]
    assert sum(longest) == pytest.approx(1)
    by_hand = [row["estimate"] for row in tables["by_hand"].to_dicts() if row["metric"] == "leader_first_out"]
    leader = tables["leader"].to_dicts()[0]["estimate"]
    assert sum(by_hand) / 6 == pytest.approx(leader)
    match = {row["metric"]: row["estimate"] for row in tables["match"].to_dicts()}
    assert match["longest_streak"] == pytest.approx(sum(k * share for k, share in enumerate(longest, 1)))


def test_money_is_that_of_the_matches() -> None:
    plan = plan_of("lowest", "random", players=2, deals=200, match=6)
    rows = MatchRunner(plan).play(0, 200, keep=True).rows
    assert rows is not None
    totals = rows["payoffs"].reshape(200, 2, 6, -1).sum(2)
    mine = np.sort(np.concatenate([totals[:, 0, 0], totals[:, 1, 1]])) / 2  # of `lowest`, in both seatings
    tables = match_tables.tables(plan, tally_of(plan, 2))
    quantiles = [row["estimate"] for row in tables["quantiles"].to_dicts() if row["policy"] == "lowest"]
    assert quantiles == [mine[int(np.ceil(q * 400)) - 1] for q in match_tables.QUANTILES]
    money = {row["metric"]: row["estimate"] for row in tables["money"].to_dicts() if row["policy"] == "lowest"}
    assert money["payoff"] == pytest.approx(mine.mean())
    assert money["deviation"] == pytest.approx(mine.std())
    assert money["above_0"] == (mine > 0).mean()


def test_the_error_of_the_deviation_is_by_match() -> None:
    plan = plan_of("lowest", "random", "random", variant="mien-nam", players=3, deals=300, match=4)
    rows = MatchRunner(plan).play(0, 300, keep=True).rows
    assert rows is not None
    totals = rows["payoffs"].reshape(300, 3, 4, -1)[..., :3].sum(2) / 2  # by match, seating and seat
    of_random = totals[:, np.array(plan.seatings) == 1]
    by_match = ((of_random - of_random.mean()) ** 2).sum(1)
    money = match_tables.tables(plan, tally_of(plan, 2))["money"].to_dicts()
    (row,) = (row for row in money if (row["policy"], row["metric"]) == ("random", "deviation"))
    assert row["estimate"] == pytest.approx(of_random.std())
    assert row["se"] == pytest.approx(by_match.std(ddof=1) / np.sqrt(300) / 6 / (2 * of_random.std()))


@pytest.mark.parametrize(
    ("policies", "players"),
    [(["lowest"], 4), (["lowest", "random"], 2), (["lowest", "random", "random"], 3), (["random", "lowest"] * 2, 4)],
)
def test_the_bound_of_the_metrics_of_a_match(policies: list[str], players: int) -> None:
    for variant in ("southern", "mien-nam", "dem-la"):
        plan = plan_of(*policies, variant=variant, players=players, match=3)
        most_seats = max(map(plan.policies.count, plan.policies))
        most = largest_metric_of_match(plan.rules, players, most_seats, 3) * len(plan.seatings)
        for number in range(100):
            tally = MatchRunner(plan).play(number, number + 1).tally
            assert abs(tally[0]).max() <= most
            assert abs(tally[1:]).max() <= most**2


def test_what_the_rules_fix_has_no_interval_and_chance_has() -> None:
    """Three matches, of which none has an instant win, know little; that payoffs add up to 0 needs no match."""
    tables = tlsim.simulate("mien-nam", deals=3, seed=1, match=2).tables
    money = {row["metric"]: row for row in tables["money"].to_dicts()}
    assert (money["payoff"]["method"], money["payoff"]["low"], money["payoff"]["high"]) == ("by rule", 0, 0)
    assert (money["ahead"]["method"], money["ahead"]["estimate"]) == ("by rule", 0.25)
    anyone = tables["instant_wins"].to_dicts()[-1]
    assert (anyone["estimate"], anyone["low"]) == (0, 0)
    assert anyone["high"] > 0.3
    alone = {
        row["metric"]: row for row in tlsim.simulate("southern", deals=500, seed=1, match=1).tables["match"].to_dicts()
    }
    assert alone["longest_streak"]["method"] == "by rule"


# ------------------------------------------------------------------------------------------------ the command line


def run(*args: str) -> Any:
    return CliRunner().invoke(main, list(args))


WRONG = {
    "simulate --match 0": "match must be from 1 to 1000 hands, got 0",
    "simulate --match -2": "match must be from 1 to 1000 hands, got -2",
    f"simulate --match {MAX_MATCH + 1}": "match must be from 1 to 1000 hands, got 1001",
    "simulate --match ten": "'ten' is not a valid integer",
    "simulate --match": "requires an argument",
    "simulate -n 0 --match 3": "matches must be from 1 to 333,333,333,333,333, got 0",
    "simulate -n 1e15 --match 3": "matches must be from 1 to 333,333,333,333,333, got 1000000000000000",
    "simulate -n 1e12 --match 100 -p lowest -p random --players 2": (
        "matches of 100 hands in 2 seatings must be at most 73,528,157,181, so that sums of squares fit 64 bits"
    ),
    "replay --match 0": "match must be from 1 to 1000 hands, got 0",
    "replay --match 3 --deal 5:5": "count from 0",
}  # fmt: skip


@pytest.mark.parametrize("line", WRONG)
def test_wrong_input(line: str) -> None:
    result = run(*line.split())
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert WRONG[line] in result.stderr


def test_numbers_of_the_api_are_checked() -> None:
    with pytest.raises(InputError, match=r"match must be a whole number, got 2.5"):
        tlsim.simulate(deals=10, match=2.5)  # type: ignore[arg-type]  # that is what is refused


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("policies", [["lowest"], ["lowest", "random", "random", "random"]])
def test_the_tables_fit(policies: list[str], width: int) -> None:
    result = tlsim.simulate(policies=policies, deals=50, seed=1, match=4)
    assert max(map(len, result.to_text(width=width).splitlines())) <= width


def test_simulate() -> None:
    result = run("simulate", "-n", "200", "--seed", "1", "--match", "4")
    assert " · matches 200 · match 4 · seed 1" in result.stdout.replace("\n", " ").replace("\xa0", " ")
    assert "\nby hand (95 % intervals, n = 200)\n" in result.stdout
    assert result.stderr.splitlines()[-1].startswith("200 matches in ")
    made = json.loads(run("simulate", "-n", "200", "--seed", "1", "--match", "4", "--format", "json").stdout)
    assert (made["plan"]["matches"], made["plan"]["match"]) == (200, 4)
    assert "deals" not in made["plan"]
    again = json.loads(run(*made["provenance"]["command"].split()[1:], "--threads", "2", "--format", "json").stdout)
    assert (again["plan"], again["tables"]) == (made["plan"], made["tables"])


def test_ctrl_c_counts_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProgressLine, "__call__", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    result = run("simulate", "-n", "1M", "--seed", "4", "--match", "5", "--format", "json")
    done = json.loads(result.stdout)["plan"]["matches"]
    assert result.exit_code == 130
    assert result.stderr.splitlines()[-1].startswith(f"interrupted after {done:,} of 1,000,000 matches; to run all")
    assert result.stderr.rstrip().endswith("--match 5")


def test_replay() -> None:
    args = ["replay", "--seed", "1", "--deal", "3:5", "--match", "3", "-p", "lowest", "-p", "random", "--players", "2"]
    lines = run(*args, "--format", "jsonl").stdout.splitlines()
    hands = [json.loads(line) for line in lines]
    assert [(hand["match"], hand["index"]) for hand in hands] == [
        *[(3, deal) for deal in (9, 10, 11)] * 2, *[(4, deal) for deal in (12, 13, 14)] * 2
    ]  # fmt: skip
    assert [replay(parse_variant("southern"), hand) for hand in hands] == hands
    result = tlsim.replay(policies=["lowest", "random"], players=2, seed=1, deal=(3, 5), match=3)
    assert result.extra["hands"] == hands
    assert result.tables["seats"]["seating"].to_list() == [0] * 6 + [1] * 6 + [0] * 6 + [1] * 6
    text = run(*args).stdout
    assert text.startswith("match 3 · deal 9 · seed 1 · southern · opening hand · seat ")
    assert text.count(" total ") == 24
    assert max(map(len, text.splitlines())) <= 100


def test_totals_of_a_match_as_text() -> None:
    result = tlsim.replay(seed=1, deal=(2, 4), match=3)
    totals = [0.0] * 4
    for number, (text, hand) in enumerate(zip(str(result).split("\n\n"), result.extra["hands"], strict=True)):
        totals = [
            before + paid for before, paid in zip(totals if number % 3 else [0.0] * 4, hand["payoffs"], strict=True)
        ]
        assert [float(line.split()[6]) for line in text.splitlines() if " total " in line] == totals
