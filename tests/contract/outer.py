"""The outer frame as its contract sees it: one small interface, so that each rule is one test body for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from playwright.async_api import Frame, Page

from tests.contract.playing import accept, loaded

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


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Deadlines in seconds and limits, by the names that `Options` has; what is left out has its default."""

    deadlines: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Connecting(Bounds):
    """The options of a session."""

    sandbox: str | None = None
    opaque: bool = False
    unresponsive_after: float | None = None


@dataclass(frozen=True, kw_only=True)
class SettingUp(Bounds):
    """The options of a setup; `grants` is what the host answers when it is asked for permissions."""

    popup: bool = False
    permissions: Sequence[str] = ()
    grants: Sequence[str] | None = None


class Outer(ABC):
    """An outer frame with at most one framed page.

    Attributes:
        dialect: the dialect that it speaks.
        answering: the query of the page by hand that opens a session by itself, and answers each `echo`.
    """

    dialect = "sep"
    answering = "inner"

    def __init__(self, page: Page) -> None:
        """Create the outer frame in this page."""
        self.page = page

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def connect(self, url: str, **options: Any) -> None:
        """Begin a session with the page at `url`; the options are those of `Connecting`."""
        await self._connect(url, Connecting(**options))

    async def set_up(self, url: str, **options: Any) -> None:
        """Begin a setup with the page at `url`; the options are those of `SettingUp`."""
        await self._set_up(url, SettingUp(**options))

    @abstractmethod
    async def _connect(self, url: str, options: Connecting) -> None:
        """Begin a session."""

    @abstractmethod
    async def _set_up(self, url: str, options: SettingUp) -> None:
        """Begin a setup."""

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

    async def opened_by_hand(self, frame: Frame) -> None:
        """Play the framed page until the session is open."""
        await accept(frame)
        await self.next("opened")

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
