"""Time and memory against the number of deals: prints seconds a million deals and the peak memory of each run.

    python benchmarks/scale.py [--deals 1M 10M 100M] [--threads 2] [--repeats 3] [--policy lowest]

Each run is a process of its own. The time is that of the run by the clock on the wall, without start-up; the memory is
the most that the process ever held (peak RSS), interpreter and libraries included.
"""

import argparse
import json
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

DEALS = ("1M", "10M", "100M")
_CHILD = """
import json, resource, sys
import tlsim
policy, deals, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
result = tlsim.simulate("southern", policy, deals=deals, seed=1, threads=threads)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([result.provenance["seconds"], peak, result.provenance["cpu"]]))
"""
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


class Run(NamedTuple):
    """One run: wall seconds without start-up, peak memory in bytes, and the processor."""

    seconds: float
    peak: int
    cpu: str


def run(policy: str, deals: int, threads: int) -> Run:
    """Return what a run of so many deals takes, in a process of its own."""
    command = [sys.executable, "-c", _CHILD, policy, str(deals), str(threads)]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    seconds, peak, cpu = json.loads(found)
    return Run(seconds, peak * _RSS_UNIT, cpu)


def whole(text: str) -> int:
    """Return a number written as 1000000, 1_000_000 or 1M."""
    return int(text.removesuffix("M")) * (10**6 if text.endswith("M") else 1)


def measure(sizes: Sequence[int], policy: str, threads: int, repeats: int) -> dict[int, list[Run]]:
    """Return the runs of each size, taken in turns."""
    found: dict[int, list[Run]] = {size: [] for size in sizes}
    for _ in range(repeats):
        for size in sizes:
            print(f"{size:,} deals …", file=sys.stderr)
            found[size].append(run(policy, size, threads))
    return found


def table(found: dict[int, list[Run]]) -> str:
    """Return a row a size in Markdown; `relative` is the median time a deal against that of the first size."""
    lines = ["| deals | s a million deals | lowest … highest | relative | peak memory, MB |", "|--:|--:|---|--:|--:|"]
    first = None
    for deals, runs in found.items():
        each = [1e6 * one.seconds / deals for one in runs]
        first = first or median(each)
        peak = max(one.peak for one in runs) / 1e6
        spread = f"{min(each):.3f} to {max(each):.3f}"
        lines.append(f"| {deals:,} | {median(each):.3f} | {spread} | {median(each) / first:.2f} | {peak:.0f} |")
    return "\n".join(lines)


def main(args: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Measure time and memory against the number of deals.")
    parser.add_argument("--deals", nargs="+", type=whole, default=[whole(text) for text in DEALS], metavar="N")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--policy", default="lowest")
    options = parser.parse_args(args)
    run(options.policy, 1000, options.threads)  # compiles, where nothing has yet
    found = measure(options.deals, options.policy, options.threads, options.repeats)
    cpu = next(iter(found.values()))[0].cpu
    print(table(found))
    print(f"\nsouthern · {options.policy} · {options.threads} threads · {options.repeats} runs · {cpu}", end=" · ")
    print(f"python {platform.python_version()} · {time.strftime('%Y-%m-%d')}")


if __name__ == "__main__":
    main()
