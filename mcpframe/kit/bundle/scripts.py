"""The page's scripts as one file, as each request delays the start. The source tree has them as several modules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from mcpframe.kit.base.data import static_dir

SCRIPTS = (
    "sha256.js",
    "fetch-now.js",
    "unzip.js",
    "zstd.js",
    "deferred-modules.js",
    "restore.js",
    "background-files.js",
    "linking.js",
    "ending.js",
    "page.js",
    "host-json.js",
    "loader.js",
)
"""The page's scripts: each after those it imports."""

SNAPSHOT_MAKER = "snapshot-maker.js"
"""The script of the page in which a build takes a snapshot; it imports some of them."""

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "[\w./-]*/([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)


def source_files() -> list[Path]:
    """Return every static file that decides what a build writes."""
    folders = (static_dir() / "page", static_dir() / "build")
    return [*(path for folder in folders for path in sorted(folder.iterdir())), _source("host-json.js")]


def loader_script() -> bytes:
    """Return all of the page's scripts in one."""
    return joined({name: _source(name).read_text("utf-8") for name in SCRIPTS}).encode()


def snapshot_maker_source() -> bytes:
    """Return the script that takes a snapshot as it is in the source tree."""
    return _source(SNAPSHOT_MAKER).read_bytes()


def snapshot_maker_script(loader: str) -> bytes:
    """Return the script that takes a snapshot, for a page whose scripts are at the URL `loader`."""
    text = _source(SNAPSHOT_MAKER).read_text("utf-8")
    return f'import {{ modules }} from "{loader}";\n{_linked(text)}'.encode()


def joined(sources: Mapping[str, str]) -> str:
    """JavaScript modules as one, which exports them as `modules`, by name.

    Args:
        sources: By name, each after those it imports. They import each other by lines like
            `import { one, another } from "./name.js";`, and export what they declare.
    """
    parts = ["const modules = {};"]
    for name, text in sources.items():
        exported = ", ".join(found[2] for found in _EXPORT.finditer(text))
        body = _EXPORT.sub(r"\1", _linked(text))
        parts.append(f'modules["{name}"] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();')
    return "\n\n".join([*parts, "export { modules };\n"])


def _source(name: str) -> Path:
    # The reader of messages belongs to host.js, whose npm package is self-contained; the page imports it from there.
    folder = {"host-json.js": "host", SNAPSHOT_MAKER: "build"}.get(name, "page")
    return static_dir() / folder / name


def _linked(text: str) -> str:
    return _IMPORT.sub(r'const \1 = modules["\2"];', text)
