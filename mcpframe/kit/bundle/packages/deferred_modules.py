"""Split off the modules that are not needed for serving, so that a first visit does not fetch them.

They are measured, not listed: a small server runs in Pyodide, and the modules imported by its first answers are the
startup modules. All others of the standard library and the SDK are deferred: one archive that the page fetches when the
first of them is imported. If the author's server imports one while it starts, the page fetches the archive at once.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Collection

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.scratch import scratch
from mcpframe.kit.bundle.assembly.layers import module_name, native_libraries
from mcpframe.kit.bundle.pyodide.archive import Files, pack
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached
from mcpframe.kit.bundle.pyodide.job import Mounted, run_in_pyodide
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.pyodide.runtime import Runtime

INDEX = "deferred-index.json"
"""The index of the archive of deferred modules, as a file in another archive; the page does not unpack it."""


def startup_modules(stdlib: Files, base: Files, base_path: str, runtime: Runtime) -> frozenset[str]:
    """Return the modules that a small server needs for its first answers.

    Args:
        stdlib: The compiled standard library.
        base: The compiled SDK and mcpframe.
        base_path: The folder for `base` in the page.

    Raises:
        ToolFailed: The small server fails: this mcpframe and this SDK do not work together.
    """
    contents = (part for files in (stdlib, base) for path in sorted(files) for part in (path, files[path]))
    path = cached("startup", cache_key(runtime.version, job_text("probe"), *contents) + ".json")
    if not path.is_file():
        with scratch("probe") as folder:
            (folder / "stdlib.zip").write_bytes(pack(stdlib))
            (folder / "base.zip").write_bytes(pack(base))
            mounted = Mounted(folder / "base.zip", base_path, native_libraries(base))
            [outcome] = run_in_pyodide(["probe"], runtime, archives=[mounted], stdlib=folder / "stdlib.zip")
            write_file(path, json.dumps(outcome.result).encode())
    return frozenset(json.loads(path.read_bytes()))


def split(files: Files, startup: Collection[str]) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Split files into those of startup and deferred ones.

    Native libraries must be loaded before Python imports them, and metadata is searched in all packages: startup needs
    both.
    """
    startup_files: dict[str, bytes] = {}
    deferred: dict[str, bytes] = {}
    for path, data in files.items():
        always = path.endswith(".so") or ".dist-info/" in path or module_name(path) in startup
        (startup_files if always else deferred)[path] = data
    return startup_files, deferred


def index_of(archive: bytes) -> bytes:
    """Return the position of each file in a stored zip, as JSON: `[[path, offset, size], …]`."""
    entries = []
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for info in opened.infolist():
            name_length, extra_length = struct.unpack_from("<HH", archive, info.header_offset + 26)
            entries.append([info.filename, info.header_offset + 30 + name_length + extra_length, info.file_size])
    return json.dumps(entries, separators=(",", ":")).encode()
