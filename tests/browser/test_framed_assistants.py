"""The template dashboard around somebody else's assistant, which posts MCP as it is; and who is refused there.

The assistants are npm's `Client` in the versions that people have, and one without a library that does as Ozwell's.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Frame, Page, expect

from mcpframe.kit.web.serve import serve_folder
from tests.browser.by_hand import framed, loaded
from tests.browser.conftest import PAGES, Troubles
from tests.browser.pairs import build_dashboard
from tests.browser.plain_framed import ASSISTANTS, write_assistants
from tests.browser.test_template_dashboard import BOOT, Dashboard
from tests.contract.playing import INITIALIZE, POLL, heard, say
from tests.support.built import opened_often
from tests.support.suites import extended

Json = dict[str, Any]
PING = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}
PONG = {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}}
BEGIN = {**INITIALIZE["params"], "protocolVersion": "2025-11-25", "capabilities": {}}
BEGIN |= {"clientInfo": {"name": "ozwell", "version": "1.0.0"}}
ASKED = (PING, "init")
"""What the dashboard posts until the assistant has spoken."""
NOISE = {"source": "ozwell-chat-widget", "type": "thinking"}


def request(id_: int | str, method: str, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method, **({"params": params} if params else {})}


def call(id_: int | str, name: str, **arguments: Any) -> Json:
    return request(id_, "tools/call", name=name, arguments=arguments)


FORGED = [INITIALIZE, PONG, PING, call(1, "getTeamStats"), call("forged", "getTeamStats"), request(2, "tools/list")]


@dataclass(frozen=True)
class Site:
    """A dashboard for one assistant's address, at which a test puts the page.

    Attributes:
        folder: what all origins serve.
        port: their port.
    """

    folder: Path
    port: int

    def origin(self, name: str) -> str:
        """Return one of the origins."""
        return f"http://{name}.localhost:{self.port}"

    def put(self, page: str) -> None:
        """Put a page, its HTML, at the assistant's address."""
        (self.folder / "assistant" / "index.html").write_text(page)


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    assistant = folder / "assistant"
    assistant.mkdir()
    write_assistants(assistant)
    for name in ("page.html", "page.js"):
        shutil.copy(PAGES / name, assistant)
    with serve_folder(folder) as served:
        site = Site(folder, served.port)
        build_dashboard(
            folder,
            tmp_path_factory.mktemp("project"),
            copilot=f"{site.origin('copilot')}/assistant/",
            frame_src="http:",  # all too wide: the messages' gate is left
            snapshot=opened_often(request.config),
            dialect="plain_mcp",
        )
        yield site


@pytest.fixture
async def dashboard(context: BrowserContext, troubles: Troubles) -> Dashboard:
    return Dashboard(await context.new_page())


async def opened(dashboard: Dashboard, site: Site, page: str) -> Frame:
    """Open the dashboard around a page, and return that page's frame, of which nothing has run yet."""
    site.put(page)
    await dashboard.open(f"{site.origin('dashboard')}/dashboard/")
    iframe = await dashboard.page.wait_for_selector("iframe", state="attached", timeout=BOOT)
    frame = await iframe.content_frame()
    assert frame is not None
    return frame


async def connected(dashboard: Dashboard, frame: Frame) -> None:
    """Wait until an assistant knows the tools around it."""
    await frame.wait_for_function("() => globalThis.assistant", polling=POLL, timeout=BOOT)
    await expect(dashboard.status).to_contain_text("can read this dashboard")


def calls(dashboard: Dashboard) -> Any:
    """What the dashboard lists of the assistant's calls, the last first."""
    return dashboard.copilot.locator("#calls li")


async def test_an_assistant_without_a_library_message_by_message(dashboard: Dashboard, site: Site) -> None:
    frame = await opened(dashboard, site, (site.folder / "assistant" / "plain_assistant.html").read_text())
    await connected(dashboard, frame)
    tools = await frame.evaluate("assistant.tools")
    assert {"get_current_user", "getCurrentUser", "get_user_projects"} <= set(tools)
    asking = "([name, args, id]) => assistant.call(name, args, id)"
    assert "Ada Moreno" in await frame.evaluate(asking, ["getCurrentUser", {}, "call_Ab1"])
    late = ["get_user_projects", {"overdue_only": True}]
    assert "Billing migration" in await frame.evaluate(asking, [*late, "call_Ab2"])
    await dashboard.button("Mark done: Billing migration").click()
    assert "Billing migration" not in await frame.evaluate(asking, [*late, "call_Ab3"])
    assert "Only the projects of" in await frame.evaluate(asking, ["get_user_projects", {"user_id": "u-3"}, "call_Ab4"])
    assert "no_such_tool" in await frame.evaluate(asking, ["no_such_tool", {}, "call_Ab5"])

    posted = await frame.evaluate("assistant.posted")
    own = site.origin("dashboard")
    by_id = [
        call("call_Ab1", "getCurrentUser"),
        call("call_Ab2", "get_user_projects", overdue_only=True),
        call("call_Ab3", "get_user_projects", overdue_only=True),
        call("call_Ab4", "get_user_projects", user_id="u-3"),
        call("call_Ab5", "no_such_tool"),
    ]
    assert [(each["message"], each["target"]) for each in posted] == [
        ({"source": "ozwell-chat-widget", "type": "ready"}, "*"),
        (request(1, "initialize", **BEGIN), "*"),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, own),
        (request(2, "tools/list"), own),
        *((message, own) for asked in by_id for message in (NOISE, asked)),
    ]
    told = await frame.evaluate("assistant.heard")
    assert {each["origin"] for each in told} == {own}
    answers = [each["data"] for each in told if each["data"] not in ASKED]  # which it does not answer
    assert [answer["id"] for answer in answers] == [1, 2, *(asked["id"] for asked in by_id)]
    assert answers[0]["result"]["protocolVersion"] == "2025-11-25"
    assert all(("result" in answer) != ("error" in answer) for answer in answers)
    assert [each["data"] for each in told][-len(answers) + 1 :] == answers[1:]  # and is not asked again
    assert (await calls(dashboard).all_text_contents())[-1] == "getCurrentUser()"


@pytest.mark.parametrize(
    ("name", "mode"),
    [("client-2.x", "auto"), *(extended(name, "legacy") for name in ("client-2.x", "client-1.x", "client-port"))],
)
async def test_an_assistant_by_npm(dashboard: Dashboard, site: Site, name: str, mode: str) -> None:
    assert name in ASSISTANTS
    page = (site.folder / "assistant" / f"{name}.html").read_text()
    frame = await opened(dashboard, site, f"<script>location.hash = '{mode}'</script>{page}")
    await connected(dashboard, frame)
    assert "getCurrentUser" in await frame.evaluate("assistant.tools")
    assert "Ada Moreno" in await frame.evaluate("assistant.call('getCurrentUser', {})")
    assert "Only the projects of" in await frame.evaluate("assistant.call('get_user_projects', { user_id: 'u-3' })")
    assert await calls(dashboard).count() == 2


@pytest.mark.extended
async def test_an_assistant_that_reloads_gets_a_fresh_session(dashboard: Dashboard, site: Site) -> None:
    frame = await opened(dashboard, site, (site.folder / "assistant" / "plain_assistant.html").read_text())
    await connected(dashboard, frame)
    assert "Ada Moreno" in await frame.evaluate("assistant.call('getCurrentUser', {})")
    before = await dashboard.page.query_selector("iframe")
    assert before
    await frame.evaluate("() => void setTimeout(() => location.reload())")
    await dashboard.page.wait_for_function("(before) => !before.isConnected", arg=before)
    frame = await (await dashboard.page.wait_for_selector("iframe", state="attached")).content_frame()  # type: ignore[assignment]
    await connected(dashboard, frame)
    assert "Ada Moreno" in await frame.evaluate("assistant.call('getCurrentUser', {})")


async def test_nobody_else_is_served(
    context: BrowserContext, dashboard: Dashboard, site: Site, troubles: Troubles
) -> None:
    """Other windows of each origin, before the assistant has spoken and after: they are not heard, and told nothing."""
    frame = await loaded(
        await opened(dashboard, site, (PAGES / "page.html").read_text()), f"{site.origin('copilot')}/assistant/"
    )
    page = dashboard.page
    await page.evaluate(
        "() => { self.embed = (src) => document.body.append(Object.assign(document.createElement('iframe'), { src })) }"
    )
    attackers: list[tuple[Frame | Page, str]] = [
        (await framed(page, f"{site.origin(name)}/assistant/page.html?sibling"), "parent")
        for name in ("copilot", "stranger", "dashboard")
    ]
    attackers.append((await framed(frame, f"{site.origin('copilot')}/assistant/page.html?child"), "top"))
    async with context.expect_page() as opening:
        await page.evaluate("url => void open(url)", f"{site.origin('copilot')}/assistant/page.html?popup")
    popup = await opening.value
    await popup.wait_for_function("() => typeof say === 'function'")
    attackers.append((popup, "opener"))

    async def bombard() -> None:
        texts = [json.dumps(message) for message in FORGED]
        for attacker, target in attackers:
            await attacker.evaluate(f"texts => texts.forEach((text) => say(text, {target}))", texts)
        await page.evaluate("texts => texts.forEach((text) => postMessage(JSON.parse(text), '*'))", texts)

    await bombard()
    await expect(dashboard.status).to_contain_text("is starting")
    await say(frame, {"source": "ozwell-chat-widget", "type": "ready"})
    await say(frame, request(1, "initialize", **BEGIN))
    await frame.wait_for_function("() => heard.some(({ data }) => data.id === 1)", polling=POLL, timeout=BOOT)
    await bombard()
    await say(frame, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    await say(frame, call("own", "getCurrentUser"))
    await frame.wait_for_function("() => heard.some(({ data }) => data.id === 'own')", polling=POLL)
    told = [message["data"] for message in await heard(frame, 2) if message["data"] not in ASKED]
    assert [message["id"] for message in told] == [1, "own"]
    assert await calls(dashboard).all_text_contents() == ["getCurrentUser()"]
    for attacker, _ in attackers:
        assert await attacker.evaluate("heard") == [], attacker.url
    await expect(dashboard.status).to_contain_text(site.origin("copilot"))
