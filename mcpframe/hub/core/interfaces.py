"""What the hub needs of the place where it runs (MCP-B, "Tab-Hub Transport Interface", and sections 1 and 5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from mcpframe.hub.core.messages import ToolAnswer, ToolCall, ToolList, ToolProgress

OnProgress = Callable[[ToolProgress], None]


PROGRAM = "a program on this machine"


@dataclass(frozen=True, slots=True)
class Caller:
    """The client that wants a call.

    Attributes:
        origin: Its origin, as the browser has it; in words for a client that has none.
        name: The name that it gives itself, which may be any; empty for none.
    """

    origin: str = PROGRAM
    name: str = ""


UNNAMED = Caller()


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call that is about to be sent, for whoever has to consent to it.

    Attributes:
        origin: The origin of its page, as the browser has it.
        tool: The tool's name in its page.
        client: Who wants it.
    """

    tab: int
    origin: str
    tool: str
    arguments: Mapping[str, Any]
    client: Caller = UNNAMED


Consents = Callable[[CallRequest], Awaitable[bool]]
"""Returns whether a call may be sent. It has a deadline of its own; what it raises fails the call."""


class TabTransport(Protocol):
    """Messages to and from the proxies in the tabs; `transport.PortTransport` is one over ports."""

    async def send_request(
        self, tab: int, message: ToolCall, seconds: float, on_progress: OnProgress | None = None
    ) -> ToolAnswer:
        """Send a call, and return its answer. To cancel this is to cancel the call.

        Args:
            message: The call; its id is the transport's to give.
            seconds: The time after which it fails; progress begins them anew.
            on_progress: Called with the call's progress; None where nobody wants it.

        Raises:
            TabFailed: There is no such tab, it ended meanwhile, or did not answer in time.
            InvalidArguments: The arguments cannot be passed to a page.
        """
        ...

    def on_list(self, callback: Callable[[int, ToolList], None]) -> None:
        """Have every list of tools be passed to a function, with the tab."""
        ...

    def on_disconnect(self, tab: int, callback: Callable[[], None]) -> None:
        """Have the end of a tab's present connection be passed to a function, in the place of an earlier one."""
        ...

    def disconnect(self, tab: int) -> None:
        """End the connection of a tab."""
        ...

    def url(self, tab: int) -> str | None:
        """Return the address of the page that is connected, as the browser has it, and not the page."""
        ...


class Tabs(Protocol):
    """The browser's tabs."""

    async def list(self) -> Mapping[int, str | None]:
        """Return the addresses of all tabs, once the browser has started; None for those that are not known."""
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
        """Return the address of a tab; None where there is no such tab."""
        ...


class KeyValues(Protocol):
    """A store of texts that survives a restart. Whatever a method raises is logged."""

    async def get(self, key: str) -> str | None: ...
    async def set(self, key: str, value: str) -> None: ...
    async def delete(self, key: str) -> None: ...
    async def keys(self) -> Sequence[str]: ...
