"""Exported functions in place of their copies in a table, where a browser makes copies."""

from __future__ import annotations

import subprocess
from pathlib import Path

from mcpframe.kit.base.data import page_dir

SCRIPT = """
import { hasCopies, replaceCopies } from "./linking.mjs";
const named = (text) => Object.defineProperty(() => {}, "name", { value: text });
const tableOf = (all) => ({ length: all.length, get: (at) => all[at], set: (at, one) => (all[at] = one) });
const [one, two, other] = [named("1"), named("2"), named("1")];
const entries = [null, named("1"), named("3"), named("2"), named("1")];
const table = tableOf(entries);
replaceCopies({ exports: { __indirect_function_table: table, one, two, memory: {} } }, { env: {} });
console.log(entries.map((entry) => [one, two].indexOf(entry)).join());
replaceCopies({ exports: { other } }, { env: { __indirect_function_table: table, __table_base: 4 } });
console.log(entries.map((entry) => [one, two, other].indexOf(entry)).join(), hasCopies());
"""


def test_the_exported_functions_of_each_module_are_in_its_part_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "linking.mjs").write_text((page_dir() / "linking.js").read_text("utf-8"))
    (tmp_path / "script.mjs").write_text(SCRIPT)
    ran = subprocess.run(["node", tmp_path / "script.mjs"], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["-1,0,-1,1,0", "-1,0,-1,1,2 false"]
