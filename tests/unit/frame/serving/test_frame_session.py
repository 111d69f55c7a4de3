"""An author's setup function, and what becomes of whatever it does; the local session of plain CPython."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mcpframe import FrameServer, FrameSession, Setup, SetupCancelled, SetupFailed
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.setup import Permission, SetupErrorCode, SetupResult, Visibility
from mcpframe.frame.serving.author_setup import run_setup
from mcpframe.frame.serving.frame_session import local_session
from mcpframe.frame.storage.values import MemoryRecords, Storage

DEFAULT = SetupResult("Configured", Visibility.OPTIONAL, "See it")


async def ended(result: Any = None, error: BaseException | None = None) -> Any:
    async def setup(session: FrameSession) -> Any:
        if error:
            raise error
        return result

    return await run_setup(setup, local_session(), DEFAULT)


@pytest.mark.parametrize(
    ("setup", "result"),
    [
        (None, DEFAULT),
        (Setup(), DEFAULT),
        (Setup(title="T"), SetupResult("T", Visibility.OPTIONAL, "See it")),
        (Setup(visibility="hidden"), SetupResult("Configured", Visibility.HIDDEN)),
        (Setup(visibility=Visibility.OPTIONAL), DEFAULT),
        (Setup(visibility_message="Look"), SetupResult("Configured", Visibility.OPTIONAL, "Look")),
        (
            Setup(title="T", visibility="required", visibility_message="Must", ephemeral_message="Done"),
            SetupResult("T", Visibility.REQUIRED, "Must", "Done"),
        ),
        (Setup(title="x" * 5000), SetupResult("x" * 1999 + "…", Visibility.OPTIONAL, "See it")),
    ],
)
async def test_what_is_left_out_is_as_configured(setup: Setup | None, result: SetupResult) -> None:
    assert await ended(setup) == (result, None)


@pytest.mark.parametrize("stores", [True, False])
@pytest.mark.parametrize("has_storage", [True, False])
async def test_a_setup_that_stores_where_nothing_is_kept_says_so(has_storage: bool, stores: bool) -> None:
    async def setup(session: FrameSession) -> Setup:
        if stores:
            await session.storage.set("file", "content")
        return Setup(ephemeral_message="Loaded")

    local = local_session()
    storage = Storage("s", records=MemoryRecords() if has_storage else None)
    session = FrameSession(None, "setup", storage, local.page, local.host)
    result, failure = await run_setup(setup, session, DEFAULT)
    lost = stores and not has_storage
    assert failure is None
    assert result.ephemeral_message
    assert result.ephemeral_message.endswith("Loaded")
    assert ("no storage" in result.ephemeral_message) == lost == storage.unkept


@pytest.mark.parametrize(
    ("error", "code", "message", "has_traceback"),
    [
        (SetupCancelled(), "USER_CANCELLED", "The setup was cancelled.", False),
        (SetupCancelled("Not today"), "USER_CANCELLED", "Not today", False),
        (SetupFailed("AUTH_FAILED", "Wrong password"), "AUTH_FAILED", "Wrong password", False),
        (SetupFailed("TIMEOUT", "Too late"), "TIMEOUT", "Too late", False),
        (TimeoutError(), "TIMEOUT", "The setup was not completed in time.", True),
        (ValueError("bad"), "CONFIG_ERROR", "bad", True),
        (ValueError(), "CONFIG_ERROR", "ValueError", True),
        (SystemExit(3), "CONFIG_ERROR", "3", True),
        (asyncio.CancelledError(), "CONFIG_ERROR", "CancelledError", True),
        (ValueError("x" * 5000), "CONFIG_ERROR", "x" * 1999 + "…", True),
    ],
)
async def test_an_exception_ends_the_setup_with_a_code(
    error: BaseException, code: str, message: str, has_traceback: bool
) -> None:
    result, failure = await ended(error=error)
    assert result == SetupResult("Configured", error_code=SetupErrorCode(code), error_message=message)
    assert failure.title == message
    assert ("Traceback" in failure.detail) is has_traceback


async def test_another_result_is_an_error_of_the_author() -> None:
    result, failure = await ended("done")
    assert "return a Setup, not str" in str(result.error_message)
    assert "TypeError" in failure.detail


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Setup(title=7), TypeError),  # type: ignore[arg-type]
        (lambda: Setup(visibility="sometimes"), ValueError),  # type: ignore[arg-type]
        (lambda: SetupFailed("NO_SUCH_CODE", "m"), ValueError),
        (lambda: SetupFailed("VERSION_MISMATCH", "m"), ValueError),
    ],
)
def test_what_cannot_be_sent_is_refused_where_it_is_written(make: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


async def test_a_setup_that_the_host_gives_up_is_cancelled() -> None:
    cleaned = []

    async def setup(session: FrameSession) -> Setup:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            cleaned.append(True)

    running = asyncio.ensure_future(run_setup(setup, local_session(), DEFAULT))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert cleaned == [True]


# FrameServer


async def setting_up(session: FrameSession) -> Setup:
    return Setup()


async def showing(session: FrameSession) -> None:
    return None


def test_registering_gives_the_functions_back() -> None:
    server = FrameServer("test", allowed_origins=["https://chat.example"])
    assert server.setup_phase is server.ui_function is None
    asked = ["camera", Permission("clipboard-read", required=True)]
    assert server.setup(visible=True, permissions=asked)(setting_up) is setting_up
    assert server.ui(showing) is showing
    assert server.setup_phase is not None
    assert server.setup_phase.visible
    assert server.setup_phase.permissions == (Permission("camera"), Permission("clipboard-read", required=True))
    assert server.ui_function is showing


def test_wrong_functions_are_refused() -> None:
    server = FrameServer("test", allowed_origins=["https://chat.example"])
    with pytest.raises(TypeError, match="has to be async"):
        server.setup(visible=False)(lambda session: Setup())  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="has to be async"):
        server.ui(lambda session: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match=r"@server.setup\(visible=True\)"):
        server.setup(visible=setting_up)  # type: ignore[arg-type]
    server.setup(visible=False)(setting_up)
    server.ui(showing)
    with pytest.raises(TypeError, match="a setup function already"):
        server.setup(visible=True)(setting_up)
    with pytest.raises(TypeError, match="a ui function already"):
        server.ui(showing)


async def test_outside_of_a_browser_the_session_is_local() -> None:
    server = FrameServer("test", allowed_origins=["https://chat.example"])
    session = server.session
    assert session is server.session
    assert (session.id, session.origin, session.phase, session.closed.is_set()) == ("local", "", "local", False)
    await session.storage.set("k", [1])
    assert await server.session.storage.get("k") == [1]
    assert not session.page.visible
    with pytest.raises(StateError, match="in its transport phase"):
        await session.require_setup("OTHER", "again")
    other = FrameServer("other", allowed_origins=["https://chat.example"])
    assert await other.session.storage.get("k") is None


async def test_a_test_may_bring_its_own_session() -> None:
    server = FrameServer("test", allowed_origins=["https://chat.example"])
    server.session = session = local_session()
    assert server.session is session
    server.session = None
    assert server.session is not session
