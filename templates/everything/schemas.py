"""Tools with input schemas that contain more than types."""

from typing import Annotated, Any

from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from mcpframe import FrameServer

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def json_schema_2020_12_tool(
    name: str = "",
    address: dict[str, str] | None = None,
    contactMethod: str = "",  # noqa: N803  (the suite's name)
    phone: str = "",
    email: str = "",
) -> str:
    """Take an address, checked by a schema with all of JSON Schema 2020-12."""
    return f"{name or 'Somebody'} is at {(address or {}).get('city', 'home')}: {phone or email}"


def json_schema_tool() -> Tool:
    """A tool with an explicit schema, instead of the one derived from its parameters."""
    return Tool.from_function(json_schema_2020_12_tool).model_copy(update={"parameters": SCHEMA})


def test_x_mcp_header(
    region: Annotated[str, Field(description="Where to ask", json_schema_extra={"x-mcp-header": "Region"})],
    query: Annotated[str, Field(description="What to ask")] = "",  # noqa: PT028  (a tool)
) -> str:
    """Take an argument that HTTP clients repeat in a header, for what stands between them and the server."""
    return f"{query or 'Nothing'} was asked in {region}."


def register(server: FrameServer) -> None:
    """Add the tool whose schema is derived from its parameters."""
    server.add_tool(test_x_mcp_header)
