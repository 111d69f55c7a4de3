"""Rules of the Chrome Web Store: the manifest, its icons, a sentence about each permission."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import KitError
from tests.release.web_store import ICONS, PURPOSES, check_store, listing_text, png_size, store_files


@pytest.fixture
def files() -> dict[str, bytes]:
    """The extension's own files, as a build writes them."""
    folder = static_dir() / "extension"
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    manifest = json.loads(found["manifest.json"])
    return {**found, "manifest.json": changed(manifest, version="1.2.3", key="abc")}


def changed(manifest: dict[str, Any], **values: Any) -> bytes:
    return json.dumps({**manifest, **values}).encode()


def test_the_package_has_no_key_and_asks_for_native_messaging_later(files: dict[str, bytes]) -> None:
    manifest = json.loads(store_files(files)["manifest.json"])
    assert "key" not in manifest
    assert manifest["optional_permissions"] == ["nativeMessaging"]
    assert set(manifest["permissions"]) == {"offscreen", "storage", "scripting"}
    text = listing_text(manifest)
    assert all(f"- {name}: {purpose}" in text for name, purpose in PURPOSES.items())
    assert all(purpose.count(".") == 1 for purpose in PURPOSES.values())


def test_the_icons_have_their_sizes(files: dict[str, bytes]) -> None:
    assert [png_size(files[f"icon-{size}.png"]) for size in ICONS] == [(size, size) for size in ICONS]
    assert png_size(b"GIF89a") == (0, 0)


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"version": "1.2.3-alpha"}, "version"),
        ({"description": "x" * 133}, "description"),
        ({"icons": {"128": "icon-48.png"}}, "128 pixels"),
        ({"permissions": ["storage", "history"]}, "history"),
    ],
)
def test_what_the_store_would_refuse(files: dict[str, bytes], values: dict[str, Any], problem: str) -> None:
    manifest = json.loads(files["manifest.json"])
    with pytest.raises(KitError, match=problem):
        store_files({**files, "manifest.json": changed(manifest, **values)})


def test_a_key_and_code_from_elsewhere(files: dict[str, bytes]) -> None:
    with pytest.raises(KitError, match="key"):
        check_store(files)
    with pytest.raises(KitError, match="elsewhere"):
        store_files({**files, "popup.html": b'<script src="https://cdn.example/x.js"></script>'})
