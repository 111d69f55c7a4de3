"""The names of Python's exports are read from its WebAssembly, and variables that nothing reads are left out.

Emscripten writes four names and an assignment for each export of the main module: a third of the script. It leaves out
those of the C++ library, which only the linker looks up, and four that it names elsewhere.

Upstream: https://github.com/emscripten-core/emscripten/pull/24384 has the function that is replaced here;
https://github.com/emscripten-core/emscripten/pull/7505 added a loop in its place (`DECLARE_ASM_MODULE_EXPORTS=0`),
which assigns to the global scope and so does not fit a script inside a function (`MODULARIZE`).
"""

from __future__ import annotations

import re

from mcpframe.kit.bundle.patches.patch import DoesNotApply, Patch

EXPORTS = re.compile(
    rb"var ([\w$,]+);function assignWasmExports\(wasmExports\)\{(.*?)\}(?=var wasmImports=)", re.DOTALL
)
_EXPORT = re.compile(rb'_([\w$]+)=Module\["_\1"\]=wasmExports\["\1"\](\.value>>>0)?')
_NAME = re.compile(rb"[A-Za-z_$][\w$]*")
_ALL = (
    b"for(const[name,value]of Object.entries(wasmExports))"
    b"if(!/^_Z|^(?:memory|__indirect_function_table|__wasm_call_ctors|__main_argc_argv)$/.test(name))"
    # Globals are addresses, but for this one, which changes.
    b'Module["_"+name]=value.value===undefined||name=="__stack_pointer"?value:value.value>>>0'
)


def _apply(script: bytes) -> bytes:
    match = EXPORTS.search(script)
    if not match:
        raise DoesNotApply
    statements = match[2].split(b";")
    others = [statement for statement in statements if not _EXPORT.fullmatch(statement)]
    listed = {b"_" + export[1] for statement in statements if (export := _EXPORT.fullmatch(statement))}
    before, after = script[: match.start()], script[match.end() :]
    read = set(_NAME.findall(before)) | set(_NAME.findall(after)) | set(_NAME.findall(b";".join(others)))
    kept = [name for name in match[1].split(b",") if name in read]
    return b"%bvar %b;function assignWasmExports(wasmExports){%b}%b" % (
        before,
        b",".join(kept),
        b";".join([_ALL, *(b'%b=Module["%b"]' % (name, name) for name in kept if name in listed), *others]),
        after,
    )


PATCH = Patch("exports_list", "a third of the script is fetched and parsed for names of exports", _apply)
