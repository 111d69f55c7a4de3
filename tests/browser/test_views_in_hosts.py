"""A tool call in a view, under the profile of each host: arguments, cancellation, the view's end, and its reopening."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Frame, JSHandle, Locator, expect

from docs.generate.views_in_hosts import ANY_VIEW
from mcpframe.hosts import HOST_PROFILES, HostProfile
from mcpframe.kit.publish.view_checks.run import ViewText, hosted
from mcpframe.kit.publish.view_checks.stage import stage
from mcpframe.views.html import view_html, view_meta
from tests.browser.clients import BOOT_PATIENCE
from tests.support.built import SERVERS, built
from tests.support.host_profiles import allows_frames, allows_wasm
from tests.support.suites import except_for

URL = "https://tools.example/view/"
ORIGIN = "https://tools.example"
VIEW = ViewText(view_html(URL), view_meta(URL)["ui"], URL)
CSP = VIEW.ui["csp"]
RESULT = {"content": [{"type": "text", "text": "21 degrees"}]}
PROFILES = except_for(HOST_PROFILES, "claude", "vscode", "default")


@asynccontextmanager
async def hosting(profile: HostProfile) -> AsyncIterator[tuple[Frame, JSHandle]]:
    """Run a browser with a host of a profile."""
    _, result = built(SERVERS / "view", allowed_origins=ANY_VIEW, url=URL)
    headers = {profile.name: profile.policies(CSP)[0]}
    with stage(URL, result.folder, headers) as stood:
        async with (
            stood.browser(storage=profile.storage) as context,
            hosted(context, stood, profile, VIEW) as host,
        ):
            yield host


def draws_in(profile: HostProfile, view: Any) -> tuple[bool, Locator]:
    """Return whether the bundle runs, and where the view's text is."""
    wasm = allows_wasm(profile, CSP)
    if allows_frames(profile, CSP, ORIGIN) and not (wasm and not profile.same_origin):
        return True, view.frame_locator("#mcpframe-view").locator("#told")
    return (True, view.locator("#told")) if wasm else (False, view.locator("#mcpframe-stand-in pre"))


async def opened(host: Frame, functions: JSHandle, **call: Any) -> tuple[JSHandle, Any]:
    """Open a view of a call, after those that are there; return it, and where its document is."""
    before = await host.locator("iframe").count()
    given = [{"tool": {"name": "forecast", "inputSchema": {"type": "object"}}, **call}, BOOT_PATIENCE * 1000]
    shown = await functions.evaluate_handle("(host, [call, within]) => host.open(call, within)", given)
    return shown, host.locator("iframe").nth(before).content_frame.frame_locator("iframe")


async def post(shown: JSHandle, kind: str, params: Mapping[str, Any]) -> None:
    message = {"method": f"ui/notifications/tool-{kind}", "params": params}
    await shown.evaluate("(shown, message) => shown.post(message)", message)


@pytest.mark.parametrize("name", except_for(HOST_PROFILES, "default", "vscode"))
async def test_a_call_from_its_first_arguments_to_its_end(name: str) -> None:
    profile = HOST_PROFILES[name]
    patience = BOOT_PATIENCE * 1000
    async with hosting(profile) as (host, functions):
        shown, view = await opened(host, functions)
        draws, told = draws_in(profile, view)
        await shown.evaluate("shown => shown.initialized")
        await post(shown, "input-partial", {"arguments": {"place": "W"}})
        if draws:
            await expect(told).to_contain_text("'place': 'W'", timeout=patience)
        await post(shown, "input", {"arguments": {"place": "Wien"}})
        if draws:
            await expect(told).to_contain_text("'place': 'Wien'")
        await post(shown, "cancelled", {"reason": "too slow"})
        await expect(told).to_contain_text("too slow")
        assert await functions.evaluate("host => host.end()") == [True]
        await expect(host.locator("iframe")).to_have_count(0)

        # From the history: a new frame, with the arguments and the old result at once, and no call.
        call = {"arguments": {"place": "Wien"}, "partial": {}, "result": RESULT}
        for _ in range(2):
            _, view = await opened(host, functions, **call)
            await expect(draws_in(profile, view)[1]).to_contain_text("21 degrees", timeout=patience)
            if not profile.frame_per_call:
                assert await functions.evaluate("host => host.end()") == [True]
        ended = await functions.evaluate("host => host.end()")
        assert ended == ([True, True] if profile.frame_per_call else [])
