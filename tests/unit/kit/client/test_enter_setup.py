"""The entries of `--enter` in the setup of a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpframe.kit.base.errors import SetupNotDone
from mcpframe.kit.client.enter_setup import parse_entries


def test_fields_files_and_buttons_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.touch()
    assert parse_entries(["Name=Ada = Lovelace", f"File=@{file}", "Save"]) == [
        ("Name", "Ada = Lovelace"),
        ("File", file),
        ("Save", None),
    ]


@pytest.mark.parametrize(
    ("entry", "words"), [("=Ada", "neither a field nor a button"), ("File=@nothing.txt", "nothing.txt is not a file")]
)
def test_an_entry_without_a_name_or_a_file_is_an_error(entry: str, words: str) -> None:
    with pytest.raises(SetupNotDone, match=words):
        parse_entries([entry])
