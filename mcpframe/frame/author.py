"""What an author's functions get: the session with the host, and how a setup ends.

    @server.setup(visible=True)
    async def setup(session: FrameSession) -> Setup:
        await session.page.show("setup.html")
        await session.page.element("#ready").event("click")
        return Setup(title="My notes", ephemeral_message="Ready")

Each peer has a session of its own, and `FrameServer.session` is that of the peer that the code runs for. Outside of a
browser it is a local one, with values in memory and no page, so that tools and tests run unchanged.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from mcpframe.frame.core.errors import SetupFailed, StateError
from mcpframe.frame.core.events import Permission, SetupErrorCode, SetupReason, SetupRequired, SetupResult, Visibility

if TYPE_CHECKING:
    from mcpframe.frame.session import Session
    from mcpframe.frame.storage import Storage
    from mcpframe.frame.ui import Page

Phase = Literal["setup", "transport", "local"]

_MAX_TEXT = 2000
"""Characters of one text for the host, who refuses longer ones (ours: more than 4096)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """How a setup ended well. What is left out is as `[tool.mcpframe]` has it.

    Attributes:
        title: the name the host shows for what was set up.
        visibility: whether the page is to be seen while it serves: `"required"`, `"optional"` or `"hidden"`.
        visibility_message: for `"optional"`, what the user gains from seeing it.
        ephemeral_message: a short notice for the user.
    """

    title: str | None = None
    visibility: Visibility | Literal["required", "optional", "hidden"] | None = None
    visibility_message: str | None = None
    ephemeral_message: str | None = None

    def __post_init__(self) -> None:
        if self.visibility is not None:
            Visibility(self.visibility)
        for name in ("title", "visibility_message", "ephemeral_message"):
            if not isinstance(getattr(self, name), str | None):
                raise TypeError(f"Setup({name}=...) has to be a text, not {getattr(self, name)!r}.")


class FrameSession:
    """The session of this page with its host.

    Attributes:
        id: the id that the host gave; `"local"` outside of a frame.
        origin: the host's origin; empty outside of a frame.
        phase: `"setup"`, `"transport"`, or `"local"` outside of a frame.
        storage: what the session keeps, in this browser.
        page: the document of this page.
        closed: set when the session is over.
    """

    def __init__(self, session: Session | None, phase: Phase, storage: Storage, page: Page) -> None:
        """Made by boot, and by `FrameServer.session` outside of a frame."""
        self.id = session.id if session else "local"
        self.origin = session.origin if session else ""
        self.phase = phase
        self.storage = storage
        self.page = page
        self.closed = asyncio.Event()
        self._session = session

    async def require_setup(
        self,
        reason: SetupReason | Literal["AUTH_EXPIRED", "CONFIG_CHANGED", "PERMISSIONS_CHANGED", "OTHER"],
        message: str,
        can_continue: bool = False,
    ) -> None:
        """Ask the host to run this page's setup again (SEP "postMessage Transport", MCP_SETUP_REQUIRED).

        Args:
            reason: why.
            message: a sentence for the user.
            can_continue: whether the tools work until then.

        Raises:
            StateError: outside of a session's transport phase.
        """
        if self._session is None or self.phase != "transport":
            raise StateError("Only a session with a host, in its transport phase, can ask for its setup again.")
        self._session.require_setup(SetupRequired(SetupReason(reason), _shortened(message), can_continue))


SetupFunction = Callable[[FrameSession], Awaitable[Setup | None]]
UiFunction = Callable[[FrameSession], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SetupPhase:
    """What an author registered with `FrameServer.setup`.

    Attributes:
        function: the author's function.
        visible: whether the page needs to be seen.
        permissions: the browser permissions that the host is asked for.
    """

    function: SetupFunction
    visible: bool
    permissions: tuple[Permission, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """What goes wrong in an author's function, for the page.

    Attributes:
        title: a sentence.
        detail: the traceback; empty where the author's function ended on purpose.
    """

    title: str
    detail: str


async def run_setup(
    function: SetupFunction, session: FrameSession, default: SetupResult
) -> tuple[SetupResult, Failure | None]:
    """Run an author's setup function; whatever it does becomes a result for the host.

    Args:
        function: the author's function.
        session: the session in its setup phase.
        default: what the configuration says.

    Returns:
        The result, and for the page what went wrong. A `SetupFailed` gives its code, a `TimeoutError` TIMEOUT, and any
        other exception CONFIG_ERROR, with their messages.
    """
    try:
        return _result(await function(session), default), None
    except SetupFailed as error:
        code, message, detail = error.code, error.message, ""
    except TimeoutError as error:
        code, message, detail = "TIMEOUT", str(error) or "The setup was not completed in time.", traceback.format_exc()
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise  # the host has given the setup up; otherwise it is something of the author's that was cancelled
        from mcpframe.frame import hints

        await hints.explain(error)
        message = "\n".join([str(error) or type(error).__name__, *getattr(error, "__notes__", ())])
        code, detail = "CONFIG_ERROR", traceback.format_exc()
    message = _shortened(message)
    result = SetupResult(default.title, error_code=SetupErrorCode(code), error_message=message)
    return result, Failure(message, detail)


def _result(setup: Setup | None, default: SetupResult) -> SetupResult:
    if setup is None:
        return default
    if not isinstance(setup, Setup):
        raise TypeError(f"The setup function has to return a Setup, not {type(setup).__name__}.")
    if setup.visibility is None:
        visibility, message = default.visibility, setup.visibility_message or default.visibility_message
    else:
        visibility, message = Visibility(setup.visibility), setup.visibility_message
        if message is None and visibility is default.visibility:
            message = default.visibility_message
    notice = setup.ephemeral_message
    return SetupResult(
        _shortened(setup.title or default.title),
        visibility,
        message and _shortened(message),
        notice and _shortened(notice),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


def local_session() -> FrameSession:
    """Return a session outside of a frame: values in memory, no page, no host."""
    from mcpframe.frame.storage import Storage
    from mcpframe.frame.ui import Page

    storage = Storage("local")
    return FrameSession(None, "local", storage, Page(None, storage=storage))


def parse_permissions(permissions: Sequence[Permission | str]) -> tuple[Permission, ...]:
    """Return permissions, those named by a text alone too."""
    return tuple(Permission(item) if isinstance(item, str) else item for item in permissions)
