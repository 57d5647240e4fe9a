"""The guide to house rules: every file and every change in it is read, and says what the text next to it says."""

import re
from pathlib import Path

import pytest

from tlsim.errors import InputError
from tlsim.rules.ruleset import Rules
from tlsim.rules.variantfiles import builtin_names, from_toml, parse_variant

PAGE = (Path(__file__).parents[1] / "docs" / "house-rules.md").read_text(encoding="utf-8")
README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SPEC = re.compile(rf"(?:{'|'.join(builtin_names())})(?:,[\w.-]+=[\w.+-]+)+")
SECTIONS = dict(re.findall(r"^### (\d+\. .*?)\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL))
REFUSED = PAGE.partition("\n## What is refused")[2]
REFUSALS = [line for _, block in BLOCK.findall(REFUSED) for line in block.splitlines()]


def files(text: str) -> list[Rules]:
    return [from_toml(block, "house.toml", "house.toml") for kind, block in BLOCK.findall(text) if kind == "toml"]


def changes(text: str) -> list[Rules]:
    return [parse_variant(spec) for spec in SPEC.findall(text)]


def test_there_are_ten() -> None:
    assert [name.partition(".")[0] for name in SECTIONS] == [str(n) for n in range(1, 11)]


@pytest.mark.parametrize("name", SECTIONS)
def test_file_and_change_are_the_same(name: str) -> None:
    (file,), (change,) = files(SECTIONS[name]), changes(SECTIONS[name])
    assert file == change
    assert file != parse_variant("southern")


def test_file_and_change_before_the_ten() -> None:
    head = PAGE.partition("\n### 1.")[0]
    two_ways, _, chop_table = head.partition("\n## The chop table")
    assert files(two_ways) == changes(two_ways)[:1]
    assert files(chop_table) == changes(chop_table)
    for spec in SPEC.findall(head):
        parse_variant(spec)


@pytest.mark.parametrize("line", REFUSALS)
def test_what_is_refused(line: str) -> None:
    spec = line.partition(": ")[0]
    with pytest.raises(InputError) as caught:
        parse_variant(spec)
    message = str(caught.value)
    assert message.startswith(line[:-1]) if line.endswith("…") else message == line


def test_every_command_names_rules_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("house.toml").write_text(BLOCK.findall(PAGE)[1][1], encoding="utf-8")
    lines = [line for kind, block in BLOCK.findall(PAGE) if not kind for line in block.splitlines()]
    commands = [line.split() for line in lines if line.startswith("tlsim ")]
    assert len(commands) == 5
    specs = [word for words in commands for word in words if word.startswith((*builtin_names(), "house.toml"))]
    assert specs.count("house.toml") == 3
    assert parse_variant("house.toml") == parse_variant(specs[0])
    for spec in specs:
        parse_variant(spec)


def test_the_readme_names_the_page() -> None:
    assert "(docs/house-rules.md)" in README
