"""The sources of a package: found and fetched through its index, and unpacked in memory. None of their code is run."""

from __future__ import annotations

import gzip
import tarfile
import tomllib
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mcpframe.kit.base.cache import cache_dir, move_file, sha256_of
from mcpframe.kit.base.download import download
from mcpframe.kit.base.errors import BuildError, HashMismatch
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.packages.lock import SOURCES_NAME
from mcpframe.kit.bundle.packages.pins import run_uv
from mcpframe.kit.bundle.pyodide.archive import most_unpacked, unpack

_PYLOCK = "pylock.toml"
_MOST_FILES = 20_000
_LARGEST = 256 * 1024 * 1024  # bytes of the packed file


@dataclass(frozen=True)
class SourceFile:
    """The file with the sources of a version.

    Attributes:
        name: The package, normalized.
        version: The version.
        filename: The file's name.
        sha256: Its SHA-256.
        url: Its address, or that of a local file.
    """

    name: str
    version: str
    filename: str
    sha256: str
    url: str


def find_sources(name: str, version: str, *, alone: bool = True) -> SourceFile | None:
    """Return the sources of a version; None if it has none.

    Args:
        alone: Whether to return None also if it has wheels, for whichever platform.

    Raises:
        BuildError: uv finds no such version.
        DownloadError: The package index cannot be reached.
    """
    with scratch("sources") as folder:
        (folder / "wanted.in").write_text(f"{name}=={version}\n", "utf-8", newline="\n")
        run_uv(["wanted.in", "--no-deps", "--format", "pylock.toml", "--output-file", _PYLOCK], folder, None)
        locked = tomllib.loads((folder / _PYLOCK).read_text("utf-8"))
        [package] = locked["packages"]
        file: dict[str, Any] = package.get("sdist", {})
        if not file or (alone and package.get("wheels")):
            return None
        url = str(file["url"]) if "url" in file else (folder / file["path"]).resolve().as_uri()
    filename = str(file.get("name") or unquote(urlsplit(url).path).rpartition("/")[2])
    digest = file.get("hashes", {}).get("sha256", "")
    if not SOURCES_NAME.fullmatch(filename) or not digest:
        raise BuildError(
            f"The sources of {name} {version} ({filename}) are not a tar.gz or zip file with a SHA-256 on the index."
        )
    return SourceFile(name, version, filename, str(digest), url)


def fetch_sources(sources: SourceFile) -> Path:
    """Return the file in the cache; fetch it if it is not there.

    Raises:
        DownloadError: It could not be fetched.
        HashMismatch: It is another file.
    """
    path = cache_dir() / "sources" / sources.sha256 / sources.filename
    if path.is_file() and sha256_of(path) == sources.sha256:
        return path
    with scratch("download") as folder:
        file = folder / "file"
        download(sources.url, file, most=_LARGEST)
        if sha256_of(file) != sources.sha256:
            raise HashMismatch(
                f"{sources.filename} is not the file that the package index lists: its SHA-256 differs; nothing of it "
                "was kept."
            )
        move_file(file, path)
    return path


def unpack_sources(archive: Path) -> dict[str, bytes]:
    """Return the files of sources, by path in their top folder. Links are left out.

    Raises:
        BuildError: They are damaged, too large, or have a path that leads out of their folder.
    """
    files = unpack(archive) if archive.suffix == ".zip" else _untar(archive)
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != 1 or any("/" not in path for path in files):
        raise BuildError(f"{archive.name} does not have one top folder, as sources of a package do.")
    return {path.partition("/")[2]: data for path, data in files.items()}


class _Bounded:
    """A stream that raises once more than a number of bytes has been read."""

    def __init__(self, stream: gzip.GzipFile, most: int, name: str) -> None:
        self._stream = stream
        self._left = most
        self._name = name

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise _too_large(self._name)
        return data


def _too_large(name: str) -> BuildError:
    return BuildError(
        f"{name} unpacks to more than {most_unpacked() // 1_000_000} MB or {_MOST_FILES} files: leave it out, or allow "
        "more with tool.mcpframe.max_unpacked (build --max-unpacked)."
    )


def _untar(archive: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    number = 0
    try:
        with gzip.open(archive) as unzipped:
            # As a stream: headers are limited as well as files.
            stream: Any = _Bounded(unzipped, most_unpacked(), archive.name)
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                for member in tar:
                    number += 1
                    tar.members = []  # type: ignore[attr-defined]  # which it keeps
                    if number > _MOST_FILES:
                        raise _too_large(archive.name)
                    path = member.name.removeprefix("./")
                    if path.startswith("/") or "\\" in path or "\0" in path or ".." in path.split("/"):
                        raise BuildError(
                            f"{archive.name} has the path {member.name!r}, which leads out of it; nothing of it was "
                            "used."
                        )
                    if member.isfile() and (content := tar.extractfile(member)):
                        files[path] = content.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # an error of the disk
        raise BuildError(f"{archive.name} is damaged ({error}): require another version.") from error
    return files
