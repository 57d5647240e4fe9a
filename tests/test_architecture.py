"""The structure of the package, held by reading its source."""

import ast
from pathlib import Path

import pytest

import tlsim
from tlsim._jit import ENGINE

PACKAGE = Path(tlsim.__file__).parent
ANALYSIS = """
    estimate shedding handcolumns exact handclasses exact_table query oddssample oddstables oddsquestions handodds
    dealfile dealcheck summary matchtables render handtext machine plots oddsplots result api api_odds cli
""".split()
ORDER = [*ENGINE, *ANALYSIS]


def modules() -> list[str]:
    paths = [path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py")]
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    return sorted(name for name in names if name not in ("__init__", "variants"))


def source(module: str) -> Path:
    path = PACKAGE.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def place(module: str) -> int:
    return ORDER.index("cli" if module.startswith("cli") else module)


def imported(module: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append(node.module)
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def test_every_module_has_a_place() -> None:
    assert {module for module in modules() if not module.startswith("cli")} | {"cli"} == set(ORDER)


@pytest.mark.parametrize("module", modules())
def test_a_module_imports_only_from_above(module: str) -> None:
    for name in imported(module):
        inner = name.removeprefix("tlsim.")
        if name.startswith("tlsim.") and (inner in ORDER or inner.startswith("cli")) and not module.startswith("cli"):
            assert place(inner) < place(module), f"{module} imports {inner}"


@pytest.mark.parametrize("module", modules())
def test_the_seam(module: str) -> None:
    roots = {name.split(".")[0] for name in imported(module)}
    if module in ENGINE:
        assert not roots & {"polars", "pandas", "scipy", "matplotlib", "click"}
    else:
        assert not roots & {"llvmlite"}
        assert "numba" not in roots or module == "machine"


@pytest.mark.parametrize("module", modules())
def test_sizes(module: str) -> None:
    text = source(module).read_text(encoding="utf-8")
    assert text.count("\n") <= 450, f"{module} asks to lose a responsibility"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            kernel = any(isinstance(d, ast.Name) and d.id in ("kernel", "part", "helper") for d in node.decorator_list)
            assert lines <= (62 if kernel else 42), f"{module}.{node.name} has {lines} lines"
