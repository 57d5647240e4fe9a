"""The changes that `scripts/mutate` makes can still be made: what they change is in the source, once."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_mutant_can_be_made() -> None:
    mutants = runpy.run_path(str(ROOT / "scripts" / "mutate"))["read_mutants"]()
    assert len(mutants) >= 40
    for mutant in mutants:
        compile(mutant.changed(), mutant.name, "exec")
        files = [ROOT / name for name in mutant.tests if name.endswith(".py")]
        assert files, mutant.name
        assert all(path.is_file() for path in files), mutant.name
