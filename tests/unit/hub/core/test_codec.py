"""Messages between hub and proxy as text: each form is read as it is written, and others are ignored."""

from __future__ import annotations

import contextlib
import json
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpframe.frame.core.errors import MalformedMessage, MessageError
from mcpframe.hub.core.codec import (
    Form,
    ProxyCodec,
    hub_message,
    proxy_message,
    read_from_hub,
    to_hub,
    to_proxy,
    write_to_hub,
)
from mcpframe.hub.core.messages import (
    CallCancelled,
    RefreshRequest,
    ResourceRead,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolProgress,
)

FORMS: tuple[Form, ...] = get_args(Form)
RESULT = {"content": [{"type": "text", "text": "5"}], "isError": False}
FROM_PROXY = [
    ToolList([{"name": "a"}], True, "https://a.example/", frozenset({"cacheSupported"})),
    ToolList([], first=False),
    ToolList([], resources=[{"uri": "a:b", "name": "a"}], templates=[{"uriTemplate": "a:{b}", "name": "a"}]),
    ToolAnswer("i", RESULT),
    ToolAnswer("i", None, "no"),
    ToolProgress("i", 1, 2.5, "on"),
    ToolProgress("i", 1),
]
FROM_HUB = [ToolCall("i", "add", {"a": 1}), ToolCall("i", "add", {}, True), CallCancelled("i", "why"), RefreshRequest()]
FROM_HUB += [ResourceRead("i", "kept:///k1?offset=5"), ResourceRead("i", "a:b", True)]
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
WORDS = st.sampled_from(["register-tools", "tool-result", "notifications/progress", "browser/updateTools", "x", "2.0"])
KEYS = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "type", "tools", "result", "error", "data", "success", "x"]
)
JSON = st.recursive(LEAF | WORDS, lambda each: st.lists(each, max_size=3) | st.dictionaries(KEYS, each, max_size=5))


@pytest.mark.parametrize("form", FORMS)
def test_each_side_reads_what_the_other_one_writes(form: Form) -> None:
    assert [proxy_message(to_hub(each, form)) for each in FROM_PROXY] == FROM_PROXY
    assert [hub_message(to_proxy(each, form)) for each in FROM_HUB] == FROM_HUB
    codec = ProxyCodec()
    assert [codec.read(json.dumps(to_hub(each, form))) for each in FROM_PROXY] == FROM_PROXY
    assert [json.loads(codec.write(each)) for each in FROM_HUB] == [to_proxy(each, form) for each in FROM_HUB]


def test_text_is_of_json_rpc_unless_the_proxy_uses_the_other_form() -> None:
    codec = ProxyCodec()
    assert [read_from_hub(codec.write(each)) for each in FROM_HUB] == FROM_HUB
    assert [codec.read(write_to_hub(each)) for each in FROM_PROXY] == FROM_PROXY
    assert json.loads(codec.write(RefreshRequest()))["jsonrpc"] == "2.0"


def test_the_forms_are_those_of_the_seed_and_of_the_extension() -> None:
    call = ToolCall("i", "add", {"a": 1})
    params = {"toolName": "add", "args": {"a": 1}}
    assert to_proxy(call) == {"jsonrpc": "2.0", "id": "i", "method": "browser/executeTool", "params": params}
    assert to_proxy(call, "extension") == {"type": "execute-tool", "requestId": "i", **params}
    data: Any = {"success": True, "payload": RESULT}
    assert to_hub(ToolAnswer("i", RESULT)) == {"jsonrpc": "2.0", "id": "i", "result": data}
    data = {"success": False, "payload": "no"}
    assert to_hub(ToolAnswer("i", None, "no"), "extension") == {"type": "tool-result", "requestId": "i", "data": data}
    params = {"tools": [], "tabUrl": "u"}
    assert to_hub(ToolList([], url="u")) == {"jsonrpc": "2.0", "method": "browser/registerTools", "params": params}
    assert to_hub(ToolList([], first=False), "extension") == {"type": "tools-updated", "tools": []}


def test_a_call_without_arguments_has_none_and_one_without_id_or_name_is_ignored() -> None:
    assert hub_message({"type": "execute-tool", "requestId": "i", "toolName": "a"}) == ToolCall("i", "a")
    for lacking in ({"requestId": "i"}, {"toolName": "a"}, {"requestId": "", "toolName": "a"}, {"requestId": 1}):
        assert hub_message({"type": "execute-tool", **lacking}) is None
    assert hub_message({"jsonrpc": "2.0", "id": None, "method": "browser/executeTool"}) is None


def test_of_the_capabilities_those_that_are_known_and_on_are_taken() -> None:
    browser = {"cacheSupported": True, "elicitation": False, "multiTabSupport": 1, "else": True}
    read = proxy_message({"type": "register-tools", "tools": [], "capabilities": {"browser": browser}})
    assert read == ToolList([], browser=frozenset({"cacheSupported"}))


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        "mcp-check-ready",
        {},
        {"type": "keep-alive", "timestamp": 1},
        {"type": "execute-tool", "requestId": "i", "toolName": "a", "args": {}},
        {"type": "get-tools"},
        {"type": "browser/registerTools", "tools": []},
        {"type": ["register-tools"], "tools": []},
        {"jsonrpc": "2.0", "method": "register-tools", "params": {"tools": []}},
        {"jsonrpc": "2.0", "method": "browser/executeTool", "id": "i", "params": {"toolName": "a"}},
        {"jsonrpc": "1.0", "method": "browser/registerTools", "params": {"tools": []}},
        {"jsonrpc": "2.0", "method": "initialize", "id": 1},
    ],
)
def test_other_messages_are_ignored(message: Any) -> None:
    assert proxy_message(message) is None


@pytest.mark.parametrize(
    "message",
    [
        {"type": "register-tools"},
        {"type": "tools-updated", "tools": {"name": "a"}},
        {"jsonrpc": "2.0", "method": "browser/registerTools"},
        {"jsonrpc": "2.0", "method": "browser/registerTools", "params": {"tools": [], "tabUrl": 1}},
        {"jsonrpc": "2.0", "method": "browser/registerTools", "params": {"tools": [], "tabUrl": "x" * 9000}},
        {"type": "tool-result", "data": {"success": True, "payload": {}}},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": "x" * 300, "result": {}},
        {"jsonrpc": "2.0", "id": "i", "error": "no"},
        {"type": "tool-progress", "requestId": "i", "progress": "half"},
        {"type": "tool-progress", "requestId": "i", "progress": 1, "message": 1},
    ],
)
def test_one_of_ours_with_another_content_is_an_error(message: Any) -> None:
    with pytest.raises(MalformedMessage):
        proxy_message(message)


@pytest.mark.parametrize(
    "data", [None, {}, {"success": True}, {"success": True, "payload": "x"}, {"success": "yes"}, 1]
)
def test_an_answer_of_another_shape_is_a_failure_of_its_call(data: Any) -> None:
    read = proxy_message({"type": "tool-result", "requestId": "i", "data": data})
    assert isinstance(read, ToolAnswer)
    assert (read.id, read.result) == ("i", None)
    assert read.error


def test_an_error_of_json_rpc_is_a_failure() -> None:
    error = {"code": -32601, "message": "no"}
    assert proxy_message({"jsonrpc": "2.0", "id": "i", "error": error}) == ToolAnswer("i", None, "no")


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(JSON)
def test_whatever_comes_is_read_ignored_or_malformed(message: Any) -> None:
    hub_message(message)
    with contextlib.suppress(MalformedMessage):
        proxy_message(message)


@pytest.mark.parametrize("text", ["{", "nul", "[" * 200 + "]" * 200, '{"__proto__": 1}', '"\\ud800"', "NaN"])
def test_text_that_cannot_be_taken_is_an_error(text: str) -> None:
    for whole in (text, f'{{"type": "tool-result", "requestId": "x", "data": {text}}}'):
        with pytest.raises(MessageError):
            ProxyCodec().read(whole)
        with pytest.raises(MessageError):
            read_from_hub(whole)
