"""Short names of messages on the wire, for the tables and diagrams of the dialects."""

from __future__ import annotations

from typing import Any

from mcpframe.frame.dialects.complete import complete_dialects


def named(message: Any, name: str) -> str:
    """Return the name of a message: its kind, or the method of a JSON-RPC message; `result` and `error` for answers."""
    (spoken,) = (each for each in complete_dialects() if each.name == name)
    codecs = [role.codec for role in (*spoken.inner.values(), *spoken.outer.values())]
    codec, kind = next((codec, kind) for codec in codecs if (kind := codec.kind(message)) is not None)
    body = message if codec.body is None and not codec.recodes else message.get(codec.body or "")
    if not isinstance(body, dict) or "jsonrpc" not in body:
        return kind
    return str(body.get("method") or ("error" if "error" in body else "result"))
