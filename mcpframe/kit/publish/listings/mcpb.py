"""A `.mcpb` of the type `uv`: an archive that Claude Desktop installs with a click, and that runs the bridge.

It has no code of the server, which stays on its page: a manifest (MCPB 0.4), a project that pins mcpframe, and three
lines that start the bridge. The host installs the project with uv.
"""

from __future__ import annotations

import json
from importlib.metadata import version as installed_version
from typing import Any

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.pyodide.archive import pack
from mcpframe.kit.publish.listings.listing import Listing

_FORMAT = "0.4"
"""The first version that has the type `uv`."""
_PYTHON = "3.13"
"""Without a pinned one, uv may choose an interpreter for which a dependency has no wheel."""
_LONGEST_TOOL_TEXT = 500

_MAIN = '''"""Starts the bridge to {title}."""

import runpy
import sys

sys.argv[1:] = ["bridge", {page}]
runpy.run_module("mcpframe", run_name="__main__")
'''

_PROJECT = """[project]
name = "{name}"
version = "0"
requires-python = ">=3.11"
dependencies = ["mcpframe=={version}"]
"""


def mcpb(listing: Listing, author: str) -> bytes:
    """Return a `.mcpb` that runs a server through the bridge.

    Args:
        author: The name of its author, which the format requires.

    Raises:
        ConfigError: There is no author.
    """
    if not author.strip():
        raise ConfigError("A .mcpb names its author: give --author.")
    files = {
        "manifest.json": json.dumps(_manifest(listing, author), indent=2, ensure_ascii=False) + "\n",
        "main.py": _MAIN.format(title=_quotable(listing.title), page=repr(listing.page)),
        "pyproject.toml": _PROJECT.format(name=f"mcpb-{listing.slug}", version=installed_version("mcpframe")),
        ".python-version": f"{_PYTHON}\n",
    }
    return pack({path: text.encode() for path, text in files.items()}, compressed=True)


def file_name(listing: Listing) -> str:
    """Return the name of the archive's file."""
    return f"{listing.slug}.mcpb"


def _manifest(listing: Listing, author: str) -> dict[str, Any]:
    tools = {} if listing.tools is None else {"tools": [_tool(dict(tool)) for tool in listing.tools]}
    return {
        "manifest_version": _FORMAT,
        "name": listing.slug,
        "display_name": listing.title,
        "version": listing.version,
        "description": listing.description,
        "author": {"name": author},
        "homepage": listing.page,
        "server": {
            "type": "uv",
            "entry_point": "main.py",
            # `mcpb validate` refuses a manifest without it, though its documentation calls it optional.
            "mcp_config": {"command": "uv", "args": ["run", "--directory", "${__dirname}", "main.py"]},
        },
        **(tools or {"tools_generated": True}),
        "compatibility": {"platforms": ["darwin", "linux", "win32"]},  # where the bridge runs
    }


def _tool(tool: dict[str, str]) -> dict[str, str]:
    if text := tool.get("description"):
        tool["description"] = " ".join(text.split())[:_LONGEST_TOOL_TEXT]
    return tool


def _quotable(title: str) -> str:
    """Return a title of one line for a docstring, which it cannot end."""
    return title.replace("\\", "/").replace('"', "'")
