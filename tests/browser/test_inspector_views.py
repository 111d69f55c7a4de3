"""The inspector as a host of MCP Apps, by clicking: a tool's view beside its result, and what it asks for."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import FrameLocator, Locator, expect

from tests.browser.inspected import inspector, opened, server
from tests.browser.inspecting import BOOT, InspectorPage, ServerPart

__all__ = ["inspector", "opened", "server"]  # the fixtures


class Viewed:
    """The region of a view.

    Attributes:
        region: where it is.
    """

    def __init__(self, server: ServerPart) -> None:
        """Use the view of the chosen tool."""
        self.region = server.view.get_by_role("region", name="View", exact=True)

    @property
    def inside(self) -> FrameLocator:
        """The view's own document, in the sandbox."""
        return self.region.frame_locator(".insp-view-frame iframe").frame_locator("iframe")

    @property
    def activity(self) -> Locator:
        """What it has asked for and told."""
        return self.region.get_by_role("log", name="Activity of the view").get_by_role("listitem")

    async def shows(self, text: str) -> None:
        """Wait until the view shows a text."""
        await expect(self.inside.locator("#told")).to_have_text(text, timeout=BOOT)

    async def press(self, name: str) -> None:
        """Press a button of the view."""
        await self.inside.get_by_role("button", name=name, exact=True).click()

    async def answered(self, text: str | re.Pattern[str]) -> None:
        """Wait until the view shows an answer to what it asked."""
        await expect(self.inside.locator("#answer")).to_have_text(text)


@pytest.fixture
async def viewed(server: ServerPart) -> Viewed:
    """The view of a call that has its result."""
    # Another tool first: else the view of the last test, which shows the same, could be taken for this one.
    await server.choose("Tools", "write")
    await server.call("forecast", place="Oslo")
    await server.answers("degrees")
    viewed = Viewed(server)
    await viewed.shows("result Oslo 21")
    return viewed


async def test_a_view_is_shown_beside_the_result(server: ServerPart, viewed: Viewed) -> None:
    await server.answers("degrees")
    await expect(viewed.region.get_by_text(re.compile(r"Ready after \d"))).to_be_visible()
    await server.tab("Tools")
    await expect(viewed.inside.locator("#seen")).to_be_empty()
    await server.call("write", text="no view")
    await server.answers("written")
    await expect(viewed.region).to_have_count(0)


@pytest.mark.extended
async def test_its_surroundings_are_chosen(viewed: Viewed) -> None:
    told = viewed.inside.locator("#surroundings")
    await viewed.region.get_by_label("Theme").select_option("dark")
    await expect(told).to_contain_text("dark")
    await viewed.region.get_by_label("Locale").fill("de-AT")
    await viewed.region.get_by_label("Locale").press("Enter")
    await viewed.region.get_by_label("Width").select_option("320")
    await viewed.region.get_by_label("Height").select_option("200")
    await expect(told).to_have_text("dark de-AT inline 320 200")
    await viewed.press("Grow")
    frame = viewed.region.locator(".insp-view-frame iframe")
    await expect(frame).to_have_css("height", "200px")
    await viewed.region.get_by_label("Height").select_option("")
    await viewed.press("Grow")
    await expect(told).to_have_text("dark de-AT inline 320 ")
    await expect(frame).not_to_have_css("height", "200px")


async def test_it_is_shown_as_another_host_would(viewed: Viewed) -> None:
    written = viewed.inside.locator('head meta[http-equiv="Content-Security-Policy"]')
    for name, count in (("claude", 0), ("vscode", 1), ("", 0)):
        await viewed.region.get_by_label("Show as in").select_option(name)
        await expect(viewed.region.get_by_role("status").first).to_have_text(
            re.compile(r"Ready after \d"), timeout=BOOT
        )
        await viewed.shows("result Oslo 21")
        await expect(written).to_have_count(count)


@pytest.mark.extended
async def test_arguments_are_streamed(server: ServerPart, viewed: Viewed) -> None:
    await viewed.region.get_by_label("Stream the arguments").check()
    await server.box("place").fill("Longyearbyen")
    await server.button("Call").click()
    await viewed.shows("result Longyearbyen 21")
    told = await viewed.inside.locator("#seen").text_content()
    assert told
    assert int(told.removeprefix("partial: ")) > 3


async def test_a_tool_that_fails(server: ServerPart, viewed: Viewed) -> None:
    await server.box("place").fill("Nowhere")
    await server.button("Call").click()
    await viewed.shows("it failed")


async def test_what_it_asks_of_its_server(viewed: Viewed) -> None:
    await viewed.press("Refresh")
    await viewed.answered(re.compile("refresh.*22"))


async def test_messages_and_model_context_are_shown(viewed: Viewed) -> None:
    await viewed.press("Message")
    await viewed.answered("message: {}")
    await expect(viewed.activity).to_contain_text(["Hello from the view"])
    await viewed.press("Context")
    await viewed.answered("context: {}")
    context = viewed.region.get_by_role("region", name="Model context")
    await expect(context).to_contain_text("watching")
    await viewed.press("Log")
    await expect(viewed.activity.last).to_contain_text('sun: {"hot": true}')


async def test_a_link_is_asked_for(inspector: InspectorPage, viewed: Viewed) -> None:
    await viewed.press("Link")
    await expect(inspector.dialog).to_contain_text("https://weather.example/")
    await inspector.dialog.get_by_role("button", name="Decline").click()
    await viewed.answered('link: {"isError":true}')
    await viewed.press("Link")
    async with inspector.page.context.expect_page() as opening:
        await inspector.dialog.get_by_role("button", name="Open it").click()
    opened = await opening.value
    assert await opened.evaluate("opener") is None
    await opened.close()
    await viewed.answered("link: {}")


@pytest.mark.extended
async def test_a_download_is_asked_for(inspector: InspectorPage, viewed: Viewed) -> None:
    await viewed.press("Download")
    await expect(inspector.dialog).to_contain_text("forecast.csv")
    async with inspector.page.expect_download() as saving:
        await inspector.dialog.get_by_role("button", name="Save it").click()
    assert (await saving.value).suggested_filename == "forecast.csv"
    await viewed.answered("download: {}")


@pytest.mark.extended
async def test_it_becomes_as_large_as_the_window(inspector: InspectorPage, viewed: Viewed) -> None:
    await viewed.press("Full screen")
    await viewed.answered('full: {"mode":"fullscreen"}')
    frame = viewed.region.locator(".insp-view-frame iframe")
    size = inspector.page.viewport_size
    assert size
    box = await frame.bounding_box()
    assert box
    assert box["width"] > 0.9 * size["width"]
    await viewed.region.get_by_role("button", name="Back to inline").click()
    await expect(viewed.inside.locator("#surroundings")).to_contain_text("inline")
    await expect(viewed.region.get_by_label("Display")).to_have_value("inline")


@pytest.mark.extended
async def test_its_own_tools_are_called(viewed: Viewed) -> None:
    await viewed.shows("result Oslo 21")
    await viewed.region.get_by_text("Tools of the view (1)").click()
    tools = viewed.region.get_by_role("form", name="Arguments of the view's shown")
    await tools.get_by_role("textbox", name="loud").fill("loudly")
    await tools.get_by_role("button", name="Call shown").click()
    await expect(viewed.region.get_by_role("region", name="Result")).to_contain_text("it shows result Oslo 21 loudly")


async def test_permissions_are_granted_by_the_user(viewed: Viewed) -> None:
    group = viewed.region.get_by_role("group", name="Permissions that the view asks for")
    await expect(group.get_by_role("checkbox")).to_have_count(2)
    await viewed.press("Allowed")
    await viewed.answered("allowed: ")
    for checked, allowed in ((True, "camera"), (False, "")):
        await group.get_by_role("checkbox", name="camera").set_checked(checked)
        await viewed.answered("")
        await viewed.shows("result Oslo 21")
        await viewed.press("Allowed")
        await viewed.answered(f"allowed: {allowed}")


@pytest.mark.extended
async def test_it_is_removed_and_read_again(viewed: Viewed) -> None:
    frame = viewed.region.locator(".insp-view-frame iframe")
    await viewed.press("Leave")
    await expect(frame).to_have_count(0)
    await expect(viewed.region.get_by_text("Removed.")).to_be_visible()
    await viewed.region.get_by_role("button", name="Reload").click()
    await viewed.shows("result Oslo 21")
    await viewed.region.get_by_role("button", name="Tear down").click()
    await expect(frame).to_have_count(0)


@pytest.mark.extended
async def test_a_view_that_is_read_again_in_mid_call_gets_the_result(server: ServerPart, viewed: Viewed) -> None:
    async def call() -> None:
        await server.box("place").fill("Later")
        await server.button("Call").click()
        await viewed.shows("input Later")
        await viewed.press("Allowed")
        await viewed.answered("allowed: ")

    async def read_again() -> None:
        await viewed.region.get_by_role("button", name="Reload").click()
        await viewed.answered("")
        await viewed.shows("input Later")

    await call()
    await read_again()
    await viewed.press("Refresh")  # with which the call ends
    await viewed.shows("result Later 21")
    await server.answers("Later")
    await call()
    await read_again()
    await server.view.get_by_role("tabpanel", name="Tools").get_by_role("button", name="Cancel", exact=True).click()
    await viewed.shows("cancelled Cancelled.")
    # So does the view of a tool that was left in mid-call, and is looked at again.
    await call()
    await server.choose("Tools", "write")
    await expect(viewed.region).to_have_count(0)
    await server.choose("Tools", "forecast")
    await viewed.shows("input Later")
    await viewed.press("Refresh")
    await viewed.shows("result Later 21")


@pytest.mark.extended
async def test_a_view_is_shown_again_in_a_new_session(server: ServerPart, viewed: Viewed) -> None:
    await viewed.press("Allowed")
    await viewed.answered("allowed: ")
    await server.button("Disconnect").click()
    await expect(server.state).to_have_text("Not connected")
    await server.button("Connect").click()
    await viewed.answered("")  # it is another document
    await viewed.shows("result Oslo 21")


async def test_the_wire_log_has_both_wires(server: ServerPart, viewed: Viewed) -> None:
    wire = await server.tab("Wire")
    await wire.get_by_label("With").select_option("view")
    messages = wire.get_by_role("region", name="Messages")
    for title in ("ui/initialize", "ui/notifications/tool-input", "ui/notifications/tool-result"):
        await expect(messages.get_by_role("button", name=title, exact=True).last).to_be_visible()
    await expect(messages.locator("tr.wire-response").filter(has_text="ui/initialize").first).to_be_visible()
    await wire.get_by_label("With").select_option("server")
    await expect(messages.get_by_role("button", name="ui/notifications/tool-input", exact=True)).to_have_count(0)
    await server.tab("Tools")
