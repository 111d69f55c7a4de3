"""Messages between the hub and the proxy in a tab. `codec` writes them as JSON text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of a page: always the full list.

    Attributes:
        tools: The tools of the page, unchecked: see `tools.checked_tools`.
        first: Whether this is a registration, and not an update.
        url: The address of the page according to the message, which is not trusted; None for none.
        browser: The enabled `browser` capabilities of the page.
    """

    tools: Sequence[Any]
    first: bool = True
    url: str | None = None
    browser: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The result of a call.

    Attributes:
        id: The call's id.
        result: The `CallToolResult` of the page; None for a failure.
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


@dataclass(frozen=True, slots=True)
class CallCancelled:
    """A call has been cancelled; its result is dropped."""

    id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RefreshRequest:
    """A request to the proxy to list the tools again."""


FromProxy = ToolList | ToolAnswer | ToolProgress
FromHub = ToolCall | CallCancelled | RefreshRequest
