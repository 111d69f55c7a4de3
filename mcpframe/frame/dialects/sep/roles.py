"""The SEP "postMessage Transport": eight messages, two phases, two sides, as tables.

    setup       inner ── MCP_SETUP_HANDSHAKE (*) ────────▶ outer      repeated until the reply
                inner ◀── MCP_SETUP_HANDSHAKE_REPLY ────── outer      inner pins the origin
                inner ── MCP_SETUP_COMPLETE ─────────────▶ outer      over
    transport   inner ── MCP_TRANSPORT_HANDSHAKE (*) ────▶ outer      repeated until the reply
                inner ◀── MCP_TRANSPORT_HANDSHAKE_REPLY ── outer      inner pins the origin
                inner ── MCP_TRANSPORT_ACCEPTED ─────────▶ outer      open
                inner ◀── MCP_MESSAGE ──────────────────▶ outer
                inner ── MCP_SETUP_REQUIRED ─────────────▶ outer      any time while open

What is sent is the union of the dialects in use, what is read is any of them: see `sep_messages`.

The outer frame knows the inner one's origin from its URL and pins it with the first handshake: unlike the reference
implementation it never replies to `*`. A handshake heard again before the acceptance is a repetition and is answered
again; after it, it is another document, which cannot take over the session.

A page that has sent MCP_SETUP_COMPLETE takes its setup for over. So one that is refused ends it for the outer frame,
too, as failed.

An outer frame that decides about permissions gets no further than the first setup handshake that asks for undecided
ones: what a document may do is fixed when it is loaded, so the host decides, and loads the page anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mcpframe.frame.core.connection import Connection
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone, PermissionsDenied, SessionError, VersionMismatch
from mcpframe.frame.core.events import (
    Opened,
    Output,
    Permission,
    SetupCompleted,
    SetupErrorCode,
    SetupRequired,
    SetupResult,
    SetupStarted,
)
from mcpframe.frame.core.roles import Local, Message, Role, Rule, State
from mcpframe.frame.dialects.sep import messages as read
from mcpframe.frame.dialects.sep.messages import (
    MCP_MESSAGE,
    SETUP_COMPLETE,
    SETUP_HANDSHAKE,
    SETUP_HANDSHAKE_REPLY,
    SETUP_REQUIRED,
    TRANSPORT_ACCEPTED,
    TRANSPORT_HANDSHAKE,
    TRANSPORT_HANDSHAKE_REPLY,
    VERSION,
    Handshake,
    address_for,
    fitting,
    phase_of,
)

__all__ = [
    "INNER_SETUP",
    "INNER_TRANSPORT",
    "OUTER_SETUP",
    "OUTER_TRANSPORT",
    "ROLES",
    "address_for",
    "last_words",
    "phase_of",
]

_OURS = (1, 0)


def last_words(event: Opened | SetupStarted) -> dict[str, Any]:
    """Return what the script of an inner page posts to its host in place of a Python that has ended.

    A host with an open session takes a handshake for another document, and ends the session; a setup fails. So nobody
    waits for an answer that cannot come any more.

    Args:
        event: What began the session.
    """
    if isinstance(event, Opened):
        return {"type": TRANSPORT_HANDSHAKE, "protocolVersion": VERSION}
    text = "The page stopped during its setup."
    return _setup_complete(SetupResult("", error_code=SetupErrorCode.CONFIG_ERROR, error_message=text))


# Guards and actions


def _speaks_ours(_: Connection, message: Message) -> bool:
    body = message.body
    low, high = body.versions if isinstance(body, Handshake) else (body.version, body.version)
    return bool(low <= _OURS <= high)


def _same_session(connection: Connection, message: Message) -> bool:
    return bool(message.body == connection.session_id)


def _undecided(connection: Connection, message: Message) -> tuple[Permission, ...]:
    """The permissions that a handshake asks for and the host has still to decide on: its fact `undecided` tells."""
    is_undecided = connection.facts.get("undecided", lambda permission: False)
    return tuple(permission for permission in message.body.permissions if is_undecided(permission))


def _asks_undecided(connection: Connection, message: Message) -> bool:
    return _speaks_ours(connection, message) and bool(_undecided(connection, message))


def _call(connection: Connection, message: Message) -> Iterable[Output]:
    connection.repeat_at(message.now + connection.options.repeat_interval)
    if connection.role.phase == "transport":
        yield connection.call_out({"type": TRANSPORT_HANDSHAKE, "protocolVersion": VERSION})
        return
    yield connection.call_out(
        {
            "type": SETUP_HANDSHAKE,
            "protocolVersion": VERSION,
            "minProtocolVersion": VERSION,
            "maxProtocolVersion": VERSION,
            "requiresVisibleSetup": bool(connection.facts.get("requires_visible_setup", False)),
            "requestedPermissions": [
                {"name": p.name, "phase": list(p.phase), "required": p.required, "purpose": fitting(p.purpose)}
                for p in connection.facts.get("permissions", ())
            ],
        }
    )


def _pin_session(connection: Connection, message: Message) -> None:
    connection.pin(message.origin)
    connection.session_id = message.body.session_id


def _accept(connection: Connection, message: Message) -> Iterable[Output]:
    _pin_session(connection, message)
    yield connection.say({"type": TRANSPORT_ACCEPTED, "sessionId": connection.session_id})
    yield Opened(connection.session_id, message.origin)


def _start_setup(connection: Connection, message: Message) -> Iterable[Output]:
    _pin_session(connection, message)
    yield SetupStarted(connection.session_id, message.origin)


def _complete_setup(connection: Connection, message: Message) -> Iterable[Output]:
    yield connection.say(_setup_complete(message.body))
    yield from connection.end()


def _setup_complete(result: SetupResult) -> dict[str, Any]:
    title = fitting(result.title)
    complete: dict[str, Any] = {
        "type": SETUP_COMPLETE,
        "status": "success" if result.error_code is None else "error",
        "serverTitle": title,
        "displayName": title,
        "transportVisibility": {"requirement": result.visibility.value},
    }
    if result.visibility_message:
        why = fitting(result.visibility_message)
        complete["transportVisibility"] |= {"optionalMessage": why, "description": why}
    if result.ephemeral_message:
        complete["ephemeralMessage"] = fitting(result.ephemeral_message)
    if result.error_code is not None:
        complete["error"] = {"code": str(result.error_code), "message": fitting(result.error_message or "")}
    return complete


def _refuse_setup_version(connection: Connection, message: Message) -> Iterable[Output]:
    _pin_session(connection, message)
    error = _version_error(message)
    failed = SetupResult("", error_code=SetupErrorCode.VERSION_MISMATCH, error_message=str(error))
    *said, _ = _complete_setup(connection, Message(Local.COMPLETE_SETUP, failed))
    yield from said
    yield from connection.end(error)


def _reply(connection: Connection, message: Message) -> Iterable[Output]:
    connection.pin(message.origin)
    setup = connection.role.phase == "setup"
    yield connection.say(
        {
            "type": SETUP_HANDSHAKE_REPLY if setup else TRANSPORT_HANDSHAKE_REPLY,
            "sessionId": connection.session_id,
            "protocolVersion": VERSION,
        }
    )


def _reply_to_setup(connection: Connection, message: Message) -> Iterable[Output]:
    yield from _reply(connection, message)
    body: Handshake = message.body
    yield SetupStarted(connection.session_id, message.origin, body.requires_visible, body.permissions)


def _needs_a_decision(connection: Connection, message: Message) -> Iterable[Output]:
    missing = _undecided(connection, message)
    wanted = ", ".join(f"{p.name} ({p.purpose})" if p.purpose else p.name for p in missing)
    text = f"The page of {message.origin} asks for permissions that are not granted: {wanted}."
    yield from connection.end(PermissionsDenied(text, missing))


def _opened(connection: Connection, message: Message) -> Iterable[Output]:
    yield Opened(connection.session_id, message.origin)


def _completed(connection: Connection, message: Message) -> Iterable[Output]:
    yield SetupCompleted(message.body)
    yield from connection.end()


def _completed_unreadably(connection: Connection, message: Message) -> Iterable[Output]:
    """The page takes its setup for over, and waits for nothing any more: so must the host."""
    told = f"How the setup of the page ended cannot be read: {message.body}"
    yield SetupCompleted(SetupResult("", error_code=SetupErrorCode.CONFIG_ERROR, error_message=told))
    yield from connection.end()


def _received(connection: Connection, message: Message) -> Iterable[Output]:
    return connection.deliver(message.body)


def _send(connection: Connection, message: Message) -> Iterable[Output]:
    text, body = message.body
    return connection.transmit(text, body)


def _require_setup(connection: Connection, message: Message) -> Iterable[Output]:
    wanted: SetupRequired = message.body
    yield connection.say(
        {
            "type": SETUP_REQUIRED,
            "reason": wanted.reason.value,
            "message": fitting(wanted.message),
            "canContinue": wanted.can_continue,
        }
    )


def _setup_required(_: Connection, message: Message) -> Iterable[Output]:
    yield message.body


def _ignore(connection: Connection, message: Message) -> Iterable[Output]:
    return connection.ignore(message.trigger)


def _end(connection: Connection, _: Message) -> Iterable[Output]:
    return connection.end()


def _end_with(make: Callable[[Message], SessionError]) -> Callable[[Connection, Message], Iterable[Output]]:
    return lambda connection, message: connection.end(make(message))


def _inner_took_too_long(connection: Connection, message: Message) -> Iterable[Output]:
    """The host, who may wait for ever, is told."""
    error = HandshakeTimeout("The setup was not completed in time.")
    failed = SetupResult("", error_code=SetupErrorCode.TIMEOUT, error_message=str(error))
    *said, _ = _complete_setup(connection, Message(Local.COMPLETE_SETUP, failed))
    yield from said
    yield from connection.end(error)


def _version_error(message: Message) -> SessionError:
    body = message.body
    low, high = body.versions if isinstance(body, Handshake) else (body.version, body.version)
    theirs = " to ".join(dict.fromkeys(f"{major}.{minor}" for major, minor in (low, high)))
    return VersionMismatch(f"The peer speaks version {theirs} of the postMessage transport, we speak {VERSION}.")


_NOT_ACCEPTED = (
    "The framed page did not accept the session in time: it has not started, or does not allow this page's origin."
)
_wrong_version = _end_with(_version_error)
_nobody_answered = _end_with(lambda _: HandshakeTimeout("No host answered the handshake in time."))
_never_called = _end_with(lambda _: HandshakeTimeout("The framed page sent no handshake in time."))
_never_accepted = _end_with(lambda _: HandshakeTimeout(_NOT_ACCEPTED))
_setup_took_too_long = _end_with(lambda _: HandshakeTimeout("The setup was not completed in time."))
_replaced = _end_with(lambda _: PeerGone("The framed page was reloaded or navigated away; the session is over."))
_removed = _end_with(lambda _: PeerGone("The peer's window is gone; the session is over."))


# The tables


def _leaving(*states: State) -> tuple[Rule, ...]:
    """In each of these states the role can be closed, and its peer's window removed."""
    return tuple(
        rule
        for state in states
        for rule in (
            Rule(state, Local.PEER_REMOVED, State.CLOSED, _removed),
            Rule(state, Local.CLOSE, State.CLOSED, _end),
        )
    )


_ENVELOPE = (f'{{"type":"{MCP_MESSAGE}","payload":', "}")
S = State

INNER_SETUP = Role(
    dialect="sep",
    side="inner",
    phase="setup",
    readers={SETUP_HANDSHAKE_REPLY: read.read_reply},
    rules=(
        Rule(S.IDLE, Local.START, S.CALLING, _call),
        Rule(S.IDLE, Local.CLOSE, S.CLOSED, _end),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, _call),
        Rule(S.CALLING, SETUP_HANDSHAKE_REPLY, S.SETTING_UP, _start_setup, _speaks_ours),
        Rule(S.CALLING, SETUP_HANDSHAKE_REPLY, S.CLOSED, _refuse_setup_version),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, _nobody_answered),
        Rule(S.SETTING_UP, SETUP_HANDSHAKE_REPLY, S.SETTING_UP, _ignore),
        Rule(S.SETTING_UP, Local.COMPLETE_SETUP, S.CLOSED, _complete_setup),
        Rule(S.SETTING_UP, Local.DEADLINE, S.CLOSED, _inner_took_too_long),
        *_leaving(S.CALLING, S.SETTING_UP),
    ),
    waits={S.CALLING: "handshake_timeout", S.SETTING_UP: "setup_timeout"},
    claims="MCP_",
    envelope=_ENVELOPE,
    carries=MCP_MESSAGE,
)

INNER_TRANSPORT = Role(
    dialect="sep",
    side="inner",
    phase="transport",
    readers={TRANSPORT_HANDSHAKE_REPLY: read.read_reply, MCP_MESSAGE: read.read_mcp_message},
    rules=(
        Rule(S.IDLE, Local.START, S.CALLING, _call),
        Rule(S.IDLE, Local.CLOSE, S.CLOSED, _end),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, _call),
        Rule(S.CALLING, TRANSPORT_HANDSHAKE_REPLY, S.OPEN, _accept, _speaks_ours),
        Rule(S.CALLING, TRANSPORT_HANDSHAKE_REPLY, S.CLOSED, _wrong_version),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, _nobody_answered),
        Rule(S.OPEN, MCP_MESSAGE, S.OPEN, _received),
        Rule(S.OPEN, TRANSPORT_HANDSHAKE_REPLY, S.OPEN, _ignore),
        Rule(S.OPEN, Local.SEND, S.OPEN, _send),
        Rule(S.OPEN, Local.REQUIRE_SETUP, S.OPEN, _require_setup),
        Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, _replaced),
        *_leaving(S.CALLING, S.OPEN),
    ),
    waits={S.CALLING: "handshake_timeout"},
    claims="MCP_",
    envelope=_ENVELOPE,
    carries=MCP_MESSAGE,
)

OUTER_SETUP = Role(
    dialect="sep",
    side="outer",
    phase="setup",
    readers={SETUP_HANDSHAKE: read.read_setup_handshake, SETUP_COMPLETE: read.read_setup_complete},
    rules=(
        Rule(S.IDLE, Local.START, S.AWAITING),
        Rule(S.IDLE, Local.CLOSE, S.CLOSED, _end),
        Rule(S.AWAITING, SETUP_HANDSHAKE, S.CLOSED, _needs_a_decision, _asks_undecided),
        Rule(S.AWAITING, SETUP_HANDSHAKE, S.SETTING_UP, _reply_to_setup, _speaks_ours),
        Rule(S.AWAITING, SETUP_HANDSHAKE, S.CLOSED, _wrong_version),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, _never_called),
        # Again: a repetition, or the page is back from a sign-in elsewhere. Same setup, same session.
        Rule(S.SETTING_UP, SETUP_HANDSHAKE, S.SETTING_UP, _reply, _speaks_ours),
        Rule(S.SETTING_UP, SETUP_COMPLETE, S.CLOSED, _completed),
        Rule(S.SETTING_UP, Local.LAST_REFUSED, S.CLOSED, _completed_unreadably),
        Rule(S.SETTING_UP, Local.DEADLINE, S.CLOSED, _setup_took_too_long),
        *_leaving(S.AWAITING, S.SETTING_UP),
    ),
    waits={S.AWAITING: "handshake_timeout", S.SETTING_UP: "setup_timeout"},
    claims="MCP_",
    envelope=_ENVELOPE,
    carries=MCP_MESSAGE,
    last=SETUP_COMPLETE,
)

OUTER_TRANSPORT = Role(
    dialect="sep",
    side="outer",
    phase="transport",
    readers={
        TRANSPORT_HANDSHAKE: read.read_handshake,
        TRANSPORT_ACCEPTED: read.read_accepted,
        SETUP_REQUIRED: read.read_setup_required,
        MCP_MESSAGE: read.read_mcp_message,
    },
    rules=(
        Rule(S.IDLE, Local.START, S.AWAITING),
        Rule(S.IDLE, Local.CLOSE, S.CLOSED, _end),
        Rule(S.AWAITING, TRANSPORT_HANDSHAKE, S.CONFIRMING, _reply, _speaks_ours),
        Rule(S.AWAITING, TRANSPORT_HANDSHAKE, S.CLOSED, _wrong_version),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, _never_called),
        Rule(S.CONFIRMING, TRANSPORT_HANDSHAKE, S.CONFIRMING, _reply, _speaks_ours),
        Rule(S.CONFIRMING, TRANSPORT_ACCEPTED, S.OPEN, _opened, _same_session),
        Rule(S.CONFIRMING, Local.DEADLINE, S.CLOSED, _never_accepted),
        Rule(S.OPEN, MCP_MESSAGE, S.OPEN, _received),
        Rule(S.OPEN, SETUP_REQUIRED, S.OPEN, _setup_required),
        Rule(S.OPEN, TRANSPORT_ACCEPTED, S.OPEN, _ignore),
        Rule(S.OPEN, TRANSPORT_HANDSHAKE, S.CLOSED, _replaced),
        Rule(S.OPEN, Local.SEND, S.OPEN, _send),
        Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, _replaced),
        *_leaving(S.AWAITING, S.CONFIRMING, S.OPEN),
    ),
    waits={S.AWAITING: "handshake_timeout", S.CONFIRMING: "accept_timeout"},
    claims="MCP_",
    envelope=_ENVELOPE,
    carries=MCP_MESSAGE,
)

ROLES = (INNER_SETUP, INNER_TRANSPORT, OUTER_SETUP, OUTER_TRANSPORT)
