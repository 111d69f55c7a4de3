"""Routes each message of the server to an HTTP response: a frame has one stream for all requests, HTTP one for each.

- An answer belongs to its request, progress to the request with its token, a message of a subscription to its request.
- A request or log message that a server sends while it works on one request belongs to that request (2025-11-25,
  transports, "Listening for Messages"). If several are open, the newest is taken: the message does not say which.
- List changes and updated resources belong to no request (until 2025-11-25 they go to the client's GET stream).

Without I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core.jsonrpc import RequestId

SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"

_NOBODYS = (
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
)
_LONG = "subscriptions/listen"


@dataclass(frozen=True)
class Asked:
    """A request that waits for its answer.

    Attributes:
        id: its id for the server.
        method: its method.
        meta: its `_meta`.
    """

    id: RequestId
    method: str
    meta: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Asked:
        """Create the record of a request."""
        return cls(message["id"], message["method"], meta_of(message))


def meta_of(message: Mapping[str, Any], member: str = "params") -> Mapping[str, Any]:
    """Return the `_meta` of a message's parameters, or of its result; empty if there is none."""
    params = message.get(member)
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta if isinstance(meta, dict) else {}


def request_for(message: Mapping[str, Any], asked: Iterable[Asked]) -> RequestId | None:
    """Return the id of the request that a message of the server belongs to.

    Args:
        asked: the requests that wait for an answer, oldest first.

    Returns:
        The request's id; None if it belongs to no request.
    """
    method = message.get("method")
    if method is None:
        return message.get("id")
    waiting = list(asked)
    if method == "notifications/progress":
        token = message.get("params", {}).get("progressToken")
        if token is None:
            return None
        return next((each.id for each in waiting if each.meta.get("progressToken") == token), None)
    subscription = meta_of(message).get(SUBSCRIPTION_KEY)
    if subscription is not None:
        return next((each.id for each in waiting if each.id == subscription), None)
    if method in _NOBODYS:
        return None
    at_work = [each for each in waiting if each.method != _LONG]
    if method == "notifications/message":
        at_work = [each for each in at_work if LOG_LEVEL_KEY in each.meta] or at_work
    return at_work[-1].id if at_work else None
