"""Tests of the rules that hold for the compiled kernels hold for their plain Python as well."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tlsim.engine.host import JIT

HERE = Path(__file__).parent
FILES = ["test_survivors.py", "test_kit.py", "test_money.py", "test_chop_table.py", "test_perft.py", "test_vectors.py"]


@pytest.mark.skipif(not JIT, reason="nothing is compiled here")
def test_the_same_without_the_compiler(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "TLSIM_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [*command, *(str(HERE / name) for name in FILES)],
        cwd=HERE.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    assert not list(tmp_path.iterdir())
