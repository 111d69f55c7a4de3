"""The private folder in which the browser's program and the clients' programs connect to each other.

It contains a Unix socket, and a lock held by the program that serves it: two browsers may have the extension.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs

from mcpframe.kit.base.cache import writing
from mcpframe.kit.base.locking import HeldLock, try_hold

_SOCKET = "socket"
_LOCK = "lock"
_BACKLOG = 64
_INTERVAL = 1.0


def native_folder() -> Path:
    return platformdirs.user_data_path("mcpframe", appauthor=False) / "hub" / "native"


def made_folder() -> Path:
    """Return the folder; it is created if necessary.

    Raises:
        WriteError: It cannot be created.
    """
    folder = native_folder()
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
    return folder


async def turn(folder: Path, on_wait: Callable[[], None]) -> HeldLock:
    """Wait until no other program serves the folder, and return its lock, held until left as a context.

    Args:
        on_wait: Called once if another program serves it.

    Raises:
        WriteError: The folder cannot be written.
    """
    waits = False
    while True:
        with writing(folder):
            held = try_hold(folder / _LOCK)
        if held is not None:
            return held
        if not waits:
            waits = True
            on_wait()
        await asyncio.sleep(_INTERVAL)  # the end of another program causes no event


def listening(folder: Path) -> socket.socket:
    """Return a socket that listens in the folder; the lock must be held.

    Raises:
        WriteError: The folder cannot be written.
    """
    listener = socket.socket(socket.AF_UNIX)
    try:
        with writing(folder), _inside(folder):
            Path(_SOCKET).unlink(missing_ok=True)  # left by a killed program
            listener.bind(_SOCKET)
            Path(_SOCKET).chmod(0o600)
            listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def connected(folder: Path) -> socket.socket | None:
    """Return a socket that is connected to the program that serves the folder; None if none does."""
    client = socket.socket(socket.AF_UNIX)
    client.setblocking(False)
    try:
        with _inside(folder):
            client.connect(_SOCKET)
    except OSError:
        client.close()
        return None
    return client


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Change to a folder during the block: the path of a socket is limited to about a hundred bytes."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(folder)
        try:
            yield
        finally:
            os.fchdir(before)
    finally:
        os.close(before)
