"""Fixtures of the suites in other environments."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import pytest

from mcpframe.frame.boot import boot
from tests.support.plain_client import PlainClient, QuietPage, framed

Serving = Callable[..., AbstractAsyncContextManager[PlainClient]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
async def bounded() -> AsyncIterator[None]:
    with anyio.fail_after(20):
        yield


@pytest.fixture
def page() -> QuietPage:
    return QuietPage()


@pytest.fixture
def serving(page: QuietPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    """Return what boots a page with an author's module, and connects to it: `async with serving(source) as client`."""
    window = ModuleType("mcpframe.frame.browser.window")
    window.before_leaving = lambda act: lambda: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, window.__name__, window)
    monkeypatch.setattr(window.__name__, window, raising=False)
    monkeypatch.setattr(boot, "_running", set())
    monkeypatch.setattr("mcpframe.frame.page.load._bundle", None)
    monkeypatch.syspath_prepend(str(tmp_path))

    def serve(source: str, entry: str = "authored:server", **config: Any) -> AbstractAsyncContextManager[PlainClient]:
        (tmp_path / "authored.py").write_text(textwrap.dedent(source))
        return framed(page, window, entry, **config)

    yield serve
    sys.modules.pop("authored", None)
