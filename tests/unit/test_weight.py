"""build.py weight: lines of code by room, now and since a commit."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import KitError
from tests.support.weight import count_lines, main, room, table


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, and changes since."""
    files = {"mcpframe/a/b.py": 3, "static/page/bundled/made.js": 9, "docs/no.py": 9, "static/data.json": 9}
    for path, lines in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x\n" * lines)
    (tmp_path / ".gitattributes").write_text("static/page/bundled/* linguist-generated -diff\n")
    identity = ["-c", "user.name=t", "-c", "user.email=t@t.test"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "x", "--no-gpg-sign"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "mcpframe/a/b.py").write_text("x\n" * 5)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_new.py").write_text("x\n" * 2)
    return tmp_path


def test_code_is_counted_now_and_at_a_commit(repository: Path) -> None:
    assert count_lines("HEAD", repository) == {"mcpframe/a/b.py": 3}
    assert count_lines(root=repository) == {"mcpframe/a/b.py": 5, "tests/test_new.py": 2}


def test_an_unknown_commit_is_an_error() -> None:
    with pytest.raises(KitError, match="no commit 'no-such-commit'"):
        main(["no-such-commit"])


def test_more_than_a_commit_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["one", "two"]) == main(["--help"]) == 2
    assert "weight [COMMIT]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("mcpframe/frame/core/x.py", "mcpframe/frame/core"),
        ("mcpframe/frame/compat/http/x.py", "mcpframe/frame/compat"),
        ("mcpframe/__init__.py", "mcpframe"),
        ("tests/unit/frame/test_x.py", "tests/unit"),
        ("templates/copilot/server.py", "templates/copilot"),
    ],
)
def test_the_room_of_a_file(path: str, folder: str) -> None:
    assert room(path) == folder


def test_rooms_stand_under_their_sum_and_a_removed_one_too() -> None:
    now = Counter({"mcpframe/a/x.py": 5, "static/b/y.js": 4, "tests/unit/t.py": 2})
    before = Counter({"mcpframe/a/x.py": 6, "static/b/y.js": 4, "tests/unit/gone/t.py": 3, "tests/unit/t.py": 2})
    assert [line.split() for line in table(now, before)] == [
        *(["product", "9", "-1"], ["mcpframe/a", "5", "-1"], ["static/b", "4"]),
        *(["tests", "2", "-3"], ["tests/unit", "2", "-3"]),
    ]
    assert table(now)[0].split() == ["product", "9"]
