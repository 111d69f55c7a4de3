"""Checks of tools from a model's point of view: names, descriptions and schemas. No I/O."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jsonschema

from mcpframe.kit.bundle.assembly.client_rules import breaches
from mcpframe.kit.publish.bundle_checks.findings import Finding, error, warning


def check_tools(tools: Sequence[Mapping[str, Any]], server: str = "") -> Iterator[Finding]:
    """Check tools.

    Args:
        tools: As `tools/list` returns them.
        server: The name under which clients know the server; empty if it is unknown.
    """
    if not tools:
        yield warning("tools", "The server has no tool.", "Register one with @server.tool(), unless that is intended.")
    names = [tool["name"] for tool in tools]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield error(f"tool {name}", "Two tools have this name.", "Rename one of them.")
    for tool in tools:
        yield from check_tool(tool)
    for breach in breaches(tools, server):
        yield warning(f"tool {breach.tool}", f"It {breach.what}. {breach.rule.effect}", breach.rule.remedy)


def check_tool(tool: Mapping[str, Any]) -> Iterator[Finding]:
    subject = f"tool {tool['name']}"
    description = (tool.get("description") or "").strip()
    if not description:
        yield warning(
            subject,
            "It has no description, so a model has to guess what it does.",
            "Write a docstring, or set @server.tool(description=...).",
        )
    for kind, title in (("inputSchema", "arguments"), ("outputSchema", "result")):
        schema = tool.get(kind)
        if isinstance(schema, dict):
            yield from _schema(subject, schema, title)
    for name, described in (tool.get("inputSchema") or {}).get("properties", {}).items():
        if isinstance(described, dict) and not described.get("description"):
            yield warning(
                subject,
                f"Its argument {name!r} has no description.",
                "Annotate it: Annotated[type, Field(description=...)].",
            )


def _schema(subject: str, schema: dict[str, Any], title: str) -> Iterator[Finding]:
    try:
        jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator).check_schema(schema)
    except jsonschema.SchemaError as problem:
        yield error(subject, f"The schema of its {title} is invalid: {problem.message}.", "Correct the schema.")
        return
    if title == "arguments" and schema.get("type") != "object":
        yield error(subject, "The schema of its arguments is not of type object.", "Use named arguments.")
