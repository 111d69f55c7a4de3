"""Pyodide's larger script, as Emscripten has written it, made quicker to start.

It is made for every program and every page; a bundle knows more: the script is called at once, most of its variables
are never read, and few of Python's own functions are wanted by native libraries. What is changed is its text, in places
that are looked for word by word: a script that looks otherwise is left as it is, and starts slower.
"""

from __future__ import annotations

import re

_EXPORTS = re.compile(
    rb"var ([\w$,]+);function assignWasmExports\(wasmExports\)\{(.*?)\}(?=var wasmImports=)", re.DOTALL
)
_EXPORT = re.compile(rb'_([\w$]+)=Module\["_\1"\]=wasmExports\["\1"\](\.value>>>0)?')
_NAME = re.compile(rb"[A-Za-z_$][\w$]*")

# Emscripten enters each of Python's functions into the table of addresses of functions (GOT), for libraries that may
# come. Here a function is entered when a library asks for it.
_ON_DEMAND = (
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
    (  # Python's own come before those of libraries, also where they are not entered yet
        b"var existingEntry=GOT[symName]&&GOT[symName].value!=-1;",
        (
            b"var existingEntry=GOT[symName]?GOT[symName].value!=-1"
            b":Boolean(GOTHandler.exports)&&Object.hasOwn(GOTHandler.exports,symName);"
        ),
    ),
)

# It makes a WebAssembly module for each function of JavaScript that native code wants the address of. Here it is one
# for all of them: see static/linking.js.
_AT_ONCE = (
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

# Its file system throws where something is not there, also when that is only asked because it is to be made: an error
# for each file, of which a browser with its developer tools open, or one that tests drive, notes the whole stack.
_WITHOUT_ERRORS = (
    (
        b"ops_table:null,mount(mount){",
        (
            b"ops_table:null,lacks(dir,name){return dir.node_ops===this.ops_table?.dir.node"
            b"&&!Object.hasOwn(dir.contents,name)&&!FS.mayLookup(dir)},mount(mount){"
        ),
    ),
    (
        b"try{current=FS.lookupNode(current,parts[i])}catch(e){if(e?.errno===44&&islast&&opts.noent_okay)",
        (
            b"if(islast&&opts.noent_okay&&MEMFS.lacks(current,parts[i])){return{path:current_path}}"
            b"try{current=FS.lookupNode(current,parts[i])}catch(e){if(e?.errno===44&&islast&&opts.noent_okay)"
        ),
    ),
    (
        b"if(!FS.isDir(dir.mode)){return 54}try{var node=FS.lookupNode(dir,name);return 20}",
        b"if(!FS.isDir(dir.mode)){return 54}if(!MEMFS.lacks(dir,name))try{var node=FS.lookupNode(dir,name);return 20}",
    ),
    (
        b"d+=dir;try{FS.mkdir(d,mode)}",
        b"d+=dir;if(FS.lookupPath(d,{noent_okay:true}).node)continue;try{FS.mkdir(d,mode)}",
    ),
)

# Pyodide compiles four lines of Python to get what it needs of it, which is in memory where that is a snapshot's: `t`.
_WITHOUT_COMPILING = (
    (
        b'let[r,n]=API.rawRun("import _pyodide_core");r&&API.fatal_loading_error(',
        (
            b"let its=t&&API._pyodide._importhook.sys.modules;"
            b'let[r,n]=its?[0]:API.rawRun("import _pyodide_core");r&&API.fatal_loading_error('
        ),
    ),
    (
        (
            b'API.runPythonInternal_dict=API._pyodide._base.eval_code("{}"),'
            b'API.importlib=API.runPythonInternal("import importlib; importlib");'
        ),
        (
            b'API.runPythonInternal_dict=its?its.get("builtins").dict():API._pyodide._base.eval_code("{}"),'
            b'API.importlib=its?its.get("importlib"):API.runPythonInternal("import importlib; importlib");'
        ),
    ),
    (
        (
            b'let i=API.runPythonInternal("import __main__; __main__.__dict__"),'
            b's=API.runPythonInternal("import builtins; builtins.__dict__");'
        ),
        (
            b'let i=its?its.get("__main__").__dict__:API.runPythonInternal("import __main__; __main__.__dict__"),'
            b's=its?its.get("builtins").__dict__:API.runPythonInternal("import builtins; builtins.__dict__");'
        ),
    ),
)

_CHANGES = (_ON_DEMAND, _AT_ONCE, _WITHOUT_ERRORS, _WITHOUT_COMPILING)


def tailored(script: bytes) -> bytes:
    """Emscripten's script with all that is changed for a bundle."""
    for changes in _CHANGES:
        script = _replaced(script, changes)
    return eager(terse(script))


def _replaced(script: bytes, changes: tuple[tuple[bytes, bytes], ...]) -> bytes:
    """With all of the changes, or where one of them is not possible, with none."""
    changed = script
    for old, new in changes:
        if changed.count(old) != 1:
            return script
        changed = changed.replace(old, new)
    return changed


def terse(script: bytes) -> bytes:
    """Emscripten's script with Python's exports in a list, and without the variables that nothing reads.

    Written out they are a third of the script.

    Args:
        script: It has `var …;function assignWasmExports(wasmExports){…}`; anything else is left as it is.
    """
    found = _EXPORTS.search(script)
    if not found:
        return script
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


def eager(script: bytes) -> bytes:
    """Emscripten's script with its one function in parentheses.

    It is a megabyte, called at once. Engines take the parentheses for a sign of that, and parse it once, while it
    arrives, instead of once more when it is called.

    Args:
        script: `async function name(…) {…} export default name;`; anything else is left as it is.
    """
    found = re.fullmatch(rb"(async function (\w+)\(.*\})(export default \2;\s*)", script, re.DOTALL)
    return b"const %b=(%b);%b" % (found[2], found[1], found[3]) if found else script
