"""tlsim: simulation and statistics of the card game Tiến lên.

One function a command, with the name of the command: `tlsim.simulate(...)`. Each is imported when it is first used, so
that `import tlsim` costs nothing.

They return a `Result`, and raise `InputError` for input that is not allowed, `PlayFault` when a policy plays what is
not legal, and `Interrupted` at Ctrl-C, with the result so far.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tlsim.api.cards import hand, moves
    from tlsim.api.catalogue import policies, variants
    from tlsim.api.machine import bench, doctor, warmup
    from tlsim.api.odds import check_deals, odds
    from tlsim.api.play import replay, simulate
    from tlsim.errors import InputError, PlayFault
    from tlsim.output.result import Interrupted, Result

    __version__: str

# Where each public name lives. No folder of the package has one of these names: importing it would hide the function.
_HOMES = {
    "InputError": "errors",
    "Interrupted": "output.result",
    "PlayFault": "errors",
    "Result": "output.result",
    "bench": "api.machine",
    "check_deals": "api.odds",
    "doctor": "api.machine",
    "hand": "api.cards",
    "moves": "api.cards",
    "odds": "api.odds",
    "policies": "api.catalogue",
    "replay": "api.play",
    "simulate": "api.play",
    "variants": "api.catalogue",
    "warmup": "api.machine",
}
__all__ = [
    "InputError",
    "Interrupted",
    "PlayFault",
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
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"tlsim.{_HOMES[name]}"), name)


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
