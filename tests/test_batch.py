import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tables import every_table

from tlsim.engine import tally
from tlsim.engine.cache import CACHE_FOLDER, is_compiled
from tlsim.engine.policies import Policy, lowest, random
from tlsim.errors import InputError, PlayFault
from tlsim.play import runner
from tlsim.play.bounds import largest_metric
from tlsim.play.plan import Plan
from tlsim.play.runner import Runner, blocks, kernels
from tlsim.plugins.load import compile_function, parse_policies
from tlsim.rules.ruleset import deal_of
from tlsim.rules.variantfiles import builtin, parse_variant
from tlsim.stats.tables import tables

PLAIN = "southern,instant_wins=none,opening_instant_wins=none"


def plan_of(*policies: str, variant: str = "southern", players: int = 4, deals: int = 20_000, seed: int = 1) -> Plan:
    return Plan(parse_variant(variant), players, tuple(parse_policies(policies, players)), deals, seed)


def tally_of(plan: Plan, threads: int = 1, block: int | None = None) -> Any:
    return sum(found.tally for found in blocks(plan, threads, block=block))


@pytest.mark.parametrize("policies", [["lowest"], ["random"], ["lowest", "random", "random", "lowest"]])
def test_results_do_not_depend_on_threads_or_blocks(policies: list[str]) -> None:
    plan = plan_of(*policies, deals=5_000)
    one = tally_of(plan)
    for threads, block in [(2, None), (2, 7), (1, 1_000), (3, 4_999)]:
        assert np.array_equal(tally_of(plan, threads, block), one)
    written = json.loads(json.dumps({k: v.to_dicts() for k, v in tables(plan, one).items()}))
    played_out = int(one[0, tally.PLAYED_OUT]) // len(plan.seatings)
    assert [row["n"] for row in written["length"]] == [played_out] * len(tally.LENGTHS)


def is_plain(variant: str) -> bool:
    rules = parse_variant(variant)
    return not (rules.unlocked_chops or rules.chop_penalties)


@pytest.mark.parametrize(("variant", "players"), [table for table in every_table() if is_plain(table[0])])
def test_the_plain_kernel_plays_the_same(variant: str, players: int) -> None:
    """The kernel for plain rules leaves out what they do not need: to the bit what the one for all rules plays."""
    rules = parse_variant(variant)
    few = 3_000 if deal_of(rules, players)[0] == 1 else 200
    for policies in (["lowest"], ["random"], (["random", "lowest"] * 4)[:players]):
        plan = plan_of(*policies, variant=variant, players=players)
        assert kernels(plan)[0] is not kernels(plan, shown=True)[0]
        plain, full = Runner(plan).play(0, few, keep=True), Runner(plan, shown=True).play(0, few, keep=True)
        assert np.array_equal(plain.tally, full.tally)
        assert plain.rows is not None
        assert full.rows is not None
        assert plain.rows.tobytes() == full.rows.tobytes()


def test_blocks_cover_all_deals_in_order_and_may_stop() -> None:
    found = list(blocks(plan_of("lowest", deals=10_000), threads=2, block=999))
    assert [b.start for b in found] == [0, *[b.stop for b in found[:-1]]]
    assert found[-1].stop == 10_000
    endless = blocks(plan_of("lowest", deals=10**12), threads=2)
    assert next(endless).start == 0
    endless.close()


def test_averages_agree_with_the_yardstick() -> None:
    """The averages that `limit.c p1` and `p2` print, to what 400,000 hands can tell (4 standard errors)."""
    for policy, plays, passes, chops, first in [
        ("lowest", 36.15, 18.24, 0.0917, 0.351),
        ("random", 38.40, 40.75, 0.1213, 0.310),
    ]:
        plan = plan_of(policy, variant=PLAIN, deals=400_000)
        found = tables(plan, tally_of(plan, 2))
        rows = {row["metric"]: row for row in found["length"].to_dicts()}
        leader = found["leader"].to_dicts()[0]
        for row, expected, rounding in [
            (rows["plays"], plays, 0.005),
            (rows["passes"], passes, 0.01),
            (rows["chops"], chops, 0.0005),
            (leader, first, 0.0005),
        ]:
            assert abs(row["estimate"] - expected) < 4 * row["se"] + rounding, (policy, row)


def test_seatings() -> None:
    assert len(plan_of("lowest").seatings) == 1
    mixed = plan_of("lowest", "random", "random", "random")
    assert mixed.seatings == [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1), (1, 1, 1, 0)]
    assert len(plan_of("lowest", "lowest", "random", "random").seatings) == 6
    same = tables(mixed, tally_of(mixed))
    rows = {(row["policy"], row["metric"]): row for row in same["policies"].to_dicts()}
    assert rows["lowest", "first_out"]["estimate"] > 0.6
    shares = rows["lowest", "first_out"]["estimate"] + 3 * rows["random", "first_out"]["estimate"]
    assert shares == pytest.approx(1, abs=1e-12)


def test_nobody_is_favoured_by_the_seat() -> None:
    """First out by seat is uniform: chi-square with 3 degrees of freedom below its 0.999 quantile, 16.27."""
    for policy in ("lowest", "random"):
        plan = plan_of(policy, deals=100_000, seed=3)
        counts = [row["estimate"] * plan.deals for row in tables(plan, tally_of(plan, 2))["seats"].to_dicts()[::3]]
        assert sum(counts) == pytest.approx(plan.deals)
        assert sum((n - plan.deals / 4) ** 2 / (plan.deals / 4) for n in counts) < 16.27


def _by_address(module: Any) -> Policy:
    return compile_function("by address", module.choose.py_func)


@pytest.mark.parametrize(("name", "module"), [("lowest", lowest), ("random", random)])
def test_policies_by_address_play_the_same(name: str, module: Any) -> None:
    for variant, players in [("southern", 4), ("classic", 3), ("viet-cong", 2)]:
        plan = plan_of(name, variant=variant, players=players, deals=2_000)
        other = Plan(plan.rules, players, (_by_address(module),) * players, 2_000, 1)
        assert np.array_equal(tally_of(plan), tally_of(other))


def _policy(body: str) -> Policy:
    scope: dict[str, Any] = {}
    exec(f"def choose(rules, view, stream):\n    {body}\n", scope)
    return compile_function("bad", scope["choose"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 0", "the leader of a pile may not pass: a pass"),
        ("return ~view.hand & (view.hand + 1)", "it does not hold these cards"),
        ("return view.hand", "this is not a legal play"),
        ("return 1 // (view.hand - view.hand)", "the policy raised an exception"),
        ("raise ValueError", "the policy raised an exception"),
    ],
)
def test_a_fault_stops_the_run_and_says_where(body: str, message: str) -> None:
    plan = Plan(builtin("southern"), 4, (_policy(body),) * 4, 10, 9)
    with pytest.raises(PlayFault, match="policy bad: " + message) as caught:
        tally_of(plan)
    assert "(seed 9, deal 0, turn 0, seat " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"deals": 0}, "deals must be from 1 to 10^15, got 0"),
        ({"deals": -3}, "got -3"),
        ({"players": 5}, "players must be 2 to 4 in southern (13 cards each from one deck), got 5"),
        ({"seed": 1 << 64}, "seed must be a 64-bit integer, got 18446744073709551616"),
    ],
)
def test_bad_plans(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        plan_of("lowest", **changes)


@pytest.mark.parametrize(
    ("players", "n_policies", "match", "most"),
    [
        (4, 1, None, 213_188_148_041_206),
        (8, 8, None, 8_196),  # 340,000 passed 2^63: 40,320 seatings of hands of 130 decisions
        (8, 8, 1, 8_040),  # and shares of being ahead did so at 23,180
        (8, 8, 1000, 0),
    ],
)
def test_plans_whose_sums_would_pass_64_bits(players: int, n_policies: int, match: int | None, most: int) -> None:
    played: Any = lowest.choose
    distinct = [compile_function(f"p{k}", played.py_func) for k in range(n_policies)]
    seats = tuple((distinct * players)[:players])
    rules = parse_variant("viet-cong" if players > 4 else "southern")
    plan = Plan(rules, players, seats, most + 1, 1, match)
    with pytest.raises(
        InputError, match=f"seatings must be at most {most:,}, so that sums of squares fit 64 bits, got"
    ):
        plan.check_sums()
    if most:
        replace(plan, deals=most).check_sums()


@pytest.mark.parametrize(("variant", "players"), every_table())
def test_the_bound_of_the_metrics_of_a_deal(variant: str, players: int) -> None:
    for policies in (["lowest"], ["random"], (["random", "lowest"] * 4)[:players]):
        plan = plan_of(*policies, variant=variant, players=players)
        most_seats = max(map(plan.policies.count, plan.policies))
        most = largest_metric(plan.rules, players, most_seats) * len(plan.seatings)
        run = Runner(plan)
        for deal in range(20):
            assert abs(run.play(deal, deal + 1).tally[0]).max() <= most


def test_payoffs_of_all_seats_are_by_rule_and_three_deals_that_agree_are_not() -> None:
    plan = plan_of("lowest", deals=3)
    rows = {(row["policy"], row["metric"]): row for row in tables(plan, tally_of(plan))["policies"].to_dicts()}
    assert rows["lowest", "payoff"]["method"] == rows["lowest", "first_out"]["method"] == "by rule"
    place = rows["lowest", "place"]  # no instant win in three deals: 2.5 each, 3.25 after one
    assert (place["estimate"], place["low"], place["method"]) == (2.5, 2.5, "instant wins")
    assert place["high"] == pytest.approx(2.5 + 0.75 * (1 - 0.025 ** (1 / 3)))
    plain = plan_of("lowest", variant=PLAIN, deals=3)
    place = tables(plain, tally_of(plain))["policies"].to_dicts()[1]
    assert (place["estimate"], place["method"]) == (2.5, "by rule")
    assert tables(plain, tally_of(plain))["instant_wins"].to_dicts()[-1]["method"] == "by rule"


_SAME_BITS = """
import numpy as np
from tlsim.play import matches
from tlsim.play.plan import Plan
from tlsim.play.runner import Runner, blocks, kernels
from tlsim.plugins.load import compile_function, parse_policies
from tlsim.rules.variantfiles import builtin
for variant, players in [("southern", 4), ("classic", 3)]:
    policies = parse_policies(["lowest"] + ["random"] * (players - 1), players)
    plan = Plan(builtin(variant), players, tuple(policies), 40, 1)
    print(sum(block.tally for block in blocks(plan)).tolist())
    plan = Plan(plan.rules, players, plan.policies, 5, 1, match=4)
    print(sum(block.tally for block in matches.blocks(plan)).tolist())
"""


@pytest.mark.parametrize("switch", ["TLSIM_PORTABLE", "NUMBA_DISABLE_JIT"])
def test_the_portable_path_and_plain_python_give_the_same_bits(switch: str, tmp_path: Path) -> None:
    outputs = []
    for extra in ({}, {switch: "1", "TLSIM_CACHE_DIR": str(tmp_path)}):
        run = subprocess.run(
            [sys.executable, "-W", "error", "-c", _SAME_BITS],
            env={**os.environ, **extra},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert outputs[0] == outputs[1]


def test_a_cache_that_cannot_be_written_costs_one_warning(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    code = "import tlsim.engine.cache as j; assert j.CACHE_FOLDER is None; print('ok')"
    environment = {**os.environ, "TLSIM_CACHE_DIR": str(blocked)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.strip() == "ok"
    assert run.stderr.count("compiling in memory") == 1


@pytest.mark.skipif(CACHE_FOLDER is None, reason="nothing is compiled, or kept")
def test_warm_up() -> None:
    runner.warm_up()
    assert is_compiled(runner.all_kernels())
