"""The served files around a bundle: those that its manifest lists, whatever it says."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.base.progress import silent
from mcpframe.kit.bridge.target import open_target
from mcpframe.kit.cli.shared.served_target import served as served_bundles
from mcpframe.kit.servers.bundle_site import BundleSite
from mcpframe.kit.servers.published import fetch

LISTED = ["pi/index.html", "pi/server.zip", "pi/assets/a b.txt", "_mcpframe/loader.js", "_mcpframe/runtime/python.wasm"]


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    """A folder with a bundle, another one, what they share, and what is nobody's business."""
    root = tmp_path / "Downloads"
    for path in [*LISTED, "pi/private.txt", "other/index.html", "_mcpframe/other.js", "passwords.txt", "index.html"]:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    (root / "pi" / "server.zip.gz").write_bytes(gzip.compress(b"packed"))
    (root / "pi" / "index.html.gz").write_bytes(gzip.compress(b"not listed"))
    (tmp_path / "secret").write_text("secret")
    write_manifest(root, "pi", *LISTED)
    write_manifest(root, "other", "other/index.html")
    return root


def write_manifest(root: Path, name: str, *paths: Any) -> None:
    files = [{"path": path, "gzip_bytes": 1 if path == "pi/server.zip" else None} for path in paths]
    manifest = {"mcpframe_manifest": 1, "allowed_origins": ["*"], "files": files}
    (root / name / "manifest.json").write_text(json.dumps(manifest))


def site(downloads: Path) -> TestClient:
    return TestClient(BundleSite.of(downloads / "pi"), follow_redirects=False)


def test_what_the_manifest_lists_is_served(downloads: Path) -> None:
    served = site(downloads)
    for path in LISTED:
        answer = served.get(f"/{path}", headers={"accept-encoding": "identity"})
        assert (answer.status_code, answer.text) == (200, path)
    assert served.get("/pi/").text == "pi/index.html"
    assert served.get("/pi").headers["location"] == "./pi/"
    assert served.get("/pi/manifest.json").json()["allowed_origins"] == ["*"]
    assert served.get("/pi/server.zip").text == "packed"


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/passwords.txt", "/index.html", "/pi/../passwords.txt", "/pi/%2e%2e/passwords.txt", "/pi/private.txt"),
        *("/other/", "/other/index.html", "/other/manifest.json", "/_mcpframe/other.js", "/_mcpframe/", "/_mcpframe"),
        *("/pi/server.zip.gz", "/pi/assets/", "/pi//index.html", "//pi/", "/pi/server.zip/", "/PI/"),
    ],
)
def test_nothing_else_is(downloads: Path, path: str) -> None:
    assert site(downloads).get(f"http://testserver{path}").status_code == 404


def test_a_manifest_cannot_list_what_is_not_the_bundles(downloads: Path) -> None:
    lies = ["passwords.txt", "../passwords.txt", "pi/../passwords.txt", "/passwords.txt", "other/index.html", 5, None]
    lies += [
        "_mcpframe/../passwords.txt",
        "_mcpframe/./loader.js",
        "pi/linked.txt",
        "_mcpframe/linked.txt",
        "pi/linked",
    ]
    (downloads / "pi" / "linked.txt").symlink_to(downloads.parent / "secret")
    (downloads / "_mcpframe" / "linked.txt").symlink_to(downloads / "passwords.txt")
    (downloads / "pi" / "linked").symlink_to(downloads)
    write_manifest(downloads, "pi", *lies, "pi/linked/passwords.txt")
    served = site(downloads)
    for path in [lie for lie in lies if isinstance(lie, str)] + ["pi/linked/passwords.txt", "pi/passwords.txt"]:
        assert served.get(f"http://testserver/{path}").status_code == 404
    assert served.get("/other/index.html").status_code == 404


def test_a_shared_folder_that_is_a_link_is_not_shared(downloads: Path) -> None:
    (downloads / "_mcpframe").rename(downloads.parent / "elsewhere")
    (downloads / "_mcpframe").symlink_to(downloads.parent)
    write_manifest(downloads, "pi", "_mcpframe/secret")
    assert site(downloads).get("/_mcpframe/secret").status_code == 404


@pytest.mark.parametrize("text", ["", "[]", "5", "{", "[" * 100_000, '{"files": 5}', '{"files": [5, {"path": 5}]}'])
def test_a_manifest_that_is_none_lists_nothing(downloads: Path, text: str) -> None:
    (downloads / "pi" / "manifest.json").write_text(text)
    assert site(downloads).get("/pi/").status_code == 404
    with pytest.raises(ConfigError, match="not the manifest"), open_target(str(downloads / "pi")):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_manifest_that_is_a_pipe_is_not_waited_for(downloads: Path) -> None:
    served = site(downloads)
    (downloads / "pi" / "manifest.json").unlink()
    os.mkfifo(downloads / "pi" / "manifest.json")
    assert served.get("/pi/").status_code == 404


def test_it_is_read_anew_when_it_changes(downloads: Path) -> None:
    served = site(downloads)
    assert served.get("/pi/private.txt").status_code == 404
    write_manifest(downloads, "pi", "pi/private.txt")
    assert served.get("/pi/private.txt").status_code == 200


def test_a_folder_that_was_renamed_is_served(downloads: Path) -> None:
    (downloads / "pi").rename(downloads / "my pi")
    served = TestClient(BundleSite.of(downloads / "my pi"))
    assert served.get("/my%20pi/server.zip").text == "packed"


def test_the_bridge_serves_no_more_than_that(downloads: Path) -> None:
    with open_target(str(downloads / "pi")) as target:
        [port] = target.addresses.values()
        statuses = {
            path: fetch(f"http://127.0.0.1:{port}/{path}").status for path in ("pi/", "passwords.txt", "other/")
        }
    assert statuses == {"pi/": 200, "passwords.txt": 404, "other/": 404}


def test_a_check_serves_each_bundle_alone(downloads: Path) -> None:
    with served_bundles(str(downloads), progress=silent) as [other, pi]:
        assert fetch(pi).body == b"pi/index.html"
        for url in (f"{pi}../passwords.txt", f"{pi}../other/", f"{other}../pi/", f"{pi}../_mcpframe/other.js"):
            assert fetch(url).status == 404


def test_who_may_read_it_can_be_limited(downloads: Path) -> None:
    (downloads / "_headers").write_text("/*\n  Access-Control-Allow-Origin: *\n")
    for readers, allowed in ((None, "*"), ((), None)):
        served = TestClient(BundleSite.of(downloads / "pi", readers=readers))
        answer = served.get("/pi/", headers={"Origin": "https://other.example"})
        assert (answer.status_code, answer.headers.get("access-control-allow-origin")) == (200, allowed)
