"""The inspector's wire log and boot timeline, by clicking; one page serves all tests of an era."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Frame, Locator, expect

from mcpframe.kit.dev.inspector import Inspecting
from tests.browser.conftest import new_profile, watched
from tests.browser.inspecting import BOOT, InspectorPage, ServerPart
from tests.support.built import SNAPSHOTS
from tests.support.suites import newest_first

MOST_ROWS = 100
"""Messages that are shown at once."""

FLOOD = """async ([count, each]) => {
  for (let sent = 0; sent < count; sent += each) {
    for (let i = 0; i < each; i++) parent.postMessage({ source: "a library", number: sent + i }, "*");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}"""


@pytest.fixture(scope="module", params=newest_first(["2026-07-28", "legacy"]))
async def opened(
    request: pytest.FixtureRequest, browser: Browser, inspecting: Inspecting
) -> AsyncIterator[InspectorPage]:
    """The inspector with a server that has one of everything, in each era."""
    era = "auto" if request.param == "2026-07-28" else request.param
    async with new_profile(browser) as context, watched(context):
        inspector = await InspectorPage.open(
            context, inspecting, inspecting.url_with(inspecting.servers["everything"], era)
        )
        await inspector.server("Everything")
        yield inspector


@pytest.fixture
async def server(opened: InspectorPage) -> ServerPart:
    """The server, with an empty wire log and no filter."""
    server = await opened.server("Everything")
    await server.tab("Wire")
    await server.view.get_by_label("Filter").fill("")
    await server.view.get_by_label("Direction").select_option(label="Both")
    await server.view.get_by_label("Kind").select_option(label="All")
    return server


def rows(server: ServerPart) -> Locator:
    """The messages that are shown."""
    return server.view.get_by_role("region", name="Messages").locator("tbody tr")


def detail(server: ServerPart, name: str) -> Locator:
    """What one message says."""
    return server.view.get_by_role("region", name=name)


async def clear(server: ServerPart) -> None:
    await server.button("Clear").click()
    await expect(server.view.get_by_text("Nothing has crossed the wire yet.")).to_be_visible()


async def echo(server: ServerPart, text: str) -> None:
    """Call a tool, and come back to the log."""
    await server.call("echo", text=text)
    await server.answers(text)
    await server.tab("Wire")


async def framed(inspector: InspectorPage) -> Frame:
    """Return the server's own page."""
    element = await inspector.page.locator("iframe.mcpframe").element_handle()
    frame = await element.content_frame() if element else None
    assert frame is not None
    return frame


async def test_the_whole_session_is_there(server: ServerPart) -> None:
    shown = rows(server)
    await expect(shown.filter(has_text="MCP_TRANSPORT_HANDSHAKE_REPLY").first).to_contain_text("→ sent")
    await expect(shown.filter(has_text="MCP_TRANSPORT_ACCEPTED").first).to_contain_text("← received")
    answer = shown.filter(has_text="tools/list").filter(has_text="response").first
    await expect(answer).to_contain_text(re.compile(r"tools/list[\d,.]+ (B|kB)[\d,]+\.\d ms"))
    table = server.view.get_by_role("table", name="Messages, the newest last")
    assert await table.get_by_role("columnheader").all_text_contents() == [
        "Time",
        "Direction",
        "Kind",
        "Message",
        "Size",
        "Took",
    ]


async def test_a_call_its_answer_and_what_they_say(server: ServerPart) -> None:
    await clear(server)
    await echo(server, "<b>Grüße</b>")
    request = rows(server).filter(has_text="request").filter(has_text="tools/call")
    await expect(request).to_contain_text("echo")
    await request.get_by_role("button", name="tools/call").click()
    said = detail(server, "Sent: tools/call")
    await expect(said.get_by_role("heading")).to_be_focused()
    for part in ("params", "arguments"):
        await said.locator("summary").filter(has_text=re.compile(f"^{part}:")).click()
    await expect(said).to_contain_text('text: "<b>Grüße</b>"')
    await said.get_by_role("button", name="Show its answer").click()
    said = detail(server, "Received: tools/call")
    await expect(said).to_contain_text(re.compile(r"Took[\d,]+\.\d ms"))
    await expect(said).to_contain_text("result: {")
    await said.get_by_role("button", name="Close").click()
    await expect(said).to_be_hidden()
    answer = rows(server).filter(has_text="response").filter(has_text="tools/call")
    await expect(answer.get_by_role("button")).to_be_focused()


@pytest.mark.extended
async def test_it_works_by_the_keyboard(opened: InspectorPage, server: ServerPart) -> None:
    await clear(server)
    await echo(server, "by keyboard")
    await rows(server).filter(has_text="request").get_by_role("button").focus()
    await opened.page.keyboard.press("Enter")
    await expect(detail(server, "Sent: tools/call").get_by_role("heading")).to_be_focused()
    await opened.page.keyboard.press("Tab")
    await opened.page.keyboard.press("Enter")
    await expect(detail(server, "Received: tools/call").get_by_role("heading")).to_be_focused()


@pytest.mark.extended
async def test_filters(server: ServerPart) -> None:
    await clear(server)
    await echo(server, "a needle")
    await echo(server, "some hay")
    await server.view.get_by_label("Filter").fill("NEEDLE")
    await expect(rows(server)).to_have_count(2)
    await server.view.get_by_label("Direction").select_option(label="Sent")
    await expect(rows(server)).to_have_count(1)
    await expect(server.view.get_by_text(re.compile(r"^1 of \d+ messages$"))).to_be_visible()
    await server.view.get_by_label("Kind").select_option(label="Errors")
    await expect(server.view.get_by_text("No message passes the filter.")).to_be_visible()
    await server.view.get_by_label("Filter").fill("")
    await server.view.get_by_label("Direction").select_option(label="Both")
    await server.view.get_by_label("Kind").select_option(label="Requests")
    await expect(rows(server)).to_have_count(2)


@pytest.mark.extended
async def test_paused_it_stands_still_and_goes_on_afterwards(server: ServerPart) -> None:
    await clear(server)
    await server.button("Pause").click()
    await expect(server.button("Pause")).to_have_attribute("aria-pressed", "true")
    await echo(server, "while it is paused")
    await expect(server.view.get_by_text(re.compile(r"Paused: [2-9] since then"))).to_be_visible()
    await expect(rows(server)).to_have_count(0)
    await server.button("Pause").click()
    await expect(rows(server).filter(has_text="tools/call")).to_have_count(2)


@pytest.mark.extended
async def test_it_is_exported_as_a_file(opened: InspectorPage, server: ServerPart, tmp_path: Path) -> None:
    await clear(server)
    await echo(server, "for the file")
    await server.view.get_by_label("Direction").select_option(label="Sent")
    await expect(rows(server)).to_have_count(1)
    async with opened.page.expect_download() as started:
        await server.button("Export").click()
    download = await started.value
    assert re.fullmatch(r"wire-log-Everything-\d{8}-\d{6}\.json", download.suggested_filename)
    await download.save_as(tmp_path / "log.json")
    exported: dict[str, Any] = json.loads((tmp_path / "log.json").read_text())
    assert (exported["format"], exported["dropped"]) == ("mcpframe wire log 1", 0)
    [message] = exported["messages"]
    assert (message["direction"], message["kind"]) == ("sent", "request")
    assert json.loads(message["text"])["payload"]["params"]["arguments"] == {"text": "for the file"}


async def test_of_a_stranger_only_the_origin_is_shown(opened: InspectorPage, server: ServerPart) -> None:
    await clear(server)
    await opened.page.evaluate(
        "for (let i = 0; i < 3; i++) postMessage({ type: 'MCP_MESSAGE', secret: 'unread' }, '*')"
    )
    stranger = rows(server).filter(has_text="Unread")
    origin = await opened.page.evaluate("origin")
    await expect(stranger).to_contain_text(f"{origin}, 3 times: Sent by a window other than the peer")
    await stranger.get_by_role("button").click()
    said = detail(server, "Received: Unread")
    await expect(said).to_contain_text("3 times. Nothing of it was read.")
    await expect(server.view).not_to_contain_text("secret")


async def test_what_the_page_says_wrongly_is_shown_as_refused(opened: InspectorPage, server: ServerPart) -> None:
    await clear(server)
    frame = await framed(opened)
    await frame.evaluate("parent.postMessage({ type: 'MCP_NONSENSE', more: '<img src=x onerror=alert(1)>' }, '*')")
    refused = rows(server).filter(has_text="MCP_NONSENSE")
    await expect(refused).to_contain_text("refused")
    await refused.get_by_role("button").click()
    said = detail(server, "Received: MCP_NONSENSE")
    await expect(said).to_contain_text("is not a message that the peer of a frame")
    await expect(said).to_contain_text("<img src=x onerror=alert(1)>")
    await expect(said.locator("img")).to_have_count(0)


async def test_a_flood_does_not_stop_the_page(opened: InspectorPage, server: ServerPart) -> None:
    await clear(server)
    frame = await framed(opened)
    await frame.evaluate(f"window.flooding = ({FLOOD})([6000, 10])")
    await expect(rows(server).filter(has_text="Unknown").first).to_be_visible()
    assert await rows(server).count() <= MOST_ROWS
    await server.tab("Logs")  # it can still be used
    await server.tab("Wire")
    await frame.evaluate("flooding")
    told = server.view.get_by_text("5,000 messages; 1,000 older ones were dropped")
    await expect(told).to_be_visible(timeout=BOOT)
    await expect(rows(server)).to_have_count(MOST_ROWS)
    await server.view.get_by_role("button", name="Show older (4,900 more)").click()
    await expect(rows(server)).to_have_count(2 * MOST_ROWS)
    await echo(server, "after the flood")
    await server.view.get_by_label("Filter").fill("after the flood")
    await expect(rows(server)).to_have_count(2)


@pytest.mark.extended
async def test_the_timeline_has_the_steps_of_both_pages(server: ServerPart) -> None:
    await echo(server, "once")
    await server.tab("Timeline")
    table = server.view.get_by_role("table", name="From the frame to the first answers")
    steps = table.get_by_role("rowheader")
    await expect(steps.filter(has_text="First call answered")).to_have_count(1)
    plain = not SNAPSHOTS
    assert set(await steps.all_text_contents()) == {
        "Frame made",
        "Loader runs",
        "Unpacked",
        *(["WebAssembly compiled", "Files in place"] if plain else ["Memory restored"]),
        "Python started",
        "Libraries loaded",
        "MCP SDK imported",
        "Server imported",
        "Handshake heard",
        "Reply sent",
        "Session accepted",
        "Initialized",
        "First list answered",
        "First call answered",
    }
    times = await table.locator("tr td:nth-of-type(2)").all_text_contents()
    numbers = [float(text.removesuffix(" ms").replace(",", "")) for text in times if text.endswith(" ms")]
    assert len(numbers) == (15 if plain else 14)
    assert numbers == sorted(numbers)
    row = table.get_by_role("row").filter(has_text="Python started")
    await expect(row).to_contain_text("Framed page")
    await expect(
        server.view.get_by_text(f"Python was started {'without' if plain else 'from'} a snapshot.")
    ).to_be_visible()
