"""What a dialect is made of: a `Role` is a table of rules, one half of the dialect in one phase.

A rule says: in this state, this trigger leads to that state, by way of this action. A trigger is a message type of the
peer or something local, such as a deadline. `connection.py` follows the table; `protocols/` has the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from mcpframe.frame.core.events import Output

if TYPE_CHECKING:
    from mcpframe.frame.core.connection import Connection


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
    COMPLETE_SETUP = "complete setup"
    REQUIRE_SETUP = "require setup"
    SEND = "send"
    LAST_REFUSED = "the peer's last message was refused"
    PEER_REPLACED = "peer's document replaced"
    PEER_REMOVED = "peer's window removed"
    CLOSE = "close"


MAX_NESTING = 1000

_AS_HANDSHAKE: Any = object()

Trigger = str
"""A message type of the peer, or a `Local`."""


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
        trigger: the message type, or the `Local`.
        body: what the reader of that type made of the message, or the argument of the local call.
        origin: where a message of the peer came from; empty for a local call.
        now: the time it is acted on, in seconds.
    """

    trigger: Trigger
    body: Any = None
    origin: str = ""
    now: float = 0.0


Action = Callable[["Connection", Message], Iterable[Output]]
Guard = Callable[["Connection", Message], bool]


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
        phase: `"setup"` or `"transport"`.
        readers: for every message type of the peer, what checks its shape and gives its body. Raises
            `MalformedMessage`.
        rules: the table.
        waits: for a state, the `Options` field that bounds the stay in it.
        claims: the prefix by which a message claims to be of this dialect; anything else is noise.
        envelope: the JSON text before and after an MCP message.
        carries: the message type of that envelope.
        last: the message type after which the peer takes the phase for over, whatever becomes of it here. Where one is
            refused, `Local.LAST_REFUSED` ends the phase on this side, too.
    """

    dialect: str
    side: Literal["inner", "outer"]
    phase: Literal["setup", "transport"]
    readers: Mapping[str, Callable[[Mapping[str, Any]], Any]]
    rules: tuple[Rule, ...]
    waits: Mapping[State, str]
    claims: str
    envelope: tuple[str, str]
    carries: Trigger
    last: Trigger | None = None
    by_trigger: Mapping[tuple[State, Trigger], tuple[Rule, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        index: dict[tuple[State, Trigger], tuple[Rule, ...]] = {}
        for rule in self.rules:
            key = (rule.state, rule.trigger)
            index[key] = (*index.get(key, ()), rule)
        object.__setattr__(self, "by_trigger", index)

    @property
    def name(self) -> str:
        """The role in words, such as `"sep inner transport"`."""
        return f"{self.dialect} {self.side} {self.phase}"
