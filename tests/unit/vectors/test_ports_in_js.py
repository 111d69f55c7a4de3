"""The ports of the bridge's page around plain MCP, in Node, as those in Python (`frame/core/test_handed_ports.py`)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.kit.base.node import find_node
from tests.support.host_js import host_folder
from tests.vectors.cases import VECTORS

FRAME = "https://tools.example"
PING = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}
SAID = {"jsonrpc": "2.0", "method": "notifications/initialized"}
ASKED = "sampling/createMessage"
UNANSWERED = {"posted": [PING], "closed": True}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = host_folder(tmp_path_factory.mktemp("host"))
    written = folder / "results.json"
    module = (folder / "bridge" / "dialects" / "plain_mcp.js").as_uri()
    find_node().run(str(VECTORS / "ports_in_node.mjs"), module, str(written), timeout=120)
    results: dict[str, Any] = json.loads(written.read_text("utf-8"))
    return results


def test_the_window_is_asked_with_each_probe_and_a_port_with_every_other_one(seen: dict[str, Any]) -> None:
    found = seen["no answer"]
    ping = [PING, FRAME, None]
    assert found["posted"] == [ping, ping, ["init", FRAME, 0], ping, ping, ["init", FRAME, 1]]
    assert found["ports"] == [UNANSWERED] * 2
    assert "window" in found["failed"]
    assert "port" in found["failed"]
    assert seen["the window at once"]["ports"] == []


def test_a_window_that_answers_first_is_the_only_way(seen: dict[str, Any]) -> None:
    found = seen["the window first"]
    assert (found["received"], found["ports"]) == ([ASKED], [UNANSWERED] * 2)
    assert found["posted"][-1] == [SAID, FRAME, None]


def test_a_port_that_answers_first_is_the_only_way(seen: dict[str, Any]) -> None:
    found = seen["a port first"]
    assert (found["received"], SAID in [message for message, *_ in found["posted"]]) == ([ASKED], False)
    assert found["ports"] == [UNANSWERED, {"posted": [PING, SAID], "closed": False}]


def test_an_earlier_port_may_answer_late(seen: dict[str, Any]) -> None:
    assert seen["an earlier port, late"]["ports"] == [{"posted": [PING, SAID], "closed": False}, UNANSWERED, UNANSWERED]


def test_few_ports_are_held(seen: dict[str, Any]) -> None:
    """The last eight are those from the thirteenth on."""
    ports = seen["many probes"]["ports"]
    assert [number for number, port in enumerate(ports) if not port["closed"]] == [12]
    assert SAID in ports[12]["posted"]


def test_a_port_ends_with_its_session(seen: dict[str, Any]) -> None:
    assert seen["closed"]["ports"] == [UNANSWERED, UNANSWERED]
