"""Environments with other SDKs than the repository's own: one Python has only one."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from uv import find_uv_bin

from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.locking import locked

INSIDE = checkout_dir() / "tests" / "other_sdks" / "inside"


def sdk_folder(name: str) -> Path:
    """Return a folder with the packages of requirements/sdks/NAME.txt, installed there when it is first asked for."""
    lock = checkout_dir() / "requirements" / "sdks" / f"{name}.txt"
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:16]
    folder = cache_dir() / "test-sdks" / f"{name}-{digest}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                command = [find_uv_bin(), "pip", "install", "--quiet", "--python", sys.executable, "--target", scratch]
                # The lock alone says what is installed: it may have been renewed after the date of tests/conftest.py.
                environment = {name: value for name, value in os.environ.items() if name != "UV_EXCLUDE_NEWER"}
                command += ["--require-hashes", "--requirement", str(lock)]
                subprocess.run(command, env=environment, check=True, timeout=300)
                shutil.move(scratch, folder)
                Path(scratch).mkdir()  # for its owner to remove
    return folder


def run_inside(name: str, suite: str, *beside: str) -> None:
    """Run a suite of tests/other_sdks/inside with the packages of `sdk_folder`, and nothing of this environment.

    Args:
        name: The environment's name.
        suite: The suite's file.
        beside: The names of others, whose packages are there, too.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "PYTHON"))}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (*map(sdk_folder, (name, *beside)), checkout_dir())))
    command = [sys.executable, "-S", "-m", "pytest", "-c", str(INSIDE / "pytest.ini"), str(INSIDE / suite)]
    outcome = subprocess.run(
        [*command, "--rootdir", str(checkout_dir())],
        env=environment,
        cwd=checkout_dir(),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert outcome.returncode == 0, outcome.stdout[-6000:] + outcome.stderr[-2000:]
