"""static/page/linking.js makes JavaScript functions WebAssembly functions, which a table takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from mcpframe.kit.base.data import page_dir


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
    (tmp_path / "linking.mjs").write_text((page_dir() / "linking.js").read_text("utf-8"))
    (tmp_path / "script.mjs").write_text(many)
    ran = subprocess.run(["node", tmp_path / "script.mjs"], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["403 400 undefined 42n 3", "0"]
