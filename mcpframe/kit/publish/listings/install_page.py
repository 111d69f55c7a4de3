"""`install-NAME.html`: the page of an author's site with the buttons and commands that add the server to each client.

A README links to a section of it (`install-pi.html#cursor`), as the links of the clients themselves work on few sites.
It has no script: nothing is opened before the reader has seen the command and clicked.

Its place is beside the bundle's folder: each build replaces that, and its header's policy drops the page's style.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from html import escape
from urllib.parse import quote, urljoin

from mcpframe.kit.publish.listings.links import LINKS, TEXTS
from mcpframe.kit.publish.listings.listing import Listing

_POLICY = "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'"

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 42rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #8884; padding: 1rem 0; }
section:target { outline: 3px solid #3b82f6; outline-offset: 4px; }
h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
pre { overflow-x: auto; background: #8882; padding: .75rem; border-radius: .4rem; }
a.button { display: inline-block; padding: .5rem 1rem; border-radius: .4rem; }
a.button { background: #1d4ed8; color: #fff; text-decoration: none; }
a.button:focus-visible { outline: 3px solid #93c5fd; outline-offset: 2px; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Install {title}</title>
<style>{style}</style>
<h1>Install {title}</h1>
<p>{description} Version {version}, from <a href="{page}">its page</a>.</p>
<p>Each button adds this command to a client. It runs on your machine, and opens the server in a browser of its own:</p>
<pre><code>{command}</code></pre>
<p>It needs <a href="https://docs.astral.sh/uv/getting-started/installation/">uv</a>, and Chrome, Edge or Chromium.</p>
{sections}
</html>
"""


def file_name(listing: Listing) -> str:
    """Return the name of the page's file."""
    return f"install-{listing.slug}.html"


def address(listing: Listing) -> str:
    """Return the page's address."""
    return urljoin(listing.page, f"../{file_name(listing)}")


def install_page(listing: Listing, mcpb: str | None = None) -> bytes:
    """Return the page.

    Args:
        mcpb: The address of the server's `.mcpb`, which may be relative to the page; None for none.
    """
    sections = [_section(each.client, each.title, _button(each.link(listing), each.title)) for each in LINKS]
    if mcpb is not None:
        download = _button(mcpb, "Claude Desktop", "Download for")
        text = "<p>Open the file in Claude Desktop, which shows what it does and asks.</p>"
        sections.insert(0, _section("claude-desktop", "Claude Desktop", download + text))
    sections += [
        _section(
            each.client, each.title, f"<p>{escape(each.where)}</p><pre><code>{escape(each.text(listing))}</code></pre>"
        )
        for each in TEXTS
    ]
    digest = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode("ascii")
    text = _PAGE.format(
        policy=_POLICY.format(digest),
        style=_STYLE,
        title=escape(listing.title),
        description=escape(listing.description),
        version=escape(listing.version),
        page=escape(listing.page),
        command=escape(shlex.join(listing.command)),
        sections="\n".join(sections),
    )
    return text.encode()


def readme_buttons(listing: Listing) -> str:
    """Return Markdown with a link to the section of each client."""
    page = address(listing).replace("(", "%28").replace(")", "%29")
    title = re.sub(r"([\\`*_\[\]<>&#~|!])", r"\\\1", listing.title)
    links = [f"[{each.title}]({page}#{quote(each.client)})" for each in (*LINKS, *TEXTS)]
    return f"Add {title} to " + " · ".join(links) + "\n"


def _section(client: str, title: str, content: str) -> str:
    return f'<section id="{escape(client)}"><h2>{escape(title)}</h2>{content}</section>'


def _button(link: str, title: str, what: str = "Add to") -> str:
    return f'<p><a class="button" href="{escape(link)}" rel="noreferrer">{escape(f"{what} {title}")}</a></p>'
