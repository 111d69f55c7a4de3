"""Python ends in the middle of a tool or of a setup: the host is told, and a person can restart the page."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from playwright.async_api import BrowserContext, Page, expect

from mcpframe.frame.core.events import Opened, Unresponsive
from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.setup_phase import SetupErrorCode
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from mcpframe.kit.dev.inspector import serve_inspector
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import BundleOf, Troubles
from tests.browser.inspecting import InspectorPage
from tests.support.suites import extended

PATIENCE = 2 * BOOT_PATIENCE


@pytest.fixture(scope="module")
def ending(bundle_of: BundleOf) -> str:
    """The address of the server."""
    return bundle_of("ending").url


@pytest.fixture
async def page(host_page: Page, troubles: Troubles) -> Page:
    """A host page whose frames complain."""
    for complaint in ("uncaught", "fatal error", "ended", "Error", "Aborted", "Python"):
        troubles.expect(complaint)
    return host_page


def framed(url: str) -> OuterFrame:
    return OuterFrame(url, options=Options(handshake_timeout=BOOT_PATIENCE))


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        extended("exit", "exit status 3"),
        extended("abort", "it was aborted"),
        extended("read", "out of bounds"),
        extended("stack", "call stack"),
        ("callback", "it was aborted"),
    ],
)
async def test_the_host_is_told_and_the_page_can_be_restarted(page: Page, ending: str, how: str, reason: str) -> None:
    place = PlaywrightPlace(page)
    with anyio.fail_after(PATIENCE):
        async with Client(framed(ending).connect(place, visible=True)) as client:
            with pytest.raises(MCPError, match="session is over"):
                await client.call_tool("end", {"how": how})
            assert place.window
            frame = await place.window.frame()
            alert = frame.get_by_role("alert")
            await expect(alert).to_contain_text("Python has ended")
            await expect(alert).to_contain_text(reason)
            await expect(frame.get_by_role("status")).to_have_text("Stopped")
            await alert.get_by_role("button", name="Restart").click()
            await expect(frame.get_by_role("status")).to_contain_text("waits", timeout=BOOT_PATIENCE * 1000)


@pytest.mark.extended
async def test_memory_that_is_used_up(page: Page, ending: str) -> None:
    with anyio.fail_after(PATIENCE):
        async with Client(framed(ending).connect(PlaywrightPlace(page))) as client:
            try:
                result = await client.call_tool("end", {"how": "memory"})
            except MCPError:
                return  # Python has ended
            assert result.is_error  # or it has not, and still serves
            assert not (await client.call_tool("echo", {"text": "again"})).is_error


async def test_a_setup_in_which_python_ends_fails(page: Page, ending: str) -> None:
    with anyio.fail_after(PATIENCE):
        async with framed(ending).setup(PlaywrightPlace(page)) as setup:
            result = await setup.result()
    assert result.error_code is SetupErrorCode.CONFIG_ERROR
    assert "stopped during its setup" in (result.error_message or "")


async def test_what_ends_a_program_elsewhere_is_an_error_result(page: Page, ending: str) -> None:
    told = {
        "sys.exit": "SystemExit: 3",
        "os._exit": "SystemExit: 3",
        "os.abort": "SystemExit: os.abort() was called",
        "task": "KeyboardInterrupt",
        "breakpoint": "A page has no terminal for a debugger",
        "input": "A page has no terminal",
        "recursion": "maximum recursion depth exceeded",
    }
    with anyio.fail_after(PATIENCE):
        async with Client(framed(ending).connect(PlaywrightPlace(page))) as client:
            for how, message in told.items():
                result = await client.call_tool("leave", {"how": how})
                assert result.is_error, how
                assert message in str(result.content), how
                assert not (await client.call_tool("echo", {"text": "again"})).is_error


RELOADED = """async (url) => {
  const { FrameTransport } = await import("/host.js");
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const said = [];
  const call = async (transport, id, name, args) => {
    const answered = new Promise((resolve) => (transport.onmessage = (message) => {
      said.push(message.id);
      resolve(message);
    }));
    const params = { name, arguments: args };
    await transport.send({ jsonrpc: "2.0", id, method: "tools/call", params });
    return answered;
  };
  const first = new FrameTransport({ iframe, url, unresponsiveAfter: 3_000, timeout: 90_000 });
  await first.start();
  await call(first, 1, "echo", { text: "there" });
  const silent = new Promise((resolve) => (first.onunresponsive = (is) => is && resolve(is)));
  const spinning = call(first, 2, "spin", {});
  const told = await silent;
  const next = first.reload();
  const failed = await spinning;
  await next.start();
  const again = await call(next, 3, "echo", { text: "again" });
  await next.close();
  const same = first.frameSessionId === next.frameSessionId;
  return { told, code: failed.error.code, text: again.result.content[0].text, said, same };
}"""


async def test_a_host_in_javascript_reloads_a_page_that_computes_for_ever(page: Page, ending: str) -> None:
    with anyio.fail_after(PATIENCE):
        got = await page.evaluate(RELOADED, ending)
    assert got == {"told": True, "code": -32000, "text": "again", "said": [1, 2, 3], "same": True}


@pytest.mark.extended
async def test_a_user_of_the_inspector_ends_a_page_that_hangs_in_a_cancelled_call(
    context: BrowserContext, troubles: Troubles, bundle_of: BundleOf
) -> None:
    folder = bundle_of("everything").folder / "everything"
    with anyio.fail_after(PATIENCE), serve_inspector(bundles=[folder]) as served:
        address = served.url_with(served.servers["everything"], "2026-07-28")
        inspector = await InspectorPage.open(context, served, address)
        server = await inspector.server("Everything")
        [frame] = [frame for frame in inspector.page.frames if frame.url.endswith("/everything/")]
        await server.call("compute", seconds="3600")
        with suppress(TimeoutError):
            while True:  # until it computes
                await asyncio.wait_for(frame.evaluate("1"), 1)
        await server.button("Cancel").click()
        await expect(server.state).to_have_text("Not responding")
        await expect(server.view.get_by_role("alert").filter(has_text="does not answer")).to_be_visible()
        await server.button("End and reopen").click()
        await expect(server.state).to_contain_text("Connected", timeout=BOOT_PATIENCE * 1000)
        await server.call("echo", text="again")
        await server.answers("again")


@pytest.mark.extended
async def test_a_host_in_python_reloads_a_page_that_computes_for_ever(page: Page, ending: str) -> None:
    ids = []
    spinning = False

    def note(event: Any) -> None:
        if isinstance(event, Opened):
            ids.append(event.session_id)
        elif event == Unresponsive(True) and spinning:  # not where the machine is slow
            assert outer.session
            outer.session.close()

    options = Options(handshake_timeout=BOOT_PATIENCE, unresponsive_after=3.0)
    outer = OuterFrame(ending, options=options, on_event=note)
    place = PlaywrightPlace(page)
    with anyio.fail_after(PATIENCE):
        async with Client(outer.connect(place)) as client:
            assert not (await client.call_tool("echo", {"text": "there"})).is_error
            spinning = True
            with pytest.raises(MCPError, match="closed before the answer"):
                await client.call_tool("spin", {})
            spinning = False
        async with Client(outer.connect(place)) as client:
            assert not (await client.call_tool("echo", {"text": "again"})).is_error
    assert ids == [outer.session_id] * 2
