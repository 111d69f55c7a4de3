"""The command line of a release, and the comparison of a package with the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.errors import KitError, ToolFailed
from tests.release import __main__ as command
from tests.release.checks import check_same, in_wheel
from tests.release.packages import Packages

ROOT = checkout_dir()


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The titles of the checks that ran, each of which succeeds, in a repository that is not read."""
    ran: list[str] = []

    def build_packages(*_: object) -> Packages:
        files = [tmp_path / name for name in ("a.whl", "a.tar.gz", "a.tgz", "a.zip", "b.zip")]
        for file in files:
            file.write_bytes(b"")
        return Packages(*files)

    def check(title: str) -> object:
        return lambda packages: ran.append(title)

    monkeypatch.setattr(command, "checkout_dir", lambda: tmp_path)
    monkeypatch.setattr(command, "project_version", lambda root: "1.0.0")
    monkeypatch.setattr(command, "check_changelog", lambda *_, final: None)
    monkeypatch.setattr(command, "check_committed", lambda root: ran.append("committed"))
    monkeypatch.setattr(command, "build_packages", build_packages)
    monkeypatch.setattr(command, "CHECKS", {title: check(title) for title in ("first", "second")})
    return ran


def test_every_check_runs_although_one_has_failed(
    built: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(packages: Packages) -> None:
        raise ToolFailed("twine failed with status 1: no title.", "no title\nin line 3")

    monkeypatch.setitem(command.CHECKS, "first", fails)
    assert command.main([]) == 1
    assert built == ["second"]
    shown = capsys.readouterr().err
    assert "no title\nin line 3\nrelease: twine failed" in shown
    assert "1 of 2 checks failed" in shown


def test_nothing_is_published_and_only_a_final_release_must_be_committed(
    built: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([]) == 0
    assert built == ["first", "second"]
    assert "twine upload" not in capsys.readouterr().out
    assert command.main(["--final"]) == 0
    assert built[2:] == ["committed", "first", "second"]
    assert "twine upload" in capsys.readouterr().out


def test_the_version_can_be_checked_alone(built: list[str]) -> None:
    assert (command.main(["--only-version"]), built) == (0, [])


def test_nothing_is_built_without_a_section_in_the_changelog(
    built: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, final: bool) -> None:
        raise KitError("no section")

    monkeypatch.setattr(command, "check_changelog", refuse)
    assert command.main([]) == 1
    assert (built, capsys.readouterr().err) == ([], "release: no section\n")


def test_a_package_has_the_files_of_the_repository_and_no_others() -> None:
    check_same(Path("a.whl"), {"a", "b"}, {"a", "b"})
    with pytest.raises(KitError, match=r"a\.whl .*has c, it lacks b"):
        check_same(Path("a.whl"), {"a", "c"}, {"a", "b"})


def test_the_data_of_the_repository_is_inside_the_package() -> None:
    assert in_wheel("mcpframe/views/view.py") == "mcpframe/views/view.py"
    assert in_wheel("static/page/page.js") == "mcpframe/_data/static/page/page.js"
    assert in_wheel("static/host/host.js") == "mcpframe/_data/static/host/host.js"
    assert in_wheel("templates/shop/main.py") == "mcpframe/_data/projects.zip/templates/shop/main.py"
    assert in_wheel("static/inspector/app.css") == "mcpframe/_data/projects.zip/inspector/app.css"


def test_the_commands_of_the_readmes_first_screen_are_walked() -> None:
    console = re.search(r"```console\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert console
    source = (ROOT / "tests" / "release" / "use.py").read_text("utf-8")
    walked = set(re.findall(r'mcpframe, "(\w+)"', source))
    assert {"new", "test", "build", "call"} <= walked
    assert set(re.findall(r"^\$ mcpframe (\w+)", console[1], re.MULTILINE)) - {"dev"} <= walked  # which never ends
