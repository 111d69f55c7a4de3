"""The modules of `AppBridge`: the wheel pins what the lock has, and its import map is the bundler's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mcpframe.kit.base import npm
from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.errors import DownloadError, ToolFailed
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.testing.app_bridge_modules import app_bridge_modules, import_map
from mcpframe.kit.web.host_page import bundle_module

PACKAGE = re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)/")


def test_the_pins_are_those_of_the_lock_and_the_import_map_is_complete(tmp_path: Path) -> None:
    modules = install_locked(checkout_dir())
    locked = json.loads((checkout_dir() / "package-lock.json").read_text("utf-8"))["packages"]
    entry, record = tmp_path / "entry.js", tmp_path / "inputs.json"
    entry.write_text('export { AppBridge } from "@modelcontextprotocol/ext-apps/app-bridge";')
    bundle_module(str(entry), tmp_path / "bundled.js", modules, record=record)
    inputs = json.loads(record.read_text("utf-8"))["inputs"]
    names = {found[1] for path in inputs if (found := PACKAGE.search(path))}
    imports = {
        item["original"]: item["path"].partition("node_modules/")[2]
        for module in inputs.values()
        for item in module["imports"]
        if not item["original"].startswith(".")
    }
    pins = json.loads((static_dir() / "testing" / "app-bridge.json").read_text("utf-8"))
    assert pins["packages"] == {
        name: {key: locked[f"node_modules/{name}"][key] for key in ("version", "integrity")} for name in sorted(names)
    }
    assert pins["imports"] == imports


def test_the_packages_are_fetched_once_with_their_licences(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = app_bridge_modules()
    for name, address in import_map("https://modules.example").items():
        assert (folder / address.removeprefix("https://modules.example/")).is_file(), name
    pins = json.loads((static_dir() / "testing" / "app-bridge.json").read_text("utf-8"))
    for name in pins["packages"]:
        assert any(path.stem.upper() in ("LICENSE", "LICENCE") for path in (folder / name).iterdir()), name
    monkeypatch.setattr(npm, "find_node", None)
    assert app_bridge_modules() == folder


def test_without_a_network_one_error_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Node:
        def npm(self, *arguments: str, cwd: Path) -> str:
            raise ToolFailed("npm failed.", "no route")

    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path))
    monkeypatch.setattr(npm, "find_node", Node)
    with pytest.raises(DownloadError, match=r"@modelcontextprotocol/client@2\.4\.0 could not be fetched .*network"):
        app_bridge_modules()
    assert not list((tmp_path / "testing").iterdir())
