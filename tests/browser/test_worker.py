"""A server in a worker: nothing freezes, and every call can be stopped."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from playwright.async_api import Page, Route, expect

from mcpframe.frame.core.limits import WORKER_GRACE_SECONDS
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import BundleOf, Origins, Troubles
from tests.browser.framed import PATIENCE, SHORT, Framed, forbid_workers
from tests.bundle.conftest import write_project
from tests.support.built import build_plain
from tests.support.suites import extended
from tests.support.takes_tasks import TakesTasks, TaskClient, cancelled


@pytest.fixture(scope="module")
def computing(bundle_of: BundleOf) -> str:
    """The address of the server."""
    return bundle_of("computing").url


async def test_a_ping_is_answered_while_a_tool_computes_and_a_person_stops_it(host_page: Page, computing: str) -> None:
    page = Framed(host_page, computing, mode="legacy")
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            assert await page.call("where") == "worker"
            assert await page.call("keep", text="lost") == ["lost"]
            outcomes: list[Any] = []

            async def spin() -> None:
                with pytest.raises(MCPError, match="stopped by a person") as raised:
                    await client.call_tool("spin", {})
                outcomes.append(raised.value.error.data)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(spin)
                await page.busy()
                await client.session.send_ping()
                assert outcomes == []
                shown = (await page.frame()).locator("#mcpframe-computing")
                await expect(shown).to_contain_text("spin: computing for")
                await shown.get_by_role("button", name="Stop").click()
            assert outcomes == [{"reason": "stopped", "mayHaveRun": True}]
            assert await page.call("keep", text="new") == ["new"]
            await expect(shown).to_be_hidden()


async def test_a_host_in_python_stops_a_tool_that_computes(host_page: Page, computing: str) -> None:
    page = Framed(host_page, computing)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:

            async def spin() -> None:
                with pytest.raises(MCPError, match="The host has had enough") as raised:
                    await client.call_tool("spin", {})
                assert raised.value.error.data == {"reason": "stopped"}

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(spin)
                await page.busy()
                page.outer.stop("The host has had enough.")
            assert await page.call("keep", text="new") == ["new"]


async def test_a_setup_starts_no_worker(host_page: Page, computing: str) -> None:
    begun: list[str] = []
    host_page.on("worker", lambda worker: begun.append(worker.url))
    page = Framed(host_page, computing)
    async with page.outer.setup(page.place) as setup:
        result = await setup.result()
    assert (result.error_code, len(begun)) == (None, 1)  # it unpacks the snapshot
    async with page.client:
        assert await page.call("where") == "worker"
    assert len(begun) == 3


BEGIN = """async (url) => {
  const { FrameTransport } = await import("/host.js");
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const transport = new FrameTransport({ iframe, url, timeout: 90_000 });
  const waiting = new Map();
  transport.onmessage = (message) => waiting.get(message.id)(message);
  globalThis.call = (id, name, args) => new Promise((resolve) => {
    waiting.set(id, resolve);
    transport.send({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
  });
  await transport.start();
  iframe.style.display = "block";
  globalThis.stopped = call(1, "spin", {});
  globalThis.transport = transport;
}"""
STOP = """async () => {
  transport.stop();
  const failed = await stopped;
  const kept = await call(2, "keep", { text: "new" });
  return [failed.error.code, failed.error.data, kept.result.structuredContent.result];
}"""


async def test_a_host_in_javascript_stops_a_tool_that_computes(host_page: Page, computing: str) -> None:
    with anyio.fail_after(PATIENCE):
        await host_page.evaluate(BEGIN, computing)
        await expect(host_page.frame_locator("iframe").locator("#mcpframe-computing")).to_be_visible()
        assert await host_page.evaluate(STOP) == [-32000, {"reason": "stopped"}, ["new"]]


@pytest.mark.parametrize("tool", ["spin", "hang"])
async def test_a_cancelled_call_ends_a_worker_that_computes_only(host_page: Page, computing: str, tool: str) -> None:
    page = Framed(host_page, computing, mode="legacy")
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            await page.call("keep", text="before")
            with pytest.raises(MCPError, match=r"[Tt]imed out"):
                await client.call_tool(tool, {}, read_timeout_seconds=SHORT)
            assert await page.call("keep", text="after") == (["after"] if tool == "spin" else ["before", "after"])


async def test_a_worker_that_fetches_a_file_for_a_cancellation_goes_on(host_page: Page, computing: str) -> None:
    async def late(route: Route) -> None:
        await anyio.sleep(3 * WORKER_GRACE_SECONDS)  # a slow line
        await route.continue_()

    await host_page.context.route("**/*.second.wasm", late)
    page = Framed(host_page, computing, mode="legacy")

    async def cancel(after: float) -> None:
        with pytest.raises(MCPError, match=r"[Tt]imed out"):
            await client.call_tool("hang", {}, read_timeout_seconds=after)

    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            await page.call("keep", text="before")
            async with anyio.create_task_group() as calls:
                calls.start_soon(cancel, SHORT)
                calls.start_soon(cancel, 2 * SHORT)  # by then it waits for the file, and does not answer
            assert await page.call("keep", text="after") == ["before", "after"]


async def test_a_cancelled_task_that_computes_ends_with_its_worker(host_page: Page, computing: str) -> None:
    page = Framed(host_page, computing, extensions=[TakesTasks()])
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            tasks = TaskClient(client)
            await page.call("keep", text="before")
            id_ = (await tasks.begin("spin_later"))["taskId"]

            async def poll() -> None:
                with pytest.raises(MCPError, match=r"process has ended|worker of this server was ended"):
                    await tasks.until(id_, cancelled)

            async with anyio.create_task_group() as group:
                group.start_soon(poll)
                await page.busy()
                await expect((await page.frame()).locator("#mcpframe-computing")).to_contain_text("spin_later")
                await tasks.ask("tasks/cancel", id_)
            assert await page.call("keep", text="after") == ["after"]


async def test_stored_values_and_files_outlive_the_worker_and_the_page(host_page: Page, bundle_of: BundleOf) -> None:
    url = bundle_of("computing", at="neighbour.host").url  # a frame of another site has no storage in private profiles
    page = Framed(host_page, url)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            assert await page.call("store", text="first") == await page.call("write", text="first") == ["first"]
            with pytest.raises(MCPError, match=r"[Tt]imed out"):
                await client.call_tool("spin", {}, read_timeout_seconds=SHORT)
            both = ["first", "second"]
            assert await page.call("store", text="second") == await page.call("write", text="second") == both
        again = Framed(host_page, url, session_id=page.outer.session_id)
        async with again.client:
            all_three = ["first", "second", "third"]
            assert await again.call("store", text="third") == await again.call("write", text="third") == all_three
        other = Framed(host_page, url)
        async with other.client:
            assert await other.call("store", text="alone") == await other.call("write", text="alone") == ["alone"]


@pytest.mark.parametrize("mode", ["auto", extended("legacy")])
async def test_input_asks_the_user(host_page: Page, computing: str, mode: str) -> None:
    asked: list[str] = []

    async def on_elicit(context: object, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        if len(asked) == 1:
            return types.ElicitResult(action="accept", content={"answer": "Ada"})
        return types.ElicitResult(action="decline")

    page = Framed(host_page, computing, mode=mode, on_elicit=on_elicit)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            assert await page.call("ask", question="Your name? ") == "Ada!"
            assert asked == ["Your name?"]
            declined = await client.call_tool("ask", {"question": ""})
            assert declined.is_error
            assert "has not answered" in str(declined.content)


@pytest.mark.extended
async def test_a_tool_has_the_time_limit_of_its_project(host_page: Page, computing: str) -> None:
    page = Framed(host_page, computing)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            with pytest.raises(MCPError, match=r"longer than 0\.5 s"):
                await client.call_tool("limited", {})
            assert await page.call("nap", seconds=0.1) == "slept"


@pytest.mark.extended
async def test_another_host_takes_over_from_a_tool_that_computes(host_page: Page, computing: str) -> None:
    with anyio.fail_after(PATIENCE):
        page = Framed(host_page, computing)
        async with page.client as client:
            with pytest.raises(MCPError, match=r"[Tt]imed out"):
                await client.call_tool("spin", {}, read_timeout_seconds=SHORT)
        page = Framed(host_page, computing)
        async with page.client:
            assert await page.call("keep", text="next") == ["next"]


@pytest.mark.parametrize("opaque", [extended(False), True], ids=["with an origin", "opaque"])
async def test_a_worker_that_ends_in_silence_is_replaced(
    host_page: Page, computing: str, troubles: Troubles, opaque: bool
) -> None:
    for complaint in (
        "The worker has ended by itself",
        "Failed to load resource",
        "Not allowed to load local resource",
    ):
        troubles.expect(complaint)
    options: dict[str, Any] = {"sandbox": "allow-scripts", "opaque": True} if opaque else {}
    page = Framed(host_page, computing, **options)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            with pytest.raises(MCPError, match=r"while it handled this request: The worker has ended by itself\.$"):
                await client.call_tool("vanish", {"after": 0})
            assert await page.call("keep", text="one") == ["one"]
            assert await page.call("nap", seconds=4) == "slept"  # one that computes is left alone
            assert await page.call("vanish", after=2) == "gone"
            kept: Any = None
            while kept != ["two"]:  # the new one has lost the variables
                with suppress(MCPError):  # the old one had begun with it
                    kept = await page.call("keep", text="two")


async def test_a_worker_that_says_its_client_has_left_does_not_stop_the_page(host_page: Page, computing: str) -> None:
    page = Framed(host_page, computing)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            with pytest.raises(MCPError, match="has ended this session"):
                await client.call_tool("end_session", {})
            assert await page.call("keep", text="one") == ["one"]


@pytest.mark.extended
async def test_python_that_ends_in_the_worker_is_replaced(host_page: Page, computing: str, troubles: Troubles) -> None:
    for complaint in ("fatal error", "Aborted", "Python", "ended", "unreachable", "promising task"):
        troubles.expect(complaint)
    page = Framed(host_page, computing)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            with pytest.raises(MCPError, match="while it handled this request"):
                await client.call_tool("crash", {})
            assert await page.call("keep", text="again") == ["again"]
            await expect((await page.frame()).get_by_role("alert")).to_contain_text("Python has ended")


async def test_a_page_that_can_have_no_worker_serves_itself(
    host_page: Page, bundle_of: BundleOf, troubles: Troubles
) -> None:
    troubles.expect("runs in the page")
    bundle = bundle_of("computing")
    await forbid_workers(host_page, bundle, troubles)
    page = Framed(host_page, bundle.url)
    with anyio.fail_after(PATIENCE):
        async with page.client:
            assert await page.call("where") == "page"


async def test_a_page_of_opaque_origin_has_a_worker(host_page: Page, bundle_of: BundleOf) -> None:
    url = bundle_of("computing").url
    page = Framed(host_page, url, sandbox="allow-scripts", opaque=True)
    with anyio.fail_after(PATIENCE):
        async with page.client:
            assert await page.call("where") == "worker"
            assert await page.call("store", text="in memory") == ["in memory"]


async def test_a_host_of_the_same_site_does_not_stand_still(host_page: Page, bundle_of: BundleOf) -> None:
    page = Framed(host_page, bundle_of("computing", at="neighbour.host").url)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            async with anyio.create_task_group() as tasks:

                async def spin() -> None:
                    with pytest.raises(MCPError, match="stopped"):
                        await client.call_tool("spin", {})

                tasks.start_soon(spin)
                await page.busy()
                began = time.monotonic()
                assert await host_page.evaluate("() => 1 + 1") == 2  # the host's own thread is free
                assert time.monotonic() - began < BOOT_PATIENCE
                await (await page.frame()).get_by_role("button", name="Stop").click()
            assert json.dumps(await page.call("keep", text="on")) == '["on"]'


PROGRAM = """
import queue
import threading
import time

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("program")


@mcp.tool()
def spin() -> str:
    while True:
        pass


@mcp.tool()
def nap(seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


@mcp.tool()
def queued(text: str) -> str:
    waiting = queue.Queue()

    def work() -> None:
        time.sleep(0.05)
        waiting.put(text)

    threading.Thread(target=work).start()
    return waiting.get(timeout=30)


def main() -> None:
    mcp.run()
"""

SETTINGS = """
[project]
name = "program"
version = "1.0"
dependencies = ["mcp<2"]
scripts = { program = "program:main" }

[tool.mcpframe]
entry = "ENTRY"
runs_in = "worker"
"""


@pytest.mark.extended
@pytest.mark.parametrize("entry", ["program", extended("program:mcp")], ids=["a console script", "an object"])
async def test_an_unmodified_server_runs_in_a_worker_without_a_snapshot_too(
    host_page: Page, origins: Origins, tmp_path: Path, entry: str
) -> None:
    project = tmp_path / "project"
    (project / "program").mkdir(parents=True)
    (project / "program" / "__init__.py").write_text(PROGRAM)
    (project / "pyproject.toml").write_text(SETTINGS.replace("ENTRY", entry))
    built = build_plain(project, tmp_path / "bundles", allowed_origins=[origins.host])
    with serve_folder(tmp_path / "bundles") as served:
        page = Framed(host_page, f"http://bundle.localhost:{served.port}/{built.url_path}")
        with anyio.fail_after(PATIENCE):
            async with page.client as client:
                with pytest.raises(MCPError, match=r"[Tt]imed out"):
                    await client.call_tool("spin", {}, read_timeout_seconds=SHORT)
                assert await page.call("nap", seconds=0.2) == "slept"
                assert await page.call("queued", text="handed over") == "handed over"


FAILING = """
import js

from mcpframe import FrameServer

if hasattr(js, "WorkerGlobalScope"):  # not in the build
    raise LookupError("not here")
server = FrameServer("failing")
"""
ASK = """async (url) => {
  const { FrameTransport } = await import("/host.js");
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const transport = new FrameTransport({ iframe, url, timeout: 90_000 });
  await transport.start();
  return new Promise((resolve) => {
    transport.onmessage = resolve;
    transport.send({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  });
}"""


@pytest.mark.extended
async def test_a_server_that_cannot_be_imported_is_reported_to_its_host_and_on_its_page(
    host_page: Page, origins: Origins, tmp_path: Path, troubles: Troubles
) -> None:
    for complaint in ("raised an error", "LookupError"):
        troubles.expect(complaint)
    project = write_project(tmp_path / "project", 'runs_in = "worker"', FAILING, name="failing")
    built = build_plain(project, tmp_path / "bundles", allowed_origins=[origins.host])
    with serve_folder(tmp_path / "bundles") as served:
        answer = await host_page.evaluate(ASK, f"http://bundle.localhost:{served.port}/{built.url_path}")
        assert answer["error"]["data"] == {"reason": "worker_failed", "mayHaveRun": False}
        assert "raised an error" in answer["error"]["message"]
        alert = host_page.frame_locator("iframe").get_by_role("alert")
        await expect(alert).to_contain_text("LookupError: not here")
