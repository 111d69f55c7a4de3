"""The inspector's shell without a browser: what is remembered, and what is added meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlencode

import anyio
import pytest

from inspector.app import shell
from inspector.session.rebuilds import Rebuilt
from inspector.session.servers import PREFERRED, Server, Servers
from mcpframe.frame.page.session_page import Page
from mcpframe.frame.storage.values import Storage
from mcpframe.kit.base.data import static_dir
from tests.support.fake_page import FakeBrowser


class View:
    """A server's view that shows nothing."""

    def __init__(self, _page: Page, server: Server, _origin: str, **told: Any) -> None:
        self.server = server
        self.is_own = told["is_own"]
        self.started = False
        self.connection = SimpleNamespace(state="idle", unresponsive=False)

    async def start(self) -> None:
        self.started = True

    async def speak(self, dialect: str) -> None:
        self.server.speak(dialect)

    def select(self, selected: bool) -> None:
        self.selected = selected


class SlowStorage(Storage):
    """Storage whose value arrives once it is set."""

    def __init__(self) -> None:
        super().__init__("inspector")
        self.value: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def get(self, key: str, default: Any = None) -> Any:
        return await self.value


@dataclass
class Opened:
    """The shell in a page that was opened at an address.

    Attributes:
        asked: the addresses that the person was asked about.
    """

    shell: shell.Shell
    asked: list[str]
    troubles: list[str]

    @property
    def servers(self) -> list[str]:
        return [server.url for server in self.shell._servers]


async def opened(
    monkeypatch: pytest.MonkeyPatch, fragment: str, *, agrees: bool = False, remembered: Sequence[str] = (), **said: Any
) -> Opened:
    """Open the inspector, whose origin says this in examples.json."""
    monkeypatch.setattr(shell, "ServerView", View)
    browser, asked, troubles = FakeBrowser(), list[str](), list[str]()

    async def fetch(url: str) -> bytes:
        return json.dumps(said).encode()

    async def ask(page: Page, url: str) -> bool:
        asked.append(url)
        return agrees

    monkeypatch.setattr(browser, "fetch", fetch)
    monkeypatch.setattr(shell, "agrees", ask)
    storage = SlowStorage()
    servers = Servers()
    for url in remembered:
        servers.add(Server(url))
    storage.value.set_result(servers.to_json())
    page = Page(browser, storage=storage, on_error=lambda title, _: troubles.append(title))
    browser.document.documentElement.innerHTML = (static_dir() / "inspector" / "app.html").read_text("utf-8")
    location = SimpleNamespace(origin="https://inspector.example", hash=fragment, pathname="/", search="")
    monkeypatch.setattr(browser.document, "location", location, raising=False)
    window = SimpleNamespace(history=SimpleNamespace(replaceState=lambda *_: setattr(location, "hash", "")))
    window.URL = SimpleNamespace(new=lambda url, base: SimpleNamespace(href=url))
    monkeypatch.setattr(browser.document, "defaultView", window, raising=False)
    monkeypatch.setattr(browser.document, "baseURI", "https://inspector.example/", raising=False)
    made = shell.Shell(page)
    await made.begin()
    assert location.hash == ("" if not made._alone else fragment)
    return Opened(made, asked, troubles)


LINKED = "https://linked.example/pi/"
LINK = "#" + urlencode({"era": "legacy", "add": LINKED})


async def test_a_link_adds_a_server_only_where_the_person_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = await opened(monkeypatch, LINK)
    assert (refused.asked, refused.servers) == ([LINKED], [])
    agreed = await opened(monkeypatch, LINK, agrees=True, remembered=["https://mine.example/"])
    assert (agreed.asked, agreed.servers) == ([LINKED], ["https://mine.example/", LINKED])
    assert [server.era for server in agreed.shell._servers] == ["auto", "legacy"]
    there = await opened(monkeypatch, LINK, remembered=["https://mine.example/", LINKED])
    assert (there.asked, there.servers) == ([], ["https://mine.example/", LINKED])


@pytest.mark.parametrize("said", [{"named": [LINKED]}, {"servers": [{"title": "Pi", "url": LINKED}]}])
async def test_what_the_command_named_is_added_first_without_a_question(
    monkeypatch: pytest.MonkeyPatch, said: dict[str, Any]
) -> None:
    for remembered in (["https://mine.example/"], ["https://mine.example/", LINKED]):
        made = await opened(monkeypatch, LINK, remembered=remembered, **said)
        assert (made.asked, made.servers) == ([], [LINKED, "https://mine.example/"])
        assert made.shell._servers.selected == next(iter(made.shell._servers)).session_id


async def test_a_hub_is_added_without_a_question_and_is_not_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, is_own in (({}, True), ({"hubs": [LINKED]}, False)):
        made = await opened(monkeypatch, LINK, named=[LINKED], **said)
        assert (made.asked, made.servers) == ([], [LINKED])
        [view] = made.shell._views.values()
        assert cast("Any", view).is_own(LINKED) is is_own


RUNS = "https://site.example/playground/run.html"
RUN = "#" + urlencode({"add": f"{RUNS}#kept=1234"})


async def test_a_run_of_the_playground_beside_it_is_shown_alone_and_not_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = await opened(monkeypatch, RUN, remembered=["https://mine.example/"], runs=RUNS)
    assert (made.asked, made.servers) == ([], [f"{RUNS}#kept=1234"])
    await made.shell._remember()
    stored = await made.shell._page.storage.get("servers")
    assert [each["url"] for each in stored["servers"]] == ["https://mine.example/"]


@pytest.mark.parametrize(
    ("address", "runs"),
    [(f"{RUNS}#1.code", RUNS), (f"{RUNS}#kept=1", ""), ("https://else.example/run.html#kept=1", RUNS), (RUNS, RUNS)],
)
async def test_no_other_page_is_a_run(monkeypatch: pytest.MonkeyPatch, address: str, runs: str) -> None:
    made = await opened(monkeypatch, "#" + urlencode({"add": address}), runs=runs)
    assert (made.asked, made.servers) == ([address], [])


async def test_a_link_may_name_the_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    link = f"{LINK}&dialect="
    made = await opened(monkeypatch, f"{link}plain_mcp", agrees=True)
    assert [server.dialect for server in made.shell._servers] == ["plain_mcp"]
    made = await opened(monkeypatch, f"{link}esperanto", agrees=True)
    assert [server.dialect for server in made.shell._servers] == [PREFERRED]


async def test_a_server_that_is_there_changes_its_dialect_only_for_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    link = f"{LINK}&dialect=plain_mcp"
    made = await opened(monkeypatch, link, agrees=True, remembered=[LINKED])
    assert [server.dialect for server in made.shell._servers] == [PREFERRED]
    made = await opened(monkeypatch, link, remembered=[LINKED], named=[LINKED])
    assert [server.dialect for server in made.shell._servers] == ["plain_mcp"]


@pytest.mark.parametrize("fragment", ["#add=javascript:alert(1)", "#add=", "#else", ""])
async def test_a_link_to_no_server_adds_none(monkeypatch: pytest.MonkeyPatch, fragment: str) -> None:
    made = await opened(monkeypatch, fragment, agrees=True)
    assert (made.asked, made.servers, made.troubles) == ([], [], [])


async def test_a_project_that_does_not_build_yet_is_told_of_and_added_first_once_it_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = "http://localhost:8721/adder/"
    is_mended = asyncio.Event()

    async def news(fetch: Any, find: Any) -> AsyncIterator[Rebuilt]:
        assert await find() == "rebuilds?token=1&"
        yield Rebuilt("", is_new=False, error="server.py, line 3", running="")
        await is_mended.wait()
        yield Rebuilt(project, is_new=True, error="", running="")

    monkeypatch.setattr(shell, "news", news)
    made = await opened(monkeypatch, "", remembered=["https://mine.example/"], rebuilds="rebuilds?token=1&")
    made.shell._servers.selected = next(iter(made.shell._servers)).session_id
    await anyio.wait_all_tasks_blocked()
    page = made.shell._page
    assert page.element("#insp-broken-text").text == "server.py, line 3"
    assert not page.element("#insp-broken").hidden
    assert not page.element("#insp-welcome").hidden
    is_mended.set()
    await anyio.wait_all_tasks_blocked()
    assert page.element("#insp-broken").hidden
    assert (made.servers, made.troubles) == ([project, "https://mine.example/"], [])
    assert made.shell._servers.selected == next(iter(made.shell._servers)).session_id


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
