"""Route messages to several clients of one window, without I/O and without a dialect.

Clients of MCP-B have no session id, and do not announce that they leave. The rules:

- `initialize` begins a new client. Requests that carry their revision (2026-07-28 and later), and `server/discover`,
  need no session, so one client stands for all senders of those; for a sender with an id that is pending there, a
  further one.
- An answer to a request of ours, and its progress, belong to the client that was asked: the ids of requests to all
  clients but the first are made unique. A cancellation belongs to the client whose request it names. Several clients
  may use the same ids: if requests of two have that id, nothing is cancelled.
- Any other message belongs to the client whose last request id it follows, as clients number their requests in order;
  otherwise to the newest one. If all have a pending request with its id, it is refused.

All clients receive every answer, as they share one window; each ignores answers to ids that it did not use.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcpframe.frame.core.jsonrpc import (
    CONNECTION_CLOSED,
    answered_as,
    asked_as,
    id_in_use,
    progress_token,
    usable_id,
)

Json = Mapping[str, Any]

_REVISION = "io.modelcontextprotocol/protocolVersion"
"""In `_meta` of a request that needs no session (MCP specification 2026-07-28)."""
_DISCOVER = "server/discover"
_LEFT = {
    "code": CONNECTION_CLOSED,
    "message": "The page was left before it answered.",
    "data": {"navigationInterrupted": True},
}
"""The data is named as by npm's transports up to version 4."""
_MOST_MISSING = 8
"""The largest gap in a client's ids: requests may have been rejected, or cancelled unread."""
_INTRODUCTIONS = ("initialize", _DISCOVER)
"""The requests that are answered with the server's capabilities."""


@dataclass(eq=False)
class PageClient:
    """One client.

    Attributes:
        number: its number, from 1.
        stateless: whether its requests carry their revision.
        pending: the methods of its requests that have no answer yet, by id.
        last: the id of its last request.
        interrupted: the ids of its requests that were answered with an error before the page was left.
    """

    number: int
    stateless: bool = False
    pending: dict[Any, str] = field(default_factory=dict)
    last: Any = None
    interrupted: set[Any] = field(default_factory=set)


class Routes:
    """The clients behind one window.

    Attributes:
        clients: the clients that are served, the newest last.
    """

    def __init__(self, most: int, capabilities: Json | None = None) -> None:
        """Start without clients.

        Args:
            most: the most clients with a session that are served at once. A further one replaces the oldest, preferably
                one without pending requests. With 1, requests without a session are that client's.
            capabilities: capabilities beyond those of MCP, sent to each client.
        """
        self.clients: list[PageClient] = []
        self._most = most
        self._capabilities = capabilities or {}
        self._number = 0
        self._asked: dict[Any, tuple[PageClient, Any]] = {}
        self._tokens: dict[Any, tuple[PageClient, Any]] = {}

    def inbound(self, message: Json) -> tuple[PageClient, Json] | None:
        """Return the client of a message, and the message with that client's own ids; None if it belongs to no client.

        A client that is not in `clients` yet is added.

        Args:
            message: a JSON-RPC message of the peer.

        Raises:
            UnexpectedMessage: for a request with an id that is in use.
        """
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            return self._answered(message)
        if method == "notifications/progress" and (asked := self._tokens.get(usable_id(params.get("progressToken")))):
            client, token = asked
            return client, answered_as(message, lambda _: token)
        if method == "notifications/cancelled":
            id_ = usable_id(params.get("requestId"))
            owners = [each for each in self.clients if id_ in each.pending]
            if len(owners) != 1:
                return None
            owner = owners[0]
            del owner.pending[id_]
            return owner, message
        client = self._client_for(str(method), params, message.get("id"))
        if "id" in message:
            client.interrupted.discard(message["id"])
            client.pending[message["id"]] = str(method)
            client.last = message["id"]
        return client, message

    def outbound(self, client: PageClient, message: Json) -> Json | None:
        """Return a message of a client's session as it is posted; None for an answer that `interrupt` has replaced.

        Args:
            client: the client.
            message: a JSON-RPC message.
        """
        method = message.get("method")
        if method is None:
            if message.get("id") in client.interrupted:
                client.interrupted.remove(message["id"])
                return None
            answered = client.pending.pop(message.get("id"), None)
            return self._introduced(message) if answered in _INTRODUCTIONS else message
        if "id" in message:
            return self._asking(client, message)
        params = message.get("params") or {}
        if method == "notifications/cancelled":
            wire = next((id_ for id_, asked in self._asked.items() if asked == (client, params.get("requestId"))), None)
            return message if wire is None else asked_as(message, lambda _: wire)
        return message

    def interrupt(self) -> list[Json]:
        """Return errors for all unanswered requests, newest first; their later answers are dropped."""
        errors: list[Json] = []
        for client in self.clients:
            errors += ({"jsonrpc": "2.0", "id": id_, "error": _LEFT} for id_ in client.pending)
            client.interrupted |= client.pending.keys()
            client.pending.clear()
        return errors[::-1]

    def gone(self, client: PageClient) -> None:
        """Forget a client whose session is over."""
        if client in self.clients:
            self.clients.remove(client)
        for table in (self._asked, self._tokens):
            for key in [key for key, (asked, _) in table.items() if asked is client]:
                del table[key]

    @property
    def surplus(self) -> PageClient | None:
        """The client to end if there are too many; None otherwise."""
        held = [client for client in self.clients if not client.stateless]
        if len(held) <= self._most:
            return None
        return next((client for client in held[:-1] if not client.pending), held[0])

    def _client_for(self, method: str, params: Json, id_: Any) -> PageClient:
        meta = params.get("_meta")
        if method == "initialize":
            return self._add()
        if self._most > 1 and (method == _DISCOVER or (isinstance(meta, Mapping) and _REVISION in meta)):
            others = [each for each in self.clients if each.stateless]
            known = next((each for each in others if id_ not in each.pending), None)
            if known is None and len(others) >= self._most:
                raise id_in_use(id_)
            return known or self._add(stateless=True)
        held = [each for each in self.clients[::-1] if not each.stateless]
        free = [each for each in held if id_ not in each.pending]
        if held and not free:
            raise id_in_use(id_)
        closest = min(free, key=lambda each: _distance(id_, each.last), default=None)  # the newest of equals
        return closest or self._add()

    def _add(self, *, stateless: bool = False) -> PageClient:
        self._number += 1
        client = PageClient(self._number, stateless)
        self.clients.append(client)
        return client

    def _answered(self, message: Json) -> tuple[PageClient, Json] | None:
        asked = self._asked.pop(message.get("id"), None)
        if asked is None:
            return None
        client, id_ = asked
        self._tokens = {token: of for token, of in self._tokens.items() if of != asked}
        return client, answered_as(message, lambda _: id_)

    def _introduced(self, answer: Json) -> Json:
        """Add the capabilities that the SDK's model lacks."""
        result = answer.get("result")
        if not self._capabilities or not isinstance(result, Mapping):
            return answer
        capabilities = {**(result.get("capabilities") or {}), **self._capabilities}
        return {**answer, "result": {**result, "capabilities": capabilities}}

    def _asking(self, client: PageClient, message: Json) -> Json:
        def wire(id_: Any) -> Any:
            return id_ if client.number == 1 else f"{client.number}/{id_}"

        id_, token = message["id"], progress_token(message)
        self._asked[wire(id_)] = (client, id_)
        if token is not None:
            self._tokens[wire(token)] = (client, token)
        return message if client.number == 1 else asked_as(message, wire)


def _distance(id_: Any, last: Any) -> float:
    """Return the gap between a client's last id and this one; infinity if the client cannot use this one next."""
    if type(id_) is not int or type(last) is not int or not 1 <= id_ - last <= 1 + _MOST_MISSING:
        return math.inf
    return id_ - last
