"""A server's questions to its user (elicitation), in `<mcp-server>`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.async_api import BrowserContext, Page, expect

from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Origins, Troubles
from tests.browser.test_accessibility import SCHEMES, complaints
from tests.browser.test_element import (
    HOSTILE,
    call,
    packed,  # noqa: F401  a fixture
    page,  # noqa: F401  a fixture
    start,
    tool,
)
from tests.bundle.conftest import write_project
from tests.support.built import build_plain

SERVER = """
from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

from mcpframe import FrameServer

server = FrameServer("asking", title="Asking <b>")


class Booking(BaseModel):
    name: str = Field(title="Your name")
    seats: int = Field(title="Seats", ge=1)
    window: bool = Field(default=False, title="At the window")
    fare: str = Field(title="Fare", json_schema_extra={"enum": ["a", "b"], "enumNames": ["Saver", "Flex"]})
    meals: list[str] = Field(
        title="Meals",
        json_schema_extra={"items": {"anyOf": [{"const": "x", "title": "Lunch"}, {"const": "y", "title": "Dinner"}]}},
    )


class Name(BaseModel):
    name: str


@server.tool()
async def book(message: str, ctx: Context) -> str:
    answer = await ctx.elicit(message, Booking)
    return answer.action + " " + (answer.data.model_dump_json() if answer.action == "accept" else "")


@server.tool()
async def greet(ctx: Context) -> str:
    return (await ctx.elicit("Who are you?", Name)).action


@server.tool()
async def visit(url: str, ctx: Context) -> str:
    return (await ctx.elicit_url("Sign in there", url=url, elicitation_id="one")).action
"""


@pytest.fixture(scope="module")
def asking(origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server."""
    folder = tmp_path_factory.mktemp("asking")
    write_project(folder / "project", "", SERVER, name="asking")
    built = build_plain(folder / "project", folder / "out", allowed_origins=[origins.host])
    with serve_folder(folder / "out") as site:
        yield f"http://bundle.localhost:{site.port}/{built.url_path}"


async def test_a_tool_asks_its_user(
    page: Page,  # noqa: F811
    asking: str,
    typescript_client: None,
) -> None:
    element = await start(page, asking, show="tools")
    question, status = element.locator("[part=question]"), element.get_by_role("status")
    text = question.locator("[part=description]")
    result = await call(tool(element, "book"), Message=HOSTILE)
    await expect(status).to_have_text("Asking <b> asks.")
    await expect(question.locator("[part=asker]")).to_have_text("Asking <b> asks")
    await expect(question).to_be_focused()
    await expect(question.locator("[part=hint]").first).to_contain_text(asking.removesuffix("/asking/"))
    await expect(text).to_have_text("<img src=x onerror=alert(1)>\\u202e")
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []
    await question.get_by_role("button", name="Send").click()
    await expect(question.locator("[part=problem]:visible")).to_have_count(
        3
    )  # of what is required: none of several may be
    await question.get_by_label("Your name").fill("Ada")
    await question.get_by_label("Fare").select_option("Flex")
    await question.get_by_label("Meals").select_option(["Lunch", "Dinner"])
    await question.get_by_label("Seats").fill("2")
    await question.get_by_label("Seats").press("Enter")
    expected = 'accept {"name":"Ada","seats":2,"window":false,"fare":"b","meals":["x","y"]}'
    await expect(result).to_contain_text(expected)
    await expect(question).to_have_count(0)
    await expect(element.get_by_role("button", name="Call").first).to_be_focused()

    await call(tool(element, "book"), Message="x" * 5000)
    await expect(text).to_have_text("x" * 4000 + "…")
    await question.get_by_role("button", name="Decline").click()
    await expect(result).to_contain_text("decline")

    # Two calls ask: their questions are shown one after the other. Nothing of a stopped call stays.
    await call(tool(element, "greet"))
    await expect(text).to_have_text("Who are you?")
    await call(tool(element, "book"), Message="And you?")
    await tool(element, "greet").get_by_role("button", name="Stop").click()
    await expect(text).to_have_text("And you?")
    await page.evaluate("void (window.removed = document.querySelector('mcp-server')).remove()")
    assert await page.evaluate("removed.shadowRoot.querySelector('[part=questions]').childElementCount") == 0


async def test_a_tool_asks_its_user_to_open_an_address(
    page: Page,  # noqa: F811
    asking: str,
    context: BrowserContext,
    troubles: Troubles,
) -> None:
    await context.route(
        "https://sign-in.example/**", lambda route: route.fulfill(body="Sign in", content_type="text/html")
    )
    element = await start(page, asking, show="tools")
    question = element.locator("[part=question]")
    result = await call(tool(element, "visit"), Url="https://sign-in.example/a?b=c")
    await expect(question.locator("[part=address]")).to_have_text("https://sign-in.example/a?b=c")
    await question.get_by_role("button", name="Decline").click()
    await expect(result).to_contain_text("decline")
    result = await call(tool(element, "visit"), Url="https://sign-in.example/a?b=c")
    async with context.expect_page() as opened:
        await question.get_by_role("link", name="Open sign-in.example").click()
    shown = await opened.value
    await expect(shown.get_by_text("Sign in")).to_be_visible()
    assert await shown.evaluate("window.opener") is None
    await expect(result).to_contain_text("accept")
    result = await call(tool(element, "visit"), Url="javascript:alert(1)")
    await expect(result).to_contain_text("not http or https")
    await expect(question).to_have_count(0)
