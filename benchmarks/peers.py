"""tlsim against others on this machine, side by side in one run: prints the ratios that the README quotes.

    python benchmarks/peers.py [--quick] [--json FILE] [--pairs N] [--seconds S] [--only WORD …] [--env DIR]

Each comparison is a number of pairs: one sample of tlsim, one of the other, in alternating order, so that a slow spell
of the machine hits both. The ratio is the median of the ratios of the pairs; beside it stand the lowest and highest.
Rates are per second of CPU time of one thread, start-up excluded; only two threads against one are timed by the clock
on the wall. tlsim is measured as a user runs it, `tlsim.simulate(...)` from the blocks of hands to the Polars tables,
with southern without instant wins, which is what `limit.c` plays. What is missing here is skipped with a word.
"""

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

import tlsim
from tlsim.api.common import make_plan
from tlsim.api.machine import BENCH_VARIANT
from tlsim.play import machine, speed

FOLDER = Path(__file__).parent
# Policies by what they are called here, and the mode of limit.c and plain_python.py that plays the same.
BUILTIN = {"lowest": "p1", "random": "p2"}
PLUGINS = {"examples/lowest.py:choose": "p1", "examples/random_play.py:choose": "p2"}
# Compilers, each by the first of its names that is on the path.
COMPILERS = {"gcc": ["gcc"], "clang": ["clang", *(f"clang-{version}" for version in range(30, 10, -1))]}
PACKAGES = {"OpenSpiel": "open_spiel", "RLCard": "rlcard"}
# Rows of the table: what playouts.py calls them.
LIBRARIES = {"OpenSpiel": ["open_spiel", "open_spiel_examples"], "RLCard": ["rlcard", "rlcard_env"]}
SHOWN = {
    "open_spiel": "OpenSpiel dou dizhu, random, shortest loop",
    "open_spiel_examples": "OpenSpiel dou dizhu, random, as its examples write it",
    "rlcard": "RLCard dou dizhu, random, game alone",
    "rlcard_env": "RLCard dou dizhu, random, as its manual writes it",
}
PAIRS, SECONDS = 11, 1.0  # of a comparison; of a sample
QUICK_PAIRS, QUICK_SECONDS = 3, 0.2
_RATE = re.compile(r"(?:games/cpu-s|hands/s)=([\d.]+)")
_VERSION = re.compile(r"version=(\S+)")

Sampler = Callable[[int], float]
"""Does so many games (or hands) and returns how many a second."""


# ------------------------------------------------------------------------------------------------ samplers


@dataclass
class Side:
    """One side of a comparison."""

    name: str
    sample: Sampler
    first: int  # games of the first try
    size: int = 0  # games of a sample, once it is known
    rates: list[float] = field(default_factory=list)

    def prepare(self, seconds: float) -> None:
        """Find the games that take about so many seconds; this also warms up."""
        self.sample(self.first)
        self.size = max(self.first // 4, 1, round(self.sample(self.first) * seconds))

    def take(self) -> None:
        self.rates.append(self.sample(self.size))


def tlsim_run(
    policy: str,
    threads: int = 1,
    clock: Callable[[], float] = time.process_time,
    variant: str = BENCH_VARIANT,
    players: int = 4,
) -> Sampler:
    """Return a sampler of whole runs, games a second of a clock."""

    def sample(games: int) -> float:
        began = clock()
        tlsim.simulate(variant, policy, deals=games, seed=1, players=players, threads=threads)
        return games / (clock() - began)

    return sample


def tlsim_count() -> Sampler:
    """Return a sampler of counting the legal leads of dealt hands, hands a second."""
    plan = make_plan(BENCH_VARIANT, "lowest", deals=1, seed=1)
    run = speed.counting(plan.rules, plan.players)

    def sample(hands: int) -> float:
        began = time.process_time()
        run(hands)
        return hands / (time.process_time() - began)

    return sample


def program(*command: str, after: Sequence[str] = ()) -> Sampler:
    """Return a sampler that runs `command GAMES after…` and reads the rate that it prints."""

    def sample(games: int) -> float:
        found = _RATE.search(output_of(*command, str(games), *after))
        if found is None:
            raise RuntimeError(f"{command[0]} prints no rate")
        return float(found[1])

    return sample


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# ------------------------------------------------------------------------------------------------ what there is


class Skipped(Exception):
    """Something is missing here; the message says what."""


def find_compiler(name: str) -> str:
    """Return the command of a compiler; raise `Skipped`."""
    found = next(filter(shutil.which, COMPILERS[name]), None)
    if found is None:
        raise Skipped(f"{name}: not on the path")
    return found


def build_limit(compiler: str, folder: Path) -> Path:
    """Return limit.c compiled into a folder; raise `Skipped`."""
    path = folder / f"limit-{compiler}"
    flags = ["-O3", "-march=native", "-w", "-o", str(path), str(FOLDER / "limit.c"), "-lpthread", "-lm"]
    done = subprocess.run([compiler, *flags], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skipped(f"limit.c: {compiler} cannot compile it for this machine")
    return path


def install(package: str, folder: Path) -> Path:
    """Return a Python with a package, in an environment of its own below a folder; raise `Skipped`."""
    path = folder / package
    python = path / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(path)], check=True)
    words = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
    print(f"installing {package} into a throw-away environment", file=sys.stderr)
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        raise Skipped(f"{package}: pip cannot install it here")
    return python


@dataclass(frozen=True)
class Bench:
    """What the comparisons are made with."""

    pairs: int
    seconds: float
    folder: Path
    versions: dict[str, str] = field(default_factory=dict)


def limit_comparisons(bench: Bench, compiler: str) -> Iterator[tuple[Side, Side]]:
    """Yield tlsim against limit.c, policy by policy, and counting leads."""
    command = find_compiler(compiler)
    limit = str(build_limit(command, bench.folder))
    bench.versions[compiler] = output_of(command, "-dumpfullversion", "-dumpversion").strip()
    for policy, mode in policies():
        other = Side(f"limit.c {mode}, {compiler}", program(limit, mode, after=("1", "1")), 200_000)
        yield Side(policy, tlsim_run(policy), 100_000), other
    counting = Side(f"limit.c count, {compiler}", program(limit, "count", after=("1", "1")), 5_000_000)
    yield Side("count legal leads (hands/s)", tlsim_count(), 5_000_000), counting


def policies() -> list[tuple[str, str]]:
    """Return the built-in policies, and the plug-in files that there are, with the mode that plays the same."""
    root = FOLDER.parent
    plugins = {str(root / spec): mode for spec, mode in PLUGINS.items() if (root / spec.partition(":")[0]).exists()}
    return [*BUILTIN.items(), *plugins.items()]


def plain_comparisons(_: Bench) -> Iterator[tuple[Side, Side]]:
    """Yield tlsim against plain Python."""
    for policy, mode in BUILTIN.items():
        other = program(sys.executable, str(FOLDER / "plain_python.py"), mode)
        yield Side(policy, tlsim_run(policy), 100_000), Side(f"plain_python.py {mode}", other, 100)


def library_comparisons(bench: Bench, name: str) -> Iterator[tuple[Side, Side]]:
    """Yield tlsim's random games against random dou dizhu of a library."""
    python = str(install(PACKAGES[name], bench.folder))
    for library in LIBRARIES[name]:
        command = (python, str(FOLDER / "playouts.py"), library)
        try:
            version = _VERSION.search(output_of(*command, "1"))
        except subprocess.CalledProcessError:
            raise Skipped(f"{name}: installed, but it cannot be imported or played here") from None
        bench.versions[name] = version[1] if version else "unknown"
        yield Side("random", tlsim_run("random"), 100_000), Side(SHOWN[library], program(*command), 20)


def thread_comparisons(_: Bench) -> Iterator[tuple[Side, Side]]:
    """Yield two threads against one, by the clock on the wall."""
    for policy in BUILTIN:
        two, one = (tlsim_run(policy, threads, time.perf_counter) for threads in (2, 1))
        yield Side(f"{policy}, 2 threads (wall)", two, 200_000), Side(f"{policy}, 1 thread (wall)", one, 200_000)


def deck_comparisons(_: Bench) -> Iterator[tuple[Side, Side]]:
    """Yield two decks with eight players against one deck with four."""
    two = tlsim_run("lowest", variant="classic", players=8)
    yield Side("lowest, 8 players, two decks", two, 50_000), Side("lowest, 4 players", tlsim_run("lowest"), 100_000)


# ------------------------------------------------------------------------------------------------ measuring


@dataclass
class Comparison:
    """The rates of two sides, pair by pair."""

    what: str
    against: str
    rates: list[float]  # games (or hands) a second of tlsim
    other_rates: list[float]

    @property
    def ratios(self) -> list[float]:
        return [a / b for a, b in zip(self.rates, self.other_rates, strict=True)]

    def as_row(self) -> dict[str, object]:
        ratios = self.ratios
        return {
            "what": self.what,
            "against": self.against,
            "pairs": len(ratios),
            "ratio": median(ratios),
            "low": min(ratios),
            "high": max(ratios),
            "games_per_second": median(self.rates),
            "other_games_per_second": median(self.other_rates),
            "rates": self.rates,
            "other_rates": self.other_rates,
        }


def compare(one: Side, other: Side, pairs: int, seconds: float) -> Comparison:
    """Return the comparison of two sides, sampled in alternating order."""
    for side in (one, other):
        side.prepare(seconds)
    for pair in range(pairs):
        for side in (one, other) if pair % 2 == 0 else (other, one):
            side.take()
    return Comparison(relative(one.name), other.name, one.rates, other.rates)


def relative(name: str) -> str:
    """Return a name without the folder of this checkout."""
    return name.removeprefix(f"{FOLDER.parent}/")


Group = Callable[[Bench], Iterator[tuple[Side, Side]]]


def groups() -> dict[str, Group]:
    """Return the groups of comparisons, by the word that `--only` takes."""
    limits: dict[str, Group] = {name: partial(limit_comparisons, compiler=name) for name in COMPILERS}
    libraries: dict[str, Group] = {word: partial(library_comparisons, name=name) for name, word in PACKAGES.items()}
    return {**limits, "threads": thread_comparisons, "decks": deck_comparisons, "plain": plain_comparisons, **libraries}


def measure(bench: Bench, chosen: Sequence[str]) -> tuple[list[Comparison], list[str]]:
    """Return the comparisons of the chosen groups, and a line for each that is skipped."""
    found, skipped = [], []
    for name in chosen:
        try:
            for one, other in groups()[name](bench):
                print(f"{relative(one.name)} against {other.name} …", file=sys.stderr)
                found.append(compare(one, other, bench.pairs, bench.seconds))
        except Skipped as why:
            skipped.append(str(why))
    return found, skipped


# ------------------------------------------------------------------------------------------------ showing


def figures(value: float, digits: int = 3) -> str:
    """Return a number with so many digits, and thousands apart."""
    return f"{value:,.0f}" if value >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def ratio(value: float) -> str:
    """Return a ratio: two places where it is small."""
    return f"{value:.2f}" if value < 10 else figures(value)


def markdown(rows: Sequence[Comparison], skipped: Sequence[str], about: dict[str, str]) -> str:
    """Return the table of ratios, what was skipped, and where and when it was measured."""
    head = ["tlsim", "against", "ratio", "lowest … highest", "pairs", "games/s of tlsim", "games/s of the other"]
    lines = ["| " + " | ".join(head) + " |", "|---|---|--:|---|--:|--:|--:|"]
    for row in rows:
        ratios = row.ratios
        spread = f"{ratio(min(ratios))} to {ratio(max(ratios))}"
        rates = [figures(median(rates)) for rates in (row.rates, row.other_rates)]
        cells = [row.what, row.against, f"**{ratio(median(ratios))}**", spread, str(len(ratios)), *rates]
        lines.append("| " + " | ".join(cells) + " |")
    made = " · ".join(f"{name} {value}" for name, value in about.items())
    return "\n".join([*lines, "", *(f"Skipped: {why}." for why in skipped), made])


def about(bench: Bench) -> dict[str, str]:
    """Return date, processor and versions."""
    numba = machine.version_of("numba") or "unknown"
    versions = {"tlsim": tlsim.__version__, "python": platform.python_version(), "numba": numba, **bench.versions}
    return {"date": time.strftime("%Y-%m-%d"), "cpu": f"{machine.cpu_name()} ({machine.n_cores()} cores)", **versions}


def parse(args: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure tlsim against other programs, side by side.")
    parser.add_argument("--quick", action="store_true", help="short samples, few pairs: to see that it works")
    parser.add_argument("--pairs", type=int, help=f"pairs a comparison (default {PAIRS})")
    parser.add_argument("--seconds", type=float, help=f"CPU seconds a sample (default {SECONDS:g})")
    parser.add_argument("--only", nargs="+", choices=list(groups()), default=list(groups()), metavar="WORD")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all samples there as well")
    parser.add_argument("--env", type=Path, metavar="DIR", help="keep the environments of other libraries there")
    return parser.parse_args(args)


def main(args: Sequence[str] | None = None) -> None:
    options = parse(args)
    pairs = options.pairs or (QUICK_PAIRS if options.quick else PAIRS)
    seconds = options.seconds or (QUICK_SECONDS if options.quick else SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pairs, seconds, options.env or Path(folder))
        bench.folder.mkdir(parents=True, exist_ok=True)
        found, skipped = measure(bench, options.only)
        made = about(bench)
    print(markdown(found, skipped, made))
    if options.json:
        text = json.dumps({"about": made, "skipped": skipped, "rows": [row.as_row() for row in found]}, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
