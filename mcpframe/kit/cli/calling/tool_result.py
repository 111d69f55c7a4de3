"""Shows a tool's result to a person: as text, and everything else as files."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcpframe.frame.core.raised import RAISED
from mcpframe.kit.base.errors import WriteError
from mcpframe.kit.base.json_schema import SchemaTooComplex, error_of

_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}\Z")


def shown(result: Mapping[str, Any], saved: Mapping[int, Path] | None = None) -> str:
    """Return a tool's result as text: its text, a line for each other block, or its structured content.

    Args:
        result: The result, as on the wire.
        saved: The files in which blocks were saved, by the index of the block.
    """
    parts = []
    for place, block in enumerate(result.get("content", ())):
        if block["type"] == "text":
            parts.append(block["text"])
            continue
        where = f"saved as {saved[place]}" if saved and place in saved else "see --save or --json"
        if block["type"] in ("image", "audio"):
            parts.append(f"[{block['type']}, {block['mimeType']}, {len(block['data']) * 3 // 4:,} bytes: {where}]")
        else:
            uri = block.get("uri") or block.get("resource", {}).get("uri", "")
            parts.append(f"[{block['type']} {uri}: {where}]")
    if not parts and "structuredContent" in result:
        parts.append(json.dumps(result["structuredContent"], indent=2))
    return "\n".join(parts)


def mismatch_of(result: Mapping[str, Any], tool: Mapping[str, Any]) -> str:
    """Return in which way a result does not fit the tool's output schema (MCP specification, server/tools); else "".

    Args:
        result: The result, as on the wire.
        tool: The tool, as listed.
    """
    schema = tool.get("outputSchema")
    if schema is None or result.get("isError"):
        return ""
    if "structuredContent" not in result:
        return "The tool has an output schema, and its result has no structured content: other clients refuse it."
    try:
        error = error_of(result["structuredContent"], schema)
    except SchemaTooComplex:
        return ""
    except ValueError as invalid:
        return f"The result was not checked against the tool's output schema: {invalid}."
    return (
        f"The result does not fit the tool's output schema, so that other clients refuse it: {error}." if error else ""
    )


def raised_at(result: Mapping[str, Any]) -> str:
    """Return the type and the place of the exception that an error result names; empty for none."""
    meta = result.get("_meta")
    raised = meta.get(RAISED) if isinstance(meta, dict) else None
    if not isinstance(raised, dict) or not isinstance(raised.get("type"), str):
        return ""
    file, line = raised.get("file"), raised.get("line")
    return (
        f"{raised['type']} in {file}, line {line}"
        if isinstance(file, str) and isinstance(line, int)
        else raised["type"]
    )


def save(result: Mapping[str, Any], folder: Path, name: str) -> dict[int, Path]:
    """Save the images, sounds and embedded resources of a tool's result, each as a new file.

    The server decides on neither the folder nor the name: a file is named after the called tool and a number, and no
    file is overwritten.

    Args:
        result: The result, as on the wire.
        folder: The folder for the files, which is created if needed.
        name: The beginning of the files' names.

    Returns:
        The files, by the places of their blocks in the content.

    Raises:
        WriteError: A file cannot be written.
    """
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:64] or "answer"
    saved: dict[int, Path] = {}
    try:
        for place, data, kind in _contents(result):
            folder.mkdir(parents=True, exist_ok=True)
            saved[place] = _write_new(folder, stem, _suffix(kind), data)
    except OSError as error:
        raise WriteError(f"{error.filename or folder}: {error.strerror}; choose another folder for --save.") from error
    return saved


def _contents(result: Mapping[str, Any]) -> Iterator[tuple[int, bytes, str]]:
    for place, block in enumerate(result.get("content", ())):
        held = block.get("resource", {}) if block["type"] == "resource" else block
        encoded = held.get("data", held.get("blob"))
        try:
            if isinstance(encoded, str):
                yield place, base64.b64decode(encoded, validate=True), held.get("mimeType", "")
            elif block["type"] == "resource" and isinstance(held.get("text"), str):
                yield place, held["text"].encode("utf-8", "backslashreplace"), held.get("mimeType", "text/plain")
        except binascii.Error:
            continue  # the text names its type, and --json includes it


def _write_new(folder: Path, stem: str, suffix: str, data: bytes) -> Path:
    number = 1
    while True:
        path = folder / f"{stem}-{number}{suffix}"
        try:
            with path.open("xb") as file:
                file.write(data)
        except FileExistsError:
            number += 1
            continue
        return path


def _suffix(kind: str) -> str:
    suffix = mimetypes.guess_extension(kind.partition(";")[0].strip().lower(), strict=False) or ".bin"
    return suffix if _SUFFIX.match(suffix) else ".bin"
