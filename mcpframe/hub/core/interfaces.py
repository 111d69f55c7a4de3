"""The hub's requirements of its home (MCP-B, "Tab-Hub Transport Interface", and sections 1 and 5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcpframe.hub.core.messages import PageRequest, ToolAnswer, ToolList, ToolProgress

OnProgress = Callable[[ToolProgress], None]


ON_THIS_MACHINE = "a program on this machine"


@dataclass(frozen=True, slots=True)
class Caller:
    """The client that requests a call.

    Attributes:
        origin: Its origin, from the browser; a description for a client without one.
        name: Its own name, which is not verified; empty for none.
    """

    origin: str = ON_THIS_MACHINE
    name: str = ""


UNNAMED = Caller()


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call, or a read, that needs the user's consent.

    Attributes:
        origin: The origin of its page, from the browser.
        tool: The tool's name in its page; empty for a resource.
        client: The caller.
        uri: The address in its page of a resource that is read; None for a call of a tool.
    """

    tab: int
    origin: str
    tool: str
    arguments: Mapping[str, Any]
    client: Caller = UNNAMED
    uri: str | None = None


Consents = Callable[[CallRequest], Awaitable[bool]]
"""Returns whether a call may be sent. It has its own deadline; an exception fails the call."""


class TabTransport(Protocol):
    """Messages to and from the proxies in the tabs; `PortTransport` is one over ports."""

    async def send_request(
        self, tab: int, message: PageRequest, seconds: float, on_progress: OnProgress | None = None
    ) -> ToolAnswer:
        """Send a call or a read, and return its answer. Cancelling this cancels it.

        Args:
            message: The call or read; the transport sets its id.
            seconds: The time-out; progress restarts it.
            on_progress: Called with the call's progress; None to ignore it.

        Raises:
            TabFailed: The tab does not exist, ended meanwhile, or did not answer in time.
            InvalidArguments: The arguments cannot be passed to a page.
        """
        ...

    def on_list(self, callback: Callable[[int, ToolList], None]) -> None:
        """Call a function with each list of tools, and its tab."""
        ...

    def on_disconnect(self, tab: int, callback: Callable[[], None]) -> None:
        """Call a function when a tab's present connection ends; it replaces an earlier one."""
        ...

    def disconnect(self, tab: int) -> None:
        """End the connection of a tab."""
        ...

    def url(self, tab: int) -> str | None:
        """Return the address of the connected page, from the browser and not from the page."""
        ...


class Tabs(Protocol):
    """The browser's tabs."""

    async def list(self) -> Mapping[int, str | None]:
        """Return the addresses of all tabs, once the browser has started; None for unknown ones."""
        ...

    async def active(self) -> int | None:
        """Return the tab that the user looks at; None for none."""
        ...

    async def open(self, url: str) -> int:
        """Open a tab in the background, and return it when its page is loaded.

        Raises:
            TabLoadError: It cannot be loaded.
        """
        ...

    async def url(self, tab: int) -> str | None:
        """Return the address of a tab; None if it does not exist."""
        ...


class KeyValues(Protocol):
    """A store of texts that survives a restart. Exceptions are logged."""

    async def get(self, key: str) -> str | None: ...
    async def set(self, key: str, value: str) -> None: ...
    async def delete(self, key: str) -> None: ...
    async def keys(self) -> Sequence[str]: ...
