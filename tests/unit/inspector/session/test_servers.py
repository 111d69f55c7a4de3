"""The inspector's memory, as JSON and back, also from damaged JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.session.servers import DIALECTS, ERAS, PREFERRED, Example, Offered, Server, Servers, read_offered

PI = "https://tools.example/pi/"


def two() -> tuple[Servers, Server, Server]:
    servers = Servers()
    first, second = servers.add(Server(PI)), servers.add(Server("https://tools.example/two/"))
    return servers, first, second


def test_sessions_are_told_apart() -> None:
    servers = Servers()
    first, second = servers.add(Server(PI)), servers.add(Server(PI))
    assert first.session_id != second.session_id
    assert len(servers) == 2
    assert servers.with_url(PI) is first
    assert servers.with_url("https://elsewhere.example/") is None


@pytest.mark.parametrize(
    ("url", "title", "name"),
    [
        (PI, "", "pi"),
        ("https://tools.example/a/pi.html", "", "pi.html"),
        ("https://tools.example:8000", "", "tools.example:8000"),
        (PI, "Pi calculator", "Pi calculator"),
    ],
)
def test_what_it_is_called(url: str, title: str, name: str) -> None:
    assert Server(url, title=title).name == name


@pytest.mark.parametrize(
    ("visibility", "shown", "visible"),
    [
        ("required", False, True),
        ("required", True, True),
        ("optional", False, False),
        ("optional", True, True),
        ("hidden", True, False),
    ],
)
def test_whether_it_is_seen(visibility: str, shown: bool, visible: bool) -> None:
    assert Server(PI, visibility=visibility, shown=shown).visible is visible


def test_another_dialect_knows_nothing_of_an_earlier_setup() -> None:
    server = Server(PI, title="Pi", visibility="required", permissions=["camera"], set_up=True, era="legacy")
    server.speak("plain_mcp")
    assert server == Server(PI, session_id=server.session_id, era="legacy", dialect="plain_mcp")


def test_a_server_that_is_not_set_up_introduces_itself() -> None:
    server = Server(PI, dialect="plain_mcp")
    server.introduced("Pi")
    assert (server.name, server.set_up, server.visible) == ("Pi", True, False)
    server.shown = True
    assert server.visible
    server.introduced("x" * 5000)
    assert len(server.name) == 300


def test_the_preferred_dialect_alone_has_a_setup_and_session_ids() -> None:
    assert Server(PI).dialect == PREFERRED
    assert (Server(PI).spoken.has_setup, Server(PI).spoken.has_session_ids) == (True, True)
    others = [Server(PI, dialect=name).spoken for name in DIALECTS][1:]
    assert {(each.has_setup, each.has_session_ids) for each in others} == {(False, False)}


def test_the_neighbour_of_a_removed_server_is_selected() -> None:
    servers, first, second = two()
    servers.selected = second.session_id
    servers.remove(second.session_id)
    assert servers.selected == first.session_id
    servers.remove(first.session_id)
    servers.remove(first.session_id)
    assert (servers.selected, len(servers)) == ("", 0)


def test_removing_another_one_leaves_the_selection() -> None:
    servers, first, second = two()
    servers.selected = second.session_id
    servers.remove(first.session_id)
    assert servers.selected == second.session_id
    servers.clear()
    assert (servers.selected, list(servers)) == ("", [])


def test_what_is_stored_comes_back() -> None:
    servers, first, second = two()
    first.permissions, first.era, first.timeout, first.set_up = ["camera"], "legacy", 5, True
    second.speak("plain_mcp")
    servers.selected = second.session_id
    stored = json.loads(json.dumps(servers.to_json()))
    again = Servers.from_json(stored)
    assert list(again) == [first, second]
    assert again.selected == second.session_id


@pytest.mark.parametrize(
    "stored",
    [
        None,
        [],
        "servers",
        {"servers": {}},
        {"servers": [1, None, {}, {"url": PI}, {"url": PI, "session_id": ""}, {"url": 1, "session_id": "one"}]},
        {"servers": [{"url": "javascript:alert(1)", "session_id": "one"}], "selected": "one"},
    ],
)
def test_what_cannot_be_used_is_left_out(stored: Any) -> None:
    servers = Servers.from_json(stored)
    assert (list(servers), servers.selected) == ([], "")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("era", "2042"),
        ("dialect", "mcp_apps"),
        ("dialect", "esperanto"),
        ("place", "moon"),
        ("visibility", "loud"),
        ("sandbox", "strict"),
        ("timeout", -1),
        ("timeout", True),
        ("permissions", [1]),
        ("shown", "yes"),
        ("color", "red"),
    ],
)
def test_a_field_that_cannot_be_used_is_as_in_a_new_server(field: str, value: Any) -> None:
    (server,) = Servers.from_json({"servers": [{"url": PI, "session_id": "one", field: value}]})
    assert server == Server(PI, session_id="one")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["url", "session_id", "servers", "era"]), inner),
)


@given(anything)
def test_anything_that_was_stored_can_be_read(stored: Any) -> None:
    assert all(server.era in ERAS for server in Servers.from_json(stored))


def test_examples() -> None:
    text = json.dumps({"servers": [{"title": "Pi", "url": "pi/"}, {"title": "No address"}, "nothing"]})
    assert read_offered(text) == Offered((Example("Pi", "pi/"),))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"servers": {}}', '{"servers": [{"title": 1, "url": 2}]}'])
def test_no_examples(text: str) -> None:
    assert read_offered(text) == Offered()


def test_where_builds_are_told_of() -> None:
    assert read_offered('{"servers": [], "rebuilds": "rebuilds"}') == Offered(rebuilds="rebuilds")
    assert read_offered('{"rebuilds": 1, "runs": []}') == Offered()
    assert read_offered('{"runs": "run.html"}') == Offered(runs="run.html")


def test_what_the_command_named() -> None:
    assert read_offered(json.dumps({"named": [PI, 1, None]})) == Offered(named=frozenset([PI]))
    assert read_offered(json.dumps({"named": PI})) == Offered()
    assert read_offered(json.dumps({"named": [PI], "hubs": [PI, 1]})) == Offered(
        named=frozenset([PI]), hubs=frozenset([PI])
    )


def test_a_server_is_put_first() -> None:
    servers = Servers()
    for name in ("one", "two", "three"):
        servers.add(Server(PI, session_id=name))
    servers.put_first("two")
    assert [server.session_id for server in servers] == ["two", "one", "three"]


def test_sample_calls_are_read() -> None:
    assert read_offered(json.dumps({"samples": {PI: {"result": {}}}})) == Offered(samples={PI: {"result": {}}})
    assert read_offered(json.dumps({"samples": [PI]})) == Offered()
