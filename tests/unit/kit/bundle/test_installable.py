"""The files of a page that can be installed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.assembly.assets import asset, hashed
from mcpframe.kit.bundle.assembly.installable import bundle_worker, icons_of, offline_worker, web_manifest


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")


def test_a_page_without_icons_has_its_first_letter() -> None:
    for title, letter in {"pi": "P", "": "?", "<b>": "<", "émile": "É"}.items():
        [icon] = icons_of("pi", title, {})
        assert (icon.file.path, icon.sizes, icon.kind) == ("pi/icon.svg", "any", "image/svg+xml")
        assert ET.fromstring(icon.file.data)[1].text == letter


def test_the_author_s_icons() -> None:
    svg = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'
    icons = icons_of("pi", "Pi", {"art/small.png": png(48, 48), "art/large.png": png(512, 512), "art/any.svg": svg})
    manifest = json.loads(web_manifest("pi", "Pi", icons).data)
    assert [(each["src"], each["sizes"]) for each in manifest["icons"]] == [
        ("icon-1.png", "48x48"),
        ("icon-2.png", "512x512"),
        ("icon-3.svg", "any"),
    ]
    assert (manifest["name"], manifest["start_url"], manifest["scope"]) == ("Pi", "index.html", "./")
    with pytest.raises(ConfigError, match=r"pyproject.toml: tool.mcpframe.icons: a.jpg is neither"):
        icons_of("pi", "Pi", {"a.jpg": b"\xff\xd8"}, source="pyproject.toml")
    with pytest.raises(ConfigError, match="the largest has 48 px"):
        icons_of("pi", "Pi", {"small.png": png(48, 48)})


def test_the_worker_has_each_file_with_its_hash_and_changes_with_each_of_them() -> None:
    def worker(code: bytes) -> str:
        server, shared = hashed("pi/server.zip", code), hashed("_mcpframe/base.zip", b"base")
        index = asset("pi/index.html", server.path.encode())
        later = hashed("pi/later.whl", b"later")
        return bundle_worker("pi", index, [shared, server, index], [later]).data.decode()

    text = worker(b"1")
    given = re.match(r"const OWN_FILES=(\[.*?\]),OTHER_FILES=(\[.*?\]),HASHED_NAME=\"\";\n", text)
    assert given is not None
    files, others = json.loads(given[1]), json.loads(given[2])
    assert [each["url"].partition(".")[0] for each in files] == ["index", "manifest", "", "server"]
    assert [bool(each["revision"]) for each in files] == [True, True, False, False]
    assert all(each["integrity"].startswith("sha256-") for each in files if each["url"] != "manifest.json")
    assert [each.partition(".")[0] for each in others] == ["later"]
    assert worker(b"1") == text != worker(b"2")


def test_the_public_site_s_worker_is_the_same_script() -> None:
    site = offline_worker([{"url": "index.html", "revision": "1"}], hashed_name="[.]x")
    assert ',OTHER_FILES=null,HASHED_NAME="[.]x";\n' in site
    index = asset("pi/index.html", b"")
    assert site.partition("\n")[2] == bundle_worker("pi", index, [index], []).data.decode().partition("\n")[2]
