"""The structure of the package, held by reading its source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import tlsim

PACKAGE = Path(tlsim.__file__).parent
# Each folder, or module beside them, imports only from those before it, and from itself without a circle.
ABOVE_THE_SEAM = ("errors", "rules", "engine", "kit", "plugins", "play")  # know Numba, never Polars
BELOW_THE_SEAM = ("stats", "chances", "output", "api", "cli")  # know Polars, never Numba
ORDER = [*ABOVE_THE_SEAM, *BELOW_THE_SEAM]
MAX_LINES = 450  # of a module
MAX_FUNCTION, MAX_KERNEL = 42, 60  # lines, the docstring apart
MAX_ARGUMENTS = 6  # `self` not counted
KERNELS = ("kernel", "spliced", "function", "inline", "scalar_kernel")


def name_of(path: Path) -> str:
    """Return the name of a module below `tlsim`, '' for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {name_of(path): path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(text) for name, text in SOURCES.items()}
ROOT = ("", "__main__")  # reach everything, at the first use


def folder_of(module: str) -> str:
    return module.partition(".")[0]


def imports(module: str) -> Iterator[str]:
    """Yield the full names that a module imports, of functions as well."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def own_imports(module: str) -> Iterator[str]:
    """Yield the modules of the package that a module imports."""
    for name in imports(module):
        inner = name.removeprefix("tlsim.")
        if inner == name:
            continue
        while inner not in SOURCES:
            inner = inner.rpartition(".")[0]
        if inner:
            yield inner


def test_every_folder_has_a_place_and_says_what_it_may_import() -> None:
    assert {folder_of(name) for name in SOURCES if name not in ROOT} == set(ORDER)
    for name in ORDER:
        doc = ast.get_docstring(TREES[name]) or ""
        if (PACKAGE / name).is_dir():
            assert "mport" in doc, f"{name}/__init__.py does not say what {name} may import"


def test_folders_import_only_from_those_above() -> None:
    for module in SOURCES:
        for imported in own_imports(module) if module not in ROOT else ():
            places = ORDER.index(folder_of(imported)), ORDER.index(folder_of(module))
            assert places[0] <= places[1], f"{module} imports {imported}"


def test_no_circles() -> None:
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"a circle: {' -> '.join((*path, module))}"
        for imported in () if module in done else set(own_imports(module)) - {module}:
            visit(imported, (*path, module))
        done.add(module)

    for module in SOURCES:
        if module not in ROOT:
            visit(module, ())


def test_the_seam() -> None:
    for module in SOURCES:
        roots = {name.partition(".")[0] for name in imports(module)}
        if folder_of(module) in ABOVE_THE_SEAM:
            assert not roots & {"polars", "pandas", "scipy", "matplotlib", "click"}, module
        elif module not in ROOT:
            assert not roots & {"numba", "llvmlite"}, module
        if folder_of(module) == "rules":
            assert not roots & {"numba", "llvmlite"}, module


def test_sizes() -> None:
    for module, text in SOURCES.items():
        assert text.count("\n") <= MAX_LINES, f"{module} asks to lose a responsibility"
        for node in ast.walk(TREES[module]):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1 - (ast.get_docstring(node) or "").count("\n")
                is_kernel = any(isinstance(d, ast.Name) and d.id in KERNELS for d in node.decorator_list)
                most = MAX_KERNEL if is_kernel else MAX_FUNCTION
                assert lines <= most, f"{module}.{node.name} has {lines} lines"


def test_arguments() -> None:
    """What a user names goes by keyword: options of the public functions, and of commands, are not counted."""
    for module in SOURCES:
        for node in ast.walk(TREES[module]):
            if isinstance(node, ast.FunctionDef):
                counted = [*node.args.posonlyargs, *node.args.args]
                counted += [] if folder_of(module) in ("api", "cli") else node.args.kwonlyargs
                names = [argument.arg for argument in counted]
                n = len(names) - (names[:1] in (["self"], ["cls"]))
                assert n <= MAX_ARGUMENTS, f"{module}.{node.name} has {n} arguments"
