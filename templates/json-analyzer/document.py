"""The document that a session has chosen: read from the file's bytes, and kept in the session's storage."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, NoReturn

from mcp.server.mcpserver.exceptions import ToolError

from mcpframe import FrameSession

CONTENT, NAME = "document", "document name"


class DocumentError(ToolError):
    """A file is not JSON, or the session has no file."""


@dataclass(frozen=True)
class Document:
    """A JSON document.

    Attributes:
        name: The file's name.
        size: The file's size in bytes.
        value: The parsed document; of JSON Lines, the list of its lines.
    """

    name: str
    size: int
    value: Any


def parse(name: str, data: bytes) -> Document:
    """Read JSON, or JSON Lines, in any Unicode encoding.

    Raises:
        DocumentError: It is neither; the message says at which place.
    """
    try:
        text = data.decode("utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else json.detect_encoding(data))
    except UnicodeDecodeError as error:
        raise DocumentError(f"{name} is not text: byte {error.start:,} is not valid in any Unicode encoding.") from None
    try:
        return Document(name, len(data), _loads(text))
    except json.JSONDecodeError as error:
        if lines := _json_lines(text):
            return Document(name, len(data), lines)
        raise DocumentError(f"{name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise DocumentError(f"{name} is nested too deeply to be read.") from None


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_no_number)


def _no_number(name: str) -> NoReturn:
    raise DocumentError(f"The document contains {name}, which is not a JSON number.")


def _json_lines(text: str) -> list[Any]:
    try:
        lines = [_loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError:
        return []
    return lines if len(lines) > 1 else []


class Shelf:
    """The documents of sessions: stored as the original file, and parsed once on first use."""

    def __init__(self) -> None:
        """Create it without documents."""
        self._read: tuple[str, Document] | None = None
        self._lock = asyncio.Lock()

    async def put(self, session: FrameSession, name: str, data: bytes) -> None:
        """Store a file for a session, instead of the one before."""
        await session.storage.set(CONTENT, data)
        await session.storage.set(NAME, name)
        self._read = None

    async def get(self, session: FrameSession) -> Document:
        """Return the session's document.

        Raises:
            DocumentError: The session has none.
        """
        async with self._lock:  # two calls at the same time parse a large file once
            if self._read is None or self._read[0] != session.id:
                data = await session.storage.get(CONTENT)
                if data is None:
                    raise DocumentError("No document has been chosen: run this server's setup and choose a JSON file.")
                name = await session.storage.get(NAME, "document.json")
                self._read = session.id, parse(name, data)
            return self._read[1]
