"""The scripts of a page: the one that is in the page itself, and those that are joined into one."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir, page_dir
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.bundle.csp import page_policy
from mcpframe.kit.bundle.index_page import prefetch_script, render_page
from mcpframe.kit.bundle.memory import DECODER
from mcpframe.kit.bundle.scripts import SCRIPTS, joined, loader_script, snapshot_maker_script
from mcpframe.kit.project.config import CspConfig

NOTHING = {"url": "x", "integrity": "x", "bytes": 1}


def page(*, prefetch: bool) -> str:
    made = render_page(
        title="A page",
        csp="default-src 'none'",
        generator="test",
        boot={},
        styles=[],
        loader=NOTHING,
        modules=[],
        preloads=[],
        prefetch=prefetch,
    )
    return made.decode()


def test_the_script_in_the_page_is_the_one_that_its_policy_allows() -> None:
    [text] = re.findall(r"<script>(.*?)</script>", page(prefetch=True), re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f" 'sha256-{digest}';" in page_policy(CspConfig(), inline=[prefetch_script()])


def test_the_script_in_the_page_comes_after_what_it_reads_and_before_everything_it_would_wait_for() -> None:
    made = page(prefetch=True)
    assert made.index('id="mcpframe-boot"') < made.index("<script>") < made.index("<link")


def test_a_page_without_a_snapshot_has_no_script_in_it() -> None:
    assert re.findall(r"<script(?! type=)", page(prefetch=False)) == []


SOURCES = {
    "one.js": """\
const hidden = 1;
export const one = () => hidden;
export function* count() {
  yield one();
}
""",
    "two.js": """\
import { count, one } from "./one.js";

const hidden = 20;
export async function two() {
  return hidden + one() + [...count()].length;
}
export class Two {}
""",
}


def test_scripts_are_joined_without_getting_into_each_others_way(tmp_path: Path) -> None:
    (tmp_path / "joined.mjs").write_text(joined(SOURCES))
    told = """\
import { modules } from "./joined.mjs";
const [one, two] = [modules["one.js"], modules["two.js"]];
console.log(Object.keys(one).join(), Object.keys(two).join(), await two.two());
"""
    (tmp_path / "script.mjs").write_text(told)
    ran = subprocess.run(["node", tmp_path / "script.mjs"], capture_output=True, text=True, check=True)
    assert ran.stdout == "one,count two,Two 22\n"


@pytest.mark.parametrize("script", [loader_script(), snapshot_maker_script("../_mcpframe/loader.js")])
def test_all_imports_of_a_pages_scripts_are_found_in_its_one_file(script: bytes) -> None:
    text = script.decode()
    declared = set(re.findall(r'^modules\["(.+)"\] =', loader_script().decode(), re.MULTILINE))
    assert declared == set(SCRIPTS)
    assert set(re.findall(r' = modules\["(.+)"\];', text)) <= declared
    assert re.findall(r"^(?:import|export) .*", text, re.MULTILINE) in (
        ["export { modules };"],
        ['import { modules } from "../_mcpframe/loader.js";', "export async function make(starts) {"],
    )


def test_the_decoder_is_that_of_the_locked_package() -> None:
    modules = install_locked(checkout_dir())
    script = (modules / "zstddec" / "dist" / "zstddec-stream.mjs").read_text("utf-8")
    [text] = re.findall(r'const wasm = "([^"]+)"', script)
    assert base64.b64decode(text) == (page_dir() / DECODER).read_bytes()
    licences = (modules / "zstddec" / "LICENSE", page_dir() / "zstd.licence.txt")
    assert len({path.read_text("utf-8").strip() for path in licences}) == 1
