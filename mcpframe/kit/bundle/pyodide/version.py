"""The version of Pyodide in bundles, and the SHA-256 of each of its files.

For another version change these, and follow `mcpframe/kit/bundle/patches/__init__.py`.
"""

from __future__ import annotations

VERSION = "314.0.7"
PYTHON_VERSION = "3.14.2"
ABI = "2026_0"
PLATFORM = "emscripten_5_0_3"

#: The files of the runtime, with their SHA-256.
FILES = {
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
    "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
}
