"""Errors of the hub.

McpFrameError
└── HubError                 a call that the hub could not complete; `code` and `data` are those of JSON-RPC
    ├── UnknownTool          no tool has this name, or had it recently
    ├── UnknownResource      no tab of the hub has this address
    ├── ResourceFailed       the page could not read the resource
    ├── InvalidArguments     the arguments cannot be passed to a page: too large, too deep, or not JSON
    ├── CallDenied           the user has not allowed the call
    ├── HubNotFound          in a page: no open tab has the hub
    ├── HubChanged           in a page: the tab that had the hub ended during the call
    ├── HubClosed            the hub has ended
    └── TabFailed            no tab executed the call
        ├── TabNotFound      no tab has the tool, and none could be opened
        │   └── TabLoadError a tab was opened, but its page cannot be loaded
        ├── TabClosed        the tab ended while it executed the call
        ├── RequestTimedOut  the tab did not answer in time
        └── TabBusy          too many calls wait for this tab
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import McpFrameError

TAB_NOT_FOUND = -32001
"""The code of errors of tabs (MCP-B, "Errors"). SDKs use it for their own time-outs: `data.reason` tells them apart."""


class HubError(McpFrameError, RuntimeError):
    """A call that the hub could not complete.

    Attributes:
        code: The JSON-RPC code.
        data: The data of the JSON-RPC error; None for none.
    """

    code: int = jsonrpc.INTERNAL_ERROR

    def __init__(self, message: str, data: dict[str, Any] | None = None, *, code: int | None = None) -> None:
        super().__init__(message)
        self.data = data
        self.code = type(self).code if code is None else code


class UnknownTool(HubError):
    """No tool has this name, or had it recently."""

    code = jsonrpc.INVALID_PARAMS


class UnknownResource(HubError):
    """No tab of the hub has this address."""

    code = jsonrpc.INVALID_PARAMS


class ResourceFailed(HubError):
    """The page could not read the resource. `data` has `reason`, `domain`, `uri` and `tab`, the number of the tab."""

    def __init__(self, message: str, *, domain: str, uri: str, tab: int) -> None:
        super().__init__(message, {"reason": "ResourceFailed", "domain": domain, "uri": uri, "tab": tab})


class InvalidArguments(HubError):
    """The arguments cannot be passed to a page: they are too large, nested too deep, or have no form in JSON.

    `data` has `reason`. The page has not been called.
    """

    code = jsonrpc.INVALID_PARAMS

    def __init__(self, message: str) -> None:
        super().__init__(message, {"reason": "InvalidArguments"})


class CallDenied(HubError):
    """The user denied the call, or did not answer. The page has not executed it.

    `data` has `reason`, `origin`, and `tool`, or the `uri` of a resource.
    """

    code = jsonrpc.INVALID_REQUEST

    def __init__(self, message: str, *, origin: str = "", **asked: str) -> None:
        super().__init__(message, {"reason": "CallDenied", "origin": origin, **asked})


class HubNotFound(HubError):
    """No open tab has the hub. `data` has `reason`, and `mayHaveRun`, which is false."""

    code = TAB_NOT_FOUND

    def __init__(self, message: str) -> None:
        super().__init__(message, {"reason": "HubNotFound", "mayHaveRun": False})


class HubChanged(HubError):
    """The tab that had the hub has ended, or does not respond. `data` has `reason`, and `mayHaveRun`, which is true."""

    code = TAB_NOT_FOUND

    def __init__(self, message: str) -> None:
        super().__init__(message, {"reason": "HubChanged", "mayHaveRun": True})


class HubClosed(HubError):
    """The hub has ended.

    `data` has `reason`, and `mayHaveRun`, whether the page may still have executed the call.
    """

    code = jsonrpc.CONNECTION_CLOSED

    def __init__(self, message: str, *, may_have_run: bool) -> None:
        super().__init__(message, {"reason": "HubClosed", "mayHaveRun": may_have_run})


class TabFailed(HubError):
    """No tab executed the call.

    `data` has `reason`, a word for each class; `tab`, the tab's number, as in
    names of tools, or null; `domain`; `tool`, or the `uri` of a resource; and
    `mayHaveRun`, whether the page may still have executed the call.

    Attributes:
        tab: The browser's id of the tab; None if there is none.
        may_have_run: Whether the page may have executed the call.
    """

    code = TAB_NOT_FOUND
    reason: ClassVar[str] = "TabFailed"
    may_have_run: ClassVar[bool] = False

    def __init__(self, message: str, *, tab: int | None = None) -> None:
        super().__init__(message, {"reason": self.reason, "tab": tab, "mayHaveRun": self.may_have_run})
        self.tab = tab

    def of(self, domain: str, asked: Mapping[str, str], number: int | None) -> TabFailed:
        """Return this error, with the domain, the tool or resource, and the number of the tab in its data."""
        assert self.data is not None
        self.data |= {"domain": domain, **asked, "tab": number}
        return self


class TabNotFound(TabFailed):
    """No tab has the tool, and none could be opened."""

    reason = "TabNotFound"


class TabLoadError(TabNotFound):
    """A tab was opened, but its page cannot be loaded. `Tabs.open` raises it, too: the hub then retries."""

    reason = "TabLoadFailed"


class TabClosed(TabFailed):
    """The tab ended while it executed the call: it was closed, reloaded, or went to another page."""

    reason = "TabClosed"
    may_have_run = True


class RequestTimedOut(TabFailed):
    """The tab did not answer in time. The call was cancelled."""

    reason = "RequestTimeout"
    may_have_run = True


class TabBusy(TabFailed):
    """Too many calls wait for this tab."""

    reason = "TabBusy"
