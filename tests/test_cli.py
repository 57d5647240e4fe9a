"""The command line: every command, every kind of wrong input, what is printed where, and what is imported."""

import doctest
import inspect
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import tlsim
from tlsim.api import common
from tlsim.cli import COMMANDS, main, play
from tlsim.cli.common import parse_count
from tlsim.cli.progress import ProgressLine, duration, short
from tlsim.errors import InputError, PlayFault
from tlsim.output import cells
from tlsim.rules import variantfiles

FUNCTIONS = [name for name in tlsim.__all__ if name.islower() and name != "__version__"]
HEAVY = ("numpy", "numba", "polars", "scipy", "matplotlib")


@pytest.fixture(autouse=True, scope="module")
def _compiled() -> None:
    """Compile first: otherwise the first command says on stderr that it does."""
    tlsim.warmup()
    tlsim.bench(seconds=0.01)


def run(*args: str, **more: Any) -> Result:
    return CliRunner().invoke(main, list(args), **more)


def done(*args: str) -> str:
    """Return what a command prints, which must be all that happens."""
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def python(code: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **more)


# ------------------------------------------------------------------------------------------------ wrong input

WRONG = {
    "unknown card": ("hand 3X", "unknown card '3X'"),
    "card twice": ("hand 3S 4S 3♠", "3S is given twice"),
    "rank without suit": ("hand 3S 10", "'10' has a rank but no suit"),
    "empty hand": ("hand", "no cards given"),
    "blank hand": ("hand ''", "no cards given"),
    "too many cards": ("hand " + " ".join(f"{rank}{suit}" for rank in range(3, 7) for suit in "SCDH"), "at most 13"),
    "unknown card on the pile": ("moves 3S --on 44", "unknown card '44'"),
    "no combination on the pile": ("moves 3S --on 4S,5S", "no combination"),
    "card in hand and on the pile": ("moves 3S 4S --on 3S", "3S is both"),
    "opening with a play to beat": ("moves 5S --on 3S --opening", "where there is no play to beat"),
    "unknown variant": ("simulate -v suthern", "did you mean southern?"),
    "unknown variant to show": ("variants clasic", "did you mean classic?"),
    "unknown variant to compare": ("variants --diff classic suthern", "did you mean southern?"),
    "a variant compared with itself": ("variants --diff classic classic", "given twice"),
    "one variant to compare": ("variants --diff classic", "requires 2 arguments"),
    "a list as TOML": (
        "variants --format toml",
        "only one variant can be written as TOML, as by: tlsim variants southern",
    ),
    "a comparison as TOML": ("variants --diff classic southern --format toml", "only one variant can be written"),
    "a name and a comparison": ("variants classic --diff classic southern", "not both"),
    "no such file": ("simulate -v missing.toml", "cannot read missing.toml: No such file"),
    "TOML syntax": ("simulate -v syntax.toml", "line 2"),
    "unknown key in a file": ("simulate -v key.toml", "did you mean straight_min?"),
    "ill-typed key in a file": ("simulate -v type.toml", "type.toml: straight_min must be a whole number, got 'four'"),
    "out of range in a file": ("simulate -v range.toml", "range.toml: straight_min must be from 3 to 13, got 2"),
    "contradiction in a file": ("simulate -v against.toml", "payoff = cards needs ends = first-out"),
    "unknown key": ("simulate -v southern,pass_lock=no", "did you mean pass_locks?"),
    "ill-typed value": ("simulate -v southern,pass_locks=maybe", "pass_locks must be yes or no"),
    "a target without a line": ("simulate -v southern,chops.quad=two+quad-run-2", "has no line quad-run-2"),
    "out of range": ("simulate -v southern,straight_min=14", "straight_min must be from 3 to 13, got 14"),
    "contradiction": ("simulate -v southern,cong=yes", "cong = yes needs payoff = places"),
    "too many players": ("simulate --players 5", "players must be 2 to 4 in southern (13 cards each"),
    "hands that cannot be dealt": (
        "simulate -v classic,cards=17 --players 4",
        "players must be 3 in classic,cards=17 (17 cards each",
    ),
    "no deals": ("simulate -n 0", "deals must be from 1 to 10^15, got 0"),
    "negative deals": ("simulate -n -5", "deals must be from 1 to 10^15, got -5"),
    "half a deal": ("simulate -n 1.5", "a count must be a whole number, as 1_000_000, 1e6 or 1M, got '1.5'"),
    "deals in words": ("simulate -n many", "a count must be a whole number, as 1_000_000, 1e6 or 1M, got 'many'"),
    "no number of deals": ("simulate -n", "requires an argument"),
    "unknown policy": ("simulate -p lowst", "did you mean lowest?"),
    "unknown policy to show": ("policies foo", "known: lowest, random"),
    "two policies for four": ("simulate -p lowest -p random", "got 2 for 4 players"),
    "five policies for four": ("replay" + " -p lowest" * 5, "got 5 for 4 players"),
    "seed in words": ("simulate --seed x", "'x' is not a valid integer"),
    "seed too large": (f"simulate --seed {2**64}", "seed must be a 64-bit integer, got 18446744073709551616"),
    "level in percent": ("simulate --level 95", "level must lie between 0 and 1, as 0.95, got 95"),
    "no time to measure": ("bench --seconds 0", "seconds must be more than 0 and at most 3,600, got 0"),
    "time in words": ("bench --seconds long", "is not a valid float"),
    "no threads": ("simulate --threads 0", "threads must be at least 1, got 0"),
    "no such deal": ("replay --deal -1", "count from 0"),
    "no deals to replay": ("replay --deal 7:7", "count from 0"),
    "deals in words to replay": (
        "replay --deal first",
        "--deal must be one deal as 17, or the deals 0 to 9 as 0:10, got first",
    ),
    "unknown event": ("odds dragn", "event 'dragn': unknown column; did you mean dragon?"),
    "unknown column": ("odds --where twoss>1", "where 'twoss>1': unknown column 'twoss'; did you mean twos?"),
    "an aggregate": ("odds --where sum(twos)>1", "an aggregate is not allowed"),
    "a number for an event": ("odds --given twos dragon", "given 'twos': a number, not yes or no"),
    "no expression": ("odds --where twos>", "where 'twos>': not an SQL expression"),
    "a condition alone": ("odds --given chop", "an event, where or by is needed"),
    "a figure of another kind": ("odds dragon --plot x.pdf", "--plot must name a .png or .svg file, got x.pdf"),
    "a figure in no folder": ("odds dragon -n 10 --plot missing/x.png", "cannot write missing/x.png: No such file"),
    "no file of deals": ("check-deals missing.csv", "missing.csv: No such file"),
    "unknown format": ("variants --format xml", "'table', 'json', 'csv', 'markdown'"),
    "unknown option": ("simulate --dels 5", "did you mean --deals?"),
    "unknown option of tlsim": ("--verson", "did you mean --version?"),
    "unknown command": ("simulat", "did you mean simulate?"),
    "an argument too many": ("simulate 100", "unexpected extra argument (100)"),
}
FILES = {
    "syntax.toml": 'first_lead = "alone"\nends = last\n',
    "key.toml": "straight_mim = 4\n",
    "type.toml": 'straight_min = "four"\n',
    "range.toml": "straight_min = 2\n",
    "against.toml": 'payoff = "cards"\n',
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_is_one_line_and_exit_2(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line, expected = WRONG[case]
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    result = run(*["" if word == "''" else word for word in line.split()])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("tlsim: ")
    assert result.stderr.count("\n") == 1
    assert expected in result.stderr
    assert isinstance(result.exception, SystemExit)  # what click reports for an exit; anything else is a traceback


def test_fault_in_play_is_one_line_and_exit_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(**_: Any) -> None:
        raise PlayFault("policy mine: this is not a legal play: 3S (seed 1, deal 5, turn 2, seat 0)")

    monkeypatch.setattr("tlsim.api.play.simulate", fault)
    result = run("simulate")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("tlsim: policy mine: ")


def test_errors_are_public() -> None:
    assert (tlsim.InputError, tlsim.PlayFault) == (InputError, PlayFault)
    with pytest.raises(tlsim.InputError, match="unknown variant 'suthern'; did you mean southern"):
        tlsim.simulate("suthern")


# ------------------------------------------------------------------------------------------------ help and imports


def test_help_lists_every_command() -> None:
    assert done("--help") == done() == done("-h")
    assert all(f"  {name}  " in done("--help") for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_an_example(name: str) -> None:
    text = done(name, "--help")
    assert "Example:\n" in text
    assert f"  tlsim {name}" in text
    assert max(map(len, text.splitlines())) <= 80


def test_version() -> None:
    assert done("--version") == f"tlsim {tlsim.__version__}\n"


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["moves", "--help"], ["simulate", "--help"]])
def test_help_and_version_import_nothing_heavy(args: list[str]) -> None:
    code = f"import sys\nfrom tlsim.cli import main\ntry: main({args})\nexcept SystemExit: pass\n"
    code += f"print([name for name in {HEAVY} if name in sys.modules])"
    assert python(code).stdout.endswith("[]\n")


@pytest.mark.parametrize("line", ["simulat", "simulate --dels 5", "simulate -v suthern", "simulate --players 5"])
def test_what_is_wrong_is_said_before_the_engine_is_loaded(line: str) -> None:
    code = f"import sys\nfrom tlsim.cli import main\ntry: main({line.split()})\nexcept SystemExit: pass\n"
    code += "print([name for name in ('numba', 'polars') if name in sys.modules])"
    assert python(code).stdout == "[]\n"


def test_python_m_tlsim_is_the_command() -> None:
    for words in (["--help"], ["moves", "--help"], ["variants", "--diff", "classic", "southern"]):
        command = [sys.executable, "-m", "tlsim", *words]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert printed.split() == done(*words).split()  # click folds help at another width for tests
    assert done("moves", "--help").startswith("Usage: tlsim moves ")


def test_functions_take_options_by_keyword_in_one_order() -> None:
    common = [
        "variant",
        "policies",
        "players",
        "deals",
        "deal",
        "seed",
        "threads",
        "level",
        "match",
        "trade",
        "progress",
    ]
    for name in FUNCTIONS:
        parameters = inspect.signature(getattr(tlsim, name)).parameters.values()
        positional = [one.name for one in parameters if one.kind is not inspect.Parameter.KEYWORD_ONLY]
        assert positional in ([], ["variant", "policies"], ["cards"], ["file"], ["name"], ["spec"], ["events"]), name
        order = [common.index(one.name) for one in parameters if one.name in common]
        assert order == sorted(order), name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_are_true(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(tlsim, name), name)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_simulate_imports_neither_scipy_nor_matplotlib() -> None:
    code = "import sys, tlsim\ntlsim.simulate(deals=2000, seed=1)\n"
    code += "print([name for name in ('scipy', 'matplotlib', 'pandas') if name in sys.modules])"
    assert python(code).stdout == "[]\n"


def test_a_compiled_engine_starts_without_scipy_and_without_what_only_the_compiler_needs() -> None:
    code = "import sys, tlsim\ntlsim.simulate(deals=1000, seed=1)\n"
    code += "print([name for name in ('scipy', 'numba.np.npyimpl') if name in sys.modules])"
    python(code)  # leaves it compiled
    assert python(code).stdout == "[]\n"


def test_importing_tlsim_is_light_and_its_functions_have_their_names() -> None:
    code = f"import sys, tlsim\nprint([name for name in {HEAVY} if name in sys.modules])\n"
    code += "print([getattr(tlsim, name).__name__ for name in tlsim.__all__ if name[0] != '_'])"
    light, names = python(code).stdout.splitlines()
    assert light == "[]"
    assert names == str([name for name in tlsim.__all__ if name[0] != "_"])
    assert dir(tlsim) == sorted(tlsim.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        _ = tlsim.nothing


def test_shell_completion_knows_the_commands() -> None:
    env = os.environ | {"_TLSIM_COMPLETE": "bash_complete", "COMP_WORDS": "tlsim si", "COMP_CWORD": "1"}
    found = subprocess.run([sys.executable, "-m", "tlsim"], capture_output=True, text=True, check=False, env=env)
    assert found.stdout == "plain,simulate\n"


def test_examples_inside_are_true() -> None:
    for module in (common, cells, variantfiles):
        results = doctest.testmod(module)
        assert results.attempted > results.failed == 0, module


# ------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("7", 7),
        ("1_000_000", 10**6),
        ("1e6", 10**6),
        ("10M", 10**7),
        ("10k", 10**4),
        ("2.5M", 2500000),
        ("1G", 10**9),
        ("1.5e3", 1500),
        ("1E2", 100),
        (" 5 ", 5),
        ("-3", -3),
    ],
)
def test_counts(text: str, number: int) -> None:
    assert parse_count(text) == number


@pytest.mark.parametrize("text", ["", "1.5", "1,000", "1e-3", "M", "10m", "1 000", "0x10", "nan", "inf", "1e999", "_1"])
def test_no_counts(text: str) -> None:
    with pytest.raises(InputError, match="a count must be a whole number"):
        parse_count(text)


# ------------------------------------------------------------------------------------------------ simulate


def simulated(*args: str) -> Any:
    return json.loads(done("simulate", "-n", "3000", "--seed", "5", "--format", "json", *args))


def test_json_of_simulate() -> None:
    result = simulated("-v", "southern,pass_locks=no", "--level", "0.9")
    assert list(result) == ["command", "plan", "provenance", "tables"]
    assert result["command"] == "simulate"
    assert result["plan"]["variant"] == "southern,pass_locks=no"
    assert (result["plan"]["deals"], result["plan"]["seed"], result["plan"]["level"]) == (3000, 5, 0.9)
    versions = {"tlsim", "python", "numba", "numpy", "polars", "stream"}
    assert versions | {"cpu", "time", "command", "threads", "seconds"} <= set(result["provenance"])
    for rows in result["tables"].values():
        for row in rows:
            assert list(row)[-7:] == ["estimate", "se", "low", "high", "level", "n", "method"]
            assert row["low"] <= row["estimate"] <= row["high"]
            assert row["level"] == 0.9


def test_threads_change_neither_plan_nor_tables() -> None:
    one, two = (tlsim.simulate(deals=30_000, seed=3, threads=threads) for threads in (1, 2))
    assert (one.plan, one.to_dict()["tables"]) == (two.plan, two.to_dict()["tables"])
    same = [json.dumps({key: part.to_dict()[key] for key in ("plan", "tables")}) for part in (one, two)]
    assert same[0] == same[1]


def test_the_command_of_the_provenance_makes_the_same_tables() -> None:
    first = simulated("-p", "lowest", "-p", "random", "--players", "2")
    program, *words = first["provenance"]["command"].split()
    again = json.loads(done(*words, "--format", "json"))
    assert program == "tlsim"
    assert (again["plan"], again["tables"]) == (first["plan"], first["tables"])


def test_a_seed_is_drawn_and_stored() -> None:
    one, two = (json.loads(done("simulate", "-n", "10", "--format", "json"))["plan"]["seed"] for _ in "ab")
    assert one != two
    assert 0 <= one < 2**53


@pytest.mark.parametrize("seed", [-(2**63), -1, 0, 2**64 - 1])
def test_any_64_bit_seed(seed: int) -> None:
    assert tlsim.simulate(deals=5, seed=seed).plan["seed"] == seed


def test_what_is_not_a_number_is_null() -> None:
    text = done("simulate", "-n", "1", "--seed", "1", "--format", "json")
    assert "NaN" not in text
    assert json.loads(text)["tables"]["seats"][1]["se"] is None


def test_tables_and_speed_go_to_their_streams() -> None:
    result = run("simulate", "-n", "2k", "--seed", "1")
    assert result.stdout.startswith("simulate · variant southern · players 4 · policies lowest × 4 · deals 2,000")
    assert "\nseats (95 % intervals, n = 2,000)\n" in result.stdout
    assert "\033" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    assert result.stderr.splitlines()[-1].startswith("2,000 deals in ")
    assert "games/s (seed 1)" in result.stderr


@pytest.mark.parametrize(("form", "start"), [("csv", "table,seat,"), ("markdown", "**seats (95 % intervals")])
def test_other_formats(form: str, start: str) -> None:
    assert done("simulate", "-n", "100", "--seed", "1", "--format", form).startswith(start)


def test_tables_of_all_kinds_in_one_csv() -> None:
    assert done("odds", "-n", "100", "--seed", "1", "--format", "csv").startswith("table,")


def interrupt(_self: Any, done: int, *_: Any) -> None:
    if done > 10_000:
        os.kill(os.getpid(), signal.SIGINT)


def played(deals: int) -> dict[str, Any]:
    tables: dict[str, Any] = tlsim.simulate(deals=deals, seed=4).to_dict()["tables"]
    return tables


def counted(deals: int) -> dict[str, Any]:
    tables: dict[str, Any] = tlsim.odds("dragon", deals=deals, seed=4).to_dict()["tables"]
    return tables


@pytest.mark.parametrize(
    ("command", "line", "again"),
    [
        (["simulate"], "tlsim simulate -v southern -p lowest --players 4 --seed 4 -n 1000000000", played),
        (["odds", "dragon"], "tlsim odds dragon -v southern --players 4 -n 1000000000 --seed 4", counted),
    ],
)
def test_ctrl_c_prints_what_is_done(
    command: list[str], line: str, again: Callable[[int], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProgressLine, "__call__", interrupt)
    result = run(*command, "-n", "1G", "--seed", "4", "--format", "json")
    assert result.exit_code == 130
    done = json.loads(result.stdout)
    n = done["plan"]["deals"]
    assert 10_000 < n < 10**9
    last = f"interrupted after {n:,} of 1,000,000,000 deals; to run all of them: {line}"
    assert result.stderr.splitlines()[-1] == last
    assert done["tables"] == again(n)


def test_ctrl_c_before_anything_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(**_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tlsim.api.play.simulate", stop)
    result = run("simulate")
    assert (result.exit_code, result.stdout, result.stderr.strip()) == (130, "", "tlsim: interrupted")


def test_compiling_is_announced(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from tlsim.engine import cache

    monkeypatch.setattr(cache, "JIT", True)
    monkeypatch.setattr(cache, "_announced", [])
    monkeypatch.setattr(cache, "is_compiled", lambda _kernels: False)
    tlsim.simulate(deals=10, seed=1)
    assert capsys.readouterr().err.startswith("compiling the engine for this machine")
    tlsim.simulate(deals=10, seed=1)
    assert capsys.readouterr().err == ""


# ------------------------------------------------------------------------------------------------ progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_line(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    stream, asked = Terminal(), list[int]()

    def estimate() -> str:
        asked.append(1)
        return "leader first out 35.1 %"

    line = ProgressLine(stream)
    for step in range(100):
        line(1000 * (step + 1), 1_000_000, estimate)
        now[0] += 0.01
    assert 8 <= len(asked) <= 10
    shown = stream.getvalue().rpartition("\r")[2]
    assert shown.endswith("k of 1M deals · 100k/s · 9 s left · leader first out 35.1 %")
    line.clear()
    assert stream.getvalue().endswith("\r" + " " * len(shown) + "\r")
    assert "\033" not in stream.getvalue()


def test_no_progress_line_without_a_terminal() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream)
    line(1, 10, lambda: "")
    line.clear()
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("function", "value", "text"),
    [
        (duration, 59.4, "59 s"),
        (duration, 185, "3 min 05 s"),
        (duration, 7800, "2 h 10 min"),
        (short, 999, "999"),
        (short, 4261888, "4.26M"),
        (short, 10**9, "1G"),
        (short, 5300000000000.0, "5,300G"),
        (short, 123456, "123k"),
    ],
)
def test_times_and_counts_for_reading(function: Callable[[float], str], value: float, text: str) -> None:
    assert function(value) == text


# ------------------------------------------------------------------------------------------------ replay


def test_replay_prints_transcripts() -> None:
    lines = done("replay", "--seed", "1", "--deal", "3:6", "--format", "jsonl").splitlines()
    hands = [json.loads(line) for line in lines]
    assert [hand["index"] for hand in hands] == [3, 4, 5]
    assert hands[1:2] == tlsim.replay(seed=1, deal=4).extra["hands"]
    assert {"hands", "plays", "places", "payoffs", "leader", "required"} <= set(hands[0])


def test_replay_in_chunks_is_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = done("replay", "--seed", "1", "--deal", "0:7")
    monkeypatch.setattr(play, "_CHUNK", 3)
    assert done("replay", "--seed", "1", "--deal", "0:7") == whole
    hands = done("replay", "--deal", "0:7", "--format", "jsonl").splitlines()
    assert len({json.loads(hand)["seed"] for hand in hands}) == 1  # a drawn seed is drawn once


def test_replay_is_readable() -> None:
    text = done("replay", "--seed", "1", "--deal", "17")
    assert text.startswith("deal 17 · seed 1 · southern · opening hand · seat ")
    assert "\n  pile 1   " in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_hand_for_each_seating() -> None:
    result = tlsim.replay(policies=["lowest", "random"], players=2, seed=1, deal=(0, 2))
    assert [hand["policies"][0] for hand in result.extra["hands"]] == ["lowest", "random"] * 2
    assert result.tables["seats"]["seating"].to_list() == [0, 0, 1, 1] * 2
    assert str(result).count("deal ") == 4


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m tlsim replay --seed 1 --deal 0:5000 --format jsonl | head -1"
    found = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert json.loads(found.stdout)["index"] == 0
    assert found.stderr == ""


# ------------------------------------------------------------------------------------------------ cards


def test_moves() -> None:
    result = json.loads(done("moves", "7S", "7D", "8H", "2C", "--on", "7C", "--format", "json"))
    assert result["moves"] == [["7D"], ["8H"], ["2C"]]
    assert result["pass"] is True
    assert list(result) == ["command", "plan", "provenance", "tables", "moves", "pass"]


def test_moves_tell_whether_passing_is_legal() -> None:
    assert done("moves", "7S", "--on", "2C").endswith("moves\n  none\n\npass: yes\n")


def test_moves_of_a_lead() -> None:
    result = json.loads(done("moves", "7S 7♦", "--format", "json"))
    assert result["moves"] == [["7S"], ["7D"], ["7S", "7D"]]
    assert result["pass"] is False


@pytest.mark.parametrize(
    ("variant", "moves"),
    [
        ("classic", [["3S"]]),
        ("southern", [["3S"], ["3S", "3H"]]),
        ("southern,first_lead=free", [["3S"], ["3H"], ["4C"], ["3S", "3H"]]),
    ],
)
def test_moves_of_the_first_lead(variant: str, moves: list[list[str]]) -> None:
    assert tlsim.moves("3S 3H 4C", opening=True, variant=variant).extra["moves"] == moves


@pytest.mark.parametrize(("on", "may_pass"), [("4D", False), ("5D", True)])
def test_passing_where_one_must_play(on: str, may_pass: bool) -> None:
    assert tlsim.moves("3S 5C", on=on, variant="southern,must_play=yes").extra["pass"] is may_pass


def test_hand() -> None:
    result = json.loads(done("hand", "3S 3C 4S 4C 5S 5C 9S 9C 9D 9H 2S", "--format", "json"))
    (row,) = result["tables"]["hand"]
    assert row["cards"] == 11
    assert row["fewest_plays"] == 3
    chops = {row["chop"]: (row["count"], row["lowest"]) for row in result["tables"]["chops"]}
    assert chops == {"quad": (1, "9S 9C 9D 9H"), "double-straight-3": (1, "3S 3C 4S 4C 5S 5C")}


def test_a_hand_without_chops() -> None:
    assert done("hand", "3S", "4S").endswith("chops\n  none\n")


# ------------------------------------------------------------------------------------------------ lists


def test_variants() -> None:
    assert [line.split()[0] for line in done("variants").splitlines()[3:]][:3] == ["classic", "viet-cong", "southern"]


def test_a_variant_in_words() -> None:
    assert "quad_twos" in done("variants", "classic")
    assert done("variants", "classic").endswith("\n\n§: sections of docs/rules.md, the rule book\n")
    rows = json.loads(done("variants", "classic", "--format", "json"))["tables"]
    (lead,) = (row for row in rows["rules"] if row["rule"] == "first_lead")
    assert (lead["value"], lead["section"]) == ("alone", "§4.3")
    assert lead["meaning"].endswith("hold: exactly the lowest card dealt, as a single")
    assert rows["chops"][0] == {"chop": "double-straight-3", "may be played on": "two"}
    (*_, opening) = json.loads(done("variants", "mien-nam", "--format", "json"))["tables"]["instant_wins"]
    assert opening == {"instant win": "four-threes", "the hand holds": "at least four 3s", "on": "opening hand"}


@pytest.mark.parametrize("spec", ["mien-nam", "viet-cong,cards=17", "house.toml,must_play=yes"])
def test_a_variant_as_a_file(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("house.toml").write_text('base = "dem-la"\nstraight_min = 5\n', encoding="utf-8")
    text = done("variants", spec, "--format", "toml")
    assert text == tlsim.variants(spec).to_toml()
    Path("again.toml").write_text(text, encoding="utf-8")
    assert done("variants", "--diff", spec, "again.toml").endswith("differences\n  none\n")
    with pytest.raises(InputError, match="only one variant can be written as TOML"):
        tlsim.moves("3S").to_toml()


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("name", ["classic", "viet-cong", "southern", "mien-nam", "dem-la"])
def test_the_rule_book_fits(name: str, width: int) -> None:
    assert max(map(len, tlsim.variants(name).to_text(width=width).splitlines())) <= width


def test_differences_of_variants() -> None:
    changed = "southern,pass_locks=no"
    result = json.loads(done("variants", "--diff", "southern", changed, "--format", "json"))
    assert result["tables"]["differences"] == [{"rule": "pass_locks", "southern": "yes", changed: "no"}]


def test_policies() -> None:
    assert [row["policy"] for row in tlsim.policies().to_dict()["tables"]["policies"]] == ["lowest", "random"]
    assert tlsim.policies("random").tables["policies"].height == 1


def test_doctor_and_warmup() -> None:
    text = done("doctor")
    assert "numba  " in text
    assert "problems" in text
    assert done("warmup").startswith("warmup\n")


def test_bench_prints_what_it_measures() -> None:
    result = json.loads(done("bench", "--seconds", "0.1", "--format", "json"))
    assert result["plan"]["seconds"] == 0.1
    assert {row["policy"] for row in result["tables"]["policies"]} >= {"lowest", "random"}
    assert done("bench", "--seconds", "0.1").startswith("bench · variant southern,")


def test_doctor_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from tlsim.engine import cache

    monkeypatch.setattr(cache, "JIT", True)
    monkeypatch.setattr(cache, "CACHE_FOLDER", None)
    assert "set TLSIM_CACHE_DIR" in done("doctor")


def test_a_warning_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = os.environ | {"TLSIM_CACHE_DIR": str(tmp_path / "file" / "cache")}
    code = "from tlsim.cli import main; main(['doctor'])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert found.stderr.startswith("tlsim: warning: ")
    assert found.stderr.count("\n") == 1


# ------------------------------------------------------------------------------------------------ numbers and output


untyped: Any = tlsim  # for arguments of the wrong types, which are the point here


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: untyped.simulate(deals=10.5), r"deals must be a whole number, got 10.5"),
        (lambda: untyped.simulate(deals=True), r"deals must be a whole number, got True"),
        (lambda: untyped.simulate(deals="10"), r"deals must be a whole number, got '10'"),
        (lambda: untyped.simulate(deals=10, seed=1.5), r"seed must be a whole number, got 1.5"),
        (lambda: untyped.simulate(deals=10, threads=1.5), r"threads must be a whole number, got 1.5"),
        (lambda: untyped.simulate(deals=10, players="3"), r"players must be a whole number, got '3'"),
        (lambda: untyped.simulate(deals=10, level="0.9"), r"level must lie between 0 and 1, as 0.95, got '0.9'"),
        (lambda: untyped.replay(deal=(0,)), r"deal must be a number, or the first and the stop of a range, got \(0,\)"),
    ],
)
def test_numbers_of_the_api_are_checked(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_whole_numbers_of_numpy_are_whole_numbers() -> None:
    import numpy as np

    given = untyped.simulate(deals=np.int64(10), seed=np.int64(1))
    assert (
        given.to_json().partition('"tables"')[2] == tlsim.simulate(deals=10, seed=1).to_json().partition('"tables"')[2]
    )


def test_shares_of_few_deals_stay_between_0_and_1() -> None:
    found = tlsim.simulate(policies=["lowest", "lowest", "random"], players=3, deals=2, seed=5)
    for name in ("seats", "leader", "policies"):
        rows = [row for row in found.tables[name].to_dicts() if row["metric"] == "first_out"]
        assert all(0 <= row["low"] <= row["high"] <= 1 for row in rows)


@pytest.mark.parametrize(("command", "code"), [("moves 3S >/dev/full", 1), ("moves 3S >&-", 0)])
def test_output_that_cannot_be_written(command: str, code: int) -> None:
    shell = f"{sys.executable} -m tlsim {command}"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == code
