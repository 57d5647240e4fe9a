"""Variants by name and as files: a built-in name or a TOML file, `name,key=value` changes, what differs."""

import dataclasses
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from tlsim.errors import InputError, nearest
from tlsim.rules import LINES, Chops, Rules, format_value, rule_fields

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
    return () if text in ("none", "") else tuple(text.split("+"))


def _set_chops(chops: Chops, changes: Mapping[str, tuple[str, ...]]) -> Chops:
    """Return the chop table with some lines set, in table order; unknown lines go last, to be refused."""
    table = dict(chops) | dict(changes)
    order = [line for line in LINES if line in table] + [line for line in table if line not in LINES]
    return tuple((line, table[line]) for line in order)


# ------------------------------------------------------------------------------------------------ reading


@cache
def builtin_names() -> tuple[str, ...]:
    """Return the names of the built-in variants, in the order that listings show."""
    known = {Path(entry.name).stem for entry in resources.files("tlsim.variants").iterdir() if ".toml" in entry.name}
    order = ("classic", "viet-cong", "southern", "mien-nam", "dem-la")
    return tuple(sorted(known, key=lambda name: (order.index(name) if name in order else len(order), name)))


@cache
def builtin(name: str) -> Rules:
    """Return a built-in variant by name; raise `InputError` with the nearest name for an unknown one."""
    if name not in builtin_names():
        raise InputError(f"unknown variant {name!r}; {nearest(name, builtin_names())}; or give a TOML file")
    text = resources.files("tlsim.variants").joinpath(f"{name}.toml").read_text(encoding="utf-8")
    return from_toml(text, name, where=f"{name}.toml")


def from_toml(text: str, name: str, where: str) -> Rules:
    """Return the rules that a TOML text describes: differences from the defaults, or from `base = "VARIANT"`.

    `where` names the text in errors (`InputError`: bad syntax with its line, unknown keys with the nearest known one,
    wrong types, values out of range, contradictions).
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        end = f"at line {text.count(chr(10)) + (not text.endswith(chr(10)))}, the end"
        raise InputError(f"{where}: not valid TOML: {str(error).replace('at end of document', end)}") from None
    with_base = table.pop("base", None)
    try:
        if with_base is not None and not isinstance(with_base, str):
            raise InputError(f"base = {with_base!r}: it is the name of a built-in variant")
        base = builtin(with_base) if with_base is not None else Rules()
        changes: dict[str, Any] = {"name": name, "summary": table.pop("summary", "")}
        if not isinstance(changes["summary"], str):
            raise InputError(f"summary = {changes['summary']!r}: it is one line of text")
        known = {field.name: field for field in rule_fields()}
        for key, value in table.items():
            if key not in known:
                raise InputError(f"unknown key {key!r}; {nearest(key, [*known, 'base', 'summary'])}")
            changes[key] = _from_toml_value(known[key], value, base)
        return dataclasses.replace(base, **changes)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _from_toml_value(field: dataclasses.Field[Any], value: Any, base: Rules) -> Any:
    if field.name == "chops":
        if value == []:
            return ()
        if not isinstance(value, dict):
            raise InputError(f'chops = {value!r}: it is a table: [chops], then a line such as quad = ["two"]')
        return _set_chops(base.chops, {k: tuple(v) if isinstance(v, list) else v for k, v in value.items()})
    return tuple(value) if isinstance(value, list) else value


def parse_variant(spec: str) -> Rules:
    """Return the rules of `SPEC[,key=value…]`: a built-in name or a TOML file, then changes.

    `southern,pass_locks=no`, `house.toml,chops.quad=two+two-twos`, `southern,instant_wins=none`. The name of the result
    is the name (for a file its base name) with its changes. Raises `InputError`.
    """
    head, *changes = (part.strip() for part in spec.split(","))
    rules = _read_file(head) if head.endswith(".toml") or "/" in head else builtin(head)
    known = {field.name: field for field in rule_fields()}
    values: dict[str, Any] = {"name": ",".join([rules.name, *changes])}
    for change in changes:
        key, equals, text = (part.strip() for part in change.partition("="))
        if not equals:
            raise InputError(f"{spec}: {change!r}: a change is written key=value, as pass_locks=no")
        if key.startswith("chops."):
            values["chops"] = _set_chops(values.get("chops", rules.chops), {key[6:]: _parse_names(text)})
        elif key == "chops":
            if text != "none":
                raise InputError(f"{spec}: chops = {text}: it is none, or set one line: chops.quad=two+two-twos")
            values["chops"] = ()
        elif key in known:
            values[key] = _parse_text(known[key], text)
        else:
            raise InputError(f"{spec}: unknown key {key!r}; {nearest(key, [*known, 'chops.LINE'])}")
    try:
        return dataclasses.replace(rules, **values)
    except InputError as error:
        raise InputError(f"{spec}: {error}") from None


def _read_file(path: str) -> Rules:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"variant file {path}: {reason}; built-in: {', '.join(builtin_names())}") from None
    return from_toml(text, Path(path).name, where=path)


def differences(a: Rules, b: Rules) -> list[tuple[str, str, str]]:
    """Return `(key, value in a, value in b)` for every rule that differs; the chop table line by line."""
    rows = []
    for field in rule_fields():
        if field.name == "chops":
            in_a, in_b = dict(a.chops), dict(b.chops)
            for line in (line for line in LINES if in_a.get(line) != in_b.get(line)):
                values = (format_value(table[line]) if line in table else "not listed" for table in (in_a, in_b))
                rows.append((f"chops.{line}", *values))
        elif getattr(a, field.name) != getattr(b, field.name):
            rows.append((field.name, format_value(getattr(a, field.name)), format_value(getattr(b, field.name))))
    return rows  # type: ignore[return-value]  # the generator yields exactly two values
