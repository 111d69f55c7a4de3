"""Options and checks shared by several commands. Wrong usage is an error of one line, with exit status 2."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from mcpframe.kit.base.terminal import visible

if TYPE_CHECKING:
    from mcpframe.kit.edges.http.access import Access

_HIGHEST_PORT = 65535
_LONGEST_NAME = 200
_LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST_NAME = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")


def _is_port(value: int | list[int] | None) -> int | list[int] | None:
    for port in value if isinstance(value, list) else [value or 0]:
        if not 0 <= port <= _HIGHEST_PORT:
            raise typer.BadParameter(f"{port} is not a port: use 1 to {_HIGHEST_PORT}, or 0.")
    return value


def _is_duration(value: float) -> float:
    from mcpframe.kit.project.pyproject import MOST_SECONDS

    if not 1 <= value <= MOST_SECONDS:  # also false for NaN
        raise typer.BadParameter(f"{value:g} is not a number of seconds: use 1 to {MOST_SECONDS}, 23 days.")
    return value


def is_pause(value: float) -> float:
    """Return a number of seconds, 0 for no limit, or raise `typer.BadParameter`."""
    return value if value == 0 else _is_duration(value)


def is_site(values: list[str] | None) -> list[str]:
    """Return a list of origins; raise `typer.BadParameter` if one of them can never match."""
    from mcpframe.frame.core.allowed_origins import parse_allowed_origins
    from mcpframe.frame.core.errors import OriginError

    try:
        if values:
            parse_allowed_origins(values)
        return values or []
    except OriginError as error:
        raise typer.BadParameter(str(error)) from None


def is_host_name(values: list[str] | None) -> list[str]:
    """Return a list of host names; raise `typer.BadParameter` for a value that is none."""
    for value in values or ():
        if not _HOST_NAME.fullmatch(value):
            raise typer.BadParameter(f"{value[:80]!r} is not a host name, such as proxy.example.")
    return values or []


def is_dialect(value: str | None) -> str | None:
    """Return the name of a dialect in which a page can be framed, or raise `typer.BadParameter`."""
    from mcpframe.frame.core.errors import StateError
    from mcpframe.frame.dialects.complete import outer_dialect

    try:
        return None if value is None else outer_dialect(value).name
    except StateError as error:
        raise typer.BadParameter(str(error)) from None


def is_devtools(value: str | None) -> str | None:
    """Return the address of a browser's DevTools; raise `typer.BadParameter` without it, as it may be secret."""
    from mcpframe.kit.browser.devtools.address import DevToolsAddress

    try:
        if value is not None:
            DevToolsAddress.parse(value)
        return value
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from None


def is_hub_browser(value: str | None) -> str | None:
    """Return an address as `is_devtools`; raise `typer.BadParameter` for several, which it could read as one."""
    if value is not None and re.search(r",(?:http|ws)s?://", value):
        raise typer.BadParameter("a hub serves the pages of one browser: run a hub for each.")
    return is_devtools(value)


def are_devtools(values: list[str] | None) -> list[str]:
    """Return addresses as `is_devtools`, of texts with commas between them."""
    return [is_devtools(each) or "" for value in values or () for each in value.split(",")]


def is_listening_address(value: str | None) -> str | None:
    """Return a port, or an IP address and a port; raise `typer.BadParameter` for anything else."""
    if value is None:
        return None
    from mcpframe.kit.edges.http.metrics import parse_address  # it imports the SDK

    try:
        parse_address(value)
        return value
    except ValueError as error:
        raise typer.BadParameter(f"{error}.") from None


def is_name(value: str | None) -> str | None:
    """Return a name or an id; raise `typer.BadParameter` if it is empty, too long or has control characters."""
    if value is None:
        return None
    if not value.strip() or len(value) > _LONGEST_NAME or visible(value) != value or "\n" in value:
        raise typer.BadParameter(f"use 1 to {_LONGEST_NAME} characters on one line.")
    return value


def is_plain_name(value: str | None) -> str | None:
    """Return a name that balancers can match; raise `typer.BadParameter` for any other."""
    from mcpframe.kit.edges.http.routing_names import NAME

    if value is not None and not NAME.fullmatch(value):
        raise typer.BadParameter("use 1 to 32 of the characters a-z and 0-9.")
    return value


KeepDeploys = Annotated[
    int,
    typer.Option(
        "--keep-deploys",
        metavar="HOURS",
        min=0,
        max=2160,
        help="Keep the files of the build that this one replaces for so many hours, for pages that are open.",
    ),
]


def is_static_host(value: str | None) -> str | None:
    """Return the name of a target of `mcpframe publish`, or raise `typer.BadParameter`."""
    from mcpframe.kit.publish.targets.known import TARGETS

    if value is not None and value not in TARGETS:
        raise typer.BadParameter(f"{value[:80]!r} is not one of {', '.join(TARGETS)}.")
    return value


def is_folder(value: Path | None) -> Path | None:
    """Return a folder that exists or can be created; raise `typer.BadParameter` otherwise, before any work is done."""
    if value is None:
        return None
    try:
        above = next(path for path in (value.absolute(), *value.absolute().parents) if path.exists())
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise typer.BadParameter(f"{str(value)[:80]!r} cannot be a folder ({reason}).") from None
    if not above.is_dir():
        raise typer.BadParameter(f"{above} is a file, not a folder.")
    return value


def is_writable_folder(value: Path | None) -> Path | None:
    """Return a folder like `is_folder`; raises `WriteError` if this program may not write there."""
    from mcpframe.kit.base.cache import check_writable

    if is_folder(value) is not None and value is not None:
        check_writable(value)
    return value


def are_packages(values: list[str]) -> list[str]:
    """Return names of packages, or raise `typer.BadParameter`."""
    from mcpframe.kit.base.extras import need

    need("author", "mcpframe packages fetch")
    from packaging.utils import InvalidName, canonicalize_name

    try:
        return [canonicalize_name(is_name(value) or "", validate=True) for value in values]
    except InvalidName as error:
        raise typer.BadParameter(f"{error}.") from None


def words_of(text: str, option: str) -> list[str]:
    """Return the words of an option's value, split as a shell would; raise `typer.BadParameter` if that fails.

    On Windows a backslash is part of a path.
    """
    lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    if sys.platform == "win32":
        lexer.escape = ""
    try:
        return list(lexer)
    except ValueError as error:
        raise typer.BadParameter(f"{text!r} cannot be split into words: {error}.", param_hint=option) from None


def port(text: str) -> Any:
    """Return an option for a port; `text` is its help, which explains 0."""
    return typer.Option(help=text, callback=_is_port)


def duration(text: str) -> Any:
    """Return an option for a number of seconds."""
    return typer.Option(help=text, callback=_is_duration)


SERVER = "SERVER"
SERVER_HELP = "The address of its page, its built folder, its project or Python file, which is built, or package:NAME."
Where = Annotated[str, typer.Argument(metavar=SERVER, help=SERVER_HELP)]
Origin = Annotated[
    str | None, typer.Option(help="The origin of the page that frames it; by default one that its manifest allows.")
]
Dialect = Annotated[
    str | None,
    typer.Option(
        callback=is_dialect,
        metavar="NAME",
        help="The dialect that the page speaks; by default that of bundles. See docs/how-to/plain-mcp.md.",
    ),
]
Era = Annotated[
    Literal["auto", "2026-07-28", "legacy"],
    typer.Option(
        metavar="ERA",
        help="The protocol to speak: auto for the newest, 2026-07-28, or legacy for the handshake's.",
    ),
]
Timeout = Annotated[float, duration("Seconds until the page has to have begun to speak.")]
Setup = Annotated[bool, typer.Option("--setup", help="Run the server's setup first; --enter does that, too.")]
Enter = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FIELD=VALUE|FIELD=@FILE|BUTTON",
        help="What to enter in the setup's form, and which buttons to press; may be repeated, and is done in order.",
    ),
]
BuildSdists = Annotated[
    bool,
    typer.Option(
        "--build-sdists",
        help="Build packages that have only sources, in Pyodide and without access to this machine.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

# Who may send requests to a server over HTTP

ACCESS_PANEL = "For other machines"
LOOPBACK = "127.0.0.1"

Host = Annotated[
    str,
    typer.Option(
        rich_help_panel=ACCESS_PANEL,
        help="The address to listen on. Any but that of this machine needs --tokens or --oauth.",
    ),
]
PublicHost = Annotated[
    list[str] | None,
    typer.Option(
        callback=is_host_name,
        rich_help_panel=ACCESS_PANEL,
        help="A host name at which clients reach the server, such as that of a balancer; may be repeated.",
    ),
]
Tokens = Annotated[
    Path | None,
    typer.Option(
        envvar="MCPFRAME_TOKENS",
        show_envvar=True,
        rich_help_panel=ACCESS_PANEL,
        help="A file of bearer tokens: lines of a user's name and a token. MCPFRAME_BEARER_TOKENS has the lines "
        "themselves.",
    ),
]
OAuth = Annotated[
    Path | None,
    typer.Option(
        "--oauth",
        metavar="FILE",
        rich_help_panel=ACCESS_PANEL,
        help="A file that describes the authorization server whose tokens are accepted: docs/how-to/bridge.md.",
    ),
]
RateLimit = Annotated[
    str | None,
    typer.Option(
        metavar="RATE",
        rich_help_panel=ACCESS_PANEL,
        help="How many requests a user may send, such as 120/minute; without authorization, an address.",
    ),
]
TrustedProxy = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ADDRESS",
        rich_help_panel=ACCESS_PANEL,
        help="The address or network of a proxy whose X-Forwarded-For names the client; may be repeated.",
    ),
]


def access_of(
    host: str,
    names: Sequence[str] | None,
    allowed_origins: Sequence[str] | None,
    tokens: Path | None,
    oauth: Path | None,
    rate: str | None,
    proxies: Sequence[str] | None,
) -> Access:
    """Return the options, checked.

    Raises:
        McpFrameError: As by `Access.check`, or a file cannot be used.
    """
    from mcpframe.kit.edges.http.access import Access
    from mcpframe.kit.edges.http.issuer import read_issuer
    from mcpframe.kit.edges.http.known_tokens import VARIABLE, parse_tokens, read_tokens

    known = read_tokens(tokens) if tokens else {}
    lines = os.environ.pop(VARIABLE, None)  # no program that is started needs them
    if lines is not None:
        known |= parse_tokens(lines, VARIABLE)
    issuer = read_issuer(oauth) if oauth else None
    access = Access(host, names or (), allowed_origins or (), known, issuer, rate, proxies or ())
    access.check()
    return access


def check_no_access(
    why: str,
    host: str,
    names: Sequence[str] | None,
    oauth: Path | None,
    rate: str | None,
    proxies: Sequence[str] | None,
) -> None:
    """Raise `typer.BadParameter` if one of the options was given. Not for tokens, which the environment may have.

    Args:
        why: Why none has an effect here.
    """
    if host != LOOPBACK or any((names, oauth, rate, proxies)):
        raise typer.BadParameter(why, param_hint=ACCESS_PANEL)
