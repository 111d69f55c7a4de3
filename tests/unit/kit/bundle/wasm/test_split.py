"""Splitting WebAssembly: nothing is lost, and every call reaches its function."""

import base64
import json
import random
import shutil
import subprocess
from hashlib import sha256

import pytest

from mcpframe.kit.base.data import page_dir
from mcpframe.kit.base.node import find_node
from mcpframe.kit.bundle.assembly.wasm_files import in_two
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.bundle.snapshot.memory import zstd
from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import BadWasm, Section, name, sized, vector
from mcpframe.kit.bundle.wasm.data import moved_parts, written_by
from mcpframe.kit.bundle.wasm.module import FUNCTIONS, Module, read
from mcpframe.kit.bundle.wasm.profile import WHOLE, from_runs, profile_of, to_runs
from mcpframe.kit.bundle.wasm.split import Pair, split
from tests.wasm_profile.proof import prove
from tests.wasm_profile.tables import prove_unread

ZSTD = page_dir() / "zstd.wasm"
MODULES = ("second-files", "fetch-now", "missing", "sha256", "linking", "surroundings")

# Links both files with the page's own script, and unpacks a text by the module as it was, and by both files.
RUN = """
import { readFileSync } from "node:fs";
const given = JSON.parse(readFileSync("given.json", "utf8"));
const [whole, first, second, packed] = given.map((each) => Buffer.from(each, "base64"));
globalThis.mcpframeGiven = { config: {}, base: "http://localhost/" };
let requests = 0;
globalThis.XMLHttpRequest = class {
  status = 200;
  open(method, url) { requests += url === "http://localhost/second.wasm"; }
  overrideMimeType() {}
  send() { this.responseText = second.toString("latin1"); }
};
const { SecondFiles } = await import("./second-files.js");
const imports = { env: { emscripten_notify_memory_growth() {} } };
function unpacked({ malloc, memory, ZSTD_decompress }) {
  const from = malloc(packed.length);
  new Uint8Array(memory.buffer).set(packed, from);
  const to = malloc(4096);
  return Buffer.from(new Uint8Array(memory.buffer, to, ZSTD_decompress(to, 4096, from, packed.length))).toString();
}
const exportsOf = (data) => new WebAssembly.Instance(new WebAssembly.Module(data), imports).exports;
const hash = await crypto.subtle.digest("SHA-256", second);
const file = { second: { url: "second.wasm", integrity: `sha256-${Buffer.from(hash).toString("base64")}` } };
const [late, early] = [new SecondFiles(), new SecondFiles()];
const called = late.expect(file, exportsOf(first), imports);
const linked = early.expect(file, exportsOf(first), imports);
await early.come(async () => new WebAssembly.Module(second));
const texts = [exportsOf(whole), called, linked].map(unpacked);
await late.come(() => { throw new Error("it is linked already"); });
console.log(JSON.stringify({ texts, requests, exported: Object.keys(called) }));
"""


def functions(module: Module) -> range:
    """The numbers of a module's own functions."""
    imported = module.imported(FUNCTIONS)
    return range(imported, imported + len(module.bodies))


@pytest.mark.parametrize("share", [0.5, 1])
def test_both_files_do_what_the_module_did(tmp_path, share):
    data = ZSTD.read_bytes()
    chosen = random.Random(f"{share}")
    pair = split(data, [each for each in functions(read(data)) if chosen.random() < share])
    text = "".join(chosen.choices("abc ", k=2000))
    files = (data, pair.first, pair.second, zstd.compress(text.encode()))
    (tmp_path / "given.json").write_text(json.dumps([base64.b64encode(each).decode() for each in files]))
    for module in MODULES:
        shutil.copy(page_dir() / f"{module}.js", tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "run.js").write_text(RUN)
    node = find_node().executable
    ran = subprocess.run([node, "run.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    found = json.loads(ran.stdout)
    assert found["texts"] == [text] * 3
    assert found["requests"] == 1  # once, by the first call of such a function
    assert sorted(found["exported"]) == sorted(name for name, _, _ in read(data).exports)


def test_nothing_of_pythons_file_is_lost(monkeypatch):
    monkeypatch.delenv(WHOLE, raising=False)
    data = (ensure_runtime().folder / "pyodide.asm.wasm").read_bytes()
    profile = profile_of(sha256(data).hexdigest())
    assert profile is not None
    pair = split(data, profile.later, profile.tables)
    prove(data, pair)
    prove_unread(profile.sha256, pair, profile.later, profile.tables)


def test_parts_of_a_librarys_data_are_in_its_second_file():
    base = b"\3env" + name("__memory_base") + b"\3\x7f\0"
    content = b"\1\0\x23\0\x0b" + sized(bytes(range(1, 200)))
    sections = {
        binary.TYPE: vector([b"\x60\0\0"]),
        binary.IMPORT: vector([base]),
        binary.FUNCTION: vector([b"\0"]),
        binary.CODE: vector([sized(b"\0\x0b")]),
        binary.DATA: content,
    }
    data = binary.written(Section(kind, each) for kind, each in sections.items())
    tables = [range(10, 20), range(100, 150)]
    pair = split(data, [], tables)
    prove(data, pair)
    assert written_by(pair.second) == tables
    assert [each.data for each in moved_parts(pair.second)] == [bytes(range(11, 21)), bytes(range(101, 151))]
    with pytest.raises(AssertionError):
        prove(data, Pair(pair.first, split(data, [], tables[:1]).second))


def test_a_lost_function_is_noticed():
    data = ZSTD.read_bytes()
    later = functions(read(data))
    pair = split(data, later)
    with pytest.raises(AssertionError):
        prove(data, Pair(pair.first, split(data, later[1:]).second))


@pytest.mark.parametrize("data", [b"", b"\0asm", ZSTD.read_bytes()[:-100]])
def test_what_is_no_module_is_refused(data):
    with pytest.raises(BadWasm):
        split(data, [])


def test_numbers_are_kept_as_runs():
    numbers = frozenset({3, 4, 5, 9, 11, 12})
    assert to_runs(numbers) == "3-5 9 11-12"
    assert from_runs(to_runs(numbers)) == numbers
    assert from_runs(to_runs(frozenset())) == frozenset()


def test_no_file_is_split_if_a_variable_says_so(monkeypatch):
    data = (ensure_runtime().folder / "pyodide.asm.wasm").read_bytes()
    monkeypatch.setenv(WHOLE, "1")
    assert in_two(data) == Pair(data, b"")


@pytest.mark.parametrize("value", [0, 1, 63, 64, 127, 128, 300, 2**31])
def test_numbers_are_read_as_they_are_written(value):
    assert binary.number(binary.encoded(value), 0) == (value, len(binary.encoded(value)))
    assert binary.signed(value)[-1] & 0xC0 == 0  # its sign is in the last byte
