"""Known failures of clients: each rule, and the warnings."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mcpframe.kit.bundle.assembly.client_rules import CLIENT_RULES, beside_note, breaches, client_warnings

OBJECT = {"type": "object", "properties": {}}
GOOD: dict[str, Any] = {"name": "add", "description": "Add.", "inputSchema": OBJECT, "outputSchema": OBJECT}
VIEW = {"_meta": {"ui": {"resourceUri": "ui://a/b"}}}
REFERRING = {"type": "object", "properties": {"a": {"items": [{"$ref": "#/$defs/A"}]}}, "$defs": {"A": OBJECT}}


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({}, []),
        ({"name": "a" * 64}, []),
        ({"name": "a" * 65}, ["name"]),
        ({"name": "files.read"}, ["name"]),
        ({"name": "add\n"}, ["name"]),
        ({"description": "x" * 2048}, []),
        ({"description": "x" * 2049}, ["description"]),
        ({"description": None}, []),
        ({"inputSchema": REFERRING}, ["references"]),
        ({"outputSchema": REFERRING}, ["references"]),
        ({"inputSchema": {"type": "object", "properties": {"$ref": {"type": "string"}}}}, []),
        ({"inputSchema": {**OBJECT, "anyOf": [{"required": ["a"]}]}}, ["combined arguments"]),
        ({"inputSchema": {"type": "object", "properties": {"a": {"anyOf": [OBJECT]}}}}, []),
        ({"outputSchema": {"type": "array"}}, ["root of the result"]),
        ({"outputSchema": {"$ref": "#/$defs/A", "$defs": {"A": OBJECT}}}, ["references", "root of the result"]),
        ({"outputSchema": {**OBJECT, "anyOf": [OBJECT]}}, []),
        ({"outputSchema": {**OBJECT, "anyOf": [OBJECT]}, **VIEW}, ["anyOf beside a view"]),
        ({"outputSchema": None}, []),
        ({**VIEW}, []),
    ],
)
def test_rules(change: dict[str, Any], rules: list[str]) -> None:
    assert [breach.rule.name for breach in breaches([{**GOOD, **change}])] == rules


def test_a_view_of_another_tool_counts() -> None:
    tools = [{**GOOD, "outputSchema": {**OBJECT, "anyOf": [OBJECT]}}, {**GOOD, **VIEW, "name": "show"}]
    assert [(breach.tool, breach.rule.name) for breach in breaches(tools)] == [("add", "anyOf beside a view")]


@pytest.mark.parametrize(("server", "count"), [("", 0), ("s" * 19, 0), ("s" * 20, 1)])
def test_the_servers_name_counts(server: str, count: int) -> None:
    assert len(list(breaches([{**GOOD, "name": "a" * 40}], server))) == count


def test_one_warning_for_each_rule_names_the_tools() -> None:
    tools = [{**GOOD, "name": f"t{number}", "inputSchema": REFERRING} for number in range(7)]
    [warning] = client_warnings(tools)
    assert "'t0', 't1', 't2', 't3', 't4' and 2 more" in warning
    assert "inline_schemas=True" in warning
    [warning] = client_warnings(tools[:1])
    assert warning.startswith("The tool 't0' has references ($ref) in the schema of its arguments. ")
    assert client_warnings([GOOD]) == []


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        ([], None),
        ([{"type": "text", "text": '{"rows": ["x", 2]}'}], None),
        ([{"type": "text", "text": "x"}, {"type": "text", "text": "2"}], None),
        ([{"type": "text", "text": "Two rows"}], "(text)"),
        ([{"type": "image", "data": ""}, {"type": "text", "text": "x"}], "(image)"),
    ],
)
def test_content_beside_data(content: list[dict[str, Any]], kinds: str | None) -> None:
    note = beside_note("add", {"content": content, "structuredContent": {"rows": ["x", 2]}})
    assert (kinds in note) if kinds else note == ""
    assert beside_note("add", {"content": content}) == ""


def test_text_and_schemas_may_be_nested_at_will() -> None:
    content = [{"type": "text", "text": "[" * 100_000}]
    assert "(text)" in beside_note("add", {"content": content, "structuredContent": {"rows": []}})
    schema: dict[str, Any] = {"$ref": "#/$defs/A"}
    for _ in range(100_000):
        schema = {"items": schema}
    assert [breach.rule.name for breach in breaches([{**GOOD, "inputSchema": schema}])] == ["references"]
    while schema:  # else its end would recurse as deep
        schema = schema.pop("items", {})


def test_each_report_has_a_source_and_a_day() -> None:
    for rule in CLIENT_RULES:
        assert rule.reports, rule.name
        days = [report.date for report in rule.reports]
        assert days == sorted(days, reverse=True), rule.name
        for report in rule.reports:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", report.source), report
            assert re.fullmatch(r"202\d-[01]\d-[0-3]\d", report.date), report
