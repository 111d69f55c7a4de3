"""The setup phase of a session, in the dialects that have one: its start and its end on each side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.allowed_origins import OriginLists
from mcpframe.frame.core.connection import AllowedOrigins, Candidate
from mcpframe.frame.core.dialect import SETUP
from mcpframe.frame.core.errors import OriginError, SessionError
from mcpframe.frame.core.setup import (
    Act,
    Permission,
    SetupCompleted,
    SetupErrorCode,
    SetupReason,
    SetupRequired,
    SetupResult,
    SetupStarted,
    Visibility,
)
from mcpframe.frame.dialects.available import dialects

if TYPE_CHECKING:
    from mcpframe.frame.session.session import Session

__all__ = [
    "Permission",
    "SetupCompleted",
    "SetupErrorCode",
    "SetupReason",
    "SetupRequired",
    "SetupResult",
    "SetupStarted",
    "Visibility",
    "complete",
    "configured_result",
    "page_candidates",
    "require",
    "result_of",
    "shortened",
]

_MAX_TEXT = 2000
"""Characters of one text for the host; ours rejects texts of more than 4096."""


def page_candidates(
    allowed_origins: AllowedOrigins | OriginLists, *, visible: bool = False, permissions: tuple[Permission, ...] = ()
) -> list[Candidate]:
    """Return the candidates of a framed page in its setup: the setup roles in which any origin is allowed.

    Args:
        allowed_origins: the allowed origins of the host.
        visible: whether the page needs to be visible meanwhile.
        permissions: the browser permissions that it asks for.

    Raises:
        OriginError: if no dialect with a setup allows any origin.
    """
    having = [each for each in dialects() if SETUP in each.inner]
    candidates = [
        Candidate(each.inner[SETUP], allowed, each.setup_offer(visible=visible, permissions=permissions))
        for each in having
        if (allowed := allowed_origins.of(each.name)) is not None
    ]
    if not candidates:
        names = ", ".join(each.name for each in having)
        raise OriginError(
            f"Nobody may set up this server: its setup needs the dialect {names}. Add an origin for that to "
            "allowed_origins, and do not leave it out of `dialects`."
        )
    return candidates


def configured_result(title: str, visibility: Mapping[str, Any]) -> SetupResult:
    """Return the result of a setup without an author's function.

    Args:
        title: the name of the page.
        visibility: `requirement` and `message` of `[tool.mcpframe.visibility]`.
    """
    requirement = Visibility(visibility.get("requirement") or Visibility.HIDDEN)
    return SetupResult(title, requirement, visibility_message=visibility.get("message"))


def complete(session: Session, result: SetupResult) -> None:
    """Inner frame: end the setup phase. Raises `StateError` outside of it."""
    session.act(Act.COMPLETE_SETUP, result)


def require(session: Session, reason: SetupReason, message: str, can_continue: bool) -> None:
    """Inner frame: ask the host to run the setup again. Raises `StateError` if the session is not open."""
    session.act(Act.REQUIRE_SETUP, SetupRequired(reason, shortened(message), can_continue))


async def result_of(session: Session) -> SetupResult:
    """Outer frame: wait for the inner one to complete its setup.

    Returns:
        The inner frame's result; a setup that failed or was cancelled has an `error_code`.

    Raises:
        SessionError: if the setup never completed.
    """
    closed = await session.ended()
    if isinstance(session.own_event, SetupCompleted):
        return session.own_event.result
    raise closed.error or SessionError("The session was closed during the setup.")


def shortened(text: str) -> str:
    """Return a text cut to the length that hosts accept."""
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
