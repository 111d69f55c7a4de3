"""Python's exports are a list of names, and variables that nothing reads are left out.

Emscripten writes four names and an assignment for each export of the main module: a third of the script.

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


def _apply(script: bytes) -> bytes:
    found = EXPORTS.search(script)
    if not found:
        raise DoesNotApply
    functions: list[bytes] = []
    values: list[bytes] = []
    others: list[bytes] = []
    for statement in found[2].split(b";"):
        export = _EXPORT.fullmatch(statement)
        if export:
            (values if export[2] else functions).append(export[1])
        else:
            others.append(statement)
    before, after = script[: found.start()], script[found.end() :]
    read = set(_NAME.findall(before)) | set(_NAME.findall(after)) | set(_NAME.findall(b";".join(others)))
    kept = [name for name in found[1].split(b",") if name in read]
    listed = {b"_" + name for name in functions + values}
    return b"%bvar %b;function assignWasmExports(wasmExports){%b}%b" % (
        before,
        b",".join(kept),
        b";".join(
            [
                b'for(const name of"%b".split(" "))Module["_"+name]=wasmExports[name]' % b" ".join(functions),
                b'for(const name of"%b".split(" "))Module["_"+name]=wasmExports[name].value>>>0' % b" ".join(values),
                *(b'%b=Module["%b"]' % (name, name) for name in kept if name in listed),
                *others,
            ]
        ),
        after,
    )


PATCH = Patch("exports_list", "a third of the script is fetched and parsed for names of exports", _apply)
