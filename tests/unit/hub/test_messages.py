"""Messages between hub and proxy: each form is read as it is written, and others are ignored."""

from __future__ import annotations

import contextlib
import json
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcpframe.frame.core.errors import MalformedMessage, MessageError
from mcpframe.hub.core import messages
from mcpframe.hub.core.messages import (
    CallCancelled,
    Form,
    RefreshRequest,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolProgress,
    parse,
    read_from_hub,
    read_from_proxy,
)

FORMS: tuple[Form, ...] = get_args(Form)
RESULT = {"content": [{"type": "text", "text": "5"}], "isError": False}
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
WORDS = st.sampled_from(["register-tools", "tool-result", "notifications/progress", "browser/updateTools", "x", "2.0"])
KEYS = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "type", "tools", "result", "error", "data", "success", "x"]
)
JSON = st.recursive(LEAF | WORDS, lambda each: st.lists(each, max_size=3) | st.dictionaries(KEYS, each, max_size=5))


@pytest.mark.parametrize("form", FORMS)
def test_what_a_proxy_writes_the_hub_reads(form: Form) -> None:
    browser = {"cacheSupported": True, "elicitation": False, "else": True}
    written = messages.tool_list([{"name": "a"}], form=form, first=True, url="https://a.example/", browser=browser)
    assert read_from_proxy(written) == ToolList(
        [{"name": "a"}], form, True, "https://a.example/", frozenset({"cacheSupported"})
    )
    assert read_from_proxy(messages.tool_list([], form=form, first=False)) == ToolList([], form, False)
    assert read_from_proxy(messages.answer("i", RESULT, form=form)) == ToolAnswer("i", RESULT)
    assert read_from_proxy(messages.answer("i", "no", form=form)) == ToolAnswer("i", None, "no")
    assert read_from_proxy(messages.progress("i", 1, 2.5, "on", form=form)) == ToolProgress("i", 1, 2.5, "on")
    assert read_from_proxy(messages.progress("i", 1, form=form)) == ToolProgress("i", 1)


@pytest.mark.parametrize("form", FORMS)
def test_what_the_hub_writes_a_proxy_reads(form: Form) -> None:
    assert read_from_hub(messages.execute("i", "add", {"a": 1}, form=form)) == ToolCall(
        "i", "add", {"a": 1}, False, form
    )
    assert read_from_hub(messages.execute("i", "add", {}, progress=True, form=form)) == ToolCall(
        "i", "add", {}, True, form
    )
    assert read_from_hub(messages.cancel("i", "why", form=form)) == CallCancelled("i", "why")
    assert read_from_hub(messages.refresh(form=form)) == RefreshRequest()


def test_the_forms_are_those_of_the_seed_and_of_the_extension() -> None:
    assert messages.execute("i", "add", {"a": 1}) == {
        "jsonrpc": "2.0",
        "id": "i",
        "method": "browser/executeTool",
        "params": {"toolName": "add", "args": {"a": 1}},
    }
    assert messages.execute("i", "add", {}, form="extension") == {
        "type": "execute-tool",
        "requestId": "i",
        "toolName": "add",
        "args": {},
    }
    assert messages.answer("i", RESULT) == {"jsonrpc": "2.0", "id": "i", "result": {"success": True, "payload": RESULT}}
    assert messages.answer("i", "no", form="extension") == {
        "type": "tool-result",
        "requestId": "i",
        "data": {"success": False, "payload": "no"},
    }
    assert messages.tool_list([], first=True, url="u") == {
        "jsonrpc": "2.0",
        "method": "browser/registerTools",
        "params": {"tools": [], "tabUrl": "u"},
    }
    assert messages.tool_list([], form="extension", first=False) == {"type": "tools-updated", "tools": []}


def test_a_call_without_arguments_has_none_and_one_without_id_or_name_is_ignored() -> None:
    assert read_from_hub({"type": "execute-tool", "requestId": "i", "toolName": "a"}) == ToolCall(
        "i", "a", form="extension"
    )
    for lacking in ({"requestId": "i"}, {"toolName": "a"}, {"requestId": "", "toolName": "a"}, {"requestId": 1}):
        assert read_from_hub({"type": "execute-tool", **lacking}) is None
    assert read_from_hub({"jsonrpc": "2.0", "id": None, "method": "browser/executeTool"}) is None


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
    assert read_from_proxy(message) is None


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
        read_from_proxy(message)


@pytest.mark.parametrize(
    "data", [None, {}, {"success": True}, {"success": True, "payload": "x"}, {"success": "yes"}, 1]
)
def test_an_answer_of_another_shape_is_a_failure_of_its_call(data: Any) -> None:
    read = read_from_proxy({"type": "tool-result", "requestId": "i", "data": data})
    assert isinstance(read, ToolAnswer)
    assert (read.id, read.result) == ("i", None)
    assert read.error


def test_an_error_of_json_rpc_is_a_failure() -> None:
    error = {"code": -32601, "message": "no"}
    assert read_from_proxy({"jsonrpc": "2.0", "id": "i", "error": error}) == ToolAnswer("i", None, "no")


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(JSON)
def test_whatever_comes_is_read_ignored_or_malformed(message: Any) -> None:
    read_from_hub(message)
    with contextlib.suppress(MalformedMessage):
        read_from_proxy(message)


@pytest.mark.parametrize("text", ["{", "nul", "[" * 200 + "]" * 200, '{"__proto__": 1}', '"\\ud800"', "NaN"])
def test_text_that_cannot_be_taken_is_an_error(text: str) -> None:
    with pytest.raises(MessageError):
        parse(text)
    with pytest.raises(MessageError):
        parse(f'{{"type": "tool-result", "requestId": "x", "data": {text}}}')
    assert parse(json.dumps(RESULT)) == RESULT
