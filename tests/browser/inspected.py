"""The inspector with the server `inspected`, for the tests of a module: import the three fixtures."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser

from mcpframe.kit.dev.inspector import Inspecting
from tests.browser.conftest import Troubles, new_profile, watched
from tests.browser.inspecting import BOOT, InspectorPage, ServerPart


@pytest.fixture(scope="module")
async def opened(browser: Browser, inspecting: Inspecting) -> AsyncIterator[tuple[InspectorPage, Troubles]]:
    """The inspector, and what its pages complain about."""
    async with new_profile(browser) as context, watched(context) as troubles:
        inspector = await InspectorPage.open(context, inspecting, inspecting.url_with(inspecting.servers["inspected"]))
        await inspector.button("Allow what is checked").click(timeout=BOOT)
        await inspector.server("Inspected")
        yield inspector, troubles


@pytest.fixture
def inspector(opened: tuple[InspectorPage, Troubles]) -> InspectorPage:
    """The inspector."""
    return opened[0]


@pytest.fixture
async def server(inspector: InspectorPage) -> ServerPart:
    """The server."""
    return await inspector.server("Inspected")
