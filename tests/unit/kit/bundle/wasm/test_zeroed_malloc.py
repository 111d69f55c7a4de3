"""The `malloc` of the page whose memory becomes a snapshot: its blocks are zeros, and nothing else is changed."""

from __future__ import annotations

import base64
import json
import subprocess
from hashlib import sha256

import pytest

from mcpframe.kit.base.node import find_node
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.bundle.wasm import binary
from mcpframe.kit.bundle.wasm.binary import BadWasm, Section, name, sized, vector
from mcpframe.kit.bundle.wasm.module import read
from mcpframe.kit.bundle.wasm.zeroed_malloc import with_zeroed_malloc
from tests.wasm_profile.tables import PYTHON

# Its malloc returns what it is given.
MODULE = binary.written(
    [
        Section(binary.TYPE, vector([b"\x60\1\x7f\1\x7f"])),
        Section(binary.FUNCTION, vector([b"\0"])),
        Section(binary.MEMORY, vector([b"\0\1"])),
        Section(binary.EXPORT, vector([name("malloc") + b"\0\0", name("memory") + b"\2\0"])),
        Section(binary.CODE, vector([sized(b"\0\x20\0\x0b")])),
    ]
)
RUN = """
const data = Buffer.from(process.argv[1], "base64");
const { malloc, memory } = new WebAssembly.Instance(new WebAssembly.Module(data)).exports;
const bytes = new Uint8Array(memory.buffer).fill(0xff);
new DataView(memory.buffer).setUint32(96, 32 | 3, true);
const changed = () => [...bytes.subarray(0, 200).keys()].filter((at) => bytes[at] === 0);
const before = changed();
const none = [malloc(0), changed()];
console.log(JSON.stringify([before, none, [malloc(100), changed()]]));
"""


def test_a_block_is_zeros_up_to_its_end() -> None:
    data = base64.b64encode(with_zeroed_malloc(MODULE)).decode()
    ran = subprocess.run([find_node().executable, "-e", RUN, data], capture_output=True, text=True, check=True)
    size = [97, 98, 99]  # the zeros of the word before it
    assert json.loads(ran.stdout) == [size, [0, size], [100, [*size, *range(100, 128)]]]


def test_pythons_functions_keep_their_numbers() -> None:
    data = (ensure_runtime().folder / "pyodide.asm.wasm").read_bytes()
    assert sha256(data).hexdigest() == PYTHON, "another Python: look whether its allocator is still dlmalloc"
    before, after = read(data), read(with_zeroed_malloc(data))
    assert after.exports == before.exports
    changed = [at for at, body in enumerate(before.bodies) if after.bodies[at] != body]
    [malloc] = [number for each, _, number in before.exports if each == "malloc"]
    assert changed == [malloc - before.imported(0)]
    assert after.bodies[-1] == before.bodies[changed[0]]


def test_a_module_without_malloc_is_refused() -> None:
    with pytest.raises(BadWasm, match="no malloc"):
        with_zeroed_malloc(binary.written([]))
