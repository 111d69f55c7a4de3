"""The packages that a build treats specially, by name: the only table of packages.

Three things are special: a package is left out of bundles although others require it, as only a process with sockets
can use it; its native part is optional; or bundles with it get a part of mcpframe. A package is left out only for the
packages listed with it; if another one requires it, it is in the bundle. An author leaves out more of them with
`leave_out` of `[tool.mcpframe]`. In a page `mcpframe.frame.compat.placeholders` answers imports of them, with the
sentences that `advice` writes into each bundle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class Use:
    """A use of a package without which it is left out.

    Attributes:
        of: The packages that require it.
        reason: Its purpose there.
        evidence: Their modules that import it, or packages of such modules; empty if none does.
    """

    of: tuple[str, ...]
    reason: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Special:
    """A special package.

    Attributes:
        name: Its name, normalized.
        module: Its top-level module, if that has another name.
        uses: The uses for which it is left out.
        no_use: The reason why it is left out whoever requires it; empty if it is not.
        advice: A sentence in the errors of a page that lacks it, before the general one.
        stand_in: Whether a module of mcpframe stands in for it.
        without_native: An expression that is true without its native part, if that is optional: its Python code does
            the same, only slower.
        feature: The feature of bundles with it; see `FEATURES`.
    """

    name: str
    module: str = ""
    uses: tuple[Use, ...] = ()
    no_use: str = ""
    advice: str = ""
    stand_in: bool = False
    without_native: str = ""
    feature: str = ""


_HTTP = "HTTP transports and authorization; a frame is served over messages"
_NO_HTTP = (
    "MCP's HTTP transports do not work in a page, which serves its host over messages: let a "
    "program serve on standard input and output (tool.mcpframe.args, tool.mcpframe.env)."
)
_NO_SECRETS = "Leave out request_state_security, or give it a codec= instead of keys=: a key in a page is no secret."
_TOKENS = "tokens of an HTTP server"
_MAPS = "persistent maps, which a module of mcpframe has"
_FORMS = "forms, for starlette.formparsers"
_MCP = ("mcp",)
_FASTMCP = ("fastmcp", "fastmcp-slim")
_AUTH = ("fastmcp.server.auth",)
_CLI = ("fastmcp.cli",)

SPECIAL = (
    Special(
        "aiofile", uses=(Use(("py-key-value-aio",), "files written by threads", ("key_value.aio.stores.filetree",)),)
    ),
    Special("aiohttp", feature="http"),
    Special("altair", feature="values"),
    Special("authlib", uses=(Use(_FASTMCP, _TOKENS, _AUTH),), advice=_NO_HTTP),
    Special("beautifulsoup4", "bs4"),
    Special(
        "burner-redis", uses=(Use(("pydocket",), "a queue of tasks between processes", ("docket._redis_memory",)),)
    ),
    Special(
        "cryptography",
        uses=(
            Use(_MCP, "encrypted request state", ("mcp.server.request_state",)),
            Use(("pyjwt",), "tokens", ("jwt.algorithms",)),
            Use(_FASTMCP, _TOKENS, _AUTH),
            Use(("authlib", "joserfc"), _TOKENS, ("authlib.jose", "joserfc")),
        ),
        advice=_NO_SECRETS,
    ),
    Special("cyclopts", uses=(Use(_FASTMCP, "the command line `fastmcp`", _CLI),)),
    Special("httptools", no_use="reads HTTP from the sockets of a server"),
    Special(
        "httpx",
        uses=(Use(_MCP, _HTTP, ("mcp.client", "mcp.shared._httpx_utils", "mcp.server.fastmcp.resources")),),
        advice=_NO_HTTP,
        feature="http",
    ),
    Special("httpx-sse", uses=(Use(_MCP, _HTTP, ("mcp.client.sse", "mcp.client.streamable_http")),), advice=_NO_HTTP),
    Special(
        "httpx2",
        uses=(Use(_MCP, _HTTP, ("mcp.client", "mcp.shared._httpx_utils", "mcp.server.mcpserver.resources")),),
        advice=_NO_HTTP,
        feature="http",
    ),
    Special("idna", uses=(Use(("anyio",), "names of hosts", ("anyio._core._sockets",)),)),
    Special(
        "joserfc",
        uses=(Use(_FASTMCP, _TOKENS, _AUTH), Use(("authlib",), _TOKENS, ("authlib.oauth2",))),
        advice=_NO_HTTP,
    ),
    Special(
        "keyring",
        uses=(Use(("py-key-value-aio",), "the keyring of an operating system", ("key_value.aio.stores.keyring",)),),
    ),
    # Within try.
    Special("lupa", uses=(Use(("fakeredis",), "scripts in Lua", ("fakeredis.commands_mixins.scripting_mixin",)),)),
    Special("markupsafe", without_native="__import__('markupsafe').escape('<') == '&lt;'"),
    Special("matplotlib", feature="values"),
    Special("msgpack", without_native="__import__('msgpack').unpackb(__import__('msgpack').packb([1])) == [1]"),
    Special("numpy", feature="values"),
    Special("openai", uses=(Use(_FASTMCP, "answers to sampling", ("fastmcp.experimental.sampling.handlers",)),)),
    Special("openapi-core", uses=(Use(_FASTMCP, "2.11 and 2.12 ask for it"),)),
    Special("opencv-python", "cv2"),
    Special("opencv-python-headless", "cv2"),
    Special("pandas", feature="values"),
    Special("pillow", "PIL", feature="values"),
    Special("plotly", feature="values"),
    Special("psycopg2-binary", "psycopg2"),
    Special("pycryptodome", "Crypto"),
    Special("pygithub", "github"),
    Special("pyjwt", "jwt", uses=(Use(_MCP, _HTTP, ("mcp.client.auth.extensions",)),), advice=_NO_HTTP),
    Special("pymupdf", "fitz"),
    Special("pyperclip", uses=(Use(_FASTMCP, "the command line `fastmcp`", _CLI),)),
    Special("python-dateutil", "dateutil"),
    Special("python-dotenv", "dotenv"),
    Special("python-magic", "magic"),
    Special("python-multipart", uses=(Use(_MCP, _FORMS), Use(_FASTMCP, _FORMS)), advice=_NO_HTTP),
    Special("pywin32", "win32api"),
    Special(
        "pyyaml",
        "yaml",
        uses=(
            Use(_FASTMCP, "files in YAML", ("fastmcp.cli", "fastmcp.server.providers.skills")),
            Use(("jsonschema-path",), "schemas in YAML files", ("jsonschema_path.handlers.file",)),
        ),
        without_native="__import__('yaml').safe_load('a: [1]') == {'a': [1]}",
    ),
    Special("pyzmq", "zmq"),
    Special(
        "rpds-py",
        "rpds",
        uses=(
            Use(("jsonschema",), _MAPS, ("jsonschema.validators",)),
            Use(("referencing",), _MAPS, ("referencing._core",)),
        ),
        stand_in=True,
    ),
    Special("ruff", no_use="is a program that checks code, required by mistake"),
    Special("scikit-learn", "sklearn"),
    Special("seaborn", feature="values"),
    Special(
        "sse-starlette",
        uses=(Use(_MCP, _HTTP, ("mcp.server.sse", "mcp.server.streamable_http")),),
        advice=_NO_HTTP,
    ),
    Special(
        "starlette",
        uses=(
            Use(_MCP, _HTTP, ("mcp.server.sse", "mcp.server.streamable_http", "mcp.server.auth")),
            Use(_FASTMCP, _HTTP, ("fastmcp.server.http",)),
        ),
        advice=_NO_HTTP,
    ),
    Special("typer", uses=(Use(_MCP, "the command line `mcp`", ("mcp.cli",)),)),
    Special("urllib3", feature="http"),
    Special(
        "uvicorn",
        uses=(
            # In the methods run_sse_async and run_streamable_http_async.
            Use(_MCP, _HTTP, ("mcp.server.mcpserver.server", "mcp.server.fastmcp.server")),
            Use(_FASTMCP, _HTTP, ("fastmcp.server.mixins.transport", "fastmcp.client.auth")),
        ),
        advice=_NO_HTTP,
    ),
    Special("uvloop", no_use="is an event loop on sockets, and a page has its own"),
    Special("watchfiles", uses=(Use(_FASTMCP, "reload of a running process", _CLI),)),
    Special("websockets", uses=(Use(_FASTMCP, "uvicorn's protocol"),), advice=_NO_HTTP),
)

OPTIONAL_NATIVE = frozenset(item.name for item in SPECIAL if item.without_native)
"""The packages whose native part is optional."""
USERS = frozenset(who for item in SPECIAL for use in item.uses for who in use.of)
"""The packages that something is left out for."""
_SERVER = "server"  # the author's requirements, in a lock
_PAIRS = frozenset((item.name, who) for item in SPECIAL for use in item.uses for who in use.of)
_OF_NO_USE = frozenset(item.name for item in SPECIAL if item.no_use)
_MODULES = {item.name: item.module for item in SPECIAL if item.module}


def with_feature(feature: str) -> frozenset[str]:
    """Return the packages whose bundles have a feature."""
    return frozenset(item.name for item in SPECIAL if item.feature == feature)


def is_left_out(name: str, of: str, also: Iterable[str] = ()) -> bool:
    """Return whether a package is left out for one that requires it.

    Args:
        name: The package, normalized.
        of: The package that requires it, normalized.
        also: Packages that the author leaves out, whatever requires them.
    """
    return (
        (name, of) in _PAIRS
        or (name in _OF_NO_USE and of != _SERVER)
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


def advice(features: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the packages with placeholders in a page, and what their errors advise, by module.

    Args:
        features: The features of the bundle. A server that was written for a process may import any of them.
    """
    all_of_them = not THIRD_PARTY.isdisjoint(features)
    return {
        module: (item.name, item.advice)
        for item in SPECIAL
        if (item.uses or item.no_use) and not item.stand_in
        if all_of_them or any(use.of == _MCP for use in item.uses)
        for module in modules_of([item.name])
    }


THIRD_PARTY = frozenset({"fastmcp", "mcp1", "program"})
"""The features of servers that were not written for mcpframe: placeholders answer the imports of all their modules."""
