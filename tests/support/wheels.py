"""Small packages of other authors, made for a test: wheels in a folder that uv and pip look into."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from mcpframe.kit.base.data import templates_dir

_TIME = (2020, 1, 1, 0, 0, 0)


def write_wheel(
    folder: Path,
    name: str,
    files: Mapping[str, str],
    *,
    version: str = "1.0",
    requires: Iterable[str] = (),
    scripts: Mapping[str, str] | None = None,
    tag: str = "py3-none-any",
    requires_python: str = "",
) -> Path:
    """Write the wheel of a package.

    Args:
        folder: Where to.
        name: The package.
        files: Its modules and data, by path in site-packages.
        version: Its version.
        requires: Its requirements.
        scripts: Its console scripts, `module:function` by name.
        tag: Where it runs; by default everywhere.
        requires_python: The Pythons that it is for; empty for all.
    """
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata += [f"Requires-Python: {requires_python}"] if requires_python else []
    metadata += [f"Requires-Dist: {item}" for item in requires]
    entries = ["[console_scripts]", *(f"{key} = {value}" for key, value in (scripts or {}).items())]
    contents = {
        **files,
        f"{stem}.dist-info/METADATA": "\n".join(metadata) + "\n",
        f"{stem}.dist-info/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{stem}.dist-info/entry_points.txt": "\n".join(entries) + "\n",
    }
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in contents.items()]
    contents[record] = "\n".join([*lines, f"{record},,"]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in contents.items():
            archive.writestr(zipfile.ZipInfo(path, _TIME), text)
    return wheel


def write_source(
    folder: Path,
    name: str,
    *,
    version: str = "1.0",
    requires: Iterable[str] = (),
    files: Mapping[str, str] | None = None,
    is_dynamic: bool = False,
) -> Path:
    """Write the source distribution of a package.

    Args:
        folder: Where to.
        name: The package.
        version: Its version.
        requires: Its requirements.
        files: Its files, by path in its folder; by default those of a package that cannot be built.
        is_dynamic: Whether only a build tells the requirements.
    """
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = [f"Metadata-Version: {'2.1' if is_dynamic else '2.2'}", f"Name: {name}", f"Version: {version}"]
    data = "\n".join([*metadata, *(f"Requires-Dist: {item}" for item in requires)]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{stem}.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        for path, text in {"PKG-INFO": data, **({"pyproject.toml": ""} if files is None else files)}.items():
            content = text.encode()
            entry = tarfile.TarInfo(f"{stem}/{path}")
            entry.size = len(content)
            file.addfile(entry, io.BytesIO(content))
    return archive


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def write_unmodified(folder: Path) -> None:
    """Write the wheels of the servers of templates/unmodified."""
    for file in (templates_dir() / "unmodified").glob("*/pyproject.toml"):
        project = tomllib.loads(file.read_text())["project"]
        contents = [path for ending in ("py", "json") for path in file.parent.glob(f"*/*.{ending}")]
        files = {path.relative_to(file.parent).as_posix(): path.read_text() for path in contents}
        about = {"version": project["version"], "requires": project["dependencies"], "scripts": project["scripts"]}
        write_wheel(folder, project["name"], files, **about)


def use_index(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let uv and pip find the wheels of a folder, in addition to their index."""
    pip, uv = os.environ.get("PIP_FIND_LINKS"), os.environ.get("UV_FIND_LINKS")
    patch.setenv("PIP_FIND_LINKS", f"{pip} {folder}" if pip else str(folder))
    patch.setenv("UV_FIND_LINKS", f"{uv},{folder}" if uv else str(folder))
