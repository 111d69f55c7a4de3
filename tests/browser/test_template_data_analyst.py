"""The template data-analyst, end to end, with the real files of pandas and matplotlib.

A person drops files onto it as a framed server, as a view, and in the window of the bridge.
"""

from __future__ import annotations

import base64
import json
import shlex
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pandas as pd
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from playwright.async_api import BrowserContext, Frame, async_playwright, expect

from mcpframe.hosts import Options, OuterFrame
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.browser.chromium import devtools_address, ensure_chromium
from mcpframe.views.html import view_html
from tests.bridge.programs import environment, over_http
from tests.browser.apps_hosts import CONTEXT, VERSIONS, AppsHost
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.dropping import drop
from tests.browser.hosts import PythonHost
from tests.support.scientific import data_analyst, scientific_packages

pytestmark = pytest.mark.extended  # compiles the whole of pandas and matplotlib
REFUSED_BY_THE_POLICY = """() => new Promise((resolve) => {
    document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
    fetch("https://elsewhere.example/").then(() => resolve("sent"), () => {});
})"""
SAYS = """() => {
    globalThis.says = [];
    const status = document.querySelector("#status");
    new MutationObserver(() => says.push(status.textContent)).observe(status, { childList: true, subtree: true });
}"""
ENLARGE = "() => { apps.iframe.style = 'width: 800px; height: 600px'; }"
PNG = b"\x89PNG\r\n\x1a\n"
BY_CITY = "sales.groupby('city').amount.sum()"


@pytest.fixture(scope="module")
def bundle(bundle_of: BundleOf, origins: Origins, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The server, at a name of the host's site: only there files are dropped by a driver."""
    project = data_analyst(tmp_path_factory.mktemp("projects"))
    lists = {"sep": [origins.host], "mcp_apps": [origins.host, sandbox(origins), "null"]}
    packages = str(scientific_packages())
    return bundle_of(project, at="neighbour.host", distribution=packages, allowed_origins=lists)


def sandbox(origins: Origins) -> str:
    return f"http://sandbox.localhost:{origins.port}"


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """The same sales as CSV and Excel, and a SQLite file of cities."""
    sales, book, cities = (tmp_path / name for name in ("sales.csv", "book.xlsx", "cities.db"))
    sales.write_text("city;month;amount\nOslo;1;3.5\nRome;1;4\nOslo;2;5\n")
    pd.read_csv(sales, sep=";").to_excel(book, index=False)
    database = sqlite3.connect(cities)
    database.execute("CREATE TABLE people AS SELECT 'Oslo' AS city, 709000 AS number")
    database.commit()
    database.close()
    return [sales, book, cities]


async def test_files_are_dropped_and_analysed(
    context: BrowserContext, origins: Origins, bundle: Bundle, files: list[Path]
) -> None:
    page = await context.new_page()
    await page.goto(f"{origins.host}/template.html")
    host = PythonHost(page, bundle.url)
    large, long = files[0].with_name("large.xlsx"), files[0].with_name("long.csv")
    pd.DataFrame({"number": range(30_000), "text": "x"}).to_excel(large, index=False)
    pd.DataFrame({"number": range(60_000)}).to_csv(long, index=False)
    host.outer = OuterFrame(bundle.url, visibility="required", options=Options(handshake_timeout=BOOT_PATIENCE))
    async with host.connect() as server:
        assert "drop" in (await server.call("describe"))["content"][0]["text"]
        await drop(server.frame, "#drop", *files[:2])
        await server.frame.wait_for_selector("#tables li:nth-child(2) >> text=3 rows")
        await server.frame.set_input_files("#file", files[2])
        await server.frame.wait_for_selector("#tables li:nth-child(3) >> text=people")

        rows = (await server.ok("describe"))["structuredContent"]["rows"]
        assert {row[0] for row in rows} == {"sales", "book", "people"}
        assert "separated by semicolons" in await server.frame.inner_text("#tables li:nth-child(1)")

        # A process reads a workbook: meanwhile the page answers. A file in pieces says how far it is.
        await server.frame.evaluate(SAYS)
        await drop(server.frame, "#drop", large)
        assert (await server.ok("query", expression="len(sales)"))["structuredContent"]["rows"] == [[3]]
        await server.frame.wait_for_selector("#tables li >> text=30,000 rows")
        await drop(server.frame, "#drop", long)
        await server.frame.wait_for_selector("#tables li >> text=60,000 rows")
        assert "Reading long.csv … 100%" in await server.frame.evaluate("says")
        written = await server.ok("export", expression="large", format="xlsx", to="download")
        assert "30,000 rows" in written["content"][0]["text"]
        answer = await server.ok("query", expression=BY_CITY)
        assert answer["structuredContent"]["rows"] == [["Oslo", 8.5], ["Rome", 4.0]]
        assert "Oslo" in await server.frame.inner_text("#result table")
        (picture,) = (await server.ok("plot", expression=BY_CITY))["content"]
        assert base64.b64decode(picture["data"]).startswith(PNG)
        await server.frame.wait_for_function("() => document.querySelector('#result img').naturalWidth > 300")
        exported = (await server.ok("export", expression="book.merge(people, on='city')", format="xlsx"))["content"][1]
        assert exported["mimeType"].endswith("spreadsheetml.sheet")

        # Many rows stay in the page, and tools pass them on.
        large = (await server.ok("query", expression="long[long.number >= 100]"))["structuredContent"]
        assert (large["rows"], large["shape"]) == (None, [59_900, 1])
        await server.frame.wait_for_selector("#result >> text=rows 1 to 100 of 59,900")
        await server.frame.click("#result >> text=Next")
        await server.frame.wait_for_selector("#result td >> text=299")
        odd = await server.ok("query", expression="result[result.number % 2 == 1]", result=large["handle"])
        handle = odd["structuredContent"]["handle"]
        await server.ok("plot", result=handle, kind="line")
        await server.frame.wait_for_selector("#result img")
        lost = await server.call("plot", result="k0")
        assert "Call the tool that made it again" in lost["content"][0]["text"]

        refused = await server.call("query", expression="sales.to_csv('x')")
        assert refused["isError"]
        assert await server.frame.evaluate(REFUSED_BY_THE_POLICY) == "connect-src"


@pytest.mark.parametrize("app_bridge", [VERSIONS[0]], indirect=True)
async def test_as_a_view_it_takes_files_and_answers(
    context: BrowserContext, troubles: Troubles, origins: Origins, bundle: Bundle, files: list[Path], app_bridge: str
) -> None:
    host = await AppsHost.load(context, origins, bundle.url, app_bridge)
    await host.open(context=CONTEXT, answers={"onupdatemodelcontext": {}, "ondownloadfile": {}})
    listed = await host.call("listTools")
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["describe", "query", "plot", "export"]
    await host.page.evaluate(ENLARGE)
    frame = next(frame for frame in host.page.frames if frame.url == bundle.url)
    await drop(frame, "#drop", files[0])
    told = (await host.taken("onupdatemodelcontext"))["content"][0]["text"]
    assert "sales: 3 rows; columns city, month, amount" in told
    assert "Oslo" not in told
    assert (await host.tool("query", expression=BY_CITY))["rows"] == [["Oslo", 8.5], ["Rome", 4.0]]
    await expect(host.page.frame_locator("iframe").locator("#result table")).to_contain_text("Oslo")
    saving = {"name": "export", "arguments": {"expression": "sales", "to": "download"}}
    assert "3 rows" in (await host.call("callTool", saving))["result"]["content"][0]["text"]
    assert (await host.taken("ondownloadfile"))["contents"][0]["resource"]["uri"] == "file:///export.csv"


@pytest.mark.parametrize("app_bridge", [VERSIONS[0]], indirect=True)
async def test_as_the_view_of_a_call_it_shows_what_was_answered(
    context: BrowserContext, troubles: Troubles, origins: Origins, bundle: Bundle, app_bridge: str
) -> None:
    host = await AppsHost.load(context, origins, f"{sandbox(origins)}/apps_sandbox.html", app_bridge)
    piece = {"columns": ["city"], "rows": [["Rome"]] * 150, "next": None}
    read = {"contents": [{"uri": "kept:///k1", "text": json.dumps(piece)}]}
    await host.open(html=view_html(bundle.url), context=CONTEXT, answers={"onreadresource": read})
    view = host.page.frame_locator("iframe").frame_locator("iframe").frame_locator("iframe")
    await host.call("sendToolInput", {"arguments": {"expression": BY_CITY}})
    await expect(view.locator("#question")).to_have_text(BY_CITY)
    table = {"columns": ["city", "amount"], "rows": [["Oslo", 8.5]], "shape": [1, 2], "uri": "kept:///k0"}
    await host.call("sendToolResult", {"content": [{"type": "text", "text": "Oslo"}], "structuredContent": table})
    await expect(view.locator("#result table")).to_contain_text("8.5")
    await expect(view.locator("#status")).to_have_text("")

    # The rows of a larger result are read from the server that keeps them.
    kept = {"columns": ["city"], "rows": None, "shape": [200, 1], "uri": "kept:///k1"}
    await host.call("sendToolResult", {"content": [{"type": "text", "text": "k1"}], "structuredContent": kept})
    await expect(view.locator(".mcpframe-pages")).to_contain_text("rows 1 to 100 of 150")
    await expect(view.locator("#status")).to_have_text("The first 150 of 200 rows")
    assert await host.taken("onreadresource") == {"uri": "kept:///k1"}


@pytest.fixture
def window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Chromium whose windows nobody sees; the file has the arguments that it gets."""
    program, arguments = tmp_path / "chromium", tmp_path / "arguments"
    unseen = f"{shlex.quote(str(ensure_chromium()))} --headless=new --remote-debugging-port=0"
    program.write_text(f'#!/bin/sh\necho "$@" > {shlex.quote(str(arguments))}\nexec {unseen} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("MCPFRAME_CHROMIUM", str(program))
    monkeypatch.setenv("DISPLAY", ":0")
    return arguments


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """The profile of a bridge, without the sessions of other tests."""
    folder = tmp_path / "profile"
    folder.mkdir()
    return folder


@asynccontextmanager
async def bridged(bundle: Bundle, profile: Path, transport: str) -> AsyncIterator[Client]:
    """Connect to a bridge of the built server, whose page is in a window."""
    folder = str(bundle.folder / bundle.path)
    command = [sys.executable, "-m", "mcpframe", "bridge", folder, "--timeout", str(BOOT_PATIENCE)]
    if transport == "http":
        with over_http(command, profile) as address:
            async with Client(address, mode="legacy") as client:
                yield client
        return
    program, *arguments = [*command, "--profile", str(profile)]
    server = StdioServerParameters(command=program, args=arguments, env=environment(), cwd=checkout_dir())
    with (profile / "stderr.txt").open("w") as errors:
        async with Client(stdio_client(server, errlog=errors), mode="legacy") as client:
            yield client


@asynccontextmanager
async def page_in(profile: Path, bundle: Bundle) -> AsyncIterator[Frame]:
    """Find the server's page in the browser of a bridge."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(await devtools_address(profile / "chromium"))
        [page] = browser.contexts[0].pages
        frame = page.frames[-1]
        await frame.wait_for_url(f"**/{bundle.path}")  # known once the driver is attached to it
        assert await (await frame.frame_element()).is_visible()
        yield frame


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_through_the_bridge_files_are_dropped_in_its_window(
    bundle: Bundle, files: list[Path], profile: Path, window: Path, transport: str
) -> None:
    async with bridged(bundle, profile, transport) as client:
        assert "--headless" not in await anyio.Path(window).read_text()
        refused: Any = await client.call_tool("describe", {})
        assert refused.is_error
        assert "drop" in refused.content[0].text
        async with page_in(profile, bundle) as frame:
            await drop(frame, "#drop", files[0])
            await frame.wait_for_selector("#tables li >> text=3 rows")
            answer = await client.call_tool("query", {"expression": BY_CITY})
            assert answer.structured_content
            assert answer.structured_content["rows"] == [["Oslo", 8.5], ["Rome", 4.0]]
            await frame.wait_for_selector("#result td >> text=Oslo")
            whole: Any = await client.call_tool("query", {"expression": f"concat([{', '.join(['sales'] * 7)}])"})
            assert (whole.structured_content["rows"], whole.structured_content["shape"]) == (None, [21, 4])
            handle = whole.structured_content["handle"]
            part: Any = (await client.read_resource(f"kept:///{handle}?offset=20")).contents[0]
            assert json.loads(part.text)["rows"] == [[2, "Oslo", 2, 5.0]]
        [picture] = (await client.call_tool("plot", {"expression": BY_CITY})).content
        assert base64.b64decode(getattr(picture, "data", "")).startswith(PNG)
