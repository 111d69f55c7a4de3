"""This dialect on the wire, for the inspector."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.frame.session.wire import WireMessage, bare_body, body_text, read_wire

REQUEST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"type": "MCP_MESSAGE", "payload": REQUEST}, WireMessage("sep", "MCP_MESSAGE", REQUEST)),
        ({"type": "MCP_MESSAGE", "payload": 5}, WireMessage("sep", "MCP_MESSAGE")),
        ({"type": "MCP_MESSAGE"}, WireMessage("sep", "MCP_MESSAGE")),
        ({"type": "MCP_SETUP_HANDSHAKE", "payload": REQUEST}, WireMessage("sep", "MCP_SETUP_HANDSHAKE")),
        (
            {"type": "MCP_TRANSPORT_ACCEPTED"},
            WireMessage("sep", "MCP_TRANSPORT_ACCEPTED", step="Session accepted"),
        ),
        ({"type": "MCP_NEW"}, WireMessage("sep", "MCP_NEW")),
        ({"type": "webpack"}, None),
        ({"type": 5}, None),
        ([], None),
        (None, None),
    ],
)
def test_a_message_is_read_as_what_it_is(message: Any, expected: WireMessage | None) -> None:
    assert read_wire(message) == expected


@pytest.mark.parametrize(
    ("message", "body"),
    [
        ({"type": "MCP_MESSAGE", "payload": REQUEST}, REQUEST),
        ({"payload": REQUEST, "type": "MCP_MESSAGE"}, REQUEST),
        ({"type": "MCP_MESSAGE", "payload": REQUEST, "more": 1}, None),
        ({"type": "MCP_MESSAGE", "payload": None}, None),
        ({"type": "MCP_MESSAGE"}, None),
        ({"type": "MCP_SETUP_REQUIRED", "payload": REQUEST}, None),
        (REQUEST, None),
        ("text", None),
    ],
)
def test_an_envelope_that_says_nothing_is_left_out(message: Any, body: Any) -> None:
    assert bare_body(message) == body


def test_the_text_in_an_envelope_of_our_own_is_found_unparsed() -> None:
    text = json.dumps(REQUEST, separators=(",", ":"))
    assert body_text('{"type":"MCP_MESSAGE","payload":' + text + "}") == text
    assert body_text('{"payload":' + text + ',"type":"MCP_MESSAGE"}') is None
