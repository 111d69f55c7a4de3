"""The metrics of a bridge, as Prometheus reads them: by prometheus-client's own parser."""

from __future__ import annotations

import asyncio
import re

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from mcpframe.kit.base.errors import PortTaken
from mcpframe.kit.browser.devtools.browsers import BrowserState
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.endpoint import EdgeOptions, serve_http
from mcpframe.kit.edges.http.metrics import BridgeMetrics, parse_address
from mcpframe.kit.web.serve import bind
from tests.support.bridged import HttpBridge, Place, http_bridge
from tests.support.polling import until
from tests.unit.kit.edges.test_http import Legacy, stateless

SECRET = "s3cret"
Samples = dict[tuple[str, *tuple[str, ...]], float]


async def read(http: httpx2.AsyncClient, url: str) -> Samples:
    """Return the samples by name and labels' values."""
    text = (await http.get(url)).raise_for_status().text
    assert SECRET not in text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def shown_at(printed: str) -> str:
    match = re.search(r"metrics at (http://\S+)", printed)
    assert match
    return match[1]


async def test_what_a_bridge_does_is_counted_without_what_clients_say(
    http: httpx2.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place()
    browsers = [BrowserState(None, 0, 3), BrowserState(None, 5, 1)]
    metrics = BridgeMetrics("127.0.0.1", 0, lambda: browsers)
    running = http_bridge(place.open_page, most_sessions=5, metrics=metrics)
    async with running as bridge, metrics.served(bridge.sessions, lambda: False):
        await _use(bridge, place, http)
        now = await read(http, shown_at(capsys.readouterr().err))
    requests = {key[1:]: value for key, value in now.items() if key[0] == "mcpframe_requests_total"}
    assert requests == {
        ("initialize", "result"): 1,
        ("tools/call", "result"): 2,
        ("tools/call", "tool_error"): 1,
        ("tools/call", "lost"): 1,
        ("other", "error"): 2,
        ("tools/list", "result"): 1,  # the bridge's own, to check a call's parameters
    }
    assert now["mcpframe_request_duration_seconds_count", "tools/call"] == 4
    assert (now["mcpframe_pages_total", "started"], now["mcpframe_pages_total", "lost"]) == (3, 1)
    assert now["mcpframe_page_start_seconds_count",] == 3
    assert now["mcpframe_http_responses_total", "404"] == 2  # of a method, and of a session, that there is not
    assert (now["mcpframe_sessions",], now["mcpframe_sessions_limit",], now["mcpframe_ready",]) == (1, 5, 0)
    assert [now[f"mcpframe_browser_{name}", "1"] for name in ("up", "tabs", "connections_total")] == [0, 0, 3]
    assert now["mcpframe_browser_tabs", "2"] == 5
    assert now["process_resident_memory_bytes",] > 0


async def test_a_port_that_is_taken_is_the_error_of_the_bridge_and_leaves_nothing_behind() -> None:
    place = Place()
    with bind("127.0.0.1", 0) as taken:
        metrics = BridgeMetrics("127.0.0.1", taken.getsockname()[1], list)
        with pytest.raises(PortTaken):
            await serve_http(place.open_page, 0, Access(), EdgeOptions(metrics=metrics))  # type: ignore[arg-type]
    assert [page.closed for page in place.pages] == [True]


async def _use(bridge: HttpBridge, place: Place, http: httpx2.AsyncClient) -> None:
    """Make requests of every outcome, with a secret wherever a client can put one."""
    client = await Legacy(bridge, http).begin()
    await client.call(SECRET, "echo", text=SECRET)
    await client.call(2, SECRET)  # no such tool
    await client.ask(3, f"tools/{SECRET}")
    waiting = asyncio.create_task(client.call(4, "wait", name=SECRET))
    await until(lambda: place.heard("tools/call", name="wait"))
    place.last.link.on_gone("It has crashed.")
    assert (await waiting)["error"]["code"] == -32000
    assert (await stateless(bridge, http, 1, "tools/call", name="echo", arguments={"text": SECRET})).status_code == 200
    assert (await stateless(bridge, http, 1, f"tools/{SECRET}")).status_code == 404
    client.head["mcp-session-id"] = SECRET
    assert (await client.post({"id": 5, "method": "ping"})).status_code == 404


@pytest.mark.parametrize(
    ("address", "host", "status"),
    [
        ("127.0.0.1", "localhost", 200),
        ("127.0.0.1", "attacker.example", 421),  # a name that its owner points at this machine: DNS rebinding
        ("0.0.0.0", "bridge.example", 200),
    ],
)
async def test_a_web_page_does_not_reach_metrics_of_this_machine(
    address: str, host: str, status: int, http: httpx2.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    metrics = BridgeMetrics(address, 0, tuple)
    async with http_bridge(Place().open_page) as bridge, metrics.served(bridge.sessions, lambda: True):
        port = shown_at(capsys.readouterr().err).rpartition(":")[2].partition("/")[0]
        url = f"http://127.0.0.1:{port}/metrics"
        response = await http.get(url, headers={"host": f"{host}:{port}"})
        assert response.status_code == status
        assert "access-control-allow-origin" not in response.headers
        assert (await http.get(f"http://127.0.0.1:{port}/mcp")).status_code == 404
        assert (await http.get(bridge.url.replace("/mcp", "/metrics"))).status_code == 404


@pytest.mark.parametrize(
    ("text", "place"),
    [("9464", ("127.0.0.1", 9464)), ("0.0.0.0:1", ("0.0.0.0", 1)), ("[::1]:0", ("::1", 0))],
)
def test_an_address_is_a_port_or_an_ip_address_with_one(text: str, place: tuple[str, int]) -> None:
    assert parse_address(text) == place
