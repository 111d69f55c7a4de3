"""The inspector as a host of mcp-ui, by clicking: the page in a result, and what is answered to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.async_api import FrameLocator, Locator, expect

from mcpframe.kit.dev.inspector import Inspecting
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import PAGES, Troubles
from tests.browser.inspected import inspector, opened, server
from tests.browser.inspecting import BOOT, InspectorPage, ServerPart
from tests.support.built import SERVERS
from tests.support.suites import extended

__all__ = ["inspector", "opened", "server"]  # the fixtures


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """The origin of pages that are not the server's own."""
    with serve_folder(PAGES) as pages, serve_folder(SERVERS / "inspected") as files:
        yield f"http://tools.localhost:{pages.port} http://tools.localhost:{files.port}"


class Shown:
    """The region of a UI resource.

    Attributes:
        region: where it is.
        page: the page's own document.
    """

    def __init__(self, server: ServerPart) -> None:
        """Use the one of the result that is shown."""
        self.region = server.view.get_by_role("region", name="UI resource", exact=True)
        self.outer = self.region.frame_locator(".insp-view-frame iframe")
        self.page: FrameLocator = self.outer.frame_locator("iframe")

    @property
    def actions(self) -> Locator:
        """What is listed."""
        return self.region.get_by_role("log", name="Actions of the page").get_by_role("listitem")

    async def press(self, name: str) -> None:
        """Press a button of the page: with the keyboard, as Chromium may take a click for one into a frame that was
        there before the page scrolled."""
        await self.page.get_by_role("button", name=name, exact=True).press("Enter")

    async def draws(self, text: str) -> None:
        """Wait until the page has drawn this data."""
        await expect(self.page.locator("#data")).to_have_text(text, timeout=BOOT)

    async def answered(self, text: str | re.Pattern[str]) -> None:
        """Wait until the page shows an answer."""
        await expect(self.page.locator("#answer")).to_have_text(text)

    async def state(self, text: str) -> None:
        """Wait until the last action has a state."""
        await expect(self.actions.last.locator(".insp-action-state")).to_contain_text(text)


@pytest.fixture
async def board(server: ServerPart) -> Shown:
    """The board, drawn."""
    await server.call("show_page", name="board")
    shown = Shown(server)
    await server.answers("ui://inspected/board")  # until then the page of the call before is shown again
    await shown.draws('{"tasks":2}')
    return shown


async def test_a_page_is_shown_beside_the_result(server: ServerPart, board: Shown) -> None:
    await server.answers("ui://inspected/board")
    await expect(board.region.get_by_text("It speaks mcp-ui.")).to_be_visible()
    assert (
        await board.region.locator("iframe").get_attribute("sandbox") == "allow-scripts allow-same-origin allow-forms"
    )
    assert await board.outer.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    # The frame follows its size, its place has the chosen one.
    await board.press("Grow")
    frame = board.region.locator(".insp-view-frame iframe")
    await expect(frame).to_have_css("height", re.compile(r"^[5-9]\d\d(\.\d+)?px"))
    await board.region.get_by_label("Width").select_option("320")
    await expect(frame).to_have_css("width", "320px")
    await board.region.get_by_label("Width").select_option("")
    # Render data: by the choice of a theme, by hand, and not if it is none.
    await board.region.get_by_label("Theme").select_option("dark")
    await board.draws('{"tasks":2,"theme":"dark"}')
    data = board.region.get_by_role("textbox", name="Render data")
    await data.fill("[1]")
    await board.region.get_by_role("button", name="Send").press("Enter")
    await expect(board.region.get_by_role("alert").filter(visible=True)).to_have_text(
        "The render data must be a JSON object."
    )
    await data.fill('{"tasks": 7}')
    await board.region.get_by_role("button", name="Send").press("Enter")
    await board.draws('{"tasks":7}')
    await board.region.get_by_role("button", name="Reload").press("Enter")
    await expect(board.page.locator("#tall")).to_have_css("height", "0px")
    await board.draws('{"tasks":7}')
    await board.region.get_by_role("button", name="Tear down").press("Enter")
    await expect(frame).to_have_count(0)
    await server.call("write", text="no page")
    await server.answers("written")
    await expect(board.region).to_be_hidden()


async def test_actions_are_answered(inspector: InspectorPage, server: ServerPart, board: Shown) -> None:
    await board.press("Tool")
    await expect(board.actions).to_have_count(1)
    await expect(board.actions).to_contain_text(re.compile(r"\d\d:\d\d:\d\d.*Tool.*write", re.DOTALL))
    await board.state("Acknowledged, waits for your answer")
    await expect(board.page.locator("#received")).to_have_text("received tool-1")
    form = board.region.get_by_role("form", name="Answer to Tool write")
    await form.get_by_role("textbox", name="Answer").fill('{"content": []')
    await form.get_by_role("button", name="Answer", exact=True).press("Enter")
    await expect(form.get_by_role("alert")).to_contain_text("is not JSON")
    await form.get_by_role("textbox", name="Answer").fill('{"content": []}')
    await form.get_by_role("button", name="Answer", exact=True).press("Enter")
    await board.answered('tool-1: {"content":[]}')
    await board.state("Answered")
    await expect(form).to_have_count(0)
    # With an error, and with the tool that it names.
    await board.press("Data")
    form = board.region.get_by_role("form", name="Answer to Request for data holidays")
    await form.get_by_role("textbox", name="Answer").fill("There is no calendar.")
    await form.get_by_role("button", name="Answer with an error").press("Enter")
    await board.answered("request-2: error There is no calendar.")
    await board.press("Intent")
    await board.region.get_by_role("form", name="Answer to Intent plan-day").get_by_label("Answer").fill("planned")
    await board.actions.last.get_by_text("Payload").press("Enter")
    await expect(board.actions.last).to_contain_text("params: {tasks}")
    await board.region.get_by_role("button", name="Answer", exact=True).press("Enter")
    await board.answered('intent-3: "planned"')
    await board.press("Tool")
    await board.region.get_by_role("button", name="Call the tool").press("Enter")
    await board.answered(re.compile(r"tool-4: .*written"))
    await board.region.get_by_label("Tool calls").select_option("Call the tool")
    await board.press("Tool")
    await board.answered(re.compile(r"tool-5: .*written"))
    await board.state("Answered")
    await board.press("Missing")
    await board.answered(re.compile("missing-6: .*no-such-tool"))
    await board.press("Models")
    await board.answered("models-7: error The tool audit is for models only, not for pages.")
    await board.region.get_by_label("Tool calls").select_option("Answer by hand")
    # What is only shown, and links, which nothing opens but the user.
    await board.press("Prompt")
    await board.answered("prompt-8: null")
    await expect(board.actions.last).to_contain_text("What is left of <b>today</b>?")
    await board.press("Notify")
    await expect(board.actions.last).to_contain_text("day-planned")
    await board.state("No answer is waited for")
    await board.press("Script")
    await board.answered(re.compile("script-9: error .*http"))
    await board.press("Link")
    await board.region.get_by_role("button", name="Decline").press("Enter")
    await board.answered("link-10: error The user declined to open the link.")
    await board.press("Link")
    async with inspector.page.context.expect_page() as opening:
        await board.region.get_by_role("button", name="Open it").press("Enter")
    opened = await opening.value
    assert await opened.evaluate("opener") is None
    await opened.close()
    await board.answered("link-11: null")
    # Nothing waits for ever.
    await board.region.get_by_label("Seconds to answer").fill("1")
    await board.press("Intent")
    await board.answered("intent-12: error There was no answer within 1 s.")
    await board.state("Timed out")
    await board.region.get_by_label("Seconds to answer").fill("120")
    await board.press("Intent")
    await board.state("Acknowledged")
    await board.region.get_by_role("button", name="Tear down").press("Enter")
    await board.state("the page was removed")


@pytest.mark.extended
async def test_addresses_and_the_own_bundle(
    opened: tuple[InspectorPage, Troubles], server: ServerPart, elsewhere: str, inspecting: Inspecting
) -> None:
    opened[1].expect("404")  # the inspector's origin has no such page
    examples = elsewhere.split()[0]
    shown = Shown(server)
    await server.call("show_address", url=f"{examples}/ui_examples.html")
    await expect(shown.outer.locator("#ui")).to_have_text('{"tasks":3}')
    assert await shown.region.locator("iframe").get_attribute("sandbox") == "allow-scripts allow-same-origin"
    await shown.outer.locator("#data").press("Enter")
    await shown.region.get_by_role("textbox", name="Answer").fill('["card"]')
    await shown.region.get_by_role("button", name="Answer", exact=True).press("Enter")
    await expect(shown.outer.locator("#heard li")).to_have_text(["received 123", '123: ["card"]'])
    # A page of the inspector's own origin gets an opaque one.
    await server.call("show_address", url=f"{inspecting.origin}/none")
    await expect(shown.region.locator("iframe")).to_have_attribute("sandbox", "allow-scripts")
    # Where the bundle will be published, the page from this machine is shown.
    own = inspecting.servers["inspected"]
    await server.call("show_address", url=f"https://tools.example/{own.rstrip('/').rpartition('/')[2]}/")
    await expect(shown.outer.locator("#drawn")).to_have_text("{'tasks': 3}", timeout=BOOT)
    await expect(shown.actions).to_contain_text(["Framed in place of https://tools.example/"])
    await shown.outer.get_by_role("button", name="Plan").press("Enter")
    await shown.region.get_by_role("form", name="Answer to Intent plan").get_by_label("Answer").fill("done")
    await shown.region.get_by_role("button", name="Answer", exact=True).press("Enter")
    await expect(shown.outer.locator("#drawn")).to_have_text("answered done")
    # It is shown again in a new session, as after a build.
    await server.button("Disconnect").click()
    await server.button("Connect").click()
    await expect(shown.outer.locator("#drawn")).to_have_text("{'tasks': 3}", timeout=BOOT)


@pytest.mark.extended
async def test_views_scripts_resources_and_prompts(inspector: InspectorPage, server: ServerPart) -> None:
    shown = Shown(server)
    await server.call("show_all", place="Oslo")
    await expect(shown.page.get_by_text("Oslo")).to_be_visible(timeout=BOOT)
    view = server.view.get_by_role("region", name="View", exact=True)
    await expect(view.frame_locator("iframe").frame_locator("iframe").locator("#told")).not_to_be_empty(timeout=BOOT)
    await shown.region.get_by_label("Resource").select_option("ui://inspected/remote")
    await expect(shown.region.get_by_role("alert").filter(visible=True)).to_contain_text("is a remote-dom script")
    await server.answers("root.append('x')")
    await server.choose("Resources", "board")
    await server.button("Read").click()
    await expect(shown.page.get_by_role("heading", name="Tasks")).to_be_visible()
    await server.choose("Resources", "forecast-view")
    await server.button("Read").click()
    await server.answers("ui://inspected/forecast")
    await expect(shown.region).to_be_hidden()
    await server.choose("Prompts", "day")
    await server.button("Get").click()
    await expect(shown.page.get_by_role("heading", name="Tasks")).to_be_visible()
    await server.tab("Tools")


NOTHING = "SecurityError"
HELD = {
    "the inspector's document": NOTHING,
    "the document around it": NOTHING,
    "the inspector's storage": NOTHING,
    "the inspector's Python": NOTHING,
    "to leave with the inspector": NOTHING,
    "to replace its address": NOTHING,
    "to close it": "asked",
    "a popup": "null",
    "a dialog": "asked",
    "a form": "asked",
    "a click": "asked",
    "a camera": "false",
    "an action in another's name": "posted",
    "a message of the server": "posted",
    "done": "all",
}


@pytest.mark.parametrize("kind", ["text", extended("address")])
async def test_a_hostile_page_stays_in_its_frame(
    opened: tuple[InspectorPage, Troubles], server: ServerPart, elsewhere: str, kind: str
) -> None:
    inspector, troubles = opened
    for blocked in ("Blocked", "sandbox", "Failed to navigate", "Unsafe attempt", "Permissions policy"):
        troubles.expect(blocked)
    dialogs: list[str] = []
    inspector.page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    shown, address = Shown(server), inspector.page.url
    await server.call("write", text="untouched")
    if kind == "text":
        await server.call("show_page", name="hostile")
    else:
        await server.call("show_address", url=f"{elsewhere.split()[1]}/hostile.html")
        shown.page = shown.outer
    outcome = shown.page.locator("#outcome li")
    await expect(outcome.last).to_have_text("done: all", timeout=BOOT)
    told = dict(text.split(": ", 1) for text in await outcome.all_text_contents())
    assert told == HELD
    # Of all that it has posted, only what was well-formed and to its own parent is listed, as text.
    listed = 1 if kind == "text" else 2  # of an address, the inspector is the parent
    await expect(shown.actions.last).to_contain_text("<img src=x onerror=alert(1)>")
    await expect(shown.actions).to_have_count(listed)
    assert await inspector.page.locator("img").count() == 0
    # A flood is bounded, and the page still answers.
    await shown.page.get_by_role("button", name="Flood").press("Enter")
    # It meets the limit of the list, or where that keeps up, the one of actions without an answer, which is 100.
    await expect(shown.actions.last).to_contain_text(re.compile("came too fast to be listed|flood 99"))
    assert await shown.actions.count() < 200
    await shown.region.get_by_role("button", name="Tear down").press("Enter")
    await expect(shown.region.locator("iframe")).to_have_count(0)
    assert (inspector.page.url, dialogs, len(inspector.page.context.pages)) == (address, [], 1)
    await server.choose("Resources", "note")
    await server.button("Read").click()
    await server.answers("untouched")
    await expect(server.state).to_contain_text("Connected")


async def test_the_wire_log_names_the_dialect(server: ServerPart, board: Shown) -> None:
    await board.press("Prompt")
    await board.answered("prompt-1: null")
    wire = await server.tab("Wire")
    await wire.get_by_label("With").select_option("page")
    messages = wire.get_by_role("region", name="Messages")
    for title in ("ui-lifecycle-iframe-render-data", "ui-message-received"):
        await expect(messages.get_by_role("button", name=title, exact=True).last).to_be_visible()
    await expect(messages.locator("tr.wire-response").filter(has_text="prompt").last).to_be_visible()
    await messages.get_by_role("button", name="prompt", exact=True).last.click()
    await expect(wire.get_by_text("mcp-ui", exact=True)).to_be_visible()
    await server.tab("Tools")
