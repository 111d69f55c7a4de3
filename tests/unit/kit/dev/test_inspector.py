"""The inspector as it is served and opened: what is built for whom, its examples, its addresses. The build is faked."""

from __future__ import annotations

import json
import re
import socket
import sys
import time
import urllib.request
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import ConfigError, PortTaken
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.cli.main import main
from mcpframe.kit.dev import inspector
from mcpframe.kit.dev.inspector import Inspecting, serve_inspector
from tests.support.bundles import write_bundle

PI = "https://tools.example/pi/"


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, Path, Any]]:
    """The builds: the project, its target, and its hosts."""
    calls: list[tuple[str, Path, Any]] = []

    def build(path: Path, out: Path, *, allowed_origins: Any = None, **_: object) -> BuildResult:
        calls.append((path.name, out, allowed_origins))
        (out / path.name).mkdir(parents=True, exist_ok=True)
        (out / path.name / "index.html").write_text(path.name)
        return BuildResult(path.name, out / path.name, {"title": path.name.capitalize()}, ())

    monkeypatch.setattr(inspector, "build", build)
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    return calls


def project(folder: Path, kind: str = "server") -> Path:
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nname = "{folder.name}"\n[tool.mcpframe]\nkind = "{kind}"\n')
    (folder / ("main.py" if kind == "page" else "server.py")).write_text("server = None\n")
    return folder


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        text: str = answer.read().decode()
        return text


def test_projects_are_built_for_the_inspector_and_offered(built: list[tuple[str, Path, Any]], tmp_path: Path) -> None:
    one, two = project(tmp_path / "one"), project(tmp_path / "two")
    with serve_inspector([one, two]) as served:
        assert [(name, origins) for name, _, origins in built] == [
            ("inspector", None),
            ("one", [served.origin, served.sandbox]),
            ("two", [served.origin, served.sandbox]),
        ]
        examples = json.loads(get(f"{served.url}examples.json"))["servers"]
        assert examples == [
            {"title": "One", "url": served.servers["one"]},
            {"title": "Two", "url": served.servers["two"]},
        ]
        assert get(served.url) == "inspector"
        assert get(examples[1]["url"]) == "two"
        # Another site, so that a browser gives the servers another process: one that computes blocks no inspector.
        assert (urlsplit(served.url).hostname, urlsplit(examples[0]["url"]).hostname) == ("127.0.0.1", "localhost")


def test_alone_it_offers_nothing(built: list[tuple[str, Path, Any]]) -> None:
    with serve_inspector() as served:
        offered = json.loads(get(f"{served.url}examples.json"))
        assert {**offered, "sandbox": ""} == {"servers": [], "named": [], "sandbox": "", "samples": {}, "hubs": []}
        assert served.servers == {}


def test_only_an_address_that_was_named_here_is_added_without_a_question(built: list[tuple[str, Path, Any]]) -> None:
    with serve_inspector() as served:
        served.url_with(PI)
        served.url_with(PI, "legacy")
        served.url_with(f"{PI}two/", sample={"result": {}})
        served.url_with(f"{PI}hub/", is_hub=True)
        offered = json.loads(get(f"{served.url}examples.json"))
        assert offered["named"] == [PI, f"{PI}two/", f"{PI}hub/"]
        assert (offered["samples"], offered["hubs"]) == ({f"{PI}two/": {"result": {}}}, [f"{PI}hub/"])


def test_projects_of_the_same_name_are_kept_apart(built: list[tuple[str, Path, Any]], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for folder in ("here", "there"):
        with serve_inspector([project(tmp_path / folder / "pi")], port=port):
            pass
    here, there = (out for name, out, _ in built if name == "pi")
    assert here != there
    assert here.exists()


def test_two_installations_do_not_build_over_each_others_page(
    built: list[tuple[str, Path, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        monkeypatch.setattr(inspector, "inspector_source", lambda name=name: tmp_path / name / "inspector")
        with serve_inspector():
            pass
    assert len({out for _, out, _ in built}) == 2


def test_what_is_built_for_a_port_that_was_just_free_is_not_kept(
    built: list[tuple[str, Path, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_inspector() as first:
        monkeypatch.setattr(inspector, "_PAGE_PORT", int(first.origin.rpartition(":")[2]))
        with serve_inspector([project(tmp_path / "pi")]) as second:
            assert get(second.servers["pi"]) == "pi"
    (folder,) = (out for name, out, _ in built if name == "pi")
    assert not folder.exists()


def test_a_page_is_no_server(built: list[tuple[str, Path, Any]], tmp_path: Path) -> None:
    page = project(tmp_path / "page", "page")
    with pytest.raises(ConfigError, match="is a page, not a server"), serve_inspector([page]):
        pass


def test_a_port_in_use(built: list[tuple[str, Path, Any]]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortTaken), serve_inspector(port=port):
            pass


def test_a_built_folder_is_served_for_the_inspector_whoever_it_was_built_for(
    built: list[tuple[str, Path, Any]], tmp_path: Path
) -> None:
    folder = write_bundle(tmp_path / "dist", "pi", allowed_origins=["https://chat.example"])
    with serve_inspector(bundles=[folder]) as served:
        [server] = json.loads(get(f"{served.url}examples.json"))["servers"]
        assert server == {"title": "Pi", "url": served.servers["pi"]}
        boot = json.loads(re.findall(r'id="mcpframe-boot">(.*?)</script>', get(server["url"]))[0])
        assert boot["allowed_origins"] == ["https://chat.example", served.origin, served.sandbox]


def test_the_address_that_adds_a_server() -> None:
    address = Inspecting("http://127.0.0.1:1", "http://127.0.0.1:1/inspector/").url_with(f"{PI}?a=1&b#c", "legacy")
    assert parse_qs(urlsplit(address).fragment) == {"add": [f"{PI}?a=1&b#c"], "era": ["legacy"]}


class TestCommand:
    """`mcpframe inspect`, until it would wait for Ctrl-C."""

    @pytest.fixture(autouse=True)
    def _ended(self, monkeypatch: pytest.MonkeyPatch, built: list[tuple[str, Path, Any]]) -> None:
        self.opened: list[str] = []
        monkeypatch.setattr(webbrowser, "open", self.opened.append)

        def sleep(_: float) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(time, "sleep", sleep)

    def run(self, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["mcpframe", "inspect", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    def test_an_address(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run(monkeypatch, PI, "--era", "legacy") == 130
        told = capsys.readouterr().out
        (opened,) = self.opened
        assert f"inspector  {opened}\n" in told
        assert f"server     {PI}\n" in told
        assert f"has to allow http://{urlsplit(opened).netloc}." in told
        assert parse_qs(urlsplit(opened).fragment) == {"add": [PI], "era": ["legacy"]}

    def test_an_address_whose_page_speaks_another_dialect(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.run(monkeypatch, PI, "--dialect", "plain_mcp") == 130
        (opened,) = self.opened
        assert parse_qs(urlsplit(opened).fragment) == {"add": [PI], "era": ["auto"], "dialect": ["plain_mcp"]}

    def test_a_bundle_has_to_offer_the_dialect(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        folder = str(write_bundle(tmp_path / "dist", "pi", dialects=["sep"]))
        assert self.run(monkeypatch, folder) == 130
        assert self.run(monkeypatch, folder, "--dialect", "plain_mcp") == 1
        assert "does not offer the dialect 'plain_mcp'" in capsys.readouterr().err

    def test_a_project(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        assert self.run(monkeypatch, str(project(tmp_path / "pi")), "--no-open") == 130
        assert self.opened == []
        assert "/pi/\n" in capsys.readouterr().out

    def test_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.run(monkeypatch) == 130
        (opened,) = self.opened
        assert opened.endswith("/inspector/")

    def test_what_is_wrong_is_one_sentence(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        assert self.run(monkeypatch, "ftp://tools.example/") == 1
        assert "only pages of http and https" in capsys.readouterr().err
        assert self.run(monkeypatch, str(tmp_path / "nowhere")) == 1
        assert "There is nothing at" in capsys.readouterr().err
        assert self.run(monkeypatch, PI, "--era", "stone age") == 2
        assert self.run(monkeypatch, PI, PI) == 2
        assert self.run(monkeypatch, "--hub", "--dialect", "plain_mcp") == 2
        assert "the hub has no dialect" in capsys.readouterr().err
        assert self.run(monkeypatch, PI, "--headless") == 2
        assert "--hub" in capsys.readouterr().err
        assert self.run(monkeypatch, "--hub", str(tmp_path / "nowhere")) == 1
        assert "There is nothing at" in capsys.readouterr().err


def test_views_have_a_sandbox_on_another_site_with_no_policy_of_its_own(built: list[tuple[str, Path, Any]]) -> None:
    with serve_inspector() as served:
        sandbox = json.loads(get(f"{served.url}examples.json"))["sandbox"]
        assert (urlsplit(served.url).hostname, urlsplit(sandbox).hostname) == ("127.0.0.1", "localhost")
        with urllib.request.urlopen(sandbox, timeout=20) as answer:
            assert answer.headers["content-type"].startswith("text/html")
            assert not [name for name in answer.headers if "policy" in name.lower()]
            assert "webrtc=block" in answer.headers["connection-allowlist"]
            assert answer.read() == (static_dir() / "app" / "sandbox.html").read_bytes()
