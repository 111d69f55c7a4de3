"""The texts between a page and the worker in which its server runs: a line of JSON, then a message of MCP or nothing.

To the worker, after a line with the time of sending: `open` a client with experimental capabilities and its session, a
message that a client has `said`, `close` a client, `ask` whether the worker's event loop runs, `go` on with a request
that it asks about.
From it: `begun` before its Python starts, `ready`, a message that the server has `said`, the request that it `took`,
the request that it `asks` about, `alive`, it `fetches` a file by a synchronous request and has `fetched` it, a client
is `closed`, a `problem` for people. The code in the worker can post there, too: the page drops every other text.
"""

from __future__ import annotations

import json
import time
from typing import Any, Final

from mcpframe.frame.core.errors import MalformedMessage
from mcpframe.frame.core.jsonrpc import RequestId, request_id

STALE_SECONDS: Final = 0.05
"""The age of a request from which the worker asks whether it is still wanted: it has waited, and may be cancelled."""
REPLAY: Final = "mcpframe:replay/"
"""The beginning of the ids of requests that a client has sent to an earlier worker: no answer to them is awaited."""
_OF_WORKER: Final[dict[str, tuple[Any, ...]]] = {
    "begun": (),
    "ready": (dict,),
    "said": (int,),
    "took": (int, RequestId),
    "asks": (int, RequestId),
    "alive": (int,),
    "fetches": (),
    "fetched": (),
    "closed": (int,),
    "problem": (str, str),
}
"""The texts of a worker with a server: the types of their fields."""


def text_of(kind: str, *fields: Any, message: str = "") -> str:
    """Return a text for the other side.

    Args:
        kind: see above.
        fields: its fields: numbers, texts, or objects with a JSON form.
        message: the JSON text of a message of MCP.
    """
    return f"{json.dumps([kind, *fields])}\n{message}"


def read(text: str) -> tuple[str, list[Any], str]:
    """Return the kind, the fields, and the JSON text of the message. Raises ValueError for any other text."""
    head, _, message = text.partition("\n")
    parts = json.loads(head)
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        raise ValueError("no text of the port")
    kind, *fields = parts
    return kind, fields, message


def read_of_worker(text: str) -> tuple[str, list[Any], str, dict[str, Any]] | None:
    """Return what a worker with a server has posted, the message parsed, too; None for any other text."""
    try:
        kind, fields, message = read(text)
        types = _OF_WORKER[kind]
        body = json.loads(message) if kind == "said" else {}
        if kind == "said":
            request_id(body)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, MalformedMessage):
        return None
    is_whole = len(fields) == len(types) and all(map(isinstance, fields, types))
    return (kind, fields, message, body) if is_whole else None


def stamped(text: str) -> str:
    """Return a text to a worker, with the time of sending."""
    return f"{time.time()}\n{text}"


def age_of(text: str) -> tuple[float, str]:
    """Return how many seconds ago a text to a worker was sent, and the text."""
    sent, _, rest = text.partition("\n")
    return time.time() - float(sent), rest
