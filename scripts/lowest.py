"""Print the lowest version of each package that pyproject.toml names, one a line, as pip takes them.

python scripts/lowest.py plot pandas    with these extras
"""

import re
import sys
import tomllib
from pathlib import Path


def lowest(requirements: list[str]) -> list[str]:
    """Return `name==version` for requirements of the form `name>=version`, with or without a ceiling."""
    pins = []
    for requirement in requirements:
        match = re.fullmatch(r"([\w.-]+)>=([\w.]+)(?:,<[\w.]+)?", requirement)
        if match is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} has no lowest version, as in 'numpy>=2.0.0'")
        pins.append(f"{match[1]}=={match[2]}")
    return pins


def main() -> None:
    """Print the pins of the package and of the extras given."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    extras = [one for name in sys.argv[1:] for one in project["optional-dependencies"][name]]
    print("\n".join(lowest([*project["dependencies"], *extras])))


if __name__ == "__main__":
    main()
