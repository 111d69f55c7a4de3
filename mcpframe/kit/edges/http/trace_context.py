"""Trace contexts (W3C) of HTTP: a request whose `_meta` has none gets that of its head.

The SDK's client writes `traceparent` and `tracestate` into `_meta`, and its server continues that trace: they pass as
all of `_meta` does. Balancers and libraries for HTTP write them into the head, which no page sees.

Source: W3C Trace Context, sections 3.2 and 3.3; MCP specification 2026-07-28, basic, "`_meta`", on these keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core.jsonrpc import is_request

_PARENT_KEY, _STATE_KEY = "traceparent", "tracestate"
_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_STATE = re.compile(r"[ -~]{1,512}")


def with_trace_context(message: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """Return a message with the trace context of its head; the message itself if it has one, or that is not valid."""
    parent = headers.get(_PARENT_KEY, "")
    params = message.get("params", {})
    meta = params.get("_meta", {}) if isinstance(params, dict) else None
    if not is_request(message) or not isinstance(meta, dict) or _PARENT_KEY in meta or not _PARENT.fullmatch(parent):
        return message
    context = {_PARENT_KEY: parent}
    state = headers.get(_STATE_KEY, "")
    if _STATE.fullmatch(state):
        context[_STATE_KEY] = state
    others = {key: value for key, value in meta.items() if key != _STATE_KEY}
    return {**message, "params": {**params, "_meta": {**others, **context}}}
