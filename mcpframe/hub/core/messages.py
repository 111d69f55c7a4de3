"""Messages between the hub and the proxy in a tab, in both forms: JSON-RPC (the seed's), and the extension's.

| message | JSON-RPC | extension |
|---|---|---|
| proxy to hub: the list of tools | `browser/registerTools`, `browser/updateTools` | `register-tools`, `tools-updated` |
| proxy to hub: result of a call | a response | `tool-result` |
| proxy to hub: progress of a call | `notifications/progress` | `tool-progress` |
| hub to proxy: a call | `browser/executeTool` | `execute-tool` |
| hub to proxy: a call is cancelled | `notifications/cancelled` | `cancel-tool` |
| hub to proxy: list the tools again | `browser/requestToolsRefresh` | `request-tools-refresh` |

The hub answers a proxy in the form that the proxy uses. Progress, cancellation and the JSON-RPC form of the refresh are
additions of mcpframe, which others ignore. A reader returns None for every other message: it is ignored. Sources:
MCP-B, "Message Formats" and "Transport Specifications"; for the extension's form the content script of MCP-B.

Messages are parsed JSON within the limits of `LIMITS`; nobody has checked their shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeGuard

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.outline import sketch
from mcpframe.frame.core.visible import plain

Json = Mapping[str, Any]
Form = Literal["json-rpc", "extension"]

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
MAX_NESTING = 128
_LIMITS: Final = {"max_bytes": MAX_MESSAGE_BYTES, "max_nesting": MAX_NESTING}
_LONGEST_ID = 256
_LONGEST_URL = 8192
_CAPABILITIES = ("multiTabSupport", "cacheSupported", "elicitation")

_LISTS = {
    "browser/registerTools": True,
    "browser/updateTools": False,
    "register-tools": True,
    "tools-updated": False,
}
"""The messages with a list of tools: whether it is the first one."""
_PROGRESS = "notifications/progress"
_CANCELLED = "notifications/cancelled"
_EXECUTE = "browser/executeTool"
_REFRESH = "browser/requestToolsRefresh"


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of a page: always the full list.

    Attributes:
        tools: The tools as the page has them, not checked: see `tools.checked_tools`.
        form: The form of the message.
        first: Whether the proxy registers, and does not update.
        url: The address of the page as the message has it, which must not be relied upon; None for none.
        browser: The page's `browser` capabilities that are switched on.
    """

    tools: Sequence[Any]
    form: Form = "json-rpc"
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
        id: Its id.
        tool: The tool's name in its page.
        arguments: Its arguments.
        progress: Whether the caller wants progress.
        form: The form of the message, and of its answer.
    """

    id: str
    tool: str
    arguments: Json = field(default_factory=dict)
    progress: bool = False
    form: Form = "json-rpc"


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


def parse(text: str) -> Any:
    """Return the value of JSON text that came over a port.

    What is wrong with a tool in a list of tools is not looked at: one bad tool costs itself (`tools.checked_tools`).

    Raises:
        MessageError: It is not JSON, over a limit, or has content that is not allowed.
    """
    value = payload.parse(text, **_LIMITS)
    if not isinstance(value, dict) or _kind(value)[0] not in _LISTS:
        payload.check_content(text, value)
    return value


def encode(message: Json) -> str:
    """Return a message as JSON text that `parse` takes.

    Raises:
        MessageError: It has no such form: it is over a limit, or has content that is not allowed.
    """
    try:
        text = payload.encode(message, exact=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedMessage(str(error)) from None
    payload.check_text(text, **_LIMITS)
    payload.check_content(text, message)
    return text


def id_of_answer(text: str) -> str | None:
    """Return the id of the call that a proxy answers with a message which `parse` rejects; None for other messages."""
    members = sketch(text, ("id", "method", "requestId", "type"))
    if "method" in members or members.get("type", "tool-result") != "tool-result":
        return None
    id_ = members.get("requestId" if "type" in members else "id")
    return id_ if _is_id(id_) else None


def read_from_proxy(message: Any) -> FromProxy | None:
    """Read what a proxy has sent.

    Args:
        message: A parsed JSON value.

    Returns:
        The message; None where it is none that the hub takes.

    Raises:
        MalformedMessage: It is one of those, but its content is not.
    """
    if not isinstance(message, dict):
        return None
    kind, form = _kind(message)
    if kind in _LISTS:
        return _read_list(kind, form, _params(message, form))
    if kind == "tool-result":
        data = message.get("data", message)
        return _read_result(_id(message.get("requestId")), data)
    if kind == "tool-progress":
        return _read_progress(message.get("requestId"), message)
    if kind == _PROGRESS:
        params = _params(message, form)
        return _read_progress(params.get("progressToken"), params)
    if form == "json-rpc" and kind is None and ("result" in message or "error" in message):
        return _read_response(message)
    return None


def read_from_hub(message: Any) -> FromHub | None:
    """Read what the hub has sent, in the proxy.

    Args:
        message: A parsed JSON value.

    Returns:
        The message; None where it is none that a proxy takes, or a call without an id or a tool's name.
    """
    if not isinstance(message, dict):
        return None
    kind, form = _kind(message)
    if kind in ("execute-tool", _EXECUTE):
        params = _params(message, form)
        id_ = message.get("requestId" if form == "extension" else "id")
        tool, arguments, meta = params.get("toolName"), params.get("args"), params.get("_meta")
        if not _is_id(id_) or not isinstance(tool, str) or not tool:
            return None
        wants = isinstance(meta, dict) and meta.get("progressToken") is not None
        return ToolCall(id_, tool, arguments if isinstance(arguments, dict) else {}, wants, form)
    if kind in ("cancel-tool", _CANCELLED):
        params = _params(message, form)
        id_, reason = params.get("requestId"), params.get("reason")
        return CallCancelled(id_, reason if isinstance(reason, str) else "") if _is_id(id_) else None
    return RefreshRequest() if kind in ("request-tools-refresh", _REFRESH) else None


def tool_list(
    tools: Sequence[Any],
    *,
    form: Form = "json-rpc",
    first: bool,
    url: str | None = None,
    browser: Mapping[str, bool] | None = None,
) -> dict[str, Any]:
    """Return the message with the tools of a page.

    Args:
        tools: All of its tools.
        form: The form of the message.
        first: Whether the proxy registers, and does not update.
        url: The page's address; None to leave it out.
        browser: The page's `browser` capabilities; None to leave them out.
    """
    params: dict[str, Any] = {"tools": list(tools)}
    if url is not None:
        params["tabUrl"] = url
    if browser is not None:
        params["capabilities"] = {"browser": dict(browser)}
    if form == "extension":
        return {"type": "register-tools" if first else "tools-updated", **params}
    return _notification("browser/registerTools" if first else "browser/updateTools", params)


def answer(id_: str, result: Json | str, *, form: Form = "json-rpc") -> dict[str, Any]:
    """Return the message with the result of a call.

    Args:
        id_: The call's id.
        result: The `CallToolResult`; or why there is none.
        form: The form of the call.
    """
    data = {"success": not isinstance(result, str), "payload": result}
    if form == "extension":
        return {"type": "tool-result", "requestId": id_, "data": data}
    return {"jsonrpc": "2.0", "id": id_, "result": data}


def progress(
    id_: str, value: float, total: float | None = None, message: str | None = None, *, form: Form = "json-rpc"
) -> dict[str, Any]:
    """Return the message with the progress of a call.

    Args:
        id_: The call's id.
        value: How far it is.
        total: How far it has to go; None where that is unknown.
        message: What it does; None for nothing.
        form: The form of the call.
    """
    params: dict[str, Any] = {"progress": value}
    params |= {name: each for name, each in (("total", total), ("message", message)) if each is not None}
    if form == "extension":
        return {"type": "tool-progress", "requestId": id_, **params}
    return _notification(_PROGRESS, {"progressToken": id_, **params})


def execute(id_: str, tool: str, arguments: Json, *, progress: bool = False, form: Form = "json-rpc") -> dict[str, Any]:
    """Return the message with a call.

    Args:
        id_: Its id.
        tool: The tool's name in its page.
        arguments: Its arguments.
        progress: Whether progress is wanted.
        form: The form that the proxy uses.
    """
    params: dict[str, Any] = {"toolName": tool, "args": dict(arguments)}
    if progress:
        params["_meta"] = {"progressToken": id_}
    if form == "extension":
        return {"type": "execute-tool", "requestId": id_, **params}
    return {"jsonrpc": "2.0", "id": id_, "method": _EXECUTE, "params": params}


def cancel(id_: str, reason: str, *, form: Form = "json-rpc") -> dict[str, Any]:
    """Return the message that cancels a call.

    Args:
        id_: The call's id.
        reason: Why, for a log.
        form: The form that the proxy uses.
    """
    params = {"requestId": id_, "reason": reason}
    return {"type": "cancel-tool", **params} if form == "extension" else _notification(_CANCELLED, params)


def refresh(*, form: Form = "json-rpc") -> dict[str, Any]:
    """Return the message that asks for the list of tools."""
    return {"type": "request-tools-refresh"} if form == "extension" else _notification(_REFRESH, {})


def _notification(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _kind(message: dict[str, Any]) -> tuple[str | None, Form]:
    """Return the message's method or type, and its form."""
    form: Form = "json-rpc" if message.get("jsonrpc") == "2.0" else "extension"
    kind = message.get("method" if form == "json-rpc" else "type")
    if not isinstance(kind, str) or (("/" in kind) is not (form == "json-rpc")):
        kind = None
    return kind, form


def _params(message: dict[str, Any], form: Form) -> dict[str, Any]:
    params = message if form == "extension" else message.get("params")
    return params if isinstance(params, dict) else {}


def _is_id(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_ID


def _id(value: Any) -> str:
    if not _is_id(value):
        raise MalformedMessage("The id of a request must be a text, and is not.")
    return value


def _read_list(kind: str, form: Form, params: dict[str, Any]) -> ToolList:
    tools, url, capabilities = params.get("tools"), params.get("tabUrl"), params.get("capabilities")
    if not isinstance(tools, list):
        raise MalformedMessage(f"{kind}: tools must be a list.")
    if url is not None and (not isinstance(url, str) or len(url) > _LONGEST_URL):
        raise MalformedMessage(f"{kind}: tabUrl must be a text of at most {_LONGEST_URL:,} characters.")
    browser = capabilities.get("browser") if isinstance(capabilities, dict) else None
    on = browser if isinstance(browser, dict) else {}
    return ToolList(tools, form, _LISTS[kind], url, frozenset(name for name in _CAPABILITIES if on.get(name) is True))


def _read_result(id_: str, data: Any) -> ToolAnswer:
    if isinstance(data, dict) and data.get("success") is True and isinstance(data.get("payload"), dict):
        return ToolAnswer(id_, data["payload"])
    if isinstance(data, dict) and data.get("success") is False:
        error = data.get("payload")
        return ToolAnswer(id_, None, error if isinstance(error, str) and error else "The page's tool failed.")
    return ToolAnswer(id_, None, "The page's answer is not one that MCP-B allows.")


def _read_response(message: dict[str, Any]) -> ToolAnswer:
    id_ = _id(message.get("id"))
    if "result" in message:
        return _read_result(id_, message["result"])
    jsonrpc.request_id(message)
    return ToolAnswer(id_, None, message["error"]["message"])


def _read_progress(id_: Any, params: dict[str, Any]) -> ToolProgress:
    value, total, text = params.get("progress"), params.get("total"), params.get("message")
    if not _is_number(value) or not (total is None or _is_number(total)) or not (text is None or isinstance(text, str)):
        raise MalformedMessage("progress and total must be numbers, and message a text.")
    return ToolProgress(_id(id_), value, total, None if text is None else plain(text))


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= jsonrpc.MAX_INTEGER
