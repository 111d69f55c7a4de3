"""What the package fastmcp of 4.x needs in a frame besides its SDK: see `sdk.prepare`.

It imports parts of an HTTP server at module level, for transports and authorization that a frame has no use for, and so
do packages that it imports: placeholders answer all of them, early and late.
"""

from __future__ import annotations

import os
from typing import Any

MODULE = "fastmcp.server.server"
"""The module with its server."""
USERS = frozenset({"fastmcp", "key_value", "jsonschema_path", "openapi_pydantic"})
"""Whose imports placeholders answer."""

_HTTP = (
    "The parts of fastmcp for HTTP and authorization do not work in a browser frame, and serving the frame does not "
    "need them; if the server uses the package itself, add {0!r} to its requirements."
)
_PACKAGES = {
    "aiofile": "aiofile",
    "authlib": "authlib",
    "cryptography": "cryptography",
    "cyclopts": "cyclopts",
    "joserfc": "joserfc",
    "keyring": "keyring",
    "pyperclip": "pyperclip",
    "watchfiles": "watchfiles",
    "yaml": "pyyaml",
}
HINTS = {module: _HTTP.format(package) for module, package in _PACKAGES.items()}
"""What to do about each package that has placeholders, besides those of the SDK."""


def set_environment() -> None:
    """Set what it reads when it is imported: a page asks no index for updates, and shows no banner."""
    os.environ.setdefault("FASTMCP_CHECK_FOR_UPDATES", "off")
    os.environ.setdefault("FASTMCP_SHOW_SERVER_BANNER", "false")


async def list_tools(server: Any) -> list[Any]:
    """Return the tools of a server as the SDK has them."""
    return [tool.to_mcp_tool() for tool in await server.list_tools()]


async def serve_stdio(server: Any) -> None:
    """Serve what `stdio_server` reads and writes."""
    await server.run_stdio_async(show_banner=False)
