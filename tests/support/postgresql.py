"""A PostgreSQL of the system's package, in a temporary folder, on a Unix socket alone."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_USERS = ("postgres", "nobody")


def _programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, which Debian does not have on the path."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    return max((path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")), default=None)


def _user() -> str | None:
    """Return a user other than root, whom PostgreSQL refuses; None if this is one already."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _USERS if name in known)


@contextmanager
def postgresql() -> Iterator[str]:
    """Run a PostgreSQL for the duration of the block; yields SQLAlchemy's address of its database.

    The test is skipped where PostgreSQL is not installed.
    """
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    user = _user()
    folder = Path(tempfile.mkdtemp(prefix="mcpframe-pg-"))
    if user:
        shutil.chown(folder, user)
    data = folder / "data"
    try:
        initializing = [str(programs / "initdb"), "-D", str(data), "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(initializing, user=user, cwd="/", check=True, capture_output=True)
        serving = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
        settings = f"-F -c listen_addresses= -k {folder}"
        subprocess.run([*serving, "-o", settings, "start"], user=user, cwd="/", check=True, stdout=subprocess.DEVNULL)
        try:
            yield f"postgresql://{user or getpass.getuser()}@/postgres?host={folder}"
        finally:
            subprocess.run([*serving, "-m", "immediate", "stop"], user=user, cwd="/", check=True, capture_output=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
