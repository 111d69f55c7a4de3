"""Images, audio and files in results, and the limits of all results.

A `Block` has the fields of MCP's content, which are the same for every SDK. Its type follows from the first bytes.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

MOST_BYTES: Final = 8 * 1024 * 1024
"""The largest image, sound, chart or file in a result, in bytes: the message for it is a third larger."""

_SIGNATURES: Final = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
)
"""The first bytes of files, by their offset, and the media types."""


Key = tuple[str, str]
"""A class: its outermost package, and its name."""


class Block(NamedTuple):
    """Content of a result: an image, audio or a resource.

    Attributes:
        fields: The fields of MCP's content block, as in JSON.
        kind: Its media type.
        note: What is wrong with it, as a text beside it; or an empty string.
    """

    fields: dict[str, Any]
    kind: str
    note: str = ""

    @property
    def noted(self) -> list[Block | str]:
        """The block, and its note if it has one."""
        return [self, self.note] if self.note else [self]

    @property
    def data(self) -> str | bytes:
        """The text or the bytes in it."""
        held = self.fields.get("resource", self.fields)
        return held["text"] if "text" in held else base64.b64decode(held.get("blob") or held["data"])


class Described(NamedTuple):
    """Data with a text for the model, which is shorter or clearer than the data as JSON.

    Attributes:
        data: JSON data, for structured content.
        text: The text.
        inner: Its form inside of other data; None for `data`.
        links: Further content, which leads to what is left out.
    """

    data: dict[str, Any]
    text: str
    inner: list[Any] | None = None
    links: tuple[Block, ...] = ()


def bytes_content(data: bytes, name: str = "result") -> Block | str:
    """Return the content for bytes: an image or audio by its first bytes, a text, or a file.

    Args:
        data: The bytes.
        name: The name of the file; without a suffix, it gets one by its type.

    Raises:
        ValueError: There are more than `MOST_BYTES`.
    """
    import mimetypes  # late: no start needs it

    guessed, encoding = mimetypes.guess_type(name)
    kind = media_type(data) or (guessed if encoding is None else None)
    if kind is None or kind.startswith("text/"):
        try:
            text = data.decode()
        except UnicodeDecodeError:
            kind = "application/octet-stream"
        else:
            return text if kind is None and name == "result" else text_file(text, name, kind or "text/plain")
    if guessed and kind == "application/zip":  # the container of a workbook, among others
        kind = guessed
    if kind.startswith(("image/", "audio/")):
        return Block({"type": kind.partition("/")[0], "data": _base64(data, name), "mimeType": kind}, kind)
    suffix = "" if Path(name).suffix else mimetypes.guess_extension(kind) or ""
    return _resource(name + suffix, kind, blob=_base64(data, name))


def text_file(text: str, name: str, kind: str) -> Block:
    """Return the content for a text with a media type of its own.

    Raises:
        ValueError: It has more than `MOST_BYTES`.
    """
    _check_size(len(text.encode()), name)
    return _resource(name, kind, text=text)


def file_content(path: Path) -> Block | str:
    """Return the content for the file at a path; the path itself where there is no file.

    Raises:
        ValueError: The file has more than `MOST_BYTES`.
    """
    if not path.is_file():
        return str(path)
    _check_size(path.stat().st_size, path.name)
    return bytes_content(path.read_bytes(), path.name)


def media_type(data: bytes) -> str | None:
    """Return the media type of bytes by their signature; None for an unknown one."""
    return next((kind for at, start, kind in _SIGNATURES if data[at:].startswith(start)), None)


def _resource(name: str, kind: str, **content: str) -> Block:
    resource = {"uri": f"file:///{quote(name)}", "mimeType": kind, **content}
    return Block({"type": "resource", "resource": resource}, kind)


def _base64(data: bytes, name: str) -> str:
    _check_size(len(data), name)
    return base64.b64encode(data).decode("ascii")


def _check_size(size: int, name: str) -> None:
    if size > MOST_BYTES:
        raise ValueError(
            f"{name!r} has {size:,} bytes, and a result at most {MOST_BYTES:,}: return a part of it or a smaller form, "
            "or let the user download it with session.page.download()."
        )
