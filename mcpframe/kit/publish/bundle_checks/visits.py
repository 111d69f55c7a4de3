"""A first and a second visit of a bundle's page, in one profile: time, bytes, encodings, and a call."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin

from mcp import Client

from mcpframe.frame.core.roles import Options
from mcpframe.frame.hosting.outer import OuterFrame
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.browser.devtools.browsers import OpenTab
from mcpframe.kit.browser.devtools.host_page import host_page
from mcpframe.kit.browser.devtools.launch import StartedChromium
from mcpframe.kit.client.session import Demands, session_browser, session_errors
from mcpframe.kit.publish.bundle_checks.files import HASHED_NAME
from mcpframe.kit.publish.bundle_checks.findings import HEADERS, Finding, warning
from mcpframe.kit.publish.bundle_checks.traffic import TabRequest, Traffic
from mcpframe.kit.publish.bundle_checks.tried_call import Absent, TriedCall, try_call
from mcpframe.kit.publish.targets.costs import seconds_of

_SETTLES = 20.0  # seconds for the requests that are under way once the page serves
_AGAIN = 100_000  # bytes: less that is fetched again is not worth a finding


@dataclass(frozen=True)
class Visit:
    """One visit.

    Attributes:
        milliseconds: From the opening of the frame until the tools are listed.
        requests: The number of requests to the web server until then.
        size: Their bytes over the network, headers included.
        encodings: The bytes of `size` by content encoding; empty for none.
    """

    milliseconds: float
    requests: int
    size: int
    encodings: Mapping[str, int]


@dataclass(frozen=True)
class Visits:
    """The results of two visits.

    Attributes:
        first: The first one.
        second: The second one, in the same profile.
        tools: The tools, as `tools/list` returned them.
        call: The call of a tool in the first visit.
        findings: What they say about the web server and the server.
    """

    first: Visit
    second: Visit
    tools: Sequence[Mapping[str, Any]]
    call: TriedCall = field(default_factory=TriedCall)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class _Opened:
    visit: Visit
    requests: Sequence[TabRequest]
    tools: list[dict[str, Any]]
    call: TriedCall


async def two_visits(
    url: str, manifest: Mapping[str, Any], *, origin: str, dialect: str | None = None, patience: float = 30.0
) -> Visits:
    """Visit a page twice, and call a tool in the first visit.

    Args:
        url: The page's address.
        manifest: The bundle's manifest.
        origin: The origin of the page that frames it.
        dialect: The dialect that it speaks; by default the preferred one.
        patience: Seconds for its first message, and for the call.

    Raises:
        ChromiumMissing: No browser is installed.
        NoFramedServer: The page does not answer as a framed server.
        BrowserGone: The browser does not start.
        ToolFailed: It has ended meanwhile.
    """
    async with session_browser() as browser:
        first = await _visit(browser, url, origin, dialect, patience, calls=True)
        second = await _visit(browser, url, origin, dialect, patience, calls=False)
    findings = (*first.call.findings, *without_snapshot(first.requests, manifest), *again_fetched(url, second.requests))
    return Visits(first.visit, second.visit, first.tools, first.call, findings)


async def _visit(
    browser: StartedChromium, url: str, origin: str, dialect: str | None, patience: float, *, calls: bool
) -> _Opened:
    tab = OpenTab(browser.devtools, await browser.new_tab())
    traffic = Traffic(tab)
    await traffic.begin()
    async with host_page(tab, origin) as place, Demands() as demands:
        traffic.requests.clear()  # of the host page
        began = time.monotonic()
        options = Options(handshake_timeout=patience)
        outer = OuterFrame(url, dialect=dialect, options=options, on_event=demands.on_event)
        absent = Absent()
        client = Client(outer.connect(place), elicitation_callback=absent.elicit, sampling_callback=absent.sample)
        with session_errors(url, origin, place):
            await client.__aenter__()
        try:
            tools = await list_all(client.list_tools, "tools") if client.server_capabilities.tools else []
            milliseconds = (time.monotonic() - began) * 1000
            begun = len(traffic.requests)
            call = await try_call(client, tools, absent, patience) if calls else TriedCall()
            await traffic.quiet(_SETTLES)
        finally:
            await client.__aexit__(None, None, None)
    start = traffic.requests[:begun]
    encodings: Counter[str] = Counter()
    for request in start:
        encodings[request.encoding] += request.size
    asked = sum(not request.cached for request in start)
    visit = Visit(milliseconds, asked, sum(request.size for request in start), dict(+encodings))
    return _Opened(visit, traffic.requests, tools, call)


def without_snapshot(requests: Sequence[TabRequest], manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """Check the requests of a visit: the page has started from its snapshot."""
    if not manifest.get("snapshot"):
        yield warning(
            "snapshot",
            "It was built without a snapshot, so each start runs the imports of Python and the SDK.",
            "Build it where Chromium is, and without --no-snapshot.",
        )
    elif not any(request.url.endswith(".bin") for request in requests):
        yield warning(
            "snapshot",
            "The page has not started from its snapshot, so its start takes longer.",
            "Look for the reason in the console of the page, and upload the .bin files unchanged.",
        )


def again_fetched(url: str, requests: Sequence[TabRequest]) -> Iterator[Finding]:
    """Check the requests of a second visit: no file is fetched again that never changes."""
    root = urljoin(url, "../")
    again = [
        request
        for request in requests
        if not request.cached and request.url.startswith(root) and HASHED_NAME.search(request.url.removeprefix(root))
    ]
    size = sum(request.size for request in again)
    if size > _AGAIN:
        yield warning(
            "second visit",
            f"It fetches {len(again)} files again that never change: {size / 1e6:.1f} MB, "
            f"{seconds_of(size) * 1000:,.0f} ms on a line of 10 Mbit/s.",
            f"Send them with Cache-Control: public, max-age=31536000, immutable: {HEADERS}.",
        )
