"""The pinned Pyodide runtime, fetched once into the cache. Every file is checked against its SHA-256."""

from __future__ import annotations

import errno
import http.client
import os
import shutil
import tarfile
import urllib.error
import urllib.request
import zlib
from dataclasses import dataclass
from pathlib import Path

from mcpframe.kit.base.cache import cache_dir, clear_leftovers, new_folder, sha256_of, writing
from mcpframe.kit.base.errors import DownloadError, HashMismatch, ToolError, ToolFailed
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.node import find_node
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pyodide.version import ABI, FILES, PYTHON_VERSION, VERSION

RELEASE_URL = f"https://github.com/pyodide/pyodide/releases/download/{VERSION}/pyodide-core-{VERSION}.tar.bz2"

# The whole runtime has 14 MB; a larger file is not part of it.
_MAX_FILE_BYTES = 64 * 1024 * 1024
_TIMEOUT = 30.0  # seconds without a byte
_WITHOUT_NETWORK = "set MCPFRAME_PYODIDE to a folder with the runtime's files"


@dataclass(frozen=True)
class Runtime:
    """A Pyodide runtime whose files have been checked.

    Attributes:
        folder: The folder of its files (`FILES`), to be only read.
        version: Pyodide's version.
        abi: The ABI that WebAssembly wheels must be built for.
        python_version: The version of its Python.
    """

    folder: Path
    version: str = VERSION
    abi: str = ABI
    python_version: str = PYTHON_VERSION


def ensure_runtime(source: Path | None = None, *, progress: Progress = silent) -> Runtime:
    """Return the pinned runtime; fetch it if it is not in the cache.

    Its source is the first of: `source`; the folder `$MCPFRAME_PYODIDE`; the cache; the npm package `pyodide`;
    Pyodide's public release. A given folder is used in place; downloads are kept in the cache.

    Args:
        source: A folder with the runtime's files.
        progress: Called with a description of a download.

    Raises:
        HashMismatch: A file of the given folder is missing or not the pinned one, or a download has another hash.
        DownloadError: No source could be reached.
        WriteError: The cache cannot be written.
    """
    given = source or (Path(chosen) if (chosen := os.environ.get("MCPFRAME_PYODIDE")) else None)
    if given is not None:
        _check(given, "Use another folder, or none to have it fetched")
        return Runtime(given.absolute())
    target = cache_dir() / f"pyodide-{VERSION}"
    if not _is_good(target):
        with locked(target):
            if not _is_good(target):  # another process may have fetched it meanwhile
                _fetch(target, progress)
    return Runtime(target)


def _is_good(folder: Path) -> bool:
    try:
        _check(folder, "")
    except HashMismatch:
        return False
    return True


def _check(folder: Path, advice: str) -> None:
    for name, digest in FILES.items():
        path = folder / name
        if not path.is_file():
            raise HashMismatch(f"{folder} is not the runtime of Pyodide {VERSION}: {name} is missing. {advice}.")
        if sha256_of(path) != digest:
            raise HashMismatch(
                f"{path} is not the file of Pyodide {VERSION}: its SHA-256 differs from the pinned one. {advice}."
            )


def _fetch(target: Path, progress: Progress) -> None:
    cache = target.parent
    with writing(cache):
        cache.mkdir(parents=True, exist_ok=True)
        clear_leftovers(target)
        with scratch("download") as temporary:
            archive = _download(temporary, progress)
            with new_folder(target) as folder:
                _unpack(archive, folder)
                _check(folder, f"Nothing of it was kept; try again, or {_WITHOUT_NETWORK}")


def _download(folder: Path, progress: Progress) -> Path:
    failures = []
    for name, download in (("the npm package `pyodide`", _from_npm), ("Pyodide's public release", _from_release)):
        try:
            with progress(f"Fetching Pyodide {VERSION} from {name}"):
                return download(folder)
        except (DownloadError, ToolError) as error:
            if isinstance(error, ToolFailed) and error.disk_full:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
            failures.append(f"{name}: {str(error).rstrip('.')}")
    raise DownloadError(
        f"Pyodide {VERSION} could not be fetched ({'; '.join(failures)}): check the network, or {_WITHOUT_NETWORK}."
    )


def _from_npm(folder: Path) -> Path:
    find_node().npm("pack", f"pyodide@{VERSION}", "--ignore-scripts", "--loglevel=error", cwd=folder)
    archive = next(folder.glob("*.tgz"), None)
    if archive is None:
        raise DownloadError("npm reported success but left no archive")
    return archive


def _from_release(folder: Path) -> Path:
    archive = folder / RELEASE_URL.rpartition("/")[2]
    try:
        with urllib.request.urlopen(RELEASE_URL, timeout=_TIMEOUT) as answer, archive.open("wb") as file:
            shutil.copyfileobj(answer, file)
            expected = answer.headers.get("Content-Length")
    except urllib.error.URLError as error:
        raise DownloadError(f"{RELEASE_URL} answers {error.reason}") from error
    except (TimeoutError, http.client.HTTPException, ConnectionError) as error:
        raise DownloadError(f"the download of {RELEASE_URL} was interrupted ({error})") from error
    if expected is not None and archive.stat().st_size != int(expected):
        raise DownloadError(f"the download of {RELEASE_URL} was incomplete")
    return archive


def _unpack(archive: Path, folder: Path) -> None:
    """Extract the runtime's files from an archive; everything else in it is ignored."""
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.rpartition("/")[2]
                # One folder deep in both archives: `package/` in npm's, `pyodide/` in the release.
                if name not in FILES or member.name.count("/") != 1 or not member.isfile():
                    continue
                if member.size > _MAX_FILE_BYTES:
                    raise HashMismatch(f"{name} in {archive.name} has {member.size} bytes; it is not Pyodide's.")
                content = tar.extractfile(member)
                if content is not None:
                    with content, (folder / name).open("wb") as file:
                        shutil.copyfileobj(content, file)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # an error of the disk; gzip and bz2 report bad data without a number
        raise HashMismatch(f"{archive.name} is damaged ({error}); nothing of it was kept. Try again.") from error
