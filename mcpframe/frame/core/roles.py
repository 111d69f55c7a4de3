"""What a dialect is made of: a `Role` is a table of rules, one half of the dialect in one phase.

A rule says: in this state, this trigger leads to that state, by way of this action. A trigger is a kind of message of
the peer, something local such as a deadline, or an act that only this dialect has. `machine.py` follows the table;
`dialects/` has the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from mcpframe.frame.core.codec import Codec, Trigger
from mcpframe.frame.core.errors import MessageError, SessionError
from mcpframe.frame.core.events import Output, Send


class State(StrEnum):
    """Where a connection stands. Not every role knows every state."""

    IDLE = "idle"
    """Made, and deaf."""
    CALLING = "calling"
    """The handshake is posted, and repeated, until somebody allowed answers."""
    AWAITING = "awaiting"
    """Listening for the peer's handshake."""
    CONFIRMING = "confirming"
    """The handshake is answered; the peer has still to accept."""
    SETTING_UP = "setting up"
    """The setup phase is agreed, and under way in the inner frame."""
    OPEN = "open"
    """MCP messages flow both ways."""
    CLOSED = "closed"
    """Over, and deaf."""


class Local(StrEnum):
    """What can happen to a connection besides a message of the peer."""

    START = "start"
    REPEAT = "repeat is due"
    DEADLINE = "deadline has passed"
    SEND = "send"
    LAST_REFUSED = "the peer's last message was refused"
    PEER_REPLACED = "peer's document replaced"
    PEER_REMOVED = "peer's window removed"
    CLOSE = "close"


MAX_NESTING = 1000

_AS_HANDSHAKE: Any = object()


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Deadlines and limits of a connection; times in seconds, None for no deadline.

    Attributes:
        handshake_timeout: inner: from the first handshake to its reply. Outer: from the start to the first handshake,
            so it covers loading the inner page.
        accept_timeout: outer: from the reply to the peer's acceptance; by default as long as `handshake_timeout`. It
            covers starting the inner page, which may send its handshake before.
        setup_timeout: how long a setup may take once agreed; by default for ever, as a person may be filling in a form.
        unresponsive_after: outer: how long the peer may be silent while requests wait, until an `Unresponsive` event.
            It is asked with a `ping` after half of that; None never asks.
        repeat_interval: how often an inner frame repeats its handshake until the reply.
        max_message_bytes: bytes of one message as JSON in UTF-8, in either direction.
        max_nesting: arrays and objects inside each other in one message, in either direction; 1,000 at most.
        max_pending: requests without an answer, per direction.

    Raises:
        ValueError: where `max_nesting` is out of its range.
    """

    handshake_timeout: float | None = 30.0
    accept_timeout: float | None = _AS_HANDSHAKE
    setup_timeout: float | None = None
    unresponsive_after: float | None = 20.0
    repeat_interval: float = 1.0
    max_message_bytes: int = 64 * 1024 * 1024
    max_nesting: int = 100
    max_pending: int = 1000

    def __post_init__(self) -> None:
        if self.accept_timeout is _AS_HANDSHAKE:
            object.__setattr__(self, "accept_timeout", self.handshake_timeout)
        # The JSON parser in Pyodide takes 5,000 levels and dies of 10,000, and the runtime with it.
        if not 1 <= self.max_nesting <= MAX_NESTING:
            raise ValueError(f"max_nesting must be from 1 to {MAX_NESTING:,}, not {self.max_nesting:,}.")


@dataclass(frozen=True, slots=True)
class Message:
    """What set off a rule.

    Attributes:
        trigger: the kind of message, the `Local`, or the dialect's own act.
        body: what the reader of that kind made of the message, or the argument of the local call.
        origin: where a message of the peer came from; empty for a local call.
        now: the time it is acted on, in seconds.
    """

    trigger: Trigger
    body: Any = None
    origin: str = ""
    now: float = 0.0


class Actor(Protocol):
    """What guards and actions see of a connection, and what actions are made of.

    Attributes:
        role: the table.
        offer: what the role's own messages say: of the class `Role.offers`.
        options: deadlines and limits.
        session_id: the id of the session; None before, and where the dialect has none.
    """

    role: Role
    offer: Any
    options: Options
    session_id: str | None

    def say(self, message: Mapping[str, Any]) -> Send:
        """Return a message of the dialect's own for the pinned peer."""

    def call_out(self, message: Mapping[str, Any]) -> Send:
        """Return a handshake for whoever is there: the one message that goes to `*`, before the origin is known."""

    def pin(self, origin: str, session_id: str | None = None) -> None:
        """Fix the peer's origin for the rest of the connection, and the id of the session where there is one."""

    def repeat_at(self, time: float) -> None:
        """Ask for a `Local.REPEAT` at a time, in seconds; it is forgotten when the state is left."""

    def ignore(self, reason: str) -> list[Output]:
        """Count a message that is in order but changes nothing."""

    def deliver(self, message: Mapping[str, Any]) -> list[Output]:
        """Hand a well-formed MCP message of the peer to the session."""

    def transmit(self, text: str | MessageError, message: Mapping[str, Any]) -> list[Output]:
        """Send an MCP message in the role's codec, or fail it for whoever waits for it."""

    def end(self, error: SessionError | None = None) -> list[Output]:
        """Return the last outputs: an error for each of our pending requests, then `Closed`."""


Action = Callable[[Actor, Message], Iterable[Output]]
Guard = Callable[[Actor, Message], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a role's table: in `state`, `trigger` leads to `to` by way of `action`.

    Attributes:
        state: where it holds.
        trigger: what sets it off.
        to: the state afterwards. It is entered before the action runs.
        action: makes the outputs; None where there are none.
        guard: must be true for the rule to apply. Of several rules for one trigger, the first that applies is taken.
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
        readers: for every kind of message of the peer, what checks its shape and returns its body. Raises
            `MalformedMessage`.
        rules: the table.
        waits: for a state, the `Options` field that bounds the stay in it.
        offers: the class of what its own messages say: a frozen dataclass with defaults, or whose construction raises
            where something has to be said. None where there is nothing to say.
        last: the kind of message after which the peer takes the phase for over, whatever becomes of it here. Where one
            is refused, `Local.LAST_REFUSED` ends the phase on this side, too.
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
    by_trigger: Mapping[tuple[State, Trigger], tuple[Rule, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index: dict[tuple[State, Trigger], tuple[Rule, ...]] = {}
        for rule in self.rules:
            key = (rule.state, rule.trigger)
            index[key] = (*index.get(key, ()), rule)
        object.__setattr__(self, "by_trigger", index)

    @property
    def opening(self) -> State:
        """The state that the start leads to, in which the role waits for a peer."""
        return self.by_trigger[State.IDLE, Local.START][0].to

    @property
    def name(self) -> str:
        """The role in words, such as `"sep inner transport"`."""
        return f"{self.dialect} {self.side} {self.phase}"
