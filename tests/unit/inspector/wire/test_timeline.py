"""The boot timeline: read off the wire, and what the framed page tells of its own start."""

from __future__ import annotations

import json
from typing import Any

import pytest

from inspector.wire.log import WireLog
from inspector.wire.timeline import CAPABILITY, FRAME, HOST, Timeline, span
from mcpframe.frame.boot.serving import BOOT_CAPABILITY
from mcpframe.frame.core.events import Wire

PAGE = "https://tools.example"
MARKS = {"loader": 20, "wasm": 100.5, "ready": 400, "brand new": 410}


class Rig:
    """A log, its timeline, and a clock in milliseconds."""

    def __init__(self) -> None:
        self.time = 5_000_000.0
        self.log = WireLog(clock=lambda: self.time / 1000)
        self.timeline = Timeline(self.log)

    def pass_on(
        self, milliseconds: float, direction: Any, message: Any, refused: str | None = None, spoken: str = ""
    ) -> None:
        self.time += milliseconds
        self.log.record(Wire(direction, json.dumps(message), PAGE, refused), spoken=spoken)

    def ask(self, milliseconds: float, method: str, answer: dict[str, Any], id_: int = 1) -> None:
        """Let a request be sent, and answered some time later."""
        payload = {"jsonrpc": "2.0", "id": id_}
        self.pass_on(0, "sent", {"type": "MCP_MESSAGE", "payload": {**payload, "method": method}})
        self.pass_on(milliseconds, "received", {"type": "MCP_MESSAGE", "payload": {**payload, **answer}})

    def shake_hands(self) -> None:
        self.pass_on(500, "received", {"type": "MCP_TRANSPORT_HANDSHAKE"})
        self.pass_on(1, "sent", {"type": "MCP_TRANSPORT_HANDSHAKE_REPLY"})
        self.pass_on(4, "received", {"type": "MCP_TRANSPORT_ACCEPTED"})

    @property
    def steps(self) -> dict[str, tuple[str, float, float]]:
        return {step.name: (step.side, round(step.start, 3), round(step.end, 3)) for step in self.timeline.steps}


def initialized(told: Any) -> dict[str, Any]:
    return {"result": {"capabilities": {"experimental": {CAPABILITY: told}}}}


def test_it_is_the_capability_that_a_frame_sends() -> None:
    assert CAPABILITY == BOOT_CAPABILITY


def test_the_steps_of_a_dialect_without_an_envelope() -> None:
    rig = Rig()
    rig.timeline.begin()
    ping = {"jsonrpc": "2.0", "id": "mcpframe/ping"}
    rig.pass_on(500, "sent", {**ping, "method": "ping"}, spoken="plain_mcp")
    rig.pass_on(4, "received", {**ping, "result": {}}, spoken="plain_mcp")
    rig.pass_on(1, "sent", {"jsonrpc": "2.0", "id": 1, "method": "initialize"}, spoken="plain_mcp")
    answer = {"jsonrpc": "2.0", "id": 1, **initialized({"start": "plain", "marks": {"ready": 400}})}
    rig.pass_on(20, "received", answer, spoken="plain_mcp")
    assert rig.timeline.how == "plain"
    assert list(rig.steps.items()) == [
        ("Frame made", (HOST, 0.0, 0.0)),
        ("Server imported", (FRAME, 0.0, 400.0)),
        ("Ping", (HOST, 0.0, 500.0)),
        ("Peer listens", (HOST, 500.0, 504.0)),
        ("Client calls", (HOST, 504.0, 505.0)),
        ("Initialized", (HOST, 505.0, 525.0)),
    ]


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
def test_the_steps_of_both_sides(method: str) -> None:
    rig = Rig()
    assert rig.timeline.steps == []
    rig.timeline.begin()
    rig.shake_hands()
    rig.ask(20, method, initialized({"start": "plain", "marks": MARKS}))
    rig.ask(10, "tools/list", {"result": {}}, 2)
    rig.ask(10, "prompts/list", {"result": {}}, 3)
    rig.ask(15, "tools/call", {"result": {}}, 4)
    assert rig.timeline.how == "plain"
    assert list(rig.steps.items()) == [
        ("Frame made", (HOST, 0.0, 0.0)),
        ("Loader runs", (FRAME, 0.0, 20.0)),
        ("WebAssembly compiled", (FRAME, 20.0, 100.5)),
        ("Server imported", (FRAME, 100.5, 400.0)),
        ("brand new", (FRAME, 400.0, 410.0)),
        ("Handshake heard", (HOST, 0.0, 500.0)),
        ("Reply sent", (HOST, 500.0, 501.0)),
        ("Session accepted", (HOST, 501.0, 505.0)),
        ("Initialized", (HOST, 505.0, 525.0)),
        ("First list answered", (HOST, 525.0, 535.0)),
        ("First call answered", (HOST, 545.0, 560.0)),
    ]


def test_only_the_first_of_each_counts_and_a_new_session_begins_anew() -> None:
    rig = Rig()
    rig.timeline.begin()
    rig.shake_hands()
    rig.ask(20, "initialize", initialized({"start": "plain", "marks": MARKS}))
    before = rig.steps
    rig.shake_hands()
    rig.ask(20, "initialize", initialized({"start": "other", "marks": {}}))
    assert rig.steps == before
    assert rig.timeline.how == "plain"
    rig.timeline.begin()
    assert list(rig.steps) == ["Frame made"]
    assert rig.timeline.how == ""


def test_what_is_refused_or_fails_is_no_step() -> None:
    rig = Rig()
    rig.shake_hands()  # of nobody's session
    rig.timeline.begin()
    rig.pass_on(1, "received", {"type": "MCP_TRANSPORT_HANDSHAKE"}, "Malformed.")
    rig.ask(1, "initialize", {"error": {"code": -1, "message": "no"}})
    rig.pass_on(1, "received", {"type": "MCP_SETUP_HANDSHAKE"})
    rig.pass_on(1, "sent", {"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", "id": 1, "result": {}}})
    assert list(rig.steps) == ["Frame made"]


@pytest.mark.parametrize(
    "told",
    [
        None,
        "plain",
        {},
        {"start": 5, "marks": "none"},
        {"start": {}, "marks": [1, 2]},
        {"marks": {"a": "1", "b": None, "c": True, "d": -1, "e": 1e300, "f": [1], "g": float("inf")}},
    ],
)
def test_a_page_may_tell_anything(told: Any) -> None:
    rig = Rig()
    rig.timeline.begin()
    rig.ask(5, "initialize", initialized(told))
    assert list(rig.steps) == ["Frame made", "Initialized"]


def test_a_page_cannot_fill_the_table() -> None:
    rig = Rig()
    rig.timeline.begin()
    rig.ask(5, "initialize", initialized({"start": "x" * 1000, "marks": {f"{n}" * 200: n for n in range(1000)}}))
    assert len(rig.timeline.steps) == 52
    assert all(len(step.name) <= 300 for step in rig.timeline.steps)
    assert len(rig.timeline.how) <= 300


def test_a_call_takes_from_its_request_on_and_a_late_one_is_beyond_the_bars() -> None:
    rig = Rig()
    rig.timeline.begin()
    rig.shake_hands()
    rig.ask(20, "initialize", {"result": {}})
    rig.time += 60_000
    rig.ask(15, "tools/call", {"result": {}}, 2)
    assert rig.steps["First call answered"] == (HOST, 60_525.0, 60_540.0)
    assert round(span(rig.timeline.steps), 3) == 525.0
    rig.timeline.begin()
    rig.shake_hands()
    rig.ask(15, "tools/call", {"result": {}}, 2)
    assert round(span(rig.timeline.steps), 3) == 520.0
    assert span([]) == 0.0
