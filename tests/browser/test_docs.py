"""The examples of the documentation that need a browser, at the very addresses that they name.

Nothing is at those addresses: the browser's requests are answered from a folder on this machine.
"""

import asyncio
import base64
import importlib.util
import shutil
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import anyio
import pytest
from mcp import Client
from mcp_types import ImageContent
from playwright.async_api import BrowserContext, Error, Frame, Page, Route, expect

from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.frame.session.setup_phase import SetupErrorCode
from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.browser.playwright_window import PlaywrightPlace, PlaywrightWindow
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Troubles
from tests.support.built import build_plain

EXAMPLES = checkout_dir() / "docs" / "examples"
HOST = "https://chat.example"
TOOLS = "https://tools.chat.example"  # of the host's site: see test_author.py

Publish = Callable[[str, Path], Awaitable[None]]


@pytest.fixture
async def publish(context: BrowserContext, request: pytest.FixtureRequest) -> Publish:
    """Put a folder at an origin."""

    async def published(origin: str, folder: Path) -> None:
        serving = serve_folder(folder)
        served = serving.__enter__()
        request.addfinalizer(lambda: serving.__exit__(None, None, None))

        async def answer(route: Route) -> None:
            local = served.origin + route.request.url.removeprefix(origin)
            with suppress(Error):  # the page that requested it is gone
                await route.fulfill(response=await route.fetch(url=local))

        await context.route(f"{origin}/**", answer)

    return published


@pytest.fixture
def host_folder(tmp_path: Path) -> Path:
    """The host in one HTML file, with the folder beside it that the wheel has."""
    folder = tmp_path / "host"
    shutil.copytree(static_dir() / "host" / "bundled", folder / "host")
    shutil.copy(EXAMPLES / "host" / "index.html", folder)
    return folder


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_host_in_ten_lines_and_the_one_in_python(
    context: BrowserContext, troubles: Troubles, publish: Publish, host_folder: Path, tmp_path: Path
) -> None:
    build_plain(EXAMPLES / "adder" / "adder.py", tmp_path / "dist")
    await publish("https://tools.example", tmp_path / "dist")
    await publish(HOST, host_folder)
    page = await context.new_page()
    await page.goto(f"{HOST}/")
    await expect(page.locator("#answer")).to_have_text("add: 3", timeout=BOOT_PATIENCE * 1000)
    call = loaded(EXAMPLES / "python-host" / "call.py")
    assert await call.add(page, "https://tools.example/adder/") == "3"


@pytest.mark.extended  # `test_author.py` has such a server
async def test_a_setup_and_a_page_of_its_own(
    context: BrowserContext, troubles: Troubles, publish: Publish, host_folder: Path, tmp_path: Path
) -> None:
    page, outer = await framed_example("notes", context, publish, host_folder, tmp_path)
    place = PlaywrightPlace(page)

    async def frame_of(window: PlaywrightWindow | None) -> Frame:
        assert window
        return await window.frame()

    async with outer.setup(place) as setup:
        frame = await frame_of(place.window)
        troubles.expect("The setup was cancelled.")
        await frame.click("text=Cancel")
        assert (await setup.result()).error_code is SetupErrorCode.USER_CANCELLED
    async with outer.setup(place) as setup:
        frame = await frame_of(place.window)
        await frame.fill("#name", "Shopping")
        await frame.click("text=Use it")
        assert (await setup.result()).title == "Shopping"
    async with Client(outer.connect(place, visible=True)) as client:
        frame = await frame_of(place.window)
        await expect(frame.locator("#title")).to_have_text("Shopping")
        await client.call_tool("add_note", {"text": "Buy milk"})
        await expect(frame.locator("#notes")).to_have_text("Buy milk")
    async with Client(outer.connect(place)) as client:
        kept = await client.call_tool("list_notes", {})
        assert kept.structured_content == {"result": ["Buy milk"]}


@pytest.mark.extended  # `test_mcp1.py` has such a server
async def test_a_wrapped_server_of_mcp_1_keeps_notes(
    context: BrowserContext, troubles: Troubles, publish: Publish, host_folder: Path, tmp_path: Path
) -> None:
    page, outer = await framed_example("wrapped", context, publish, host_folder, tmp_path)
    async with outer.setup(PlaywrightPlace(page)) as setup:
        assert (await setup.result()).title == "wrapped-notes"
    for answer in ("1 notes.", "2 notes."):
        async with Client(outer.connect(PlaywrightPlace(page)), mode="legacy") as client:
            told = await client.call_tool("add_note", {"text": "Buy milk"})
            assert told.structured_content == {"result": answer}


@pytest.mark.extended  # `test_architectures.py` and `test_template_dashboard.py` have such pages
async def test_hosts_in_python_in_both_architectures(
    context: BrowserContext, troubles: Troubles, publish: Publish, tmp_path: Path
) -> None:
    origin = "https://app.example"
    build_plain(EXAMPLES / "adder" / "adder.py", tmp_path, allowed_origins=[origin])
    for name in ("page-host", "inverted/dashboard", "inverted/copilot"):
        build_plain(EXAMPLES / name, tmp_path)
    await publish(origin, tmp_path)
    page = await context.new_page()
    for visit in ("set up", "resumed"):
        await page.goto(f"{origin}/page-host/")
        await expect(page.locator("#answer"), visit).to_have_text("3", timeout=2 * BOOT_PATIENCE * 1000)
        await expect(page.locator("#status")).to_have_text("adder")
    await page.goto(f"{origin}/dashboard/")
    greeting = page.frame_locator("#copilot iframe").locator("#greeting")
    await expect(greeting).to_have_text("Hello, Ada", timeout=2 * BOOT_PATIENCE * 1000)


@pytest.mark.extended  # `test_app_hub.py` has such a hub
async def test_the_tabs_of_an_app_have_each_others_tools_and_so_has_a_host(
    context: BrowserContext, troubles: Troubles, publish: Publish, host_folder: Path, tmp_path: Path
) -> None:
    origin = "https://app.example"
    notes = build_plain(EXAMPLES / "tabs" / "notes", tmp_path / "dist")
    tools = build_plain(EXAMPLES / "tabs" / "tools", tmp_path / "dist")
    await publish(origin, tmp_path / "dist")
    (host_folder / "index.html").write_text("<!doctype html><title>A host</title><link rel='icon' href='data:,'>")
    await publish("https://chat.app.example", host_folder)
    tabs = []
    for text in ("Milk", "Eggs"):
        tabs.append(tab := await context.new_page())
        await tab.goto(f"{origin}/{notes.url_path}")
        await tab.fill("#note", text, timeout=BOOT_PATIENCE * 1000)
    with anyio.fail_after(BOOT_PATIENCE):
        for tab in tabs:
            while await tab.locator("#notes").inner_text() != "Milk | Eggs":  # the other one may not have joined yet
                await tab.click("#all")
    page = await context.new_page()
    await page.goto("https://chat.app.example/")
    outer = OuterFrame(f"{origin}/{tools.url_path}", options=Options(handshake_timeout=BOOT_PATIENCE))
    async with Client(outer.connect(PlaywrightPlace(page))) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [f"website_tool_app_example_tab{tab}_read_note" for tab in (1, 2)]
        read = await client.call_tool(names[1], {})
        assert read.structured_content == {"result": "Eggs"}


@pytest.mark.extended
async def test_a_host_of_views_in_python(
    context: BrowserContext, troubles: Troubles, publish: Publish, tmp_path: Path
) -> None:
    """The output root is published twice: the second origin has the sandbox."""
    origin = "https://app.example"
    built = build_plain(EXAMPLES / "view-host", tmp_path)
    build_plain(EXAMPLES / "clock", tmp_path, allowed_origins=[origin])
    await publish(origin, tmp_path)
    await publish("https://sandbox.example", tmp_path)
    page = await context.new_page()
    await page.goto(f"{origin}/{built.url_path}")
    view = page.frame_locator("#view iframe").frame_locator("iframe")
    await expect(view.locator("#time")).to_contain_text("Vienna: ", timeout=2 * BOOT_PATIENCE * 1000)
    await expect(page.locator("#text")).to_contain_text("Vienna")
    await expect(page.locator("#view iframe")).to_have_css("height", "120px")
    await view.locator("#thank").click()
    await expect(page.locator("#status")).to_have_text("You: Thank you")
    await page.locator("#close").click()
    await expect(page.locator("#status")).to_have_text("Closed")
    await expect(page.locator("#view iframe")).to_have_count(0)


@pytest.mark.extended  # `test_ui_host.py` has a sandbox at the other name
@pytest.mark.parametrize(("here", "there"), [("127.0.0.1", "localhost"), ("localhost", "127.0.0.1")])
async def test_a_preview_on_this_machine_has_its_sandbox_under_the_other_name(
    context: BrowserContext, troubles: Troubles, tmp_path: Path, here: str, there: str
) -> None:
    with serve_folder(tmp_path) as served:
        origin = f"http://{here}:{served.port}"
        built = build_plain(EXAMPLES / "view-host", tmp_path)
        build_plain(EXAMPLES / "clock", tmp_path, allowed_origins=[origin])
        page = await context.new_page()
        await page.goto(f"{origin}/{built.url_path}")
        view = page.frame_locator("#view iframe").frame_locator("iframe")
        await expect(view.locator("#time")).to_contain_text("Vienna: ", timeout=2 * BOOT_PATIENCE * 1000)
        source = await page.locator("#view iframe").get_attribute("src")
        assert source is not None
        assert source.startswith(f"http://{there}:{served.port}/_mcpframe/sandbox.")
        await page.close()


@pytest.mark.extended
async def test_a_host_shows_the_page_that_a_tool_returns(
    context: BrowserContext, troubles: Troubles, publish: Publish, host_folder: Path, tmp_path: Path
) -> None:
    build_plain(EXAMPLES / "board" / "board.py", tmp_path / "dist")
    await publish("https://tools.example", tmp_path / "dist")
    (host_folder / "index.html").write_text("<!doctype html><title>A host</title><link rel='icon' href='data:,'>")
    await publish(HOST, host_folder)
    page = await context.new_page()
    await page.goto(f"{HOST}/")
    tasks, chat = (loaded(EXAMPLES / "board" / f"{name}.py") for name in ("tasks", "chat"))
    async with Client(tasks.server) as client:
        showing = asyncio.create_task(chat.show_board(client, PlaywrightPlace(page)))
        board = page.frame_locator("iframe")
        await expect(board.locator("li")).to_have_text(tasks.tasks, timeout=BOOT_PATIENCE * 1000)
        await board.get_by_text("Plan my day").click()
        await expect(board.get_by_text("Planned: plan-day with 2 tasks")).to_be_visible()
        iframe = page.locator("iframe")
        await expect(iframe).not_to_have_css("height", "300px")  # that of the resource, until the page has said its own
        assert await iframe.evaluate("element => element.style.width") == "100%"
        await iframe.evaluate("element => element.remove()")
        await showing


@pytest.mark.extended  # `test_features.py` has such a tool
async def test_a_tool_that_takes_a_while(
    context: BrowserContext, troubles: Troubles, publish: Publish, host_folder: Path, tmp_path: Path
) -> None:
    page, outer = await framed_example("primes", context, publish, host_folder, tmp_path)
    begun = asyncio.Event()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        begun.set()

    async with Client(outer.connect(PlaywrightPlace(page))) as client:
        counted = await client.call_tool("count_primes", {"below": 5_000}, progress_callback=on_progress)
        assert (counted.structured_content, begun.is_set()) == ({"result": 669}, True)
        begun.clear()
        long = asyncio.create_task(client.call_tool("count_primes", {"below": 10**9}, progress_callback=on_progress))
        await begun.wait()
        long.cancel()
        await asyncio.wait([long])
        unfinished = await client.call_tool("list_unfinished", {})
        assert unfinished.structured_content == {"result": [10**9]}


@pytest.mark.extended  # `test_features.py` has such a tool, `test_author.py` such a page
async def test_pictures_of_a_tool_and_of_the_user(
    context: BrowserContext, troubles: Troubles, publish: Publish, host_folder: Path, tmp_path: Path
) -> None:
    page, outer = await framed_example("pictures", context, publish, host_folder, tmp_path)
    place = PlaywrightPlace(page)
    async with Client(outer.connect(place, visible=True)) as client:
        assert (await client.call_tool("show_picture", {})).is_error
        drawn = (await client.call_tool("draw_chart", {"values": [1, 2]})).content[0]
        assert isinstance(drawn, ImageContent)
        assert place.window
        frame = await place.window.frame()
        file = {"name": "chart.png", "mimeType": "image/png", "buffer": base64.b64decode(drawn.data)}
        await frame.set_input_files("#file", file)
        await expect(frame.locator("#status")).to_have_text("chart.png can be shown now.")
        shown = (await client.call_tool("show_picture", {})).content
        assert shown == [drawn]
        await frame.set_input_files("#file", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"a"})
        await expect(frame.locator("#status")).to_contain_text("a.txt is not a PNG")


async def framed_example(
    name: str, context: BrowserContext, publish: Publish, host_folder: Path, folder: Path
) -> tuple[Page, OuterFrame]:
    """Build an example and publish it; return a host's page, and the frame to connect to there."""
    built = build_plain(EXAMPLES / name, folder / "dist")
    await publish(TOOLS, folder / "dist")
    (host_folder / "index.html").write_text("<!doctype html><title>A host</title><link rel='icon' href='data:,'>")
    await publish(HOST, host_folder)
    page = await context.new_page()
    await page.goto(f"{HOST}/")
    return page, OuterFrame(f"{TOOLS}/{built.url_path}", options=Options(handshake_timeout=BOOT_PATIENCE))
