"""Real Pyodide in a page of headless Chromium, by pytest-pyodide, with the packages of a bundle and this repository.

The page is served from a folder that has the pinned runtime and one archive with everything Python; `packages.lock`
pins the packages and is written anew when it is deleted.
"""

from __future__ import annotations

import contextlib
import functools
import json
import shutil
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright
from pytest_pyodide.runner import PlaywrightChromeRunner
from pytest_pyodide.server import DefaultHandler

from mcpframe.kit.browser.chromium import ensure_chromium, launch_options
from mcpframe.kit.bundle.assembly.layers import SITE_PACKAGES
from mcpframe.kit.bundle.assembly.special_packages import advice
from mcpframe.kit.bundle.packages.compile_layers import compiled_wheels
from mcpframe.kit.bundle.packages.fetch import fetch_wheels
from mcpframe.kit.bundle.packages.lock import Lock, inputs_hash, read_lock, write_lock
from mcpframe.kit.bundle.packages.resolve import resolve
from mcpframe.kit.bundle.pyodide.archive import pack
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import Runtime, ensure_runtime
from mcpframe.kit.bundle.pyodide.version import FILES
from tests.support.origins import SHORT_LIVED
from tests.support.suites import mark_folder

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
REQUIREMENTS = ("pytest==9.1.1", "tblib")
SHIPPED = (
    *("mcpframe/__init__.py", "mcpframe/hosts.py", "mcpframe/testing.py", "mcpframe/wire.py"),
    *("mcpframe/frame", "mcpframe/hub", "mcpframe/views", "templates"),
    *(
        "mcpframe/kit/__init__.py",
        "mcpframe/kit/base",
        "mcpframe/kit/bundle",
        "mcpframe/kit/project",
        "mcpframe/kit/static_hosts",
    ),
    *("static/page", "static/app", "static/host/host-json.js", "static/new"),
    *(
        "tests/__init__.py",
        "tests/support",
        "tests/unit/frame",
        "tests/unit/vectors",
        "tests/vectors",
        "tests/in_pyodide/inside",
    ),
)
NOT_SHIPPED = "mcpframe/frame/compat/fastmcp_package.py"
"""A page that has it takes itself for one with the package fastmcp."""
collect_ignore = ["inside"]
PATIENCE = 300
"""Seconds one step in the page may take."""

# Pyodide's own console handlers print one line each; the page of pytest-pyodide keeps them in `self.logs`.
LOAD = """
let pyodide = await loadPyodide({ fullStdLib: false, jsglobals: self });
const archive = await (await fetch("python.zip")).arrayBuffer();
pyodide.unpackArchive(archive, "zip", { extractDir: "/" });
pyodide.runPython("import sys; sys.path.insert(0, '/repo')");
"""

# A Python that dies never settles its promise.
RUN = """
const ended = new Promise((_, reject) => {
  pyodide._api.on_fatal = reject;
  setTimeout(() => reject(new Error("no answer in time")), %d);
});
return await Promise.race([pyodide.runPythonAsync(%s), ended]);
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_folder(items, "tests/in_pyodide/", "pyodide")


class Runner(PlaywrightChromeRunner):
    """A page with Pyodide. Everything Python is there already, so no package is ever loaded by name."""

    script_timeout = PATIENCE

    def load_pyodide(self) -> None:
        self.run_js(LOAD + self.POST_LOAD_PYODIDE_SCRIPT)

    def load_package(self, packages: object) -> None:
        """Nothing to load."""

    def python(self, code: str) -> Any:
        """Run Python source with top-level await, and give the value its last expression has as JSON text."""
        return json.loads(self.run_js(RUN % (PATIENCE * 1000, json.dumps(code)), pyodide_checks=False))


def _lock(runtime: Runtime) -> tuple[Lock, PyodidePackages]:
    path, pyodide = HERE / "packages.lock", PyodidePackages(runtime)
    lock = read_lock(path)
    if lock is None or lock.inputs != inputs_hash(REQUIREMENTS):
        lock = resolve(REQUIREMENTS, pyodide, inputs=inputs_hash(REQUIREMENTS))
        write_lock(path, lock)
    return lock, pyodide


@pytest.fixture(scope="session")
def dist_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that is served."""
    folder = tmp_path_factory.mktemp("dist")
    runtime = ensure_runtime()
    for name in FILES:
        shutil.copy(runtime.folder / name, folder)
    lock, pyodide = _lock(runtime)
    library = compiled_wheels(fetch_wheels(lock.packages, pyodide), runtime)
    files = {f"{SITE_PACKAGES[1:]}/{path}": data for path, data in library.files.items()}
    for start in map(REPOSITORY.joinpath, SHIPPED):
        for path in [start] if start.is_file() else start.rglob("*"):
            name = path.relative_to(REPOSITORY).as_posix()
            if path.is_file() and "__pycache__" not in path.parts and name != NOT_SHIPPED:
                files[f"repo/{name}"] = path.read_bytes()
    files["repo/mcpframe/frame/compat/placeholder_advice.py"] = f"MODULES = {advice(())!r}".encode()  # as a build does
    (folder / "python.zip").write_bytes(pack(files))
    return folder


class _QuietHandler(DefaultHandler):
    def log_message(self, format_: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def web_server_main(dist_folder: Path) -> Iterator[tuple[str, int, None]]:
    """Host, port and log of the server; replaces the one of pytest-pyodide, which forks."""
    handler = functools.partial(_QuietHandler, directory=str(dist_folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield "127.0.0.1", server.server_port, None
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def playwright_browsers() -> Iterator[dict[str, Browser]]:
    """Chromium, launched in a way that works with the system's and as root; replaces the one of pytest-pyodide."""
    options = launch_options(ensure_chromium())
    options["args"].append(SHORT_LIVED)
    with (
        sync_playwright() as playwright,
        contextlib.closing(playwright.chromium.launch(**options)) as browser,
    ):
        yield {"chrome": browser}


@pytest.fixture(scope="module")
def selenium_module_scope(
    web_server_main: tuple[str, int, None], playwright_browsers: dict[str, Browser], dist_folder: Path
) -> Iterator[Runner]:
    """A page with Pyodide for the tests of one module. (The name is the one pytest-pyodide looks for.)"""
    host, port, _ = web_server_main
    runner = Runner(playwright_browsers, server_port=port, server_hostname=host, dist_dir=dist_folder)
    yield runner
    runner.quit()
