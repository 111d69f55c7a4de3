"""A tool's answer as text and as files."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.cli.calling.tool_result import raised_at, save, shown


def image(data: bytes = b"PNG", kind: str = "image/png") -> dict[str, object]:
    return {"type": "image", "mimeType": kind, "data": base64.b64encode(data).decode()}


def test_what_is_no_text_becomes_files(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": "Here:"},
        image(),
        {"type": "audio", "mimeType": "audio/x-wav", "data": base64.b64encode(b"WAV").decode()},
        {"type": "resource", "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "ü\ud800"}},
        {"type": "resource", "resource": {"uri": "a://c", "blob": base64.b64encode(b"\0").decode()}},
        {"type": "resource_link", "uri": "a://d", "name": "d"},
    ]
    saved = save({"content": content}, tmp_path / "out", "draw")
    assert {place: path.name for place, path in saved.items()} == {
        1: "draw-1.png",
        2: "draw-1.wav",
        3: "draw-1.txt",
        4: "draw-1.bin",
    }
    assert saved[1].read_bytes() == b"PNG"
    told = shown({"content": content}, saved)
    assert told.startswith("Here:\n[image, image/png, 3 bytes: saved as ")
    assert "[resource_link a://d: see --save or --json]" in told


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "draw-1.png").write_text("mine")
    saved = save({"content": [image()]}, tmp_path, "draw")
    assert saved[0].name == "draw-2.png"
    assert (tmp_path / "draw-1.png").read_text() == "mine"


@pytest.mark.parametrize("name", ["../../up", "/etc/passwd", "a\0b", ".", "", "x" * 500])
@pytest.mark.parametrize("kind", ["image/../../x", "text/html; charset=x", "", "\0"])
def test_the_server_decides_on_no_place(tmp_path: Path, name: str, kind: str) -> None:
    [path] = save({"content": [image(kind=kind)]}, tmp_path, name).values()
    assert path.parent == tmp_path
    assert len(path.name) < 100


def test_what_is_not_base64_is_not_saved(tmp_path: Path) -> None:
    block = {"type": "image", "mimeType": "image/png", "data": "?"}
    assert save({"content": [block]}, tmp_path, "draw") == {}
    assert "[image, image/png" in shown({"content": [block]})


def test_a_folder_that_cannot_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(WriteError, match="--save"):
        save({"content": [image()]}, tmp_path / "file", "draw")


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        ({"type": "KeyError", "file": "server.py", "line": 4}, "KeyError in server.py, line 4"),
        ({"type": "KeyError"}, "KeyError"),
        ({"type": 5, "file": "server.py", "line": 4}, ""),
        ({"type": "KeyError", "file": ["x"], "line": "4"}, "KeyError"),
        ("KeyError", ""),
        (None, ""),
    ],
)
def test_an_error_names_its_place(raised: object, text: str) -> None:
    assert raised_at({"isError": True, "_meta": {"mcpframe/raised": raised}}) == text
    assert raised_at({"isError": True, "_meta": raised}) == raised_at({}) == ""
