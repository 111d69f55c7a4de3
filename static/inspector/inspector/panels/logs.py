"""The server's logs and notifications, newest last, with a filter by level."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final, get_args

import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from inspector.session.connection import Connection
from inspector.session.telling import sentence
from mcpframe import Element, Page

LEVELS: Final[tuple[types.LoggingLevel, ...]] = get_args(types.LoggingLevel)
USUAL: Final[types.LoggingLevel] = "info"
"""The level requested by default: that of printed output."""

MOST: Final = 1000
"""The number of entries kept."""


def text_of(params: types.LoggingMessageNotificationParams) -> str:
    """Return the text of a log message."""
    return params.data if isinstance(params.data, str) else json.dumps(params.data, ensure_ascii=False)


def line_of(params: types.LoggingMessageNotificationParams) -> str:
    """Return a log message as a terminal shows it."""
    text = text_of(params)
    return text if params.level == USUAL or params.level in text.lower() else f"{params.level}: {text}"


class Logs:
    """The panel of logs and notifications."""

    def __init__(self, page: Page, place: Element, connection: Connection) -> None:
        self._connection = connection
        bar = place.add("div", class_="insp-row insp-bar")
        self._ask = self._select(bar, "Level to ask for", {"": "None asked for"})
        self._ask.js.value = connection.log_level = USUAL
        self._filter = self._select(bar, "Show from level", {"all": "Everything"})
        bar.add("button", "Clear", type="button").on("click", self._clear)
        self._status = bar.add("span", role="status", class_="quiet")
        self._list = place.add("div", role="log", aria_label="Logs", tabindex="0").add("ol", class_="insp-log")
        self._nothing = place.add("p", "Nothing logged yet.", class_="quiet")
        self._ask.on("change", self._on_ask)
        self._filter.on("change", self._on_filter)

    def _select(self, bar: Element, label: str, first: dict[str, str]) -> Element:
        outside = bar.add("label", label)
        select = outside.add("select")
        for value, text in [*first.items(), *((level, level) for level in LEVELS)]:
            select.add("option", text, value=value)
        return select

    def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Show a log message."""
        self._add(params.level, params.logger or "", text_of(params))

    def note(self, method: str, params: dict[str, Any]) -> None:
        """Show another notification."""
        told = {key: value for key, value in params.items() if key != "_meta" and value is not None}
        self._add("", method, json.dumps(told, ensure_ascii=False) if told else "")

    async def connected(self) -> None:
        """Request the chosen level from the server, if the era has a request for it."""
        await self._on_ask()

    def _add(self, level: str, source: str, text: str) -> None:
        entry = self._list.add("li", data_level=level or None)
        entry.add("time", datetime.now().astimezone().strftime("%H:%M:%S"))
        entry.add("span", level or "notification", class_="insp-level")
        entry.add("span", f"{source}: {text}" if source and text else source or text, class_="insp-text")
        entry.hidden = not self._passes(level)
        self._nothing.hidden = True
        while self._list.js.childElementCount > MOST:
            self._list.js.firstElementChild.remove()

    def _passes(self, level: str) -> bool:
        least: Any = self._filter.value
        return least == "all" or (level in LEVELS and LEVELS.index(level) >= LEVELS.index(least))

    def _on_filter(self) -> None:
        for entry in self._list.elements("li"):
            entry.hidden = not self._passes(entry.get("data-level") or "")

    async def _on_ask(self) -> None:
        level: Any = self._ask.value or None
        connection = self._connection
        connection.log_level = level
        client = connection.client
        self._status.text = ""
        if level is None or client is None:
            return
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            self._status.text = "Asked for with every request."
        elif client.server_capabilities.logging is None:
            self._status.text = "This server does not log."
        else:
            try:
                await client.set_logging_level(level)
            except Exception as error:  # noqa: BLE001  any error of the server is shown
                self._status.text = sentence(error)
            else:
                self._status.text = "Set."

    def _clear(self) -> None:
        self._list.clear()
        self._nothing.hidden = False
