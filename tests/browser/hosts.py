"""Two hosts that use a server as a person's host does: set it up, then connect, at the same session id.

`PythonHost` is `OuterFrame` and `mcp.Client` of 2026-07-28 in CPython; `JavaScriptHost` is host.js and npm's client of
the handshake era in a page. Results are as on the wire, as JSON.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from mcp import Client
from playwright.async_api import Frame, Page

from mcpframe.frame.hosting.outer import OuterFrame, RunningSetup
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.outers import PATIENCE
from tests.contract.playing import POLL

JSON = dict[str, Any]
CALL_PATIENCE = 60.0
"""How long a tool may take, in seconds: some are made for large files, on a busy machine."""


@dataclass
class SettingUp:
    """A setup under way.

    Attributes:
        frame: the framed page.
        result: waits for how it ends: `title`, `visibility`, `message`, and `error` with the code where it failed.
    """

    frame: Frame
    result: Callable[[], Awaitable[JSON]]


class Connected(ABC):
    """A session with the server.

    Attributes:
        frame: the framed page.
    """

    frame: Frame

    @abstractmethod
    async def call(self, tool: str, **arguments: Any) -> JSON:
        """Call a tool; `progress` in the result is what was reported meanwhile."""

    @abstractmethod
    async def read(self, uri: str) -> JSON:
        """Read a resource."""

    @abstractmethod
    def updates(self, uri: str) -> AbstractAsyncContextManager[Callable[[], Awaitable[str]]]:
        """Subscribe to a resource; what is given waits for the next update, and gives its URI."""

    @abstractmethod
    async def show(self, visible: bool) -> None:
        """Show or hide the framed page."""

    async def ok(self, tool: str, **arguments: Any) -> JSON:
        """Call a tool that must not fail."""
        result = await self.call(tool, **arguments)
        assert not result.get("isError"), result["content"]
        return result


class Host(ABC):
    """A host of one server."""

    def __init__(self, page: Page, url: str) -> None:
        """Host the server at `url` in this page."""
        self.page = page
        self.url = url

    def retarget(self, url: str) -> None:
        """Host the server at another address instead."""
        self.__init__(self.page, url)  # type: ignore[misc]

    @abstractmethod
    def setup(self) -> AbstractAsyncContextManager[SettingUp]:
        """Run the server's setup for as long as the block lasts."""

    @abstractmethod
    def connect(self) -> AbstractAsyncContextManager[Connected]:
        """Open a session for as long as the block lasts."""

    async def _frame(self) -> Frame:
        iframe = await self.page.wait_for_selector("iframe[src^=http]", state="attached")
        assert iframe
        frame = await iframe.content_frame()
        assert frame
        return frame


class PythonHost(Host):
    """`OuterFrame` and the SDK's client."""

    def __init__(self, page: Page, url: str) -> None:
        super().__init__(page, url)
        self.outer = OuterFrame(url)

    @asynccontextmanager
    async def setup(self) -> AsyncIterator[SettingUp]:
        async with self.outer.setup(PlaywrightPlace(self.page)) as setup:
            yield SettingUp(await self._frame(), lambda: self._result(setup))

    async def _result(self, setup: RunningSetup) -> JSON:
        with anyio.fail_after(CALL_PATIENCE):
            result = await setup.result()
        return {
            "title": result.title,
            "visibility": str(result.visibility),
            "message": result.ephemeral_message,
            "error": result.error_code and str(result.error_code),
        }

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connected]:
        client = Client(self.outer.connect(PlaywrightPlace(self.page)), mode="2026-07-28")
        async with asyncio.timeout(BOOT_PATIENCE) as patience, client:
            patience.reschedule(None)
            yield _PythonConnected(client, self.outer, await self._frame())


class _PythonConnected(Connected):
    def __init__(self, client: Client, outer: OuterFrame, frame: Frame) -> None:
        self._client = client
        self._outer = outer
        self.frame = frame

    async def call(self, tool: str, **arguments: Any) -> JSON:
        progress: list[float] = []

        async def note(done: float, total: float | None, message: str | None) -> None:
            progress.append(done)

        with anyio.fail_after(CALL_PATIENCE):
            result = await self._client.call_tool(tool, arguments, progress_callback=note)
        return {**result.model_dump(mode="json", by_alias=True, exclude_none=True), "progress": progress}

    async def read(self, uri: str) -> JSON:
        with anyio.fail_after(PATIENCE):
            result = await self._client.read_resource(uri)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    @asynccontextmanager
    async def updates(self, uri: str) -> AsyncIterator[Callable[[], Awaitable[str]]]:
        async with self._client.listen(resource_subscriptions=[uri]) as events:
            heard = aiter(events)

            async def following() -> str:
                with anyio.fail_after(PATIENCE):
                    event: Any = await anext(heard)
                return str(event.uri)

            yield following

    async def show(self, visible: bool) -> None:
        (self._outer.show if visible else self._outer.hide)()


class JavaScriptHost(Host):
    """host.js and the npm client."""

    visibility: str | None = None

    @asynccontextmanager
    async def setup(self) -> AsyncIterator[SettingUp]:
        await self._loaded()
        await self.page.evaluate("url => lab.setUp(url)", self.url)
        yield SettingUp(await self._frame(), self._result)
        await self.page.evaluate("lab.abort.abort()")

    async def _result(self) -> JSON:
        with anyio.fail_after(CALL_PATIENCE):
            result = await self.page.evaluate("lab.setup")
        self.visibility = result["visibility"]
        return {
            "title": result["title"],
            "visibility": result["visibility"],
            "message": result.get("ephemeralMessage"),
            "error": result.get("error", {}).get("code"),
        }

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Connected]:
        await self._loaded()
        with anyio.fail_after(BOOT_PATIENCE):
            await self.page.evaluate("([url, visibility]) => lab.connect(url, visibility)", [self.url, self.visibility])
        yield _JavaScriptConnected(self.page, await self._frame())
        await self.page.evaluate("lab.client.close()")

    async def _loaded(self) -> None:
        await self.page.wait_for_function("() => window.lab", polling=POLL)


class _JavaScriptConnected(Connected):
    def __init__(self, page: Page, frame: Frame) -> None:
        self._page = page
        self.frame = frame

    async def call(self, tool: str, **arguments: Any) -> JSON:
        with anyio.fail_after(CALL_PATIENCE):
            result: JSON = await self._page.evaluate("([tool, args]) => lab.call(tool, args)", [tool, arguments])
        return result

    async def read(self, uri: str) -> JSON:
        with anyio.fail_after(PATIENCE):
            result: JSON = await self._page.evaluate("uri => lab.client.readResource({ uri })", uri)
        return result

    @asynccontextmanager
    async def updates(self, uri: str) -> AsyncIterator[Callable[[], Awaitable[str]]]:
        await self._page.evaluate("uri => lab.client.subscribeResource({ uri })", uri)

        async def following() -> str:
            with anyio.fail_after(PATIENCE):
                return str(await self._page.evaluate("lab.nextUpdate()"))

        yield following
        await self._page.evaluate("uri => lab.client.unsubscribeResource({ uri })", uri)

    async def show(self, visible: bool) -> None:
        await self._page.evaluate("visible => visible ? lab.transport.show() : lab.transport.hide()", visible)
