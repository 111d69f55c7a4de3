"""The extension's hub, for programs on this machine: `mcpframe hub --native` and `--connect`, and their setup."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.cli.shared import common_options as opts

if TYPE_CHECKING:
    from mcpframe.kit.base.user_folders import UserFolders

PORT = 8719
_ID = re.compile("[a-p]{32}")


def _is_id(value: str | None) -> str | None:
    if value is not None and not _ID.fullmatch(value):
        raise typer.BadParameter("an extension's id has 32 letters from a to p: see chrome://extensions.")
    return value


Native = Annotated[
    bool,
    typer.Option(
        "--native",
        help="Serve the hub of the browser's extension to this machine: the browser starts this, after `mcpframe "
        "install --hub --native`. With --http over Streamable HTTP, too.",
    ),
]
Connect = Annotated[
    bool, typer.Option("--connect", help="Be a client's server over stdio: the hub of the browser's extension.")
]
InstallNative = Annotated[
    bool,
    typer.Option(
        "--native",
        help="With --hub: use the hub of the extension in the user's browser, which is allowed to start "
        "`mcpframe hub --native`. --profile names a browser's own folder.",
    ),
]
InstallHttp = Annotated[
    bool,
    typer.Option("--http", help="With --native: serve Streamable HTTP on this machine, too: to every program on it."),
]
InstallPort = Annotated[int, opts.port("The port of --http.")]
InstallOrigins = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-origin",
        metavar="ORIGIN",
        callback=opts.is_site,
        help="With --http: the origin of a web page that may be a client; may be repeated.",
    ),
]
ExtensionId = Annotated[
    str | None,
    typer.Option(
        "--extension-id", callback=_is_id, help="With --native: the id of the extension, if it is not mcpframe's own."
    ),
]
UninstallNative = Annotated[
    bool, typer.Option("--native", help="Forbid browsers again to start `mcpframe hub --native`.")
]


def check_system(option: str) -> None:
    """Raise `BridgeError` on Windows, which lacks sockets of the file system, and scripts that browsers can start."""
    from mcpframe.kit.base.errors import BridgeError

    if sys.platform == "win32":
        raise BridgeError(f"{option} works on Linux and macOS only: on Windows, use the hub without it.")


def check(native: bool, connect: bool, others: bool) -> None:
    """Raise `typer.BadParameter` if options exclude each other."""
    from mcpframe.kit.base.errors import BridgeError

    if native and connect:
        raise typer.BadParameter("it is one or the other.", param_hint="--native, --connect")
    if others:
        raise typer.BadParameter(
            "the extension has its own browser, pages and consent.", param_hint="--native" if native else "--connect"
        )
    check_system("--native" if native else "--connect")
    if native and sys.stdin.isatty():
        raise BridgeError("The browser starts this, not a person: run `mcpframe install --hub --native` once.")


def run(native: bool, port: int | None, allowed_origins: list[str]) -> None:
    """Run `mcpframe hub --native` or `mcpframe hub --connect`."""
    if native:
        from mcpframe.kit.hub.native.run import NativeSettings, run_native

        run_native(NativeSettings(port, allowed_origins))
    else:
        from mcpframe.kit.hub.native.connect import run_connect

        run_connect()


def client_command() -> list[str]:
    """Return the command for a client."""
    from mcpframe.kit.base.own_command import own_command

    return own_command("hub", "--connect")


def install(
    places: UserFolders,
    extension: str | None,
    profile: Path | None,
    port: int | None,
    allowed_origins: Sequence[str],
    yes: bool,
) -> None:
    """Allow the installed browsers to start the program.

    Args:
        places: The browsers' folders.
        extension: The id of the extension; None for mcpframe's own.
        profile: The folder of a browser's profile, instead of the usual ones.
        port: The port of Streamable HTTP; None for none.
        allowed_origins: The origins of web pages that may send requests there.
        yes: Whether files are written without asking.

    Raises:
        InstallError: No browser is installed, or the user cannot be asked.
    """
    from mcpframe.kit.base.errors import InstallError
    from mcpframe.kit.hub.extension.identity import EXTENSION_ID
    from mcpframe.kit.hub.native.manifests import plan_native, write_script

    planned = plan_native(places, extension or EXTENSION_ID, profile)
    if not yes and not all(each.is_there for each in planned):
        for each in planned:
            typer.echo(f"{each.path}:\n{each.text}", nl=False)
        if not sys.stdin.isatty():
            raise InstallError("Only a terminal can ask for a confirmation: check the files above, and add --yes.")
        if not typer.confirm("Allow the extension in these browsers to start mcpframe?"):
            raise typer.Exit(1)
    origins = [f"--allow-origin={origin}" for origin in allowed_origins]
    write_script([] if port is None else ["--http", f"--port={port}", *origins])
    for each in planned:
        each.write()
        typer.echo(f"{each.title}: {each.path} is written. Load the extension again there.")


def uninstall(places: UserFolders, profile: Path | None) -> bool:
    """Remove the permission, and return whether any browser had it."""
    from mcpframe.kit.hub.native.manifests import plan_native_removal

    planned = plan_native_removal(places, profile)
    for each in planned:
        each.write()
        typer.echo(f"{each.title}: {each.path} is removed.")
    return bool(planned)
