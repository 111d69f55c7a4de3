"""Tools of pages: invalid ones are left out, and what passes is what every revision of MCP takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_types import methods

from mcpframe.hub.core.limits import PAGE_TOOLS
from mcpframe.hub.core.tools import TOOLS, Listed, is_cached, is_repeatable
from mcpframe.hub.core.tools import checked as checked_of

SCHEMA = {"type": "object"}
DEEP: dict[str, Any] = {"type": "object"}
for _ in range(40):
    DEEP = {"type": "object", "properties": {"a": DEEP}}
GOOD = {
    "name": "add",
    "title": "Add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}, "x-own": [None]},
    "outputSchema": SCHEMA,
    "annotations": {"cache": True, "readOnlyHint": False, "else": 1},
    "icons": [{"src": "data:image/png,", "sizes": ["1x1"]}],
    "_meta": {"a": None},
    "else": {"b": 1},
}


def checked(tools: list[Any], kind: Listed = TOOLS) -> tuple[Any, list[str]]:
    return checked_of(kind, tools, "https://shop.example/cart")


def test_what_passes_is_unchanged() -> None:
    assert checked([GOOD]) == ({"add": GOOD}, [])
    assert checked([]) == ({}, [])


HIDDEN = "".join(chr(0xE0000 + ord(each)) for each in "pay") + "\u2800\u3164\ufe01\u202e\x1b"


def test_texts_are_passed_on_without_what_nobody_sees() -> None:
    """On every path: titles and descriptions, and those within schemas."""

    def made(hidden: str) -> dict[str, Any]:
        text = f"A\u2764\ufe0f{hidden}b\nc"
        inner = {"type": "object", "title": text, "properties": {"title": {"description": text}}, "$comment": text}
        return {
            "name": "add",
            "title": text,
            "description": text,
            "inputSchema": inner,
            "outputSchema": inner,
            "annotations": {"title": text},
            "else": [{"description": text}],
        }

    valid, problems = checked([made(HIDDEN)])
    assert valid == {"add": made("")}
    assert problems == []


@pytest.mark.parametrize(
    "member",
    [
        {"name": f"a{HIDDEN}"},
        {"inputSchema": {"type": "object", "properties": {"a": {"enum": [f"a{HIDDEN}"]}}}},
        {"inputSchema": {"type": "object", "properties": {f"a{HIDDEN}": {}}}},
        {"inputSchema": {"type": "object", "properties": {"a": {"default": HIDDEN}}}},
        {"annotations": {"else": HIDDEN}},
        {"else": HIDDEN},
    ],
)
def test_a_tool_whose_values_have_what_nobody_sees_is_left_out(member: dict[str, Any]) -> None:
    valid, problems = checked([{**GOOD, **member}, {"name": "other", "inputSchema": SCHEMA}])
    assert list(valid) == ["other"]
    assert len(problems) == 1
    lines = {"enum": ["\n", "\r\n", "\t", "\u00a0"]}
    assert checked([{**GOOD, "inputSchema": {"type": "object", "properties": {"end": lines}}}])[1] == []


def test_icons_are_pictures_in_themselves_or_of_the_origin_of_the_page() -> None:
    own = ["data:image/png;base64,AA==", "DATA:image/svg+xml,x", "https://shop.example/a.png"]
    others = [
        *("javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "https://bank.example/a.png", "a.png"),
        *("http://shop.example/a.png", "https://shop.example.evil.example/", "https://shop.example@evil.example/", ""),
        *("blob:https://shop.example/x", "https://[", " javascript:alert(1)"),
    ]
    icons = [{"src": src} for src in [*others, *own]]
    valid, problems = checked([{**GOOD, "icons": icons}])
    assert valid["add"]["icons"] == icons[len(others) :]
    assert len(problems) == 1
    assert checked_of(TOOLS, [{**GOOD, "icons": icons}], None)[0]["add"]["icons"] == icons[len(others) :][:2]


@pytest.mark.parametrize(
    "tool",
    [
        None,
        "add",
        {"inputSchema": SCHEMA},
        {"name": "", "inputSchema": SCHEMA},
        {"name": 5, "inputSchema": SCHEMA},
        {"name": "n" * 300, "inputSchema": SCHEMA},
        {"name": "\ud800", "inputSchema": SCHEMA},
        {"name": "bad"},
        {"name": "bad", "inputSchema": None},
        {"name": "bad", "inputSchema": {"type": "string"}},
        {"name": "bad", "inputSchema": {}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": []}},
        {"name": "bad", "inputSchema": {"type": "object", "required": "a"}},
        {"name": "bad", "inputSchema": {"type": "object", "$schema": []}},
        {"name": "bad", "inputSchema": DEEP},
        {"name": "bad", "inputSchema": {"type": "object", "description": "x" * 70_000}},
        {"name": "bad", "inputSchema": {"type": "object", "__proto__": {}}},
        {"name": "bad", "inputSchema": SCHEMA, "outputSchema": True},
        {"name": "bad", "inputSchema": SCHEMA, "description": None},
        {"name": "bad", "inputSchema": SCHEMA, "title": {}},
        {"name": "bad", "inputSchema": SCHEMA, "annotations": []},
        {"name": "bad", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": "yes"}},
        {"name": "bad", "inputSchema": SCHEMA, "icons": [{"href": "x"}]},
        {"name": "bad", "inputSchema": SCHEMA, "_meta": 1},
        {"name": "bad", "inputSchema": SCHEMA, "execution": {"taskSupport": "maybe"}},
    ],
)
def test_an_invalid_tool_is_left_out_and_the_others_are_kept(tool: Any) -> None:
    valid, problems = checked([GOOD, tool, {"name": "other", "inputSchema": SCHEMA}])
    assert list(valid) == ["add", "other"]
    assert len(problems) == 1
    assert problems[0].isprintable()


@pytest.mark.parametrize("schema", [{"type": "array"}, {"anyOf": []}, {}])
def test_a_tool_loses_an_output_schema_that_is_none_of_an_object_and_it_is_said(schema: Any) -> None:
    valid, problems = checked([GOOD, {"name": "other", "inputSchema": SCHEMA, "outputSchema": schema}])
    assert valid["other"] == {"name": "other", "inputSchema": SCHEMA}
    assert valid["add"] == GOOD
    assert len(problems) == 1
    assert "outputSchema" in problems[0]


def test_of_two_with_one_name_the_first_is_taken() -> None:
    valid, problems = checked([GOOD, {"name": "add", "inputSchema": SCHEMA}])
    assert valid == {"add": GOOD}
    assert len(problems) == 1


def test_of_a_flood_some_are_taken() -> None:
    valid, problems = checked([{"name": f"t{number}", "inputSchema": SCHEMA} for number in range(10_000)])
    assert len(valid) == PAGE_TOOLS
    assert len(problems) == 1
    _, problems = checked([None] * 10_000)
    assert len(problems) <= PAGE_TOOLS


@pytest.mark.parametrize("annotations", [None, {}, {"cache": 1}, {"cache": "true"}, {"cache": False}])
def test_only_true_is_true(annotations: Any) -> None:
    tool = {"name": "a", "inputSchema": SCHEMA, "annotations": annotations}
    assert not is_cached(tool)
    assert not is_repeatable(tool)
    assert is_cached({**tool, "annotations": {"cache": True}})
    assert is_repeatable({**tool, "annotations": {"idempotentHint": True}})
    assert is_repeatable({**tool, "annotations": {"readOnlyHint": True}})


LEAF = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("object") | st.just("light")
JSON = st.recursive(
    LEAF, lambda each: st.lists(each, max_size=2) | st.dictionaries(st.text(max_size=5), each, max_size=2)
)
SCHEMAS = st.just(SCHEMA) | st.fixed_dictionaries(
    {"type": st.just("object") | JSON}, optional={"properties": JSON, "required": JSON, "$schema": JSON}
)
ANY_TOOL = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b"]) | JSON, "inputSchema": SCHEMAS | JSON},
    optional={
        "title": JSON,
        "description": JSON,
        "outputSchema": SCHEMAS | JSON,
        "annotations": st.dictionaries(st.sampled_from(["title", "readOnlyHint", "cache"]), JSON) | JSON,
        "icons": st.lists(st.dictionaries(st.sampled_from(["src", "mimeType", "sizes", "theme"]), JSON)) | JSON,
        "execution": st.dictionaries(st.just("taskSupport"), JSON) | JSON,
        "_meta": JSON,
        "else": JSON,
    },
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # the first run builds Hypothesis' tables
@given(st.lists(ANY_TOOL, max_size=4))
def test_what_passes_is_a_tool_in_every_revision(tools: list[Any]) -> None:
    valid, _ = checked(tools)
    listed = [{**tool, "name": "n"} for tool in valid.values()]
    for version in ("2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"):
        head = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        methods.validate_server_result("tools/list", version, {**head, "tools": listed})
