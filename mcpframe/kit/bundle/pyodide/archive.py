"""The archives of a bundle and of the extension: zips with fixed dates, so the same files give the same bytes."""

from __future__ import annotations

import io
import os
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.wasm.binary import CUSTOM, HEADER, encoded, sized
from mcpframe.kit.project.pyproject import USUAL_UNPACKED

Files = Mapping[str, bytes]
"""Files by their path in an archive, with `/` between folders."""

Date = tuple[int, int, int, int, int, int]

_MB = 1_000_000
_SECTION = sized(b"zip")
_SIZE = 5  # bytes of a section's size, as many as any takes: what is behind it is written first
_limit: ContextVar[int] = ContextVar("limit", default=USUAL_UNPACKED)

EARLIEST = (1980, 1, 1, 0, 0, 0)  # the first date a zip can hold


def source_date() -> Date:
    """Return the date of every file in an archive: `$SOURCE_DATE_EPOCH` in UTC, else 1980-01-01.

    Raises:
        BuildError: `$SOURCE_DATE_EPOCH` is not a number of seconds.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH")
    if not text:
        return EARLIEST
    try:
        moment = time.gmtime(int(text))
    except (ValueError, OverflowError, OSError):
        raise BuildError(
            f"SOURCE_DATE_EPOCH is {text!r}: set it to a number of seconds since 1970, or unset it."
        ) from None
    return max(EARLIEST, (moment[0], moment[1], moment[2], moment[3], moment[4], moment[5] // 2 * 2))


def pack(files: Files, *, compressed: bool = False, date: Date | None = None, behind: int = 0) -> bytes:
    """Return a zip of the files; its bytes depend on nothing else.

    Args:
        behind: The number of bytes that will be before it, from which the positions in it count.
        date: The date of every file; by default `source_date`.
        compressed: Whether to compress them. Stored files unpack faster, and compress better over HTTP.
    """
    buffer = io.BytesIO(bytes(behind))
    buffer.seek(behind)
    date = date or source_date()
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for path in sorted(files):
            info = zipfile.ZipInfo(path, date)
            info.external_attr = 0o644 << 16
            info.create_system = 3
            archive.writestr(info, files[path], method)
    return buffer.getvalue()[behind:]


def pack_as_wasm(files: Files, *, date: Date | None = None) -> bytes:
    """Return a stored zip of the files that is a WebAssembly module, too: its only section, a custom one.

    Static hosts compress files by their type, and no archives: see `TEXTS` in `kit.static_hosts.static_host`. A reader
    of zips begins at the end of a file, and positions in it count from its beginning.

    Args:
        date: See `pack`.
    """
    head = HEADER + bytes([CUSTOM])
    archive = pack(files, date=date, behind=len(head) + _SIZE + len(_SECTION))
    content = _SECTION + archive
    return head + encoded(len(content), _SIZE) + content


def most_unpacked() -> int:
    """Return the number of bytes that an archive may unpack to: see `unpacking`."""
    return _limit.get() * _MB


@contextmanager
def unpacking(limit: int) -> Iterator[None]:
    """Limit the unpacked size of archives in the block: `limit` MB in all, and a quarter of it for each file."""
    token = _limit.set(limit)
    try:
        yield
    finally:
        _limit.reset(token)


def check_sizes(archives: Iterable[Path]) -> None:
    """Raise `BuildError` if these archives unpack to more than the limit, in all or in one file; unpacks nothing."""
    sizes: dict[str, int] = {}
    for archive in archives:
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(archive) as opened:  # `unpack` reports a damaged one
            sizes[archive.name] = _checked_size(archive.name, opened)
    if sum(sizes.values()) > _limit.get() * _MB:
        largest = max(sizes, key=lambda name: sizes[name])
        raise _too_large("The wheels together unpack", sum(sizes.values()), f"{largest} is the largest; ", _limit.get())


def _checked_size(name: str, opened: zipfile.ZipFile) -> int:
    """Return an archive's declared unpacked size; reading a file of it never returns more."""
    files = opened.infolist()
    largest = max(files, key=lambda info: info.file_size, default=None)
    if largest is not None and largest.file_size > _limit.get() * _MB / 4:
        raise _too_large(
            f"{name} has a file that unpacks", largest.file_size, f"{largest.filename}; ", _limit.get() / 4
        )
    size = sum(info.file_size for info in files)
    if size > _limit.get() * _MB:
        raise _too_large(f"{name} unpacks", size, "", _limit.get())
    return size


def _too_large(what: str, size: int, more: str, limit: float) -> BuildError:
    return BuildError(
        f"{what} to {size / _MB:,.0f} MB ({more}{limit:g} are allowed): leave it out, or allow more with "
        "tool.mcpframe.max_unpacked (build --max-unpacked)."
    )


def unpack(archive: Path | bytes) -> dict[str, bytes]:
    """Return the files of a zip.

    Raises:
        BuildError: It is damaged, unpacks to more than `unpacking` allows, or has a path that leads out of it.
    """
    source = io.BytesIO(archive) if isinstance(archive, bytes) else archive
    name = "An archive" if isinstance(archive, bytes) else archive.name
    try:
        with zipfile.ZipFile(source) as opened:
            _checked_size(name, opened)
            files = {info.filename: opened.read(info) for info in opened.infolist() if not info.is_dir()}
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise BuildError(f"{name} is damaged ({error}); delete it and build again.") from error
    for path in files:
        if path.startswith("/") or "\\" in path or ".." in path.split("/"):
            raise BuildError(f"{name} has the path {path!r}, which leads out of it; nothing of it was used.")
    return files
