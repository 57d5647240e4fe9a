"""Variants by name and as files: a built-in name or a TOML file, `name,key=value` changes, what differs."""

import dataclasses
import hashlib
import json
import os
import re
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

from tlsim.errors import InputError, brief, nearest
from tlsim.rules.ruleset import HOLDINGS, LINES, Chops, Rules, format_value, rule_fields

VariantSpec: TypeAlias = str | os.PathLike[str]
"""A built-in variant or a TOML file, with changes: `southern,pass_locks=no`."""
MOST_BYTES = 1_000_000  # of a file

# ------------------------------------------------------------------------------------------------ values and text


def _parse_text(field: dataclasses.Field[Any], text: str) -> Any:
    """Return the value that `key=text` gives a field; ill-typed text is left for `_check_value` to refuse."""
    if isinstance(field.default, bool):
        return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)
    if isinstance(field.default, tuple):
        return _parse_names(text)
    if field.metadata["choices"]:
        return next((choice for choice in field.metadata["choices"] if str(choice) == text), text)
    if isinstance(field.default, int):
        try:
            return int(text)
        except ValueError:
            return text
    return text


def _parse_names(text: str) -> tuple[str, ...]:
    """Return the names of a list written as `a+b`, none for `none`."""
    if text in ("none", ""):
        return ()
    return tuple(text.split("+"))


def _set_chops(chops: Chops, changes: Mapping[str, tuple[str, ...]]) -> Chops:
    """Return the chop table with some lines set, in table order; unknown lines go last, to be refused."""
    table = dict(chops) | dict(changes)
    order = [line for line in LINES if line in table] + [line for line in table if line not in LINES]
    return tuple((line, table[line]) for line in order)


# ------------------------------------------------------------------------------------------------ reading


@cache
def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in variants, in the order that listings show."""
    files = resources.files("tlsim.rules.variants").iterdir()
    names = sorted(Path(file.name).stem for file in files if ".toml" in file.name)
    first = ("classic", "viet-cong", "southern", "mien-nam", "dem-la")
    return tuple(name for name in first if name in names) + tuple(name for name in names if name not in first)


@cache
def builtin(name: str) -> Rules:
    """Return a built-in variant by name; raise `InputError` with the nearest name for an unknown one."""
    if name not in builtin_names():
        raise InputError(f"unknown variant {brief(name)}; {nearest(name, builtin_names())}; or give a TOML file")
    text = resources.files("tlsim.rules.variants").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return from_toml(text, name, where=f"{name}.toml")


def from_toml(text: str, name: str, where: str) -> Rules:
    """Return the rules that a TOML text describes: differences from the defaults, or from `base = "VARIANT"`.

    Parameters
    ----------
    text
        The TOML.
    name
        The name of the variant.
    where
        What errors call the text.

    Raises
    ------
    InputError
        For bad syntax, with its line; unknown keys, with the nearest known one; wrong types; values out of range;
        contradictions.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        n_lines = text.removesuffix("\n").count("\n") + 1
        reason = str(error).replace("at end of document", f"at line {n_lines}, the end")
        raise InputError(f"{where}: not valid TOML: {reason}") from None
    except RecursionError:
        raise InputError(f"{where}: not valid TOML: values are nested too deeply") from None
    except ValueError:  # Python reads no whole number of more digits
        raise InputError(f"{where}: not valid TOML: a number has more than 4,300 digits") from None
    try:
        return _from_table(table, name)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _from_table(table: dict[str, Any], name: str) -> Rules:
    """Return the rules of a TOML table."""
    base = Rules()
    if "base" in table:
        base_name = table.pop("base")
        if not isinstance(base_name, str):
            raise InputError(f"base must be the name of a built-in variant, got {brief(base_name)}")
        base = builtin(base_name)
    summary = table.pop("summary", "")
    if not isinstance(summary, str):
        raise InputError(f"summary must be one line of text, got {brief(summary)}")
    fields = {field.name: field for field in rule_fields()}
    changes: dict[str, Any] = {"name": name, "summary": summary}
    for key, value in table.items():
        if key not in fields:
            raise InputError(f"unknown key {brief(key)}; {nearest(key, [*fields, 'base', 'summary'])}")
        changes[key] = _from_toml_value(fields[key], value, base)
    return dataclasses.replace(base, **changes)


def _from_toml_value(field: dataclasses.Field[Any], value: Any, base: Rules) -> Any:
    """Return the value of a rule as `Rules` holds it; an ill-typed one is left for it to refuse."""
    if field.name != "chops" or value == []:
        return _as_tuple(value)
    if not isinstance(value, dict):
        raise InputError(f'chops must be a table, [chops] and then lines such as quad = ["two"], got {brief(value)}')
    return _set_chops(base.chops, {line: _as_tuple(targets) for line, targets in value.items()})


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def parse_variant(spec: VariantSpec) -> Rules:
    """Return the rules of `SPEC[,key=value…]`: a built-in name or a TOML file, then changes.

    The name of the result is the name (for a file its base name) with its changes. Raises `InputError`.

    >>> parse_variant("southern,pass_locks=no,chops.quad=two+two-twos").pass_locks
    False
    """
    head, changes = _head_and_changes(spec)
    rules = _read_file(head) if _names_a_file(head) else builtin(head)
    try:
        values: dict[str, Any] = {"name": ",".join([rules.name, *changes])}
        keys: set[str] = set()
        for change in changes:
            key = _apply_change(change, values, rules)
            if key in keys:
                raise InputError(f"each key must be there once, but {key} is given twice")
            keys.add(key)
        return dataclasses.replace(rules, **values)
    except InputError as error:
        raise InputError(f"{_in_short(os.fspath(spec))}: {error}") from None


def is_of_file(spec: VariantSpec) -> bool:
    """Return whether a variant is read from a TOML file."""
    return _names_a_file(_head_and_changes(spec)[0])


def _names_a_file(head: str) -> bool:
    return head.endswith(".toml") or "/" in head or os.sep in head


def _head_and_changes(spec: VariantSpec) -> tuple[str, list[str]]:
    """Return the name or file of a variant, and its changes.

    A path may hold commas: the file is the longest beginning of the text that is a path of one.
    """
    if not isinstance(spec, str | os.PathLike):
        raise InputError(f"a variant must be a name, or the path of a TOML file, got {brief(spec)}")
    text = os.fspath(spec)
    if not isinstance(text, str):
        raise InputError(f"a variant must be text, got {brief(text)}")
    ends = [match.end() for match in re.finditer(r"\.toml(?=,|$)", text)]
    for end in reversed(ends):
        if "," in text[:end] and os.path.isfile(text[:end]):  # noqa: PTH113  # False for a path that is too long
            return text[:end], [word.strip() for word in text[end + 1 :].split(",")] if text[end:] else []
    if isinstance(spec, os.PathLike) and "," not in text:
        return text if _names_a_file(text) else f"./{text}", []
    head, *changes = (word.strip() for word in text.split(","))
    return head, changes


def _in_short(text: str) -> str:
    """Return what a user has written, for the beginning of an error, as it is unless it is very long."""
    return text if len(text) <= 200 else f"{text[:200]}…"


def _apply_change(change: str, values: dict[str, Any], rules: Rules) -> str:
    """Add what `key=value` sets to the values that replace those of `rules`; return the key."""
    key, equals, text = (word.strip() for word in change.partition("="))
    if not equals:
        raise InputError(f"a change is written key=value, as pass_locks=no, got {brief(change)}")
    fields = {field.name: field for field in rule_fields()}
    if key.startswith("chops."):
        line = key.removeprefix("chops.")
        values["chops"] = _set_chops(values.get("chops", rules.chops), {line: _parse_names(text)})
    elif key == "chops":
        if text != "none":
            raise InputError(
                f"chops must be none, or set line by line as chops.quad=two+two-twos, got {brief(text)[1:-1]}"
            )
        values["chops"] = ()
    elif key in fields:
        values[key] = _parse_text(fields[key], text)
    else:
        raise InputError(f"unknown key {brief(key)}; {nearest(key, [*fields, 'chops.LINE'])}")
    return key


def _read_file(path: str) -> Rules:
    """Return the rules of a TOML file."""
    where = _in_short(path)
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"cannot read {where}: it is not a text file in UTF-8") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "there can be no such path"
        builtin_variants = ", ".join(builtin_names())
        raise InputError(f"cannot read {where}: {reason}; built-in variants: {builtin_variants}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"cannot read {where}: a variant file may have {MOST_BYTES:,} bytes, and it has more")
    return from_toml(text, Path(path).name, where=where)


# ------------------------------------------------------------------------------------------------ comparing


def as_plain_data(rules: Rules) -> dict[str, Any]:
    """Return the rules by their keys, as a TOML file has them: for the plan of a result."""
    values = {field.name: getattr(rules, field.name) for field in rule_fields() if field.name != "chops"}
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
    return plain | {"chops": {line: list(targets) for line, targets in rules.chops}}


def digest(rules: Rules) -> str:
    """Return the SHA-256 of the rules, as JSON with sorted keys: equal for variants that play the same game."""
    return hashlib.sha256(json.dumps(as_plain_data(rules), sort_keys=True).encode()).hexdigest()


def differences(a: Rules, b: Rules) -> list[tuple[str, str, str]]:
    """Return `(key, value in a, value in b)` for every rule that differs; the chop table line by line."""
    rows = []
    for field in rule_fields():
        if field.name == "chops":
            of_a, of_b = _chop_rows(a), _chop_rows(b)
            rows += [(f"chops.{line}", of_a[line], of_b[line]) for line in LINES if of_a[line] != of_b[line]]
        elif getattr(a, field.name) != getattr(b, field.name):
            rows.append((field.name, format_value(getattr(a, field.name)), format_value(getattr(b, field.name))))
    return rows


def _chop_rows(rules: Rules) -> dict[str, str]:
    """Return the targets of every line that a chop table may have, as text."""
    listed = {line: format_value(targets) for line, targets in rules.chops}
    return {line: listed.get(line, "not listed") for line in LINES}


def rule_book(rules: Rules) -> dict[str, tuple[list[str], Sequence[tuple[str, ...]]]]:
    """Return tables, as columns and rows: every rule in words with value and section, the chop table, instant wins."""
    rows = []
    for field in rule_fields():
        if field.name != "chops":
            value = getattr(rules, field.name)
            rows.append((field.name, format_value(value), _meaning(field, value), f"§{field.metadata['section']}"))
    wins = [(kind, HOLDINGS[kind], "any hand") for kind in rules.instant_wins]
    wins += [(kind, HOLDINGS[kind], "opening hand") for kind in rules.opening_instant_wins]
    return {
        "rules": (["rule", "value", "meaning", "section"], rows),
        "chops": (["chop", "may be played on"], [(line, ", ".join(targets)) for line, targets in rules.chops]),
        "instant_wins": (["instant win", "the hand holds", "on"], wins),
    }


def _meaning(field: dataclasses.Field[Any], value: Any) -> str:
    """Return what a rule means, and what its value does where that has words."""
    meaning: str = field.metadata["meaning"]
    choices = field.metadata["choices"]
    if not isinstance(choices, dict) or isinstance(value, tuple) or not choices[value]:
        return meaning
    return f"{meaning}: {choices[value]}"


# ------------------------------------------------------------------------------------------------ writing

_WIDTH = 90  # of a comment
_HEAD = (
    "all rules, each with its meaning and its section (§) of the rule book, docs/rules.md, so that a change is one "
    "edit; what has no list of values is a number, or true or false. A file may also name the variant that it differs "
    'from, base = "southern", and hold only what differs. Play it: tlsim simulate -v FILE.toml'
)
_CHOPS = (
    "The chop table (§3): what each chop may be played on. The lines are quad, double-straight-3 to "
    "double-straight-13, quad-run-2 and quad-run-3. Targets are two, two-twos and three-twos (a single 2, a pair, "
    "three of them) and the other lines of the table. A double straight without a line follows that of the nearest "
    "shorter one; [] is a line that chops nothing."
)


def to_toml(rules: Rules) -> str:
    """Return a commented TOML file of all rules, none left to a default or a base, that reads back to equal rules.

    All keys are active: a changed value counts, where one in a comment would be lost without a word.
    """
    parts = [_comment(f"{_quote(rules.name)[1:-1]}: {_HEAD}"), f"summary = {_quote(rules.summary)}\n"]
    fields = [field for field in rule_fields() if field.name != "chops"]
    parts += [f"{_describe(field)}{field.name} = {_toml(getattr(rules, field.name))}\n" for field in fields]
    lines = "".join(f"{line} = {_toml(targets)}\n" for line, targets in rules.chops)
    parts.append(f"{_comment(_CHOPS)}[chops]\n{lines}")
    return "\n".join(parts)


def _describe(field: dataclasses.Field[Any]) -> str:
    """Return the comment above a rule: what it means, its section, and what it may be."""
    meaning, choices, low, high = (field.metadata[key] for key in ("meaning", "choices", "low", "high"))
    head = f"{meaning[0].upper()}{meaning[1:]} (§{field.metadata['section']})"
    if field.name == "opening_instant_wins":
        return _comment(f"{head}: names as in instant_wins.")
    if isinstance(choices, dict):
        words_of = {_toml(choice): words for choice, words in choices.items()}
        width = max(map(len, words_of))
        lines = [_comment(f"  {name:{width}}  {words}", width + 4) for name, words in words_of.items()]
        return "".join([_comment(f"{head}:"), *lines])
    if choices:
        return _comment(f"{head}: lines of the chop table.")
    if high:
        return _comment(f"{head}: {low} to {high}.")
    return _comment(f"{head}.")


def _comment(text: str, indent: int = 0) -> str:
    """Return text as comment lines, those after the first indented."""
    lines = textwrap.wrap(text, _WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)
    return "".join(f"# {line}\n" for line in lines)


def _toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        names = list(map(_quote, value))
        line = f"[{', '.join(names)}]"
        if len(line) <= _WIDTH:
            return line
        return "".join(["[\n", *(f"    {name},\n" for name in names), "]"])
    if isinstance(value, str):
        return _quote(value)
    return str(value)


def _quote(text: str) -> str:
    """Return a TOML string: one of JSON, whose signs that do not show are escaped."""
    signs = (
        json.dumps(sign, ensure_ascii=False)[1:-1] if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in text
    )
    return f'"{"".join(signs)}"'
