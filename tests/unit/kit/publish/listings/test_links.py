"""Links and texts of clients, read back by the rule of each client: they give the command, with its version."""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

import pytest

from mcpframe.kit.publish.listings.install_page import address, install_page, readme_buttons
from mcpframe.kit.publish.listings.links import LINKS, TEXTS
from mcpframe.kit.publish.listings.listing import Listing

Read = Callable[[str], tuple[str, list[str]]]


def by_config(scheme: str, place: str) -> Read:
    """Read `?name=…&config=BASE64`, as `new URL(…).searchParams` and `atob` do."""

    def read(link: str) -> tuple[str, list[str]]:
        parts = urlsplit(link)
        assert (parts.scheme, parts.netloc + parts.path) == (scheme, place)
        values = parse_qs(parts.query, strict_parsing=True)
        config = json.loads(base64.b64decode(values["config"][0], validate=True))
        return values["name"][0], [config["command"], *config["args"]]

    return read


def by_json(scheme: str) -> Read:
    """Read `SCHEME:mcp/install?JSON`, as `decodeURIComponent` does."""

    def read(link: str) -> tuple[str, list[str]]:
        before, _, query = link.partition("?")
        assert before == f"{scheme}:mcp/install"
        value = json.loads(unquote(query))
        return value["name"], [value["command"], *value["args"]]

    return read


def by_words(link: str) -> tuple[str, list[str]]:
    """Read `?cmd=…&arg=…&arg=…`; only some commands are taken."""
    parts = urlsplit(link)
    assert (parts.scheme, parts.netloc) == ("goose", "extension")
    values = parse_qsl(parts.query, strict_parsing=True)
    [command] = [value for key, value in values if key == "cmd"]
    assert command in ("uvx", "npx", "docker", "jbang")
    return dict(values)["id"], [command, *(value for key, value in values if key == "arg")]


READERS: dict[str, Read] = {
    "cursor": by_config("cursor", "anysphere.cursor-deeplink/mcp/install"),
    "vscode": by_json("vscode"),
    "vscode-insiders": by_json("vscode-insiders"),
    "lm-studio": by_config("lmstudio", "add_mcp"),
    "goose": by_words,
}


@pytest.mark.parametrize("each", LINKS, ids=lambda each: each.client)
def test_a_link_gives_the_command_back(each: Any, listing: Listing) -> None:
    assert READERS[each.client](each.link(listing)) == ("pi-calculator", list(listing.command))


def test_texts_give_the_command_back(listing: Listing) -> None:
    command = list(listing.command)
    texts = {each.client: each.text(listing) for each in TEXTS}
    assert shlex.split(texts["claude-code"]) == ["claude", "mcp", "add", "pi-calculator", "--", *command]
    assert shlex.split(texts["other"]) == command
    for client, key in (("windsurf", "mcpServers"), ("zed", "context_servers")):
        entry = json.loads(texts[client])[key]["pi-calculator"]
        assert [entry["command"], *entry["args"]] == command


class Page(HTMLParser):
    """The links of a page, as a browser reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.links += [values["href"] or ""] if tag == "a" else []
        self.ids += [values["id"] or ""] if "id" in values else []

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_has_each_client_the_command_and_no_script(listing: Listing) -> None:
    text = install_page(listing, "pi.mcpb").decode()
    page = Page(text)
    assert "script" not in page.tags
    assert "calculator" not in page.tags  # of the title, which is text
    assert page.ids == ["claude-desktop", *(each.client for each in LINKS), *(each.client for each in TEXTS)]
    assert [link for link in page.links if not link.startswith("https:")] == [
        "pi.mcpb",
        *(each.link(listing) for each in LINKS),
    ]
    assert shlex.join(listing.command) in page.text
    assert "default-src 'none'" in text


def test_links_for_a_readme_are_of_the_web(listing: Listing) -> None:
    text = readme_buttons(listing)
    assert text.count("](https://tools.example/install-pi-calculator.html#") == len(LINKS) + len(TEXTS)
    assert text.startswith('Add Pi \\<calculator\\> \\& "more" to ')


def test_the_page_is_beside_the_bundle(listing: Listing) -> None:
    for page, expected in {
        "https://tools.example/a/pi/": "https://tools.example/a/install-pi-calculator.html",
        "https://tools.example/a/pi/index.html?x=1#y": "https://tools.example/a/install-pi-calculator.html",
        "https://tools.example/(pi)/b/": "https://tools.example/(pi)/install-pi-calculator.html",
    }.items():
        assert address(replace(listing, page=page)) == expected
    assert "(https://tools.example/%28pi%29/install" in readme_buttons(replace(listing, page=page))
