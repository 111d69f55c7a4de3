"""The packages that a bundle leaves out, although others require them: only a process with sockets can use them.

A package is left out only for the packages listed with it; if another one requires it, it is in the bundle.
`mcpframe.frame.compat` answers imports of it at module level. An author adds to this list with `leave_out` of
`[tool.mcpframe]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from mcpframe.kit.bundle.packages.lock import SERVER


@dataclass(frozen=True)
class LeftOut:
    """A package that is left out for some others.

    Attributes:
        name: The package.
        of: The packages that require it.
        reason: Its purpose there.
        evidence: Their modules that import it, or packages of such modules; empty if none does.
    """

    name: str
    of: tuple[str, ...]
    reason: str
    evidence: tuple[str, ...]


_HTTP = "HTTP transports and authorization; a frame is served over messages"
_FASTMCP = ("fastmcp", "fastmcp-slim")

_AUTH = ("fastmcp.server.auth",)
_CLI = ("fastmcp.cli",)

LEFT_OUT = (
    LeftOut("httpx2", ("mcp",), _HTTP, ("mcp.client", "mcp.shared._httpx_utils", "mcp.server.mcpserver.resources")),
    LeftOut("httpx", ("mcp",), _HTTP, ("mcp.client", "mcp.shared._httpx_utils", "mcp.server.fastmcp.resources")),
    LeftOut("httpx-sse", ("mcp",), _HTTP, ("mcp.client.sse", "mcp.client.streamable_http")),
    LeftOut("pyjwt", ("mcp",), _HTTP, ("mcp.client.auth.extensions",)),
    LeftOut("python-multipart", ("mcp",), "forms, for starlette.formparsers", ()),
    LeftOut("sse-starlette", ("mcp",), _HTTP, ("mcp.server.sse", "mcp.server.streamable_http")),
    LeftOut("starlette", ("mcp",), _HTTP, ("mcp.server.sse", "mcp.server.streamable_http", "mcp.server.auth")),
    # In the methods run_sse_async and run_streamable_http_async.
    LeftOut("uvicorn", ("mcp",), _HTTP, ("mcp.server.mcpserver.server", "mcp.server.fastmcp.server")),
    LeftOut("cryptography", ("mcp",), "encrypted request state", ("mcp.server.request_state",)),
    LeftOut("cryptography", ("pyjwt",), "tokens", ("jwt.algorithms",)),
    LeftOut("typer", ("mcp",), "the command line `mcp`", ("mcp.cli",)),
    LeftOut("idna", ("anyio",), "names of hosts", ("anyio._core._sockets",)),
    LeftOut("rpds-py", ("jsonschema",), "persistent maps, which a module of mcpframe has", ("jsonschema.validators",)),
    LeftOut("rpds-py", ("referencing",), "persistent maps, which a module of mcpframe has", ("referencing._core",)),
    LeftOut("authlib", _FASTMCP, "tokens of an HTTP server", _AUTH),
    LeftOut("joserfc", _FASTMCP, "tokens of an HTTP server", _AUTH),
    LeftOut("joserfc", ("authlib",), "tokens of an HTTP server", ("authlib.oauth2",)),
    LeftOut("cryptography", _FASTMCP, "tokens of an HTTP server", _AUTH),
    LeftOut("cryptography", ("authlib", "joserfc"), "tokens of an HTTP server", ("authlib.jose", "joserfc")),
    LeftOut("uvicorn", _FASTMCP, _HTTP, ("fastmcp.server.mixins.transport", "fastmcp.client.auth")),
    LeftOut("starlette", _FASTMCP, _HTTP, ("fastmcp.server.http",)),
    LeftOut("websockets", _FASTMCP, "uvicorn's protocol", ()),
    LeftOut("python-multipart", _FASTMCP, "forms, for starlette.formparsers", ()),
    LeftOut("watchfiles", _FASTMCP, "reload of a running process", _CLI),
    LeftOut("cyclopts", _FASTMCP, "the command line `fastmcp`", _CLI),
    LeftOut("pyperclip", _FASTMCP, "the command line `fastmcp`", _CLI),
    LeftOut("pyyaml", _FASTMCP, "files in YAML", ("fastmcp.cli", "fastmcp.server.providers.skills")),
    LeftOut("pyyaml", ("jsonschema-path",), "schemas in YAML files", ("jsonschema_path.handlers.file",)),
    LeftOut("keyring", ("py-key-value-aio",), "the keyring of an operating system", ("key_value.aio.stores.keyring",)),
    LeftOut("aiofile", ("py-key-value-aio",), "files written by threads", ("key_value.aio.stores.filetree",)),
    LeftOut("burner-redis", ("pydocket",), "a queue of tasks between processes", ("docket._redis_memory",)),
    # Within try.
    LeftOut("lupa", ("fakeredis",), "scripts in Lua", ("fakeredis.commands_mixins.scripting_mixin",)),
    LeftOut("openapi-core", _FASTMCP, "2.11 and 2.12 ask for it", ()),
    LeftOut("openai", _FASTMCP, "answers to sampling", ("fastmcp.experimental.sampling.handlers",)),
)


OF_NO_USE = {
    "ruff": "is a program that checks code, required by mistake",
    "httptools": "reads HTTP from the sockets of a server",
    "uvloop": "is an event loop on sockets, and a page has its own",
}
"""The packages left out for every package that requires them, and the reasons."""


def is_left_out(name: str, of: str, also: Iterable[str] = ()) -> bool:
    """Return whether a package is left out for one that requires it.

    Args:
        name: The package, normalized.
        of: The package that requires it, normalized.
        also: Packages that the author leaves out, whatever requires them.
    """
    return (
        (name, of) in _PAIRS
        or (name in OF_NO_USE and of != SERVER)
        or name in {canonicalize_name(item) for item in also}
    )


def modules_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the modules of packages without their wheels, each with its package; by convention, or as known."""
    names = [canonicalize_name(package) for package in packages]
    return {_MODULES.get(name, name.replace("-", "_")): name for name in names}


def package_of(module: str) -> str:
    """Return the package of a top-level module, normalized; by convention, or as known."""
    known = (name for name, usual in _MODULES.items() if usual == module)
    return next(known, canonicalize_name(module))


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
    "rpds-py": "rpds",
    "scikit-learn": "sklearn",
}
"""Top-level modules with other names than their packages."""

_PAIRS = frozenset((entry.name, who) for entry in LEFT_OUT for who in entry.of)
