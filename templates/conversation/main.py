"""A conversation that shows the views of a server's tools: a host of MCP Apps, in Python.

There is no model here: the user chooses a tool and its arguments, as a model would. The server is a page of mcpframe in
a hidden frame; its views are shown by `AppHost`.
"""

import asyncio
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import Tool

from addresses import read_server
from arguments import arguments_of, fields_of
from calls import Call
from conversation import Conversation
from mcpframe import Page
from mcpframe.hosts import AppHost, Options, OuterFrame, visible

START_PATIENCE = 60.0
"""How long the server's page may take until its first message, in seconds: it has to load Python first."""
MOST_VIEWS = 4
"""How many views are kept. Each is a page, so the oldest one is removed for a fifth."""


async def main(page: Page) -> None:
    """Show the page, and connect to the server, again whenever the user asks for it."""
    page.text_filter = visible  # what servers and views say is another's
    await page.show("conversation.html")
    conversation = Conversation(page)
    again = asyncio.Event()
    page.element("#again").on("click", again.set)
    while True:
        page.element("#again").hidden = True
        again.clear()
        try:
            text = (await page.asset_bytes("addresses.json")).decode()
            address = read_server(text, str(page.js.location.origin))
            await Host(page, conversation, address).serve()
            reason = "The server has ended."
        except* (errors.McpFrameError, MCPError) as errors:
            reason = "; ".join(dict.fromkeys(map(str, _leaves(errors))))
        conversation.set_standing(reason, bad=True)
        page.element("#again").hidden = False
        await again.wait()


class Host:
    """The conversation with one server."""

    def __init__(self, page: Page, conversation: Conversation, address: str) -> None:
        """Prepare it; nothing is framed yet."""
        self._page = page
        self._conversation = conversation
        self._address = address
        self._tools: dict[str, Tool] = {}
        self._calls: dict[asyncio.Task[None], Call] = {}

    async def serve(self) -> None:
        """Connect to the server, and call its tools as the user asks for it, until its page is gone.

        Raises:
            errors.McpFrameError: There is no session; see `OuterFrame.connect`.
            MCPError: The server does not answer.
        """
        self._conversation.set_standing("The server is starting …")
        outer = OuterFrame(self._address, title="Server", options=Options(handshake_timeout=START_PATIENCE))
        async with Client(outer.connect("#server", visible=False), extensions=[AppHost.extension()]) as client:
            listed = await client.list_tools()
            self._tools = {tool.name: tool for tool in listed.tools if _is_for_model(tool)}
            stops = [
                self._page.element("#tool").on("change", self._choose),
                self._page.element("#theme").on("change", self._change_theme),
                self._page.element("#form").on("submit", lambda: self._call(client)),
            ]
            self._show_tools()
            info = client.server_info
            self._conversation.set_standing(
                f"Connected to {info.title or info.name}." if info else "Connected.", ready=True
            )
            session = outer.session
            try:
                assert session is not None
                ended = await session.ended()
                if ended.error:
                    raise ended.error
            finally:
                for stop in stops:
                    stop()
                for task in tuple(self._calls):
                    task.cancel()
                await asyncio.gather(*self._calls, return_exceptions=True)

    def _show_tools(self) -> None:
        chosen = self._page.element("#tool")
        chosen.clear()
        for name, tool in self._tools.items():
            chosen.add("option", tool.title or name, value=name)
        self._choose()

    def _choose(self) -> None:
        tool = self._tools.get(self._page.element("#tool").value)
        if tool is None:
            self._conversation.set_standing("This server has no tool with a view.", bad=True)
            return
        self._conversation.show_form(tool.description or tool.name, fields_of(tool.input_schema))

    def _call(self, client: Client) -> None:
        tool = self._tools[self._page.element("#tool").value]
        try:
            arguments = arguments_of(tool.input_schema, self._conversation.values())
        except ValueError as error:
            self._conversation.set_standing(str(error), bad=True, ready=True)
            return
        self._conversation.set_standing("", ready=True)
        if len(self._calls) >= MOST_VIEWS:
            next(iter(self._calls)).cancel()
        call = Call(client, self._conversation, self._context, self._open_link)
        task = asyncio.create_task(call.run(tool.name, arguments))
        self._calls[task] = call
        task.add_done_callback(lambda done: self._calls.pop(done, None))

    def _change_theme(self) -> None:
        theme = self._context()["theme"]
        self._page.js.documentElement.style.colorScheme = theme
        for call in self._calls.values():
            call.change_context()

    def _context(self) -> dict[str, Any]:
        """Return what the views know of this page, in the names of MCP Apps."""
        window = self._page.js.defaultView
        dark = window.matchMedia("(prefers-color-scheme: dark)").matches
        chosen = self._page.element("#theme").value
        return {
            "theme": chosen if chosen in ("light", "dark") else "dark" if dark else "light",
            "locale": str(window.navigator.language),
            "platform": "web",
            "availableDisplayModes": ["inline", "fullscreen"],
            "containerDimensions": {"maxHeight": 900},
        }

    def _open_link(self, url: str) -> None:
        self._page.js.defaultView.open(url, "_blank", "noopener,noreferrer")


def _is_for_model(tool: Tool) -> bool:
    ui = (tool.meta or {}).get("ui") or {}
    return "resourceUri" in ui and "model" in ui.get("visibility", ["model"])


def _leaves(errors: BaseExceptionGroup[Exception]) -> list[Exception]:
    """Return the errors in a group of any depth."""
    found: list[Exception] = []
    for error in errors.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
