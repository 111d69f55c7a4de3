"""A bundle as one page: its policy, its files, and refusals. In browsers: tests/browser/test_single_file.py."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.assembly.assets import integrity
from mcpframe.kit.bundle.assembly.page_scripts import handed_script, register_script
from mcpframe.kit.bundle.assembly.single_file import framed_page, single_file
from tests.unit.kit.bundle.test_donor import lent

STORED = re.compile(
    r'<script type="text/plain" data-file="([^"]*)" data-kind="([^"]*)"( data-packed)?>([^<]*)</script>'
)


def with_asset(files: dict[str, bytes], path: str, text: str) -> dict[str, bytes]:
    """Return a bundle's files with another file of the author."""
    index = files["donor/index.html"]
    base = json.loads(re.findall(rb'id="mcpframe-boot">(.*?)</script>', index)[0])["assets"]["base"]
    listed = index.replace(b'"files":[]', f'"files":["{path}"]'.encode(), 1)
    return {**files, "donor/index.html": listed, f"donor/{base}{path}": text.encode()}


def test_every_file_is_in_it_as_it_was(tmp_path: Path) -> None:
    files = lent(tmp_path)
    large = max(files, key=lambda path: len(files[path]))
    page = single_file("donor", files, {large: gzip.compress(files[large])}).decode()
    found = {}
    for url, _, packed, text in STORED.findall(page):
        data = base64.b64decode(text)
        found[url] = gzip.decompress(data) if packed else data
    of_folder = {
        f"../{path}" if path.startswith("_") else path.removeprefix("donor/"): data for path, data in files.items()
    }
    assert found == {url: data for url, data in of_folder.items() if url not in ("index.html", "app-inline.js")}


def test_its_policy_names_scripts_by_their_hashes_and_no_address(tmp_path: Path) -> None:
    page, names = framed_page("donor", lent(tmp_path))
    policy = re.findall(r'Content-Security-Policy" content="([^"]*)"', page.decode())[0].replace("&#39;", "'")
    directives = {name: sources for name, *sources in (part.split() for part in policy.split("; "))}
    assert "'self'" not in policy
    assert f"'{integrity(handed_script().encode())}'" in directives["script-src"]
    assert [each for each in directives["script-src"] if not each.startswith("'sha256-")] == ["'wasm-unsafe-eval'"]
    assert directives["connect-src"] == ["blob:"]
    assert all(each.startswith("'sha256-") for each in directives["style-src"])
    assert STORED.search(page.decode()) is None
    assert names["manifest.json"] == "donor/manifest.json"


def test_a_page_that_can_be_installed_is_none_as_one_file(tmp_path: Path) -> None:
    files = lent(tmp_path, installable=True)
    assert {"donor/offline.js", "donor/installable.json", "donor/icon.svg"} <= files.keys()
    index = files["donor/index.html"].decode()
    assert '<link rel="manifest" href="installable.json">' in index
    assert f"<script>{register_script()}</script>" in index
    assert f"&#39;{integrity(register_script().encode())}&#39;" in index
    assert [b"workbox" in data for path, data in files.items() if "licences" in path] == [True]
    page, names = framed_page("donor", files)
    assert not {"offline.js", "installable.json"} & names.keys()
    assert not any(text in page.decode() for text in ('rel="manifest"', "manifest-src", "&#39;self&#39;"))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", 'import { b } from "./b.js";'),
        ("a.mjs", "const b = await import('../b.js')"),
        ("a.css", "p { background: url(dot.svg) }"),
        ("a.css", "@import 'b.css';"),
    ],
)
def test_a_file_that_refers_to_another_is_refused(tmp_path: Path, path: str, text: str) -> None:
    with pytest.raises(BuildError, match=rf"{path} refers to '\S+' by its address"):
        framed_page("donor", with_asset(lent(tmp_path), path, text))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.js", 'import { b } from "https://cdn.example/b.js"; export const from = "./b.js";'),
        ("a.css", "p { background: url(data:image/gif;base64,AA) } a { fill: url('#b') }"),
    ],
)
def test_other_references_are_not(tmp_path: Path, path: str, text: str) -> None:
    assert framed_page("donor", with_asset(lent(tmp_path), path, text))


def test_a_host_of_views_is_refused(tmp_path: Path) -> None:
    files = lent(tmp_path)
    files["donor/index.html"] += b'<meta name="mcpframe-sandbox" content="x">'
    with pytest.raises(BuildError, match="sandbox_origin"):
        framed_page("donor", files)
