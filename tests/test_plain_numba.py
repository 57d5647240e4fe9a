"""The plain way of compiling: the same bits, by itself when Numba is not as we know it, and one clear line when not."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tlsim.engine.compile import kernel
from tlsim.engine.host import JIT
from tlsim.engine.inside import PLAIN, does_not_fit, versions
from tlsim.errors import DoesNotFit, InputError
from tlsim.plugins import compiled
from tlsim.plugins.load import parse_policy

pytestmark = pytest.mark.skipif(not JIT or PLAIN, reason="the fast way is not taken")

EXAMPLES = Path(__file__).parents[1] / "examples"
# Built-in policies, one from a file, a match, odds that are sampled.
PLANS = f"""
import json, tlsim
file = r"{EXAMPLES / "cautious.py"}:choose,danger=3"
mixed = ["lowest", "random", "lowest", "random"]
results = [
    tlsim.simulate("southern", mixed, deals=50, seed=3),
    tlsim.simulate("southern", mixed, deals=3, seed=3, match=10),
    tlsim.simulate("southern", file, deals=50, seed=3),
    tlsim.simulate("southern,decks=2", "lowest", deals=30, seed=3),
    tlsim.odds("twos", deals=2000, seed=3),
]
"""
PRINT = 'print(json.dumps([one.to_dict()["tables"] for one in results], default=str))'


def add(a: int, b: int) -> int:
    return a + b


def run(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    env = {key: value for key, value in os.environ.items() if key != "TLSIM_PLAIN_NUMBA"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env={**env, **environment}, capture_output=True, text=True, check=False)


def tables(process: Any) -> Any:
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def test_the_plain_way_gives_the_same_bits() -> None:
    fast = tables(run(PLANS + PRINT))
    for _ in range(2):  # compiled, and read from the cache
        plain = run(PLANS + PRINT, TLSIM_PLAIN_NUMBA="1")
        assert tables(plain) == fast
        assert "do not fit" not in plain.stderr


@pytest.mark.parametrize(
    "broken",
    [
        "import numba.core.compiler as c; del c.DefaultPassBuilder.define_nopython_pipeline",
        "from numba.core.dispatcher import _FunctionCompiler as c; del c._customize_flags",
        "import sys; sys.modules['numba.core.lowering'] = None",
    ],
)
def test_the_plain_way_is_taken_by_itself(broken: str) -> None:
    code = "import warnings; from tlsim.engine import host\nimport numba\n"
    code += f"{broken}\nfrom tlsim.engine import inside\nprint(inside.PLAIN)"
    process = run(code)
    assert process.stdout.split() == ["True"], process.stderr
    assert process.stderr.count("do not fit together: there is no ") == 1
    assert "TLSIM_PLAIN_NUMBA=1" in process.stderr


def test_a_kernel_that_fails_the_fast_way_is_compiled_the_plain_way(tmp_path: Path) -> None:
    """What is there and does not work is noticed when it is used."""
    code = "import ctypes\nfrom tlsim.engine import calls\nfrom tlsim.engine.compile import kernel\n"
    code += "from numba import types\n@kernel\ndef add(a, b):\n    return a + b\n"
    code += "def broken(*_):\n    raise AttributeError('no such thing inside')\n"
    code += "calls._address_inside = broken\nfor _ in range(2):\n"
    code += "    address = calls.address_of(add, types.int64(types.int64, types.int64))\n"
    code += "print(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(address)(40, 2))"
    program = tmp_path / "program.py"  # kernels are read from a file
    program.write_text(code, encoding="utf-8")
    process = run(f"import runpy; runpy.run_path({str(program)!r})")
    assert process.stdout.split() == ["42"], process.stderr
    assert process.stderr.count("AttributeError: no such thing inside") == 1


def test_a_kernel_that_python_calls_says_what_does_not_fit() -> None:
    def fail(*_: Any) -> None:
        raise AttributeError("no such thing inside")

    function: Any = kernel(add)
    function._compiler._compile_core = fail
    with pytest.raises(DoesNotFit, match="AttributeError: no such thing inside; set TLSIM_PLAIN_NUMBA=1"):
        function(1, 2)


def test_neither_way_works() -> None:
    """The line names the versions and how to go on, and does not blame the policy."""
    text = str(does_not_fit(AttributeError("gone")))
    assert "AttributeError: gone" in text
    assert versions() in text
    assert "TLSIM_PLAIN_NUMBA=1" in text


def test_who_is_to_blame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Numba says of a policy names its line; what fails for the simplest policy as well is not the policy's."""
    path = tmp_path / "bot.py"
    path.write_text("def choose(rules, view, stream):\n    x = view.hand\n    return x.nope\n", encoding="utf-8")
    with pytest.raises(InputError, match="it cannot be compiled: line 3: Unknown attribute 'nope'"):
        _ = parse_policy(f"{path}:choose").address

    def fail(*_: Any) -> int:
        raise AttributeError("no such thing inside")

    path.write_text("def choose(rules, view, stream):\n    return 0\n", encoding="utf-8")
    monkeypatch.setattr(compiled.Compiled, "_compile", fail)
    monkeypatch.setattr(compiled, "c_policy", fail)
    with pytest.raises(DoesNotFit, match="AttributeError: no such thing inside"):
        _ = parse_policy(f"{path}:choose").address
