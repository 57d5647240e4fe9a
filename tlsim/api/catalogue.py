"""What there is: `variants`, `policies`."""

from typing import TYPE_CHECKING

from tlsim.api.common import (
    command_line,
    make_table,
)
from tlsim.errors import InputError

if TYPE_CHECKING:
    from tlsim.output.result import Result


def variants(name: str | None = None, diff: tuple[str, str] | None = None) -> "Result":
    """Return the list of built-in variants; the rules of the variant `name`; or where the two of `diff` differ.

    The result of a variant writes it as a TOML file: `tlsim.variants("southern,pass_locks=no").to_toml()`.
    """
    from tlsim.output.result import Result, provenance
    from tlsim.rules import ruleset, variantfiles

    if name is not None and diff is not None:
        raise InputError("variants: give a name, or two to compare, not both")
    if diff is not None:
        a, b = (variantfiles.parse_variant(spec) for spec in diff)
        if diff[0] == diff[1]:
            raise InputError(f"variants: {diff[0]} is given twice: two to compare are needed")
        tables = {"differences": make_table(["rule", *diff], variantfiles.differences(a, b))}
        return Result("variants", {"diff": list(diff)}, provenance(command_line("variants", "--diff", *diff)), tables)
    if name is not None:
        chosen = variantfiles.parse_variant(name)
        plan = {"variant": chosen.name, "summary": chosen.summary}
        made = provenance(command_line("variants", name))
        tables = {name: make_table(*table) for name, table in variantfiles.rule_book(chosen).items()}
        return Result("variants", plan, made, tables, rules=chosen)
    known = [variantfiles.builtin(known) for known in variantfiles.builtin_names()]
    rows = [(one.name, ruleset.span(ruleset.player_counts(one)), one.cards, one.summary) for one in known]
    tables = {"variants": make_table("variant players cards summary", rows)}
    return Result("variants", {}, provenance(command_line("variants")), tables)


def policies(spec: str | None = None) -> "Result":
    """Return the built-in policies with a line each, or the policy that `spec` names."""
    from tlsim.output.result import Result, provenance
    from tlsim.plugins.load import builtin_names, parse_policy

    chosen = [parse_policy(name) for name in ([spec] if spec is not None else builtin_names())]
    _ = [policy.address for policy in chosen]  # what cannot be compiled is said now
    rows = [(policy.name, policy.summary) for policy in chosen]
    line = command_line("policies", *([spec] if spec is not None else []))
    return Result("policies", {"policy": spec}, provenance(line), {"policies": make_table("policy summary", rows)})


def include_folder() -> str:
    """Return the folder that holds `tlsim.h`, the header for policies in C."""
    from tlsim.plugins.header import PATH

    return str(PATH.parent)
