"""The development server without a browser: what a change leads to. The build itself is stood in for."""

from __future__ import annotations

import json
import sys
import webbrowser
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import urlopen

import pytest
import watchfiles

from mcpframe.kit.base.errors import BuildError, ConfigError, PortTaken
from mcpframe.kit.bundle.output_root import BuildResult
from mcpframe.kit.cli.main import main
from mcpframe.kit.dev import inspector
from mcpframe.kit.dev import server as dev
from mcpframe.kit.web.serve import serve_app
from mcpframe.kit.web.site import Site

SERVER = "from mcpframe import FrameServer\n\nserver = FrameServer('a')\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "server.py").write_text(SERVER)
    (folder / "pyproject.toml").write_text('[project]\nname = "a"\n\n[tool.mcpframe]\nentry = "server:server"\n')
    return folder


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = []

    def build(path: Path, out: Path, **options: Any) -> BuildResult:
        calls.append({"path": path, **options})
        if not options["draft"] and "def (" in (path / "server.py").read_text():
            raise BuildError("server.py is not valid Python 3.14: invalid syntax, line 4.")
        return BuildResult("a", out / "a", {})

    monkeypatch.setattr(dev, "build", build)
    return calls


def test_a_change_is_built_as_a_draft_for_the_host_page(project: Path, builds: list[dict[str, Any]]) -> None:
    with dev.serve_dev(project, also=("http://inspector.localhost:1",)) as server:
        assert server.first_error is None
        assert server.rebuild() is None
        origin = server.url.rstrip("/")
        assert builds[1]["allowed_origins"] == [origin, "http://inspector.localhost:1"]
        # Two sites, so that a browser gives them two processes.
        assert (urlsplit(origin).hostname, urlsplit(server.server_url or "").hostname) == ("127.0.0.1", "localhost")
        assert builds[1]["draft"]
        assert server.channel._state["version"] == 2
        assert str(server.channel._state["url"]).endswith("/a/")


def test_a_syntax_error_is_told_at_once_and_the_build_has_the_last_word(
    project: Path, builds: list[dict[str, Any]]
) -> None:
    with dev.serve_dev(project) as server:
        (project / "server.py").write_text(SERVER + "def (\n")
        told: list[object] = []
        publish = server.channel.publish
        server.channel.publish = lambda **news: told.append(news) or publish(**news)  # type: ignore[method-assign,func-returns-value]
        error = server.rebuild()
        assert not builds[-1]["draft"]
        assert told[0] == {"error": f"{project / 'server.py'}, line 4: invalid syntax."}
        assert told[1] == {"error": str(error)}
        (project / "server.py").write_text(SERVER)
        assert server.rebuild() is None
        assert server.channel._state["error"] is None


def test_the_files_of_the_build_before_are_served(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = 0

    def build(path: Path, out: Path, **options: Any) -> BuildResult:
        nonlocal number
        for file in (out / "a").glob("server.*"):
            file.unlink()
        number += 1
        (out / "a").mkdir(exist_ok=True)
        (out / "a" / f"server.{number}.zip").write_text(str(number))
        (out / "a" / "index.html").write_text(str(number))
        return BuildResult("a", out / "a", {})

    def served(name: str) -> str:
        try:
            with urlopen(f"{server.server_url}{name}") as response:
                return str(response.read().decode())
        except HTTPError as error:
            return str(error.code)

    monkeypatch.setattr(dev, "build", build)
    with dev.serve_dev(project) as server:
        server.rebuild()
        assert [served(name) for name in ("index.html", "server.1.zip", "server.2.zip")] == ["2", "1", "2"]
        server.rebuild()
        found = [served(name) for name in ("index.html", "server.1.zip", "server.2.zip", "server.3.zip")]
        assert found == ["3", "404", "2", "3"]


def test_a_first_build_that_fails_does_not_stop_it(project: Path, builds: list[dict[str, Any]]) -> None:
    (project / "server.py").write_text(SERVER + "def (\n")
    with dev.serve_dev(project) as server:
        assert isinstance(server.first_error, BuildError | ConfigError)
        assert server.channel._state["error"]


def test_what_does_not_start_is_told_unless_there_is_a_newer_build(
    project: Path, builds: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = vars(dev)["build"]  # that of `builds`

    def build(path: Path, out: Path, *, draft: bool = False, **options: Any) -> BuildResult:
        if not draft and "import nothing" in (path / "server.py").read_text():
            raise BuildError("The server does not start: No module named 'nothing'.\nserver.py, line 4")
        return whole(path, out, draft=draft, **options)

    monkeypatch.setattr(dev, "build", build)
    with dev.serve_dev(project) as server:
        first = server.channel.built
        (project / "server.py").write_text(SERVER + "import nothing\n")
        assert server.rebuild() is None
        assert server.prove(first) is None
        assert server.channel._state["error"] is None
        error = server.prove(server.channel.built)
        assert (server.channel._state["error"], server.channel._state["fails"]) == (str(error), "start")
        (project / "server.py").write_text(SERVER)
        assert server.rebuild() is None
        assert server.prove(server.channel.built) is None
        assert server.channel._state["error"] is None


def test_changes_are_watched_and_what_tools_write_is_not(project: Path, builds: list[dict[str, Any]]) -> None:
    sources = dev._Sources(project)
    changed = watchfiles.Change.modified
    assert sources(changed, str(project / "server.py"))
    assert sources(changed, str(project / "assets" / "picture.svg"))
    for ours in ("mcpframe.lock", "dist/a/index.html", "__pycache__/x.pyc", ".git/index", ".venv/x.py"):
        assert not sources(changed, str(project / ours)), ours
    with dev.serve_dev(project) as server:
        seen: list[object] = []

        def told(error: object, seconds: float) -> None:
            seen.append((error, seconds < 60))
            server.stop()

        (project / "server.py").write_text(SERVER + "# changed before it is watched, and after\n")
        _touch_until(lambda: bool(seen), project / "server.py", lambda: server.watch(told))
        assert seen == [(None, True)]


def _touch_until(done: Any, file: Path, watch: Any) -> None:
    """Change the file until the watcher, which runs here, has seen it: it tells nobody when it is ready."""
    import threading

    def touch() -> None:
        pause = threading.Event()
        for number in range(200):
            if done():
                return
            file.write_text(SERVER + f"# {number}\n")
            pause.wait(0.1)

    thread = threading.Thread(target=touch)
    thread.start()
    watch()
    thread.join()


def test_no_project_and_a_port_that_is_taken(project: Path, tmp_path: Path, builds: list[dict[str, Any]]) -> None:
    with pytest.raises(ConfigError, match="does not exist"), dev.serve_dev(tmp_path / "nothing"):
        pass
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "main.py").write_text("async def main(page): ...\n")
    (tmp_path / "page" / "pyproject.toml").write_text('[project]\nname = "p"\n[tool.mcpframe]\nkind = "page"\n')
    with pytest.raises(ConfigError, match="is a page, not a server"), dev.serve_dev(tmp_path / "page"):
        pass
    with serve_app(Site(project)) as taken, pytest.raises(PortTaken), dev.serve_dev(project, port=taken.port):
        pass


def test_the_command_opens_the_inspector_with_the_project_in_it(
    project: Path,
    builds: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def build(path: Path, out: Path, **_: Any) -> BuildResult:
        (out / "inspector").mkdir(parents=True)
        return BuildResult("inspector", out / "inspector", {"title": "Inspector"})

    def watch(server: dev.DevServer, told: object) -> None:
        (address,) = opened
        addresses.append(server.server_url)
        with urlopen(address.replace("#", "examples.json?"), timeout=20) as answer:
            assert json.load(answer)["named"] == addresses
        raise KeyboardInterrupt

    opened: list[str] = []
    addresses: list[str | None] = []
    monkeypatch.setattr(inspector, "build", build)
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(dev.DevServer, "watch", watch)
    monkeypatch.setattr(sys, "argv", ["mcpframe", "dev", str(project)])
    with pytest.raises(SystemExit):
        main()
    fragment = parse_qs(urlsplit(opened[0]).fragment)
    assert fragment["add"] == addresses
    assert f"Serving {opened[0]}" in capsys.readouterr().out
