"""Write a bundle into the output root: shared files under their hashed names, then the bundle's folder, atomically.

No half-written file ever has its final name. One build at a time writes an output root. Unused shared files are
removed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import (
    clear_leftovers,
    make_public,
    make_public_folder,
    new_folder,
    write_file,
    writing,
)
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.locking import locked
from mcpframe.kit.base.progress import count
from mcpframe.kit.bundle.assembly.assets import SHARED, Asset, gzipped, packed
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST, policies_of, read_manifests, trials_of
from mcpframe.kit.bundle.assembly.manifest import manifest_text
from mcpframe.kit.bundle.assembly.single_file import single_file
from mcpframe.kit.bundle.earlier_deploys import kept_after, read_kept, write_kept
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached
from mcpframe.kit.static_hosts.known import host_files

Packed = Mapping[str, bytes | None]
"""Files as gzip, by path; None for files that are sent as they are."""


_LARGE = 65536


@dataclass(frozen=True)
class BuildResult:
    """A built bundle.

    Attributes:
        name: Its folder below the output root.
        url_path: Its page's path relative to the output root's URL.
        folder: The folder it is in.
        manifest: The content of its manifest.json.
        warnings: Warnings for the author, each in a sentence or two.
        unchanged: Whether the bundle in the output root was current.
        notes: A sentence on each package that is not of the newest version, and why.
    """

    name: str
    folder: Path
    manifest: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    unchanged: bool = False
    notes: tuple[str, ...] = ()
    url_path: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url_path", f"{self.name}/")

    @property
    def tools(self) -> list[dict[str, Any]] | None:
        """The tools, as `tools/list` returns them; None if the server was not imported."""
        tools: list[dict[str, Any]] | None = self.manifest["tools"]
        return tools

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes in bytes: `total`; with gzip `first_visit`, until the page serves, and `after_start`, once it does.

        `own` is the part of the first visit that no other server of the site has: what a visitor of another one
        fetches, and one who returns after a change of this server alone.
        """
        sizes: dict[str, int] = self.manifest["sizes"]
        return sizes


def find_current(out: Path, name: str, inputs: str) -> dict[str, Any] | None:
    """Return the manifest of a bundle that was built from the same inputs and is complete; else None."""
    manifest = read_manifests(out).get(name)
    if manifest is None or manifest.get("inputs") != inputs:
        return None
    for entry in manifest["files"]:
        path = out / entry["path"]
        if not path.is_file() or path.stat().st_size != entry["bytes"]:
            return None
        if entry["gzip_bytes"] is not None and not path.with_name(path.name + ".gz").is_file():
            return None
    return manifest


def compress(assets: Sequence[Asset]) -> Packed:
    """Return the files of a bundle as gzip: see `packed`. Large ones are cached, and counted for people."""
    gzips: dict[str, bytes | None] = {}
    for done, item in enumerate(assets, 1):
        gzips |= packed([item], _cached_gzip)
        count(done, len(assets))
    return gzips


@contextmanager
def compressing(assets: Sequence[Asset]) -> Iterator[None]:
    """Compress the files that `compress` caches in a thread, while the block works: it waits for a browser."""
    large = [item for item in assets if len(item.data) > _LARGE]
    with ThreadPoolExecutor(1, "gzip") as thread:
        try:
            for item in large:
                thread.submit(packed, [item], _cached_gzip)
            yield
        finally:
            thread.shutdown(wait=False, cancel_futures=True)


def _cached_gzip(item: Asset) -> bytes:
    if len(item.data) <= _LARGE:  # too fast for the cache to help
        return gzipped(item)
    path = cached("gzip", cache_key("9", item.sha256) + ".gz")
    if not path.is_file():
        write_file(path, gzipped(item))
    return path.read_bytes()


def write_bundle(
    out: Path,
    name: str,
    assets: Sequence[Asset],
    gzips: Packed,
    manifest: Mapping[str, Any],
    *,
    keep: timedelta | None = None,
) -> None:
    """Write a bundle.

    Args:
        out: The output root.
        name: The bundle's folder.
        assets: Its files, in its folder or in the shared one.
        gzips: Its files as gzip, by path.
        manifest: The content of its manifest.json.
        keep: How long files of the build that is replaced are kept, for pages that are open; None to keep none.

    Raises:
        BuildError: The folder exists and is not a bundle.
        WriteError: A file cannot be written.
    """
    target = out / name
    was_there = out.exists()
    with locked(out):
        clear_leftovers(target)
        if target.exists() and not (target / MANIFEST).is_file() and (not target.is_dir() or any(target.iterdir())):
            raise BuildError(f"{target} exists and is not a bundle: move it, or choose another --out.")
        try:
            kept = kept_after(out, read_manifests(out).get(name), manifest, keep, datetime.now(UTC))
            _write(out, target, assets, gzips, manifest, [path for each in kept for path in each.files])
            write_kept(out, kept)
            _sweep(out)
        except BaseException:
            with suppress(OSError):
                _sweep(out)
                if not was_there:
                    out.rmdir()
            raise


def read_bundle(out: Path, name: str) -> tuple[dict[str, bytes], Packed]:
    """Return the files of a bundle and its manifest, by path below the output root, and the files as gzip."""
    manifest = f"{name}/{MANIFEST}"
    entries = read_manifests(out)[name]["files"]
    files = {path: (out / path).read_bytes() for path in (*(each["path"] for each in entries), manifest)}
    packed = {
        each["path"]: None if each["gzip_bytes"] is None else (out / f"{each['path']}.gz").read_bytes()
        for each in entries
    }
    return files, {**packed, manifest: None}


def write_single_file(out: Path, name: str) -> Path:
    """Write a built bundle as one HTML file beside its folder, and return its path.

    Raises:
        BuildError: It cannot be one file: see `single_file`.
        WriteError: It cannot be written.
    """
    path = out / f"{name}.html"
    with locked(out):
        data = single_file(name, *read_bundle(out, name))
        if not path.is_file() or path.read_bytes() != data:
            write_file(path, data, public=True)
    return path


def _write(
    out: Path,
    target: Path,
    assets: Sequence[Asset],
    gzips: Packed,
    manifest: Mapping[str, Any],
    kept: Sequence[str],
) -> None:
    for asset in assets:
        if asset.path.startswith(f"{SHARED}/"):
            _publish(out / asset.path, asset.data, gzips[asset.path])
    make_public_folder(out)
    with new_folder(target) as folder, writing(target):
        for asset in assets:
            if asset.path.startswith(f"{target.name}/"):
                _put(folder / asset.path.removeprefix(f"{target.name}/"), asset.data, gzips[asset.path])
        for path in kept:
            _keep(out, path, folder, target.name)
        (folder / MANIFEST).write_bytes(manifest_text(manifest))
        make_public(folder)
    _head(out)


def _publish(path: Path, content: bytes, gzip: bytes | None) -> None:
    """Write a file with a hash in its name, unless it exists: then its content is the same."""
    for file, data in ((path, content), (path.with_name(path.name + ".gz"), gzip)):
        if data is None or _is_there(file, len(data)):
            continue
        make_public_folder(file.parent)
        write_file(file, data, public=True)


def _is_there(file: Path, size: int) -> bool:
    """Return whether a file is complete and readable for every user: earlier versions left that to the umask."""
    if not file.is_file():
        return False
    status = file.stat()
    return status.st_size == size and (os.name != "posix" or status.st_mode & 0o444 == 0o444)


def _put(path: Path, content: bytes, gzip: bytes | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if gzip is not None:
        path.with_name(path.name + ".gz").write_bytes(gzip)


def _keep(out: Path, path: str, folder: Path, name: str) -> None:
    """Copy a file of an earlier build into the folder that replaces that of its bundle, unless it is there."""
    inner = path.removeprefix(f"{name}/")
    if inner == path:
        return  # another bundle's, or a shared one: it is where it was
    for ending in ("", ".gz"):
        source, copy = out / (path + ending), folder / (inner + ending)
        if source.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)


def _head(out: Path) -> None:
    """Update the header files for all bundles of the root."""
    manifests = read_manifests(out)
    for name, data in host_files(policies_of(manifests), trials_of(manifests)).items():
        path = out / name
        clear_leftovers(path)
        if not path.is_file() or path.read_bytes() != data:
            write_file(path, data, public=True)


def _sweep(out: Path) -> None:
    """Remove shared files that no bundle of the root uses, and no page of an earlier build that counts on them."""
    used = {entry["path"] for manifest in read_manifests(out).values() for entry in manifest["files"]}
    used |= {path for each in read_kept(out, datetime.now(UTC)) for path in each.files}
    shared = out / SHARED
    for path in sorted(shared.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.relative_to(out).as_posix().removesuffix(".gz") not in used:
            path.unlink(missing_ok=True)
    if shared.is_dir() and not any(shared.iterdir()):
        shared.rmdir()
