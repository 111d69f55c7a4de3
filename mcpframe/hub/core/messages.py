"""Messages between the hub and the proxy in a tab. `codec` writes them as JSON text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Json = Mapping[str, Any]

LISTS: Final = {"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
"""MCP's lists that a hub carries, and the member of each result with the items."""
LIST_CHANGES: Final = ("notifications/tools/list_changed", "notifications/resources/list_changed")


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of a page, and its resources: always the full lists.

    Attributes:
        tools: The tools of the page, unchecked: see `tools.checked`.
        first: Whether this is a registration, and not an update.
        url: The address of the page according to the message, which is not trusted; None for none.
        browser: The enabled `browser` capabilities of the page.
        resources: The resources of the page, unchecked, too.
        templates: Its templates of resources, unchecked.
    """

    tools: Sequence[Any]
    first: bool = True
    url: str | None = None
    browser: frozenset[str] = frozenset()
    resources: Sequence[Any] = ()
    templates: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of a call, or of a read.

    Attributes:
        id: The call's id.
        result: The `CallToolResult` or `ReadResourceResult` of the page; None for a failure.
        error: The reason of a failure.
    """

    id: str
    result: Json | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """Progress of a call."""

    id: str
    progress: float
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call for the proxy.

    Attributes:
        tool: The tool's name in its page.
        progress: Whether the caller wants progress.
    """

    id: str
    tool: str
    arguments: Json = field(default_factory=dict)
    progress: bool = False

    @property
    def request(self) -> tuple[str, dict[str, Any]]:
        """The method and the parameters of the request to the page."""
        return "tools/call", {"name": self.tool, "arguments": dict(self.arguments)}


@dataclass(frozen=True, slots=True)
class ResourceRead:
    """A read for the proxy.

    Attributes:
        uri: The resource's address in its page.
        progress: Whether the caller wants progress.
    """

    id: str
    uri: str
    progress: bool = False

    @property
    def request(self) -> tuple[str, dict[str, Any]]:
        """The method and the parameters of the request to the page."""
        return "resources/read", {"uri": self.uri}


@dataclass(frozen=True, slots=True)
class CallCancelled:
    """A call, or a read, has been cancelled; its result is dropped."""

    id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RefreshRequest:
    """A request to the proxy to list the tools again."""


PageRequest = ToolCall | ResourceRead
FromProxy = ToolList | ToolAnswer | ToolProgress
FromHub = PageRequest | CallCancelled | RefreshRequest
