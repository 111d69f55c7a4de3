"""The tools of a server: lists and calls them, and shows their views."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT

from inspector.panels.listing import Item, Listing, entries_or_failure
from inspector.results.output_schemas import mismatch
from inspector.results.result import json_tree
from inspector.session.calling import Calling, Read
from inspector.session.connection import Connection
from inspector.session.telling import sentence, wire
from inspector.views.context import view_of
from inspector.views.live_view import Hosting
from inspector.views.tool_view import Shown, ToolView
from inspector.views.ui_view import UiView, add_outcome
from mcpframe import Element, Page

_HINTS = {
    "readOnlyHint": "read-only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open world",
}


class Tools:
    """The panel of tools."""

    def __init__(self, page: Page, place: Element, connection: Connection, read: Read, hosting: Hosting) -> None:
        """Build the panel.

        Args:
            connection: the connection to the server.
            read: reads a linked resource of a result.
            hosting: the inspector's services for views.
        """
        self._page = page
        self._connection = connection
        self._read = read
        self._hosting = hosting
        self._view: ToolView | None = None
        self._ui: UiView | None = None
        self._shown: dict[str, Shown] = {}
        self._listing = Listing(place, "Tools", "This server has no tools.", self._show)

    async def refresh(self) -> int:
        """Fetch the tools, and show their number."""
        client = self._connection.client
        tools: list[types.Tool] = []
        failure: Exception | None = None
        if client is not None and client.server_capabilities.tools is not None:
            tools, failure = await entries_or_failure(client.list_tools, "tools")
        before, ui = self._view, self._ui
        items = [Item(tool.name, tool.name, tool.title or "", wire(tool)) for tool in tools]
        self._listing.fill(items, failure)
        if before is not None and before is self._view:  # it belongs to the previous session
            await before.reload()
        if ui is not None and ui is self._ui:
            await ui.renew()
        return len(tools)

    async def close(self) -> None:
        """Remove all live views: the session ends."""
        for live in (self._view, self._ui):
            if live is not None:
                await live.close()

    def _show(self, item: Item, place: Element) -> None:
        tool = item.data
        for live in (self._view, self._ui):
            if live is not None:
                self._page.run(live.close, "Removing a view")
        self._view = None
        place.add("h3", tool.get("title") or item.name)
        if tool.get("description"):
            place.add("p", tool["description"], class_="insp-message")
        hints = tool.get("annotations") or {}
        told = [text for name, text in _HINTS.items() if hints.get(name)]
        if told:
            row = place.add("p", class_="insp-chips")
            for text in told:
                row.add("span", text)

        async def call(arguments: Any, progress: ProgressFnT) -> dict[str, Any]:
            connection = self._connection
            await ui.show(None)
            shown = self._shown[item.name] = await view.begin(arguments) if view else Shown(arguments or {})
            try:
                result = await connection.ready.call_tool(
                    item.name, arguments, progress_callback=progress, meta=connection.request_meta
                )
                if connection.check_result is not None:
                    calling.remark = await mismatch(connection.check_result, item.name, result)
                shown.result = answer = wire(result)
                await ui.show(answer)
            except BaseException as error:
                shown.cancelled = "Cancelled." if isinstance(error, asyncio.CancelledError) else sentence(error)
                raise
            finally:
                shown.over.set()
            return answer

        schema = tool.get("inputSchema") or {"type": "object"}
        calling = Calling(self._page, place, schema, "Call", call, label=f"Arguments of {item.name}", read=self._read)
        beside, shown = add_outcome(place, calling), self._shown.get(item.name)
        view = None
        if view_of(tool):
            view = self._view = ToolView(self._page, beside, self._connection, tool, self._hosting)
            if shown:
                self._page.run(lambda: view.replay(shown), "Showing a view again")
        ui = self._ui = UiView(self._page, beside, self._connection, self._hosting)
        if shown:
            self._page.run(lambda: ui.show(shown.result), "Showing a UI resource again")
        more = place.add("details", class_="insp-more")
        more.add("summary", "Definition")
        json_tree(self._page, more.add("div"), tool)
