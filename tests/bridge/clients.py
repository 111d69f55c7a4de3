"""The official client at a bridge, which answers requests and records notifications."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any, Literal

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.context import ClientRequestContext

from tests.bridge.programs import PATIENCE


class BridgedClient:
    """A client of one era."""

    def __init__(self, where: Any, era: Literal["modern", "legacy"]) -> None:
        """Create a client of this server, which is an address or a transport."""
        self.era = era
        self.over_http = isinstance(where, str)
        self.notes: list[tuple[str, Any]] = []
        self._changed = anyio.Event()
        self.client = Client(
            where,
            mode="2026-07-28" if era == "modern" else "legacy",
            elicitation_callback=self._on_elicitation,
            sampling_callback=self._on_sampling,
            list_roots_callback=self._on_roots,
            logging_callback=self._on_log,
            message_handler=self._on_message,
        )

    async def open(self, stack: AsyncExitStack) -> None:
        """Connect until the stack is left."""
        await stack.enter_async_context(self.client)

    async def text(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and return its text."""
        with anyio.fail_after(PATIENCE):
            result = await self.client.call_tool(tool, arguments, progress_callback=self._on_progress)
        assert not result.is_error, result.content
        assert isinstance(result.content[0], types.TextContent)
        return result.content[0].text

    async def next(self, kind: str) -> Any:
        """Wait for the next record of a kind, and remove it."""
        with anyio.fail_after(PATIENCE):
            while True:
                for entry in self.notes:
                    if entry[0] == kind:
                        self.notes.remove(entry)
                        return entry[1]
                self._changed = anyio.Event()
                await self._changed.wait()

    def _note(self, kind: str, value: Any) -> None:
        self.notes.append((kind, value))
        self._changed.set()

    async def _on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self._note("progress", progress)

    async def _on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        self._note("log", params.data)

    async def _on_message(self, message: Any) -> None:
        if getattr(message, "method", "").endswith("/list_changed"):
            self._note("changed", message.method.split("/")[1])

    async def _on_elicitation(
        self, context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        self._note("asked", params.message)
        return types.ElicitResult(action="accept", content={"seats": 2, "window": True})

    async def _on_sampling(
        self, context: ClientRequestContext, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult:
        content = types.TextContent(type="text", text="42")
        return types.CreateMessageResult(role="assistant", model="deep", content=content)

    async def _on_roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri="file:///home", name="home")])
