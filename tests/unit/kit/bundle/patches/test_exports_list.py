"""Python's exports by the names in its WebAssembly: the same names with the same values."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from mcpframe.kit.bundle.patches.exports_list import EXPORTS, PATCH
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime


def assigned(script: bytes, folder: Path) -> dict[str, object]:
    """What `assignWasmExports` assigns, of the exports of Pyodide's WebAssembly: to `Module`, and to the variables that
    the rest of the script reads.
    """
    found = EXPORTS.search(script)
    assert found is not None
    read = ["_malloc", "___heap_base", "_main", "memory", "wasmMemory", "wasmTable"]
    program = b"""
import { readFileSync } from "node:fs";
const Module = {};
const compiled = new WebAssembly.Module(readFileSync(process.argv[2]));
const exported = ({ name, kind }) => {
  const one = Object.assign(() => name, { kind });
  return [name, kind === "global" ? Object.assign(one, { value: -name.length }) : one];
};
const exports = Object.fromEntries(WebAssembly.Module.exports(compiled).map(exported));
const plain = (value) => (typeof value === "function" ? value() : value);
assignWasmExports(exports);
const variables = { %b };
const entries = (object) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, plain(value)]));
console.log(JSON.stringify([entries(Module), entries(variables)]));
""" % ", ".join(read).encode()
    wasm = ensure_runtime().folder / "pyodide.asm.wasm"
    (folder / "assigned.mjs").write_bytes(found[0] + program)
    ran = subprocess.run(["node", folder / "assigned.mjs", wasm], capture_output=True, check=True)
    module, variables = json.loads(ran.stdout)
    return {"module": module, "variables": variables}


def test_pythons_exports_are_all_there_and_under_the_same_names(script: bytes, tmp_path: Path) -> None:
    before, after = assigned(script, tmp_path), assigned(PATCH.apply(script), tmp_path)
    assert before == after
    assert isinstance(before["module"], dict)
    assert len(before["module"]) > 4_000
