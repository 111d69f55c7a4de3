"""The tools of a server: lists and calls them."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.shared.dispatcher import ProgressFnT

from connection import Connection
from mcpframe import Page
from mcpframe.frame.elements import Element
from panels.calling import Calling, Read
from panels.listing import Item, Listing
from panels.paging import all_pages
from result_schemas import limit_patterns
from results import json_tree
from telling import wire

_HINTS = {
    "readOnlyHint": "read-only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open world",
}


class Tools:
    """The panel of tools."""

    def __init__(self, page: Page, place: Element, connection: Connection, read: Read) -> None:
        """Build the panel.

        Args:
            page: the page.
            place: where to.
            connection: the connection to the server.
            read: reads a resource that a result links to.
        """
        self._page = page
        self._connection = connection
        self._read = read
        self._listing = Listing(place, "Tools", "This server has no tools.", self._show)

    async def refresh(self) -> int:
        """Fetch the tools again, and show their number."""
        client = self._connection.client
        if client is None or client.server_capabilities.tools is None:
            tools: list[types.Tool] = []
        else:
            tools = await all_pages(client.list_tools, "tools")
        self._listing.fill([Item(tool.name, tool.name, tool.title or "", wire(tool)) for tool in tools])
        return len(tools)

    def _show(self, item: Item, place: Element) -> None:
        tool = item.data
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
            if tool.get("outputSchema"):
                limit_patterns()
            result = await connection.ready.call_tool(
                item.name, arguments, progress_callback=progress, meta=connection.request_meta
            )
            return wire(result)

        schema = tool.get("inputSchema") or {"type": "object"}
        Calling(self._page, place, schema, "Call", call, label=f"Arguments of {item.name}", read=self._read)
        more = place.add("details", class_="insp-more")
        more.add("summary", "Definition")
        json_tree(self._page, more.add("div"), tool)
