"""What a shell offers after `-v` and `-p`. Nothing heavy is imported: a key press waits for it."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem

POLICIES = ("lowest", "random")  # their home, `tlsim.engine.policies`, takes a second to load


def complete_variant(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the variants and TOML files that a text may become; after a comma, the keys of changes."""
    from tlsim.rules.ruleset import rule_fields
    from tlsim.rules.variantfiles import builtin, builtin_names

    before, comma, key = incomplete.rpartition(",")
    if comma:
        changes = [(f"{before},{field.name}=", field.metadata["meaning"]) for field in rule_fields()]
        return [CompletionItem(text, help=meaning) for text, meaning in changes if text.startswith(f"{before},{key}")]
    names = [CompletionItem(name, help=builtin(name).summary) for name in builtin_names() if name.startswith(key)]
    return [*names, *map(CompletionItem, _files(incomplete, ".toml"))]


def complete_policy(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the policies that a text may become: built-in names, and Python files, whose function follows."""
    names = [name for name in POLICIES if name.startswith(incomplete)]
    return [*map(CompletionItem, names), *(CompletionItem(f"{file}:") for file in _files(incomplete, ".py"))]


def _files(incomplete: str, suffix: str) -> list[str]:
    """Return the files of a kind whose path begins with a text, and the folders."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        paths = sorted(Path(folder + slash or ".").iterdir())
    except OSError:
        return []
    return [folder + slash + path.name for path in paths if path.name.startswith(start) and path.suffix == suffix]
