"""A page that would speak any dialect finds the one of its host, in whatever order the host's messages come."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest

from mcpframe.frame.core.connection import Connection, parse_allowed_origins
from mcpframe.frame.core.events import Inbound, Output, Received, Refused, Send, Withdrawn
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.available import inner_candidates
from tests.support.fake_window import FakePort, handing_over

HOST = "https://chat.example"
UNKNOWN = {"jsonrpc": "2.0", "id": "mcpframe/initialize", "error": {"code": -32601, "message": "Method not found"}}
"""The official SDK's answer to `ui/initialize`."""
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
DISCOVER = {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {}}
PING = {"jsonrpc": "2.0", "id": 5, "method": "ping"}
NOISE = {"source": "ozwell-chat-widget", "type": "ready"}
FOUND = {
    "jsonrpc": "2.0",
    "id": "mcpframe/initialize",
    "result": {"protocolVersion": "2026-01-26", "hostInfo": {"name": "h", "version": "1"}, "hostCapabilities": {}},
}
"""How a host of MCP Apps answers."""
CHECK = {"channel": "mcp-iframe", "type": "mcp", "direction": "client-to-server", "payload": INITIALIZE}


def page() -> Connection:
    allowed = parse_allowed_origins([HOST])
    made = Connection(inner_candidates("transport", allowed, about={"name": "page", "version": "1"}))
    made.start(0.0)
    return made


def heard(made: Connection, message: Any) -> list[Output]:
    return made.receive(Inbound(HOST, True, lambda: json.dumps(message)), 1.0)


@pytest.mark.parametrize("first", [INITIALIZE, DISCOVER], ids=lambda message: message["method"])
@pytest.mark.parametrize("order", tuple(permutations(["first", "unknown", "ping", "noise"])), ids=" ".join)
def test_a_client_of_plain_mcp(order: tuple[str, ...], first: dict[str, Any]) -> None:
    made = page()
    messages = {"first": first, "unknown": UNKNOWN, "ping": PING, "noise": NOISE}
    outputs = [output for name in order for output in heard(made, messages[name])]
    assert (made.adopted and made.adopted.dialect, made.state, made.origin) == ("plain_mcp", State.OPEN, HOST)
    received = [output.payload for output in outputs if isinstance(output, Received)]
    assert first in received
    answered = [json.loads(output.text) for output in outputs if isinstance(output, Send)]
    # Before the first request the page itself answers a ping, after it the session does.
    assert (answered, PING in received) in (([{"jsonrpc": "2.0", "id": 5, "result": {}}], False), ([], True))
    assert not [output for output in outputs if isinstance(output, Refused)]
    withdrawn = [output.dialect for output in outputs if isinstance(output, Withdrawn)]
    assert withdrawn == (["mcp_apps"] if order.index("unknown") < order.index("first") else [])


OVER_A_PORT = [
    order
    for order in permutations(["port", "another", "first", "ping", "unknown"])
    if order.index("port") < min(order.index("first"), order.index("ping"))
]


@pytest.mark.parametrize("order", OVER_A_PORT, ids=" ".join)
def test_a_client_of_plain_mcp_over_a_port(order: tuple[str, ...]) -> None:
    """The window has what a host posts besides: its error for `ui/initialize`, and a further port."""
    made, port = page(), FakePort()
    ways = {
        "port": lambda: made.receive(handing_over(port, origin=HOST), 1.0),
        "another": lambda: made.receive(handing_over(FakePort(), origin=HOST), 1.0),
        "first": lambda: made.receive(Inbound(HOST, True, lambda: json.dumps(INITIALIZE), port), 1.0),
        "ping": lambda: made.receive(Inbound(HOST, True, lambda: json.dumps(PING), port), 1.0),
        "unknown": lambda: heard(made, UNKNOWN),
    }
    outputs = [output for name in order for output in ways[name]()]
    assert (made.adopted and made.adopted.dialect, made.port, made.origin) == ("plain_mcp", port, HOST)
    assert INITIALIZE in [output.payload for output in outputs if isinstance(output, Received)]
    sent = [output for output in outputs if isinstance(output, Send)]
    assert [(json.loads(output.text)["id"], output.port) for output in sent] == (
        [(5, port)] if order.index("ping") < order.index("first") else []
    )
    assert not [output for output in outputs if isinstance(output, Refused)]


@pytest.mark.parametrize("order", tuple(permutations(["found", "ping", "noise", "port"])), ids=" ".join)
def test_a_host_of_mcp_apps_that_hands_over_a_port(order: tuple[str, ...]) -> None:
    """As the text of a view does: see static/app/relay.js."""
    made, port = page(), FakePort()
    for name in order:
        if name == "port":
            made.receive(handing_over(port, origin=HOST, message=None), 1.0)
        else:
            heard(made, {"found": FOUND, "ping": PING, "noise": NOISE}[name])
    assert (made.adopted and made.adopted.dialect, made.port, port.posted) == ("mcp_apps", None, [])


@pytest.mark.parametrize("order", tuple(permutations(["found", "ping", "noise"])), ids=" ".join)
def test_a_host_of_mcp_apps_that_pings_its_view(order: tuple[str, ...]) -> None:
    made = page()
    for name in order:
        heard(made, {"found": FOUND, "ping": PING, "noise": NOISE}[name])
    assert (made.adopted and made.adopted.dialect, made.origin) == ("mcp_apps", HOST)


@pytest.mark.parametrize("order", tuple(permutations(["check", "unknown", "ping"])), ids=" ".join)
def test_a_client_of_mcp_b(order: tuple[str, ...]) -> None:
    made = page()
    for name in order:
        heard(made, {"check": CHECK, "unknown": UNKNOWN, "ping": PING}[name])
    assert (made.adopted and made.adopted.dialect, made.origin) == ("mcp_b", HOST)


def test_a_lone_ping_adopts_nothing() -> None:
    made = page()
    (answer,) = heard(made, PING)
    assert isinstance(answer, Send)
    assert (json.loads(answer.text)["id"], answer.target_origin) == (5, HOST)
    assert made.adopted is None
    assert heard(made, FOUND)
    assert made.adopted
    assert made.adopted.dialect == "mcp_apps"
