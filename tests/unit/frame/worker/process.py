"""A process of CPython in the place of a worker: it blocks, and is ended, as one. Each text is a line of JSON."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from mcpframe.frame.worker.job import FunctionRunner
from mcpframe.frame.worker.port import text_of

FUNCTIONS = "functions"


class ProcessWorker:
    """A `worker_server.RunningWorker` for a server of `servers.py`, or for `FUNCTIONS`."""

    def __init__(self, entry: str, heard: Callable[[str], None], ended: Callable[[str, str, bool], None]) -> None:
        command = [sys.executable, "-m", __name__, entry]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._loop = asyncio.get_running_loop()
        self.is_over = asyncio.Event()
        self._thread = threading.Thread(target=self._read, args=(heard, ended))
        self._thread.start()

    def post(self, text: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(text) + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        self.is_over.set()
        self._process.kill()
        self._process.wait()
        self._thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):  # what was not written is for nobody
                    pipe.close()

    def _read(self, heard: Callable[[str], None], ended: Callable[[str, str, bool], None]) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.endswith("\n"):  # else it was killed in the middle
                self._tell(self._hand_over, heard, json.loads(line))
        self._tell(ended, "The process has ended.", "", True)

    def _tell(self, callback: Callable[..., None], *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended
            if not self.is_over.is_set():
                self._loop.call_soon_threadsafe(callback, *arguments)

    def _hand_over(self, heard: Callable[[str], None], text: str) -> None:
        if not self.is_over.is_set():
            heard(text)


async def main(entry: str) -> None:
    """Serve in this process, or run functions, until it is killed."""
    loop, out = asyncio.get_running_loop(), sys.stdout
    sys.stdout = sys.stderr

    def post(text: str) -> None:
        out.write(json.dumps(text) + "\n")
        out.flush()

    post(text_of("begun"))
    take = FunctionRunner(post).take if entry == FUNCTIONS else _program(entry, post)

    def read_lines() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(take, json.loads(line))

    threading.Thread(target=read_lines, daemon=True).start()
    post(text_of("ready", {"browser": {"cacheSupported": True}}))
    await loop.create_future()


def _program(entry: str, post: Callable[[str], None]) -> Callable[[str], None]:
    """Return what takes the messages to a server. Functions need none of its imports, which take a second."""
    from mcpframe.frame.serving import server as serving
    from mcpframe.frame.serving.framed import SessionFacts
    from mcpframe.frame.storage.values import Storage
    from mcpframe.frame.worker.worker_half import WorkerHalf
    from mcpframe.frame.worker.worker_session import running_for

    found: Any = getattr(import_module("tests.unit.frame.worker.servers"), entry)

    async def serve(read: Any, write: Any, experimental: Any, about: SessionFacts | None) -> None:
        with running_for(found, about, Storage):
            await serving.serve(found, read, write, experimental=dict(experimental))

    return WorkerHalf(serve, serving.messages(), post).take


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
