"""The view in a real host of MCP Apps, in headless Chromium: from the first argument to the end."""

import pytest
from playwright.async_api import expect

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_the_whole_life_of_a_forecast(app_host, app_view, client):
    app_host.use_server(client)
    frame = app_view.frame

    # A preview, while a model writes the arguments; the last word may be half.
    await app_host.send_input_partial({"place": "Li"})
    await expect(frame.locator("#place")).to_have_text("Li")
    await app_host.send_input_partial({"place": "Linz", "days": 5})
    await expect(frame.locator(".ghost")).to_have_count(5)
    await expect(frame.locator("#about")).to_have_text("Preparing a forecast …")

    # The chart of the result.
    await app_host.run_tool(client, "get_forecast", {"place": "Linz", "days": 5})
    await expect(frame.locator("[data-day]")).to_have_count(5)
    await expect(frame.locator("#about")).to_contain_text("Invented by this server")

    # Refreshed by a tool that only the view may call.
    await frame.locator("#refresh").click()
    await expect(frame.locator("#status")).to_have_text("Run 2 of the model.")
    assert app_host.received("call_tool") == [
        {"name": "refresh_forecast", "arguments": {"place": "Linz", "days": 5, "run": 2}}
    ]

    # What the user does reaches the model, the conversation and the browser.
    await frame.locator('[data-day="3"]').click()
    told = await app_host.wait_for("update_model_context")
    assert told["content"][0]["text"].startswith("The user looks at ")
    await expect(frame.locator('[data-day="3"]')).to_have_attribute("aria-pressed", "true")
    await frame.locator("#ask").click()
    message = await app_host.wait_for("send_message")
    assert (message["role"], "in Linz" in message["content"][0]["text"]) == ("user", True)
    await frame.locator("#link").click()
    assert (await app_host.wait_for("open_link"))["url"].startswith("https://modelcontextprotocol.io/")
    await frame.locator("#mode").click()
    await expect(frame.locator("#mode")).to_have_text("Leave full screen")

    await app_host.teardown("enough")
    assert app_host.received("log")[-1]["data"] == "The forecast is closed: enough"


@pytest.mark.mcpframe(context={"theme": "dark"})
async def test_it_follows_the_host_s_theme(app_host, app_view, client):
    await app_host.run_tool(client, "get_forecast", {"place": "Linz"})
    ground = "() => getComputedStyle(document.body).backgroundColor"
    await expect(app_view.frame.locator("html")).to_have_attribute("data-theme", "dark")
    dark = await app_view.frame.evaluate(ground)
    await app_host.set_context(
        theme="light", styles={"variables": {"--color-background-primary": "rgb(250, 245, 235)"}}
    )
    await expect(app_view.frame.locator("html")).to_have_attribute("data-theme", "light")
    assert await app_view.frame.evaluate(ground) == "rgb(250, 245, 235)" != dark


async def test_a_cancelled_call_and_a_failed_one(app_host, app_view):
    await app_host.send_input({"place": "Linz"})
    await app_host.send_cancelled("the user has changed the subject")
    await expect(app_view.frame.locator("#about")).to_have_text(
        "The forecast was cancelled: the user has changed the subject."
    )
    await app_host.send_result({"content": [{"type": "text", "text": "There is no such place."}], "isError": True})
    await expect(app_view.frame.locator("#about")).to_have_text("There is no such place.")


@pytest.mark.mcpframe(visible=True)
async def test_framed_as_a_server_it_draws_its_own_answers(framed_client, frame_page):
    await framed_client.call_tool("get_forecast", {"place": "Graz", "days": 4})
    await expect(frame_page.locator("[data-day]")).to_have_count(4)
    await frame_page.locator("#refresh").click()
    await expect(frame_page.locator("#status")).to_have_text("Run 2 of the model.")
    (view,) = (await framed_client.read_resource("ui://weather/forecast")).contents
    assert view.mime_type == "text/html;profile=mcp-app"
