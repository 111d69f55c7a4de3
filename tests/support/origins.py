"""The port of the test pages' origins, which is the same in each run, so that a bundle that allows them is built once.

Several runs share this machine: each process serves its site at a port of its own, which its Chromium takes for `PORT`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.errors import PortTaken
from mcpframe.kit.base.locking import locked, try_hold
from mcpframe.kit.browser.chromium import LaunchOptions, ensure_chromium, launch_options
from mcpframe.kit.web.serve import bind

PORT = 7357
"""The port in the origins of test pages, as Chromium and the pages know it."""

HOST = f"http://host.localhost:{PORT}"
"""The origin of host pages."""

SHORT_LIVED = "--js-flags=--wasm-tiering-budget=1000000000"
"""Keep V8 from optimizing WebAssembly, a third of the work of a start without a snapshot: most test pages end soon."""

_SERVED = range(7360, 7424)  # below those that systems give to clients
_held: list[object] = []


@functools.cache
def served_port() -> int:
    """Return the port that this process serves the test pages at; no other test process of this user uses it."""
    folder = cache_dir() / "test-ports"
    folder.mkdir(parents=True, exist_ok=True)
    for port in _SERVED:
        if (held := try_hold(folder / str(port))) is None:
            continue
        try:
            bind("127.0.0.1", port).close()
        except PortTaken:
            with held:
                continue
        _held.append(held)
        return port
    raise RuntimeError("no free port for the test pages")


@contextmanager
def port_itself() -> Iterator[int]:
    """Hold `PORT` for the block, for a browser that cannot take another port for it; wait while another run does."""
    with locked(cache_dir() / "test-ports" / str(PORT)):
        yield PORT


def chromium_options(*arguments: str, off: Sequence[str] | None = None) -> LaunchOptions:
    """Return the options to launch a Chromium with further arguments, for which `PORT` is this process's port.

    Args:
        arguments: Further arguments.
        off: The features to disable, in place of the usual ones.
    """
    executable = ensure_chromium()
    options = launch_options(executable) if off is None else launch_options(executable, off=off)
    mapped = f"--host-resolver-rules=MAP *.localhost:{PORT} 127.0.0.1:{served_port()}"
    return {**options, "args": [*options["args"], mapped, SHORT_LIVED, *arguments]}
