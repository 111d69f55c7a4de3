"""The page's scripts, which are several in the source tree, as one file: each request would make the start later."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcpframe.kit.base.data import static_dir

SCRIPTS = (
    "sha256.js",
    "fetch-now.js",
    "unzip.js",
    "zstd.js",
    "cold.js",
    "restore.js",
    "late.js",
    "linking.js",
    "ending.js",
    "page.js",
    "host-json.js",
    "loader.js",
)
"""The page's scripts: each after those it imports."""

MAKER = "maker.js"
"""The build's own script, which imports some of them."""

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)


def loader_script() -> bytes:
    """All of the page's scripts in one."""
    return joined({name: (static_dir() / name).read_text("utf-8") for name in SCRIPTS}).encode()


def maker_script(loader: str) -> bytes:
    """The build's own script, for a page whose scripts are at the URL `loader`."""
    text = (static_dir() / MAKER).read_text("utf-8")
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


def _linked(text: str) -> str:
    return _IMPORT.sub(r'const \1 = modules["\2"];', text)
