"""The half of a page that only forwards: what Python needs of it, and how it is called.

Two scripts of `static/hub` are such halves: `page.js`, which forwards the messages of the page's window and of its
frames, and `document-tools.js`, which forwards the tools of its document. Both are objects with functions. How a call
gets there is up to the home of the hub: over DevTools, or with `PortHalf` over any port.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from mcpframe.frame.core.events import Unreadable


class HalfGone(Exception):
    """The document of the page's half is gone."""


class HalfFailed(Exception):
    """A function of the page's half has failed: the page's own scripts have replaced what it uses."""


class TellingHalf(Protocol):
    """A script in the page whose functions are called without waiting for an answer."""

    def tell(self, function: str, *arguments: Any) -> None:
        """Call a function without waiting. Nothing happens where the document is gone."""
        ...


class PageHalf(TellingHalf, Protocol):
    """A script in the page."""

    async def ask(self, function: str, *arguments: Any) -> Any:
        """Call a function, and return what it returns.

        Raises:
            HalfGone: The document is gone.
            HalfFailed: The function has failed.
        """
        ...


class PortHalf:
    """A script behind a port: calls are `{half, call, arguments, id}`, answers `{kind: "answer", id, value, error}`.

    Args:
        half: The name of the script, where several are behind one port.
        post: Posts an object to the port.
    """

    def __init__(self, half: str, post: Callable[[Mapping[str, Any]], None]) -> None:
        self._half = half
        self._post = post
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._over = False

    def tell(self, function: str, *arguments: Any) -> None:
        """As `PageHalf.tell`."""
        if not self._over:
            self._post({"half": self._half, "call": function, "arguments": arguments})

    async def ask(self, function: str, *arguments: Any) -> Any:
        """As `PageHalf.ask`."""
        if self._over:
            raise HalfGone("The page is gone.")
        id_ = next(self._ids)
        self._waiting[id_] = asyncio.get_running_loop().create_future()
        try:
            self._post({"half": self._half, "call": function, "arguments": arguments, "id": id_})
            return await self._waiting[id_]
        finally:
            del self._waiting[id_]

    def answered(self, report: Mapping[str, Any]) -> None:
        """Take an answer. One that nobody waits for is ignored."""
        id_ = report.get("id")
        future = self._waiting.get(id_) if type(id_) is int else None
        if future is None or future.done():
            return
        if "error" in report:
            future.set_exception(HalfFailed(str(report["error"])))
        else:
            future.set_result(report.get("value"))

    def close(self) -> None:
        """Note that the port has closed: who waits for an answer gets none."""
        self._over = True
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(HalfGone("The page is gone."))


def read_text(read: str | list[str] | None) -> str:
    """Return the text that `textOrReason` of `static/host/host-json.js` has read.

    Raises:
        ValueError: The message is nothing in JSON.
        Unreadable: It cannot be read.
    """
    if isinstance(read, str):
        return read
    if read is None:
        raise ValueError("The message is nothing in JSON.")
    raise Unreadable(*read)
