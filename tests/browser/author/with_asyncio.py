"""An author's tests of `servers/authored`, with pytest-asyncio. Those named `fails` have to."""

import pytest


async def cancel(page):
    await page.locator("#cancel").click()


@pytest.mark.asyncio
async def test_fails_and_is_kept(framed_client):
    result = await framed_client.call_tool("session_facts", {})
    assert result.is_error


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.mcpframe(setup=cancel)
async def test_setup_fails_as_the_user_cancels(framed_client):
    raise AssertionError("the setup was cancelled")
