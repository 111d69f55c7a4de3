"""The outer frame as its contract sees it: one small interface, so that each rule is one test body for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

from playwright.async_api import Frame, Page

from tests.contract.playing import loaded

PATIENCE = 30.0
"""How long to wait for an expected event, in seconds."""

Happening = dict[str, Any]
"""`kind` is one of "opened", "received", "refused", "setup required", "unresponsive" and "closed", in a setup "set up",
"setup failed", "asked" and "visible"; the rest depends on it."""


class Origins(Protocol):
    """The origins of the test's pages."""

    @property
    def bundle(self) -> str:
        """The origin of framed pages."""

    @property
    def host(self) -> str:
        """The origin of host pages."""

    @property
    def neighbour(self) -> str:
        """Another origin on the host's site."""

    @property
    def stranger(self) -> str:
        """An unrelated origin."""


class Outer(ABC):
    """An outer frame with at most one framed page."""

    def __init__(self, page: Page) -> None:
        """Create the outer frame in this page."""
        self.page = page

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    @abstractmethod
    async def connect(
        self,
        url: str,
        *,
        sandbox: str | None = None,
        opaque: bool = False,
        deadlines: Mapping[str, float] | None = None,
        limits: Mapping[str, int] | None = None,
        unresponsive_after: float | None = None,
    ) -> None:
        """Begin a session with the page at `url`; times in seconds, None for the defaults."""

    @abstractmethod
    async def set_up(
        self,
        url: str,
        *,
        popup: bool = False,
        permissions: Sequence[str] = (),
        grants: Sequence[str] | None = None,
        deadlines: Mapping[str, float] | None = None,
        limits: Mapping[str, int] | None = None,
    ) -> None:
        """Begin a setup with the page at `url`; `grants` is what the host answers when it is asked for permissions."""

    @abstractmethod
    async def give_up(self) -> None:
        """Cancel the setup."""

    @abstractmethod
    async def go_on(self) -> None:
        """Begin a session after the setup, at the same place."""

    @abstractmethod
    async def show(self, visible: bool) -> None:
        """Show or hide the framed page."""

    @abstractmethod
    async def next(self, kind: str) -> Happening:
        """Wait for the next event of a kind, and remove it."""

    @abstractmethod
    async def rest(self) -> list[str]:
        """Return the kinds of the events that were not awaited."""

    @abstractmethod
    async def send(self, payload: Mapping[str, Any]) -> None:
        """Send one MCP message."""

    @abstractmethod
    async def failure(self, request: Mapping[str, Any]) -> str:
        """Send a request that cannot be sent, and return its error."""

    @abstractmethod
    async def watch(self) -> None:
        """Record messages on the wire from the next `connect` on."""

    @abstractmethod
    async def wires(self) -> list[dict[str, Any]]:
        """Return the recorded messages: `Wire`s as objects, with their texts parsed."""

    @abstractmethod
    async def inner(self) -> Frame:
        """Return the framed page as Playwright sees it."""

    @abstractmethod
    async def close(self) -> None:
        """End the session and everything belonging to it."""

    async def framed(self) -> Frame:
        """Wait for the framed page of a setup, or of the session after it, ready to be played."""
        iframe = await self.page.wait_for_selector("iframe[src^=http]", state="attached")
        frame = await iframe.content_frame()
        assert frame is not None
        return await loaded(frame, _is_a_page)

    async def open(self, url: str, **options: Any) -> Happening:
        """Connect and wait until the session is open."""
        await self.connect(url, **options)
        return await self.next("opened")

    async def ready(self, url: str, **options: Any) -> Frame:
        """Connect, and wait only until the framed page is loaded."""
        await self.connect(url, **options)
        return await loaded(await self.inner(), _is_a_page)

    async def call(self, number: int = 1, **params: Any) -> dict[str, Any]:
        """Send a request and return the answer."""
        await self.send({"jsonrpc": "2.0", "id": number, "method": "echo", "params": params})
        answer: dict[str, Any] = (await self.next("received"))["payload"]
        return answer


def _is_a_page(url: str) -> bool:
    return url.startswith("http")
