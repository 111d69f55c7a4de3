"""The browser that all tests of a run share: it keeps compiled code between pages, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.testing.framed import FramedOptions, FramedServer, framed_server
from mcpframe.kit.testing.shared_browser import KEEPER, SharedBrowser

MINIMAL = templates_dir() / "minimal"


@pytest.fixture(scope="module")
def browser() -> Iterator[SharedBrowser]:
    with SharedBrowser() as browser:
        browser.start()
        yield browser


@pytest.mark.extended
def test_the_process_of_a_bundles_pages_lives_on(browser: SharedBrowser, tmp_path: Path) -> None:
    bundle = browser.serve(MINIMAL)
    context = browser._context
    assert context is not None

    async def added(number: int) -> None:
        async def failed(server: FramedServer) -> None:
            await server.keep(tmp_path)

        async with framed_server(browser, bundle, FramedOptions(), failed=failed) as server:
            result = await server.client.call_tool("add", {"a": number, "b": 1})
            assert result.structured_content == {"result": number + 1}

    for number in range(3):
        asyncio.run(added(number))
    [keeper] = [page for page in context.pages if page.url.endswith(KEEPER)]
    assert [frame.url for frame in keeper.frames[1:]] == [f"{bundle.url}manifest.json"]
