"""The page: what it links, and that nothing in its boot config can end the element it stands in."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from mcpframe.kit.bundle.assembly.assets import asset, hashed, packed
from mcpframe.kit.bundle.assembly.index_page import link, relative_url, render_page

LINK = {"url": "../_mcpframe/a.js", "integrity": "sha256-x", "bytes": 1}


def page(**changes: object) -> str:
    values = {"title": "T", "csp": "default-src 'none'", "generator": "g", "boot": {}, "loader": LINK}
    lists = {"styles": [LINK], "scripts": [LINK], "preloads": [LINK], "prefetch": False}
    return render_page(**{**values, **lists, **changes}).decode()  # type: ignore[arg-type]


class Scripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[dict[str, str | None], str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script":
            self.found.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.found and self.lasttag == "script":
            attributes, text = self.found[-1]
            self.found[-1] = (attributes, text + data)


def test_text_cannot_leave_its_place() -> None:
    boot = {"title": "</script><script>alert(1)</script><!-- & ' \""}
    text = page(title="<b>&\"'", boot=boot)
    assert "<b>" not in text
    scripts = Scripts()
    scripts.feed(text)
    [(config, content), (loader, _)] = scripts.found
    assert config == {"type": "application/json", "id": "mcpframe-boot"}
    assert json.loads(content) == boot
    assert loader["type"] == "module"


def test_everything_is_relative_and_checked() -> None:
    text = page()
    urls = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert urls
    assert all(url.startswith(("../", "data:,")) for url in urls)
    assert text.count('integrity="sha256-x"') == 3  # style, module, loader; browsers ignore it on a preloaded fetch
    assert text.count('crossorigin="anonymous"') == 4
    assert re.search(r"<script(?![^>]*(src|application/json))", text) is None
    assert "style=" not in text
    assert re.search(r"\son[a-z]+=", text) is None


def test_links_are_relative_to_the_page() -> None:
    shared = hashed("_mcpframe/a.js", b"x" * 10)
    assert relative_url(shared, "pi") == f"../{shared.path}"
    assert relative_url(asset("pi/server.zip", b""), "pi") == "server.zip"
    assert link(shared, "pi")["bytes"] == 10
    assert link(shared, "pi")["integrity"].startswith("sha256-")


def test_a_name_carries_the_hash_of_the_content() -> None:
    assert hashed("_mcpframe/a.js", b"1").path != hashed("_mcpframe/a.js", b"2").path
    assert re.fullmatch(r"_mcpframe/a\.[0-9a-f]{16}\.js", hashed("_mcpframe/a.js", b"1").path)


def test_only_what_gains_is_compressed() -> None:
    files = [asset("a.js", b"x" * 1000), asset("a.whl", b"x" * 1000), asset("a.bin", bytes(range(256)))]
    assert [path for path, data in packed(files).items() if data is not None] == ["a.js"]
    assert packed(files) == packed(files)
