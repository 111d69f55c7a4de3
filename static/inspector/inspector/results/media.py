"""Displays binary content of a server, which is not trusted.

Images and sounds are shown in `<img>` and `<audio>` as data: URLs of a listed media type: there, scripts in an SVG do
not run. The page's policy must allow `data:` in img-src and media-src, as every bundle's does.
"""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from mcpframe.hosts import parse_link

IMAGES = ("png", "jpeg", "gif", "webp", "avif", "bmp", "svg+xml", "x-icon", "vnd.microsoft.icon")
SOUNDS = ("mpeg", "mp3", "wav", "wave", "x-wav", "ogg", "opus", "webm", "mp4", "aac", "flac", "x-flac", "x-m4a", "3gpp")

_ENDINGS = {"svg+xml": "svg", "jpeg": "jpg", "plain": "txt", "mpeg": "mp3", "x-wav": "wav", "octet-stream": "bin"}
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+')


def media_type(kind: Any) -> str:
    """Return a media type in lower case without its parameters; empty if it is not text."""
    return kind.split(";", 1)[0].strip().lower() if isinstance(kind, str) else ""


def decoded(data: Any) -> bytes | None:
    """Return the bytes of a base64 text (either alphabet, line breaks allowed); None if it is not base64."""
    if not isinstance(data, str):
        return None
    plain = "".join(data.split()).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def shown_as(kind: Any) -> str:
    """Return `image` or `audio` for a media type that may be shown, else an empty text."""
    major, _, minor = media_type(kind).partition("/")
    if major == "image" and minor in IMAGES:
        return "image"
    return "audio" if major == "audio" and minor in SOUNDS else ""


def data_url(kind: Any, data: bytes) -> str:
    """Return the data: URL of an image or sound. Raises ValueError for other media types."""
    if not shown_as(kind):
        raise ValueError(f"{kind!r} is not shown")
    return f"data:{media_type(kind)};base64,{base64.b64encode(data).decode()}"


def file_name(uri: Any, kind: Any) -> str:
    """Return a name for a downloaded file: the last part of its URI, or one for its media type."""
    try:
        name = posixpath.basename(unquote(urlsplit(uri).path)) if isinstance(uri, str) else ""
    except ValueError:
        name = ""
    name = _UNSAFE.sub("_", name).strip(". ")[:100]
    if name:
        return name
    major, _, minor = media_type(kind).partition("/")
    ending = re.sub(r"[^a-z0-9]", "", _ENDINGS.get(minor, minor))[:10] or "bin"
    return f"{major if major in ('image', 'audio', 'text') else 'content'}.{ending}"


def web_address(uri: Any) -> str | None:
    """Return an http or https address for a link; None for any other, such as javascript:."""
    try:
        link = parse_link(uri)
    except ValueError:
        return None
    return link if link.startswith("http") else None


def size_text(count: int) -> str:
    """Return a number of bytes in a readable unit."""
    if count < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    return f"{count / 1000:,.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:,.1f} MB"
