"""The setup of a server, for its author: the result of a setup function, and how the function is run.

@server.setup(visible=True)
async def setup(session: FrameSession) -> Setup:
    await session.page.show("setup.html")
    await session.page.element("#ready").event("click")
    return Setup(title="My notes", ephemeral_message="Ready")
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mcpframe.frame.core.errors import SetupFailed
from mcpframe.frame.serving.frame_session import FrameSession
from mcpframe.frame.session.setup_phase import Permission, SetupErrorCode, SetupResult, Visibility, shortened


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """The result of a successful setup. Omitted values are those of `[tool.mcpframe]`.

    Attributes:
        title: the name that the host shows for this configuration.
        visibility: whether the page is to be visible while it serves: `"required"`, `"optional"` or `"hidden"`.
        visibility_message: for `"optional"`, why the user may want to see it.
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


_UNKEPT = "The browser keeps nothing for this page (its frame has no storage), so what was set up is lost."

SetupFunction = Callable[[FrameSession], Awaitable[Setup | None]]


@dataclass(frozen=True, slots=True)
class SetupPhase:
    """The registration of an author's setup function with `FrameServer.setup`.

    Attributes:
        function: the author's function.
        visible: whether the page must be visible.
        permissions: the browser permissions to request from the host.
    """

    function: SetupFunction
    visible: bool
    permissions: tuple[Permission, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure of an author's function, to show on the page.

    Attributes:
        title: a sentence.
        detail: the traceback; empty if the author's function ended deliberately.
    """

    title: str
    detail: str


async def run_setup(
    function: SetupFunction, session: FrameSession, default: SetupResult
) -> tuple[SetupResult, Failure | None]:
    """Run an author's setup function, and return a result for the host in any case.

    Args:
        function: the author's function.
        session: the session in its setup phase.
        default: the result according to the configuration.

    Returns:
        The result, and the failure to show on the page. A `SetupFailed` gives its code, a `TimeoutError` TIMEOUT, and
        any other exception CONFIG_ERROR, with their messages.
    """
    try:
        return _with_notice(_result(await function(session), default), session), None
    except SetupFailed as error:
        code, message, detail = error.code, error.message, ""
    except TimeoutError as error:
        code, message, detail = "TIMEOUT", str(error) or "The setup was not completed in time.", traceback.format_exc()
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task and task.cancelling():
            raise  # the host has cancelled the setup; otherwise it was a cancellation of the author's own
        from mcpframe.frame.page import hints

        await hints.explain(error)
        message = "\n".join([str(error) or type(error).__name__, *getattr(error, "__notes__", ())])
        code, detail = "CONFIG_ERROR", traceback.format_exc()
    message = shortened(message)
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
        shortened(setup.title or default.title),
        visibility,
        message and shortened(message),
        notice and shortened(notice),
    )


def _with_notice(result: SetupResult, session: FrameSession) -> SetupResult:
    """Add a notice to the result if the values that the setup stored are lost: the tools run in another page."""
    if session.phase != "setup" or not session.storage.unkept:
        return result
    return replace(result, ephemeral_message=shortened(" ".join(filter(None, (_UNKEPT, result.ephemeral_message)))))


def parse_permissions(permissions: Sequence[Permission | str]) -> tuple[Permission, ...]:
    """Return permissions; a text is a permission's name."""
    return tuple(Permission(item) if isinstance(item, str) else item for item in permissions)
