"""The wire log: what each message is, which answers which, what is kept, filtered and exported."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.wire.entry import KINDS, RECEIVED, SENT, Entry
from inspector.wire.filter import Filter, Selection
from inspector.wire.log import WireLog
from mcpframe.frame.core.events import Wire

PAGE = "https://tools.example"
STRANGER = "https://stranger.example"
OTHER_WINDOW = "Sent by a window other than the peer."


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def __call__(self) -> float:
        return self.time


def log_of(*wires: Wire, **options: Any) -> WireLog:
    log = WireLog(clock=Clock(), **options)
    for wire in wires:
        log.record(wire)
    return log


def text_of(message: Any) -> str:
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False)


def mcp(payload: dict[str, Any]) -> str:
    return text_of({"type": "MCP_MESSAGE", "payload": {"jsonrpc": "2.0", **payload}})


def sent(payload: dict[str, Any], **more: Any) -> Wire:
    return Wire("sent", mcp(payload), PAGE, **more)


def received(payload: dict[str, Any], **more: Any) -> Wire:
    return Wire("received", mcp(payload), PAGE, **more)


CALL = {"id": 1, "method": "tools/call", "params": {"name": "add"}}
ANSWER: dict[str, Any] = {"id": 1, "result": {}}


def test_messages_of_mcp_ui_have_the_names_of_that_dialect() -> None:
    messages: list[tuple[str, dict[str, Any]]] = [
        ("received", {"type": "tool", "messageId": "1", "payload": {"toolName": "add", "params": {}}}),
        ("sent", {"type": "ui-message-received", "messageId": "1"}),
        ("sent", {"type": "ui-message-response", "messageId": "1", "payload": {"response": {"content": []}}}),
        ("received", {"type": "notify", "payload": {"message": "done"}}),
        ("received", {"type": "ui-size-change", "payload": {"height": 7}}),
        ("received", {"type": "ui-lifecycle-iframe-ready"}),
    ]
    log = WireLog(clock=Clock())
    for direction, message in messages:
        log.record(Wire(direction, text_of(message), PAGE), "page")  # type: ignore[arg-type]
    assert [(entry.kind, entry.title, entry.note) for entry in log] == [
        ("request", "tool", "add"),
        ("notification", "ui-message-received", "0"),
        ("response", "tool", "add"),
        ("notification", "notify", "done"),
        ("notification", "ui-size-change", ""),
        ("notification", "ui-lifecycle-iframe-ready", ""),
    ]
    assert {(entry.peer, entry.dialect) for entry in log} == {("page", "mcp_ui")}
    assert {message["dialect"] for message in json.loads(log.export())["messages"]} == {"mcp_ui"}


@pytest.mark.parametrize(
    ("wire", "kind", "title", "note"),
    [
        (sent(CALL), "request", "tools/call", "add"),
        (sent({"method": "notifications/initialized"}), "notification", "notifications/initialized", ""),
        (received({"method": "notifications/progress", "params": {"progress": 0.5}}), "notification", None, "0.5"),
        (received({"id": "é", "method": "roots/list"}), "request", "roots/list", ""),
        (received(ANSWER), "response", "Response", ""),
        (received({"id": 1, "error": {"code": -1, "message": "no"}}), "error", "Error", "-1: no"),
        (received({"error": {"code": -1, "message": "no"}}), "error", "Error", "-1: no"),
        (received({"id": 1, "method": "x" * 400}), "request", "x" * 299 + "…", ""),
        (received({"id": 1, "method": "tools/call", "params": {"name": True}}), "request", "tools/call", ""),
        (Wire("sent", '{"type":"MCP_TRANSPORT_HANDSHAKE_REPLY"}', PAGE), "handshake", None, ""),
        (Wire("received", '{"source":"devtools"}', PAGE, "Noise."), "refused", "Unknown", ""),
        (Wire("received", '"text"', PAGE, "Noise."), "refused", "Unknown", ""),
        (Wire("received", "[" * 100_000, PAGE, "Noise."), "refused", "Unknown", ""),
        (received(CALL, refused="Too many."), "refused", "tools/call", "add"),
        (sent(ANSWER, refused="Too large."), "refused", "Response", ""),
        (Wire("received", None, STRANGER, OTHER_WINDOW), "refused", "Unread", ""),
        (Wire("received", mcp({"method": "\ud800"}), PAGE), "notification", r"\ud800", ""),
        (Wire("received", mcp({"method": "a\u202eb"}), PAGE), "notification", r"a\u202eb", ""),
    ],
)
def test_each_message_is_what_it_is(wire: Wire, kind: str, title: str | None, note: str) -> None:
    [entry] = log_of(wire)
    assert entry.kind == kind
    assert kind in KINDS
    assert title is None or entry.title == title
    assert entry.note == note
    assert entry.direction == (SENT if wire.direction == "sent" else RECEIVED)
    assert (entry.text, entry.refused) == (wire.text, wire.refused)


def test_two_dialects_of_one_form_are_told_apart_by_the_session() -> None:
    ping = {"jsonrpc": "2.0", "id": "mcpframe/ping", "method": "ping"}
    messages: list[tuple[str, dict[str, Any]]] = [
        ("sent", ping),
        ("received", {"jsonrpc": "2.0", "id": "mcpframe/ping", "result": {}}),
        ("sent", {"jsonrpc": "2.0", **CALL}),
        ("received", {"jsonrpc": "2.0", **ANSWER}),
    ]
    for spoken, steps in {"plain_mcp": ["Ping", "Peer listens", "", ""], "mcp_apps": [""] * 4}.items():
        log = WireLog(clock=Clock())
        for direction, message in messages:
            log.record(Wire(direction, text_of(message), PAGE), spoken=spoken)  # type: ignore[arg-type]
        assert [(entry.kind, entry.title, entry.dialect) for entry in log] == [
            ("request", "ping", spoken),
            ("response", "ping", spoken),
            ("request", "tools/call", spoken),
            ("response", "tools/call", spoken),
        ]
        assert [entry.step for entry in log] == steps


def test_a_long_message_without_an_envelope_is_filed_by_its_two_ends() -> None:
    filling = "x" * 300_000
    log = WireLog(clock=Clock())
    for wire in (
        Wire("sent", text_of({"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"f": filling}}), PAGE),
        Wire("received", text_of({"result": {"f": filling}, "jsonrpc": "2.0", "id": 1}), PAGE),
        Wire("received", text_of([filling]), PAGE, "Noise."),
    ):
        log.record(wire, spoken="plain_mcp")
    assert [(entry.kind, entry.title) for entry in log] == [("request", "a"), ("response", "a"), ("refused", "Unknown")]


def test_a_long_message_is_filed_by_its_two_ends() -> None:
    filling = "x" * 300_000
    request = {"type": "MCP_MESSAGE", "payload": {"method": "a", "params": {"f": filling}, "jsonrpc": "2.0", "id": 7}}
    log = log_of(
        sent({"id": 1, "method": "tools/call", "params": {"name": filling}}),
        received({"id": 1, "result": {"text": filling}}),
        Wire("received", text_of(request), PAGE),
        Wire(
            "received",
            json.dumps({"payload": {"jsonrpc": "2.0", "id": 1, "error": {}, "f": filling}, "type": "MCP_MESSAGE"}),
            PAGE,
        ),
        Wire("received", text_of({"type": "MCP_NONSENSE", "filling": filling}), PAGE, "Unknown."),
        received({"method": "notifications/message", "params": {"data": filling}}),
    )
    kinds = [(entry.kind, entry.title, entry.id) for entry in log]
    assert kinds[0] == ("request", "tools/call", "1")
    assert kinds[1] == ("response", "tools/call", "1")
    assert kinds[2] == ("request", "a", "7")
    assert kinds[3] == ("error", "Error", "1")
    assert kinds[4][0] == "refused"
    assert kinds[5] == ("notification", "notifications/message", "")


def test_an_answer_knows_its_request_and_how_long_it_took() -> None:
    log = log_of(sent(CALL), received({**CALL, "method": "roots/list"}), sent({**CALL, "id": "1"}))
    log.now.time += 0.25  # type: ignore[attr-defined]
    log.record(received({"id": 1, "result": {}}))
    log.record(sent({"id": 1, "error": {"code": -32601, "message": "no roots"}}))
    log.record(received({"id": 9, "result": {}}))
    ours, theirs, same_as_text, answer, refusal, nobodys = log
    assert (answer.partner, ours.partner, answer.took, answer.title) == (ours.number, answer.number, 0.25, "tools/call")
    assert (refusal.partner, theirs.partner, refusal.title) == (theirs.number, refusal.number, "roots/list")
    assert refusal.note == "-32601: no roots"
    assert (same_as_text.partner, nobodys.partner, nobodys.took) == (None, None, None)


def test_a_new_session_has_ids_of_its_own() -> None:
    log = log_of(sent(CALL), Wire("received", '{"type":"MCP_TRANSPORT_HANDSHAKE"}', PAGE), received(ANSWER))
    assert [entry.partner for entry in log] == [None, None, None]


def test_a_refused_answer_answers_nothing() -> None:
    log = log_of(sent(CALL), received(ANSWER, refused="Too deep."), received(ANSWER))
    assert [entry.partner for entry in log] == [3, None, 1]


def test_strangers_are_one_entry_for_each_origin_and_reason() -> None:
    stranger = Wire("received", None, STRANGER, OTHER_WINDOW)
    log = log_of(stranger, sent(CALL), stranger, Wire("received", None, "null", OTHER_WINDOW), stranger)
    assert [(entry.origin, entry.count) for entry in log] == [(STRANGER, 3), (PAGE, 1), ("null", 1)]
    log.clear()
    log.record(stranger)
    assert [entry.count for entry in log] == [1]


def test_only_the_newest_are_kept_and_the_others_counted() -> None:
    log = log_of(*(sent({"id": number, "method": "ping"}) for number in range(10)), most_entries=3)
    assert [entry.id for entry in log] == ["7", "8", "9"]
    assert log.dropped == 7
    log.record(received({"id": 0, "result": {}}))  # its request was dropped
    assert [entry.partner for entry in log] == [None, None, None]
    assert json.loads(log.export())["dropped"] == 8
    log.clear()
    assert (len(log), log.dropped) == (0, 0)


def test_strangers_that_were_dropped_are_counted_anew() -> None:
    stranger = Wire("received", None, STRANGER, OTHER_WINDOW)
    log = log_of(stranger, stranger, sent(CALL), sent(CALL), most_entries=2)
    assert log.dropped == 2
    log.record(stranger)
    assert [entry.count for entry in log] == [1, 1]


def test_bytes_are_bounded_and_a_message_that_is_too_long_keeps_only_its_head() -> None:
    big = sent({"id": 1, "method": "tools/call", "params": {"name": "é" * 1000}})
    log = log_of(sent(CALL), big, sent(CALL), most_bytes=3000)
    first, cut, last = log
    assert cut.text is None
    assert cut.size == len((big.text or "").encode())
    assert (cut.title, cut.kind) == ("tools/call", "request")
    with pytest.raises(ValueError, match="no text"):
        _ = cut.value
    assert first.text
    assert last.text
    for _ in range(100):
        log.record(sent(CALL))
    assert sum(entry.size for entry in log) <= 3000
    assert log.dropped == 103 - len(log)


FOUR = (
    sent(CALL),
    received({"id": 1, "result": {"content": [{"type": "text", "text": "Größe"}]}}),
    received({"method": "notifications/message", "params": {"level": "info"}}),
    Wire("received", None, STRANGER, OTHER_WINDOW),
)


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        (Filter(), [1, 2, 3, 4]),
        (Filter(direction=SENT), [1]),
        (Filter(direction=RECEIVED, kind="response"), [2]),
        (Filter(kind="refused"), [4]),
        (Filter("TOOLS/CALL"), [1, 2]),
        (Filter("GRÖSSE"), [2]),
        (Filter("stranger.example"), [4]),
        (Filter("other than the peer"), [4]),
        (Filter("[.*"), []),
    ],
)
def test_filters(wanted: Filter, numbers: list[int]) -> None:
    selection = Selection(log_of(*FOUR), wanted)
    selection.refresh()
    assert [entry.number for entry in selection.entries] == numbers


@given(
    st.lists(st.sampled_from(["record", "refresh", "clear", *KINDS]), max_size=60),
    st.integers(min_value=1, max_value=6),
)
def test_a_selection_is_what_filtering_all_would_give(acts: list[str], most: int) -> None:
    log = WireLog(most_entries=most)
    selection = Selection(log)
    for at, act in enumerate(acts):
        if act == "record":
            log.record(FOUR[at % len(FOUR)])
        elif act == "clear":
            log.clear()
        elif act in KINDS:
            selection.choose(Filter(kind=act))
        selection.refresh()
        assert list(selection.entries) == [entry for entry in log if selection.filter.passes(entry)]


def test_it_is_exported_as_json_with_a_line_for_each() -> None:
    log = log_of(*FOUR, FOUR[-1])
    text = log.export()
    head, *messages = json.loads(text)["messages"], *json.loads(text)["messages"]
    assert len(head) == 4
    assert len(text.splitlines()) == 4 + 2
    request, answer, _, stranger = messages
    assert request == {
        "number": 1,
        "time": "2023-11-14T22:13:20.000+00:00",
        "direction": "sent",
        "origin": PAGE,
        "kind": "request",
        "size": len(FOUR[0].text or ""),
        "text": FOUR[0].text,
    }
    assert (answer["answers"], answer["milliseconds"]) == (1, 0.0)
    assert stranger["count"] == 2
    assert stranger["text"] is None
    assert stranger["refused"] == OTHER_WINDOW
    selection = Selection(log, Filter(kind="refused"))
    selection.refresh()
    assert len(json.loads(log.export(selection.entries))["messages"]) == 1
    assert json.loads(WireLog().export())["messages"] == []


def test_what_cannot_be_read_is_no_trap() -> None:
    deep = "[" * 50_000 + "]" * 50_000
    log = log_of(Wire("received", deep, PAGE, "Too deep."), Wire("received", '{"a":"\\ud800"}', PAGE, "Noise."))
    first, second = log
    with pytest.raises(ValueError, match="nested deeper"):
        _ = first.value
    assert second.value == {"a": "\ud800"}
    json.loads(log.export())


def test_observers_see_what_passed_with_its_value() -> None:
    seen: list[tuple[Entry, Any]] = []
    log = WireLog()
    log.observers.append(lambda entry, message: seen.append((entry, message)))
    log.record(sent(CALL))
    log.record(received(CALL, refused="Too many."))
    log.record(FOUR[-1])
    assert [(entry.kind, message is None) for entry, message in seen] == [
        ("request", False),
        ("refused", True),
        ("refused", True),
    ]
    assert seen[0][1]["payload"]["method"] == "tools/call"


def test_its_own_clock_never_goes_back() -> None:
    log = WireLog()
    times = [log.now() for _ in range(100)]
    assert times == sorted(times)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "payload", "id", "method", "params", "error", "result", "name", "code"]), inner
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from([None, "Refused."]),
)
def test_any_message_can_be_filed(message: Any, refused: str | None) -> None:
    if isinstance(message, dict):
        message = {"type": "MCP_MESSAGE", "payload": message}
    log = WireLog()
    log.record(Wire("received", json.dumps(message), PAGE, refused))
    [entry] = log
    assert entry.kind in KINDS
    assert isinstance(entry.title, str)
    json.loads(log.export())


def test_a_view_s_messages_are_those_of_another_wire() -> None:
    log = log_of(sent(CALL))
    view = text_of({"jsonrpc": "2.0", "id": 1, "method": "ui/open-link", "params": {}})
    log.record(Wire("received", view, PAGE), "view")
    log.record(Wire("sent", text_of({"jsonrpc": "2.0", "id": 1, "result": {}}), PAGE), "view")
    log.record(received(ANSWER))
    assert [(entry.peer, entry.kind, entry.title, entry.partner) for entry in log] == [
        ("server", "request", "tools/call", 4),
        ("view", "request", "ui/open-link", 3),
        ("view", "response", "ui/open-link", 2),
        ("server", "response", "tools/call", 1),
    ]
    assert [entry.number for entry in log if Filter(peer="view").passes(entry)] == [2, 3]
    assert [message.get("peer") for message in json.loads(log.export())["messages"]] == [None, "view", "view", None]


def test_the_handshake_of_a_view_is_read() -> None:
    log = WireLog(clock=Clock())
    calls = {"jsonrpc": "2.0", "id": "mcpframe/initialize", "method": "ui/initialize", "params": {}}
    log.record(Wire("received", text_of(calls), "null"), "view")
    log.record(Wire("sent", text_of({"jsonrpc": "2.0", "id": "mcpframe/initialize", "result": {}}), "null"), "view")
    log.record(Wire("received", text_of({"jsonrpc": "2.0", "method": "ui/notifications/initialized"}), "null"), "view")
    assert [(entry.kind, entry.title) for entry in log] == [
        ("request", "ui/initialize"),
        ("response", "ui/initialize"),
        ("notification", "ui/notifications/initialized"),
    ]
