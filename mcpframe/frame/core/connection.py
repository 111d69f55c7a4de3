"""One connection to one peer window, without I/O: inbound messages and time go in, sends and events come out.

A `Role` is a table: which message types the peer may send and how each is read, and for every state which trigger leads
where. The connection itself knows nothing of any dialect. It keeps what is the same in all of them:

- The gate, written once and in this order: source window → origin → shape → state. What fails the first two is
  dropped before it is read. Noise of other libraries is silent. Whatever else is refused becomes a `Refused` event, and
  leaves the state as it was.
- Pinning: the first valid expected message fixes the peer's exact origin. From then on it is the target of every
  message, and no other origin is heard.
- Limits and deadlines, as data: `Connection.deadline` says when `tick` wants to be called.

Sources: the SEP "postMessage Transport", "Security Implementation"; `events.py` has the vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.errors import (
    MalformedMessage,
    MessageError,
    SessionError,
    StateError,
    TooManyPending,
    UnexpectedMessage,
    UnexpectedOrigin,
)
from mcpframe.frame.core.events import (
    Closed,
    Departure,
    Inbound,
    Output,
    Received,
    Refused,
    Send,
    Unreadable,
    Unresponsive,
    Wire,
)
from mcpframe.frame.core.liveness import Alive
from mcpframe.frame.core.origins import ANY, OPAQUE, AllowedOrigins, parse_allowed_origins
from mcpframe.frame.core.outline import Outline, outline, outline_of
from mcpframe.frame.core.roles import Local, Message, Options, Role, Rule, State

__all__ = ["AllowedOrigins", "Connection", "Options", "State", "parse_allowed_origins"]


_OTHER_WINDOW = "It came from another window than the one that is talked to."
_OTHER_ORIGIN = "Pages of this origin are not heard."
_NOISE = "It is no message of this protocol."
_NOT_JSON = "It has no form in JSON."

_REPORTED_ORIGINS = 8
"""How many origins that are not allowed are reported at most; a page could be loaded from any number of them."""


class Connection:
    """The state of one connection, and the only way to change it.

    Every method that acts returns its outputs in order: `Send` for the window, events for the session.

    Attributes:
        role: the table it follows.
        state: where it stands.
        options: its deadlines and limits.
        session_id: the id of the session; given for an outer frame, learned by an inner one.
        origin: the pinned origin of the peer, None before.
        dropped: how many messages were dropped or ignored, by reason.
        watched: whether there is a `Wire` before the outputs of every message that is received, and for every one that
            is refused. What is sent is told by its `Send`.
    """

    def __init__(
        self,
        role: Role,
        allowed_origins: AllowedOrigins,
        *,
        options: Options | None = None,
        session_id: str = "",
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Make a connection, deaf until `start`.

        Args:
            role: the half of the dialect to play.
            allowed_origins: who may be the peer; for an outer frame the one origin it loads.
            options: deadlines and limits.
            session_id: for an outer frame: the id to give to the inner one.
            facts: what the role's own messages tell the peer, such as `requires_visible_setup`.
        """
        if role.side == "outer" and not session_id:
            raise StateError("An outer frame gives the session its id: pass session_id.")
        self.role = role
        self.state = State.IDLE
        self.options = options or Options()
        self.session_id = session_id
        self.origin: str | None = None
        self.facts = dict(facts or {})
        self.dropped: Counter[str] = Counter()
        self.watched = False
        self._allowed = allowed_origins
        self._refused_origins: set[str] = set()
        self._timers: dict[Local, float] = {}
        self._asked_by_peer = jsonrpc.Pending(self.options.max_pending)
        self._asked_by_us = jsonrpc.Pending(self.options.max_pending)
        self._alive = Alive(self.options.unresponsive_after if role.side == "outer" else None)

    # What the outside may ask for

    def start(self, now: float, *, called: bool = False) -> list[Output]:
        """Begin: an inner frame calls for its host, an outer one listens.

        Args:
            now: the time in seconds, of any monotonic clock.
            called: whether the opening was posted already, before this connection was made. It is not posted again
                here, but repeated with the next `tick`, unless a message that was waiting has answered it.

        Returns:
            The outputs.
        """
        outputs = self._local(Local.START, now=now)
        if not called:
            return outputs
        self.repeat_at(now)
        return [output for output in outputs if not isinstance(output, Send)]

    def receive(self, inbound: Inbound, now: float) -> list[Output]:
        """Take one message event through the gate.

        Args:
            inbound: the event.
            now: the time in seconds.

        Returns:
            The outputs; empty for whatever is dropped. Never raises for anything a page can post.
        """
        if self.state in (State.IDLE, State.CLOSED):
            return self._drop(self.state)
        origin = inbound.origin
        if not inbound.from_peer:
            return self._seen(self._drop("source"), None, origin, _OTHER_WINDOW)
        if not self._hears(origin):
            return self._seen(self._refuse_origin(origin), None, origin, _OTHER_ORIGIN)
        try:
            text = inbound.read()
        except Unreadable as unread:  # cyclic, a BigInt in it, endless: the sender may wait for it all the same
            return self._refuse(unread.error, outline(unread.outline, envelope=True), None, origin, now)
        except ValueError:
            return self._seen(self._drop("noise"), None, origin, _NOT_JSON)
        return self._take(text, origin, now)

    def send(self, text: str | MessageError, message: Mapping[str, Any], now: float) -> list[Output]:
        """Send one MCP message.

        One that cannot be sent fails for whoever waits for it: a request is answered with an error here and now, a
        response becomes an error response to the peer, a notification is a `Refused` event.

        Args:
            text: the message as JSON text, as it will cross; or why it has none.
            message: the same message as a JSON-RPC object, of which only the envelope is looked at.
            now: the time in seconds.

        Returns:
            The outputs.

        Raises:
            StateError: where the connection is not open.
        """
        outputs = self._local(Local.SEND, (text, message), now=now)
        if self._asked_by_us:
            self._alive.expect(now)
        return outputs

    def complete_setup(self, result: Any, now: float) -> list[Output]:
        """Inner frame: end the setup phase with a `SetupResult`. Raises `StateError` outside of it."""
        return self._local(Local.COMPLETE_SETUP, result, now=now)

    def require_setup(self, request: Any, now: float) -> list[Output]:
        """Inner frame: ask for the setup again, with a `SetupRequired`. Raises `StateError` where it is not open."""
        return self._local(Local.REQUIRE_SETUP, request, now=now)

    def peer_gone(self, departure: Departure, now: float) -> list[Output]:
        """Take note that the peer's document was replaced or its window removed."""
        if self.state is State.CLOSED:
            return []
        return self._local(Local.PEER_REPLACED if departure is Departure.REPLACED else Local.PEER_REMOVED, now=now)

    def close(self, now: float) -> list[Output]:
        """End the connection. What is pending fails; closing again does nothing."""
        return [] if self.state is State.CLOSED else self._local(Local.CLOSE, now=now)

    @property
    def deadline(self) -> float | None:
        """When to call `tick` next, in seconds of the same clock; None for never."""
        times = [*self._timers.values()]
        if self._alive.deadline is not None:
            times.append(self._alive.deadline)
        return min(times, default=None)

    def tick(self, now: float) -> list[Output]:
        """Let time pass. Calling it early, late or often does no harm."""
        outputs: list[Output] = []
        for local in sorted(self._timers, key=self._timers.__getitem__):
            if local in self._timers and self._timers[local] <= now:
                del self._timers[local]
                outputs += self._local(local, now=now)
        found = self._alive.tick(now, waits=bool(self._asked_by_us))
        if isinstance(found, Unresponsive):
            outputs.append(found)
        elif found is not None:
            outputs.append(self._say_text(self._wrap(payload.encode(found))))
        return outputs

    # What a role's actions are made of

    def say(self, message: Mapping[str, Any]) -> Send:
        """Return a message for the pinned peer."""
        return self._say_text(payload.encode(message))

    def call_out(self, message: Mapping[str, Any]) -> Send:
        """Return a handshake for whoever is there: the one message that goes to `*`, before the origin is known."""
        return Send(payload.encode(message), ANY)

    def pin(self, origin: str) -> None:
        """Fix the peer's origin for the rest of the connection."""
        self.origin = origin

    def repeat_at(self, time: float) -> None:
        """Ask for a `Local.REPEAT` at a time, in seconds; it is forgotten when the state is left."""
        self._timers[Local.REPEAT] = time

    def ignore(self, reason: str) -> list[Output]:
        """Count a message that is in order but changes nothing."""
        return self._drop(reason)

    def deliver(self, message: Mapping[str, Any]) -> list[Output]:
        """Hand a well-formed MCP message of the peer to the session."""
        if self._alive.is_answer(message):
            return []
        try:
            self._asked_by_peer.asked(message)
        except TooManyPending as error:
            return [Refused(error, self.origin), self._answer(message["id"], jsonrpc.INTERNAL_ERROR, error)]
        self._asked_by_us.answered(message)
        return [Received(message)]

    def transmit(self, text: str | MessageError, message: Mapping[str, Any]) -> list[Output]:
        """Send an MCP message in the role's envelope, or fail it for whoever waits for it (see `send`)."""
        wrapped = None if isinstance(text, MessageError) else self._wrap(text)
        try:
            if isinstance(text, MessageError) or wrapped is None:
                raise text  # type: ignore[misc]  # both or neither
            payload.check_text(wrapped, **self._limits)
            payload.check_content(text)
            if jsonrpc.is_request(message) and jsonrpc.usable_id(message["id"]) is None:
                raise MalformedMessage(f"The id {message['id']!r} would not come back as it is: take a smaller one.")
            self._asked_by_us.asked(message)
        except MessageError as error:
            seen: list[Output] = [Wire("sent", wrapped, self.origin or "", str(error))] if self.watched else []
            if jsonrpc.is_request(message):
                return [*seen, Received(jsonrpc.error_response(message["id"], jsonrpc.INTERNAL_ERROR, str(error)))]
            if "method" in message or message.get("id") is None:
                return [*seen, Refused(error, None)]
            self._asked_by_peer.answered(message)
            return [*seen, Refused(error, None), self._answer(message["id"], jsonrpc.INTERNAL_ERROR, error)]
        self._asked_by_peer.answered(message)
        return [self._say_text(wrapped)]

    def end(self, error: SessionError | None = None) -> list[Output]:
        """Return the last outputs: an error for each of our pending requests, then `Closed`."""
        reason = str(error or "The session was closed before the answer came.")
        failed: list[Output] = [
            Received(jsonrpc.error_response(id_, jsonrpc.CONNECTION_CLOSED, reason)) for id_ in self._asked_by_us
        ]
        self._asked_by_us = jsonrpc.Pending(self.options.max_pending)
        return [*failed, Closed(error)]

    # The machinery

    def _hears(self, origin: str) -> bool:
        return origin in self._allowed if self.origin is None else origin == self.origin

    def _take(self, text: str, origin: str, now: float) -> list[Output]:
        """Take what the allowed peer posted through the rest of the gate: shape, then state."""
        try:
            data = payload.parse(text, **self._limits)
        except MessageError as error:
            return self._refuse(error, outline(text, envelope=True), text, origin, now)
        kind = data.get("type") if isinstance(data, dict) else None
        if not isinstance(kind, str) or not kind.startswith(self.role.claims):
            return self._seen(self._drop("noise"), text, origin, _NOISE)
        try:
            payload.check_content(text, data)
            reader = self.role.readers.get(kind)
            if reader is None:
                raise UnexpectedMessage(
                    f"{kind[:64]!r} is no message that the peer of a frame in role {self.role.name!r} sends."
                )
            message = Message(kind, reader(data), origin, now)
            rule = self._rule_for(message)
            if rule is None:
                raise UnexpectedMessage(f"{message.trigger} does not belong here: the connection is {self.state}.")
        except MessageError as error:
            return self._refuse(error, outline_of(data, envelope=True), text, origin, now)
        spoken: list[Output] = [*self._alive.heard(now)] if kind == self.role.carries else []
        outputs = [*spoken, *self._follow(rule, message)]
        if spoken and self._asked_by_us:
            self._alive.expect(now)
        return self._seen(outputs, text, origin)

    def _refuse(self, error: MessageError, found: Outline, text: str | None, origin: str, now: float) -> list[Output]:
        """Refuse a message of the peer, so that nobody waits for what cannot come any more."""
        if not (found.type or "").startswith(self.role.claims):
            return self._seen(self._drop("noise"), text, origin, _NOISE)
        outputs: list[Output] = [Refused(error, origin)]
        if found.type == self.role.carries and self.state is State.OPEN:
            outputs += self._fail_who_waits(found, error)
        elif found.type == self.role.last:
            outputs += self._local(Local.LAST_REFUSED, error, now=now)
        return self._seen(outputs, text, origin)

    def _rule_for(self, message: Message) -> Rule | None:
        for rule in self.role.by_trigger.get((self.state, message.trigger), ()):
            if rule.guard is None or rule.guard(self, message):
                return rule
        return None

    def _follow(self, rule: Rule, message: Message) -> list[Output]:
        if rule.to is not self.state:
            self.state = rule.to
            self._timers.clear()
            self._alive.stop()
            patience = getattr(self.options, self.role.waits[rule.to]) if rule.to in self.role.waits else None
            if patience is not None:
                self._timers[Local.DEADLINE] = message.now + patience
        return list(rule.action(self, message)) if rule.action else []

    def _local(self, trigger: Local, body: Any = None, *, now: float) -> list[Output]:
        message = Message(trigger, body, now=now)
        rule = self._rule_for(message)
        if rule is not None:
            return self._follow(rule, message)
        if trigger in (Local.START, Local.SEND, Local.COMPLETE_SETUP, Local.REQUIRE_SETUP):
            raise StateError(f"Cannot {trigger} now: the {self.role.name} connection is {self.state}.")
        return []

    def _seen(self, outputs: list[Output], text: str | None, origin: str, refused: str | None = None) -> list[Output]:
        """Put the `Wire` of what was received before its outputs, where anybody watches."""
        if not self.watched:
            return outputs
        if refused is None:
            errors = (output.error for output in outputs if isinstance(output, Refused))
            refused = next(map(str, errors), None)
        return [Wire("received", text, origin, refused), *outputs]

    def _drop(self, reason: str) -> list[Output]:
        self.dropped[reason] += 1
        return []

    def _refuse_origin(self, origin: str) -> list[Output]:
        """Drop it; and tell the error hook once per origin, as a missing entry in the allow-list is a usual mistake."""
        self.dropped["origin"] += 1
        if origin in self._refused_origins or len(self._refused_origins) >= _REPORTED_ORIGINS:
            return []
        self._refused_origins.add(origin)
        allowed = self.origin or ", ".join(self._allowed)
        return [Refused(UnexpectedOrigin(f"A page of {origin} is not heard; allowed: {allowed}."), origin)]

    def _fail_who_waits(self, found: Outline, error: MessageError) -> list[Output]:
        """Answer a refused request with an error; fail the request of ours whose answer was refused."""
        if found.kind == "request":
            return [self._answer(jsonrpc.answerable_id(found.id), jsonrpc.INVALID_REQUEST, error)]
        id_ = jsonrpc.usable_id(found.id)
        if found.kind != "response" or id_ is None or id_ not in self._asked_by_us:
            return []
        failed = jsonrpc.error_response(id_, jsonrpc.INTERNAL_ERROR, f"The answer was refused: {error}")
        self._asked_by_us.answered(failed)
        return [Received(failed)]

    def _answer(self, id_: str | int | float | None, code: int, error: MessageError) -> Send:
        return self._say_text(self._wrap(payload.encode(jsonrpc.error_response(id_, code, str(error)))))

    def _wrap(self, text: str) -> str:
        return text.join(self.role.envelope)

    def _say_text(self, text: str) -> Send:
        if self.origin is None:
            raise StateError("Nothing is sent before the peer's origin is known.")
        return Send(text, ANY if self.origin == OPAQUE else self.origin)

    @property
    def _limits(self) -> dict[str, int]:
        return {"max_bytes": self.options.max_message_bytes, "max_nesting": self.options.max_nesting}
