"""The cost of the wheel for a user of servers: disk, download, and the time until a bridge answers its client.

It fails above a number of MB. Times are printed only: they are those of this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zlib
from contextlib import suppress
from pathlib import Path
from threading import Timer

from uv import find_uv_bin

from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pipeline import build
from tests.release.packages import Packages
from tests.release.use import own_environment

MOST_DISK, MOST_DOWNLOAD = 75.0, 20.0
"""The limits, in MiB. 43 and 9 of them are the official SDK's."""
_MIB = 1024**2
_BLOCK = 4096
_STARTS = 3
_PATIENCE = 60.0
"""Seconds for a bridge to start, to answer, and to end with its client."""
_HOST_ORIGIN = "http://mcpframe-bridge.localhost"
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "release", "version": "1"},
    },
}


def check_size(packages: Packages) -> None:
    """Install the wheel without extras in an empty environment, with bytecode; print what it costs.

    Raises:
        KitError: It takes more than the limits, or a bridge does not answer.
    """
    with scratch("installed") as folder:
        environment = folder / "venv"
        python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        uv = find_uv_bin()
        run_tool([uv, "venv", "--quiet", "--python", sys.executable, str(environment)], "uv venv")
        locked = ["--compile-bytecode", "--constraint", str(checkout_dir() / "requirements" / "dev.txt")]
        command = [uv, "pip", "install", "--quiet", "--python", str(python), *locked, str(packages.wheel)]
        run_tool(command, "uv pip install", timeout=300, environment=own_environment())
        disk, download = sizes(environment)
        built = build(templates_dir() / "minimal", folder, allowed_origins=[_HOST_ORIGIN])
        starts = [_first_answer(python, built.folder) for _ in range(_STARTS)]
    print(
        f"mcpframe without extras: {disk:.1f} MiB on disk, about {download:.1f} to download; a bridge answers after "
        f"{min(starts):.2f} s"
    )
    if disk > MOST_DISK or download > MOST_DOWNLOAD:
        raise KitError(
            f"mcpframe without extras takes {disk:.1f} MiB on disk and {download:.1f} to download, with limits of "
            f"{MOST_DISK:g} and {MOST_DOWNLOAD:g}: move what only authors need into an extra, or out of the wheel."
        )


def sizes(folder: Path) -> tuple[float, float]:
    """Return the MiB of the files in a folder: in blocks of 4 KiB, and compressed as in wheels without bytecode."""
    disk = download = 0
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        disk += -(-path.stat().st_size // _BLOCK) * _BLOCK
        if path.suffix != ".pyc":
            download += len(zlib.compress(path.read_bytes()))
    return disk / _MIB, download / _MIB


def _first_answer(python: Path, bundle: Path) -> float:
    """Return the seconds from the start of `mcpframe bridge` until it answers `initialize`."""
    began = time.perf_counter()
    command = [str(python), "-m", "mcpframe", "bridge", str(bundle)]
    with subprocess.Popen(
        command,
        bufsize=0,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=own_environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = Timer(_PATIENCE, process.kill)
        alarm.start()
        try:
            with suppress(BrokenPipeError):  # it has ended already
                process.stdin.write(json.dumps(_INITIALIZE).encode() + b"\n")
            answer = process.stdout.readline()
            seconds = time.perf_counter() - began
            process.stdin.close()
            process.wait()
            in_time = alarm.is_alive()
        finally:
            alarm.cancel()
    if b'"serverInfo"' not in answer:
        raise KitError(f"The bridge answered initialize with {answer[:200]!r}.")
    if not in_time:
        raise KitError("The bridge did not end with its client.")
    return seconds
