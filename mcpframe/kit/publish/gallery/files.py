"""The files of a gallery's page: the element `<mcp-server>` with what it imports, and the page's own."""

from __future__ import annotations

from mcpframe.kit.base.bundled_scripts import ELEMENT_SCRIPT, HOST, bundled_script
from mcpframe.kit.base.data import static_dir

ASSETS = "_gallery"
"""The folder of the page's files. Unlike `_mcpframe`, their names stay."""
_BUNDLED = 'export * from "./host.js";\nexport { Client } from "./client.js";\n'
"""In place of the module that the npm package bundles."""


def gallery_assets() -> dict[str, bytes]:
    """Return the files, by path below the output root."""
    host, own = static_dir() / "host", static_dir() / "gallery"
    files = {path.name: path.read_bytes() for path in (*own.glob("*.js"), *own.glob("*.css"))}
    files |= {
        "element.js": bundled_script(ELEMENT_SCRIPT).encode(),
        "host.js": bundled_script(HOST).encode(),
        "client.js": (host / "bundled" / "client.js").read_bytes(),
        "client.licenses.txt": (host / "bundled" / "client.licenses.txt").read_bytes(),
        "bundled.js": _BUNDLED.encode(),
    }
    return {f"{ASSETS}/{name}": data for name, data in files.items()}
