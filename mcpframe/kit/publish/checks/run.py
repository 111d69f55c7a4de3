"""All checks of one page, and what can be checked: a URL, a built folder, a project."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcpframe.kit.base.errors import ConfigError, NoFramedServer, PortTaken
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.bundle.write import MANIFEST, read_manifests
from mcpframe.kit.cli.server_session import one_session
from mcpframe.kit.publish.checks.embedding import check_page
from mcpframe.kit.publish.checks.files import check_files
from mcpframe.kit.publish.checks.findings import Finding, error, warning
from mcpframe.kit.publish.checks.tools import check_tools
from mcpframe.kit.web.bundle_site import BundleSite
from mcpframe.kit.web.published import fetch, host_for, not_offered, offered_by, read_manifest
from mcpframe.kit.web.serve import Served, serve_app


@dataclass(frozen=True)
class Report:
    """The findings at one address.

    Attributes:
        url: The address.
        findings: The findings, errors first.
        dialects: The dialects that the bundle offers, and WebMCP.
        session: Whether a session was tried: only a bundle that offers the dialect of mcpframe's commands has one.
    """

    url: str
    findings: tuple[Finding, ...]
    dialects: tuple[str, ...] = ()
    session: bool = True

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(finding.severity == "error" for finding in self.findings)


def check_url(url: str, *, origin: str | None = None, timeout: float = 30.0, progress: Progress = silent) -> Report:
    """Check the bundle at a URL: its files as they are sent, its tools, and a session with it.

    Args:
        url: The address of its page.
        origin: The origin of the page that frames it; by default the first that it allows.
        timeout: Seconds to wait for the page's first message.
        progress: Called with a description of each step.

    Raises:
        NoFramedServer: No web server answers, or the page is not a bundle's.
    """
    page = fetch(url)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: pass the address of a server's page.")
    manifest = read_manifest(page.url)
    if manifest is None:
        raise NoFramedServer(
            f"{url} is not the page of an mcpframe bundle: there is no {MANIFEST} beside it. "
            "Pass the address of the bundle's folder, with a slash at the end, and upload the whole folder."
        )
    findings = [*check_page(page.url, page.headers, manifest)]
    with progress("Checking the files"):
        findings += check_files(page.url, manifest)
    is_server = manifest.get("kind") != "page"
    tries = is_server and not_offered(manifest) is None
    if tries:
        with progress("Opening a session in headless Chromium"):
            findings += _session(page.url, manifest, origin or host_for(manifest), timeout)
    elif is_server:
        findings += check_tools(manifest["tools"] or [])
    offered = offered_by(manifest) if is_server else []
    return Report(url, tuple(sorted(findings, key=lambda finding: finding.severity)), tuple(offered), tries)


def _session(url: str, manifest: dict[str, Any], origin: str, timeout: float) -> Iterator[Finding]:
    try:
        tools = asyncio.run(_tools(url, origin, timeout))
    except NoFramedServer as problem:
        first, _, details = str(problem).partition("\n")
        remedy = f"Open the page in a browser and read its console. {details}".strip()
        yield error("handshake", first, remedy)
        yield from check_tools(manifest["tools"] or [])
        return
    yield from check_tools(tools)
    listed = manifest["tools"]
    if listed is not None and [tool["name"] for tool in listed] != [tool["name"] for tool in tools]:
        yield warning(
            "tools",
            "The tools in the manifest differ from those of a session.",
            "Register tools when the module is imported, or build again.",
        )


async def _tools(url: str, origin: str, patience: float) -> list[dict[str, Any]]:
    async with one_session(url, origin=origin, patience=patience) as client:
        return await list_all(client.list_tools, "tools") if client.server_capabilities.tools else []


@contextmanager
def served_bundles(
    path: Path, *, port: int = 0, pages: bool = True, progress: Progress = silent
) -> Iterator[list[str]]:
    """Serve the bundles at a path during the block, and return their addresses.

    Each bundle is served alone, on its own origin: it is foreign code that runs in a browser on this machine, and must
    not reach the files beside it.

    Args:
        path: A bundle's folder, a folder with bundles, or a project, which is built into the cache.
        port: The port of the first one, and of the others after it, where these are free; 0 for any.
        pages: Whether a project may be a page that is no server.
        progress: Called with a description of each long step.

    Raises:
        ConfigError: The path is none of these, or a project that is a page.
        KitError: The project cannot be built.
    """
    if path.is_dir() and (path / MANIFEST).is_file():
        root, names = path.resolve().parent, [path.resolve().name]
    elif path.is_dir() and read_manifests(path):
        root, names = path, list(read_manifests(path))
    else:
        root, names = _built(path, pages, progress)
    with ExitStack() as stack:
        sites = [BundleSite(root.resolve(), name) for name in names]
        ports = [port + index if port else 0 for index in range(len(sites))]
        yield [
            f"{_serve(stack, site, wanted).origin}/{quote(site.name)}/"
            for site, wanted in zip(sites, ports, strict=True)
        ]


def _serve(stack: ExitStack, site: BundleSite, port: int) -> Served:
    try:
        return stack.enter_context(serve_app(site, port))
    except PortTaken:
        return stack.enter_context(serve_app(site))


def _built(path: Path, pages: bool, progress: Progress) -> tuple[Path, list[str]]:
    from mcpframe.kit.testing.shared_browser import build_for_tests

    if path.is_file() and path.name == MANIFEST:
        raise ConfigError(f"{path} is a file of a bundle: pass the bundle's folder.")
    built, folder = build_for_tests(path, pages=pages, progress=progress)
    return folder, [built.name]
