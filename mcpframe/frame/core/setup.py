"""The vocabulary of the setup phase, in which a page asks its user before it serves: acts, results and events.

A dialect has this phase if `Dialect.inner` has roles for `SETUP`. The words are those of the SEP, which specifies it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mcpframe.frame.core.events import OwnEvent, SessionBegun


class Act(StrEnum):
    """Acts of an inner frame, besides sending: see `Connection.act`."""

    COMPLETE_SETUP = "complete setup"
    """End the setup phase, with a `SetupResult`."""
    REQUIRE_SETUP = "require setup"
    """Ask for the setup again, with a `SetupRequired`."""


class Visibility(StrEnum):
    """Whether a framed page must, may or should not be seen while it serves (`transportVisibility` of the SEP)."""

    REQUIRED = "required"
    OPTIONAL = "optional"
    HIDDEN = "hidden"


class SetupErrorCode(StrEnum):
    """Why a setup failed: the codes of the SEP, and the last two of its 2025-07 draft specification."""

    USER_CANCELLED = "USER_CANCELLED"
    AUTH_FAILED = "AUTH_FAILED"
    TIMEOUT = "TIMEOUT"
    CONFIG_ERROR = "CONFIG_ERROR"
    VERSION_MISMATCH = "VERSION_MISMATCH"
    INSUFFICIENT_PERMISSIONS = "INSUFFICIENT_PERMISSIONS"


class SetupReason(StrEnum):
    """Why a running session needs its setup again (`MCP_SETUP_REQUIRED` of the SEP)."""

    AUTH_EXPIRED = "AUTH_EXPIRED"
    CONFIG_CHANGED = "CONFIG_CHANGED"
    PERMISSIONS_CHANGED = "PERMISSIONS_CHANGED"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Permission:
    """A browser permission that an inner frame asks for (draft specification of 2025-07).

    Attributes:
        name: the Permissions Policy feature, such as `"clipboard-read"`.
        phase: the phases it is needed in, of `"setup"` and `"transport"`.
        required: whether the frame is useless without it.
        purpose: a sentence for the user.
    """

    name: str
    phase: tuple[str, ...] = ("setup", "transport")
    required: bool = False
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The result of a setup, in either direction.

    Attributes:
        title: the name the host shows for this configuration; empty if the page gave none.
        visibility: whether the frame is to be seen in the transport phase.
        visibility_message: for `optional` visibility, the user's benefit of seeing it.
        ephemeral_message: a short notice for the user.
        error_code: set if the setup failed: a `SetupErrorCode`, or any other code that the page sent.
        error_message: the reason, for a person.
    """

    title: str
    visibility: Visibility = Visibility.HIDDEN
    visibility_message: str | None = None
    ephemeral_message: str | None = None
    error_code: SetupErrorCode | str | None = None
    error_message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupStarted(SessionBegun):
    """The setup phase has begun: the origin is pinned and the session has its id.

    Attributes:
        requires_visible: outer side only: whether the inner frame must be shown to the user.
        permissions: outer side only: the permissions that the inner frame asks for.
    """

    requires_visible: bool = False
    permissions: tuple[Permission, ...] = ()


@dataclass(frozen=True, slots=True)
class SetupCompleted(OwnEvent):
    """Outer side: the inner frame has finished its setup, with or without success (see `result.error_code`)."""

    result: SetupResult


@dataclass(frozen=True, slots=True)
class SetupRequired(OwnEvent):
    """Outer side: a running session asks for its setup again.

    Attributes:
        reason: one of the reasons of the SEP.
        message: a sentence for the user.
        can_continue: whether the session works until then.
    """

    reason: SetupReason
    message: str
    can_continue: bool
