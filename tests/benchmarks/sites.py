"""The served sites: the bundles, their peers, and the host page, each on one of its own."""

from __future__ import annotations

import contextlib
import gzip
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.data import checkout_dir, templates_dir
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.node import install_locked
from mcpframe.kit.base.progress import Progress
from mcpframe.kit.bundle.assembly.layers import SITE_PACKAGES
from mcpframe.kit.bundle.assembly.own_modules import own_files
from mcpframe.kit.bundle.packages.compile_layers import compiled_stdlib
from mcpframe.kit.bundle.packages.fetch import fetch_wheels
from mcpframe.kit.bundle.packages.lock import Locked, read_lock
from mcpframe.kit.bundle.packages.resolve import INSTALLER
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.pyodide.archive import pack, unpack
from mcpframe.kit.bundle.pyodide.bytecode import compile_libraries
from mcpframe.kit.bundle.pyodide.compile import cache_key, cached, library_compiler
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.pyodide.packages import PyodidePackages
from mcpframe.kit.bundle.pyodide.runtime import Runtime, ensure_runtime
from mcpframe.kit.project.project import find_project
from mcpframe.kit.web.host_page import bundle_client, bundle_module, copy_host_modules
from mcpframe.kit.web.serve import serve_app, serve_folder
from mcpframe.kit.web.site import Site

PAGES = Path(__file__).parent / "pages"
SERVERS = Path(__file__).parent / "servers"

# What a content delivery network says of files with a version in their address.
_CACHED = "/*\n  Cache-Control: public, max-age=31536000, immutable\n/*.html\n  ! Cache-Control\n"


class Counted:
    """An ASGI application that counts the bytes of the bodies another one sends.

    Args:
        app: The other one.

    Attributes:
        app: The same; another one may take its place.
        bytes: What it has sent.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.body":
                self.bytes += len(message.get("body", b""))
            await send(message)

        await self.app(scope, receive, counting)


@dataclass(frozen=True)
class Framed:
    """A page to be framed.

    Attributes:
        url: Its address.
        served: Counts what its origin serves.
    """

    url: str
    served: Counted


@dataclass(frozen=True)
class Sites:
    """Everything that is served.

    Attributes:
        host: The address of the host page.
        pi: The bundle of the template `pi-calculator`, which starts from a snapshot.
        plain: The same without a snapshot: from .pyc files.
        stock: The same server, started the stock way.
        echo: The bundle of `servers/echo`.
        typescript: The same with the TypeScript SDK.
        view: The bundle of `servers/view`.
        stock_view: The same, started the stock way.
        app_view: The same with the App SDK of MCP Apps.
        acting: The bundle of `servers/acting`.
        busy: The bundle of `servers/busy`, which runs in a worker.
        busy_page: The same, in its page.
        modules: The folder `node_modules`.
        locked: Versions of the packages in the bundle of `pi-calculator`, by name.
    """

    host: str
    pi: Framed
    plain: Framed
    stock: Framed
    echo: Framed
    typescript: Framed
    view: Framed
    stock_view: Framed
    app_view: Framed
    acting: Framed
    busy: Framed
    busy_page: Framed
    modules: Path
    locked: dict[str, str]

    def beside(self, framed: Framed) -> str:
        """The address of the host page on a page's own site: what is emulated for one holds for the other, too."""
        site = urlsplit(framed.url).hostname
        return self.host.replace("//host.localhost", f"//host.{site}")


def serving(stack: contextlib.ExitStack, folder: Path, site: str) -> Callable[[str], Framed]:
    """Serve a folder on a site of its own until the stack is closed; return a function from a path to its page."""
    counted = Counted(Site(folder))
    port = stack.enter_context(serve_app(counted)).port
    return lambda path: Framed(f"http://{site}.localhost:{port}/{path}", counted)


@contextlib.contextmanager
def all_sites(progress: Progress) -> Iterator[Sites]:
    """Build everything and serve it for as long as the block lasts."""
    modules = install_locked(checkout_dir(), progress=progress)
    runtime = ensure_runtime(progress=progress)
    bundles = checkout_dir() / ".cache" / "bench"
    plain = bundles / "plain"
    plain.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mcpframe-bench-")))
        folders = {name: scratch / name for name in ("host", "stock", "typescript", "app")}
        for folder in folders.values():
            folder.mkdir()
        port = stack.enter_context(serve_folder(folders["host"])).port
        host = f"http://host.localhost:{port}"

        template, view = templates_dir() / "pi-calculator", SERVERS / "view"
        with progress("Building the bundles"):
            in_page = _in_its_page(SERVERS / "busy", scratch)
            for project in (template, SERVERS / "echo", view, SERVERS / "acting", SERVERS / "busy", in_page):
                build(project, bundles, allowed_origins=["*"], snapshot=True)
            build(template, plain, allowed_origins=["*"], snapshot=False)
        with progress("Making their peers"):
            write_stock(folders["stock"], (template, view), host, runtime)
            _write_module(folders["typescript"], "typescript.html", "typescript_server.js", modules)
            _write_module(folders["app"], "app_view.html", "app_view.js", modules)
            (folders["app"] / "_headers").write_text(_CACHED)
            _compress(folders["app"] / "app_view.js")
        _write_host(folders["host"], bundle_client(modules, progress=progress))
        bundle, stock = serving(stack, bundles, "bundle"), serving(stack, folders["stock"], "stock")
        yield Sites(
            host=f"{host}/host.html",
            pi=bundle("pi-calculator/"),
            plain=serving(stack, plain, "plain")("pi-calculator/"),
            stock=stock(f"stock.html?{template.name}"),
            echo=bundle("echo/"),
            typescript=serving(stack, folders["typescript"], "typescript")(f"typescript.html?host={host}"),
            view=bundle("view/"),
            stock_view=stock(f"stock.html?{view.name}"),
            app_view=serving(stack, folders["app"], "app")("app_view.html"),
            acting=bundle("acting/"),
            busy=bundle("busy/"),
            busy_page=bundle("busy-page/"),
            modules=modules,
            locked={package.name: package.version for package in _locked(template)},
        )


def _in_its_page(project: Path, scratch: Path) -> Path:
    """Return a copy of a project that runs in its page."""
    copy = shutil.copytree(project, scratch / f"{project.name}-page")
    settings = copy / "pyproject.toml"
    text = settings.read_text("utf-8").replace(f'name = "{project.name}"', f'name = "{project.name}-page"')
    settings.write_text(text.replace('runs_in = "worker"', 'runs_in = "page"'), "utf-8")
    return copy


def _write_host(folder: Path, client: Path) -> None:
    for name in ("host.html", "host_page.js", "calling.js"):
        shutil.copy(PAGES / name, folder)
    copy_host_modules(folder)
    shutil.copy(client, folder / "mcp-client.js")


def _locked(project: Path) -> tuple[Locked, ...]:
    """The packages of a bundle that its page starts with: everything but the installer."""
    lock = read_lock(find_project(project).lock_path)
    if lock is None:
        raise BuildError(f"The build of {project.name} left no lock.")
    installer = {package.name for package in lock.closure(INSTALLER)}
    rest = [package.name for package in lock.packages if package.name not in installer]
    return lock.closure(rest)


def write_stock(
    folder: Path, projects: Sequence[Path], host: str, runtime: Runtime, distribution: Path | None = None
) -> None:
    """Write projects, which have been built, for pages that start as stock Pyodide does: `stock.html?NAME`.

    In its fastest documented form: the standard library and the wheels are compiled, as `pyodide py-compile` does it.

    Args:
        folder: A new folder, or an empty one.
        host: The origin that may frame them.
        distribution: The source of their packages with native code; see `PyodidePackages`.
    """
    folder.mkdir(exist_ok=True)
    (folder / "_headers").write_text(_CACHED)
    shutil.copytree(runtime.folder, folder / "pyodide")
    (folder / "pyodide" / "python_stdlib.zip").write_bytes(pack(compiled_stdlib(runtime), compressed=True))
    shutil.copy(PAGES / "stock.html", folder)
    packages = install_locked(checkout_dir())
    bundle_module(str(PAGES / "stock.js"), folder / "stock.js", packages, external=["./pyodide/pyodide.mjs"])
    own = _own_wheel(folder, runtime)
    for project in projects:
        modules = [path.name for path in project.glob("*.py")]
        (folder / project.name).mkdir()
        for name in modules:
            shutil.copy(project / name, folder / project.name)
        wheels = list(fetch_wheels(_locked(project), PyodidePackages(runtime, distribution)).values())
        for wheel in wheels:
            _write_compiled(wheel, folder, runtime)
        config = {
            "entry": find_project(project).entry,
            "name": project.name,
            "title": project.name,
            "allowed_origins": [host],
        }
        stock = {"config": config, "wheels": [wheel.name for wheel in (*wheels, own)], "modules": modules}
        (folder / project.name / "stock.json").write_text(json.dumps(stock))
    for path in list(folder.rglob("*")):
        if path.suffix in (".wasm", ".mjs", ".json", ".py"):
            _compress(path)


def _own_wheel(folder: Path, runtime: Runtime) -> Path:
    """mcpframe's frame code as a wheel."""
    number = version("mcpframe")
    about = "Wheel-Version: 1.0\nGenerator: benchmark\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {**own_files({}, {"mcp2", "document"}), f"mcpframe-{number}.dist-info/WHEEL": about.encode()}
    with tempfile.TemporaryDirectory() as made:
        wheel = Path(made, f"mcpframe-{number}-py3-none-any.whl")
        wheel.write_bytes(pack(files))
        _write_compiled(wheel, folder, runtime)
        return folder / wheel.name


def _write_compiled(wheel: Path, folder: Path, runtime: Runtime) -> None:
    """Write a wheel with bytecode in place of its sources."""
    path = cached("benchmark-wheels", cache_key(job_text("compile"), runtime.version, wheel.read_bytes()) + ".whl")
    if not path.is_file():
        files = unpack(wheel)
        compiled = compile_libraries({"": files}, library_compiler(runtime), shown=SITE_PACKAGES)[""]
        write_file(path, pack(compiled, compressed=True))
    shutil.copy(path, folder / wheel.name)


def _write_module(folder: Path, page: str, script: str, modules: Path) -> None:
    shutil.copy(PAGES / page, folder)
    bundle_module(str(PAGES / script), folder / script, modules)


def _compress(path: Path) -> None:
    path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
