"""The inspector's shell without a browser: what is remembered, and what is added meanwhile."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

import shell
from mcpframe.frame.storage import Storage
from mcpframe.frame.ui import Page
from mcpframe.kit.data import static_dir
from servers import Server, Servers
from tests.support.fake_page import FakeBrowser


class View:
    """A server's view that shows nothing."""

    def __init__(self, _page: Page, server: Server, _origin: str, **_told: Any) -> None:
        self.server = server
        self.started = False
        self.connection = SimpleNamespace(state="idle")

    async def start(self) -> None:
        self.started = True

    def select(self, selected: bool) -> None:
        self.selected = selected


class SlowStorage(Storage):
    """Gives a value once it is set."""

    def __init__(self) -> None:
        super().__init__("inspector")
        self.value: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def get(self, key: str, default: Any = None) -> Any:
        return await self.value


async def test_a_server_that_is_added_while_the_list_is_read_is_added_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "ServerView", View)
    browser, storage, troubles = FakeBrowser(), SlowStorage(), []
    page = Page(browser, storage=storage, on_error=lambda title, _: troubles.append(title))
    html = (static_dir() / "inspector" / "app.html").read_text("utf-8")
    root = browser.document.documentElement
    root.innerHTML = html
    location = SimpleNamespace(origin="https://inspector.example", hash="")
    monkeypatch.setattr(browser.document, "location", location, raising=False)
    made = shell.Shell(page)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(made.begin)
        await anyio.wait_all_tasks_blocked()
        page.element("#insp-url").value = "https://new.example/"
        browser.happen("#insp-add", "submit")
        await anyio.wait_all_tasks_blocked()
        remembered = Servers()
        remembered.add(Server("https://remembered.example/"))
        storage.value.set_result(remembered.to_json())
    await anyio.wait_all_tasks_blocked()
    assert troubles == []
    assert [server.url for server in made._servers] == ["https://remembered.example/", "https://new.example/"]
    views = cast("dict[str, View]", made._views)
    assert [view.started for view in views.values()] == [False, True]
