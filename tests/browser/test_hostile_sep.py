"""The matrix of bad input and attacks in Chromium, as far as `test_contract_*` does not have it.

    line                                                        what must happen
    every message type, every field: missing, null, wrong       refused, reported, and nothing else
    every message type, too large, too deep, prototype keys     refused, reported, and nothing else
    what is not a JSON object, or cannot be cloned                 nothing, or refused
    a redirect to another origin before the session             not heard, told nothing
    a redirect within the origin                                works
    two hosts, two frames, fifty frames at once                 each gets its own answers

After each of them a good call works, and nothing was posted to a wrong origin. `damage.py` has the fields.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest
from mcp import Client
from playwright.async_api import BrowserContext, Page, Route

from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.browser.playwright_window import PlaywrightPlace
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.conftest import Bundle, Origins
from tests.browser.test_contract_bundle import ACCEPTED, REPLY, bare, framing, mcp
from tests.contract.damaged import *  # noqa: F403  the tests for every window
from tests.contract.damaged import LIMITS
from tests.contract.outer import Outer
from tests.contract.playing import say
from tests.hostile.sep import damaged, example
from tests.hostile.values import UNCLONEABLE, UNSPEAKABLE, Record

__all__ = ["bare"]  # the fixture

TIME_TO_LOAD = 8.0
"""For a framed page that opens no session, in seconds: it has to have posted before this is over."""


async def test_what_is_no_message_reaches_nobody(outer: Outer, origins: Origins, record_property: Record) -> None:
    await outer.open(f"{origins.bundle}/page.html?inner", limits=LIMITS)
    frame = await outer.inner()
    for name, expression in UNSPEAKABLE.items():
        await frame.evaluate(f"parent.postMessage({expression}, '*')")
        assert (await outer.call(still=name))["result"] == {"still": name}
    for name, expression in UNCLONEABLE.items():
        error = await frame.evaluate(
            f"(() => {{ try {{ parent.postMessage({expression}, '*') }} catch ({{ name }}) {{ return name }} }})()"
        )
        assert error == "DataCloneError", name
        assert (await outer.call(still=name))["result"] == {"still": name}
    assert set(await outer.rest()) <= {"refused"}
    record_property("lines", len(UNSPEAKABLE) + len(UNCLONEABLE))


# Redirects


def redirecting(to: str) -> Callable[[Route], Any]:
    async def redirect(route: Route) -> None:
        await route.fulfill(status=302, headers={"location": to})

    return redirect


async def test_a_redirect_elsewhere_before_the_session_is_told_nothing(
    context: BrowserContext, outer: Outer, origins: Origins
) -> None:
    await context.route("**/moved.html", redirecting(f"{origins.stranger}/page.html?inner"))
    await outer.connect(f"{origins.bundle}/moved.html")
    refused = await outer.next("refused")
    assert refused["error"] == "UnexpectedOrigin"
    assert origins.stranger in refused["message"]
    frame = await outer.inner()
    for message in (REPLY | {"type": "MCP_TRANSPORT_ACCEPTED"}, example("MCP_MESSAGE"), example("MCP_SETUP_HANDSHAKE")):
        await say(frame, message)
    assert await outer.rest() == []
    assert await frame.evaluate("heard") == []


@pytest.mark.extended  # the session's is above
async def test_a_redirect_elsewhere_before_the_setup_is_told_nothing(
    context: BrowserContext, outer: Outer, origins: Origins
) -> None:
    await context.route("**/moved.html", redirecting(f"{origins.stranger}/page.html?inner"))
    await outer.set_up(f"{origins.bundle}/moved.html", deadlines={"handshake": TIME_TO_LOAD})
    assert (await outer.next("refused"))["error"] == "UnexpectedOrigin"
    iframe = await outer.page.wait_for_selector("iframe", state="attached")
    frame = await iframe.content_frame()
    assert frame is not None
    assert await frame.evaluate("location.hash") == "#setup"
    assert await frame.evaluate("heard") == []
    assert (await outer.next("setup failed"))["error"] == "HandshakeTimeout"


@pytest.mark.extended
async def test_a_redirect_within_the_origin_works(context: BrowserContext, outer: Outer, origins: Origins) -> None:
    await context.route("**/moved.html", redirecting(f"{origins.bundle}/page.html?inner"))
    await outer.open(f"{origins.bundle}/moved.html")
    assert (await outer.call(still="here"))["result"] == {"still": "here"}


# Many at once


@pytest.mark.extended
async def test_fifty_frames_at_once_with_host_js(host_page: Page, origins: Origins) -> None:
    answers = await host_page.evaluate(
        """async ([url, count]) => {
            const { FrameTransport } = await import("./host.js");
            const one = async (number) => {
                const iframe = document.body.appendChild(document.createElement("iframe"));
                const transport = new FrameTransport({ iframe, url });
                const answer = new Promise((resolve) => (transport.onmessage = resolve));
                await transport.start();
                await transport.send({ jsonrpc: "2.0", id: 1, method: "echo", params: { number } });
                const { result } = await answer;
                await transport.close();
                iframe.remove();
                return result.number;
            };
            return Promise.all(Array.from({ length: count }, (_, number) => one(number)));
        }""",
        [f"{origins.bundle}/page.html?inner", 50],
    )
    assert answers == list(range(50))


@pytest.mark.extended
async def test_two_hosts_and_three_bundles_at_once(
    context: BrowserContext, origins: Origins, everything: Bundle
) -> None:
    """Two pages frame the same bundle, one of them twice: each session has its own id, and its own answers."""
    outers, clients = [], []
    with anyio.fail_after(2 * BOOT_PATIENCE):
        async with AsyncExitStack() as stack:
            for page in (await new_host(context, origins), await new_host(context, origins)):
                for _ in range(2 if not outers else 1):
                    outer = OuterFrame(everything.url, options=Options(handshake_timeout=BOOT_PATIENCE))
                    outers.append(outer)
                    clients.append(await stack.enter_async_context(Client(outer.connect(PlaywrightPlace(page)))))
            for number, client in enumerate(clients):
                assert (await client.call_tool("echo", {"text": str(number)})).structured_content == {
                    "result": str(number)
                }
            assert outers[0].session is not None
            outers[0].session.close()
            for client in clients[1:]:
                assert await client.list_tools()
    assert len({outer.session_id for outer in outers}) == 3


async def new_host(context: BrowserContext, origins: Origins) -> Page:
    page = await context.new_page()
    await page.goto(f"{origins.host}/page.html")
    return page


# A real bundle in bad company


async def test_damaged_replies_open_nothing_in_a_bundle(
    context: BrowserContext, origins: Origins, everything: Bundle, record_property: Record
) -> None:
    host = await framing(context, origins.host, everything)
    await host.hears("MCP_TRANSPORT_HANDSHAKE")
    lines = list(damaged("MCP_TRANSPORT_HANDSHAKE_REPLY"))
    lines = [line for line in lines if "too large" not in line[0]]  # the bundle's limit is 64 MiB
    for _, message in lines:
        await host.say(message)
    await host.works()
    assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
    record_property("lines", len(lines))


async def test_damaged_messages_leave_a_bundle_open(
    context: BrowserContext, origins: Origins, everything: Bundle, record_property: Record
) -> None:
    host = await framing(context, origins.host, everything)
    await host.hears("MCP_TRANSPORT_HANDSHAKE")
    await host.works()
    lines = [line for line in damaged("MCP_MESSAGE") if "too large" not in line[0]]
    others = (
        "MCP_SETUP_HANDSHAKE",
        "MCP_SETUP_COMPLETE",
        "MCP_TRANSPORT_HANDSHAKE",
        "MCP_TRANSPORT_ACCEPTED",
        "MCP_SETUP_REQUIRED",
        "MCP_SETUP_HANDSHAKE_REPLY",
    )
    for message in (*(message for _, message in lines), *map(example, others)):
        await host.say(message)
    for expression in (*UNSPEAKABLE.values(),):
        await host.page.evaluate(f"origin => frames[0].postMessage({expression}, origin)", everything.origin)
    await host.say(mcp({"jsonrpc": "2.0", "id": "last", "method": "ping"}))
    await host.page.wait_for_function(
        "() => heard.some(({ data }) => data.payload?.id === 'last')", timeout=BOOT_PATIENCE * 1000
    )
    answers = {str(message["payload"].get("id")): message["payload"] for message in await host.hears("MCP_MESSAGE")}
    assert answers.pop("last")["result"] == {}
    assert "result" in answers.pop("first")
    assert all("error" in answer for answer in answers.values())
    record_property("lines", len(lines) + len(others) + len(UNSPEAKABLE))


@pytest.mark.extended
async def test_damaged_setup_replies_set_nothing_up_in_a_bundle(
    context: BrowserContext, origins: Origins, everything: Bundle, record_property: Record
) -> None:
    host = await framing(context, origins.host, everything, "#setup")
    await host.hears("MCP_SETUP_HANDSHAKE")
    lines = [line for line in damaged("MCP_SETUP_HANDSHAKE_REPLY") if "too large" not in line[0]]
    for _, message in lines:
        await host.say(message)
    await host.say(example("MCP_TRANSPORT_HANDSHAKE_REPLY"))
    assert await host.heard_types() == {"MCP_SETUP_HANDSHAKE"}
    await host.say(example("MCP_SETUP_HANDSHAKE_REPLY"))
    assert len(await host.hears("MCP_SETUP_COMPLETE")) == 1
    record_property("lines", len(lines) + 1)


async def test_a_host_that_reloads_gets_a_new_session_of_a_new_bundle(
    context: BrowserContext, origins: Origins, everything: Bundle
) -> None:
    host = await framing(context, origins.host, everything)
    await host.hears("MCP_TRANSPORT_HANDSHAKE")
    await host.works()
    await host.page.reload()
    await host.page.evaluate("url => embed(url)", everything.url)
    await host.hears("MCP_TRANSPORT_HANDSHAKE")
    assert "MCP_MESSAGE" not in await host.heard_types()
    await host.works()
