"""The inspector's servers, by clicking: added, set up, shown and hidden, remembered, removed; and what goes wrong."""

import json
import re
from pathlib import Path
from urllib.parse import urlencode

import anyio
import pytest
from playwright.async_api import BrowserContext, expect

from mcpframe.kit.dev.inspector import Inspecting
from tests.browser.conftest import Origins, Troubles
from tests.browser.inspecting import BOOT, InspectorPage
from tests.browser.outers import PATIENCE
from tests.browser.plain_framed import write_servers, write_silent
from tests.browser.stored import STORED, STORED_VALUES
from tests.contract.playing import until_true
from tests.support.suites import extended


@pytest.fixture(scope="module")
def plain_pages(site: Path) -> None:
    """Pages in JavaScript, at their own addresses of each origin."""
    write_servers(site)
    write_silent(site)


async def test_a_server_is_added_by_its_address(inspector: InspectorPage) -> None:
    await expect(inspector.page.get_by_text("None yet.")).to_be_visible()
    await inspector.add(inspector.site.servers["everything"])
    server = await inspector.server("Everything")
    await expect(server.state).to_have_text("Connected · 2026-07-28")
    await expect(inspector.servers).to_have_text([re.compile("Everything, connected")])
    await expect(server.view.get_by_role("tab", name="Tools")).to_contain_text("19")
    await expect(inspector.page.get_by_label("Server address")).to_have_value("")
    await expect(server.view.locator("iframe")).to_be_hidden()


async def test_an_address_that_cannot_be_framed_is_said_beside_it_and_kept(inspector: InspectorPage) -> None:
    field = inspector.page.get_by_label("Server address")
    for address, told in {
        "": "is not the address of a page",
        "javascript:alert(1)": "only pages of http and https",
        "ftp://tools.example/": "only pages of http and https",
        "http://user:word@tools.example/": "leave user and password out",
        "http://tools.example:port/": "is not the address of a page",
    }.items():
        await inspector.add(address)
        await expect(inspector.page.get_by_role("alert").filter(has_text=told)).to_be_visible()
        await expect(field).to_have_value(address)
        await expect(field).to_be_focused()
        await expect(field).to_have_attribute("aria-invalid", "true")
    await expect(inspector.servers).to_have_count(0)


async def test_a_page_that_is_no_server_is_told_of_and_can_be_tried_again(
    inspector: InspectorPage, origins: Origins
) -> None:
    await inspector.wait_for_at_most(3)  # long enough for what it says meanwhile to be seen
    await inspector.add(f"{origins.stranger}/page.html")
    view = inspector.page.get_by_role("region", name="page.html", exact=True)
    told = view.get_by_role("alert")
    await expect(told).to_contain_text("Is it a page that serves MCP", timeout=BOOT)
    await expect(told).to_contain_text(inspector.site.origin)
    await view.get_by_role("button", name="Set up", exact=True).click()
    await expect(view.get_by_text("Being set up")).to_be_visible()
    await expect(told).to_contain_text("Is it a page that serves MCP", timeout=BOOT)
    await expect(inspector.page.locator("iframe")).to_have_count(0)
    await inspector.page.reload()  # it is still there, and does not try by itself
    await inspector.ready()
    await expect(inspector.servers).to_have_text([re.compile("page.html, idle")])


@pytest.mark.extended
async def test_a_server_of_the_official_sdk_is_framed_in_the_dialect_that_is_chosen(
    inspector: InspectorPage, origins: Origins, plain_pages: None
) -> None:
    """Its page speaks plain MCP: it has no setup and no session id, and posts nothing by itself."""
    await inspector.wait_for_at_most(3)
    await inspector.add(f"{origins.stranger}/server.html")
    view = inspector.page.get_by_role("region", name="server.html", exact=True)
    await expect(view.get_by_role("alert")).to_contain_text("does it speak the dialect SEP postMessage", timeout=BOOT)
    await view.get_by_role("combobox", name="Dialect").select_option(label="Plain MCP")
    server = await inspector.server("by npm")
    await expect(server.button("Set up again")).to_be_hidden()
    await server.call("add", a="1", b="2")
    await server.answers("3")
    await server.button("Show page").click()
    await expect(server.view.locator("iframe")).to_be_visible()
    assert "Session" not in await (await server.tab("About")).locator("dt").all_text_contents()
    await server.tab("Wire")
    await server.view.get_by_role("row").filter(has_text="tools/call").get_by_role("button").first.click()
    await expect(server.view.get_by_role("region", name="Sent: tools/call")).to_contain_text("Plain MCP")

    await inspector.page.reload()
    server = await inspector.server("by npm")
    await expect(server.view.get_by_role("combobox", name="Dialect")).to_have_value("plain_mcp")
    await expect(server.view.locator("iframe")).to_be_visible()


@pytest.mark.extended
async def test_a_silent_page_is_an_error_that_names_what_was_tried(
    inspector: InspectorPage, origins: Origins, plain_pages: None
) -> None:
    await inspector.wait_for_at_most(3)
    await inspector.page.get_by_label("Dialect").select_option(label="Plain MCP")
    await inspector.add(f"{origins.stranger}/silent.html")
    view = inspector.page.get_by_role("region", name="silent.html", exact=True)
    told = view.get_by_role("alert")
    await expect(told).to_contain_text("answered no ping of MCP in time", timeout=BOOT)
    await expect(told).to_contain_text("does it speak the dialect Plain MCP")
    await expect(view.get_by_role("button", name="Try again")).to_be_visible()


async def test_a_visible_setup_is_in_a_dialog(inspector: InspectorPage, tmp_path: Path) -> None:
    file = tmp_path / "people.json"
    file.write_text(json.dumps({"people": [{"name": "Ada"}, {"name": "Linus"}]}))
    await inspector.button("JSON analyzer").click()
    page = inspector.dialog_frame
    await page.locator("#file").set_input_files(file, timeout=BOOT)
    await expect(inspector.dialog.get_by_role("heading", level=2)).to_have_text("Set up JSON analyzer")
    await page.get_by_role("button", name="Use this document").click()
    await expect(inspector.page.get_by_role("status").filter(has_text="Loaded people.json")).to_be_visible()
    server = await inspector.server("JSON analyzer: people.json")
    await expect(inspector.dialog).to_have_count(0)
    await server.call("evaluate_jsonpath", path="$..name")
    await server.answers("Linus")


@pytest.mark.extended
async def test_a_setup_can_be_given_up_fail_and_be_run_again(inspector: InspectorPage, troubles: Troubles) -> None:
    await inspector.button("Authored").click()
    view = inspector.page.get_by_role("region", name="Authored", exact=True)
    permissions = inspector.dialog.filter(has_text="clipboard-write")
    await expect(permissions).to_contain_text("To copy results", timeout=BOOT)
    await inspector.button("Allow nothing").click()
    await inspector.dialog_frame.locator("#name").wait_for(timeout=BOOT)
    await inspector.page.get_by_role("button", name="Cancel setup").press("Escape")
    await expect(view.get_by_role("alert")).to_have_text("The setup was cancelled.")

    troubles.expect("Wrong password")
    await view.get_by_role("button", name="Set up", exact=True).click()
    await inspector.button("Allow nothing").click(timeout=BOOT)
    await inspector.dialog_frame.locator("#deny").click(timeout=BOOT)
    await expect(view.get_by_role("alert")).to_have_text("The setup ended with AUTH_FAILED: Wrong password")

    await view.get_by_role("button", name="Set up", exact=True).click()
    await permissions.get_by_role("checkbox", name="clipboard-write").check(timeout=BOOT)
    await inspector.button("Allow what is checked").click()
    await inspector.dialog_frame.locator("#name").fill("Ada", timeout=BOOT)
    assert await inspector.dialog.locator("iframe").get_attribute("allow") == "clipboard-write"
    await inspector.dialog_frame.locator("#save").click()
    server = await inspector.server("Authored: Ada")
    await expect(view).to_have_count(0)
    await expect(server.view.get_by_role("alert")).to_be_hidden()


@pytest.mark.extended
async def test_a_server_asks_for_its_setup_again(inspector: InspectorPage) -> None:
    await inspector.button("Authored").click()
    await inspector.button("Allow nothing").click(timeout=BOOT)
    await inspector.dialog_frame.locator("#name").fill("Ada", timeout=BOOT)
    await inspector.dialog_frame.locator("#save").click()
    server = await inspector.server("Authored: Ada")
    before = await server.session_id()
    await server.choose("Tools", "need_setup")
    await server.box("reason").fill("AUTH_EXPIRED")
    await server.view.get_by_role("checkbox", name="can_continue").check()
    await server.button("Call").click()
    await expect(server.view.get_by_role("alert").first).to_have_text("The server asks for its setup: Please sign in")
    await server.button("Run its setup").click()
    await inspector.button("Allow nothing").click(timeout=BOOT)
    await inspector.dialog_frame.locator("#name").fill("Grace", timeout=BOOT)
    await inspector.dialog_frame.locator("#save").click()
    server = await inspector.server("Authored: Grace")
    assert await server.session_id() == before
    await expect(server.view.get_by_text("The server asks for its setup")).to_be_hidden()


async def test_a_page_that_must_be_seen_is_and_an_unseen_setup_runs_unseen(inspector: InspectorPage) -> None:
    await inspector.button("Inspected").click()
    await expect(inspector.dialog).to_contain_text("To see you", timeout=BOOT)
    await expect(inspector.dialog.get_by_role("checkbox")).to_be_checked()  # it cannot do without
    await inspector.button("Allow what is checked").click()
    toast = inspector.page.get_by_role("status").filter(has_text="Ready to be inspected")
    await expect(toast).to_be_visible(timeout=BOOT)
    await inspector.button("Dismiss").click()
    await expect(toast).to_be_hidden()
    server = await inspector.server("Inspected")
    await expect(server.button("Hide page")).to_be_hidden()
    await expect(server.frame.get_by_text("Session")).to_have_text(f"Session {await server.session_id()}")


@pytest.mark.extended
async def test_an_optional_page_is_shown_and_hidden_and_that_is_remembered(inspector: InspectorPage) -> None:
    await inspector.button("Pi calculator").click()
    server = await inspector.server("Pi calculator")
    await expect(server.view.locator("iframe")).to_be_hidden()
    show = server.button("Show page")
    await expect(show).to_have_attribute("title", "Shows the points while they are thrown.")
    await show.click()
    await expect(server.frame.locator("#points")).to_be_visible()
    await server.call("calculate_pi", iterations="20000")
    await server.answers("after 20,000 points")
    await expect(server.frame.locator("body")).to_contain_text("20,000")

    await inspector.page.reload()
    server = await inspector.server("Pi calculator")
    await expect(server.frame.locator("#points")).to_be_visible()
    await server.button("Hide page").click()
    await expect(server.view.locator("iframe")).to_be_hidden()


async def test_servers_are_remembered_with_their_sessions_until_they_are_removed(inspector: InspectorPage) -> None:
    await inspector.button("Pi calculator").click()
    pi = await inspector.server("Pi calculator")
    pi_session = await pi.session_id()
    await inspector.button("Everything").click()
    everything = await inspector.server("Everything")
    session = await everything.session_id()
    assert session != pi_session

    await inspector.page.reload()
    assert await (await inspector.server("Everything")).session_id() == session  # it was the one looked at
    await expect(inspector.servers).to_have_text(
        [re.compile("Pi calculator, connected"), re.compile("Everything, connected")], timeout=BOOT
    )
    await inspector.servers.get_by_role("button", name="Pi calculator").click()
    pi = await inspector.server("Pi calculator")
    assert await pi.session_id() == pi_session
    await pi.button("Disconnect").click()
    await expect(pi.state).to_have_text("Not connected")
    with anyio.fail_after(PATIENCE):
        await until_true(inspector.page, rf"async () => /connect\W+false/.test((await ({STORED_VALUES})()).join())")

    await inspector.page.reload()
    await inspector.ready()
    await expect(inspector.servers).to_have_text(
        [re.compile("Pi calculator, idle"), re.compile("Everything, connected")], timeout=BOOT
    )
    await inspector.button("Connect").click()
    pi = await inspector.server("Pi calculator")
    await pi.button("Remove").click()
    await expect(inspector.servers).to_have_text([re.compile("Everything, connected")])
    await expect(inspector.page.locator("iframe")).to_have_count(1)
    await inspector.button("Clear all").click()
    await expect(inspector.servers).to_have_count(0)
    await expect(inspector.page.locator("iframe")).to_have_count(0)
    with anyio.fail_after(PATIENCE):
        await until_true(inspector.page, f"async () => (await ({STORED})()).every(([id]) => id !== 'page inspector')")
    await inspector.page.reload()
    await inspector.ready()
    await expect(inspector.page.get_by_text("None yet.")).to_be_visible()


@pytest.mark.extended
async def test_the_same_address_twice_is_two_sessions(inspector: InspectorPage) -> None:
    ids = set()
    for number in (1, 2):
        await inspector.add(inspector.site.servers["pi-calculator"])
        await expect(inspector.servers).to_have_text([re.compile("Pi calculator, connected")] * number, timeout=BOOT)
    for entry in await inspector.servers.all():
        await entry.get_by_role("button").click()
        await expect(entry.get_by_role("button")).to_have_attribute("aria-current", "true")
        ids.add(await (await inspector.server("Pi calculator")).session_id())
    assert len(ids) == 2


@pytest.mark.extended
async def test_the_protocol_era_is_switched(inspector: InspectorPage) -> None:
    await inspector.add(inspector.site.servers["everything"])
    server = await inspector.server("Everything")
    era = server.view.get_by_role("combobox", name="Protocol")
    await era.select_option(label="Handshake era")
    await expect(server.state).to_have_text("Connected · 2025-11-25", timeout=BOOT)
    await server.call("echo", text="in the old way")
    await server.answers("in the old way")
    await inspector.page.reload()
    server = await inspector.server("Everything")
    await expect(server.state).to_have_text("Connected · 2025-11-25")
    await era.select_option(label="2026-07-28")
    await expect(server.state).to_have_text("Connected · 2026-07-28", timeout=BOOT)


@pytest.mark.extended
async def test_a_window_of_its_own(inspector: InspectorPage, context: BrowserContext) -> None:
    await inspector.page.get_by_text("Options", exact=True).click()
    await inspector.page.get_by_label("Page in").select_option(label="Window of its own")
    await inspector.add(inspector.site.servers["pi-calculator"])
    server = await inspector.server("Pi calculator")
    await expect(server.button("Bring page to front")).to_be_visible()
    await server.call("calculate_pi", iterations="1000")
    await server.answers("after 1,000 points")
    (popup,) = [page for page in context.pages if page is not inspector.page]
    await popup.close()
    await expect(server.view.get_by_role("alert").first).to_be_visible()
    await expect(server.state).to_have_text("Not connected")
    await server.button("Try again").click()
    await inspector.server("Pi calculator")


async def test_a_page_that_goes_away_is_told_of(inspector: InspectorPage, troubles: Troubles) -> None:
    troubles.expect("Fetch API cannot load")  # by the page that comes in its place, and is taken away
    await inspector.add(inspector.site.servers["pi-calculator"])
    server = await inspector.server("Pi calculator")
    await server.view.locator("iframe").evaluate("iframe => iframe.src += '?again'")
    await expect(server.state).to_have_text("Not connected", timeout=BOOT)
    await expect(server.view.get_by_role("alert").first).not_to_be_empty()
    await server.button("Try again").click()
    await inspector.server("Pi calculator")


@pytest.mark.parametrize("era", ["auto", extended("legacy")])
async def test_the_address_that_the_command_line_opens(
    context: BrowserContext, troubles: Troubles, inspecting: Inspecting, era: str
) -> None:
    address = inspecting.url_with(inspecting.servers["everything"], era)
    inspector = await InspectorPage.open(context, inspecting, address)
    server = await inspector.server("Everything")
    await expect(server.state).to_contain_text("2026-07-28" if era == "auto" else "2025-11-25")
    assert "#" not in inspector.page.url
    await inspector.page.goto(address)  # the server is there already
    await inspector.ready()
    await inspector.server("Everything")
    await expect(inspector.servers).to_have_count(1)


async def test_a_link_connects_to_nothing_until_the_person_agrees(
    context: BrowserContext, troubles: Troubles, inspecting: Inspecting, origins: Origins
) -> None:
    address = f"{inspecting.url}#{urlencode({'add': f'{origins.stranger}/page.html'})}"
    inspector = await InspectorPage.open(context, inspecting, address)
    await expect(inspector.dialog).to_contain_text(f"{origins.stranger}/page.html")
    assert [frame.url for frame in inspector.page.frames] == [inspecting.url]
    await inspector.button("Do not add it").click()
    await expect(inspector.dialog).to_have_count(0)
    await expect(inspector.servers).to_have_count(0)
    await inspector.page.goto("about:blank")
    await inspector.page.goto(address)
    await inspector.ready()
    await inspector.button("Add it").click()
    await expect(inspector.servers).to_have_text([re.compile(r"page\.html")])
