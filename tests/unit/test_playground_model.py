"""The playground's talk with models, in Node. Whole: tests/browser/test_playground_model.py."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.test_playground_files import results

PICTURE = {"type": "image", "mimeType": "image/png", "data": "iVBOR"}
RESULTS = [
    {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
    {"content": [], "structuredContent": {"pi": 3}},
    {"content": [{"type": "text", "text": "no"}], "isError": True},
    {"content": [PICTURE]},
]


def test_names_are_what_both_forms_allow_and_lead_back_to_the_servers() -> None:
    names = ["add", "files/read", "files.read", "x" * 70, "x" * 80, "é", "ü"]
    [found] = results(("namesOf", names))
    own = [name for name, _ in found["value"]]
    assert own == ["add", "files_read", "files_read_2", "x" * 64, "x" * 62 + "_2", "_", "__2"]
    assert [name for _, name in found["value"]] == names


def test_a_schema_is_an_object_without_alternatives_at_its_root() -> None:
    schema = {"$schema": "https://…", "anyOf": [{}], "properties": {"a": {"anyOf": [{}, {}]}}, "required": ["a"]}
    some, nothing = results(("schemaFor", schema), ("schemaFor", None))
    assert some["value"] == {"type": "object", "properties": {"a": {"anyOf": [{}, {}]}}, "required": ["a"]}
    assert nothing["value"] == {"type": "object", "properties": {}}


def test_results_for_chat_completions() -> None:
    [found] = results(("given", {"form": "chat", "results": RESULTS}))
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBOR"}}
    assert found["value"] == [
        {"role": "tool", "tool_call_id": "call-0", "content": "one\ntwo"},
        {"role": "tool", "tool_call_id": "call-1", "content": '{"pi":3}'},
        {"role": "tool", "tool_call_id": "call-2", "content": "Error: no"},
        {"role": "tool", "tool_call_id": "call-3", "content": ""},
        {"role": "user", "content": [{"type": "text", "text": "The pictures of these results:"}, picture]},
    ]


def test_results_for_messages() -> None:
    [found] = results(("given", {"form": "messages", "results": RESULTS}))
    [turn] = found["value"]
    source = {"type": "base64", "media_type": "image/png", "data": "iVBOR"}
    shown = [(each["tool_use_id"], each["is_error"], each["content"]) for each in turn["content"]]
    assert turn["role"] == "user"
    assert shown == [
        ("call-0", False, [{"type": "text", "text": "one\ntwo"}]),
        ("call-1", False, [{"type": "text", "text": '{"pi":3}'}]),
        ("call-2", True, [{"type": "text", "text": "no"}]),
        ("call-3", False, [{"type": "image", "source": source}]),
    ]


def chat(message: Any) -> tuple[str, Any]:
    return "modelRead", {"form": "chat", "answer": {"choices": [{"message": message}]}}


def messages(content: Any) -> tuple[str, Any]:
    return "modelRead", {"form": "messages", "answer": {"content": content}}


def test_answers_and_their_calls() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    use = {"type": "tool_use", "id": "1", "name": "add", "input": {"a": 1}}
    found = results(
        chat({"content": None, "tool_calls": [call]}),
        messages([{"type": "text", "text": "Well."}, use, {"type": "thinking", "thinking": "…"}]),
        chat({"content": "3"}),
    )
    calls = [{"id": "1", "name": "add", "args": {"a": 1}}]
    assert [each["value"] for each in found] == [
        {"text": "", "calls": calls},
        {"text": "Well.", "calls": calls},
        {"text": "3", "calls": []},
    ]


@pytest.mark.parametrize(
    "answer",
    [
        chat(None),
        chat({"tool_calls": [{"id": "1", "function": {"name": "add", "arguments": "[1]"}}]}),
        chat({"tool_calls": [{"id": "1", "function": {"name": "add", "arguments": "{"}}]}),
        messages(None),
        messages([{"type": "tool_use", "id": "1", "name": "add", "input": "text"}]),
    ],
)
def test_an_answer_of_another_shape_is_an_error(answer: tuple[str, Any]) -> None:
    [found] = results(answer)
    assert "error" in found
