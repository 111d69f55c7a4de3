"""Actions and rules shared by the tables of all dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mcpframe.frame.core.errors import SessionError
from mcpframe.frame.core.events import Output
from mcpframe.frame.core.roles import Action, Actor, Local, Message, Rule, State


def received(actor: Actor, message: Message) -> Iterable[Output]:
    """Hand the JSON-RPC message of the peer to the session."""
    return actor.deliver(message.body)


def send(actor: Actor, message: Message) -> Iterable[Output]:
    """Send a JSON-RPC message of the session."""
    text, body = message.body
    return actor.transmit(text, body)


def ignore(actor: Actor, message: Message) -> Iterable[Output]:
    """Count a message that changes nothing."""
    return actor.ignore(message.trigger)


def end(actor: Actor, _: Message) -> Iterable[Output]:
    """End the connection without an error."""
    return actor.end()


def end_with(make: Callable[[Message], SessionError]) -> Action:
    """Return an action that ends the connection with an error made from the trigger."""
    return lambda actor, message: actor.end(make(message))


def beginning(to: State, action: Action | None = None) -> tuple[Rule, ...]:
    """Return the rules of the first state: the start of a role, and its end before the start.

    Args:
        to: the state after the start.
        action: run at the start; None for none.
    """
    return Rule(State.IDLE, Local.START, to, action), Rule(State.IDLE, Local.CLOSE, State.CLOSED, end)


def exchanging(*kinds: str) -> tuple[Rule, ...]:
    """Return the rules by which an open connection hands on messages of these kinds, and sends those of its session."""
    rules = (Rule(State.OPEN, kind, State.OPEN, received) for kind in kinds)
    return (*rules, Rule(State.OPEN, Local.SEND, State.OPEN, send))


def leaving(removed: Action, *states: State, close: Action = end) -> tuple[Rule, ...]:
    """Return the rules for the end by this side, and for a removed window, in each of these states.

    Args:
        removed: the action when the peer's window was removed.
        close: the action when this side ends the connection.
    """
    return tuple(
        rule
        for state in states
        for rule in (
            Rule(state, Local.PEER_REMOVED, State.CLOSED, removed),
            Rule(state, Local.CLOSE, State.CLOSED, close),
        )
    )
