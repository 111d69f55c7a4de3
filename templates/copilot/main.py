"""A copilot: an MCP client in a frame that answers with the tools of its host page (the inverted architecture)."""

import asyncio
import contextlib
from typing import Any
from urllib.parse import parse_qs

from mcp import Client
from mcp.client.subscriptions import ListenNotSupportedError, ResourceUpdated, SubscriptionLost
from mcp.shared.exceptions import MCPError

from answering import PATIENCE, Answer, answer, reason_of, tools_of
from chat import Chat
from mcpframe import Page, connect_to_host, errors
from rules import HELP


async def main(page: Page) -> None:
    """Show the chat, and connect to the host page, again whenever the user asks for it."""
    await page.show("chat.html")
    copilot = Copilot(page)
    while True:
        try:
            await copilot.converse()
        except errors.NoPeer:
            copilot.chat.show_alone()
            return
        except (errors.McpFrameError, MCPError, ExceptionGroup) as error:
            copilot.chat.close(copilot.refused or reason_of(error))
        await copilot.chat.wanted_again()


class Copilot:
    """The chat, and one session after the other.

    Attributes:
        chat: the chat.
        refused: the message if the host page's origin is not allowed; empty otherwise.
    """

    def __init__(self, page: Page) -> None:
        """Use a page that shows `chat.html`."""
        self.chat = Chat(page, self._ask)
        asked = parse_qs(str(page.js.location.search)[1:]).get("dialect")
        self._dialect = asked[0] if asked else None  # of a host that has to be asked for by name: see the README
        self.refused = ""
        self._client: Client | None = None
        self._offered: set[str] = set()
        self._lost: asyncio.Future[Exception] | None = None
        self._greeted = False

    async def converse(self) -> None:
        """Connect to the host page, and answer questions until it is gone.

        Raises:
            errors.McpFrameError: There is no session; see `connect_to_host`.
            MCPError: The host page does not answer.
            errors.NoPeer: There is no host page.
        """
        self.refused = ""
        self.chat.close("Connecting to the page around …", bad=False, again=False)
        lost = self._lost = asyncio.get_running_loop().create_future()
        host = connect_to_host(dialect=self._dialect, on_event=self._note)
        async with Client(host, read_timeout_seconds=PATIENCE) as client:
            following = asyncio.ensure_future(self._follow(client))
            try:
                await self._open(client)
                await lost
            except MCPError as error:
                lost.set_result(error)
            finally:
                self._client = None
                following.cancel()
                await asyncio.gather(following, return_exceptions=True)
        raise lost.result()  # outside of the client's task group, which would wrap it

    async def _open(self, client: Client) -> None:
        self._offered = await tools_of(client)
        self._client = client
        info = client.server_info
        name = info.title or info.name if info else "the page around me"
        self.chat.open(f"Connected to {name}.")
        if not self._greeted:
            self._greeted = True
            self.chat.say("copilot", [f"Hello. {HELP}"])

    async def _ask(self, question: str) -> None:
        client, lost = self._client, self._lost
        if client is None or lost is None:
            return
        self.chat.say("you", [question])
        try:
            said = await answer(client, self._offered, question)
        except MCPError as error:
            said = Answer([reason_of(error)], problem=True)
            if not lost.done():
                lost.set_result(error)
        self.chat.say("problem" if said.problem else "copilot", said.lines, said.call)

    async def _follow(self, client: Client) -> None:
        """Show a message when the host page's data has changed: earlier answers may be outdated."""
        if client.server_capabilities.resources is None:
            return
        with contextlib.suppress(ListenNotSupportedError, SubscriptionLost, MCPError):
            resources = {str(resource.uri): resource for resource in (await client.list_resources()).resources}
            async with client.listen(resource_subscriptions=list(resources)) as events:
                async for event in events:
                    if isinstance(event, ResourceUpdated):
                        changed = resources.get(str(event.uri))
                        name = (changed and (changed.title or changed.name)) or str(event.uri)
                        self.chat.say("notice", [f"Changed: {name}"])

    def _note(self, event: Any) -> None:
        error = getattr(event, "error", None)
        if isinstance(error, errors.UnexpectedOrigin) and self._client is None:
            self.refused = f"The page around me is not one that I talk to. {error}"
            self.chat.close(self.refused, again=False)
