"""Files of earlier builds that stay for a while: pages that were opened before a deploy may still ask for them.

A record in the output root has what is kept, and until when. Each file's name has the hash of its content, so that
files of several builds can be beside each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from mcpframe.kit.base.cache import write_file

RECORD = ".mcpframe-kept.json"
"""The record's name; web servers do not need it."""


@dataclass(frozen=True)
class EarlierFiles:
    """Files of one earlier build.

    Attributes:
        until: When they may be removed, in ISO 8601.
        files: Their paths below the output root.
    """

    until: str
    files: tuple[str, ...]


def read_kept(out: Path, now: datetime) -> list[EarlierFiles]:
    """Return what an output root keeps at a time; nothing if its record cannot be read."""
    try:
        entries = json.loads((out / RECORD).read_text("utf-8"))["kept"]
        kept = [
            EarlierFiles(each["until"], tuple(path for path in each["files"] if _is_inside(path))) for each in entries
        ]
        return [each for each in kept if datetime.fromisoformat(each.until) > now]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _is_inside(path: str) -> bool:
    parsed = PurePosixPath(path)
    return not parsed.is_absolute() and ".." not in parsed.parts


def replaced_files(earlier: Mapping[str, Any], manifest: Mapping[str, Any], until: datetime) -> EarlierFiles:
    """Return the files of a bundle that its next build does not have.

    Args:
        earlier: Its manifest.
        manifest: The manifest of the next build.
        until: When they may be removed.
    """
    now_there = {entry["path"] for entry in manifest["files"]}
    gone = [entry["path"] for entry in earlier["files"] if entry["path"] not in now_there]
    return EarlierFiles(until.isoformat(), tuple(sorted(gone)))


def kept_after(
    out: Path, earlier: Mapping[str, Any] | None, manifest: Mapping[str, Any], keep: timedelta | None, now: datetime
) -> list[EarlierFiles]:
    """Return what an output root has to keep once a bundle is replaced.

    Args:
        out: The output root.
        earlier: The manifest of the bundle that is replaced, if there is one.
        manifest: The manifest of the new one.
        keep: How long the replaced files are kept; None to keep none of them. What earlier builds keep, stays.
        now: The time.
    """
    kept = read_kept(out, now)
    if keep is not None and earlier is not None:
        kept.append(replaced_files(earlier, manifest, now + keep))
    return [each for each in kept if each.files]


def write_kept(out: Path, kept: Iterable[EarlierFiles]) -> None:
    """Write the record of an output root, or remove it if nothing is kept."""
    entries = [asdict(each) for each in kept]
    if entries:
        write_file(out / RECORD, json.dumps({"kept": entries}, indent=2).encode() + b"\n", public=True)
    else:
        (out / RECORD).unlink(missing_ok=True)
