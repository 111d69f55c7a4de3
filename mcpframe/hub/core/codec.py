"""Messages between hub and proxy as JSON text, in two forms: JSON-RPC (the seed's), and the extension's.

| message | JSON-RPC | extension |
|---|---|---|
| proxy to hub: the list of tools | `browser/registerTools`, `browser/updateTools` | `register-tools`, `tools-updated` |
| proxy to hub: result of a call | a response | `tool-result` |
| proxy to hub: progress of a call | `notifications/progress` | `tool-progress` |
| hub to proxy: a call | `browser/executeTool` | `execute-tool` |
| hub to proxy: a resource is read | `browser/readResource` | `read-resource` |
| hub to proxy: a call is cancelled | `notifications/cancelled` | `cancel-tool` |
| hub to proxy: list the tools again | `browser/requestToolsRefresh` | `request-tools-refresh` |

The hub answers a proxy in the form that the proxy uses. Progress, cancellation, resources (`resources` and
`resourceTemplates` beside the tools of a list, and reads) and the JSON-RPC form of the refresh are additions of
mcpframe, which other implementations ignore. A reader returns None for every other message: it is ignored.
Sources: MCP-B, "Message Formats" and "Transport Specifications"; for the extension's form the content script of MCP-B.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeGuard

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.outline import sketch
from mcpframe.frame.core.visible import plain
from mcpframe.hub.core import limits
from mcpframe.hub.core.messages import (
    CallCancelled,
    FromHub,
    FromProxy,
    Json,
    PageRequest,
    RefreshRequest,
    ResourceRead,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolProgress,
)

Form = Literal["json-rpc", "extension"]

LIMITS: Final = {"max_bytes": limits.HUB_MESSAGE_BYTES, "max_nesting": limits.HUB_MESSAGE_NESTING}
_CAPABILITIES = ("multiTabSupport", "cacheSupported", "elicitation")

_LISTS = {
    "browser/registerTools": True,
    "browser/updateTools": False,
    "register-tools": True,
    "tools-updated": False,
}
"""The messages with a list of tools, and whether it is the first one."""
_PROGRESS = "notifications/progress"
_CANCELLED = "notifications/cancelled"
_EXECUTE = "browser/executeTool"
_READ = "browser/readResource"
_REFRESH = "browser/requestToolsRefresh"


class ProxyCodec:
    """The hub's codec for one proxy, which is answered in the form of its last list of tools."""

    def __init__(self) -> None:
        self._form: Form = "json-rpc"

    def read(self, text: str) -> FromProxy | None:
        """Read a message of the proxy; None for one that is ignored.

        Raises:
            MessageError: It is not JSON, over a limit, malformed, or has forbidden content.
        """
        message = payload.parse(text, **LIMITS)
        kind, form = _kind(message) if isinstance(message, dict) else (None, self._form)
        if kind in _LISTS:
            read = proxy_message(message)
            self._form = form
            return read
        payload.check_content(text, message)  # one bad tool of a list is left out alone: see `tools.checked`
        return proxy_message(message)

    def write(self, message: FromHub) -> str:
        """Return a message for the proxy.

        Raises:
            MessageError: The arguments of a call cannot be encoded: see `encode`.
        """
        return encode(to_proxy(message, self._form))


def read_from_hub(text: str) -> FromHub | None:
    """Read a message of the hub, in the proxy; None for one that is ignored.

    Raises:
        MessageError: It is not JSON, over a limit, or has forbidden content.
    """
    return hub_message(payload.decode(text, **LIMITS))


def write_to_hub(message: FromProxy) -> str:
    """Return a message of a proxy for the hub."""
    return payload.encode(to_hub(message))


def encode(message: Any) -> str:
    """Return a value as JSON text within the limits.

    Raises:
        MessageError: It is not JSON, over a limit, or has forbidden content.
    """
    try:
        text = payload.encode(message, exact=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedMessage(str(error)) from None
    payload.check_text(text, **LIMITS)
    payload.check_content(text, message)
    return text


def id_of_answer(text: str) -> str | None:
    """Return the id of the call that an unreadable answer of a proxy belongs to; None for other messages."""
    members = sketch(text, ("id", "method", "requestId", "type"))
    if "method" in members or members.get("type", "tool-result") != "tool-result":
        return None
    id_ = members.get("requestId" if "type" in members else "id")
    return id_ if _is_id(id_) else None


def proxy_message(message: Any) -> FromProxy | None:
    """Read a message of a proxy.

    Args:
        message: A parsed JSON value.

    Returns:
        The message; None for one that the hub ignores.

    Raises:
        MalformedMessage: Its kind is known, but its content is invalid.
    """
    if not isinstance(message, dict):
        return None
    kind, form = _kind(message)
    if kind in _LISTS:
        return _read_list(kind, _params(message, form))
    if kind == "tool-result":
        data = message.get("data", message)
        return _read_result(_id(message.get("requestId")), data)
    if kind == "tool-progress":
        return progress_of(message.get("requestId"), message)
    if kind == _PROGRESS:
        params = _params(message, form)
        return progress_of(params.get("progressToken"), params)
    if form == "json-rpc" and kind is None and ("result" in message or "error" in message):
        return _read_response(message)
    return None


def hub_message(message: Any) -> FromHub | None:
    """Read a message of the hub, in the proxy.

    Args:
        message: A parsed JSON value.

    Returns:
        The message; None for one that a proxy ignores, or one without an id, or a tool's name or an address.
    """
    if not isinstance(message, dict):
        return None
    kind, form = _kind(message)
    if kind in ("execute-tool", _EXECUTE, "read-resource", _READ):
        params = _params(message, form)
        id_ = message.get("requestId" if form == "extension" else "id")
        is_call = kind in ("execute-tool", _EXECUTE)
        named, arguments, meta = params.get("toolName" if is_call else "uri"), params.get("args"), params.get("_meta")
        if not _is_id(id_) or not isinstance(named, str) or not named:
            return None
        wants = isinstance(meta, dict) and meta.get("progressToken") is not None
        if is_call:
            return ToolCall(id_, named, arguments if isinstance(arguments, dict) else {}, wants)
        return ResourceRead(id_, named, wants)
    if kind in ("cancel-tool", _CANCELLED):
        params = _params(message, form)
        id_, reason = params.get("requestId"), params.get("reason")
        return CallCancelled(id_, reason if isinstance(reason, str) else "") if _is_id(id_) else None
    return RefreshRequest() if kind in ("request-tools-refresh", _REFRESH) else None


def to_hub(message: FromProxy, form: Form = "json-rpc") -> dict[str, Any]:
    """Return a message of a proxy as JSON."""
    if isinstance(message, ToolList):
        params: dict[str, Any] = {"tools": list(message.tools)}
        if message.url is not None:
            params["tabUrl"] = message.url
        if message.resources:
            params["resources"] = list(message.resources)
        if message.templates:
            params["resourceTemplates"] = list(message.templates)
        if message.browser:
            params["capabilities"] = {"browser": dict.fromkeys(sorted(message.browser), True)}
        if form == "extension":
            return {"type": "register-tools" if message.first else "tools-updated", **params}
        return _notification("browser/registerTools" if message.first else "browser/updateTools", params)
    if isinstance(message, ToolAnswer):
        success = message.result is not None
        data = {"success": success, "payload": message.result if success else message.error}
        if form == "extension":
            return {"type": "tool-result", "requestId": message.id, "data": data}
        return {"jsonrpc": "2.0", "id": message.id, "result": data}
    params = {"progress": message.progress, "total": message.total, "message": message.message}
    params = {name: each for name, each in params.items() if each is not None}
    if form == "extension":
        return {"type": "tool-progress", "requestId": message.id, **params}
    return _notification(_PROGRESS, {"progressToken": message.id, **params})


def to_proxy(message: FromHub, form: Form = "json-rpc") -> dict[str, Any]:
    """Return a message of the hub as JSON."""
    if isinstance(message, ToolCall):
        called = {"toolName": message.tool, "args": dict(message.arguments)}
        return _request(message, called, {"extension": "execute-tool", "json-rpc": _EXECUTE}, form)
    if isinstance(message, ResourceRead):
        return _request(message, {"uri": message.uri}, {"extension": "read-resource", "json-rpc": _READ}, form)
    if isinstance(message, CallCancelled):
        params = {"requestId": message.id, "reason": message.reason}
        return {"type": "cancel-tool", **params} if form == "extension" else _notification(_CANCELLED, params)
    return {"type": "request-tools-refresh"} if form == "extension" else _notification(_REFRESH, {})


def capabilities_of(browser: Any) -> frozenset[str]:
    """Return the known `browser` capabilities of a page that are switched on."""
    on = browser if isinstance(browser, dict) else {}
    return frozenset(name for name in _CAPABILITIES if on.get(name) is True)


def _request(message: PageRequest, params: dict[str, Any], kinds: dict[Form, str], form: Form) -> dict[str, Any]:
    if message.progress:
        params["_meta"] = {"progressToken": message.id}
    if form == "extension":
        return {"type": kinds[form], "requestId": message.id, **params}
    return {"jsonrpc": "2.0", "id": message.id, "method": kinds[form], "params": params}


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
    return isinstance(value, str) and 0 < len(value) <= limits.CALL_ID_CHARACTERS


def _id(value: Any) -> str:
    if not _is_id(value):
        raise MalformedMessage("The id of a request must be a text.")
    return value


def _read_list(kind: str, params: dict[str, Any]) -> ToolList:
    tools, url, capabilities = params.get("tools"), params.get("tabUrl"), params.get("capabilities")
    if not isinstance(tools, list):
        raise MalformedMessage(f"{kind}: tools must be a list.")
    if url is not None and (not isinstance(url, str) or len(url) > limits.URL_CHARACTERS):
        raise MalformedMessage(f"{kind}: tabUrl must be a text of at most {limits.URL_CHARACTERS:,} characters.")
    browser = capabilities.get("browser") if isinstance(capabilities, dict) else None
    resources, templates = (
        each if isinstance(each, list) else () for each in (params.get("resources"), params.get("resourceTemplates"))
    )
    return ToolList(tools, _LISTS[kind], url, capabilities_of(browser), resources, templates)


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


def progress_of(id_: Any, params: Json) -> ToolProgress:
    """Read the parameters of a progress notification.

    Raises:
        MalformedMessage: They are invalid in MCP, or the id is not text.
    """
    value, total, text = params.get("progress"), params.get("total"), params.get("message")
    if not _is_number(value) or not (total is None or _is_number(total)) or not (text is None or isinstance(text, str)):
        raise MalformedMessage("progress and total must be numbers, and message a text.")
    return ToolProgress(_id(id_), value, total, None if text is None else plain(text))


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= jsonrpc.MAX_INTEGER
