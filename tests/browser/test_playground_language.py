"""Code help and formatting in the playground's editor.

A new version of the type checker or the formatter is a line in package.json: the first test starts it, and asks for
errors, names, a signature and documentation.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Browser, Page, Request, Route, expect

from tests.browser.conftest import Troubles, watched
from tests.browser.test_accessibility import SCHEMES, complaints
from tests.browser.test_playground import add, write

SERVER = '''
from mcpframe import FrameServer
import words

server = FrameServer("shouting")

@server.tool()
def shout(text: str) -> str:
    """Shout it."""
    return words.loud(text)
'''
HOSTILE = '<img src=x onerror="document.title=1"> [here](javascript:alert(1)) <a href="https://evil.example">'
WORDS = f'def loud(text: str) -> str:\n    """{HOSTILE}"""\n    return text.upper()\n'
UGLY = "def  f( a ):\n  return  {'a' : a}\n\n\n\n\nx=[1,\n2]\n"
NEAT = 'def f(a):\n    return {"a": a}\n\n\nx = [1, 2]\n'
FILES = re.compile(r"language|chunks/(service|format)")
STUBS, WORKER = re.compile("language/stubs-"), re.compile("language/pyright-")
WARM = 60_000
"""Milliseconds for the first answers, on a busy machine."""


def requests_of(page: Page) -> list[str]:
    """Return the addresses of the help's files, as the page will request them."""
    fetched: list[str] = []

    def add_file(request: Request) -> None:
        if FILES.search(request.url):
            fetched.append(request.url)

    page.on("request", add_file)
    return fetched


async def open_with_help(page: Page, address: str) -> None:
    """Open the playground with the help switched on, as it may be off on a machine with little memory."""
    script = "if (top === self) localStorage.setItem('mcpframe-playground-help', 'on')"  # others have none
    await page.add_init_script(script)
    await page.goto(address)
    await expect(page.locator(".cm-content")).to_contain_text("def add(")


async def at_end(page: Page, text: str) -> None:
    """Type at the end of the file."""
    await page.locator(".cm-content").focus()
    await page.keyboard.press("Control+End")
    await page.keyboard.type(text)


async def show(page: Page, path: str) -> None:
    await page.get_by_role("tab", name=path).click()


async def is_text(page: Page, selector: str) -> None:
    """Assert that a tooltip has the hostile documentation, as text."""
    await expect(page.locator(selector)).to_contain_text("<img src=x", timeout=WARM)
    await expect(page.locator(selector)).to_contain_text("evil.example")
    assert await page.locator(f"{selector} :is(a, img, script, [href], [src])").count() == 0


async def test_errors_names_signatures_and_documentation_while_writing(
    page: Page, troubles: Troubles, playground: str
) -> None:
    fetched = requests_of(page)
    await open_with_help(page, playground)
    assert fetched == []
    errors = page.locator(".cm-lint-marker-error")
    warnings = page.locator(".cm-lint-marker-warning")

    await write(page, SERVER)
    await expect(warnings).to_have_count(1, timeout=WARM)  # there is no words.py
    assert any("language/pyright" in url for url in fetched)
    assert not any("ruff" in url for url in fetched)
    await add(page, "words.py", WORDS)
    await show(page, "server.py")
    await expect(warnings).to_have_count(0, timeout=WARM)
    await expect(errors).to_have_count(0)

    await at_end(page, "\nshout(1)\n")
    await expect(errors).to_have_count(1, timeout=WARM)
    await at_end(page, "server.too")
    tool = page.get_by_role("option", name="tool", exact=True)
    await expect(tool).to_be_visible(timeout=WARM)
    await expect(page.locator(".cm-completionInfo")).to_contain_text("Decorator", timeout=WARM)
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []
    await page.keyboard.press("Enter")
    await expect(page.locator(".cm-line").last).to_have_text("server.tool")
    await page.keyboard.type("(")
    signature = page.locator(".cm-lsp-signature-tooltip")
    await expect(signature).to_contain_text("description", timeout=WARM)
    await page.keyboard.type(")")
    await expect(signature).to_have_count(0, timeout=WARM)

    await at_end(page, "\nwords.lou")
    await is_text(page, ".cm-completionInfo")
    # Not by Enter, which the editor takes for a new line just after the names have appeared.
    await page.get_by_role("option", name="loud", exact=True).click()
    await expect(page.locator(".cm-line").last).to_have_text("words.loud")
    await page.keyboard.type("(")
    await page.keyboard.press("Control+Shift+Space")
    await is_text(page, ".cm-lsp-signature-tooltip")
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await complaints(page) == []
    await page.keyboard.type(")")
    await expect(errors).to_have_count(2, timeout=WARM)
    await page.locator(".cm-line", has_text="return words").get_by_text("loud").hover()
    await is_text(page, ".cm-lsp-hover-tooltip")
    assert await complaints(page) == []
    assert (await page.title()).startswith("minimal")

    # The other file, and its end, are seen from here.
    await show(page, "words.py")
    await write(page, WORDS.replace("text: str", "number: int"))
    await show(page, "server.py")
    await expect(errors).to_have_count(3, timeout=WARM)
    await show(page, "words.py")
    await page.get_by_role("button", name="Delete this file").click()
    await expect(warnings).to_have_count(1, timeout=WARM)

    await page.locator(".cm-content").focus()
    await page.keyboard.press("Escape")
    await page.keyboard.press("Tab")
    await expect(page.locator(".cm-content")).not_to_be_focused()


@pytest.mark.extended
async def test_another_project_and_one_that_is_read_only_have_their_own_help(
    page: Page, troubles: Troubles, playground: str
) -> None:
    await open_with_help(page, playground)
    await write(page, "import words\nimport nowhere\nwords.here + 1\n")
    await add(page, "words.py", "here = 'text'\n")
    await show(page, "server.py")
    errors = page.locator(".cm-lint-marker-error")
    await expect(errors).to_have_count(1, timeout=WARM)
    await expect(page.locator("#saved")).to_have_text("Saved in this browser")

    reader = await page.context.new_page()
    await reader.goto(playground)
    await expect(reader.locator("#notice")).to_contain_text("read-only")
    await reader.locator(".cm-content").focus()
    await expect(reader.locator(".cm-lint-marker-error")).to_have_count(1, timeout=WARM)
    await expect(reader.get_by_role("button", name="Format")).to_be_disabled()
    await reader.close()

    await page.get_by_role("button", name="New").click()
    await page.get_by_role("button", name="Create").click()
    await expect(page.locator(".cm-content")).to_contain_text("def add(")
    await expect(errors).to_have_count(0)
    await write(page, "import words\n1 + ''\n")
    await expect(errors).to_have_count(1, timeout=WARM)
    await expect(page.locator(".cm-lint-marker-warning")).to_have_count(1)
    await page.get_by_label("Code help").uncheck()
    await expect(errors).to_have_count(0)


@asynccontextmanager
async def opened(browser: Browser, **options: Any) -> AsyncIterator[tuple[Page, Troubles]]:
    """A page in a fresh profile with further options."""
    context = await browser.new_context(**options)
    async with watched(context) as troubles:
        yield await context.new_page(), troubles
    await context.close()


async def test_the_editor_works_without_the_help(browser: Browser, playground: str) -> None:
    async def tamper(route: Route) -> None:
        response = await route.fetch()
        await route.fulfill(response=response, body=await response.text() + "\n")

    async with opened(browser, service_workers="block") as (page, troubles):
        troubles.expect("Failed to load resource")
        troubles.expect("integrity")
        await page.route(STUBS, lambda route: route.abort())
        await open_with_help(page, playground)
        await write(page, "pri")
        await expect(page.locator("#notice")).to_contain_text("Code help could not be loaded", timeout=WARM)
        await expect(page.get_by_label("Code help")).not_to_be_checked()
        await page.unroute(STUBS)
        await page.route(WORKER, tamper)
        await page.goto(playground)
        await expect(page.locator(".cm-content")).to_be_visible()
        await write(page, "")
        await expect(page.locator("#notice")).to_contain_text("Code help could not be loaded", timeout=WARM)
        await at_end(page, "pri")
        await expect(page.get_by_role("option", name="print")).to_be_visible()


async def test_a_phone_gets_none_of_it(browser: Browser, playground: str) -> None:
    async with opened(browser, has_touch=True, is_mobile=True) as (page, _):
        fetched = requests_of(page)
        await page.goto(playground)
        await expect(page.get_by_label("Code help")).not_to_be_checked()
        await page.locator(".cm-content").tap()
        await page.keyboard.type("print(1)")
        await expect(page.locator("#saved")).to_have_text("Saved in this browser")
        assert fetched == []


async def test_format(page: Page, troubles: Troubles, playground: str) -> None:
    await page.goto(playground)
    await page.get_by_label("Code help").uncheck()
    content = page.locator(".cm-content")
    shown = lambda: page.locator(".cm-line").all_inner_texts()  # noqa: E731
    await expect(content).to_contain_text("def add(")
    await write(page, UGLY)
    await page.keyboard.press("Control+Home")
    await page.keyboard.press("End")
    await page.keyboard.press("Shift+Alt+F")
    await expect(content).to_contain_text("x = [1, 2]")
    assert [line.strip("\n") for line in await shown()] == NEAT.split("\n")
    await page.keyboard.type("  # here")
    await expect(page.locator(".cm-line").first).to_have_text("def f(a):  # here")
    await page.keyboard.press("Control+z")
    await page.keyboard.press("Control+z")
    assert [line.strip("\n") for line in await shown()] == UGLY.split("\n")

    await write(page, "def f(:\n")
    await page.get_by_role("button", name="Format").click()
    await expect(page.locator("#notice")).to_contain_text("server.py is not formatted")
    await expect(content).to_have_text("def f(:")
    await page.get_by_role("tab", name="pyproject.toml").click()
    await expect(page.get_by_role("button", name="Format")).to_be_disabled()
