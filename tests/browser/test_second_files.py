"""The functions that serving seldom runs are in second files, and a call of one before they came answers, too."""

from __future__ import annotations

import os
import random
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from playwright.async_api import Page, Route, expect

from mcpframe.kit.bundle.assembly import wasm_files
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.wasm.profile import WHOLE, WasmProfile, profile_of
from mcpframe.kit.web.serve import serve_folder
from tests.browser.conftest import Origins, Troubles
from tests.browser.framed import PATIENCE, Framed
from tests.bundle.conftest import write_project
from tests.support.built import SNAPSHOTS
from tests.support.suites import extended

SERVER = '''
import _imp, decimal, lzma, marshal, sqlite3, unicodedata
from pathlib import Path
from typing import Annotated, Any

from pydantic import StringConstraints, TypeAdapter

from mcpframe import FrameServer

server = FrameServer("cold")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers, and keep the sum."""
    Path("~/sum.txt").expanduser().write_text(str(a + b))
    return a + b


@server.tool()
def cold(depth: int) -> list[Any]:
    """Run what no other server runs, from deep in Python."""
    if depth:
        return sorted([depth], key=lambda _: 0) and cold(depth - 1)
    data, _, _ = _imp.find_frozen("zipimport", withdata=True)
    import runpy  # a frozen module, which no snapshot has

    [row] = sqlite3.connect(":memory:").execute("select group_concat(value, '-') from json_each('[1, 2]')")
    return [
        str(decimal.Decimal(2).sqrt()),
        row[0],
        unicodedata.name("é"),
        unicodedata.normalize("NFD", "é") == "e\\u0301",
        ["日本".encode(name).hex() for name in ("shift_jis", "big5hkscs", "gb18030", "euc_kr", "iso2022_jp_2")],
        len(lzma.decompress(lzma.compress(bytes(1000)))),
        runpy.run_path.__name__,
        marshal.loads(data).co_name,
        TypeAdapter(Annotated[str, StringConstraints(pattern=r"^\\p{Lu}\\p{Greek}\\d$")]).validate_python("Éλ٣"),
    ]
'''
EXPECTED = [
    "1.414213562373095048801688724",
    "1-2",
    "LATIN SMALL LETTER E WITH ACUTE",
    True,
    ["93fa967b", "a4e9a5bb", "c8d5b1be", "eceddce2", "1b2442467c4b5c1b2842"],
    1000,
    "run_path",
    "<module>",
    "Éλ٣",
]
LOADED = (
    "performance.getEntriesByType('mark').map(({ name }) => name).filter((name) => /:second file /.test(name)).length"
)
SECOND = "**/*.second*.wasm"

pytestmark = [
    pytest.mark.skipif(not SNAPSHOTS, reason="about pages from a snapshot"),
    pytest.mark.skipif(WHOLE in os.environ, reason="about files that are split"),
]


@pytest.fixture(scope="module")
def served(origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Builds the server where it runs in the page or in a worker, once each, and returns the address of its bundle."""
    folder = tmp_path_factory.mktemp("bundles")
    with serve_folder(folder) as site:

        @cache
        def address(place: str) -> str:
            project = write_project(
                folder.parent / place, f'runs_in = "{place}"\npersist = ["~/sum.txt"]', SERVER, name=f"cold-{place}"
            )
            result = build(project, folder, allowed_origins=[origins.host], snapshot=True)
            return f"http://bundle.localhost:{site.port}/{result.url_path}"

        yield address


async def refuse_in_background(route: Route) -> None:
    """Answer synchronous requests only, so that a slow machine has not fetched a file before a call needs it."""
    await (route.continue_() if route.request.resource_type == "xhr" else route.abort())


async def test_a_call_fetches_them_at_once_if_they_are_not_there(
    host_page: Page, troubles: Troubles, served: Callable[[str], str]
) -> None:
    troubles.expect("Failed to load resource")
    await host_page.route(SECOND, refuse_in_background)
    page = Framed(host_page, served("page"))
    with anyio.fail_after(PATIENCE):
        async with page.client:
            assert await page.call("add", a=1, b=2) == 3
            frame = await page.frame()
            assert await frame.evaluate(LOADED) == 0
            assert await page.call("cold", depth=50) == EXPECTED
            assert await frame.evaluate(LOADED) > 0
            assert await page.call("cold", depth=0) == EXPECTED


@pytest.mark.parametrize("options", [{}, {"sandbox": "allow-scripts", "opaque": True}], ids=["of its origin", "opaque"])
async def test_serving_and_leaving_a_page_need_none(
    host_page: Page, troubles: Troubles, served: Callable[[str], str], options: dict[str, Any]
) -> None:
    """As a page is left, no browser waits for a request."""
    troubles.expect("Failed to load resource")
    await host_page.route(SECOND, refuse_in_background)
    page = Framed(host_page, served("page"), **options)
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            assert await page.call("add", a=1, b=2) == 3
            frame = await page.frame()
            await frame.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
            await client.list_tools()
            assert await frame.evaluate(LOADED) == 0


async def test_once_they_are_there_a_call_fetches_nothing(host_page: Page, served: Callable[[str], str]) -> None:
    page = Framed(host_page, served("worker"))
    with anyio.fail_after(PATIENCE):
        async with page.client:
            frame = await page.frame()
            await frame.evaluate("mcpframeComplete()")
            assert await page.call("cold", depth=50) == EXPECTED
            assert await frame.evaluate(LOADED) == 0


@pytest.mark.parametrize(
    ("happens", "says"),
    [
        (lambda route: route.fulfill(status=404), "reload the page if its site was published anew"),
        extended(lambda route: route.abort(), "could not be fetched: check the network"),
    ],
    ids=["a later deploy", "no network"],
)
async def test_a_page_that_cannot_get_a_file_says_so_and_how_to_go_on(
    host_page: Page,
    troubles: Troubles,
    served: Callable[[str], str],
    happens: Callable[[Route], Awaitable[None]],
    says: str,
) -> None:
    # The last: an event that Python still had to handle when it ended.
    for part in (
        "second",
        "Failed to load",
        "fatal",
        "Python has ended",
        "NetworkError",
        "Traceback",
        "promising task",
    ):
        troubles.expect(part)
    page = Framed(host_page, served("page"))
    with anyio.fail_after(PATIENCE):
        async with page.client as client:
            assert await page.call("add", a=1, b=2) == 3
            await host_page.route(SECOND, happens)
            with pytest.raises(MCPError):
                await client.call_tool("cold", {"depth": 5})
            alert = host_page.frame_locator("iframe").get_by_role("alert")
            await expect(alert).to_contain_text(says)


@pytest.mark.extended
@pytest.mark.parametrize("seed", range(3))
async def test_any_functions_can_be_in_them(
    host_page: Page, origins: Origins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    def any_of(sha256: str) -> WasmProfile | None:
        """Half of all functions, whether serving runs them or not."""
        profile, chosen = profile_of(sha256), random.Random(seed)
        if profile is None:
            return None
        numbers = range(min(profile.later), max(profile.later) + 1)
        return WasmProfile(profile.file, sha256, frozenset(each for each in numbers if chosen.random() < 0.5))

    monkeypatch.setattr(wasm_files, "profile_of", any_of)
    project, bundles = write_project(tmp_path / "project", "", SERVER, name="cold"), tmp_path / "bundles"
    result = build(project, bundles, allowed_origins=[origins.host], snapshot=True)
    with serve_folder(bundles) as site, anyio.fail_after(PATIENCE):
        page = Framed(host_page, f"http://bundle.localhost:{site.port}/{result.url_path}")
        async with page.client:
            assert await page.call("add", a=1, b=2) == 3
            assert await page.call("cold", depth=50) == EXPECTED
