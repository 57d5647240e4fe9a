"""How long a new process takes until it has answered: `pytest benchmarks/test_start_up.py`. The goal is 0.2 s."""

import subprocess
import sys

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

COMMANDS = {
    "help": ["--help"],
    "version": ["--version"],
    "help of a command": ["simulate", "--help"],
    "an unknown option": ["simulate", "--dels", "5"],
    "an unknown variant": ["simulate", "-v", "suthern"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_start_up(name: str, benchmark: BenchmarkFixture) -> None:
    line = [sys.executable, "-m", "tlsim", *COMMANDS[name]]
    benchmark(subprocess.run, line, capture_output=True)
