"""tlsim: simulation and statistics of the card game Tiến lên.

One function a command, with the name of the command: `tlsim.simulate(...)`. Each is imported when it is first used, so
that `import tlsim` costs nothing.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tlsim.api import bench, doctor, hand, moves, policies, replay, simulate, variants, warmup
    from tlsim.api_odds import check_deals, odds
    from tlsim.result import Interrupted, Result

    __version__: str

__all__ = [
    "Interrupted",
    "Result",
    "__version__",
    "bench",
    "check_deals",
    "doctor",
    "hand",
    "moves",
    "odds",
    "policies",
    "replay",
    "simulate",
    "variants",
    "warmup",
]


def __getattr__(name: str) -> Any:
    """Return a public name, importing what it needs (PEP 562)."""
    if name == "__version__":
        return _version()
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tlsim import api, api_odds, result

    of_hands = name in ("check_deals", "odds")
    return getattr(result if name in ("Interrupted", "Result") else api_odds if of_hands else api, name)


def __dir__() -> list[str]:
    """Return the public names, which are not there yet but can be asked for."""
    return __all__


def _version() -> str:
    """Return the version, which `pyproject.toml` states; only an installed package knows it."""
    from importlib import metadata

    try:
        return metadata.version("tlsim")
    except metadata.PackageNotFoundError:
        return "0+unknown"


class _Package(ModuleType):
    """The package, where the functions `policies` and `variants` keep their names.

    Importing the subpackages `tlsim.policies` and `tlsim.variants` would put the modules in their place; they stay
    reachable as `from tlsim.policies import …`.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
