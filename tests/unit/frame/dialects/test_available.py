"""Queries of the composition to the available dialects."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.frame.core.allowed_origins import OriginLists, parse_allowed_origins
from mcpframe.frame.core.dialect import SETUP, TRANSPORT
from mcpframe.frame.core.errors import StateError
from mcpframe.frame.core.events import Opened
from mcpframe.frame.dialects import available, complete
from mcpframe.frame.dialects.plain_mcp import further_roles as plain_mcp
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.session import wire
from tests.support.sep import HOST, MESSAGES


def test_each_dialect_has_its_name_and_both_sides() -> None:
    assert tuple(each.name for each in available.dialects()) == available.spoken_names()
    for each in complete.complete_dialects():
        for side, roles in (("inner", each.inner), ("outer", each.outer)):
            assert TRANSPORT in roles
            assert {(role.dialect, role.side, phase) for phase, role in roles.items()} == {
                (each.name, side, role.phase) for role in roles.values()
            }
    assert all(available.dialect(each.name) is each for each in available.dialects())
    assert available.dialect() is available.dialects()[0]
    with pytest.raises(StateError, match="'telex'"):
        available.dialect("telex")


def test_a_page_s_address_asks_for_a_phase() -> None:
    assert available.phase_of("#setup") == SETUP
    assert available.phase_of("") == available.phase_of("#other") == TRANSPORT
    for phase in (SETUP, TRANSPORT):
        candidates = available.inner_candidates(phase, parse_allowed_origins([HOST]))
        assert [(each.role.side, each.role.phase) for each in candidates] == [("inner", phase)] * len(candidates)
        assert candidates
    assert available.inner_candidates("another phase", parse_allowed_origins([HOST])) == []


def test_last_words_are_those_of_the_dialect_that_is_spoken() -> None:
    assert available.last_words(Opened(dialect="sep", origin=HOST))["type"] == "MCP_TRANSPORT_HANDSHAKE"


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES)
def test_a_message_on_the_wire_is_read(message: dict[str, Any]) -> None:
    read = wire.read_wire(message)
    assert read
    assert (read.dialect, read.kind) == ("sep", message["type"])
    assert read.body == message.get("payload")
    assert bool(read.step) == message["type"].startswith("MCP_TRANSPORT_")


def test_the_query_of_an_address_may_name_the_only_dialect_that_is_spoken() -> None:
    everybody = parse_allowed_origins([HOST])

    def spoken(query: str) -> list[str]:
        candidates = available.inner_candidates(TRANSPORT, everybody, query=query)
        return [each.role.dialect for each in candidates]

    assert spoken("?a=1") == spoken("") == list(available.spoken_names())
    for each in available.dialects():
        if each.query:
            assert spoken("?x=1&waitForRenderData=true") == [each.name]


def test_a_page_is_a_client_in_the_dialects_of_either_side_or_in_one_by_name() -> None:
    lists = OriginLists(parse_allowed_origins([HOST]), {"mcp_b": None})
    assert [each.role for each in complete.client_candidates(lists)] == [sep.INNER_TRANSPORT]
    assert [each.role for each in complete.client_candidates(lists, "plain_mcp")] == [plain_mcp.CLIENT]
    assert complete.client_candidates(lists.without(["plain_mcp"]), "plain_mcp") == []
    for name in ("telex", "mcp_b", "webmcp"):
        with pytest.raises(StateError, match=f"{name}.*sep, plain_mcp"):
            complete.client_candidates(lists, name)


def test_a_message_in_another_form_than_json_rpc_is_read_as_such() -> None:
    action = {"type": "link", "messageId": "1", "payload": {"url": "x"}}
    read = wire.read_wire(action)
    assert read
    assert (read.dialect, read.kind, read.step) == ("mcp_ui", "link", "")
    assert read.body == {"jsonrpc": "2.0", "id": "1", "method": "link", "params": {"url": "x"}}
    ready = wire.read_wire({"type": "ui-lifecycle-iframe-ready"})
    assert ready
    assert ready.step
    misshapen = wire.read_wire({"type": "link", "payload": 7})
    assert misshapen
    assert misshapen.body is None
    assert wire.body_text('{"type":"link"}') is None
    assert wire.bare_body(action) is None
