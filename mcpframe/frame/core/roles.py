"""The parts of a dialect: a `Role` is a table of rules, one half of the dialect in one phase.

A rule says: in this state, this trigger leads to that state and runs this action. A trigger is a kind of message of the
peer, a local event such as a deadline, or an act that only this dialect has. `machine.py` follows the table;
`dialects/` has the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from mcpframe.frame.core import limits
from mcpframe.frame.core.allowed_origins import AllowedOrigins
from mcpframe.frame.core.codec import Codec, Trigger
from mcpframe.frame.core.errors import MessageError, SessionError
from mcpframe.frame.core.events import Output, Port, Send


class State(StrEnum):
    """The state of a connection. Not every role has every state."""

    IDLE = "idle"
    """Created, and not listening yet."""
    CALLING = "calling"
    """The handshake is posted and repeated until an allowed peer answers."""
    AWAITING = "awaiting"
    """Listening for the peer's handshake."""
    CONFIRMING = "confirming"
    """The handshake is answered; the peer has not accepted yet."""
    SETTING_UP = "setting up"
    """The setup phase is agreed, and in progress in the inner frame."""
    OPEN = "open"
    """MCP messages flow both ways."""
    CLOSED = "closed"
    """Over, and not listening any more."""


class Local(StrEnum):
    """Triggers other than messages of the peer."""

    START = "start"
    REPEAT = "repeat is due"
    DEADLINE = "deadline has passed"
    SEND = "send"
    LAST_REFUSED = "the peer's last message was refused"
    PORT = "a port was handed over"
    PEER_REPLACED = "peer's document replaced"
    PEER_REMOVED = "peer's window removed"
    CLOSE = "close"


_AS_HANDSHAKE: Any = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Deadlines and limits of a connection; times in seconds, None for no deadline.

    Attributes:
        handshake_timeout: inner: from the first handshake to its reply. Outer: from the start to the first handshake,
            so it covers loading the inner page.
        accept_timeout: outer: from the reply to the peer's acceptance; by default as long as `handshake_timeout`. It
            covers starting the inner page, which may send its handshake before.
        setup_timeout: the longest that a setup may take once agreed. The user may be filling in a form.
        unresponsive_after: outer: how long the peer may be silent while requests are pending, before an `Unresponsive`
            event. A `ping` is sent after half of that, and one second after a request was cancelled; None disables
            this.
        repeat_interval: between repetitions of an inner frame's handshake; after 30 seconds it becomes 10 seconds.
        max_message_bytes: the largest message, in bytes of JSON in UTF-8, in either direction.
        max_nesting: the deepest nesting of arrays and objects in one message, in either direction; at most 1,000.
        max_pending: pending requests, per direction.

    Raises:
        ValueError: if `max_nesting` is out of its range.
    """

    handshake_timeout: float | None = limits.HANDSHAKE_SECONDS
    accept_timeout: float | None = _AS_HANDSHAKE
    setup_timeout: float | None = limits.SETUP_SECONDS
    unresponsive_after: float | None = limits.UNRESPONSIVE_SECONDS
    repeat_interval: float = 1.0
    max_message_bytes: int = limits.MESSAGE_BYTES
    max_nesting: int = limits.MESSAGE_NESTING
    max_pending: int = limits.PENDING_REQUESTS

    def __post_init__(self) -> None:
        if self.accept_timeout is _AS_HANDSHAKE:
            object.__setattr__(self, "accept_timeout", self.handshake_timeout)
        if not 1 <= self.max_nesting <= limits.DEEPEST_NESTING:
            raise ValueError(f"max_nesting must be from 1 to {limits.DEEPEST_NESTING:,}, not {self.max_nesting:,}.")


@dataclass(frozen=True, slots=True)
class Message:
    """The trigger of a rule, with its data.

    Attributes:
        trigger: the kind of message, the `Local`, or the dialect's own act.
        body: the result of the reader of that kind, or the argument of the local call.
        origin: the origin of a message of the peer; empty for a local call.
        now: the current time, in seconds.
    """

    trigger: Trigger
    body: Any = None
    origin: str = ""
    now: float = 0.0


class Actor(Protocol):
    """The interface of a connection for guards and actions.

    Attributes:
        role: the table.
        offer: the content of the role's own messages, of the class `Role.offers`.
        options: deadlines and limits.
        session_id: the id of the session; None before the handshake, and in dialects without ids.
        allowed: the allowed origins of the peer.
        origin: the peer's origin; None until it is pinned.
        repeats: how often `repeat_at` was called.
        port: the port of the message that is handled; once past the opening, the peer's. None for the window.
    """

    role: Role
    offer: Any
    options: Options
    session_id: str | None
    allowed: AllowedOrigins
    origin: str | None
    repeats: int
    port: Port | None

    def say(self, message: Mapping[str, Any]) -> Send:
        """Return a message of the dialect's own for the pinned peer."""

    def call_out(self, message: Mapping[str, Any]) -> Send:
        """Return a handshake to an unknown peer: the only message posted to `*`, before the origin is known."""

    def pin(self, origin: str, session_id: str | None = None) -> None:
        """Pin the peer's origin for the rest of the connection, and set the id of the session if there is one."""

    def repeat_at(self, time: float) -> None:
        """Schedule a `Local.REPEAT` at a time, in seconds; leaving the state cancels it."""

    def repeat_call(self, now: float, times: float = 1) -> None:
        """Schedule the `Local.REPEAT` of a handshake: after some intervals, and after longer ones later."""

    def ignore(self, reason: str) -> list[Output]:
        """Count a valid message that changes nothing."""

    def owes(self, request: Mapping[str, Any]) -> bool:
        """Return whether the peer waits for the answer to a request of the same id and method."""

    def deliver(self, message: Mapping[str, Any]) -> list[Output]:
        """Hand a well-formed MCP message of the peer to the session."""

    def transmit(self, text: str | MessageError, message: Mapping[str, Any]) -> list[Output]:
        """Send an MCP message with the role's codec, or fail it for the side that waits for it."""

    def end(self, error: SessionError | None = None) -> list[Output]:
        """Return the last outputs: an error for each of our pending requests, then `Closed`."""


Action = Callable[[Actor, Message], Iterable[Output]]
Guard = Callable[[Actor, Message], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a role's table: in `state`, `trigger` leads to `to` and runs `action`.

    Attributes:
        state: the state in which it applies.
        trigger: its trigger.
        to: the state afterwards. It is entered before the action runs.
        action: returns the outputs; None for no outputs.
        guard: must return true for the rule to apply. Of several rules for one trigger, the first that applies is used.
    """

    state: State
    trigger: Trigger
    to: State
    action: Action | None = None
    guard: Guard | None = None


@dataclass(frozen=True, eq=False)
class Role:
    """One half of a dialect in one phase, as a table.

    Attributes:
        dialect: such as `"sep"`.
        side: whether it is the inner or the outer frame's half.
        phase: `"transport"`, where MCP messages flow, or a phase that only this dialect has.
        codec: the wire format of this side.
        readers: for every kind of message of the peer, a function that checks its shape and returns its body. Raises
            `MalformedMessage`.
        rules: the table.
        waits: for a state, the `Options` field that bounds the stay in it.
        offers: the class of the content of its own messages: a frozen dataclass, with defaults unless a value is
            required. None if its messages have no variable content.
        last: the kind of message after which the peer considers the phase over, even if it is refused here. Then
            `Local.LAST_REFUSED` ends the phase on this side, too.
        opens_unheard: whether the session opens before the page has heard of its host. Then a page may refuse its
            host's origin in the open state, too: see `refusal.py`.
        shared: whether several clients may be behind the peer's window, each with ids of its own. The server has to
            tell them apart.
        checks_content: whether `payload.check_content` can reject a whole message. False for a
            receiver that checks each part of a message on its own.
    """

    dialect: str
    side: Literal["inner", "outer"]
    phase: str
    codec: Codec
    readers: Mapping[str, Callable[[Mapping[str, Any]], Any]]
    rules: tuple[Rule, ...]
    waits: Mapping[State, str]
    offers: type[Any] | None = None
    last: Trigger | None = None
    opens_unheard: bool = False
    shared: bool = False
    checks_content: bool = True
    by_trigger: Mapping[tuple[State, Trigger], tuple[Rule, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index: dict[tuple[State, Trigger], tuple[Rule, ...]] = {}
        for rule in self.rules:
            key = (rule.state, rule.trigger)
            index[key] = (*index.get(key, ()), rule)
        object.__setattr__(self, "by_trigger", index)

    @property
    def opening(self) -> State:
        """The state after the start, in which the role waits for a peer."""
        return self.by_trigger[State.IDLE, Local.START][0].to

    @property
    def name(self) -> str:
        """The role in words, such as `"sep inner transport"`."""
        return f"{self.dialect} {self.side} {self.phase}"
