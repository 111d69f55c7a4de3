"""Tests the view as users see it: in headless Chromium, inside a host with the official AppBridge."""

import pytest
from mcp import Client
from playwright.async_api import expect

from server import server

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_a_roll_is_shown_and_rolled_again(app_host, app_view):
    async with Client(server) as client:
        app_host.use_server(client)
        await app_host.run_tool(client, "roll_dice", {"count": 3})
        await expect(app_view.frame.locator(".die")).to_have_count(3)

        await app_view.frame.locator("#again").click()
        assert await app_host.wait_for("call_tool") == {"name": "roll_dice", "arguments": {"count": 3}}
        told = await app_host.wait_for("update_model_context")
        await expect(app_view.frame.locator("#status")).to_have_text(f"{told['structuredContent']['total']} in total")


async def test_a_cancelled_call(app_host, app_view):
    await app_host.send_input({"count": 3})
    await expect(app_view.frame.locator("#status")).to_have_text("Rolling 3 dice …")
    await app_host.send_cancelled("enough")
    await expect(app_view.frame.locator("#status")).to_have_text("Nothing was rolled.")
