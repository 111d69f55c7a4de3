"""Standard and inverted, in Python on both sides: bundles inside, and outside them CPython or another bundle."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import anyio
import pytest
from mcp import Client
from mcp.server.mcpserver import MCPServer
from playwright.async_api import Browser, Page

from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.serving.server import serve
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Origins, new_context
from tests.support.built import SERVERS, build_plain

OPTIONS = Options(handshake_timeout=BOOT_PATIENCE)


@dataclass(frozen=True)
class Site:
    """Bundles that may be framed by the host page and by each other."""

    origin: str

    def url(self, name: str) -> str:
        """Return the address of a bundle."""
        return f"{self.origin}/{name}/"


@pytest.fixture(scope="module")
def bundles(origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server, a client and a host, as bundles."""
    folder = tmp_path_factory.mktemp("architectures")
    with serve_folder(folder) as served:
        site = Site(f"http://bundle.localhost:{served.port}")
        for name in ("everything", "copilot", "hosting"):
            build_plain(SERVERS / name, folder, allowed_origins=[origins.host, site.origin])
        yield site


@pytest.fixture(scope="module")
async def page(origins: Origins, browser: Browser) -> AsyncIterator[Page]:
    """A page of the host's origin."""
    async with new_context(browser) as (context, _):
        page = await context.new_page()
        await page.goto(f"{origins.host}/page.html")
        yield page


async def test_a_client_in_cpython_and_a_server_in_a_bundle(page: Page, bundles: Site) -> None:
    outer = OuterFrame(bundles.url("everything"), options=OPTIONS)
    async with outer.setup(PlaywrightPlace(page)) as setup:
        assert (await setup.result()).title == "Everything"
    async with Client(outer.connect(PlaywrightPlace(page))) as client:
        assert (await client.call_tool("echo", {"text": "hi"})).structured_content == {"result": "hi"}


async def test_a_server_in_cpython_and_a_client_in_a_bundle(page: Page, bundles: Site) -> None:
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    server = MCPServer("dashboard")
    server.add_tool(lambda name: f"Hello, {name}", name="greet", description="Greet", structured_output=False)

    async def done(answer: str) -> None:
        told.set_result(answer)

    server.add_tool(done)
    outer = OuterFrame(bundles.url("copilot"), options=OPTIONS)
    with anyio.fail_after(BOOT_PATIENCE):
        async with outer.connect(PlaywrightPlace(page)) as streams, anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: serve(server, *streams))
            assert await told == "Hello, the copilot"
            tasks.cancel_scope.cancel()


@pytest.mark.extended
@pytest.mark.parametrize(
    ("tool", "inner", "expected"),
    [
        ("use_server", "everything", ["Everything", "through two frames"]),
        ("serve_client", "copilot", "Hello, the copilot"),
    ],
    ids=["client outside, server inside", "server outside, client inside"],
)
async def test_bundles_on_both_sides(page: Page, bundles: Site, tool: str, inner: str, expected: object) -> None:
    outer = OuterFrame(bundles.url("hosting"), options=OPTIONS)
    with anyio.fail_after(2 * BOOT_PATIENCE):
        async with Client(outer.connect(PlaywrightPlace(page))) as client:
            result = await client.call_tool(tool, {"url": bundles.url(inner)})
    assert not result.is_error, result.content
    assert result.structured_content == {"result": expected}
