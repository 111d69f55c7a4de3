"""Options and checks shared by several commands. Wrong usage is an error of one line, with exit status 2."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from mcpframe.kit.base.terminal import visible

_HIGHEST_PORT = 65535
_LONGEST_NAME = 200
_HOST_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9](-*[A-Za-z0-9]+)*(\.[A-Za-z0-9](-*[A-Za-z0-9]+)*)*")


def check_system(what: str) -> None:
    """Raise `BridgeError` on Windows, where Chromium gets its pipes, and programs their signals, in a different way.

    Args:
        what: What does not run there, with a capital letter.
    """
    from mcpframe.kit.base.errors import BridgeError

    if sys.platform == "win32":
        raise BridgeError(f"{what} runs on Linux and macOS: on Windows, run it in WSL.")


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
    from mcpframe.frame.core.errors import OriginError
    from mcpframe.frame.core.origins import parse_allowed_origins

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


def is_name(value: str | None) -> str | None:
    """Return a name or an id; raise `typer.BadParameter` if it is empty, too long or has control characters."""
    if value is None:
        return None
    if not value.strip() or len(value) > _LONGEST_NAME or visible(value) != value or "\n" in value:
        raise typer.BadParameter(f"use 1 to {_LONGEST_NAME} characters on one line.")
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
        raise typer.BadParameter(f"{above} is a file, and no folder.")
    return value


def is_writable_folder(value: Path | None) -> Path | None:
    """Return a folder like `is_folder`; raises `WriteError` if this program may not write there."""
    from mcpframe.kit.base.cache import check_writable

    if is_folder(value) is not None and value is not None:
        check_writable(value)
    return value


def are_packages(values: list[str]) -> list[str]:
    """Return names of packages, or raise `typer.BadParameter`."""
    from packaging.utils import InvalidName, canonicalize_name

    try:
        return [canonicalize_name(is_name(value) or "", validate=True) for value in values]
    except InvalidName as error:
        raise typer.BadParameter(f"{error}.") from None


def words_of(text: str, option: str) -> list[str]:
    """Return the words of an option's value, split as a shell would; raise `typer.BadParameter` if that fails."""
    try:
        return shlex.split(text)
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
