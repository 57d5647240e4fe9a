import pytest
from perft import Case, divide, perft, read_cases


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: f"{case.variant}-{len(case.hands)}")
def test_perft(case: Case) -> None:
    for depth, expected in enumerate(case.counts, 1):
        found = perft(case, depth)
        assert found == expected, f"depth {depth}: {found}; below each first play: {divide(case, depth)}"
