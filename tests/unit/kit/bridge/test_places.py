"""The target of a bridge, and its profile: addresses, folders, profiles."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest

from mcpframe.frame.core.errors import OriginError
from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.base.errors import BridgeError, ConfigError, ProfileInUse
from mcpframe.kit.base.limits import ANSWER_SECONDS
from mcpframe.kit.bridge.chromium.bridge_page import HOST_ORIGIN
from mcpframe.kit.bridge.target import host_name, open_target
from mcpframe.kit.browser.profile import Remembered, default_folder, open_profile
from mcpframe.kit.servers.published import fetch
from mcpframe.kit.web.serve import serve_folder
from tests.support.bundles import write_bundle


def test_an_address_is_taken_as_it_is() -> None:
    with open_target("HTTPS://tools.example/pi/?a=1") as target:
        assert target.find() == target.key == "HTTPS://tools.example/pi/?a=1"
        assert target.addresses == {}


def test_a_silent_address_is_waited_for_as_long_as_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/pi/"
        with open_target(address, patience=0.1) as target:
            begun = time.monotonic()
            assert target.find() == address  # the browser reports the reason
            assert time.monotonic() - begun < ANSWER_SECONDS


def test_a_silent_address_is_waited_for_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with open_target(f"http://127.0.0.1:{silent.getsockname()[1]}/pi/", patience=0.1) as target:
            assert not target.is_seen()
            silent.accept()[0].close()
            target.find()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()


@pytest.mark.parametrize("where", ["https://", "http://user@tools.example/", "http://a b/", "http://x:99999/"])
def test_no_address(where: str) -> None:
    with pytest.raises(OriginError), open_target(where):
        pass


@pytest.mark.parametrize(
    ("where", "error"),
    [("nowhere", ConfigError), ("ftp://tools.example/", OriginError), (f"{HOST_ORIGIN}/pi/", BridgeError)],
)
def test_no_place(where: str, error: type[Exception]) -> None:
    with pytest.raises(error), open_target(where):
        pass


def built(folder: Path, *origins: str) -> Path:
    folder.mkdir()
    (folder / "index.html").write_text("")
    (folder / "manifest.json").write_text(json.dumps({"mcpframe_manifest": 1, "allowed_origins": origins}))
    return folder


@pytest.mark.parametrize("origin", ["*", HOST_ORIGIN])
def test_a_built_folder_is_served_under_a_name_of_its_own(tmp_path: Path, origin: str) -> None:
    folder = built(tmp_path / "Pi.Calculator", origin)
    with open_target(str(folder)) as target:
        [(name, port)] = target.addresses.items()
        assert target.find() == f"http://{name}/Pi.Calculator/"
        assert name == host_name(folder)
        assert name.startswith("pi-")
        assert name.endswith(".mcpframe.localhost")
        assert port > 0


def test_a_folder_built_for_others_is_bridged_as_the_bridge_serves_it_itself(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path, "pi", allowed_origins=["https://chat.example"])
    with open_target(str(folder)) as target:
        [port] = target.addresses.values()
        assert HOST_ORIGIN in fetch(f"http://127.0.0.1:{port}/pi/").body.decode()


def test_a_root_of_one_bundle_is_that_bundle(tmp_path: Path) -> None:
    built(tmp_path / "pi", "*")
    with open_target(str(tmp_path)) as target:
        assert target.key == str(tmp_path.resolve() / "pi")
    built(tmp_path / "e", "*")
    with pytest.raises(ConfigError, match="one of e, pi"), open_target(str(tmp_path)):
        pass


@pytest.mark.parametrize(
    ("visibility", "is_seen"),
    [({"requirement": "required"}, True), ({"requirement": "optional"}, False), ({}, False), ("required", False)],
)
def test_whether_a_person_has_to_see_the_page(tmp_path: Path, visibility: object, is_seen: bool) -> None:
    folder = built(tmp_path / "pi", "*")
    (folder / "manifest.json").write_text(
        json.dumps({"mcpframe_manifest": 1, "allowed_origins": ["*"], "visibility": visibility})
    )
    with open_target(str(folder)) as target:
        assert target.is_seen() is is_seen
    with serve_folder(tmp_path) as served, open_target(f"{served.origin}/pi/") as target:
        assert target.is_seen() is is_seen


def test_a_project_says_whether_a_person_has_to_see_its_page() -> None:
    for name, is_seen in (("data-analyst", True), ("pi-calculator", False)):
        with open_target(str(templates_dir() / name)) as target:
            assert target.is_seen() is is_seen


def test_an_address_that_does_not_answer_needs_no_window() -> None:
    with open_target("http://127.0.0.1:9/pi/", patience=0.1) as target:
        assert not target.is_seen()


@pytest.mark.parametrize("allowed", [["https://chat.example"], []])
def test_an_address_that_does_not_allow_the_bridge_names_its_origin(tmp_path: Path, allowed: list[str]) -> None:
    built(tmp_path / "pi", *allowed)
    manifest = {"mcpframe_manifest": 1, "allowed_origins": allowed}
    (tmp_path / "pi" / "manifest.json").write_text(json.dumps(manifest))
    with serve_folder(tmp_path) as served, open_target(f"{served.origin}/pi/") as target:
        with pytest.raises(BridgeError, match=f"add {HOST_ORIGIN} to allowed_origins"):
            target.find()
        manifest["allowed_origins"] = [*allowed, HOST_ORIGIN]
        (tmp_path / "pi" / "manifest.json").write_text(json.dumps(manifest))
        assert target.find() == f"{served.origin}/pi/"


def test_a_session_is_remembered(tmp_path: Path) -> None:
    with open_profile(tmp_path / "profile") as profile:
        first = profile.recall("a")
        assert profile.recall("a") != first  # which cannot be guessed
        profile.remember("a", first)
    with open_profile(tmp_path / "profile") as profile:
        assert profile.recall("a") == first
        assert profile.recall("a", "mine") == Remembered("mine")
        profile.remember("b", Remembered("x", "B", "required", ["camera"]))
        assert profile.recall("b", "x").permissions == ["camera"]
        assert profile.recall("a") == first


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": {"session_id": "x", "newer": 1}}'])
def test_what_is_no_memory_is_forgotten(tmp_path: Path, text: str) -> None:
    (tmp_path / "sessions.json").write_text(text)
    with open_profile(tmp_path) as profile:
        assert len(profile.recall("a").session_id) == 36


def test_a_second_bridge_works_on_a_copy(tmp_path: Path) -> None:
    with open_profile(tmp_path / "profile") as first:
        first.remember("a", Remembered("mine"))
        first.chromium.mkdir()
        (first.chromium / "SingletonLock").symlink_to("nowhere")
        with open_profile(tmp_path / "profile") as second:
            assert second.is_copy
            assert second.folder != first.folder
            assert second.recall("a").session_id == "mine"
            assert list(second.chromium.iterdir()) == []
        assert not second.folder.exists()
        with pytest.raises(ProfileInUse, match="--profile"), open_profile(tmp_path / "profile", alone=True):
            pass
    with open_profile(tmp_path / "profile") as third:
        assert not third.is_copy


def test_every_server_has_a_folder_of_its_own() -> None:
    folders = {
        default_folder(key) for key in ("https://a.example/pi/", "https://b.example/pi/", "/here/pi", "https://x")
    }
    assert len(folders) == 4
    assert all(folder.name.startswith(("pi-", "x-")) for folder in folders)
