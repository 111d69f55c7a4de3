"""The templates conversation and forecast, as a person uses them: a host of MCP Apps in Python, and its view."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import anyio
import pytest
from playwright.async_api import BrowserContext, FrameLocator, Locator, Page, expect

from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Troubles
from tests.browser.outers import PATIENCE
from tests.browser.pairs import build_conversation
from tests.support.built import opened_often

BOOT = BOOT_PATIENCE * 1000


@dataclass(frozen=True)
class Site:
    """The built pages, each at an origin of its own."""

    port: int

    def origin(self, name: str) -> str:
        """Return one of the origins."""
        return f"http://{name}.localhost:{self.port}"

    @property
    def conversation(self) -> str:
        """The address of the host page."""
        return f"{self.origin('host')}/conversation/"


@pytest.fixture(scope="module")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, work = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("work")
    with serve_folder(folder) as served:
        site = Site(served.port)
        snapshot = opened_often(request.config)
        build_conversation(folder, work, tools=site.origin("tools"), host=site.origin("host"), snapshot=snapshot)
        yield site


@pytest.fixture
async def page(context: BrowserContext, troubles: Troubles, site: Site) -> AsyncIterator[Page]:
    page = await context.new_page()
    await page.goto(site.conversation)
    await expect(page.get_by_text("Connected to Forecast.")).to_be_visible(timeout=BOOT)
    yield page
    await page.close()


def view_in(call: Locator) -> FrameLocator:
    """Return the server's page, in the view, in the sandbox proxy."""
    return call.frame_locator("iframe").frame_locator("iframe").frame_locator("iframe")


async def ask_for(page: Page, place: str) -> tuple[Locator, FrameLocator]:
    """Call the tool as a person does. Returns the call in the conversation, and its view."""
    await page.get_by_label("A town").fill(place)
    await page.get_by_role("button", name="Call it").click()
    call = page.locator("#entries .call").last
    view = view_in(call)
    await expect(view.locator('.forecast[data-state="shown"]')).to_be_visible(timeout=BOOT)
    await expect(view.get_by_role("heading", name=place)).to_be_visible()
    return call, view


async def is_as_high(frame: Locator, inner: Locator) -> bool:
    """Whether a frame is as high as what is in it, or a little higher."""
    outer_box, inner_box = await frame.bounding_box(), await inner.bounding_box()
    assert outer_box
    assert inner_box
    return inner_box["height"] <= outer_box["height"] < inner_box["height"] + 60


@pytest.mark.extended
async def test_a_call_with_its_view(page: Page, context: BrowserContext, troubles: Troubles) -> None:
    call, view = await ask_for(page, "Wien")
    await expect(page.locator(".message.tool")).to_contain_text("Wien. Invented")

    # What the user looks at reaches the model.
    await view.locator('[data-day="2"]').click()
    await expect(page.locator("#known")).to_contain_text("The user looks at")

    # A message, and a link, only with the user's consent.
    await view.get_by_role("button", name="Ask about this day").click()
    question = page.get_by_role("list", name="Questions of views").get_by_role("listitem")
    await expect(question).to_contain_text("What can I do on")
    await question.get_by_role("button", name="Say it").click()
    await expect(page.locator(".message.user")).to_contain_text("What can I do on")
    await view.get_by_role("button", name="Ask about this day").click()
    await question.get_by_role("button", name="Decline").click()
    await expect(view.get_by_role("status")).to_contain_text("declined")
    await expect(page.locator(".message.user")).to_have_count(1)
    await view.get_by_role("button", name="Where is this from?").click()
    await expect(question).to_contain_text("https://modelcontextprotocol.io/")
    await question.get_by_role("button", name="Decline").click()
    await expect(question).to_have_count(0)
    assert len(context.pages) == 1

    # The theme of the page is that of its views.
    for theme in ("dark", "light"):
        await page.get_by_label("Theme").select_option(theme)
        await expect(view.locator("html")).to_have_attribute("data-theme", theme)

    # A tool for views only is not a tool of this page, and the view may call it.
    assert await page.locator("#tool option").all_inner_texts() == ["Forecast"]
    await view.get_by_role("button", name="Refresh").click()
    await expect(view.get_by_role("status")).to_contain_text("Run 2")

    # The frame is as high as the view, as soon as it is told how high that is.
    with anyio.fail_after(PATIENCE):
        while not await is_as_high(call.locator("iframe"), view.locator(".forecast")):
            await page.evaluate("new Promise(requestAnimationFrame)")

    await view.get_by_role("button", name="Full screen").click()
    await expect(call).to_have_class("call fullscreen")
    # By the keyboard: the frame has moved, and until the browser's next picture a click goes to where it was.
    await view.get_by_role("button", name="Leave full screen").press("Enter")
    await expect(call).to_have_class("call")

    await call.get_by_role("button", name="Remove").click()
    await expect(call).to_have_count(0)
    await expect(page.get_by_text("Nothing yet.")).to_be_visible()


@pytest.mark.extended
async def test_a_fifth_view_takes_the_place_of_the_first(page: Page) -> None:
    calls = page.locator("#entries .call")
    await page.get_by_label("A town").fill("   ")  # not a valid argument
    await page.get_by_role("button", name="Call it").click()
    await expect(page.locator("#standing")).to_contain_text("enter a value")
    await expect(calls).to_have_count(0)
    for place in ("Wien", "Graz", "Linz", "Salzburg", "Innsbruck"):
        await ask_for(page, place)
    await expect(calls).to_have_count(4)
    await expect(calls.first).to_contain_text("Graz")
