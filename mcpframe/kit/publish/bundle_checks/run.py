"""All checks of one page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mcpframe.kit.base.errors import NoFramedServer
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.bundle.assembly.manifest import MANIFEST
from mcpframe.kit.client.session import one_session
from mcpframe.kit.publish.bundle_checks.embedding import check_page
from mcpframe.kit.publish.bundle_checks.files import check_files
from mcpframe.kit.publish.bundle_checks.findings import Finding, error, warning
from mcpframe.kit.publish.bundle_checks.tools import check_tools
from mcpframe.kit.servers.published import fetch, host_for, not_offered, offered_by, read_manifest


@dataclass(frozen=True)
class Report:
    """The findings at one address.

    Attributes:
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


def check_url(
    url: str,
    *,
    origin: str | None = None,
    dialect: str | None = None,
    timeout: float = 30.0,
    progress: Progress = silent,
) -> Report:
    """Check the bundle at a URL: its files on the wire, its tools, and a session with it.

    Args:
        url: The address of its page.
        origin: The origin of the page that frames it; by default the first that it allows.
        dialect: The dialect of the session; by default the preferred one.
        timeout: Seconds to wait for the page's first message.
        progress: Called with a description of each step.

    Raises:
        NoFramedServer: No web server answers, or the page is not a bundle's.
    """
    page = fetch(url, patience=timeout)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: pass the address of a server's page.")
    manifest = read_manifest(page.url, patience=timeout)
    if manifest is None:
        raise NoFramedServer(
            f"{url} is not the page of an mcpframe bundle: there is no {MANIFEST} beside it. "
            "Pass the address of the bundle's folder, with a slash at the end, and upload the whole folder."
        )
    findings = [*check_page(page.url, page.headers, manifest)]
    with progress("Checking the files"):
        findings += check_files(page.url, manifest)
    is_server = manifest.get("kind") != "page"
    tries = is_server and not_offered(manifest, dialect) is None
    if tries:
        with progress("Opening a session in headless Chromium"):
            findings += _session(page.url, manifest, origin or host_for(manifest), dialect, timeout)
    elif is_server:
        findings += check_tools(manifest["tools"] or [])
    offered = offered_by(manifest) if is_server else []
    return Report(url, tuple(sorted(findings, key=lambda finding: finding.severity)), tuple(offered), tries)


def _session(url: str, manifest: dict[str, Any], origin: str, dialect: str | None, timeout: float) -> Iterator[Finding]:
    try:
        tools = asyncio.run(_tools(url, origin, dialect, timeout))
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


async def _tools(url: str, origin: str, dialect: str | None, patience: float) -> list[dict[str, Any]]:
    async with one_session(url, origin=origin, dialect=dialect, patience=patience) as client:
        return await list_all(client.list_tools, "tools") if client.server_capabilities.tools else []
