"""Traces through a bridge into a real page: tools see those of the client, and of the headers of HTTP."""

from __future__ import annotations

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.bridge.programs import PATIENCE
from tests.unit.kit.edges.test_traces import HEADERS, OTHER


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_tool_in_a_page_sees_the_trace_of_its_call(era: str, http_bridge: str) -> None:
    async with (
        httpx2.AsyncClient(headers=HEADERS, timeout=PATIENCE) as http,
        Client(streamable_http_client(http_bridge, http_client=http), mode=era) as client,
    ):
        of_headers = await client.call_tool("trace", {})
        of_client = await client.call_tool("trace", {}, meta={"traceparent": OTHER})
    assert of_headers.structured_content == {"result": [HEADERS["traceparent"], HEADERS["tracestate"]]}
    assert of_client.structured_content == {"result": [OTHER, "None"]}
