"""The examples in the docstrings of the package are true."""

import doctest
import importlib
from pathlib import Path

import pytest

import tlsim

PACKAGE = Path(tlsim.__file__).parent
WITH_EXAMPLES = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    failures, examples = doctest.testmod(importlib.import_module(module))
    assert examples > 0, f"{module} has examples that doctest does not see"
    assert failures == 0
