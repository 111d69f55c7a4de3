"""A page assembles a bundle: the same files, byte for byte, as the build makes of the same inputs in CPython."""

from __future__ import annotations

import base64
import json
import pickle
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import jinja2
import markupsafe
import packaging
import pytest

from mcpframe.frame.core.allowed_origins import OriginEntries
from mcpframe.kit.bundle.assembly.assemble import assemble
from mcpframe.kit.bundle.assembly.author_files import author_files, page_files
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.inputs import RUNTIME, Inputs, licence_text, runtime_scripts
from mcpframe.kit.bundle.assembly.layers import SERVER_PATH, SITE_PACKAGES, STDLIB_PATH, Layer, Layers
from mcpframe.kit.bundle.assembly.manifest import manifest_of, manifest_text
from mcpframe.kit.bundle.assembly.packages import Packages
from mcpframe.kit.bundle.pyodide.archive import pack
from mcpframe.kit.bundle.pyodide.runtime import ensure_runtime
from mcpframe.kit.project.project import find_project
from mcpframe.kit.web.serve import serve_folder
from tests.support.built import built
from tests.support.suites import extended

TEMPLATE = Path(__file__).parents[2] / "templates" / "sqlite-analyst"
ASSEMBLE = """
import base64, hashlib, io, json, pickle, sys, zipfile
zipfile.ZipFile(io.BytesIO(base64.b64decode(LIBRARIES))).extractall("/assembly")
sys.path.insert(0, "/assembly")
from mcpframe.kit.bundle.assembly.assemble import assemble
from mcpframe.kit.static_hosts.known import host_files
from mcpframe.kit.bundle.assembly.manifest import manifest_of, manifest_text
inputs = pickle.loads(base64.b64decode(INPUTS))
bundle = assemble(inputs)
manifest = manifest_of(inputs, bundle, {item.path: None for item in bundle.assets})
files = {item.path: item.sha256 for item in bundle.assets}
json.dumps([files, manifest_text(manifest).decode(), sorted(host_files({"a": manifest["csp"]}))])
"""


ON_A_DONOR = """
import base64, io, json, sys, zipfile
zipfile.ZipFile(io.BytesIO(base64.b64decode(LIBRARIES))).extractall("/assembly")
sys.path.insert(0, "/assembly")
from pathlib import Path
from pyodide.http import pyfetch
from mcpframe.kit.bundle.assembly.assemble import assemble
from mcpframe.kit.bundle.assembly.author_files import author_files, page_files
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.donor import read_donor
from mcpframe.kit.bundle.assembly.manifest import manifest_of, manifest_text
from mcpframe.kit.project.project import find_project
from mcpframe.kit.project.template_files import template_files
from mcpframe.kit.static_hosts.known import host_files

async def fetched(path):
    return await (await pyfetch(f"{URL}/{path}")).bytes()

text = await fetched("minimal/manifest.json")
lent = {entry["path"]: await fetched(entry["path"]) for entry in json.loads(text)["files"]}
donor = read_donor("minimal", {**lent, "minimal/manifest.json": text})
root = Path("/project/pi")
for path, data in template_files("pi", "pi-calculator").items():
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_bytes(data)
if SERVER:
    (root / "server.py").write_text(SERVER)
project, dist = find_project(root), root / "dist"
author = author_files(project, dist)
inputs = donor.inputs(project, author, ServerDescription("pi"), page_files=page_files(project, dist))
bundle = assemble(inputs, donor.snapshot(inputs))
manifest = manifest_of(inputs, bundle, {item.path: None for item in bundle.assets})
made = {item.path: item.data for item in bundle.assets if item.path not in lent}
made |= {"pi/manifest.json": manifest_text(manifest), **host_files({"pi": manifest["csp"]})}
json.dumps({path: base64.b64encode(data).decode() for path, data in made.items()})
"""


def libraries() -> bytes:
    """Return what a bundle of a plain server does not have, and the version of mcpframe."""
    files = {}
    for module in (jinja2, markupsafe, packaging):
        folder = Path(module.__file__).parent
        files |= {f"{folder.name}/{path.name}": path.read_bytes() for path in folder.glob("*.py")}
        for path in folder.glob("*/*.py"):
            files[path.relative_to(folder.parent).as_posix()] = path.read_bytes()
    about = f"Metadata-Version: 2.1\nName: mcpframe\nVersion: {version('mcpframe')}\n"
    return pack({**files, "mcpframe-0.dist-info/METADATA": about.encode()})


def test_a_page_makes_the_files_of_a_bundle(selenium):
    project, runtime = find_project(TEMPLATE), ensure_runtime()
    author = author_files(project, TEMPLATE / "dist")
    base = {"mcp/__init__.pyc": b"code", "pydantic_core/native.so": b"\0asm\1\0\0\0\0\x0b\x08dylink.0\1\0"}
    archives = (
        Layer("stdlib", STDLIB_PATH, {"json/__init__.pyc": b"code"}),
        Layer("base", SITE_PACKAGES, base),
        Layer("server", SERVER_PATH, author, own=True),
    )
    tools = ({"name": "query", "description": "Query it.", "inputSchema": {"type": "object"}},)
    scripts = {name: (runtime.folder / name).read_bytes() for name in RUNTIME if not name.endswith(".wasm")}
    inputs = Inputs(
        project,
        Packages({"mcp": "2.3.0"}, frozenset()),
        Layers({}, {}, archives, {"std/gzip.pyc": b"code"}, {}),
        licence_text({"mcp/LICENSE": b"MIT"}),
        ServerDescription("analyst", tools=tools, modules=("server", "json")),
        OriginEntries(("https://chat.example",)),
        runtime_scripts({**scripts, "pyodide.asm.wasm": b"\0asm"}),
        page_files=page_files(project, TEMPLATE / "dist"),
    )
    bundle = assemble(inputs)
    given = {"INPUTS": pickle.dumps(inputs), "LIBRARIES": libraries()}
    texts = "".join(f"{name} = {base64.b64encode(data).decode()!r}\n" for name, data in given.items())
    files, manifest, headers = selenium.python(texts + ASSEMBLE)
    assert files == {item.path: item.sha256 for item in bundle.assets}
    assert f"{project.name}/index.html" in files
    expected = manifest_of(inputs, bundle, {item.path: None for item in bundle.assets})
    assert manifest == manifest_text(expected).decode()
    assert json.loads(manifest)["tools"] == list(tools)
    assert "_headers" in headers


# Its part of mcpframe has what adapts urllib to a page, which the donor and its layer of the SDK lack.
WITH_HTTP = """
import urllib.request

from mcpframe import FrameServer

server = FrameServer("pi")


@server.tool()
def fetch() -> str:
    \"\"\"Fetch the page itself, and return how it has started.\"\"\"
    import js

    restored = js.performance.getEntriesByName("mcpframe:restored").length
    with urllib.request.urlopen(js.location.href) as response:
        return f"restored: {restored}, {response.status}: {response.read(15).decode()}"
"""


@pytest.mark.parametrize(
    ("server", "call", "answer"),
    [
        ("", ["calculate_pi", "iterations=1000"], "3."),
        extended(WITH_HTTP, ["fetch"], "restored: 1, 200: <!doctype html>"),
    ],
    ids=["a template", "one with HTTP"],
)
def test_a_page_makes_a_bundle_on_a_donor_which_serves(selenium, tmp_path, server, call, answer):
    donor, _ = built("minimal")
    with serve_folder(donor) as served:
        given = f"URL = 'http://127.0.0.1:{served.port}'\nLIBRARIES = {base64.b64encode(libraries()).decode()!r}\n"
        made = selenium.python(f"{given}SERVER = {server!r}\n{ON_A_DONOR}")
    assert not [path for path in made if "pyodide" in path or "deferred" in path or "stdlib" in path]
    folder = tmp_path / "dist"
    shutil.copytree(donor / "_mcpframe", folder / "_mcpframe")
    for path, data in made.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(base64.b64decode(data))
    command = [sys.executable, "-m", "mcpframe", "call", str(folder / "pi"), *call]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert answer in ended.stdout
