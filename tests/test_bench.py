"""`tlsim bench`, and the programs in `benchmarks/`, each run once at a tiny size so that they cannot rot."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tlsim
from tlsim.api.common import make_plan
from tlsim.api.machine import BENCH_VARIANT
from tlsim.engine import features, host
from tlsim.engine.tally import LENGTHS, LENGTHS_AT
from tlsim.errors import InputError
from tlsim.play import runner, speed
from tlsim.rules.ruleset import pack

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
PLAN = make_plan(BENCH_VARIANT, "lowest", deals=1, seed=1)


@pytest.fixture(autouse=True)
def _benchmarks_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def module(name: str) -> Any:
    """Return a module of `benchmarks/`."""
    return importlib.import_module(name)


# ------------------------------------------------------------------------------------------------ tlsim bench


def test_bench() -> None:
    result = tlsim.bench(seconds=0.2)
    stages = result.tables["stages"].to_dicts()
    assert [row["stage"] for row in stages] == "deal count generate play tally record aggregate".split()
    policies = result.tables["policies"].to_dicts()
    assert {row["policy"] for row in policies} >= {"lowest", "random"}
    for row in [*stages, *policies]:
        assert 0 < row["low"] <= row.get("per_second", row.get("games_per_second")) <= row["high"]
    assert max(map(len, result.to_text().splitlines())) <= 100
    assert list(result.to_dict()["tables"]) == ["stages", "policies"]


@pytest.mark.skipif(not host.JIT, reason="half a second without the compiler is a few games: too few for a mean")
def test_decisions_a_game_are_those_of_the_policies() -> None:
    found = {row["policy"]: row for row in tlsim.bench(seconds=0.5).tables["policies"].to_dicts()}
    assert found["lowest"]["decisions_per_game"] == pytest.approx(54.4, abs=1.5)
    assert found["random"]["decisions_per_game"] == pytest.approx(79.1, abs=2.5)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_no_time_to_measure(seconds: float) -> None:
    with pytest.raises(InputError, match="seconds must be more than 0 and at most 3,600, got"):
        tlsim.bench(seconds=seconds)


def test_stages_do_what_they_say() -> None:
    n = 200
    hands = speed.dealt(PLAN.rules, PLAN.players)
    assert all(int(hand).bit_count() == 13 for hand in hands[:n])
    leads = sum(int(features.count_leads_kernel(pack(PLAN.rules, 4), int(hand))) for hand in hands[:n])
    found = np.zeros(n, np.int64)
    features.count_leads_of(pack(PLAN.rules, 4), hands[:n], found)
    assert int(found.sum()) == leads
    assert speed.counting(PLAN.rules, 4)(n) == (n, 0)
    assert speed.writing(PLAN.rules, 4)(n) == (leads, 0)
    assert speed.dealing(PLAN.rules, 4)(n) == (n, 0)
    decided = speed.playing(PLAN)(n)
    assert decided == speed.running(PLAN)(n) == speed.running(PLAN, keep_rows=True)(n)
    blocks = runner.blocks(make_plan(BENCH_VARIANT, "lowest", deals=n, seed=1))
    total = np.sum([block.tally for block in blocks], axis=0)
    assert decided == (n, int(total[0, LENGTHS_AT + LENGTHS.index("decisions")]))


def test_samples_take_turns_and_find_their_size() -> None:
    done: list[tuple[str, int]] = []

    def work(name: str, cost: int) -> speed.Measure:
        def run(size: int) -> tuple[int, int]:
            done.append((name, size))
            return sum(1 for _ in range(cost * size)) // cost, 0

        return speed.Measure(name, "", "things", run)

    cheap, dear = speed.take_turns([work("cheap", 100), work("dear", 1000)], 0.1, rounds=5)
    assert [name for name, _ in done[-10:]] == ["cheap", "dear"] * 5
    assert len(set(done[-10:])) == 2
    assert done[-2][1] > done[-1][1]
    row = cheap.as_row()
    assert row["decisions_per_second"] is None
    assert row["per_second"] > dear.as_row()["per_second"] > 0


# ------------------------------------------------------------------------------------------------ benchmarks/


def test_implementations_of_a_benchmark_agree() -> None:
    bodies = module("bodies").BODIES
    for work in {work for work, _ in bodies}:
        assert len({body(3)() for (done, _), body in bodies.items() if done == work}) == 1, work


def test_every_benchmark_has_sizes() -> None:
    found = module("test_speed").CASES
    assert {case[:2] for case in found} == set(module("bodies").BODIES)


@pytest.mark.parametrize(("mode", "plays", "passes"), [("p1", 36.2, 18.2), ("p2", 38.5, 40.6)])
def test_plain_python_plays_the_same_game(mode: str, plays: float, passes: float) -> None:
    command = [sys.executable, str(BENCHMARKS / "plain_python.py"), mode, "300"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    means = {key: float(value) for key, _, value in (word.partition("=") for word in out.split()[1:])}
    assert means["games"] == 300
    assert means["plays"] == pytest.approx(plays, abs=1.5)
    assert means["passes"] == pytest.approx(passes, abs=3)
    assert module("peers").program(*command[:3])(20) > 0


@pytest.mark.skipif(
    shutil.which("gcc") is None or not host.HAS_PDEP,
    reason="limit.c is built with gcc, and uses the instruction PDEP (BMI2) itself",
)
def test_limit_plays_the_same_game(tmp_path: Path) -> None:
    peers = module("peers")
    limit = str(peers.build_limit("gcc", tmp_path))
    means = dict(word.split("=") for word in peers.output_of(limit, "p1", "20000", "1", "1").split()[1:])
    total: Any = sum(block.tally for block in runner.blocks(make_plan(BENCH_VARIANT, "lowest", deals=500, seed=1)))
    for name in ("plays", "passes"):
        mean = total[0, LENGTHS_AT + LENGTHS.index(name)] / 500
        assert float(means[name]) == pytest.approx(mean, rel=0.05)
    assert peers.program(limit, "count", after=("1", "1"))(1000) > 0


def test_a_comparison_is_made_of_pairs_in_alternating_order() -> None:
    peers, order = module("peers"), list[str]()

    def side(name: str, rate: float) -> Any:
        def sample(_: int) -> float:
            order.append(name)
            return rate * len(order)

        return peers.Side(name, sample, 10)

    found = peers.compare(side("a", 2.0), side("b", 1.0), 3, 0.1)
    assert "".join(order) == "aabb" + "abbaab"
    assert found.ratios == pytest.approx([2 * 5 / 6, 2 * 8 / 7, 2 * 9 / 10])
    row = found.as_row()
    assert (row["ratio"], row["low"], row["high"]) == pytest.approx((1.8, 10 / 6, 16 / 7))
    text = peers.markdown([found], ["clang: not on the path"], {"date": "today"})
    assert "| a | b | **1.80** | 1.67 to 2.29 | 3 |" in text
    assert "Skipped: clang: not on the path." in text


def test_peers_measures_tlsim_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    peers, path = module("peers"), tmp_path / "peers.json"
    assert peers.tlsim_run("lowest")(100) > 0
    assert peers.tlsim_count()(100) > 0
    bench = peers.Bench(3, 0.1, tmp_path)
    assert len(list(peers.thread_comparisons(bench))) == len(list(peers.plain_comparisons(bench))) == 2
    peers.COMPILERS["gcc"] = ["no-such-compiler"]
    try:
        peers.main(["--quick", "--only", "gcc", "--json", str(path)])
    finally:
        peers.COMPILERS["gcc"] = ["gcc"]
    assert "Skipped: gcc: not on the path." in capsys.readouterr().out
    assert json.loads(path.read_text())["skipped"] == ["gcc: not on the path"]


def test_libraries_that_are_not_here_cannot_be_played() -> None:
    playouts = module("playouts")
    assert set(playouts.LIBRARIES) == {name for names in module("peers").LIBRARIES.values() for name in names}


def test_scale() -> None:
    scale = module("scale")
    assert [scale.whole(text) for text in ("10M", "1_000", "7")] == [10**7, 1000, 7]
    found = scale.measure([200, 400], "lowest", 2, 1)
    assert list(found) == [200, 400]
    assert 0 < found[200][0].seconds < 60
    assert 10**7 < found[200][0].peak < 10**9
    assert scale.table(found).count("\n") == 3
