"""What there is: `variants`, `policies`."""

from typing import TYPE_CHECKING

from tlsim.api.common import as_text_or_none, as_texts, command_line, make_table
from tlsim.errors import InputError

if TYPE_CHECKING:
    from tlsim.engine.policies import Policy
    from tlsim.output.result import Result
    from tlsim.rules.variantfiles import VariantSpec

_WHERE_SECTIONS_ARE = "§: sections of docs/rules.md, the rule book"


def variants(name: "VariantSpec | None" = None, *, diff: "tuple[VariantSpec, VariantSpec] | None" = None) -> "Result":
    """Return the list of built-in variants; the rules of one; or where two differ.

    The result of one variant writes it as a TOML file, with `to_toml()`.

    Parameters
    ----------
    name
        A built-in variant or a TOML file, with changes, to show.
    diff
        Two of them, to compare.

    Raises
    ------
    InputError
        For an unknown variant, for both a name and two to compare, and for one that is compared with itself.

    Examples
    --------
    >>> import tlsim
    >>> tlsim.variants(diff=("mien-nam", "dem-la")).tables["differences"]["rule"].to_list()
    ['ends', 'payoff', 'leftover_penalties', 'chop_penalties']
    """
    if name is not None and diff is not None:
        raise InputError("variants: give a name, or two to compare, not both")
    if diff is not None:
        specs = as_texts("diff", diff)
        if len(specs) != 2:
            raise InputError(f"diff must name two variants to compare, got {len(specs)}")
        return _differences(*specs)
    if name is not None:
        return _rule_book(name)
    return _list_of_variants()


def _list_of_variants() -> "Result":
    """Return the built-in variants with a line each."""
    from tlsim.output.result import Result, provenance
    from tlsim.rules.ruleset import player_counts, span
    from tlsim.rules.variantfiles import builtin, builtin_names

    rows = [
        (rules.name, span(player_counts(rules)), rules.cards, rules.summary) for rules in map(builtin, builtin_names())
    ]
    tables = {"variants": make_table("variant players cards summary", rows)}
    return Result("variants", {}, provenance(command_line("variants")), tables)


def _rule_book(spec: "VariantSpec") -> "Result":
    """Return every rule of a variant in words."""
    from tlsim.output.result import Result, provenance
    from tlsim.rules.variantfiles import parse_variant, rule_book

    rules = parse_variant(spec)
    plan = {"variant": rules.name, "summary": rules.summary}
    tables = {name: make_table(*table) for name, table in rule_book(rules).items()}
    origin = provenance(command_line("variants", str(spec)))
    return Result("variants", plan, origin, tables, rules=rules, note=_WHERE_SECTIONS_ARE)


def _differences(spec: str, other: str) -> "Result":
    """Return the rules in which two variants differ."""
    from tlsim.output.result import Result, provenance
    from tlsim.rules.variantfiles import differences, parse_variant

    rows = differences(parse_variant(spec), parse_variant(other))
    if spec == other:
        raise InputError(f"variants: two different ones to compare are needed, but {spec} is given twice")
    origin = provenance(command_line("variants", "--diff", spec, other))
    tables = {"differences": make_table(["rule", spec, other], rows)}
    return Result("variants", {"diff": [spec, other]}, origin, tables)


def policies(spec: str | None = None) -> "Result":
    """Return the built-in policies with a line each, or the one that `spec` names.

    Parameters
    ----------
    spec
        A built-in name, or a function of a file with its parameters: `mybot.py:choose,greed=0.3`.

    Raises
    ------
    InputError
        For an unknown policy, and one that cannot be compiled.

    Examples
    --------
    >>> import tlsim
    >>> tlsim.policies().tables["policies"]["policy"].to_list()
    ['lowest', 'random']
    """
    from tlsim.output.result import Result, provenance
    from tlsim.plugins.load import builtin_names, parse_policy

    spec = as_text_or_none("spec", spec)
    specs = [] if spec is None else [spec]
    chosen = [parse_policy(name) for name in specs or builtin_names()]
    for policy in chosen:
        _compile(policy)
    rows = [(policy.name, policy.summary) for policy in chosen]
    origin = provenance(command_line("policies", *specs))
    return Result("policies", {"policy": spec}, origin, {"policies": make_table("policy summary", rows)})


def _compile(policy: "Policy") -> int:
    """Return the address of a policy: what cannot be compiled is said now."""
    return policy.address


def include_folder() -> str:
    """Return the folder that holds `tlsim.h`, the header for policies in C."""
    from tlsim.plugins.header import PATH

    return str(PATH.parent)
