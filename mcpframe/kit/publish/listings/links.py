"""How each client is told to run a server: a link that opens it, or a text to paste.

A link is a command that runs on the reader's machine: it is shown beside the button, and pins mcpframe's version. The
forms are those that the clients document; GitHub removes such links from a README, so they are on a page of the
author's site (`install_page`).
"""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from mcpframe.kit.publish.listings.listing import Listing


@dataclass(frozen=True)
class InstallLink:
    """A way to add a server to a client with a click.

    Attributes:
        client: The client's name, and the fragment of its section in the page.
        title: Its name for people.
        link: Returns the address that opens it.
    """

    client: str
    title: str
    link: Callable[[Listing], str]


@dataclass(frozen=True)
class InstallText:
    """A command to run, or a configuration to paste, for a client without a link.

    Attributes:
        client: The client's name, and the fragment of its section in the page.
        title: Its name for people.
        where: Where the text goes.
        text: Returns the text.
    """

    client: str
    title: str
    where: str
    text: Callable[[Listing], str]


def _entry(listing: Listing) -> dict[str, object]:
    command, *arguments = listing.command
    return {"command": command, "args": arguments}


def _base64(value: object) -> str:
    return base64.b64encode(json.dumps(value, separators=(",", ":")).encode()).decode("ascii")


def _query(**values: str) -> str:
    # `+` would be read as a space by some clients, and kept by others.
    return urlencode(values, quote_via=quote)


def _cursor(listing: Listing) -> str:
    query = _query(name=listing.short_name, config=_base64(_entry(listing)))
    return f"cursor://anysphere.cursor-deeplink/mcp/install?{query}"


def _vs_code(scheme: str) -> Callable[[Listing], str]:
    def link(listing: Listing) -> str:
        value = json.dumps({"name": listing.short_name, **_entry(listing)}, separators=(",", ":"))
        return f"{scheme}:mcp/install?{quote(value, safe='')}"

    return link


def _lm_studio(listing: Listing) -> str:
    return f"lmstudio://add_mcp?{_query(name=listing.short_name, config=_base64(_entry(listing)))}"


def _goose(listing: Listing) -> str:
    command, *arguments = listing.command
    words = [("cmd", command), *(("arg", word) for word in arguments)]
    about = {"id": listing.short_name, "name": listing.title, "description": listing.description}
    return f"goose://extension?{urlencode([*words, *about.items()], quote_via=quote)}"


def _added(*before: str) -> Callable[[Listing], str]:
    return lambda listing: shlex.join([*before, listing.short_name, "--", *listing.command])


def _pasted(key: str) -> Callable[[Listing], str]:
    return lambda listing: json.dumps({key: {listing.short_name: _entry(listing)}}, indent=2)


LINKS = (
    InstallLink("cursor", "Cursor", _cursor),
    InstallLink("vscode", "VS Code", _vs_code("vscode")),
    InstallLink("vscode-insiders", "VS Code Insiders", _vs_code("vscode-insiders")),
    InstallLink("lm-studio", "LM Studio", _lm_studio),
    InstallLink("goose", "Goose", _goose),
)

TEXTS = (
    InstallText("claude-code", "Claude Code", "Run this:", _added("claude", "mcp", "add")),
    InstallText("windsurf", "Windsurf", "Add this to ~/.codeium/windsurf/mcp_config.json:", _pasted("mcpServers")),
    InstallText("zed", "Zed", "Add this to the settings:", _pasted("context_servers")),
    InstallText(
        "other", "Another client", "It runs this command, over stdio:", lambda listing: shlex.join(listing.command)
    ),
)
