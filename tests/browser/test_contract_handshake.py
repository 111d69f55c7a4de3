"""The outer frame's half of the handshake in a real browser, against a framed page that a test plays by hand."""

from typing import Any

import pytest
from playwright.async_api import Page

from tests.browser.conftest import Origins
from tests.browser.outers import JavaScriptOuter, PlaywrightOuter
from tests.contract.handshake import *  # noqa: F403  the tests for every window


async def test_the_setup_phase_is_never_asked_for(host_page: Page, origins: Origins) -> None:
    """A user may paste an address that ends in #setup; `nosetup` is another word."""
    async with JavaScriptOuter(host_page) as outer:
        frame = await outer.ready(f"{origins.bundle}/page.html#setup,visible,nosetup")
        assert await frame.evaluate("location.hash") == "#visible,nosetup"


async def test_an_opaque_sandbox_is_not_heard_otherwise(host_page: Page, origins: Origins) -> None:
    async with PlaywrightOuter(host_page) as outer:
        await outer.connect(f"{origins.bundle}/page.html?inner", sandbox="allow-scripts")
        assert (await outer.next("refused"))["error"] == "UnexpectedOrigin"
        assert await (await outer.inner()).evaluate("heard") == []


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        ({"sandbox": "allow-scripts"}, "opaque: true"),
        ({"sandbox": "allow-scripts allow-same-origin", "opaque": True}, "lacks allow-same-origin"),
        ({"opaque": True}, "lacks allow-same-origin"),
        ({"sandbox": "allow-scripts", "opaque": True, "sessionId": "known"}, "leave out sessionId"),
        ({"url": "file:///etc/passwd"}, "http"),
        ({"url": "data:text/html,hi"}, "http"),
        ({"url": "javascript:alert(1)"}, "http"),
    ],
)
async def test_what_cannot_work_is_refused_at_once(
    host_page: Page, origins: Origins, options: dict[str, Any], hint: str
) -> None:
    options = {"url": f"{origins.bundle}/page.html", "sandbox": None, **options}
    name, message = await host_page.evaluate(
        "options => { try { lab.connect(options) } catch (error) { return [error.name, error.message] } }", options
    )
    assert name == "OriginError"
    assert hint in message
