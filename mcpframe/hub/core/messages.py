"""Messages between the hub and the proxy in a tab. `codec` has them as JSON text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of a page: always the full list.

    Attributes:
        tools: The tools as the page has them, not checked: see `tools.checked_tools`.
        first: Whether the proxy registers, and does not update.
        url: The address of the page as the message has it, which must not be relied upon; None for none.
        browser: The page's `browser` capabilities that are switched on.
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
        error: Why there is none.
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
    """A call, as the proxy gets it.

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
    """A call has been cancelled: nobody waits for its result."""

    id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RefreshRequest:
    """The proxy is asked to list the tools again."""


FromProxy = ToolList | ToolAnswer | ToolProgress
FromHub = ToolCall | CallCancelled | RefreshRequest
