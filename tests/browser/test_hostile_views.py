"""Views that attack what the matrices of `AppHost` and `UiHost` leave out: files, WebRTC, loops, and no goodbye."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from socket import AF_INET, SOCK_DGRAM, socket

import anyio
import pytest
from playwright.async_api import Frame, Page

from tests.browser.app_hosting import showing
from tests.browser.conftest import Origins, Troubles
from tests.browser.outers import PATIENCE
from tests.browser.test_hostile_app_host import HAND, inside, opens, works
from tests.browser.test_hostile_ui_host import Host, by_hand
from tests.contract.playing import POLL

DOWNLOAD = """download => new Promise((done) => setTimeout(() => {
    const href = URL.createObjectURL(new Blob(["x"]));
    Object.assign(document.createElement("a"), { href, download }).click();
    done();
}))"""
CONNECT = """async (port) => {
    const candidate = `candidate:1 1 udp 2130706431 127.0.0.1 ${port} typ host`;
    globalThis.peer = new RTCPeerConnection({ iceServers: [{ urls: `stun:127.0.0.1:${port}` }] });
    const other = new RTCPeerConnection();
    peer.createDataChannel("out");
    await peer.setLocalDescription();
    await other.setRemoteDescription(peer.localDescription);
    await other.setLocalDescription();
    await peer.setRemoteDescription(other.localDescription);
    await peer.addIceCandidate({ candidate, sdpMid: "0" });
}"""
LOOP = "() => { setTimeout(() => { for (;;) parent.postMessage({}, '*'); }); }"


async def downloads_nothing(page: Page, frame: Frame) -> None:
    """The frame's download is refused, while a later one of the host's page begins."""
    names: list[str] = []
    page.on("download", lambda download: names.append(download.suggested_filename))
    await frame.evaluate(DOWNLOAD, "frame.txt")
    async with page.expect_download():
        await page.evaluate(DOWNLOAD, "host.txt")
    assert names == ["host.txt"]


@contextmanager
def listening() -> Iterator[socket]:
    """A socket of UDP that takes what WebRTC sends to servers and peers."""
    with socket(AF_INET, SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        yield receiver


async def connects_to_nobody(page: Page, frame: Frame) -> None:
    """WebRTC sends nothing out of the frame; what it sends out of the host's page arrives."""
    with listening() as theirs, listening() as ours, anyio.fail_after(PATIENCE):
        await frame.evaluate(CONNECT, theirs.getsockname()[1])
        await frame.wait_for_function("() => peer.iceGatheringState === 'complete'", polling=POLL)
        await page.evaluate(CONNECT, ours.getsockname()[1])
        await anyio.wait_readable(ours)
        with pytest.raises(BlockingIOError):
            theirs.recv(1)


async def test_a_hostile_view_of_mcp_apps(page: Page, origins: Origins, troubles: Troubles) -> None:
    troubles.expect("")
    async with showing(page, origins.sandbox, HAND, ready=False, teardown=0.1) as shown:
        await inside(shown)
        await opens(shown)
        await downloads_nothing(page, shown.frames[1])
        await connects_to_nobody(page, shown.frames[1])
        await works(shown)
        await shown.inside(LOOP)
    assert await page.locator("iframe").count() == 0


@pytest.mark.parametrize("proxied", [False, True], ids=["in the host's page", "behind a proxy"])
async def test_a_hostile_page_of_mcp_ui(page: Page, origins: Origins, troubles: Troubles, proxied: bool) -> None:
    troubles.expect("")
    options = {"proxy": origins.sandbox} if proxied else {}
    with anyio.fail_after(PATIENCE * 2):
        async with Host(page, by_hand(origins), **options).showing() as host:
            await downloads_nothing(page, host.frame)
            if proxied:
                await connects_to_nobody(page, host.frame)
            await host.works()
            await host.frame.evaluate(LOOP)
    assert await page.locator("iframe").count() == 0
