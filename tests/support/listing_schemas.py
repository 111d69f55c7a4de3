"""Our own schemas of the members of listings that mcpframe writes.

They follow the published schemas, which no package carries. They are stricter than these: they know no member that is
not written. The published `server.schema.json` of 2025-12-11 and the card's `schema.json` of `v1` were read line by
line on 29 November 2026: whatever these schemas accept, the published ones accept. `server.json` is the MCP Registry's
of 2025-12-11 (`docs/reference/server-json` of modelcontextprotocol/registry); the card is SEP-2127's of `v1`
(`schema.json` of modelcontextprotocol/experimental-ext-server-card); the catalog is the AI Catalog 1.0
(`specification/ai-catalog.md` of Agent-Card/ai-catalog).
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_FORMATS = "https://static.modelcontextprotocol.io/schemas/"
_HTTPS: Schema = {"type": "string", "format": "uri", "pattern": "^https://"}


def _closed(required: dict[str, Schema], **optional: Schema) -> Schema:
    """Return the schema of an object without other members."""
    properties = {**required, **optional}
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


_DESCRIBED: dict[str, Schema] = {
    "name": {"type": "string", "minLength": 3, "maxLength": 200, "pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
    "title": {"type": "string", "minLength": 1, "maxLength": 100},
    "description": {"type": "string", "minLength": 1, "maxLength": 100},
    "version": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "pattern": "^[^^~<>=*]+$",
        "not": {"const": "latest"},
    },
    "websiteUrl": _HTTPS,
}
_REMOTE = _closed({"type": {"const": "streamable-http"}, "url": _HTTPS})
_PACKAGE: Schema = {
    **_closed(
        {
            "registryType": {"enum": ["pypi", "npm", "mcpb"]},
            "identifier": {"type": "string", "minLength": 1},
            "transport": _closed({"type": {"const": "stdio"}}),
        },
        version={"type": "string", "minLength": 1, "not": {"const": "latest"}},
        runtimeHint={"enum": ["uvx", "npx"]},
        fileSha256={"type": "string", "pattern": "^[a-f0-9]{64}$"},
    ),
    # The registry refuses a version beside an address, which has it.
    "if": {"properties": {"registryType": {"const": "mcpb"}}},
    "then": {"required": ["fileSha256"], "not": {"required": ["version"]}},
    "else": {"required": ["version"]},
}

SERVER_JSON: Schema = {
    **_closed(
        {
            "$schema": {"const": f"{_FORMATS}2025-12-11/server.schema.json"},
            **_DESCRIBED,
            "_meta": _closed({"io.modelcontextprotocol.registry/publisher-provided": {"type": "object"}}),
        },
        packages={"type": "array", "minItems": 1, "items": _PACKAGE},
        remotes={"type": "array", "minItems": 1, "items": _REMOTE},
    ),
    "anyOf": [{"required": ["packages"]}, {"required": ["remotes"]}],
}

SERVER_CARD = _closed(
    {
        "$schema": {"const": f"{_FORMATS}v1/server-card.schema.json"},
        **_DESCRIBED,
        "remotes": {"type": "array", "minItems": 1, "items": _REMOTE},
        "_meta": {"type": "object", "propertyNames": {"pattern": "^[a-z][a-z0-9.-]*/[a-zA-Z0-9._-]+$"}},
    }
)

AI_CATALOG = _closed(
    {
        "specVersion": {"const": "1.0"},
        "entries": {
            "type": "array",
            "items": _closed(
                {
                    "identifier": {"type": "string", "pattern": r"^urn:air:[a-z0-9.-]+(:[\w.-]+)+$"},
                    "type": {"const": "application/mcp-server-card+json"},
                    "url": {**_HTTPS, "pattern": "^https://.*/server-card$"},
                }
            ),
        },
    }
)
