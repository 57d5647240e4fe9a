"""The cache of compiled code: shared by processes, and never the reason why a command fails."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "tlsim", "moves", "3S 3C 4S 5S", "--format", "json"]


def start(folder: Path, **more: Any) -> "subprocess.Popen[str]":
    environment = {**os.environ, "TLSIM_CACHE_DIR": str(folder)}
    return subprocess.Popen(COMMAND, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def finish(process: "subprocess.Popen[str]") -> tuple[str, str]:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return str(json.loads(output)["moves"]), errors


def test_two_processes_on_a_cold_cache_and_a_damaged_one(tmp_path: Path) -> None:
    first, second = [finish(process) for process in [start(tmp_path), start(tmp_path)]]
    assert first[0] == second[0] != ""
    assert "compiling" in first[1]
    warm = finish(start(tmp_path))
    assert warm == (first[0], "")
    files = sorted(tmp_path.rglob("*.nb[ci]"))
    assert files
    for k, file in enumerate(files):  # cut short, emptied, filled with noise
        data = file.read_bytes()
        file.write_bytes([data[: len(data) // 2], b"", b"noise" * 1000][k % 3])
    assert finish(start(tmp_path))[0] == first[0]


def test_a_full_disk_costs_one_warning(tmp_path: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # no file may grow beyond 1,000 bytes

    output, errors = finish(start(tmp_path, preexec_fn=limit))
    assert output
    assert errors.count("compiled in memory") == 1
    assert "Traceback" not in errors
