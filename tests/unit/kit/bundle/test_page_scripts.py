"""The scripts of a page: those that are in the page itself, and Pyodide's."""

from __future__ import annotations

import base64
import hashlib
import re

import pytest

from mcpframe.kit.bundle.contents import eager
from mcpframe.kit.bundle.csp import page_policy
from mcpframe.kit.bundle.memory import DECODER
from mcpframe.kit.bundle.page import early_script, render_page
from mcpframe.kit.config import CspConfig
from mcpframe.kit.data import checkout_dir, static_dir
from mcpframe.kit.node import install_locked
from mcpframe.kit.runtime import ensure_runtime

NOTHING = {"url": "x", "integrity": "x", "bytes": 1}


def page(snapshot: dict[str, object] | None) -> str:
    made = render_page(
        title="A page",
        csp="default-src 'none'",
        generator="test",
        boot={},
        styles=[],
        loader=NOTHING,
        modules=[],
        preloads=[],
        snapshot=snapshot,
    )
    return made.decode()


def test_the_script_in_the_page_is_the_one_that_its_policy_allows() -> None:
    url = 'a"><script>/snapshot.bin'
    [inline] = re.findall(r"<script data-url=.*?</script>", page({**NOTHING, "url": url}), re.DOTALL)
    assert url not in inline
    text = inline.partition(">")[2].removesuffix("</script>")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f" 'sha256-{digest}';" in page_policy(CspConfig(), inline=[early_script()])


def test_a_page_without_a_snapshot_has_no_script_in_it() -> None:
    made = page(None)
    assert "data-url" not in made
    assert re.findall(r"<script(?! type=)", made) == []


def test_pyodides_own_function_is_in_parentheses() -> None:
    script = (ensure_runtime().folder / "pyodide.asm.mjs").read_bytes()
    changed = eager(script)
    assert changed.startswith(b"const _createPyodideModule=(async function _createPyodideModule(")
    assert re.search(rb"\}\);export default _createPyodideModule;\s*\Z", changed)
    assert len(changed) == len(script) + len(b"const _createPyodideModule=();")


@pytest.mark.parametrize(
    "script", [b"", b"export default function f() {}", b"async function f() {}export default g;", b"f();"]
)
def test_what_looks_otherwise_is_left_alone(script: bytes) -> None:
    assert eager(script) == script


def test_the_decoder_is_that_of_the_locked_package() -> None:
    modules = install_locked(checkout_dir())
    script = (modules / "zstddec" / "dist" / "zstddec.mjs").read_text("utf-8")
    [text] = re.findall(r'const wasm = "([^"]+)"', script)
    assert base64.b64decode(text) == (static_dir() / DECODER).read_bytes()
    licences = (modules / "zstddec" / "LICENSE", static_dir() / "zstd.licence.txt")
    assert len({path.read_text("utf-8").strip() for path in licences}) == 1
