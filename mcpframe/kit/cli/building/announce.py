"""The command `mcpframe announce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mcpframe.kit.cli.shared import common_options as opts
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, out

EXAMPLES = examples(
    "mcpframe announce https://tools.example/pi/ --name io.github.someone/pi --install-page",
    "mcpframe announce https://tools.example/pi/ --name io.github.someone/pi --server-json --author Someone "
    "--release https://github.com/someone/mcp/releases/download/v1/pi.mcpb",
    "mcpframe announce https://tools.example/pi/ --name com.example/pi --card --remote https://mcp.example.com/mcp",
)


def announce(
    where: Annotated[str, typer.Argument(metavar="URL", help="The address of the server's published page.")],
    name: Annotated[
        str,
        typer.Option(
            callback=opts.is_name,
            help="The name under which it is registered, such as io.github.someone/pi-calculator.",
        ),
    ],
    server_json: Annotated[
        bool, typer.Option("--server-json", help="Write server.json, for the MCP Registry.")
    ] = False,
    mcpb: Annotated[bool, typer.Option("--mcpb", help="Write a .mcpb, which Claude Desktop installs.")] = False,
    card: Annotated[
        bool, typer.Option("--card", help="Write a server card, which mcpframe bridge --http --card serves.")
    ] = False,
    install_page: Annotated[
        bool,
        typer.Option("--install-page", help="Write install-NAME.html, with a button or a command for each client."),
    ] = False,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            callback=opts.is_writable_folder,
            help="The folder for the files, which replace earlier ones of their names.",
        ),
    ] = Path("listing"),
    description: Annotated[
        str | None,
        typer.Option(
            callback=opts.is_name,
            help="What it does, in at most 100 characters; by default the first sentence of its instructions.",
        ),
    ] = None,
    server_version: Annotated[
        str | None, typer.Option(callback=opts.is_name, help="Its version; by default the server's own.")
    ] = None,
    author: Annotated[str, typer.Option(help="With --mcpb or --release: the author's name.")] = "",
    release: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The address at which the .mcpb will be, on a release of GitHub or GitLab."),
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TYPE:NAME",
            help="With --server-json: a package of yours that starts the server, as pypi:NAME==VERSION or "
            "npm:NAME@VERSION; may be repeated.",
        ),
    ] = None,
    remote: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URL", help="With --server-json or --card: the address of a bridge over HTTP; may be repeated."
        ),
    ] = None,
) -> None:
    """Write the files by which registries, catalogs and clients find a published server. Nothing is uploaded."""
    from mcpframe.frame.core.places import parse_address
    from mcpframe.kit.publish.listings.listing import listing_of
    from mcpframe.kit.publish.listings.write import ListingFiles, write_listing
    from mcpframe.kit.servers.published import read_manifest

    page, _ = parse_address(where)
    files = ListingFiles(server_json, mcpb, card, install_page, author, release, package or (), remote or ())
    listing = listing_of(read_manifest(page), page, name, description=description, version=server_version)
    for written in write_listing(listing, files, output):
        out.print(f"[green]Wrote[/] {escape(str(written.path))}")
        out.print(f"  next   {escape(written.next)}")
