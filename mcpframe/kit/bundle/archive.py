"""The archives of a bundle: stored zips with fixed dates, so the same files give the same bytes."""

from __future__ import annotations

import io
import os
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from mcpframe.kit.base.errors import BuildError

Files = Mapping[str, bytes]
"""Files by their path in an archive, with `/` between folders."""

_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first date a zip can hold


def source_date() -> tuple[int, int, int, int, int, int]:
    """Return the date of every file in an archive: `$SOURCE_DATE_EPOCH` in UTC, else 1980-01-01.

    Raises:
        BuildError: `$SOURCE_DATE_EPOCH` is not a number of seconds.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH")
    if not text:
        return _EARLIEST
    try:
        moment = time.gmtime(int(text))
    except (ValueError, OverflowError, OSError):
        raise BuildError(
            f"SOURCE_DATE_EPOCH is {text!r}: set it to a number of seconds since 1970, or unset it."
        ) from None
    return max(_EARLIEST, (moment[0], moment[1], moment[2], moment[3], moment[4], moment[5] // 2 * 2))


def pack(files: Files) -> bytes:
    """Return a zip that stores its files uncompressed: it unpacks faster, and compresses better over HTTP."""
    buffer = io.BytesIO()
    date = source_date()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            info = zipfile.ZipInfo(path, date)
            info.external_attr = 0o644 << 16
            info.create_system = 3
            archive.writestr(info, files[path])
    return buffer.getvalue()


def unpack(archive: Path | bytes) -> dict[str, bytes]:
    """Return the files of a zip.

    Raises:
        BuildError: It is damaged, or has a path that leads out of it.
    """
    source = io.BytesIO(archive) if isinstance(archive, bytes) else archive
    name = "An archive" if isinstance(archive, bytes) else archive.name
    try:
        with zipfile.ZipFile(source) as opened:
            files = {info.filename: opened.read(info) for info in opened.infolist() if not info.is_dir()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise BuildError(f"{name} is damaged ({error}); delete it and build again.") from error
    for path in files:
        if path.startswith("/") or "\\" in path or ".." in path.split("/"):
            raise BuildError(f"{name} has the path {path!r}, which leads out of it; nothing of it was used.")
    return files
