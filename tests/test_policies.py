"""Policies from files and libraries: the same game for the same decisions, and one clear line for what is wrong."""

import dataclasses
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tlsim
from tlsim.engine import calls
from tlsim.engine.host import JIT
from tlsim.errors import InputError, PlayFault
from tlsim.play.plan import Plan
from tlsim.play.runner import Runner, blocks
from tlsim.plugins import compiled
from tlsim.plugins.header import PATH, c_header
from tlsim.plugins.load import parse_policies, parse_policy, parse_trading
from tlsim.rules.variantfiles import parse_variant

EXAMPLES = Path(__file__).parents[1] / "examples"


def tally(*specs: str, variant: str = "southern", players: int = 4, deals: int = 400) -> Any:
    plan = Plan(parse_variant(variant), players, tuple(parse_policies(specs, players)), deals, 5)
    return sum(block.tally for block in blocks(plan, 2))


def rows_of(plan: Plan, seating: tuple[int, ...]) -> Any:
    rows: Any = Runner(plan).play(0, plan.deals, keep=True).rows
    return rows[plan.seatings.index(seating) :: len(plan.seatings)]


@pytest.fixture
def bot(tmp_path: Path) -> Any:
    def write(body: str, name: str = "bot.py") -> str:
        path = tmp_path / name
        path.write_text(body)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("variant", "players"),
    [("southern", 4), ("classic", 3), ("viet-cong,must_play=yes", 2), ("mien-nam", 4), ("classic,ties=later", 6)],
)
def test_the_built_in_policies_as_files_play_the_same(variant: str, players: int) -> None:
    for name, file in [("lowest", "lowest.py"), ("random", "random_play.py")]:
        expected = tally(name, variant=variant, players=players)
        assert np.array_equal(tally(f"{EXAMPLES / file}:choose", variant=variant, players=players), expected)
        few = tally(name, variant=variant, players=players, deals=20)
        uncompiled = tally(f"python:{EXAMPLES / file}:choose", variant=variant, players=players, deals=20)
        assert np.array_equal(uncompiled, few)


@pytest.mark.skipif(not JIT, reason="without the compiler there are only calls")
def test_a_policy_in_its_own_loop_plays_as_by_its_address(bot: Any) -> None:
    rules, few = parse_variant("southern"), 300
    text = "def choose(rules, view, stream, bold=0.5):\n    return kit.lowest_play(rules, view) if view.on == 0 or "
    spec = bot(f"from tlsim import kit\n{text}kit.chance(stream) < bold + view.left[view.seat] / 26 else 0\n")
    other = bot((EXAMPLES / "lowest.py").read_text(), "other.py")
    policy = parse_policy(f"{spec}:choose,bold=0.2")
    called = dataclasses.replace(policy, code=compiled.Called(policy.address))
    assert policy.loop != 0
    plans = [Plan(rules, 4, (policy,) * 4, few, 1), Plan(rules, 4, (called,) * 4, few, 1)]
    assert Runner(plans[0]).packed.play_hand == policy.loop != Runner(plans[1]).packed.play_hand
    own, by_address = (Runner(plan).play(0, few).tally for plan in plans)
    assert np.array_equal(own, by_address)
    assert Runner(Plan(rules, 4, (policy, parse_policy(f"{other}:choose")) * 2, few, 1)).packed.play_hand != policy.loop


def test_a_library_in_c_plays_the_same(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler on this machine")
    library = tmp_path / "singles.so"
    command = [compiler, "-O2", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{PATH.parent}", "-o", str(library)]
    subprocess.run([*command, str(EXAMPLES / "singles.c")], check=True)
    expected = tally(f"{EXAMPLES / 'singles.py'}:choose")
    assert np.array_equal(tally(f"lib:{library}:choose"), expected)
    with pytest.raises(InputError, match="has no function 'chose'"):
        parse_policy(f"lib:{library}:chose")


def test_the_header_is_that_of_the_records() -> None:
    assert PATH.read_text(encoding="utf-8") == c_header()


def test_parameters(bot: Any) -> None:
    """A parameter is a number in a register: another value plays otherwise, without compiling anew."""
    path = bot(
        "from tlsim import kit\n"
        "def choose(rules, view, stream, pace=1.0, patience=0):\n"
        "    '''Pass now and then.'''\n"
        "    if view.on != 0 and kit.chance(stream) < patience:\n"
        "        return 0\n"
        "    return kit.lowest_play(rules, view)\n"
    )
    policy = parse_policy(f"{path}:choose,patience=0.5")
    assert policy.params == (1.0, 0.5)
    assert policy.summary == "Pass now and then."
    assert np.array_equal(tally(f"{path}:choose"), tally("lowest"))
    assert not np.array_equal(tally(f"{path}:choose,patience=0.5"), tally("lowest"))
    both = tally(f"{path}:choose,patience=0.5", f"{path}:choose", "lowest", "random", deals=50)
    assert both[0, 0] == 50 * 24


WITH_HELPERS = """
import numpy as np
from numba import njit
from tlsim import kit

@njit
def steps(n):
    return 1 if n <= 1 else 1 + steps(n - 1)

def choose(rules, view, stream):
    if np.arange(steps(5)).sum() != 10:
        raise ValueError("wrong")
    return kit.lowest_play(rules, view)
"""


def test_a_policy_with_helpers_of_its_own_starts_again(bot: Any) -> None:
    """Numba cannot load a function from its cache that calls a recursive one: it ended the second process."""
    spec = f"{bot(WITH_HELPERS)}:choose"
    code = f"import tlsim; print(tlsim.simulate(policies={spec!r}, deals=20, seed=3).tables['seats']['estimate'][0])"
    plain = str(tlsim.simulate(deals=20, seed=3).tables["seats"]["estimate"][0])
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert run.stdout.strip() == plain


LOW = "from tlsim import kit\ndef choose(rules, view, stream, n=%d):\n    return kit.lowest_play(rules, view)\n"

TWO_PLAYERS_AND_A_TRADER = """
from tlsim import kit

def low(rules, view, stream):
    return kit.lowest_play(rules, view)

def any_play(rules, view, stream):
    return kit.random_play(rules, view, stream)

def trade(rules, offer, stream):
    return 0
"""


@pytest.mark.parametrize("variant", ["southern", "mien-nam", "southern,trading=yes"])
@pytest.mark.parametrize("how", ["", "python:"])
def test_functions_of_one_file_at_one_table(bot: Any, variant: str, how: str) -> None:
    """Each reading of the file runs it anew: what is compiled later is still the function that was read."""
    path, rules = bot(TWO_PLAYERS_AND_A_TRADER), parse_variant(variant)
    specs = [f"{path}:low", f"{how}{path}:any_play", "lowest", "random"]
    policies = parse_policies(specs, 4)
    trade = parse_trading(f"{path}:trade") if rules.trading else None
    given = Plan(rules, 4, tuple(policies), 20, 5, trade=trade)
    low, random = policies[2:]
    built_in = dataclasses.replace(given, policies=(low, random, low, random))
    ours, theirs = rows_of(given, (0, 1, 2, 3)), rows_of(built_in, (0, 1, 0, 1))
    for name in ("plays", "passes", "places", "payoffs", "chops"):
        assert np.array_equal(ours[name], theirs[name])


@pytest.mark.skipif(not JIT, reason="without the compiler nothing is compiled")
def test_new_policies_in_several_threads(bot: Any) -> None:
    paths = [bot(LOW % n, f"thread{n}.py") for n in range(3)]
    plans = [(path, variant) for path in paths for variant in ("southern", "mien-nam")]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda plan: tally(f"{plan[0]}:choose", variant=plan[1], deals=50), plans))
    for (_, variant), one in zip(plans, found, strict=True):
        assert np.array_equal(one, tally("lowest", variant=variant, deals=50))


def test_a_policy_read_before_its_file_changed_plays_as_it_was(bot: Any) -> None:
    one, rules = parse_policy(f"{bot(LOW % 1)}:choose"), parse_variant("southern")
    bot("def choose(rules, view, stream):\n    return 0\n")
    own = Runner(Plan(rules, 4, (one,) * 4, 30, 1)).play(0, 30).tally
    assert np.array_equal(own, Runner(Plan(rules, 4, tuple(parse_policies(["lowest"], 4)), 30, 1)).play(0, 30).tally)


def test_a_changed_file_is_compiled_anew(bot: Any) -> None:
    first = bot("def choose(rules, view, stream):\n    return view.hand & -view.hand if view.on == 0 else 0\n")
    one = tally(f"{first}:choose", deals=50)
    text = "from tlsim import kit\ndef choose(rules, view, stream):\n    return kit.lowest_play(rules, view)\n"
    assert not np.array_equal(tally(f"{bot(text)}:choose", deals=50), one)
    by_address = tally(f"{bot(text)}:choose", variant="mien-nam", deals=50)
    assert np.array_equal(by_address, tally("lowest", variant="mien-nam", deals=50))


def test_a_change_in_a_file_beside_it_is_seen(bot: Any) -> None:
    main = bot("from rate import share\ndef choose(rules, view, stream):\n    return share(view.hand, view.on)\n")
    helper = "from numba import njit\n@njit\ndef share(hand, on):\n    return hand & -hand if on == 0 else 0\n"
    bot(helper, "rate.py")
    before = parse_policy(f"{main}:choose").source
    assert tally(f"{main}:choose", deals=5)[0, 0] == 5
    import sys

    del sys.modules["rate"]
    bot(helper + "# changed\n", "rate.py")
    assert parse_policy(f"{main}:choose").source != before
    del sys.modules["rate"]


@pytest.mark.parametrize(
    ("body", "spec", "message"),
    [
        ("", "{}:choose", "has no function 'choose'"),
        ("def chose(rules, view, stream): return 0", "{}:choose", r"no function 'choose'; did you mean chose\?"),
        ("def choose(view): return 0", "{}:choose", r"choose\(view\): its first arguments are \(rules, view, stream\)"),
        ("def choose(rules, view, stream, a): return 0", "{}:choose", "parameter a needs a number as default"),
        ("def choose(rules, view, stream, a=1.0): return 0", "{}:choose,b=1", r"unknown parameter 'b'; known: a"),
        ("def choose(rules, view, stream, a=1.0): return 0", "{}:choose,a=x", "parameter a must be a number, got 'x'"),
        ("def choose(rules, view, stream, a=1.0): return 0", "{}:choose,a", "a parameter is written key=value"),
        ("def choose(rules, view, stream): return 0", "{}:choose,a=1", "unknown parameter 'a'; it has no parameters"),
        ("def choose(rules, view, stream: return 0", "{}:choose", "does not run: line 1"),
        ("1/0", "{}:choose", "does not run: ZeroDivisionError: division by zero"),
        ("def choose(rules, view, stream): return view.hands", "{}:choose", "it cannot be compiled: .*hands"),
        ("def choose(rules, view, stream): return 'x'", "{}:choose", "it cannot be compiled"),
        ("def choose(rules, view, stream): return view.nope", "{}:choose", "compiled: there is no field 'nope'"),
        (
            "import math\ndef choose(rules, view, stream): return math.nope(1)",
            "{}:choose",
            "it cannot be compiled: .*nope",
        ),
        ("", "{}", "name the function as well"),
        ("", "lib:{}", "name the function as well|no such file"),
        ("", "lib:{}:choose", "is no shared library for this machine"),
        ("", "{}x.py:choose", "no such file"),
        ("", "python:{}x.py:choose", "no such file"),
    ],
)
def test_bad_policies(bot: Any, body: str, spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        _ = parse_policy(spec.format(bot(body))).address
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("how", ["{}:choose", "python:{}:choose"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 // (view.hand - view.hand)", "the policy raised an exception"),
        ("raise ValueError('no idea')", "the policy raised an exception"),
        ("return None if view.on == 0 else 0", "the policy raised an exception"),
        ("return 3 if view.on == 0 else 0", "does not hold these cards: 3S 3C|not a legal play: 3S 3C"),
        ("return -1", "does not hold these cards: -0x1, a mask with bits that are no card"),
        ("return 1 << 60", "does not hold these cards: 0x1000000000000000, a mask with bits"),
        ("return 0", "the leader of a pile may not pass: a pass"),
    ],
)
def test_faults(bot: Any, how: str, body: str, message: str) -> None:
    path = bot(f"def choose(rules, view, stream):\n    {body}\n")
    with pytest.raises(PlayFault, match=message) as caught:
        tally(how.format(path))
    assert "(seed 5, deal " in str(caught.value)
    assert ", turn " in str(caught.value)
    assert ", seat " in str(caught.value)


def test_scribbling_on_the_view_changes_nothing(bot: Any) -> None:
    path = bot(
        "from tlsim import kit\n"
        "def choose(rules, view, stream):\n"
        "    play = kit.lowest_play(rules, view)\n"
        "    view.hand = 0\n"
        "    view.on = 0\n"
        "    view.required = 0\n"
        "    view.owner = 3\n"
        "    view.holding = 0\n"
        "    view.passed = 15\n"
        "    view.n_turns = 0\n"
        "    for seat in range(4):\n"
        "        view.left[seat] = 1\n"
        "    return play\n"
    )
    assert np.array_equal(tally(f"{path}:choose"), tally("lowest"))


def test_policies_without_the_compiler(tmp_path: Path) -> None:
    """The same game, to the bit, in plain Python: a policy of a file, behind a C callback, and built in."""
    specs = ["lowest", f"{EXAMPLES / 'lowest.py'}:choose", f"python:{EXAMPLES / 'lowest.py'}:choose"]
    code = f"import tlsim\nfor spec in {specs}:\n"
    code += "    tables = tlsim.simulate(policies=spec, deals=20, seed=3).to_dict()['tables']\n"
    code += "    print([row['estimate'] for row in tables['seats']])\n"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "TLSIM_CACHE_DIR": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    plain = [row["estimate"] for row in tlsim.simulate(deals=20, seed=3).to_dict()["tables"]["seats"]]
    assert run.stdout.splitlines() == [str(plain)] * 3


def test_what_fails_while_a_function_is_bound_is_not_lost() -> None:
    calls._FAILED.append(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        tlsim.replay(deal=0, seed=1)
    assert not calls._FAILED


def test_a_python_policy_is_in_a_python_file(tmp_path: Path) -> None:
    (tmp_path / "bot.csv").write_text("a,b\n")
    with pytest.raises(InputError, match=r"must be in a file that ends in \.py, got .*bot\.csv"):
        parse_policy(f"python:{tmp_path / 'bot.csv'}:choose")


def test_what_a_python_policy_raises_reaches_the_terminal_without_escapes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bot.py"
    file.write_text("def choose(rules, view, stream):\n    raise ValueError('\\x1b[31mno')\n")
    with pytest.raises(PlayFault):
        tlsim.simulate(policies=f"python:{file}:choose", deals=1, seed=1)
    assert capsys.readouterr().err == "choose: ValueError: \\x1b[31mno\n"
