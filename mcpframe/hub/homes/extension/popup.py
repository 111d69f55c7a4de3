"""The extension's popup, and the window that asks before a call: their content, and the user's actions in them.

All text of pages and clients is made visible here (`visible`), and the page sets it as text.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.core.visible import visible
from mcpframe.hub.core import limits
from mcpframe.hub.core.background_tasks import BackgroundTasks
from mcpframe.hub.core.codec import LIMITS
from mcpframe.hub.core.registry import TabEntry
from mcpframe.hub.homes.extension.runtime import ExtensionPort

log = logging.getLogger(__name__)

POPUP_PORT = "mcpframe-popup"
_PAGE = "popup.html"

Action = Callable[[Mapping[str, Any]], Coroutine[Any, Any, None]]


class HubPopup:
    """The open popups.

    Args:
        state: Returns their content, as JSON.
        actions: The user's actions, by name.
        open_window: Opens the window that asks.
    """

    def __init__(
        self,
        state: Callable[[], dict[str, Any]],
        actions: Mapping[str, Action],
        open_window: Callable[[], Awaitable[None]],
    ) -> None:
        self._state = state
        self._actions = {**actions, "answer": self._answer}
        self._open_window = open_window
        self._ports: set[ExtensionPort] = set()
        self._later: asyncio.TimerHandle | None = None
        self._background = BackgroundTasks(lambda error: log.warning("An action of the popup has failed: %s", error))
        self._question: dict[str, Any] | None = None
        self._answered: asyncio.Future[str] | None = None

    def take(self, port: ExtensionPort) -> None:
        """Take a port; only the extension's own page is served."""
        if port.sender.url.partition("?")[0] != f"chrome-extension://{port.sender.extension}/{_PAGE}":
            port.close()
            return
        self._ports.add(port)
        port.on_message = lambda text: self._received(text)
        port.on_close = lambda: self._closed(port)
        self.changed()

    def changed(self) -> None:
        """Update the popups soon; several changes cause one update."""
        if self._ports and self._later is None:
            self._later = asyncio.get_running_loop().call_later(limits.POPUP_SECONDS, self._show)

    async def __call__(self, question: Mapping[str, Any]) -> str:
        """Ask the user; see `consent.Asks`."""
        self._question = {"id": uuid.uuid4().hex, **question}
        self._answered = asyncio.get_running_loop().create_future()
        try:
            self.changed()
            await self._open_window()
            return await self._answered
        finally:
            self._question = self._answered = None
            self.changed()

    def _show(self) -> None:
        self._later = None
        text = payload.encode({**self._state(), "question": self._question})
        for port in list(self._ports):
            try:
                port.post(text)
            except OSError:
                self._ports.discard(port)

    def _closed(self, port: ExtensionPort) -> None:
        self._ports.discard(port)
        asks = [each for each in self._ports if each.sender.url.endswith("?ask")]
        if port.sender.url.endswith("?ask") and not asks and self._answered and not self._answered.done():
            self._answered.set_result("deny")  # the user has closed the window

    def _received(self, text: str) -> None:
        try:
            message = payload.decode(text, **LIMITS)
        except MessageError:
            return
        action = self._actions.get(str(message.get("do"))) if isinstance(message, dict) else None
        if action is not None:
            self._background.start(action(message)).add_done_callback(lambda _: self.changed())

    async def _answer(self, message: Mapping[str, Any]) -> None:
        """Take the answer to the displayed question, and to no other."""
        if self._question is None or message.get("id") != self._question["id"]:
            return
        if self._answered is not None and not self._answered.done():
            self._answered.set_result(str(message.get("answer")))


class RecentLog(logging.Handler):
    """The latest lines of the log. When full, the oldest line of the most common kind is dropped: pages can cause some
    kinds without end, and must not displace the record of calls.

    Args:
        changed: Called when there is a new line.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        super().__init__(logging.INFO)
        self._changed = changed
        self._lines: list[tuple[str, dict[str, Any]]] = []

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The lines, the latest last."""
        return [line for _, line in self._lines]

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record as one line that no page can forge."""
        text = shortened(record.getMessage().replace("\n", " "))
        line = {"time": record.created, "warns": record.levelno >= logging.WARNING, "text": text}
        self._lines.append((str(record.msg), line))
        if len(self._lines) > limits.POPUP_LINES:
            [(most, _)] = Counter(kind for kind, _ in self._lines).most_common(1)
            del self._lines[next(at for at, (kind, _) in enumerate(self._lines) if kind == most)]
        self._changed()


def shown_tabs(entries: list[TabEntry], active: int | None) -> list[dict[str, Any]]:
    """Return the tabs and their tools for the popup, the active tab first."""
    ordered = sorted(entries, key=lambda entry: (entry.tab != active, entry.domain, entry.number))
    return [
        {
            "domain": visible(entry.domain),
            "number": entry.number,
            "active": entry.tab == active,
            "count": len(entry.tools),
            "tools": [_shown_tool(name, tool) for name, tool in list(entry.tools.items())[: limits.POPUP_TOOLS]],
        }
        for entry in ordered[: limits.POPUP_TABS]
    ]


def _shown_tool(name: str, tool: Mapping[str, Any]) -> dict[str, str]:
    title, description = tool.get("title"), tool.get("description")
    return {
        "name": shortened(name),
        "title": shortened(title) if isinstance(title, str) else "",
        "description": shortened(description) if isinstance(description, str) else "",
    }


def shortened(text: str) -> str:
    """Return text for a reader: control characters as escapes, and shortened."""
    text = visible(text)
    return text if len(text) <= limits.POPUP_CHARACTERS else f"{text[: limits.POPUP_CHARACTERS]}…"
