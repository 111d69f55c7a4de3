"""One message of the wire log: its kind and title, read from its text as far as that is fast and safe."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from mcpframe import errors
from mcpframe.hosts import visible
from mcpframe.wire import WireMessage, body_text, check_text, read_wire

SENT: Final = "→"
RECEIVED: Final = "←"

KINDS: Final = {
    "request": "Requests",
    "response": "Responses",
    "error": "Errors",
    "notification": "Notifications",
    "handshake": "Handshake and setup",
    "refused": "Refused",
}
"""The kinds of messages, and their visible names."""

PEERS: Final = {"server": "Server", "view": "View", "page": "UI resource"}
"""The other ends, and their visible names."""

_TOLD: Final = (
    *("name", "uri", "level", "progress", "reason"),
    *("toolName", "intent", "prompt", "message", "url", "requestType"),
)
"""The members of a message's params for the list."""

_PARSED: Final = 256 * 1024
"""Characters of the longest text that is parsed; of a longer one, only both ends are read."""

_MOST_NESTING: Final = 1000
_METHOD: Final = re.compile(r'"method":"([^"\\]{1,200})"')
_ID: Final = r'"id":(?P<id>\d{1,16}|"(?:[^"\\]|\\.){0,256}")'
_HEAD: Final = re.compile(r'\{(?:"jsonrpc":"2\.0",)?(?:' + _ID + r',)?"(?P<member>method|params|result|error)":')
_TAIL: Final = re.compile(r'"jsonrpc":"2\.0",' + _ID + r"\}\Z")


@dataclass(slots=True)
class Entry:
    """One message in the log.

    Attributes:
        number: counts the messages, from 1.
        time: its time, in seconds since the epoch.
        direction: `SENT` or `RECEIVED`.
        origin: the origin of its sender or receiver.
        kind: one of `KINDS`.
        title: its method, or that of the request it answers; of a handshake its kind in the dialect.
        note: further details for the list: the tool, the resource, the message of an error.
        text: its JSON text; None if there is none, or it is too long to be kept.
        size: its bytes in UTF-8.
        refused: the reason if it was rejected.
        id: of a request or an answer, its id as JSON.
        partner: for an answer the number of its request, for a request that of its answer.
        took: for an answer, the seconds since its request.
        count: the number of such messages; those of one origin that are rejected unread share one entry.
        step: of a message by which a session begins, the visible name of this step; empty otherwise.
        peer: the other end: one of `PEERS`.
        dialect: its dialect; empty if it was not read, or has none.
    """

    number: int
    time: float
    direction: str
    origin: str
    kind: str
    title: str
    note: str = ""
    text: str | None = None
    size: int = 0
    refused: str | None = None
    id: str = ""
    partner: int | None = None
    took: float | None = None
    count: int = 1
    step: str = ""
    peer: str = "server"
    dialect: str = ""

    @property
    def value(self) -> Any:
        """The parsed text. Raises ValueError if there is none, or it is nested too deeply."""
        if self.text is None:
            raise ValueError("there is no text")
        return parse(self.text)


def _look_at(text: str, spoken: str) -> tuple[Any, WireMessage | None, dict[str, Any] | None]:
    """Return the parsed text, its kind of message, and the JSON-RPC in it; of a long text only its JSON-RPC's ends."""
    if len(text) > _PARSED and (body := _outline(text)):
        return None, None, body
    try:
        message = parse(text)
    except ValueError:
        return None, None, None
    wire = read_wire(message, spoken)
    return message, wire, wire.body if wire else None


def _outline(text: str) -> dict[str, Any] | None:
    inside = body_text(text) or text  # in some dialects the text is the JSON-RPC itself
    head, tail, method = _HEAD.match(inside[:1024]), _TAIL.search(inside[-1024:]), _METHOD.search(inside[:256])
    if not head or not (head["id"] or tail):
        return None
    id_ = json.loads(head["id"] or (tail["id"] if tail else ""))
    if head["member"] in ("result", "error"):
        return {"id": id_}
    return {"id": id_, "method": method[1]} if method else None


def describe(entry: Entry, text: str, spoken: str = "") -> Any:
    """Fill in an entry's description of a message, and return its parsed text; None if it is too long to be parsed.

    Args:
        spoken: the dialect of its session, where it is known.
    """
    message, wire, body = _look_at(text, spoken)
    entry.dialect = wire.dialect if wire else ""
    entry.step = wire.step if wire else ""
    if body is None:
        entry.kind, entry.title = "handshake", shown(wire.kind) if wire else "Unknown"
        return message
    if isinstance(body.get("id"), str | int):
        entry.id = json.dumps(body["id"])
    method = body.get("method")
    if isinstance(method, str):
        # The dialect's own name: in mcp-ui, an acknowledgement is shown instead of progress.
        name = wire.kind if wire and wire.dialect == "mcp_ui" else method
        entry.kind, entry.title = "request" if entry.id else "notification", shown(name)
        entry.note = _note(body.get("params"))
    elif isinstance(body.get("error"), dict):
        error = body["error"]
        entry.kind, entry.title = "error", "Error"
        entry.note = shown(f"{error.get('code')}: {error.get('message')}")
    else:
        entry.kind, entry.title = "response", "Response"
    return message


def _note(params: Any) -> str:
    if not isinstance(params, dict):
        return ""
    for name in _TOLD:
        value = params.get(name)
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            return shown(str(value))
    return ""


def parse(text: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is not JSON, or nested so deeply that parsing it would crash Python in a page.
    """
    try:
        check_text(text, max_bytes=len(text) * 4, max_nesting=_MOST_NESTING)
        return json.loads(text)
    except (errors.MessageError, RecursionError) as error:
        raise ValueError(str(error)) from None


def shown(text: str) -> str:
    """Return a text that can be shown in a page: without invisible characters, and cut to a readable length."""
    return visible(text if len(text) <= 300 else text[:299] + "…")
