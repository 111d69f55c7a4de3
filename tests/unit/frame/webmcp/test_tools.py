"""Names, definitions, origins and arguments of tools in WebMCP."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mcpframe.frame.core.allowed_origins import AllowedOrigins
from mcpframe.frame.dialects.webmcp.tools import argument_problem, definitions, exposed_to

HOST = "https://host.example"


def test_allowed_names_stay_and_others_get_one_by_a_table() -> None:
    noted: list[str] = []
    names = ["a b", "a_b", "a.b-c", "a/b", "é" * 200, "x" * 128, "x" * 129, ""]
    made = definitions([{"name": name} for name in names], noted.append)
    assert {own for own, _ in made.values()} == set(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", name) for name in made)
    assert made["a_b"][0] == "a_b"
    assert [made[name][0] for name in ("a_b_2", "a_b_3")] == ["a b", "a/b"]
    assert len(noted) == 5


def test_what_a_definition_has() -> None:
    schema = {"type": "object", "properties": {}}
    hints = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}
    tool = {"name": "t", "title": "T", "description": "D", "inputSchema": schema, "annotations": hints, "_meta": {}}
    [(_, made)] = definitions([tool], print).values()
    assert made == {
        "name": "t",
        "title": "T",
        "description": "D",
        "inputSchema": schema,
        "annotations": {**hints, "consequentialHint": True, "untrustedContentHint": True},
    }
    assert hints == {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


@pytest.mark.parametrize(
    ("tool", "description"),
    [({"name": "t"}, "t"), ({"name": "t", "title": "T"}, "T"), ({"name": "t", "description": ""}, "t")],
)
def test_a_definition_is_never_without_a_description(tool: Any, description: str) -> None:
    [(_, made)] = definitions([tool], print).values()
    assert made["description"] == description


def test_what_is_no_tool_is_left_out() -> None:
    assert definitions([{}, {"name": 7}, {"name": None}], print) == {}


@pytest.mark.parametrize(
    ("exact", "anyone", "embedder", "exposed"),
    [
        ([HOST, "http://localhost:8000", "http://a.localhost", "http://127.0.0.1:1", "http://[::1]"], False, "", 5),
        (["chrome-extension://abc"], False, "", 1),
        (["http://host.example", "http://localhost.example", "http://127.0.0.1.example", "ftp://a"], False, "", 0),
        ([], True, HOST, 1),
        ([], True, "", 0),
        ([], True, "null", 0),
        ([], True, "http://host.example", 0),
        ([], False, HOST, 0),
    ],
)
def test_whom_tools_are_exposed_to(exact: list[str], anyone: bool, embedder: str, exposed: int) -> None:
    found = exposed_to(AllowedOrigins(frozenset(exact), anyone, opaque=True), embedder)
    assert len(found) == exposed
    assert not {"*", "null"} & set(found)
    assert found == sorted({*exact, embedder} & set(found))


def test_nobody_is_nobody() -> None:
    assert exposed_to(None, HOST) == []


SCHEMA = {
    "required": ["a"],
    "properties": {
        "a": {"type": "integer"},
        "s": {"type": "string"},
        "l": {"type": ["array", "null"]},
        "o": {"type": "object"},
        "any": {"anyOf": [{"type": "string"}]},
        "odd": {"type": "file"},
        "bad": True,
    },
}


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"a": 1}, None),
        ({"a": "1", "s": "", "l": None, "o": {}, "any": 7, "odd": 7, "bad": 7, "more": 7}, None),
        ({"a": 1.0, "l": []}, None),
        ({}, "'a'"),
        ({"a": None}, "'a'"),
        ({"a": []}, "'a'"),
        ({"a": 1, "s": 1}, "'s'"),
        ({"a": 1, "l": {}}, "'l'"),
        ({"a": 1, "o": True}, "'o'"),
        ([], "array"),
        ("text", "string"),
        (None, "null"),
    ],
)
def test_what_is_wrong_with_arguments(arguments: Any, field: str | None) -> None:
    problem = argument_problem(SCHEMA, arguments)
    assert (problem is None) if field is None else (problem is not None and field in problem)


@pytest.mark.parametrize("schema", [{}, {"required": "a"}, {"required": 7, "properties": []}, {"properties": {"a": 1}}])
def test_a_schema_of_any_shape_does_no_harm(schema: Any) -> None:
    assert argument_problem(schema, {"a": 1}) is None
