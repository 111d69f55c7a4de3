"""An author's tests of `servers/authored`, with anyio's plugin. Those named `fails` have to."""

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def facts(framed_client):
    """A fixture of the author's own that uses the client."""
    result = await framed_client.call_tool("session_facts", {})
    return result.structured_content


async def test_from_a_fixture(facts, framed):
    assert facts["origin"] == "https://chat.example"
    assert facts["id"] == framed.outer.session_id
    assert facts["persistent"]


@pytest.mark.mcpframe(setup={"Name": "Ada", "Save": None}, visible=True, origin="https://other.example", era="legacy")
async def test_set_up_and_clicked(framed_client, framed, frame_page):
    assert framed.setup_result.title == "Authored: Ada"
    stored = await framed_client.call_tool("stored", {"key": "name"})
    assert stored.structured_content["value"]["name"] == "Ada"
    await frame_page.get_by_role("button", name="More").click()
    await expect(frame_page.locator("#count")).to_have_text("1")
    await frame_page.evaluate("localStorage.leftover = 'from another test'")


@pytest.mark.mcpframe(visible=True, origin="https://other.example")
async def test_fails_on_an_error_of_the_page(frame_page):
    assert await frame_page.evaluate("localStorage.leftover ?? null") is None
    await frame_page.locator("#fails").click()


@pytest.mark.mcpframe(visible=True)
async def test_expected_error(framed, frame_page):
    framed.expect_complaint("ValueError: click on fails")
    await frame_page.locator("#fails").click()
