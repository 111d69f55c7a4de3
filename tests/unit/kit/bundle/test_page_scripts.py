"""The scripts of a page: the one that is in the page itself, and those that are joined into one."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mcpframe.kit.base import bundled_scripts
from mcpframe.kit.base.data import checkout_dir, page_dir
from mcpframe.kit.base.errors import KitError
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.bundle.assembly import page_scripts as scripts
from mcpframe.kit.bundle.assembly.csp import page_policy
from mcpframe.kit.bundle.assembly.index_page import render_page
from mcpframe.kit.bundle.assembly.installable import worker_licence
from mcpframe.kit.bundle.assembly.page_scripts import BUNDLED, loader_script, prefetch_script, snapshot_maker_script
from mcpframe.kit.bundle.assembly.snapshot_file import DECODER
from mcpframe.kit.project.pyproject import CspConfig
from mcpframe.kit.web.host_page import bundle_module
from tests.release.page_script import VIEW_MODULE, bundled_page_script, view_module

NOTHING = {"url": "x", "integrity": "x", "bytes": 1}


def page(*, prefetch: bool) -> str:
    made = render_page(
        title="A page",
        csp="default-src 'none'",
        generator="test",
        boot={},
        styles=[],
        loader=NOTHING,
        scripts=[],
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
    "both.js": """\
import * as one from "./one.js";
import * as two from "./two.js";

console.log(Object.keys(one).sort().join(), Object.keys(two).sort().join(), await two.two());
""",
}


def test_scripts_are_joined_without_getting_into_each_others_way(tmp_path: Path) -> None:
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    script = tmp_path / "script.mjs"
    bundle_module(str(tmp_path / "both.js"), script, install_locked(checkout_dir()), minify=False)
    ran = subprocess.run(["node", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "count,one Two,two 22\n"


@pytest.mark.parametrize("script", [loader_script(), snapshot_maker_script()], ids=["loader", "snapshot maker"])
def test_a_pages_scripts_neither_import_nor_export(script: bytes) -> None:
    """So a page runs each from an element, and a worker as a part of its one text, with their hashes checked."""
    assert re.findall(r"^(?:import|export) .*|import\.meta", script.decode(), re.MULTILINE) == []
    dynamic = re.findall(r"\bimport\(.*", script.decode())
    assert dynamic == (["import(href);"] if script == loader_script() else [])  # authors'


def test_the_script_holds_every_module_of_the_page_except_those_that_are_inline() -> None:
    inside = set(re.findall(r"^// static/(.+\.js)$", loader_script().decode(), re.MULTILINE))
    modules = {f"page/{path.name}" for path in page_dir().glob("*.js")}
    assert inside == {*modules, "app/limits.js", "app/size.js", "host/host-json.js"} - {
        f"page/{name}.js"
        for name in ("handed", "handed-start", "inbox", "inbox-start", "inline", "prefetch", "prefetch-start")
    } - {"page/offline.js", "page/register.js"}


def test_the_bundled_script_in_the_repository_is_what_its_sources_make() -> None:
    for name in scripts.SOURCES:
        assert (page_dir() / name).read_text("utf-8") == bundled_page_script(install_locked(checkout_dir()), name)


def test_the_text_of_a_view_in_the_package_is_what_its_sources_make() -> None:
    assert VIEW_MODULE.read_text("utf-8") == view_module(install_locked(checkout_dir()))


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of `static`, in place of the checkout's."""
    static = tmp_path / "static"
    shutil.copytree(page_dir(), static / "page")
    for name in ("app", "host"):
        shutil.copytree(page_dir().parent / name, static / name)
    monkeypatch.setattr(bundled_scripts, "static_dir", lambda: static)
    return static


@pytest.mark.parametrize("name", ["page/loader.js", "page/sha256.js", "host/host-json.js"])
def test_a_changed_source_is_noticed(copied: Path, name: str) -> None:
    assert loader_script()
    path = copied / name
    path.write_text(path.read_text("utf-8").replace("return", "return ", 1), "utf-8")
    with pytest.raises(KitError, match=r"python3 build\.py scripts"):
        loader_script()


@pytest.mark.parametrize("damaged", [None, "", "// {}\n", "// nonsense\n", "const x = 1;\n"])
def test_a_bundled_script_without_its_record_is_noticed(copied: Path, damaged: str | None) -> None:
    path = copied / "page" / BUNDLED
    path.unlink() if damaged is None else path.write_text(damaged, "utf-8")
    with pytest.raises(KitError, match=r"python3 build\.py scripts"):
        loader_script()


def test_the_ends_of_lines_make_no_difference(copied: Path) -> None:
    before = loader_script()
    for path in [*copied.rglob("*.js")]:
        path.write_text(path.read_text("utf-8"), "utf-8", newline="\r\n")
    assert loader_script() == before


def test_the_decoder_is_that_of_the_locked_package() -> None:
    modules = install_locked(checkout_dir())
    script = (modules / "zstddec" / "dist" / "zstddec-stream.mjs").read_text("utf-8")
    [text] = re.findall(r'const wasm = "([^"]+)"', script)
    assert base64.b64decode(text) == (page_dir() / DECODER).read_bytes()
    licences = (modules / "zstddec" / "LICENSE", page_dir() / "zstd.licence.txt")
    assert len({path.read_text("utf-8").strip() for path in licences}) == 1


def test_the_service_worker_has_the_licence_of_its_library() -> None:
    packaged = (install_locked(checkout_dir()) / "workbox-core" / "LICENSE").read_text("utf-8")
    assert worker_licence().decode().endswith(packaged)
