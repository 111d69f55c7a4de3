"""One WebAssembly module has the trampolines of all JavaScript functions whose addresses native code uses.

The table of functions takes WebAssembly functions only, so Emscripten compiles a module for each JavaScript function.
Here static/page/linking.js compiles one for all of them; the page's loader passes it in as `asWasm`. Without it, or for
a later function, Emscripten compiles them as before.

Upstream: https://github.com/emscripten-core/emscripten/issues/9909 (closed: it uses `WebAssembly.Function`, which
browsers do not have by default).
"""

from __future__ import annotations

from mcpframe.kit.bundle.patches.patch import Patch, replacing

CHANGES = (
    (
        b"var reportUndefinedSymbols=()=>{",
        (
            b"var asWasm=new Map;var reportUndefinedSymbols=()=>{"
            b'asWasm=Module["asWasm"]?.(Object.keys(GOT).filter(name=>GOT[name].value==-1)'
            b".map(name=>resolveGlobalSymbol(name,true).sym)"
            b'.filter(sym=>typeof sym=="function"&&sym.sig&&!getFunctionAddress(sym)))??asWasm;'
        ),
    ),
    (b"try{setWasmTableEntry(ret,func)}catch(err){", b"try{setWasmTableEntry(ret,asWasm.get(func)??func)}catch(err){"),
)

PATCH = Patch(
    "one_module_for_trampolines",
    "a WebAssembly module is compiled for each JavaScript function that native code calls",
    replacing(*CHANGES),
)
