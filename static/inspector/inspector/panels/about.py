"""A server's description of itself, and this client's capabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mcp import Client

from inspector.results.result import json_tree
from inspector.session.connection import Connection
from inspector.session.telling import wire
from inspector.wire.timeline import CAPABILITY
from mcpframe import Element, Page

NO_STORAGE: Final = "The server's frame has no storage: what it keeps is lost with its page."


def lacks_storage(client: Client) -> bool:
    """Return whether a server reports that its page has no storage."""
    boot = (client.server_capabilities.experimental or {}).get(CAPABILITY)
    return isinstance(boot, Mapping) and boot.get("stores") is False


class About:
    """The panel about the server."""

    def __init__(self, page: Page, place: Element, connection: Connection) -> None:
        self._page = page
        self._connection = connection
        self._facts = place.add("dl", class_="insp-facts")
        self._instructions = place.add("div")
        self._capabilities = place.add("div")
        label = place.add("label", "Roots that this client offers, one URI a line", class_="insp-roots")
        self._roots = label.add("textarea", rows="2", spellcheck="false", placeholder="file:///projects/one")

    @property
    def roots(self) -> list[str]:
        return self._roots.value.split()

    def refresh(self) -> None:
        connection, server, client = self._connection, self._connection.server, self._connection.client
        info = client.server_info if client else None
        facts = {
            "Name": info.name if info else "",
            "Title": (info.title if info else "") or server.title,
            "Version": info.version if info else "",
            "Protocol": client.protocol_version if client else "",
            "Dialect": server.spoken.title,
            "Address": server.url,
            "Origin": connection.outer.origin if connection.outer else "",
            "Session": server.session_id if server.spoken.has_session_ids else "",
            "Visibility": f"{server.visibility} ({seen})" if (seen := server.visibility_message) else server.visibility,
            "Storage": NO_STORAGE if client and lacks_storage(client) else "",
            "Permissions": ", ".join(server.permissions) or "none",
        }
        self._facts.clear()
        for name, value in facts.items():
            if value:
                self._facts.add("dt", name)
                self._facts.add("dd", value)
        self._instructions.clear()
        self._capabilities.clear()
        if client is None:
            return
        if client.session.instructions:
            self._instructions.add("h3", "Instructions")
            self._instructions.add("p", client.session.instructions, class_="insp-message")
        self._capabilities.add("h3", "Capabilities")
        json_tree(self._page, self._capabilities.add("div"), wire(client.server_capabilities))
