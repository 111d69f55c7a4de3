"""Values and senders that are wrong in every dialect."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from mcpframe.frame.core.events import Inbound
from tests.support.fake_window import STRANGER

Record = Callable[[str, object], None]
"""Pytest's `record_property`: a test records under "lines" how many lines it holds."""

ODD: list[Any] = [7, -1, 1.5, True, None, "", "x" * 5000, [], [1], {}, {"a": {"b": []}}, "__proto__", "constructor"]
"""Values of every type, for members that should have another."""


def nested(levels: int) -> Any:
    """Return arrays inside each other."""
    value: Any = "deep"
    for _ in range(levels):
        value = [value]
    return value


PROTOTYPE_KEYS: list[Any] = [{"__proto__": {"polluted": 1}}, {"constructor": {"prototype": {"polluted": 1}}}]
POISON: list[Any] = [*PROTOTYPE_KEYS, nested(120)]
"""Values that no message may have anywhere in it."""

UNSPEAKABLE = {
    "a JSON text": "JSON.stringify({ type: 'MCP_MESSAGE', payload: { jsonrpc: '2.0', method: 'notifications/x' } })",
    "undefined": "undefined",
    "a bare list": "[{ type: 'MCP_MESSAGE' }]",
    "cyclic": "oddities.cyclic()",
    "a BigInt": "oddities.bigint()",
    "a Map": "oddities.map()",
    "a Map as message": "new Map([['type', 'MCP_MESSAGE']])",
    "a Set": "({ type: 'MCP_MESSAGE', payload: new Set() })",
    "a Date": "({ type: 'MCP_MESSAGE', payload: new Date() })",
    "an Error": "({ type: 'MCP_MESSAGE', payload: new Error('x') })",
    "bytes": "({ type: 'MCP_MESSAGE', payload: new Uint8Array(9) })",
    "a boxed text": "({ type: new String('MCP_MESSAGE'), payload: {} })",
    "not a number": "({ type: 'MCP_MESSAGE', payload: { jsonrpc: '2.0', id: NaN, method: 'ping' } })",
}
"""Expressions of JavaScript: no JSON object, which `postMessage` clones."""

UNCLONEABLE = {
    "a function": "({ type: 'MCP_MESSAGE', payload: () => 1 })",
    "a function inside": "({ type: 'MCP_MESSAGE', payload: { jsonrpc: '2.0', method: 'x', params: { f() {} } } })",
    "a symbol": "({ type: 'MCP_MESSAGE', payload: Symbol('x') })",
    "a node": "({ type: 'MCP_MESSAGE', payload: document.body })",
    "a proxy of a window": "({ type: 'MCP_MESSAGE', payload: parent })",
}
"""Expressions of JavaScript that `postMessage` throws for."""

LINKS: list[Any] = [
    *("javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\nscript:alert(1)"),
    *("\x01javascript:alert(1)", "file:///etc/passwd", "data:text/html,<script>alert(1)</script>", "vbscript:x"),
    *("blob:https://a.example/1", "about:blank", "chrome://settings", "view-source:https://a.example"),
    *("intent://x#Intent;end", "filesystem:https://a.example/x", "//a.example/", "/relative", "https:/\\a.example"),
    *("https://user:word@a.example/", "https://a.example/\r\nx", "https://", ""),
    *("https://a.example/" + "x" * 10_000, 7, None, ["https://a.example/"], {"href": "https://a.example/"}),
]
"""What a host opens for nobody."""


def unread() -> str:
    """Fail: the data of a stranger's message is not to be looked at."""
    raise AssertionError("a stranger's message was read")


def strangers(origin: str, host: str) -> list[tuple[str, bool]]:
    """Return the origin of each stranger, and whether it is in the peer's window.

    Args:
        origin: The peer's.
        host: That of the page itself.
    """
    others = [(each, False) for each in (origin, host, STRANGER, "null", "", "*")]
    return [*others, (STRANGER, True), ("null", True), ("", True)]


async def strangers_are_dropped(
    deliver: Callable[[Inbound], object],
    works: Callable[[], Awaitable[object]],
    *,
    origin: str,
    host: str,
    times: int = 100,
) -> int:
    """Let strangers post; nobody reads it, and a good call works. Return the number of lines.

    Args:
        deliver: Takes a message event.
        works: Makes the good call.
        origin: The peer's.
        host: That of the page itself.
    """
    lines = strangers(origin, host)
    for sender, from_peer in lines:
        for _ in range(100):
            deliver(Inbound(sender, from_peer, unread))
    await works()
    return len(lines)


def texts(messages: list[Any]) -> list[str]:
    """Return messages as JSON texts, for scripts."""
    return [json.dumps(message) for message in messages]
