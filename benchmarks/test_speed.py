"""Times by implementation and size: `pytest benchmarks`, and to compare with an earlier run `--benchmark-autosave`."""

import bodies
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

CASES = [(*key, size) for key in bodies.BODIES for size in bodies.SIZES[key[1]]]


@pytest.mark.parametrize(("work", "implementation", "size"), CASES)
def test_speed(work: str, implementation: str, size: int, benchmark: BenchmarkFixture) -> None:
    benchmark.group = f"{work}, {size} hands"
    body = bodies.BODIES[work, implementation](size)
    body()  # compiled and loaded before it is timed
    assert benchmark(body) > 0
