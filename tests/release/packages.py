"""The packages of a release, and how they are built."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from uv import find_uv_bin

from mcpframe.kit.base.cache import move_file, write_file
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.base.processes import run_tool
from mcpframe.kit.base.progress import step
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.pyodide.archive import pack
from mcpframe.kit.hub.extension.build import build_extension
from tests.release.host_package import pack_host_package
from tests.release.web_store import store_files, write_listing

_EARLIER = (
    "mcpframe-*.whl",
    "mcpframe-*.tar.gz",
    "mcpframe-host-*.tgz",
    "mcpframe-extension-*.zip",
    "mcpframe-web-store-*.zip",
)


@dataclass(frozen=True)
class Packages:
    """The files of a release.

    Attributes:
        wheel: The wheel, built from the clone.
        sdist: The source distribution.
        host: The npm package `@mcpframe/host`.
        extension: The browser extension, for every site, which asks before each call.
        store: The same for the Chrome Web Store; the texts and pictures of its listing are beside it in `web-store`.
    """

    wheel: Path
    sdist: Path
    host: Path
    extension: Path
    store: Path

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file."""
        return self.wheel, self.sdist, self.host, self.extension, self.store


def build_packages(root: Path, out: Path, version: str) -> Packages:
    """Build the packages of the clone `root` into the folder `out`, and remove those of earlier runs from it.

    Raises:
        KitError: One cannot be built.
    """
    out.mkdir(parents=True, exist_ok=True)
    for pattern in _EARLIER:
        for path in out.glob(pattern):
            path.unlink()
    with step("Building the wheel"):
        wheel = build_python("wheel", root, out)
    with step("Building the source distribution"):
        sdist = build_python("sdist", root, out)
    with step("Packing @mcpframe/host"):
        host = pack_host_package(out, install_locked(root))
    extension = out / f"mcpframe-extension-{version}.zip"
    with scratch("extension") as folder:
        built = build_extension(folder / "built", progress=step)
        paths = [path for path in built.rglob("*") if path.is_file()]
        files = {path.relative_to(built).as_posix(): path.read_bytes() for path in paths}
    write_file(extension, pack(files, compressed=True), public=True)
    store = out / f"mcpframe-web-store-{version}.zip"
    with step("Writing the listing for the Chrome Web Store"):
        listed = store_files(files)
        write_file(store, pack(listed, compressed=True), public=True)
        write_listing(out / "web-store", json.loads(listed["manifest.json"]))
    return Packages(wheel, sdist, host, extension, store)


def build_python(kind: str, source: Path, out: Path) -> Path:
    """Build the `wheel` or the `sdist` of a clone or an unpacked sdist, with the build tools of the lock.

    Raises:
        ToolFailed: uv, or the build, failed.
    """
    with scratch("package") as folder:
        command = [find_uv_bin(), "build", f"--{kind}", "--no-build-isolation", "--python", sys.executable]
        run_tool([*command, "--out-dir", str(folder), str(source)], "uv build")
        [built] = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
        move_file(built, out / built.name)
    return out / built.name
