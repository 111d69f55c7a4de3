"""Pyodide's scripts without `export` and `import.meta`: each sets a global instead, and is not a module.

So a page runs them from elements, which have a hash, and a worker from one text that the page has checked; see
`script` in static/page/bundle-files.js. A module that is imported has no hash, and one that is preloaded is compiled
before the page's loader runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcpframe.kit.base.errors import KitError

GLOBALS: Mapping[str, tuple[str, bytes]] = {
    "pyodide.mjs": ("mcpframePyodide", rb"export\s*\{[^{}]*?\b(\w+) as loadPyodide\b[^{}]*\};"),
    "pyodide.asm.mjs": ("mcpframePyodideModule", rb"export default (\w+);"),
}
"""For each script, the global that it sets, and its exports, with the name of what the global is set to."""


def plain_script(name: str, script: bytes) -> bytes:
    """Return one of Pyodide's scripts as a classic script, with the scope and the strictness that it has as a module.

    Raises:
        KitError: It exports something else than Pyodide's script of this name does.
    """
    variable, exports = GLOBALS[name]
    plain, count = re.subn(exports, rb"globalThis.%b=\1;" % variable.encode(), script)
    if count != 1:
        raise KitError(f"{name} of this Pyodide does not have the exports that mcpframe knows: use the pinned version.")
    # In parentheses, so that it is parsed only once.
    return b'(function () {"use strict";\n%b\n})();\n' % plain.replace(b"import.meta.url", b"location.href")
