"""A page that waits for its host in a Chromium whose heap profiler is on, as it is in some users' browsers."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Bundle, Origins, chromium
from tests.browser.test_contract_bundle import ACCEPTED, REPLY, framing

PARAMETERS = "nonstable-probability/1.0/stable-probability/1.0/renderer-prob-pct/100/renderer-sampling-rate-bytes/1000"
PROFILED = (
    # The last `--disable-features` counts: this one takes the profiler off the list.
    "--disable-features=GwpAsanMalloc,GwpAsanPartitionAlloc",
    f"--enable-features=HeapProfilerReporting:{PARAMETERS}",
)
CALLS = 30
"""So many calls take ten seconds, in which the profiler ended each page that made them on a coroutine stack."""


@pytest.mark.extended  # it waits for ten seconds
async def test_a_page_outlives_a_long_wait_for_its_host(origins: Origins, everything: Bundle) -> None:
    async with chromium(*PROFILED) as browser:
        context = await browser.new_context()
        host = await framing(context, origins.host, everything)
        await host.hears("MCP_TRANSPORT_HANDSHAKE", CALLS)
        await host.say(REPLY)
        assert await host.hears("MCP_TRANSPORT_ACCEPTED") == [ACCEPTED]
