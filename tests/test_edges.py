"""Bad places and bad input: streams, signals, files and values that nobody wants, each answered in one line."""

import csv
import io
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from matplotlib.figure import Figure

import tlsim
from tlsim.cli import main, streams
from tlsim.cli.completion import POLICIES
from tlsim.engine import cache
from tlsim.engine.policies import BUILTIN
from tlsim.errors import InputError, brief, printable
from tlsim.output import cells, export, text
from tlsim.rules.cards import parse_card
from tlsim.rules.variantfiles import builtin, digest, from_toml, parse_variant, to_toml

TLSIM = [sys.executable, "-m", "tlsim"]
untyped: Any = tlsim  # for arguments of the wrong types, which are the point here


def run(*args: str, **more: Any) -> Result:
    return CliRunner().invoke(main, list(args), **more)


def error_of(*args: str, **more: Any) -> str:
    """Return the one line that wrong input is answered with."""
    result = run(*args, **more)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), result.output
    assert result.stderr.startswith("tlsim: ")
    return result.stderr


def shell(command: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    line = command.replace("tlsim", f"{sys.executable} -m tlsim", 1)
    return subprocess.run(["sh", "-c", line], capture_output=True, check=False, env={**os.environ, **environment})


# ------------------------------------------------------------------------------------------------ streams


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "cp437", "ascii", "utf-16", "utf-8"])
@pytest.mark.parametrize("command", ["--help", "moves --help", "odds four_twos -n 100 --seed 1", "variants classic"])
def test_every_stdout_gets_what_it_can_show(encoding: str, command: str) -> None:
    found = shell(f"tlsim {command}", PYTHONIOENCODING=encoding)
    assert (found.returncode, found.stderr) == (0, b"")
    shown = found.stdout.decode(encoding)
    assert len(shown) > 200
    if command == "--help":
        assert "Simulate the card game T" in shown
        assert ("Tien len" in shown) == (encoding == "ascii")


def test_json_for_a_stdout_without_letters_is_json(tmp_path: Path) -> None:
    (tmp_path / "é💥.toml").write_text('base = "southern"\nsummary = "♠ 💥 \\u001b[31m"\n', encoding="utf-8")
    command = f"cd '{tmp_path}' && PYTHONPATH={Path(tlsim.__file__).parents[1]} tlsim variants é💥.toml --format json"
    for encoding in ("ascii", "cp1252", "utf-8"):
        found = shell(command, PYTHONIOENCODING=encoding, PYTHONUTF8="1")
        plan = json.loads(found.stdout.decode(encoding))["plan"]
        assert plan["summary"] == "♠ 💥 \x1b[31m"
        assert b"\x1b" not in found.stdout


def test_signs_for_readers() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    assert streams.encodable("3♠ 2.5 ± 0.1 – Tiến … 中", stream) == r"3S 2.5 +- 0.1 - Tien ... \u4e2d"
    assert streams.encodable("3♠", io.StringIO()) == "3♠"


@pytest.mark.parametrize("command", ["tlsim variants 2>&-", "tlsim variants >&-", "tlsim variants <&- >&- 2>&-"])
def test_closed_streams(command: str) -> None:
    found = shell(command)
    assert found.returncode == 0
    assert found.stderr == b""


def test_an_error_on_a_closed_stderr_keeps_its_exit_code() -> None:
    assert shell("tlsim variants nothing 2>&-").returncode == 2


def test_a_dumb_terminal_gets_no_live_line_and_no_colour() -> None:
    shown = {}
    for term in ("dumb", "xterm"):
        master, slave = pty.openpty()
        command = [*TLSIM, "simulate", "-n", "300k", "--seed", "1", "--threads", "1"]
        process = subprocess.Popen(command, stdout=slave, stderr=slave, env={**os.environ, "TERM": term})
        os.close(slave)
        parts = []
        try:
            while part := os.read(master, 4096):
                parts.append(part)
        except OSError:  # the other side is closed
            pass
        os.close(master)
        assert process.wait() == 0
        shown[term] = b"".join(parts).replace(b"\r\n", b"\n")
    assert b"\r" not in shown["dumb"]
    assert b"\033" not in shown["dumb"]
    assert b"\033[1m" in shown["xterm"]


# ------------------------------------------------------------------------------------------------ signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_end_a_run_with_what_is_done(number: signal.Signals, code: int) -> None:
    master, slave = pty.openpty()  # the live line tells when hands are played
    command = [*TLSIM, "simulate", "-n", "1G", "--seed", "1", "--format", "json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave)
    os.close(slave)
    shown = b""
    while b"deals" not in shown:
        shown += os.read(master, 4096)
    process.send_signal(number)
    output, _ = process.communicate(timeout=60)
    os.close(master)
    assert process.returncode == code
    assert 0 < json.loads(output)["plan"]["deals"] < 10**9


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="it shows what a process has loaded")
@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.1, 0.3])
def test_ctrl_c_while_modules_are_imported(seconds: float) -> None:
    process = subprocess.Popen([*TLSIM, "simulate", "-n", "1G"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while "_multiarray_umath" not in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8"):
        time.sleep(0.001)  # NumPy takes an exception in the midst of this for a broken installation
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert b"interrupted" in errors


# ------------------------------------------------------------------------------------------------ values


def test_values_in_errors_are_short_and_harmless() -> None:
    assert len(brief("x" * 10_000)) == 60
    assert brief(10**5000) == "a number of more than 4,300 digits"
    assert printable("a\x1b[31m\u202eb\x9b\ud800 \xa0é♠") == "a\\x1b[31m\\u202eb\\x9b\\ud800 \xa0é♠"


@pytest.mark.parametrize(
    "args",
    [
        ["simulate", "-n", "1" + "0" * 5000],
        ["simulate", "--seed", "1" * 5000],
        ["simulate", "-v", "x" * 70_000],
        ["simulate", "-v", "southern," + "x" * 70_000],
        ["simulate", "--" + "x" * 70_000],
        ["x" * 70_000],
        ["replay", "--deal", "1" * 5000],
        ["hand", "3" * 70_000],
        ["odds", "x" * 70_000],
        ["odds", "dragon", "--plot", "x" * 300 + ".png"],
        ["simulate", "-v", "x" * 300 + ".toml"],
        ["simulate", "-v", "\x1b[31m.toml"],
        ["simulate", "-p", "\x1b[31m"],
        ["policies", "lib:./" + "x" * 300 + ":choose"],
    ],
)
def test_long_and_strange_words_are_answered_in_a_short_line(args: list[str]) -> None:
    line = error_of(*args)
    assert len(line) <= 700
    assert line.rstrip("\n").isprintable()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("straight_min = " + "9" * 5000, "a number has more than 4,300 digits"),
        ("straight_min = 0x" + "f" * 5000, "got a number of more than 4,300 digits"),
        ('base = "' + "s" * 100_000 + '"', "unknown variant 'sss"),
        ("instant_wins = [" + '"dragon", ' * 5000 + "]", "must not repeat a name, got dragon+dragon"),
        ("x" * 1_000_001, "a variant file may have 1,000,000 bytes, and it has more"),
    ],
)
def test_extreme_variant_files(content: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.toml").write_text(content, encoding="utf-8")
    line = error_of("variants", "in.toml")
    assert message in line
    assert len(line) < 700


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file")
def test_an_endless_file_is_no_variant() -> None:
    assert "a variant file may have 1,000,000 bytes, and it has more" in error_of("variants", "/dev/zero")


def test_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('base = "southern"\nmust_play = true\n', encoding="utf-8-sig")
    assert parse_variant(path).must_play
    assert parse_variant(str(path)).must_play


def test_paths_with_commas_and_paths_of_pathlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "with, a comma" / "house, ours.toml"
    path.parent.mkdir()
    path.write_text('base = "southern"\n', encoding="utf-8")
    assert parse_variant(path).name == "house, ours.toml"
    changed = parse_variant(f"{path},must_play=yes, pass_locks=no")
    assert (changed.must_play, changed.pass_locks, changed.name) == (
        True,
        False,
        "house, ours.toml,must_play=yes,pass_locks=no",
    )
    Path("plain").write_text("must_play = true\n", encoding="utf-8")
    assert parse_variant(Path("plain")).must_play
    assert tlsim.moves("3S 4S", variant=path).plan["variant"] == "house, ours.toml"


@pytest.mark.parametrize(
    "spec", ["southern,pass_locks=no,pass_locks=no", "southern,chops.quad=two,chops.quad=two-twos"]
)
def test_keys_given_twice(spec: str) -> None:
    with pytest.raises(InputError, match=r"each key must be there once, but .* is given twice"):
        parse_variant(spec)


def test_what_does_not_show_is_escaped_in_toml() -> None:
    rules = from_toml('summary = "\\u001b[31m \\u009b \\u202e ♠ \\U0001F4A5"', "house.toml", "house.toml")
    written = to_toml(rules)
    assert "\x1b" not in written
    assert from_toml(written, "house.toml", "house.toml").summary == rules.summary


@pytest.mark.parametrize(("name", "card"), [("4♥️", "4H"), ("10♦︎", "10D"), ("10♠", "10S")])
def test_cards_as_phones_write_them(name: str, card: str) -> None:
    assert parse_card(name) == parse_card(card)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("3С", r"unknown card '3С'.*'С' is U\+0421 CYRILLIC CAPITAL LETTER ES"),
        ("３S", r"'３' is U\+FF13 FULLWIDTH DIGIT THREE"),
        ("3S\u200b", r"'\\u200b' is U\+200B ZERO WIDTH SPACE"),
    ],
)
def test_odd_signs_of_cards_are_named(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_card(name)


# ------------------------------------------------------------------------------------------------ the command line


def test_a_pile_in_several_words_is_refused() -> None:
    line = error_of("moves", "7S", "7D", "--on", "6H", "6S")
    assert "--on must be one word, as --on 6H,6S, or in quotes; got '6S' after it" in line
    for words in (["7S", "7D", "--on", "6H,6S"], ["7S", "7D", "--on", "6H 6S"], ["--on", "6H,6S", "7S", "7D"]):
        result = run("moves", *words, "--format", "json")
        assert json.loads(result.stdout)["moves"] == [["7S", "7D"]]


@pytest.mark.parametrize("option", ["--pass_locks", "--pass-locks", "--pass_locks=no"])
def test_a_rule_as_an_option(option: str) -> None:
    assert "pass_locks is a rule, a change of the variant: -v southern,pass_locks=…" in error_of("simulate", option)


@pytest.mark.parametrize(
    ("words", "last"),
    [
        ("-v so", ["southern"]),
        ("-v southern,pass", ["southern,pass_locks="]),
        ("-v ho", ["house.toml"]),
        ("-p r", ["random"]),
        ("-p my", ["mybot.py:"]),
    ],
)
def test_completion(words: str, last: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("house.toml", "mybot.py", "notes.txt"):
        Path(name).touch()
    environment = {"_TLSIM_COMPLETE": "bash_complete", "COMP_WORDS": f"tlsim simulate {words}", "COMP_CWORD": "3"}
    found = run(env=environment, prog_name="tlsim", complete_var="_TLSIM_COMPLETE")
    assert [line.partition(",")[2] for line in found.stdout.split()] == last
    assert tuple(BUILTIN) == POLICIES


def test_event_and_where_are_one() -> None:
    event, where = (
        json.loads(run("odds", name, "twos >= 2", "-n", "100", "--seed", "1", "--format", "json").stdout)
        for name in ("--event", "--where")
    )
    assert (event["tables"], event["plan"]) == (where["tables"], where["plan"])


def test_replay_as_json() -> None:
    found = json.loads(run("replay", "--seed", "1", "--deal", "3:5", "--format", "json").stdout)
    assert [hand["index"] for hand in found["hands"]] == [3, 4]
    assert found["plan"]["deals"] == [3, 5]
    assert set(found["tables"]) == {"seats", "turns"}


# ------------------------------------------------------------------------------------------------ figures


def test_a_figure_of_a_simulation(tmp_path: Path) -> None:
    path = tmp_path / "rates.png"
    result = run("simulate", "-n", "100", "--seed", "1", "--plot", str(path))
    assert result.exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in tmp_path.iterdir()] == ["rates.png"]


@pytest.mark.parametrize("command", ["simulate", "odds"])
def test_figures_are_checked_before_the_work(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "cannot write missing/x.png: No such file" in error_of(command, "-n", "1G", "--plot", "missing/x.png")
    (tmp_path / "file").touch()
    assert "cannot write file/x.png: Not a directory" in error_of(command, "-n", "1G", "--plot", "file/x.png")
    monkeypatch.setattr("tlsim.cli.common.find_spec", lambda _name: None)
    assert "--plot needs Matplotlib: pip install 'tlsim[plot]'" in error_of(command, "-n", "1G", "--plot", "x.png")


@pytest.mark.parametrize("players", [2, 4])
def test_figures_say_what_they_are_of(players: int) -> None:
    results = [
        tlsim.simulate(deals=20, seed=7, players=players),
        tlsim.odds(deals=200, seed=7, players=players),
        tlsim.odds("dragon", "twos", deals=200, seed=7, players=players),
    ]
    for result in results:
        figure = result.plot()
        caption = figure.get_supxlabel()
        assert all(words in caption for words in ("variant southern", f"players {players}", "seed 7", "deals 2"))
        for axes in figure.axes:
            assert max(axes.get_xlim()[1] if axes.get_xscale() == "log" else 0, axes.get_ylim()[1]) <= 100


def test_labels_of_many_events_do_not_overlap() -> None:
    figure = tlsim.odds("dragon", by="strength", deals=2000, seed=1).plot()
    figure.draw_without_rendering()
    for axes in figure.axes:
        boxes = [label.get_window_extent() for label in axes.get_yticklabels() if label.get_text()]
        boxes.sort(key=lambda box: box.y0)
        assert all(low.y1 <= high.y0 + 1 for low, high in itertools.pairwise(boxes))


def test_a_figure_that_fails_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_self: Figure, file: Path, **_: Any) -> None:
        Path(file).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", fail)
    path = tmp_path / "rates.png"
    path.write_bytes(b"old")
    assert run("simulate", "-n", "100", "--seed", "1", "--plot", str(path)).exit_code == 2
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("rates.png", b"old")]


# ------------------------------------------------------------------------------------------------ results


def test_the_seed_0_is_in_the_heading() -> None:
    assert " · seed 0 · " in run("simulate", "-n", "10", "--seed", "0").stdout
    assert "opening" not in text.heading("moves", {"opening": False, "on": []})


@pytest.mark.parametrize("command", [["simulate"], ["odds", "dragon"]])
def test_csv_and_markdown_carry_seed_and_plan(command: list[str]) -> None:
    table = list(csv.DictReader(io.StringIO(run(*command, "-n", "100", "--format", "csv").stdout)))
    assert len({row["seed"] for row in table}) == 1
    assert f"--seed {table[0]['seed']}" in table[0]["command"]
    again = run(*table[0]["command"].split()[1:], "--format", "csv").stdout
    assert list(csv.DictReader(io.StringIO(again))) == table  # the drawn seed is the one that was used
    last = run(*command, "-n", "100", "--seed", "5", "--format", "markdown").stdout.splitlines()[-1]
    assert last.startswith(f"Made by `tlsim {command[0]} ")
    assert "--seed 5" in last


def test_the_plan_of_a_file_has_its_rules(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text('base = "southern"\nmust_play = true\n', encoding="utf-8")
    plans = [
        tlsim.simulate(path, deals=10, seed=1).plan,
        tlsim.replay(path, seed=1).plan,
        tlsim.odds("dragon", variant=path, deals=10, seed=1).plan,
        tlsim.moves("3S", variant=path).plan,
    ]
    for plan in plans:
        assert plan["variant"] == "house.toml"
        assert (plan["rules"]["must_play"], plan["rules"]["cards"]) == (True, 13)
        assert plan["rules"]["chops"]["quad"] == ["two", "two-twos", "double-straight-3"]
        assert plan["rules"]["sha256"] == digest(parse_variant("southern,must_play=yes"))
        assert plan["rules"]["sha256"] != digest(builtin("southern"))
    assert "rules" not in tlsim.moves("3S").plan


def test_counts_say_what_they_are_per() -> None:
    titles = [line for line in str(tlsim.simulate(deals=100, seed=1)).splitlines() if line.endswith(")")]
    assert [line for line in titles if line.startswith(("length (per hand, 95 %", "chops (per hand, 95 %"))]
    assert any(line.startswith("instant wins (95 %") for line in titles)
    assert "chops (95 %" in str(tlsim.odds(deals=100, seed=1, players=4))


def test_repr_of_a_result_is_short() -> None:
    shown = repr(tlsim.simulate(deals=10, seed=1))
    assert shown.startswith("<tlsim.Result: simulate · variant southern · ")
    assert shown.endswith("; tables seats, leader, policies, length, chops, instant_wins>")
    assert len(repr(tlsim.moves("3S 4S 5S", variant="southern,pass_locks=no," + "must_play=no"))) < 300


def test_cells_that_start_a_formula_are_quoted() -> None:
    table = pl.DataFrame({"=x": ["=1+1", "@SUM(1)", "-1.5", "+x", "a\x1b[31m"], "y": [1, 2, 3, 4, -5]})
    lines = ["'=x,y", "'=1+1,1", "'@SUM(1),2", "-1.5,3", "'+x,4", "a\\x1b[31m,-5"]
    assert export.csv({"t": table}).splitlines() == lines


def test_escape_sequences_do_not_reach_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "esc\x1b[31m.toml"
    path.write_text('base = "southern"\nsummary = "\\u001b]0;title\\u0007"\n', encoding="utf-8")
    for form in ("table", "markdown", "csv", "json"):
        shown = run("variants", str(path), "--format", form).stdout + run("hand", "3S", "-v", str(path)).stdout
        assert shown.replace("\n", "").isprintable(), form
    assert "\x1b" not in run("replay", "-v", str(path), "--seed", "1").stdout


@pytest.mark.parametrize(
    ("share", "shown"), [(1.0, "100 %"), (0.9999999, "99.99999 %"), (1 - 1e-12, "99.9999999999 %"), (0.5, "50 %")]
)
def test_what_is_not_certain_is_not_100_percent(share: float, shown: str) -> None:
    table = pl.DataFrame({"exact": [share], "one_in": [1.0]})
    assert cells.columns_of(table, symbols=False)[0].cells == [shown]


# ------------------------------------------------------------------------------------------------ the API


def test_numbers_as_scientists_write_them() -> None:
    results = [
        untyped.simulate(deals=deals, seed=1, level=level)
        for deals, level in ((100, 0.9), (1e2, np.float64(0.9)), (np.float32(100), 0.9))
    ]
    assert len({json.dumps(result.plan) for result in results}) == 1
    assert untyped.odds("dragon", deals=1e2, seed=1).plan["deals"] == 100


@pytest.mark.parametrize(
    "call",
    [
        lambda: untyped.simulate(3),
        lambda: untyped.simulate(b"southern"),
        lambda: untyped.simulate(policies=3),
        lambda: untyped.simulate(policies=[3]),
        lambda: untyped.simulate(policies=None),
        lambda: untyped.simulate(trade=3),
        lambda: untyped.simulate(progress=3),
        lambda: untyped.simulate(deals=None),
        lambda: untyped.simulate(deals=float("inf")),
        lambda: untyped.simulate(deals=float("nan")),
        lambda: untyped.simulate(level=None),
        lambda: untyped.simulate(match="x"),
        lambda: untyped.replay(deal="x"),
        lambda: untyped.replay(deal=[0, 2]),
        lambda: untyped.hand(3),
        lambda: untyped.hand([3]),
        lambda: untyped.moves("3S", on=3),
        lambda: untyped.odds(3),
        lambda: untyped.odds(where=3),
        lambda: untyped.odds("dragon", given=3),
        lambda: untyped.odds(by=3),
        lambda: untyped.check_deals(3),
        lambda: untyped.check_deals("x", alpha="x"),
        lambda: untyped.variants(3),
        lambda: untyped.variants(diff=3),
        lambda: untyped.variants(diff=["southern"]),
        lambda: untyped.policies(3),
        lambda: untyped.bench(seconds="x"),
        lambda: untyped.bench(seconds=None),
    ],
)
def test_wrong_types_are_input_errors(call: Any) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------------ the cache


def test_the_cache_folder_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("TLSIM_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert cache.cache_root().name.startswith("tlsim-")
    monkeypatch.setenv("TLSIM_CACHE_DIR", "~nobody-has-this-name/cache")
    assert cache.cache_root().name.startswith("tlsim-")


def test_a_tilde_in_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TLSIM_CACHE_DIR", "~/somewhere")
    monkeypatch.setenv("HOME", "/home/someone")
    assert cache.cache_root() == Path("/home/someone/somewhere")


def test_old_caches_are_removed_and_nothing_else(tmp_path: Path) -> None:
    def folder(name: str, age: int, file: str = "engine_x/hand.play-1.py311.nbi") -> Path:
        path = tmp_path / name
        (path / file).parent.mkdir(parents=True)
        (path / file).touch()
        os.utime(path, (1e9 - age, 1e9 - age))
        return path

    ours = [folder(f"{age:016x}", age) for age in range(5)]
    others = [folder("notes", 9), folder("f" * 16, 9, "thesis.txt"), folder("0" * 15, 9)]
    new = folder("e" * 16, 0)
    cache.remove_old(new)
    assert [path.exists() for path in ours] == [True, True, True, False, False]
    assert all(path.exists() for path in [*others, new])


def test_a_warm_cache_that_cannot_be_written_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(folder: Path) -> None:
        if folder.is_relative_to(tmp_path / "baked"):
            raise PermissionError(13, "Permission denied")

    baked = tmp_path / "baked" / cache.engine_hash()
    (baked / "engine_x").mkdir(parents=True)
    (baked / "engine_x" / "hand.play-1.py311.1.nbc").write_bytes(b"code")
    monkeypatch.setenv("TLSIM_CACHE_DIR", str(tmp_path / "baked"))
    monkeypatch.setattr(cache, "_folder_for_now", lambda: tmp_path / "now")
    monkeypatch.setattr(cache, "_check_writable", refuse)
    copy = tmp_path / "now" / baked.name
    assert cache._make_cache_folder() == copy
    assert (copy / "engine_x" / "hand.play-1.py311.1.nbc").read_bytes() == b"code"
    assert cache._make_cache_folder() == copy  # made once
    (tmp_path / "now").chmod(0o777)  # where others could write, their code would be run
    with pytest.warns(UserWarning, match="every start will be slow"):
        assert cache._make_cache_folder() is None
