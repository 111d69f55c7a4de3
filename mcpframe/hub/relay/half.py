"""The interface to the scripts in a page, which only forward.

Two scripts of `static/hub` are such halves: `page.js`, which forwards the messages of the page's window and of its
frames, and `document-tools.js`, which forwards the tools of its document. Both are objects with functions. The home of
the hub transports the calls: over DevTools, or with `PortHalf` over any port.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from mcpframe.frame.core.events import Unreadable
from mcpframe.frame.waiting.peer import Peer


class HalfGone(Exception):
    """The document of the page's half is gone."""


class HalfFailed(Exception):
    """A function of a script in the page has failed: the page's own scripts have replaced an API that it uses."""


class TellingHalf(Protocol):
    """A script in the page whose functions are called without waiting for an answer."""

    def tell(self, function: str, *arguments: Any) -> None:
        """Call a function without waiting. Does nothing if the document is gone."""
        ...


class PageHalf(TellingHalf, Protocol):
    """A script in the page."""

    async def ask(self, function: str, *arguments: Any) -> Any:
        """Call a function, and return its result.

        Raises:
            HalfGone: The document is gone.
            HalfFailed: The function has failed.
        """
        ...


class PortHalf:
    """A script behind a port: calls are `{half, call, arguments, id}`, answers `{kind: "answer", id, value, error}`.

    Args:
        half: The name of the script, as several may share one port.
        post: Posts an object to the port.
    """

    def __init__(self, half: str, post: Callable[[Mapping[str, Any]], None]) -> None:
        self._half = half
        self._post = post
        self._peer: Peer[int, Any] = Peer(itertools.count(1))
        self._over = False

    def tell(self, function: str, *arguments: Any) -> None:
        if not self._over:
            self._post({"half": self._half, "call": function, "arguments": arguments})

    async def ask(self, function: str, *arguments: Any) -> Any:
        call = {"half": self._half, "call": function, "arguments": arguments}
        return await self._peer.ask(lambda id_: self._post({**call, "id": id_}))

    def answered(self, report: Mapping[str, Any]) -> None:
        """Take an answer. An unknown one is ignored."""
        outcome = HalfFailed(str(report["error"])) if "error" in report else report.get("value")
        self._peer.answered(report.get("id"), outcome)

    def close(self) -> None:
        """Note that the port has closed: pending calls fail."""
        self._over = True
        self._peer.close(lambda: HalfGone("The page is gone."))


def read_text(read: str | list[str] | None) -> str:
    """Return the text in a result of `textOrReason` of `static/host/host-json.js`.

    Raises:
        ValueError: The message has no form in JSON.
        Unreadable: It cannot be read.
    """
    if isinstance(read, str):
        return read
    if read is None:
        raise ValueError("The message has no form in JSON.")
    raise Unreadable(*read)
