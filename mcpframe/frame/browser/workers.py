"""Workers in which Python serves: the page's and the worker's end of their port, which carries texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js
from pyodide.ffi import create_proxy

BUNDLED_WITH = ("worker", "processes")


class WorkerHandle:
    """A worker of this page."""

    def __init__(self, handle: Any, proxies: tuple[Any, ...]) -> None:
        self._handle = handle
        self._proxies = proxies

    def post(self, text: str) -> None:
        """Send its Python a text."""
        self._handle.post(text)

    def end(self) -> None:
        """End it at once."""
        self._handle.end()
        for proxy in self._proxies:
            proxy.destroy()
        self._proxies = ()


def start(
    loader: Any, kind: str, heard: Callable[[str], None], ended: Callable[[str, str, bool], None]
) -> WorkerHandle:
    """Start a worker of this page.

    Args:
        loader: the loader's callbacks.
        kind: `"server"`, or `"process"` for functions.
        heard: called with each text of the worker's Python.
        ended: called once if the worker has ended by itself; see `StartWorker`.
    """
    proxies = create_proxy(heard), create_proxy(ended)
    return WorkerHandle(loader.start_worker(kind, *proxies), proxies)


def processors() -> int:
    """Return how many processors the visitor's machine offers."""
    return int(js.navigator.hardwareConcurrency)


def listen(port: Any, take: Callable[[str], None]) -> None:
    """Call a function with each text of the page, from within a worker, until it ends."""
    port.listen(create_proxy(take))


def offer_stop(loader: Any, stop: Callable[[], None]) -> None:
    """Set the function of the page's button that stops a tool."""
    loader.offer_stop(create_proxy(stop))
