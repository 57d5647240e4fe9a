"""Policies by name: built-in, a function of a Python file (compiled or not), or of a shared library.

    lowest                           built-in
    mybot.py:choose,greed=0.3        a Python function, compiled once and cached
    python:mybot.py:choose           the same uncompiled: slow, for prototypes and debugging
    lib:./bot.so:choose              a C function (C, Rust, …): `int64_t choose(rules, view, stream, params)`

The arguments of a Python function after the first three are its parameters: numbers, with defaults.
"""

import ctypes
import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tlsim.engine import trading
from tlsim.engine.calls import POLICY_RAISED
from tlsim.engine.hand import play_shown_hand
from tlsim.engine.policies import BUILTIN, BY_ADDRESS, BY_C_ADDRESS, Policy
from tlsim.engine.rng import STREAM
from tlsim.engine.table import PLAY_HAND
from tlsim.engine.view import C_SIGNATURE, IN_REGISTERS, MAX_PARAMS, PARAMS, SIGNATURES, VIEW
from tlsim.errors import InputError, first_line, nearest, printable
from tlsim.plugins.compiled import Called, Contract, compiled_policy
from tlsim.rules.ruleset import RULES

_CONTRACT = ["rules", "view", "stream"]


def builtin_names() -> list[str]:
    """Return the names of the built-in policies."""
    return list(BUILTIN)


def parse_policies(specs: list[str] | tuple[str, ...], players: int) -> list[Policy]:
    """Return one policy a seat from one for all seats or one a seat; raise `InputError` for another number of them."""
    if len(specs) not in (1, players):
        raise InputError(f"give one policy for all seats, or one a seat: got {len(specs)} for {players} players")
    policies = {spec: parse_policy(spec) for spec in dict.fromkeys(specs)}
    return [policies[spec] for spec in (specs if len(specs) == players else [*specs] * players)]


def parse_policy(spec: str) -> Policy:
    """Return the policy that `SPEC[,key=value…]` names.

    Raises `InputError` for an unknown name or parameter, a file that is missing or does not run, a function that is
    missing or has the wrong arguments. What cannot be compiled is known when it is (`Policy.address`).
    """
    head, *changes = (part.strip() for part in spec.split(","))
    try:
        if head.startswith("lib:"):
            return _from_library(spec, head.removeprefix("lib:"), changes)
        if head.startswith("python:"):
            return _from_python(spec, head.removeprefix("python:"), changes)
        if ".py:" in head:
            return _from_file(spec, head, changes)
        if head.endswith(".py"):
            raise InputError(f"name the function as well: {head}:choose")
        if head not in BUILTIN:
            advice = f"{nearest(head, builtin_names())}; or a function of a file, as mybot.py:choose"
            raise InputError(f"unknown policy {head!r}; {advice}")
        if changes:
            raise InputError(f"policy {head} has no parameters, but {', '.join(changes)!r} is given")
    except InputError as error:
        raise InputError(str(error) if spec == head in str(error) else f"{spec}: {error}") from None
    return Policy(head, *BUILTIN[head])


# ------------------------------------------------------------------------------------------------ Python files


def _from_file(spec: str, place: str, changes: list[str]) -> Policy:
    """Return a compiled function of a Python file."""
    function, source = _find_function(place, _CONTRACT)
    return compile_function(spec, function, _parameters(function, changes), source)


def parse_trading(spec: str) -> Policy:
    """Return the trading policy `FILE.py:FUNCTION[,key=value…]` (`tlsim.engine.trading` has the contract).

    Raises `InputError` as `parse_policy` does.
    """
    head, *changes = (part.strip() for part in spec.split(","))
    try:
        if ".py:" not in head:
            raise InputError("a trading policy is a function of a file, as mytrade.py:trade; without, the built-in one")
        function, source = _find_function(head, ["rules", "offer", "stream"])
        params = _parameters(function, changes)
        signature = trading.SIGNATURES[len(params)]
        code = compiled_policy(function, source, Contract(signature, trading.C_SIGNATURE))
        _ = code.address  # what cannot be compiled is said now
    except InputError as error:
        raise InputError(str(error) if spec in str(error) else f"{spec}: {error}") from None
    return Policy(spec, BY_ADDRESS, _summary(function), params, source, code)


def compile_function(
    name: str, function: Callable[..., Any], params: tuple[float, ...] = (), source: str = ""
) -> Policy:
    """Return a Python function as a policy, compiled when it is needed; cached when the hash of its source is given."""
    contract = Contract(SIGNATURES[len(params)], C_SIGNATURE, IN_REGISTERS, (play_shown_hand, PLAY_HAND))
    code = compiled_policy(function, source, contract)
    return Policy(name, BY_ADDRESS, _summary(function), params, source, code)


def _from_python(spec: str, place: str, changes: list[str]) -> Policy:
    """Return a Python function behind a C callback."""
    function, source = _find_function(place, _CONTRACT)
    params = _parameters(function, changes)
    callback = _CALLBACK(_Uncompiled(function, len(params)))
    address = ctypes.cast(callback, ctypes.c_void_p).value or 0
    return Policy(spec, BY_C_ADDRESS, _summary(function), params, source, Called(address, callback))


def _find_function(place: str, contract: list[str]) -> tuple[Callable[..., Any], str]:
    """Return the plain Python function at `FILE:NAME`, and the hash of its file and of what that imports beside it."""
    path, _, name = place.rpartition(":")
    module = _load_module(Path(path))
    function = getattr(module, name, None)
    function = getattr(function, "py_func", function)  # one that is decorated already
    if not inspect.isfunction(function):
        functions = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise InputError(f"{path} has no function {name!r}; {nearest(name, functions)}")
    arguments = list(inspect.signature(function).parameters)
    if arguments[:3] != contract:
        raise InputError(f"{name}({', '.join(arguments)}): its first arguments are ({', '.join(contract)})")
    return function, _hash_of(module)


def _load_module(path: Path) -> ModuleType:
    """Return the module of a Python file, run anew.

    It must be in `sys.modules` before it runs, or the cache of compiled code does not find it.
    """
    if path.suffix != ".py":
        raise InputError(f"a policy in Python must be in a file that ends in .py, got {path}")
    if not path.is_file():
        raise InputError(f"no such file: {path}")
    key = hashlib.sha256(str(path.resolve()).encode() + path.read_bytes()).hexdigest()[:16]
    name = f"tlsim_policy_{path.stem}_{key}"  # compiled functions of two versions of a file have two names
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        where = f"line {error.lineno}" if isinstance(error, SyntaxError) else type(error).__name__
        raise InputError(f"{path} does not run: {where}: {first_line(error)}") from None
    finally:
        sys.path.pop(0)
    return module


def _hash_of(module: ModuleType) -> str:
    """Return the SHA-256 of a policy's file and of the modules beside it that are loaded."""
    folder = Path(str(module.__file__)).parent
    files = {Path(str(module.__file__))}
    for other in list(sys.modules.values()):
        file = getattr(other, "__file__", None)
        if file and Path(file).parent == folder and getattr(other, "__name__", "") in vars(module):
            files.add(Path(file))
    files |= {Path(file) for file in _imported_files(module) if Path(file).parent == folder}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def _imported_files(module: ModuleType) -> Iterator[str]:
    """Yield the files of the modules that a module's own names come from."""
    for value in vars(module).values():
        home = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
        file = getattr(home, "__file__", None)
        if file:
            yield file


def _parameters(function: Callable[..., Any], changes: list[str]) -> tuple[float, ...]:
    """Return the values of a function's parameters: its defaults, changed by `key=value`."""
    parameters = list(inspect.signature(function).parameters.values())[3:]
    if len(parameters) > MAX_PARAMS:
        raise InputError(f"a policy has at most {MAX_PARAMS} parameters, got {len(parameters)}")
    values: dict[str, float] = {}
    for parameter in parameters:
        default = parameter.default
        if isinstance(default, bool) or not isinstance(default, int | float):
            raise InputError(f"parameter {parameter.name} needs a number as default, as {parameter.name}=0.5")
        values[parameter.name] = float(default)
    for change in changes:
        key, equals, text = (part.strip() for part in change.partition("="))
        if not equals:
            raise InputError(f"a parameter is written key=value, as greed=0.3, got {change!r}")
        if key not in values:
            advice = nearest(key, list(values)) if values else "it has no parameters"
            raise InputError(f"unknown parameter {key!r}; {advice}")
        values[key] = _number(key, text)
    return tuple(values.values())


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"parameter {key} must be a number, got {text!r}") from None


def _summary(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


# ------------------------------------------------------------------------------------------------ uncompiled functions

_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)


class _Uncompiled:
    """A Python function as C code calls it: records from addresses, and an exception becomes `POLICY_RAISED`."""

    def __init__(self, function: Callable[..., Any], n_params: int) -> None:
        self.function, self.n_params = function, n_params
        self.records: dict[int, Any] = {}

    def record(self, address: int, dtype: Any) -> Any:
        """Return the record at an address, which is the same for every turn of a table."""
        if address not in self.records:
            dtype = np.dtype(dtype)
            buffer = (ctypes.c_char * dtype.itemsize).from_address(address)
            self.records[address] = np.frombuffer(buffer, dtype).view(np.recarray)[0]
        return self.records[address]

    def __call__(self, rules: int, view: int, stream: int, params: int) -> int:
        try:
            values = self.record(params, PARAMS)["value"][: self.n_params]
            arguments = self.record(rules, RULES), self.record(view, VIEW), self.record(stream, STREAM)
            return int(self.function(*arguments, *map(float, values)))
        except Exception as error:
            what = f"{self.function.__name__}: {type(error).__name__}: {first_line(error)}"
            sys.stderr.write(f"{printable(what)}\n")
            return POLICY_RAISED


# ------------------------------------------------------------------------------------------------ shared libraries


def _from_library(spec: str, place: str, changes: list[str]) -> Policy:
    """Return a function of a shared library; its parameters are numbers, in the order given."""
    path, _, name = place.rpartition(":")
    if not path:
        raise InputError(f"name the function as well: lib:{name}:choose")
    if not Path(path).is_file():
        raise InputError(f"no such file: {path}")
    try:
        library = ctypes.CDLL(str(Path(path).resolve()))
    except OSError as error:
        raise InputError(f"{path} is no shared library for this machine: {first_line(error)}") from None
    function = getattr(library, name, None)
    if function is None:
        raise InputError(f"{path} has no function {name!r}")
    if len(changes) > MAX_PARAMS:
        raise InputError(f"a policy has at most {MAX_PARAMS} parameters, got {len(changes)}")
    params = tuple(_number(key, text or key) for key, _, text in (change.partition("=") for change in changes))
    source = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    summary = f"function {name} of {Path(path).name}"
    return Policy(spec, BY_C_ADDRESS, summary, params, source, Called(address, library))
