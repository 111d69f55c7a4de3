"""Pyodide's larger script, changed to start sooner: all changes apply to the locked version, and mean the same."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from mcpframe.kit.base.data import static_dir
from mcpframe.kit.bundle import emscripten
from mcpframe.kit.bundle.emscripten import eager, tailored, terse
from mcpframe.kit.bundle.runtime import ensure_runtime


@pytest.fixture(scope="module")
def script() -> bytes:
    return (ensure_runtime().folder / "pyodide.asm.mjs").read_bytes()


def test_every_change_applies(script: bytes) -> None:
    for changes in emscripten._CHANGES:
        for old, new in changes:
            assert script.count(old) == 1, old
            assert new not in script
    assert terse(script) != script
    assert eager(script) != script


def test_the_result_is_a_third_shorter_and_still_a_script(script: bytes, tmp_path: Path) -> None:
    changed = tailored(script)
    assert len(changed) < 0.75 * len(script)
    (tmp_path / "script.mjs").write_bytes(changed)
    subprocess.run(["node", "--check", tmp_path / "script.mjs"], check=True)


def test_its_own_function_is_in_parentheses(script: bytes) -> None:
    changed = eager(script)
    assert changed.startswith(b"const _createPyodideModule=(async function _createPyodideModule(")
    assert re.search(rb"\}\);export default _createPyodideModule;\s*\Z", changed)
    assert len(changed) == len(script) + len(b"const _createPyodideModule=();")


def assigned(script: bytes, tmp_path: Path) -> dict[str, object]:
    """What `assignWasmExports` makes of Python's exports: `Module`, and the variables that the script's rest reads."""
    found = emscripten._EXPORTS.search(script)
    assert found is not None
    read = ["_malloc", "___heap_base", "_main", "memory", "wasmMemory", "wasmTable"]
    told = b"""
const Module = {};
const made = (name) => Object.assign(() => name, { value: `value of ${name}`.length });
const exports = new Proxy({}, { get: (_, name) => made(name) });
const plain = (value) => (typeof value === "function" ? value() : value);
assignWasmExports(exports);
const variables = { %b };
const told = (object) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, plain(value)]));
console.log(JSON.stringify([told(Module), told(variables)]));
""" % ", ".join(read).encode()
    (tmp_path / "assigned.mjs").write_bytes(found[0] + told)
    ran = subprocess.run(["node", tmp_path / "assigned.mjs"], capture_output=True, check=True)
    module, variables = json.loads(ran.stdout)
    return {"module": module, "variables": variables}


def test_pythons_exports_are_all_there_and_under_the_same_names(script: bytes, tmp_path: Path) -> None:
    before, after = assigned(script, tmp_path), assigned(terse(script), tmp_path)
    assert before == after
    assert isinstance(before["module"], dict)
    assert len(before["module"]) > 4_000


@pytest.mark.parametrize(
    "other", [b"", b"export default function f() {}", b"async function f() {}export default g;", b"f();"]
)
def test_what_looks_otherwise_is_left_alone(other: bytes) -> None:
    assert tailored(other) == other


def test_changes_that_belong_together_are_made_together_or_not_at_all(script: bytes) -> None:
    [_, (old, _), *_] = emscripten._ON_DEMAND
    other = script.replace(old, b"something()")
    changed = tailored(other)
    assert all(old in changed for old, _ in (emscripten._ON_DEMAND[0], emscripten._ON_DEMAND[2]))
    assert all(new in changed for _, new in emscripten._AT_ONCE)


def test_functions_of_javascript_become_ones_of_webassembly(tmp_path: Path) -> None:
    many = """
import { asWasm } from "./linking.mjs";
const made = (sig, act) => Object.assign(act, { sig });
const functions = Array.from({ length: 400 }, (_, at) => made("ii", (value) => value + at));
const [none, large, two] = [made("v", () => {}), made("jj", (value) => value + 1n), made("dfd", (a, b) => a + b)];
const found = asWasm([...functions, none, large, two, functions[7]]);
const table = new WebAssembly.Table({ element: "anyfunc", initial: 1 });
for (const one of found.values()) table.set(0, one);  // throws where one is not of WebAssembly
console.log(found.size, found.get(functions[399])(1), found.get(none)(), found.get(large)(41n), found.get(two)(1, 2));
console.log(asWasm([]).size);
"""
    (tmp_path / "linking.mjs").write_text((static_dir() / "linking.js").read_text("utf-8"))
    (tmp_path / "script.mjs").write_text(many)
    ran = subprocess.run(["node", tmp_path / "script.mjs"], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["403 400 undefined 42n 3", "0"]
