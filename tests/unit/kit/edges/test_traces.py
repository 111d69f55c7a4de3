"""Traces through a bridge, by the spans of the official SDK and OpenTelemetry's own exporter."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Literal

import httpx2
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ListRootsResult
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import format_span_id, format_trace_id

from mcpframe.kit.edges.http.trace_context import with_trace_context
from mcpframe.kit.edges.link.reopening_link import ReopeningLink
from tests.support.bridged import PATIENCE, HttpBridge, ServerPage, http_bridge
from tests.unit.kit.edges.test_http import Legacy, stateless

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADERS = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "vendor=value"}
OTHER = f"00-{'1' * 32}-{'2' * 16}-01"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # OpenTelemetry's own provider can be set once for a process, and other tests run in this one.
    monkeypatch.setattr("mcp.shared._otel._tracer", provider.get_tracer("mcp-python-sdk"))
    yield exporter
    provider.shutdown()


def one(spans: InMemorySpanExporter, name: str) -> ReadableSpan:
    (span,) = [each for each in spans.get_finished_spans() if each.name == name]
    return span


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_server_continues_the_trace_of_its_client(
    era: Literal["legacy", "2026-07-28"], bridge: HttpBridge, spans: InMemorySpanExporter
) -> None:
    async with Client(bridge.url, mode=era) as client:
        await client.call_tool("echo", {"text": "traced"})
    sent, served = one(spans, "MCP send tools/call echo"), one(spans, "tools/call echo")
    assert sent.context is not None
    assert served.context is not None
    assert served.parent is not None
    assert (served.context.trace_id, served.parent.span_id) == (sent.context.trace_id, sent.context.span_id)


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_tool_finds_the_trace_in_its_context_and_a_client_that_of_a_servers_request(
    era: Literal["legacy", "2026-07-28"], spans: InMemorySpanExporter
) -> None:
    server = MCPServer("traced")
    asked: list[str] = []

    @server.tool(structured_output=False)
    async def trace(ctx: Context) -> str:
        if era == "legacy":  # later servers send no requests
            await ctx.session.list_roots()
        return str((ctx.request_context.meta or {}).get("traceparent"))

    async def open_page(link: ReopeningLink) -> ServerPage:
        return ServerPage(link, server)

    async def roots(context: ClientRequestContext) -> ListRootsResult:
        asked.append(str((context.meta or {}).get("traceparent")))
        return ListRootsResult(roots=[])

    async with (
        asyncio.timeout(PATIENCE * 3),
        http_bridge(open_page) as running,
        Client(running.url, mode=era, list_roots_callback=roots) as client,
    ):
        answer = await client.call_tool("trace", {})
    sent = one(spans, "MCP send tools/call trace").context
    assert sent is not None
    trace_id, span_id = format_trace_id(sent.trace_id), format_span_id(sent.span_id)
    assert answer.content[0].text.split("-")[1:3] == [trace_id, span_id]  # type: ignore[union-attr]
    assert [each.split("-")[1] for each in asked] == ([trace_id] if era == "legacy" else [])


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_a_request_without_a_trace_gets_that_of_its_headers(
    era: str, bridge: HttpBridge, spans: InMemorySpanExporter
) -> None:
    async with httpx2.AsyncClient(timeout=PATIENCE, headers=HEADERS) as http:
        if era == "legacy":
            await (await Legacy(bridge, http).begin()).call(1, "echo", text="traced")
        else:
            await stateless(bridge, http, 1, "tools/call", name="echo", arguments={"text": "traced"})
    served = one(spans, "tools/call echo")
    assert served.parent is not None
    assert (format_trace_id(served.parent.trace_id), format_span_id(served.parent.span_id)) == (TRACE, SPAN)
    assert served.parent.trace_state.to_header() == "vendor=value"


@pytest.mark.parametrize(
    ("headers", "meta"),
    [
        ({"traceparent": HEADERS["traceparent"]}, {"traceparent": HEADERS["traceparent"]}),
        (HEADERS, HEADERS),
        (HEADERS | {"tracestate": "x" * 513}, {"traceparent": HEADERS["traceparent"]}),
        ({"tracestate": "vendor=value"}, {}),
        *(({"traceparent": wrong}, {}) for wrong in ("", "x" * 10_000, f"{OTHER}-more", f"ff{OTHER[2:]}")),
        ({"traceparent": f"00-{'0' * 32}-{SPAN}-01"}, {}),
        ({"traceparent": f"00-{TRACE}-{'0' * 16}-01"}, {}),
        ({"traceparent": f"00-{TRACE.upper()}-{SPAN}-01"}, {}),
    ],
)
def test_only_a_valid_context_is_taken(headers: dict[str, str], meta: dict[str, str]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    taken = with_trace_context(message, headers)
    assert taken.get("params", {}).get("_meta", {}) == meta
    assert (taken is message) == (not meta)


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "method": "ping", "params": {"_meta": {"traceparent": OTHER}}},  # that of the client itself is closer
        {"id": 1, "method": "ping", "params": {"_meta": 5}},
        {"id": 1, "method": "ping", "params": [1]},
        {"method": "notifications/initialized"},
        {"id": 1, "result": {}},
    ],
)
def test_a_message_with_a_context_or_without_a_place_for_one_stays_as_it_is(message: dict[str, object]) -> None:
    assert with_trace_context(message, HEADERS) is message


def test_what_else_is_in_a_message_stays() -> None:
    params = {"name": "echo", "_meta": {"progressToken": 1, "tracestate": "of=no-trace"}}
    taken = with_trace_context({"id": 1, "method": "tools/call", "params": params}, HEADERS)
    assert taken["params"] == {"name": "echo", "_meta": {"progressToken": 1, **HEADERS}}
