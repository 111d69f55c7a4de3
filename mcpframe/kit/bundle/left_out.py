"""The packages that a bundle leaves out, although others require them: only a process with sockets can use them.

A package is left out only for the packages listed with it; if another one requires it, it is in the bundle.
`mcpframe.frame.compat` answers imports of it at module level. An author adds to this list with `leave_out` of
`[tool.mcpframe]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class LeftOut:
    """A package that is left out for some others.

    Attributes:
        name: The package.
        of: The packages that require it.
        reason: What they use it for.
        evidence: Their modules that import it.
    """

    name: str
    of: tuple[str, ...]
    reason: str
    evidence: str


_HTTP = "HTTP transports and authorization; a frame is served over messages"
_FASTMCP = ("fastmcp", "fastmcp-slim")

LEFT_OUT = (
    LeftOut("httpx2", ("mcp",), _HTTP, "mcp.client.streamable_http, mcp.client.auth, mcp.shared._httpx_utils"),
    LeftOut("httpx", ("mcp",), _HTTP, "mcp 1: mcp.client.sse, mcp.client.auth, mcp.shared._httpx_utils"),
    LeftOut("httpx-sse", ("mcp",), _HTTP, "mcp 1: mcp.client.sse, mcp.client.streamable_http"),
    LeftOut("pyjwt", ("mcp",), _HTTP, "mcp.client.auth.extensions"),
    LeftOut("python-multipart", ("mcp",), _HTTP, "starlette.formparsers, for mcp.server.auth"),
    LeftOut("sse-starlette", ("mcp",), _HTTP, "mcp.server.sse, mcp.server.streamable_http"),
    LeftOut("starlette", ("mcp",), _HTTP, "mcp.server.sse, mcp.server.streamable_http, mcp.server.auth"),
    LeftOut("uvicorn", ("mcp",), _HTTP, "the methods run_sse_async and run_streamable_http_async"),
    LeftOut("cryptography", ("mcp", "pyjwt"), "encrypted request state and tokens", "mcp.server.request_state"),
    LeftOut("typer", ("mcp",), "the command line `mcp`", "mcp.cli, which nothing else imports"),
    LeftOut("idna", ("anyio",), "names of hosts", "anyio._core._sockets"),
    LeftOut("rpds-py", ("jsonschema", "referencing"), "persistent maps, which a module of mcpframe has", "referencing"),
    LeftOut("authlib", _FASTMCP, "tokens of an HTTP server", "fastmcp.server.auth"),
    LeftOut("joserfc", (*_FASTMCP, "authlib"), "tokens of an HTTP server", "fastmcp.server.auth"),
    LeftOut("cryptography", (*_FASTMCP, "authlib", "joserfc"), "tokens of an HTTP server", "fastmcp.server.auth"),
    LeftOut("uvicorn", _FASTMCP, _HTTP, "fastmcp.server.mixins.transport"),
    LeftOut("starlette", _FASTMCP, _HTTP, "fastmcp.server.http"),
    LeftOut("websockets", _FASTMCP, "uvicorn's protocol", "no module imports it"),
    LeftOut("python-multipart", _FASTMCP, _HTTP, "starlette.formparsers"),
    LeftOut("watchfiles", _FASTMCP, "reload of a running process", "fastmcp.cli"),
    LeftOut("cyclopts", _FASTMCP, "the command line `fastmcp`", "fastmcp.cli"),
    LeftOut("pyperclip", _FASTMCP, "the command line `fastmcp`", "fastmcp.cli"),
    LeftOut("pyyaml", (*_FASTMCP, "jsonschema-path"), "settings and schemas in YAML files", "jsonschema_path.readers"),
    LeftOut("openapi-core", _FASTMCP, "no use of it in 2.11 and 2.12", "no module imports it"),
    LeftOut("openai", _FASTMCP, "an answer to sampling of its own", "2.12: fastmcp.experimental.sampling.handlers"),
    LeftOut("keyring", ("py-key-value-aio",), "the keyring of an operating system", "key_value.aio.stores.keyring"),
    LeftOut("aiofile", ("py-key-value-aio",), "files written by threads", "key_value.aio.stores.filetree"),
    LeftOut("burner-redis", ("pydocket",), "a queue of tasks between processes", "docket.docket"),
    LeftOut("lupa", ("fakeredis",), "scripts in Lua", "fakeredis.commands_mixins.scripting_mixin, inside try"),
)


def is_left_out(name: str, of: str, also: Iterable[str] = ()) -> bool:
    """Return whether a package is left out for one that requires it.

    Args:
        name: The package, normalized.
        of: The package that requires it, normalized.
        also: Packages that the author leaves out, whatever requires them.
    """
    return (name, of) in _PAIRS or name in {canonicalize_name(item) for item in also}


def modules_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the modules of packages whose wheels are not there, each with its package; by convention, or as known."""
    names = [canonicalize_name(package) for package in packages]
    return {_MODULES.get(name, name.replace("-", "_")): name for name in names}


_MODULES = {
    "beautifulsoup4": "bs4",
    "opencv-python": "cv2",
    "opencv-python-headless": "cv2",
    "pillow": "PIL",
    "psycopg2-binary": "psycopg2",
    "pycryptodome": "Crypto",
    "pygithub": "github",
    "pyjwt": "jwt",
    "pymupdf": "fitz",
    "python-dateutil": "dateutil",
    "python-dotenv": "dotenv",
    "python-magic": "magic",
    "pywin32": "win32api",
    "pyyaml": "yaml",
    "pyzmq": "zmq",
    "scikit-learn": "sklearn",
}
"""Top-level modules that are not named as their package is."""

_PAIRS = frozenset((entry.name, who) for entry in LEFT_OUT for who in entry.of)
