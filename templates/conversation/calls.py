"""One call of a tool with a view: the view is there before the arguments are complete, and stays afterwards."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError

from conversation import Conversation
from mcpframe import Element, errors
from mcpframe.hosts import AppHost, RunningView, partial_arguments

BETWEEN_PIECES = 0.12
"""Seconds between two pieces of the arguments, as if a model wrote them."""


class Call:
    """A call with its view, from the first piece of its arguments until the user removes it."""

    def __init__(
        self,
        client: Client,
        conversation: Conversation,
        context: Callable[[], dict[str, Any]],
        open_link: Callable[[str], None],
    ) -> None:
        """Prepare it.

        Args:
            client: The client of the server that has the tool.
            conversation: Where it is shown.
            context: Returns the context of this page: the theme and so on.
            open_link: Opens an address in a new tab.
        """
        self._client = client
        self._conversation = conversation
        self._context = context
        self._open_link = open_link
        self._removed = asyncio.Event()
        self._view: RunningView | None = None
        self._entry: Element | None = None

    def change_context(self) -> None:
        """Notify the view that the context of this page has changed."""
        if self._view is not None:
            self._view.change_context(self._context())

    async def run(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Show the view, call the tool, and keep the view until it is removed."""
        entry = self._entry = self._conversation.add_call(name, arguments)
        entry.element("button").on("click", self._removed.set)
        host = AppHost(
            self._client,
            name,
            own_origin=True,  # this page has views of one server alone
            context=self._context(),
            name="conversation",
            version="0.1.0",
            on_link=self._on_link,
            on_message=self._on_message,
            on_model_context=self._on_model_context,
            on_display_mode=self._on_display_mode,
            on_teardown_request=self._removed.set,
        )
        try:
            async with host.show(entry.element(".place"), reason="The user has removed the view.") as view:
                self._view = view
                await self._call(view, arguments)
                await self._until_removed(view)
        except (errors.McpFrameError, MCPError) as error:
            self._conversation.say(f"{name}: {error}", who="error")
        finally:
            self._view = None
            self._conversation.know(self, "")
            entry.remove()

    async def _call(self, view: RunningView, arguments: Mapping[str, Any]) -> None:
        for piece in partial_arguments(arguments):
            view.input_partial(piece)
            await asyncio.sleep(BETWEEN_PIECES)
        result = await view.call(arguments)
        told = "\n".join(block.text for block in result.content if block.type == "text")
        self._conversation.say(told, who="error" if result.is_error else "tool")

    async def _until_removed(self, view: RunningView) -> None:
        ended = asyncio.ensure_future(view.ended())
        removed = asyncio.ensure_future(self._removed.wait())
        try:
            await asyncio.wait([ended, removed], return_when=asyncio.FIRST_COMPLETED)
            if ended.done() and ended.result().error:
                self._conversation.say(f"The view has ended: {ended.result().error}", who="error")
        finally:
            for waiting in (ended, removed):
                waiting.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await waiting

    # What the view asks for

    async def _on_link(self, url: str) -> bool:
        allowed = await self._conversation.ask("The view wants to open this address in a new tab:", url, "Open")
        if allowed:
            self._open_link(url)
        return allowed

    async def _on_message(self, blocks: Sequence[Mapping[str, Any]]) -> bool:
        text = _text_of(blocks)
        allowed = await self._conversation.ask("The view wants to say in your name:", text, "Say it")
        if allowed:
            self._conversation.say(text)
        return allowed

    def _on_model_context(self, blocks: Sequence[Mapping[str, Any]], structured: Mapping[str, Any] | None) -> None:
        self._conversation.know(self, _text_of(blocks) or (json.dumps(structured) if structured else ""))

    def _on_display_mode(self, mode: str) -> str:
        assert self._entry is not None
        self._entry.classes.set("fullscreen", mode == "fullscreen")
        return mode if mode in ("inline", "fullscreen") else "inline"


def _text_of(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(block.get("text", f"({block.get('type')})")) for block in blocks)
