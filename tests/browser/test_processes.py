"""Functions that a server's page hands to processes: they run in workers, side by side, and can be cancelled."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp import Client
from playwright.async_api import Page

from tests.browser.conftest import BundleOf, Troubles
from tests.browser.framed import PATIENCE, Framed, forbid_workers


@pytest.fixture(scope="module")
def pooled(bundle_of: BundleOf) -> str:
    """The address of the server."""
    return bundle_of("pooled").url


@pytest.fixture
async def page(host_page: Page, pooled: str) -> Framed:
    """A framed page of it."""
    return Framed(host_page, pooled)


async def test_functions_run_in_workers_by_each_way_and_exceptions_come_with_their_traceback(
    page: Framed, troubles: Troubles
) -> None:
    troubles.expect("LookupError")
    troubles.expect("TypeError")
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            assert await page.call("places") == ["page", "worker"]
            assert await page.call("squares", numbers=[3, 1, 2]) == [9, 1, 4]
            assert await page.call("pool", numbers=[5, 6, 7]) == [25, 36, 49]
            failed = await client.call_tool("failing", {})
            assert failed.is_error
            assert "no such thing" in str(failed.content)
            refused = await client.call_tool("picky", {})
            assert refused.is_error
            assert "it is picky" in str(refused.content)
    console = "\n".join(troubles.heard)
    assert "work.py" in console
    assert "RemoteTraceback" in console


async def test_the_page_answers_while_a_function_computes_and_a_cancellation_ends_it(
    page: Framed, troubles: Troubles
) -> None:
    troubles.expect("this takes 3600 s")
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            over = anyio.Event()

            async def spin() -> None:
                try:
                    await client.call_tool("spin", {})
                finally:
                    over.set()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(spin)
                assert await page.call("squares", numbers=[4]) == [16]
                assert not over.is_set()
                tasks.cancel_scope.cancel()
            assert await page.call("squares", numbers=[4, 5]) == [16, 25]


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_what_a_function_prints_reaches_the_client(host_page: Page, pooled: str, troubles: Troubles) -> None:
    troubles.expect("this takes 0 s")
    printed: list[tuple[str, str, str]] = []

    async def on_log(params: Any) -> None:
        printed.append((params.level, params.logger, params.data))

    page = Framed(host_page, pooled)
    with anyio.fail_after(PATIENCE):
        async with Client(page.outer.connect(page.place), logging_callback=on_log, mode="legacy") as client:
            await client.session.set_logging_level("info")
            await client.call_tool("spin", {"seconds": 0})
    assert printed == [("info", "print", "computing"), ("warning", "work", "this takes 0 s")]


async def test_a_page_without_workers_runs_them_itself(
    host_page: Page, bundle_of: BundleOf, troubles: Troubles
) -> None:
    troubles.expect("run in the page")
    bundle = bundle_of("pooled")
    await forbid_workers(host_page, bundle, troubles)
    page = Framed(host_page, bundle.url)
    with anyio.fail_after(PATIENCE):
        async with page.client:
            assert await page.call("places") == ["page", "page"]
