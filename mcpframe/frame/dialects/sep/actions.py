"""The guards and actions of the four roles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mcpframe.frame.core.actions import end_with
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import (
    HandshakeTimeout,
    PeerGone,
    PermissionsDenied,
    SessionError,
    VersionMismatch,
)
from mcpframe.frame.core.events import Opened, Output, SessionBegun
from mcpframe.frame.core.roles import Actor, Message
from mcpframe.frame.core.setup import (
    SetupCompleted,
    SetupErrorCode,
    SetupRequired,
    SetupResult,
    SetupStarted,
)
from mcpframe.frame.dialects.sep.messages import (
    SETUP_COMPLETE,
    SETUP_HANDSHAKE,
    SETUP_HANDSHAKE_REPLY,
    SETUP_REQUIRED,
    TRANSPORT_ACCEPTED,
    TRANSPORT_HANDSHAKE,
    TRANSPORT_HANDSHAKE_REPLY,
    VERSION,
    Handshake,
    fitting,
)
from mcpframe.frame.dialects.sep.offers import PageOffer

DIALECT = "sep"
_OURS = (1, 0)


def last_words(event: SessionBegun) -> dict[str, Any]:
    """Return the message that the script of an inner page posts to its host after Python has ended.

    A host with an open session treats a handshake as another document, and ends the session; a setup fails. So the host
    does not wait for answers that cannot come.

    Args:
        event: the event that began the session.
    """
    if isinstance(event, Opened):
        return {"type": TRANSPORT_HANDSHAKE, "protocolVersion": VERSION}
    text = "The page stopped during its setup."
    return _setup_complete(SetupResult("", error_code=SetupErrorCode.CONFIG_ERROR, error_message=text))


def never_started(phase: str) -> dict[str, Any] | None:
    """Return the message that the script of an inner page posts to `*` if Python does not start.

    A host that answered a setup's handshake waits long for the end of the setup. In the transport phase it waits for
    the acceptance, which has a deadline; no message of the peer can end that wait sooner.
    """
    if phase == TRANSPORT:
        return None
    text = "The page did not start: open it by itself to see why."
    return _setup_complete(SetupResult("", error_code=SetupErrorCode.CONFIG_ERROR, error_message=text))


# Guards and actions


def speaks_ours(_: Actor, message: Message) -> bool:
    body = message.body
    low, high = body.versions if isinstance(body, Handshake) else (body.version, body.version)
    return bool(low <= _OURS <= high)


def same_session(actor: Actor, message: Message) -> bool:
    return bool(message.body == actor.session_id)


def asks_undecided(actor: Actor, message: Message) -> bool:
    return speaks_ours(actor, message) and bool(actor.offer.undecided(message.body.permissions))


def call(actor: Actor, message: Message) -> Iterable[Output]:
    actor.repeat_call(message.now)
    if actor.role.phase == "transport":
        yield actor.call_out({"type": TRANSPORT_HANDSHAKE, "protocolVersion": VERSION})
        return
    asked: PageOffer = actor.offer
    yield actor.call_out(
        {
            "type": SETUP_HANDSHAKE,
            "protocolVersion": VERSION,
            "minProtocolVersion": VERSION,
            "maxProtocolVersion": VERSION,
            "requiresVisibleSetup": asked.requires_visible_setup,
            "requestedPermissions": [
                {"name": p.name, "phase": list(p.phase), "required": p.required, "purpose": fitting(p.purpose)}
                for p in asked.permissions
            ],
        }
    )


def accept(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin, message.body.session_id)
    yield actor.say({"type": TRANSPORT_ACCEPTED, "sessionId": actor.session_id})
    yield Opened(dialect=DIALECT, origin=message.origin, session_id=actor.session_id)


def start_setup(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin, message.body.session_id)
    yield SetupStarted(dialect=DIALECT, origin=message.origin, session_id=actor.session_id)


def complete_setup(actor: Actor, message: Message) -> Iterable[Output]:
    yield actor.say(_setup_complete(message.body))
    yield from actor.end()


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


def refuse_setup_version(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin, message.body.session_id)
    yield from _fail_setup(actor, SetupErrorCode.VERSION_MISMATCH, _version_error(message))


def reply(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin, actor.offer.session_id)
    setup = actor.role.phase == "setup"
    yield actor.say(
        {
            "type": SETUP_HANDSHAKE_REPLY if setup else TRANSPORT_HANDSHAKE_REPLY,
            "sessionId": actor.session_id,
            "protocolVersion": VERSION,
        }
    )


def reply_to_setup(actor: Actor, message: Message) -> Iterable[Output]:
    yield from reply(actor, message)
    body: Handshake = message.body
    yield SetupStarted(
        dialect=DIALECT,
        origin=message.origin,
        session_id=actor.session_id,
        requires_visible=body.requires_visible,
        permissions=body.permissions,
    )


def needs_a_decision(actor: Actor, message: Message) -> Iterable[Output]:
    missing = actor.offer.undecided(message.body.permissions)
    names = ", ".join(f"{p.name} ({p.purpose})" if p.purpose else p.name for p in missing)
    text = f"The page of {message.origin} asks for permissions that are not granted: {names}."
    yield from actor.end(PermissionsDenied(text, missing))


def opened(actor: Actor, message: Message) -> Iterable[Output]:
    yield Opened(dialect=DIALECT, origin=message.origin, session_id=actor.session_id)


def completed(actor: Actor, message: Message) -> Iterable[Output]:
    yield SetupCompleted(message.body)
    yield from actor.end()


def completed_unreadably(actor: Actor, message: Message) -> Iterable[Output]:
    """The page considers its setup over, so it is over for the host, too."""
    reason = f"How the setup of the page ended cannot be read: {message.body}"
    yield SetupCompleted(SetupResult("", error_code=SetupErrorCode.CONFIG_ERROR, error_message=reason))
    yield from actor.end()


def require_setup(actor: Actor, message: Message) -> Iterable[Output]:
    setup: SetupRequired = message.body
    yield actor.say(
        {
            "type": SETUP_REQUIRED,
            "reason": setup.reason.value,
            "message": fitting(setup.message),
            "canContinue": setup.can_continue,
        }
    )


def setup_required(_: Actor, message: Message) -> Iterable[Output]:
    yield message.body


def inner_took_too_long(actor: Actor, message: Message) -> Iterable[Output]:
    """Notify the host, which may wait without a deadline."""
    yield from _fail_setup(actor, SetupErrorCode.TIMEOUT, HandshakeTimeout("The setup was not completed in time."))


def _fail_setup(actor: Actor, code: SetupErrorCode, error: SessionError) -> Iterable[Output]:
    yield actor.say(_setup_complete(SetupResult("", error_code=code, error_message=str(error))))
    yield from actor.end(error)


def _version_error(message: Message) -> SessionError:
    body = message.body
    low, high = body.versions if isinstance(body, Handshake) else (body.version, body.version)
    theirs = " to ".join(dict.fromkeys(f"{major}.{minor}" for major, minor in (low, high)))
    return VersionMismatch(f"The peer speaks version {theirs} of the postMessage transport, we speak {VERSION}.")


_NOT_ACCEPTED = (
    "The framed page did not accept the session in time: it has not started, or does not allow this page's origin."
)
wrong_version = end_with(_version_error)
nobody_answered = end_with(lambda _: HandshakeTimeout("No host answered the handshake in time."))
never_called = end_with(lambda _: HandshakeTimeout("The framed page sent no handshake in time."))
never_accepted = end_with(lambda _: HandshakeTimeout(_NOT_ACCEPTED))
setup_took_too_long = end_with(lambda _: HandshakeTimeout("The setup was not completed in time."))
replaced = end_with(lambda _: PeerGone("The framed page was reloaded or navigated away; the session is over."))
removed = end_with(lambda _: PeerGone("The peer's window is gone; the session is over."))
