"""A host's view of a page that never calls, and a framed page's view of its host's colours."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, BrowserContext, Page

from mcpframe.frame.core.errors import HandshakeRefused
from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.conftest import Bundle, Origins, Troubles, chromium
from tests.browser.test_contract_bundle import bare  # noqa: F401  a fixture
from tests.support.suites import extended

FRAME = """async ([url, options]) => {
  const { FrameTransport } = await import(`${origin}/host.js`);
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const transport = new FrameTransport({ iframe, url, ...options });
  globalThis.hints = [];
  transport.onhint = (hint) => hints.push(hint);
  transport.start().catch(() => {});
}"""


async def test_a_wrong_address_and_a_forbidden_origin_are_hinted_at(
    context: BrowserContext, origins: Origins, everything: Bundle, troubles: Troubles
) -> None:
    troubles.expect("404")
    troubles.expect("frame-ancestors")
    for origin, url in ((origins.host, f"{everything.origin}/nothing/"), (origins.stranger, everything.url)):
        page = await context.new_page()
        await page.goto(f"{origin}/page.html")
        await page.evaluate(FRAME, [url, {}])
        await page.wait_for_function("hints.length")
        [hint] = await page.evaluate("hints")
        assert url in hint
        assert origin in hint


STARTED = """async ([url, phase]) => {
  const { FrameTransport } = await import(`${origin}/host.js`);
  const iframe = document.body.appendChild(document.createElement("iframe"));
  const transport = new FrameTransport({ iframe, url, timeout: Infinity });
  return transport[phase]().then(() => null, ({ name, message }) => [name, message]);
}"""


@pytest.mark.parametrize("phase", ["start", extended("setup")])
async def test_a_page_names_a_forbidden_origin_to_host_js(
    context: BrowserContext,
    origins: Origins,
    bare: Bundle,  # noqa: F811
    phase: str,
) -> None:
    """There is no deadline here: only the page can end the wait."""
    page = await context.new_page()
    await page.goto(f"{origins.stranger}/page.html")
    name, message = await page.evaluate(STARTED, [bare.url, phase])
    assert name == "HandshakeRefused"
    assert origins.stranger in message
    assert "allowed_origins" in message


async def test_a_page_names_a_forbidden_origin_to_an_outer_frame(
    context: BrowserContext,
    origins: Origins,
    bare: Bundle,  # noqa: F811
) -> None:
    page = await context.new_page()
    await page.goto(f"{origins.stranger}/page.html")
    outer = OuterFrame(bare.url, options=Options(handshake_timeout=None))
    with pytest.raises(HandshakeRefused, match=origins.stranger):
        await outer.connect(PlaywrightPlace(page)).__aenter__()


@pytest.fixture(scope="module")
async def dark_system() -> AsyncIterator[Browser]:
    """A Chromium on a dark system. What Playwright emulates holds in every frame, whatever is around it."""
    async with chromium("--force-dark-mode") as browser:
        yield browser


@pytest.mark.parametrize(
    ("declared", "options", "dark"),
    [("", {}, False), ("light dark", {}, True), ("", {"colorScheme": "dark"}, True)],
)
async def test_a_framed_page_has_the_colours_of_its_host(
    dark_system: Browser, origins: Origins, declared: str, options: dict[str, str], dark: bool
) -> None:
    context = await dark_system.new_context(color_scheme="null")
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    await page.evaluate(
        "scheme => { if (scheme) document.head.append(Object.assign(document.createElement('meta'),"
        " { name: 'color-scheme', content: scheme })); }",
        declared,
    )
    await page.evaluate(FRAME, [f"{origins.bundle}/page.html", options])
    assert await _is_dark(page) is dark
    await context.close()


async def _is_dark(page: Page) -> bool:
    inner = page.frame_locator("iframe").locator("html")
    await inner.wait_for(state="attached")
    return bool(await inner.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches"))
