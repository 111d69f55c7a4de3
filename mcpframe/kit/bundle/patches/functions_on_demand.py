"""A function of Python gets an address for native libraries when one of them asks for it.

Emscripten enters every function of the main module, several thousand, into the table of addresses (GOT) before it
loads the first library. A library asks for a few dozen.

Upstream: https://github.com/emscripten-core/emscripten/issues/9791 (the cost, closed) and
https://github.com/emscripten-core/emscripten/issues/12815 (lazy symbol resolution, open).
"""

from __future__ import annotations

from mcpframe.kit.bundle.patches.patch import Patch, replacing

CHANGES = (
    (
        b"updateGOT(origExports);",
        (
            b"updateGOT(Object.fromEntries(Object.keys(GOT).filter(name=>Object.hasOwn(origExports,name))"
            b".map(name=>[name,origExports[name]])));GOTHandler.exports=origExports;"
        ),
    ),
    (
        b'rtn=GOT[symName]=new WebAssembly.Global({value:"i32",mutable:true},-1)',
        (
            b'rtn=GOT[symName]=new WebAssembly.Global({value:"i32",mutable:true},-1);'
            b"if(this.exports&&Object.hasOwn(this.exports,symName))updateGOT({[symName]:this.exports[symName]},true)"
        ),
    ),
    (  # Python's own functions take precedence over those of libraries, also while they have no entry yet.
        b"var existingEntry=GOT[symName]&&GOT[symName].value!=-1;",
        (
            b"var existingEntry=GOT[symName]?GOT[symName].value!=-1"
            b":Boolean(GOTHandler.exports)&&Object.hasOwn(GOTHandler.exports,symName);"
        ),
    ),
)

PATCH = Patch("functions_on_demand", "each of Python's functions is entered into a table", replacing(*CHANGES))
