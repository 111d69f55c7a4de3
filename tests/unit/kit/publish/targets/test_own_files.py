"""A file of an author is never overwritten; an own one is renewed."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.base.errors import PublishError
from mcpframe.kit.publish.targets.own_files import MARKED, UNSIGNED, is_own, signed, write_own

TEXT = f"{MARKED}a = 1\n"


def test_a_signed_text_is_recognized_until_it_is_edited() -> None:
    text = signed(TEXT)
    assert is_own(text)
    assert UNSIGNED not in text
    assert signed(text) == text
    for edited in (text.replace("a = 1", "a = 2"), text + "\n", "# mine\n" + text, text.replace("mcpframe-", "x-", 1)):
        assert not is_own(edited)
    assert not is_own(TEXT)


def test_a_text_without_a_place_for_the_mark_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="no mark"):
        signed("a = 1\n")


def test_an_own_file_is_renewed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.toml"
    assert write_own({path: TEXT}) == {path: "new"}
    assert write_own({path: TEXT}) == {path: "unchanged"}
    assert write_own({path: TEXT + "b = 2\n"}) == {path: "renewed"}
    assert path.read_text().endswith("b = 2\n")


def test_a_checkout_with_the_line_ends_of_windows_is_still_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(signed(TEXT).replace("\n", "\r\n").encode())
    assert write_own({path: TEXT + "b = 2\n"}) == {path: "renewed"}


@pytest.mark.parametrize("theirs", [b"a = 3\n", b"", b"\xff\xfe", signed(TEXT).encode() + b"b = 4\n"])
def test_a_file_of_its_author_is_kept_and_nothing_is_written(tmp_path: Path, theirs: bytes) -> None:
    path, other = tmp_path / "a.toml", tmp_path / "other.toml"
    path.write_bytes(theirs)
    with pytest.raises(PublishError, match="move"):
        write_own({other: TEXT, path: TEXT})
    assert path.read_bytes() == theirs
    assert not other.exists()


def test_the_difference_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("a = 3\n")
    with pytest.raises(PublishError) as caught:
        write_own({path: TEXT})
    assert {"-a = 3", "+a = 1"} <= set(str(caught.value).splitlines())


def test_a_link_to_nowhere_is_its_author_s_too(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(PublishError, match="cannot be read"):
        write_own({path: TEXT})
    assert path.is_symlink()


@pytest.mark.parametrize(("name", "extras"), [("pages.yml", "author,node"), ("workflow.yml", "node,test")])
def test_a_workflow_of_a_new_project_is_an_own_file(name: str, extras: str) -> None:
    text = (static_dir() / "new" / name).read_text("utf-8")
    assert f'pip install "mcpframe[{extras}]=={version("mcpframe")}"\n' in text
    assert is_own(text), f"sign it: {signed(text).splitlines()[1:3]}"
