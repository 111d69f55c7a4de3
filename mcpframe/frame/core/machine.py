"""One role in action: its state, its timers, the peer's origin and the pending requests.

The gate in front of it is in `connection.py`. Here a message has passed source and origin, and its kind is known; its
shape and whether the state accepts it are checked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.core import payload, refusal
from mcpframe.frame.core.allowed_origins import ANY, OPAQUE, AllowedOrigins
from mcpframe.frame.core.errors import HandshakeRefused, MessageError, SessionError, StateError, UnexpectedMessage
from mcpframe.frame.core.events import Closed, Output, Port, Refused, Send
from mcpframe.frame.core.exchange import Exchange
from mcpframe.frame.core.outline import Outline
from mcpframe.frame.core.roles import Local, Message, Options, Role, Rule, State

_BRISK = 30.0
"""Seconds for which an inner frame repeats its handshake at `repeat_interval`: a later host is asking its user."""
_SLOW_BEAT = 10.0
"""Seconds between two handshakes after that."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A role that a connection may adopt.

    Attributes:
        role: the half of a dialect.
        allowed_origins: the allowed origins of the peer; for an outer frame the one origin it loads.
        offer: the content of the role's own messages, of the class `Role.offers`; None for its defaults.
        target: the origin that a handshake is posted to; `"*"` while the peer is unknown.
    """

    role: Role
    allowed_origins: AllowedOrigins
    offer: Any = None
    target: str = ANY


class Machine:
    """The state of one role: the `Actor` that its actions use.

    Attributes:
        role: the table it follows.
        allowed: the allowed origins of the peer.
        offer: the content of the role's own messages.
        options: its deadlines and limits.
        state: its state.
        session_id: the id of the session; None before the handshake, and in dialects without ids.
        origin: the peer's origin; None until it is pinned.
        repeats: how often `repeat_at` was called.
        port: the port of the message that is handled; once past the opening, the peer's. None for the window.
        exchange: the pending requests.
    """

    def __init__(self, candidate: Candidate, options: Options, dropped: Counter[str]) -> None:
        """Begin in the first state.

        Args:
            candidate: the role, its allowed origins and its offer.
            options: deadlines and limits.
            dropped: counts ignored messages, by reason.

        Raises:
            StateError: if the role requires an offer.
            TypeError: for an offer of another role.
        """
        self.role = candidate.role
        self.allowed = candidate.allowed_origins
        self.offer = _offer_of(candidate)
        self._target = candidate.target
        self.options = options
        self.state = State.IDLE
        self.session_id: str | None = None
        self.origin: str | None = None
        self.repeats = 0
        self.port: Port | None = None
        asks = self.role.side == "outer"
        self.exchange = Exchange(self.role.codec, options, self._post, asks=asks, shared=self.role.shared)
        self._dropped = dropped
        self._timers: dict[Local, float] = {}
        self._entered = 0.0

    # For actions: see `roles.Actor`

    def say(self, message: Mapping[str, Any]) -> Send:
        return self._post(payload.encode(message))

    def call_out(self, message: Mapping[str, Any]) -> Send:
        return Send(payload.encode(message), self._target)

    def pin(self, origin: str, session_id: str | None = None) -> None:
        self.origin, self.session_id = origin, session_id

    def repeat_at(self, time: float) -> None:
        self.repeats += 1
        self._timers[Local.REPEAT] = time

    def repeat_call(self, now: float, times: float = 1) -> None:
        interval = self.options.repeat_interval * times
        self.repeat_at(now + (interval if now - self._entered < _BRISK else max(interval, _SLOW_BEAT)))

    def ignore(self, reason: str) -> list[Output]:
        self._dropped[reason] += 1
        return []

    def owes(self, request: Mapping[str, Any]) -> bool:
        return self.exchange.owes(request)

    def deliver(self, message: Mapping[str, Any]) -> list[Output]:
        return self.exchange.deliver(message, self.origin)

    def transmit(self, text: str | MessageError, message: Mapping[str, Any]) -> list[Output]:
        return self.exchange.transmit(text, message, self.origin)

    def end(self, error: SessionError | None = None) -> list[Output]:
        reason = str(error or "The session was closed before the answer came.")
        return [*self.exchange.end(reason), Closed(error)]

    # For the connection

    @property
    def past_opening(self) -> bool:
        """Whether the peer has taken it past its opening state, and it has not ended."""
        return self.state not in (State.IDLE, self.role.opening, State.CLOSED)

    @property
    def deadline(self) -> float | None:
        """The time to call `tick` next, in seconds; None for never."""
        times = [*self._timers.values()]
        if self.exchange.deadline is not None:
            times.append(self.exchange.deadline)
        return min(times, default=None)

    def tick(self, now: float) -> list[Output]:
        """Act on passed deadlines."""
        outputs: list[Output] = []
        for local in sorted(self._timers, key=self._timers.__getitem__):
            if local in self._timers and self._timers[local] <= now:
                del self._timers[local]
                outputs += self.happen(local, now=now)
        return [*outputs, *self.exchange.tick(now)]

    def hears(self, origin: str) -> bool:
        """Return whether a message of this origin is accepted: once an origin is pinned, only that one."""
        return origin in self.allowed if self.origin is None else origin == self.origin

    def takes(self, kind: str | None) -> bool:
        """Return whether the state has a rule for this kind of message."""
        return (self.state, kind) in self.role.by_trigger

    def hear(self, kind: str, data: Mapping[str, Any], text: str, origin: str, now: float) -> list[Output]:
        """Check the shape of an allowed peer's message, then follow its rule. A rejected message changes nothing."""
        try:
            if self.role.checks_content:
                payload.check_content(text, data)
            reader = self.role.readers.get(kind)
            if reader is None:
                raise UnexpectedMessage(
                    f"{kind[:64]!r} is not a message that the peer of a frame in role {self.role.name!r} sends."
                )
            message = Message(kind, reader(data), origin, now)
            rule = self._rule_for(message)
            if rule is None:
                raise UnexpectedMessage(f"{message.trigger} does not belong here: the connection is {self.state}.")
        except MessageError as error:
            return self.refuse(error, kind, self.role.codec.ids(data), origin, now)
        if kind not in self.role.codec.carries:
            return self._follow(rule, message)
        spoken: list[Output] = [*self.exchange.heard(now)]
        outputs = [*spoken, *self._follow(rule, message)]
        if spoken:
            self.exchange.expect(now)
        return outputs

    def refuse(self, error: MessageError, kind: str, found: Outline, origin: str, now: float) -> list[Output]:
        """Reject a message of the peer, and fail the request that it belongs to."""
        outputs: list[Output] = [Refused(error, origin)]
        if kind in self.role.codec.carries and self.state is State.OPEN:
            outputs += self.exchange.fail_refused(found, error)
        elif kind == self.role.last:
            outputs += self.happen(Local.LAST_REFUSED, error, now=now)
        return outputs

    def origin_refused(self, origin: str, now: float) -> list[Output]:
        """End an outer side whose page does not allow its origin; once the page has opened a session, that is noise.

        Args:
            origin: the origin of this side as the page has it, from `refusal.refused_origin`.
            now: the time in seconds.
        """
        over = (State.IDLE, State.CLOSED) if self.role.opens_unheard else (State.IDLE, State.OPEN, State.CLOSED)
        if self.role.side == "inner" or self.state in over:
            return []
        error = HandshakeRefused(refusal.explained(origin))
        rule = Rule(self.state, Local.CLOSE, State.CLOSED, lambda actor, _: actor.end(error))
        return self._follow(rule, Message(Local.CLOSE, now=now))

    def act(self, trigger: str, body: Any = None, *, now: float) -> list[Output]:
        """Perform a local act. Raises `StateError` if this state has no rule for it."""
        message = Message(trigger, body, now=now)
        rule = self._rule_for(message)
        if rule is None:
            raise StateError(f"Cannot {trigger} now: the {self.role.name} connection is {self.state}.")
        return self._follow(rule, message)

    def happen(self, local: Local, body: Any = None, *, now: float) -> list[Output]:
        """Handle a local event; a state without a rule for it ignores it."""
        message = Message(local, body, now=now)
        rule = self._rule_for(message)
        return self._follow(rule, message) if rule else []

    def _rule_for(self, message: Message) -> Rule | None:
        for rule in self.role.by_trigger.get((self.state, message.trigger), ()):
            if rule.guard is None or rule.guard(self, message):
                return rule
        return None

    def _follow(self, rule: Rule, message: Message) -> list[Output]:
        if rule.to is not self.state:
            self.state, self._entered = rule.to, message.now
            self._timers.clear()
            self.exchange.stop()  # pings are sent only while open, and the only way from there is to be closed
            patience = getattr(self.options, self.role.waits[rule.to]) if rule.to in self.role.waits else None
            if patience is not None:
                self._timers[Local.DEADLINE] = message.now + patience
        return list(rule.action(self, message)) if rule.action else []

    def _post(self, text: str) -> Send:
        if self.origin is None:
            raise StateError("Nothing is sent before the peer's origin is known.")
        return Send(text, ANY if self.origin == OPAQUE else self.origin, self.port)


def claimant(
    machines: Sequence[Machine], data: Any, origin: str, *, is_text: bool
) -> tuple[Machine, str] | tuple[None, None]:
    """Return the machine that claims a message, and the message's kind there; None for noise.

    If several codecs claim it, a machine that accepts this origin, and whose state has a rule for it, is preferred.

    Args:
        machines: those that may.
        data: the message.
        origin: its origin.
        is_text: whether it was posted as JSON text.
    """
    kinds = ((each, each.role.codec.kind(data)) for each in machines if each.role.codec.reads_text or not is_text)
    claims = [(machine, kind) for machine, kind in kinds if kind is not None]
    if len(claims) > 1:
        heard = [claim for claim in claims if claim[0].hears(origin)]
        claims = [claim for claim in heard if claim[0].takes(claim[1])] or heard or claims
    return claims[0] if claims else (None, None)


def _offer_of(candidate: Candidate) -> Any:
    offer, kind = candidate.offer, candidate.role.offers
    if offer is None:
        return kind() if kind else None
    if kind is None or not isinstance(offer, kind):
        raise TypeError(f"{type(offer).__name__} is not an offer of the role {candidate.role.name!r}.")
    return offer
