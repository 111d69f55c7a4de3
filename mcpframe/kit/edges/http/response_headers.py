"""The headers of responses over Streamable HTTP: those of event streams, and CORS.

The SDK sets the headers of sessions, Starlette those of the body, and uvicorn the date (`http_settings` in
kit/web/serve.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

# Those of the SDK's server. `x-accel-buffering`: nginx would hold events back until it has several KB.
STREAM_HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


def with_cors(allowed_origins: Sequence[str]) -> list[Middleware]:
    """Return the middleware that lets web pages of these origins read answers."""
    if not allowed_origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(allowed_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["*"],
            expose_headers=["Mcp-Session-Id", "WWW-Authenticate", "Retry-After"],
        )
    ]
