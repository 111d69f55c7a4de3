"""Messages of hostile views, hosts, proxies and servers of MCP Apps."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.values import nested

Json = dict[str, Any]

# To a host

INITIALIZE: Json = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "ui/initialize",
    "params": {
        "appInfo": {"name": "By hand", "version": "1"},
        "appCapabilities": {},
        "protocolVersion": "2026-01-26",
    },
}
INITIALIZED: Json = {"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}}


def opening(**members: Any) -> Json:
    return {**INITIALIZE, "params": {**INITIALIZE["params"], **members}}


BAD_OPENINGS: dict[str, Any] = {
    **{f"id {value!r}": {**INITIALIZE, "id": value} for value in (None, 1.5, True, [], {})},
    "no id": {key: value for key, value in INITIALIZE.items() if key != "id"},
    **{f"jsonrpc {value!r}": {**INITIALIZE, "jsonrpc": value} for value in ("1.0", 2, None)},
    **{f"params {value!r}": {**INITIALIZE, "params": value} for value in (7, "x", [], None)},
    **{
        f"{member} {value!r}": opening(**{member: value})
        for member in ("appInfo", "appCapabilities")
        for value in (7, "x", [1], True)
    },
    **{f"protocolVersion {value!r}": opening(protocolVersion=value) for value in (7, [], {}, True)},
    "too deep": opening(more=nested(200)),
    "__proto__": opening(appInfo={"__proto__": {"polluted": True}}),
    "an answer nobody asked for": {"jsonrpc": "2.0", "id": 1, "result": {}},
    "a notification too early": {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info"}},
    "initialized before the request": INITIALIZED,
    "a size too early": {"jsonrpc": "2.0", "method": "ui/notifications/size-changed", "params": {"height": 9}},
    "a link too early": {"jsonrpc": "2.0", "id": 1, "method": "ui/open-link", "params": {"url": "https://a.example/"}},
    "the proxy's message": {"jsonrpc": "2.0", "method": "ui/notifications/sandbox-proxy-ready", "params": {}},
    "the proxy's other message": {
        "jsonrpc": "2.0",
        "method": "ui/notifications/sandbox-resource-ready",
        "params": {"html": "<h1>mine"},
    },
    "a list": [INITIALIZE],
    "a text": "hello",
    "null": None,
}


TEXT = {"type": "text", "text": "x"}
REFUSED: list[tuple[str, Json]] = [
    *(("ui/open-link", {"url": url}) for url in ("javascript:alert(1)", "file:///a", "data:,", 7, None)),
    ("ui/open-link", {}),
    *(("ui/message", {"role": role, "content": [TEXT]}) for role in ("assistant", "system", None, 7)),
    *(("ui/message", {"role": "user", "content": content}) for content in ("a", None, 7, [7], [{}], [{"type": "x"}])),
    ("ui/message", {"role": "user", "content": [{"type": "text"}]}),
    *(("ui/download-file", {"contents": contents}) for contents in ([], None, [TEXT], [{"type": "resource"}])),
    ("ui/download-file", {"contents": [{"type": "resource", "resource": {"uri": "file:///a"}}]}),
    ("ui/download-file", {"contents": [{"type": "resource", "resource": {"uri": "file:///a", "blob": "?"}}]}),
    ("ui/download-file", {"contents": [{"type": "resource_link", "uri": "javascript:alert(1)", "name": "a"}]}),
    *(("ui/update-model-context", {"structuredContent": value}) for value in ([], "a", 7)),
    ("ui/update-model-context", {"content": "a"}),
    ("ui/request-display-mode", {}),
    *(("tools/call", {"name": name}) for name in (None, 7, "erase", "nothing", "__proto__")),
    ("tools/call", {"name": "plain", "arguments": []}),
    ("tools/call", {"name": "ERASE", "arguments": {}}),
    ("tools/call", {"name": ["erase"], "arguments": {}}),
    ("tools/call", {"name": "constructor"}),
    ("tools/call", {}),
    ("tools/list", {"cursor": 7}),
    ("resources/list", {"cursor": 7}),
    ("resources/read", {}),
    ("resources/read", {"uri": 7}),
    ("ui/message", {"role": "user"}),
    ("ui/request-display-mode", {"mode": 7}),
]
"""Requests with parameters that cannot be: -32602, and no function of the host is called."""

UNKNOWN = [
    *("no/such", "ui/initialise", "ui/of-tomorrow", "initialize", "prompts/get", "logging/setLevel", "__proto__"),
    *("constructor", "toString", "", "elicitation/create", "resources/subscribe"),
    "ui/notifications/sandbox-resource-ready",
]
"""Methods that no host has for a view: -32601."""

ODD_REQUESTS: list[tuple[str, Any]] = [
    ("tools/call", {"name": "forecast", "arguments": [1]}),
    ("tools/call", {"name": "forecast", "arguments": {"__proto__": {"place": "x"}}}),
    ("resources/read", {"uri": "file:///etc/passwd"}),
    ("resources/read", {"uri": "ui://another/server"}),
    ("ui/download-file", {"contents": [{"type": "resource_link", "uri": "file:///etc/passwd", "name": "x"}]}),
    ("ui/download-file", {}),
    ("sampling/createMessage", None),
]
"""Requests that fail in some way."""

SIZES: list[Any] = [
    {"height": -5},
    {"height": "900"},
    {"height": None},
    {"height": True},
    {"height": [900]},
    {"height": 1e308, "width": 1e308},
    {"height": 10**15},
    {"width": 0},
    {"height": {"toString": "x"}},
    {},
    [],
    None,
    7,
]


# To a view

ID = "mcpframe/initialize"
CHANGED = "ui/notifications/host-context-changed"
RESULT: Json = {
    "protocolVersion": "2026-01-26",
    "hostInfo": {"name": "A host", "version": "1"},
    "hostCapabilities": {"openLinks": {}},
    "hostContext": {"theme": "dark"},
}
GOOD: Json = {"jsonrpc": "2.0", "id": ID, "result": RESULT}
FORGED: list[Json] = [
    GOOD,
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"forged": True}}},
    {"jsonrpc": "2.0", "id": "x", "method": "ui/resource-teardown", "params": {}},
    {"jsonrpc": "2.0", "method": "ui/notifications/host-context-changed", "params": {"theme": "forged"}},
]


def answer(**members: Any) -> Json:
    return {**GOOD, **members}


def answer_without(*members: str) -> Json:
    return {name: value for name, value in GOOD.items() if name not in members}


DAMAGED: dict[str, Any] = {
    "no jsonrpc": answer_without("jsonrpc"),
    **{f"jsonrpc {value!r}": answer(jsonrpc=value) for value in ("1.0", 2.0, None, [], {})},
    "no id": answer_without("id"),
    **{f"id {value!r}": answer(id=value) for value in (None, 0, 1.5, True, [], {}, "", "mcpframe/1", [ID])},
    "no result": answer_without("result"),
    **{f"result {value!r}": answer(result=value) for value in (None, 7, "x", [], True, [RESULT])},
    "a result and an error": answer(error={"code": -1, "message": "x"}),
    **{
        f"error {value!r}": {**answer_without("result"), "error": value}
        for value in (None, 7, "x", [], {}, {"code": "x", "message": "y"}, {"code": 1}, {"code": 1, "message": 2})
    },
    **{
        f"protocolVersion {value!r}": answer(result={**RESULT, "protocolVersion": value}) for value in (7, [], {}, True)
    },
    **{
        f"{member} {value!r}": answer(result={**RESULT, member: value})
        for member in ("hostInfo", "hostCapabilities", "hostContext")
        for value in (7, "x", [], True)
    },
    "too deep": answer(result={**RESULT, "more": nested(200)}),
    "too deep at the top": answer(more=nested(200)),
    "a request of that id": {"jsonrpc": "2.0", "id": ID, "method": "ui/initialize", "params": {}},
    "a list": [GOOD],
    "a text": "ui/initialize",
    "null": None,
}
ODD_CONTEXTS: dict[str, Json] = {
    **{
        f"{member} {value!r}": {member: value}
        for member in (
            "theme",
            "styles",
            "displayMode",
            "availableDisplayModes",
            "containerDimensions",
            "locale",
            "timeZone",
            "platform",
            "deviceCapabilities",
            "safeAreaInsets",
            "toolInfo",
        )
        for value in (None, 7, "</style><script>", [{}], {"__proto__": {"polluted": True}}, {"top": "1px", "id": {}})
    },
    "variables that break out": {
        "styles": {
            "variables": {
                "--a": "red} html{display:none",
                "--b": "url(http://stranger.localhost/)",
                "color": "red",
                "__proto__": "x",
                "--": "x",
                "--c": None,
                "--d d": "x",
            }
        }
    },
    "fonts that break out": {"styles": {"css": {"fonts": "</style><script>document.title='broken'</script>}}}}"}}},
    "fonts that fetch": {"styles": {"css": {"fonts": "@import url(http://stranger.localhost/x.css);"}}},
    "constructor": {"constructor": {"prototype": {"polluted": True}}, "toString": 1, "hasOwnProperty": 2},
    "infinite": {"containerDimensions": {"width": 1e308, "height": -1e308}, "safeAreaInsets": {"top": 1e308}},
}


EARLY: list[Json] = [
    {"jsonrpc": "2.0", "id": "early", "method": "tools/call", "params": {"name": "add", "arguments": {}}},
    {"jsonrpc": "2.0", "id": "gone", "method": "ui/resource-teardown", "params": {"reason": "early"}},
    {"jsonrpc": "2.0", "method": CHANGED, "params": {"theme": "light"}},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": {"content": []}},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"early": 1}}},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": {"early": 2}}},
]
TWICE: list[Json] = [
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": {"content": [{"type": "text"}]}},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-result", "params": {"content": "no list"}},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {"arguments": [1]}},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": {}},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": None},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-input", "params": [], "id": 5},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-cancelled", "params": {"reason": {"a": 1}}},
    {"jsonrpc": "2.0", "method": "ui/notifications/tool-of-tomorrow", "params": {}},
    {"jsonrpc": "2.0", "method": "ui/notifications/of-tomorrow"},
    {"jsonrpc": "2.0", "method": "ui/initialize", "id": "yours", "params": {}},
    {"jsonrpc": "2.0", "method": "ui/notifications/initialized", "params": {}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody's"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "mcpframe/1"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": [], "progress": "x"}},
    {"jsonrpc": "2.0", "id": "nobody's", "result": {}},
    {"jsonrpc": "2.0", "id": "mcpframe/1", "error": {"code": -32601, "message": "nobody asked"}},
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x"}},
]
TEXTS: list[str] = [
    "",
    "x",
    "{",
    "[]",
    "null",
    "7",
    '{"jsonrpc":"2.0","id":9,"method":"tools/list"',
    '{"jsonrpc":"2.0","id":9,"method":"tools/list","id":10,"params":{"__proto__":{}}}',
    "[" * 100_000,
    '{"jsonrpc":"2.0","method":"x","params":{"a":' + "[" * 5000 + "]" * 5000 + "}}",
    '{"jsonrpc":"2.0","method":"x","params":{"a":1e999,"b":NaN}}',
    json.dumps(json.dumps(GOOD)),
    "\ud800",
]
