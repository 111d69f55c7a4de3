"""Packages whose native part is optional: their Python code does the same, only slower.

If the package index has none for Pyodide, and Pyodide's own distribution cannot be reached, a bundle gets the wheel for
another platform without its native part.
"""

from __future__ import annotations

from pathlib import Path

from packaging.utils import parse_wheel_filename

from mcpframe.kit.bundle.pyodide.archive import Files, pack, unpack

_NATIVE = (".so", ".pyd", ".dylib", ".a")


def is_foreign(filename: str) -> bool:
    """Return whether a wheel is for another platform than Pyodide's."""
    _, _, _, tags = parse_wheel_filename(filename)
    return not any(tag.platform == "any" or "emscripten" in tag.platform for tag in tags)


def without_native(wheel: Path) -> Files:
    """Return the files of a wheel, without its native part if it is for another platform."""
    files = unpack(wheel)
    if not is_foreign(wheel.name):
        return files
    kept = {path: data for path, data in files.items() if not path.endswith(_NATIVE)}
    return {path: _record(data, kept) if path.endswith(".dist-info/RECORD") else data for path, data in kept.items()}


def pure_wheel(wheel: Path) -> tuple[str, bytes]:
    """Return the name and the content of a wheel for Pyodide, converted from one for another platform."""
    name, version = wheel.name.split("-")[:2]
    files = without_native(wheel)
    about = f"{name}-{version}.dist-info/WHEEL"
    files = {**files, about: b"Wheel-Version: 1.0\nGenerator: mcpframe\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    return f"{name}-{version}-py3-none-any.whl", pack(files)


def _record(data: bytes, kept: Files) -> bytes:
    lines = [line for line in data.decode().splitlines() if line.partition(",")[0] in kept]
    return "".join(f"{line}\n" for line in lines).encode()
