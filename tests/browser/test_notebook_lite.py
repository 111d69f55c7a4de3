"""The widget of a notebook in JupyterLite: the server and its tools run in Pyodide, in the kernel's worker.

The packages are those of `notebook_lite`, with their hashes: `site.txt` is for the site, `kernel.txt` for its kernel.
The kernel's Pyodide is npm's package, without the packages of Pyodide's distribution.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.base.data import checkout_dir
from mcpframe.kit.base.npm import npm_archive
from mcpframe.kit.bundle.packages.pins import parse_pins
from mcpframe.kit.bundle.packages.wheels import download
from mcpframe.kit.web.serve import serve_folder
from tests.browser.clients import BOOT_PATIENCE
from tests.browser.test_notebook import SERVER, use
from tests.release.packages import build_python

LOCKS = Path(__file__).parent / "notebook_lite"
PYODIDE = ("314.0.6", "sha512-BKDTJyIqFxC4BExLqeRS3f5xvXZIjOt8C3zGLN/Cc7tFxSwvKVhVkchQQ2AGLOtR4YrVOIFxbV8poyDOOmWwxQ==")
"""The version for which the kernel of `site.txt` is made, and the hash of its archive."""
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
AEAD = """class AESGCM:
    def __init__(self, key): ...
    def encrypt(self, nonce, data, associated): return data
    def decrypt(self, nonce, data, associated): return data
"""
HKDF = """class HKDF:
    def __init__(self, **options): ...
    def derive(self, secret): return secret
"""
CIPHERS = {
    "__init__.py": "",
    "exceptions.py": "class InvalidTag(Exception): ...\n",
    "hazmat/__init__.py": "",
    "hazmat/primitives/__init__.py": "",
    "hazmat/primitives/hashes.py": "class SHA256: ...\n",
    "hazmat/primitives/ciphers/__init__.py": "",
    "hazmat/primitives/ciphers/aead.py": AEAD,
    "hazmat/primitives/kdf/__init__.py": "",
    "hazmat/primitives/kdf/hkdf.py": HKDF,
}


def write_wheel(folder: Path, name: str, version: str, modules: Mapping[str, str]) -> Path:
    """Write a wheel that stands for a native package: those are in Pyodide's distribution, and not on the index."""
    info = f"{name}-{version}.dist-info"
    about = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: mcpframe\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = f"{info}/RECORD,,\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in {**modules, **about}.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{file},sha256={digest},{len(text.encode())}\n"
            archive.writestr(file, text)
        archive.writestr(f"{info}/RECORD", record)
    return path


def kernel_wheels(folder: Path) -> None:
    """Put the wheels for the kernel into a folder: mcpframe, its requirements and the kernel's."""
    folder.mkdir()
    pins = parse_pins((LOCKS / "kernel.txt").read_text("utf-8"))
    wheels = download({name: (pin.version, pin.hashes) for name, pin in pins.items()}, locked=True)
    for _, file, sha256 in wheels.values():
        shutil.copy(cache_dir() / "wheels" / sha256 / file, folder / file)
    build_python("wheel", checkout_dir(), folder)
    stand_in = (checkout_dir() / "mcpframe" / "frame" / "compat" / "rpds.py").read_text("utf-8")
    write_wheel(folder, "rpds_py", "0.30.0", {"rpds.py": stand_in})
    write_wheel(folder, "cryptography", "47.0.0", {f"cryptography/{file}": text for file, text in CIPHERS.items()})


def runtime(folder: Path, micropip: Path) -> None:
    """Put Pyodide into a folder, with micropip as its only package."""
    folder.mkdir(parents=True)
    with tarfile.open(npm_archive("pyodide", *PYODIDE, "tests/browser/test_notebook_lite.py")) as archive:
        for name in RUNTIME:
            (folder / name).write_bytes(archive.extractfile(f"package/{name}").read())
        lock = json.load(archive.extractfile("package/pyodide-lock.json"))
    package = {**lock["packages"]["micropip"], "sha256": hashlib.sha256(micropip.read_bytes()).hexdigest()}
    shutil.move(micropip, folder / package["file_name"])
    (folder / "pyodide-lock.json").write_text(json.dumps({**lock, "packages": {"micropip": package}}))


def notebook(folder: Path) -> None:
    """Write the notebook into the site, and the list of its files."""
    cells = [
        {"cell_type": "code", "id": name, "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for name, source in (("server", f"%pip install -q mcpframe anywidget\n{SERVER}"), ("seen", "seen"))
    ]
    kernel = {"name": "python", "display_name": "Python (Pyodide)", "language": "python"}
    content = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "notebook.ipynb").write_text(json.dumps(content))
    about = {"created": "2026-01-01T00:00:00Z", "last_modified": "2026-01-01T00:00:00Z", "mimetype": None}
    about |= {"format": None, "writable": True, "size": None, "content": None}
    file = {**about, "name": "notebook.ipynb", "path": "notebook.ipynb", "type": "notebook"}
    root = {**about, "name": "", "path": "", "type": "directory", "format": "json", "content": [file]}
    (folder / "api" / "contents").mkdir(parents=True, exist_ok=True)
    (folder / "api" / "contents" / "all.json").write_text(json.dumps(root))
    settings = json.loads((folder / "jupyter-lite.json").read_text("utf-8"))
    settings["jupyter-config-data"]["contentsAllJsonFile"] = "all.json"
    (folder / "jupyter-lite.json").write_text(json.dumps(settings))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the site."""
    folder = tmp_path_factory.mktemp("lite")
    packages, source, site = folder / "packages", folder / "source", folder / "site"
    command = [sys.executable, "-m", "uv", "pip", "install", "-q", "--python", sys.executable, "--target", packages]
    subprocess.run([*command, "--require-hashes", "-r", LOCKS / "site.txt"], check=True)
    source.mkdir()
    kernel_wheels(source / "pypi")
    [micropip] = (source / "pypi").glob("micropip-*")
    runtime(source / "static" / "pyodide", micropip)
    env = {**os.environ, "PYTHONPATH": str(packages)}
    labextensions = packages / "share" / "jupyter" / "labextensions"
    build = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", source, "--output-dir", site]
    build += ["--apps", "lab", f"--FederatedExtensionAddon.extra_labextensions_path={labextensions}"]
    subprocess.run(build, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    notebook(site)
    return site


@pytest.mark.extended
async def test_jupyterlite(context: BrowserContext, site: Path) -> None:
    with serve_folder(site) as served:
        page = await context.new_page()
        await page.goto(f"{served.origin}/lab/index.html?path=notebook.ipynb")
        idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        await expect(idle).to_be_attached(timeout=BOOT_PATIENCE * 1000)
        cell = page.locator(".jp-CodeCell .cm-content")
        await cell.first.click()
        await page.keyboard.press("Shift+Enter")
        await use(page)
        await cell.nth(1).click()
        await page.keyboard.press("Shift+Enter")
        await expect(page.locator(".jp-OutputArea-output").last).to_contain_text("[42]")
