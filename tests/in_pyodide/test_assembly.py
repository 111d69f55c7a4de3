"""A page assembles a bundle: the same files, byte for byte, as the build makes of the same inputs in CPython."""

from __future__ import annotations

import base64
import json
import pickle
from importlib.metadata import version
from pathlib import Path

import jinja2
import markupsafe
import packaging

from mcpframe.frame.core.origins import OriginEntries
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
