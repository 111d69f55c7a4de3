"""Python's call trampoline has an entry in the table of functions in every browser, if need be an empty one.

Python calls functions of native code through a small WebAssembly module. It does without on iOS, and in browsers that
cannot compile it (WebAssembly's garbage collection). There every later function would have another address than in a
snapshot. Python reads from its memory whether it has the trampoline; that word stays the page's own.

Upstream: https://bugs.webkit.org/show_bug.cgi?id=293113 (the reason on iOS) and
https://github.com/python/cpython/issues/130418.
"""

from __future__ import annotations

from mcpframe.kit.bundle.patches.patch import Patch, replacing

CHANGES = (
    (
        b"if(isIOS){return 0}let trampolineModule;try{trampolineModule=getWasmTrampolineModule()}catch(e){return 0}",
        (
            b"if(isIOS){getEmptyTableSlot();return 0}let trampolineModule;"
            b"try{trampolineModule=getWasmTrampolineModule()}catch(e){getEmptyTableSlot();return 0}"
        ),
    ),
)

PATCH = Patch("trampoline_entry", "pages on iOS start without a snapshot", replacing(*CHANGES))
