"""All checks of one page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.kit.base.errors import NoFramedServer
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.bundle.assembly.manifest import MANIFEST
from mcpframe.kit.client.session import one_session
from mcpframe.kit.publish.bundle_checks.embedding import check_framing, check_page
from mcpframe.kit.publish.bundle_checks.files import check_files
from mcpframe.kit.publish.bundle_checks.findings import Finding, error, warning
from mcpframe.kit.publish.bundle_checks.tools import check_tools
from mcpframe.kit.servers.published import fetch, host_for, not_offered, offered_by, read_manifest

_SESSION = "Opening a session in headless Chromium"


@dataclass(frozen=True)
class Report:
    """The findings at one address.

    Attributes:
        findings: The findings, errors first.
        dialects: The dialects that the bundle offers, and WebMCP.
        dialect: The dialect of the session.
        session: Whether a session was tried: only a page that offers its dialect has one.
    """

    url: str
    findings: tuple[Finding, ...]
    dialects: tuple[str, ...] = ()
    dialect: str = ""
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
    """Check the page at a URL: a bundle's files on the wire, its tools, and a session with it.

    Args:
        url: The address of its page.
        origin: The origin of the page that frames it; by default the first that it allows.
        dialect: The dialect of the session; by default the preferred one. A page of which it is named need not be a
            bundle's.
        timeout: Seconds to wait for the page's first message.
        progress: Called with a description of each step.

    Raises:
        NoFramedServer: No web server answers, or the page is not a bundle's and its dialect is not named.
    """
    page = fetch(url, patience=timeout)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: pass the address of a server's page.")
    manifest = read_manifest(page.url, patience=timeout)
    spoken = outer_dialect(dialect).name
    session = partial(_session, page.url, manifest, origin or host_for(manifest), dialect, timeout)
    if manifest is None:
        if dialect is None:
            raise NoFramedServer(
                f"{url} is not the page of an mcpframe bundle: there is no {MANIFEST} beside it. Pass the address of "
                "the bundle's folder, with a slash at the end, and upload the whole folder. Of a page that mcpframe "
                "has not built, name the dialect (--dialect)."
            )
        findings = [*check_framing(page.url, page.headers)]
        with progress(_SESSION):
            findings += session()
        return Report(url, _sorted(findings), (spoken,), spoken)
    findings = [*check_page(page.url, page.headers, manifest)]
    with progress("Checking the files"):
        findings += check_files(page.url, manifest)
    is_server = manifest.get("kind") != "page"
    reason = not_offered(manifest, dialect)
    tries = is_server and reason is None
    if tries:
        with progress(_SESSION):
            findings += session()
    elif is_server:
        findings += check_tools(manifest["tools"] or [])
        if dialect and reason:
            findings.append(error("dialects", f"The bundle {reason.partition(':')[0]}.", f"Add {spoken!r} to them."))
    offered = offered_by(manifest) if is_server else []
    return Report(url, _sorted(findings), tuple(offered), spoken, tries)


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: finding.severity))


def _session(
    url: str, manifest: dict[str, Any] | None, origin: str, dialect: str | None, timeout: float
) -> Iterator[Finding]:
    listed = manifest["tools"] if manifest else None
    try:
        tools = asyncio.run(_tools(url, origin, dialect, timeout))
    except NoFramedServer as problem:
        first, _, details = str(problem).partition("\n")
        remedy = f"Open the page in a browser and read its console. {details}".strip()
        yield error("handshake", first, remedy)
        yield from check_tools(listed or []) if manifest else ()
        return
    yield from check_tools(tools)
    if listed is not None and [tool["name"] for tool in listed] != [tool["name"] for tool in tools]:
        yield warning(
            "tools",
            "The tools in the manifest differ from those of a session.",
            "Register tools when the module is imported, or build again.",
        )


async def _tools(url: str, origin: str, dialect: str | None, patience: float) -> list[dict[str, Any]]:
    async with one_session(url, origin=origin, dialect=dialect, patience=patience) as client:
        return await list_all(client.list_tools, "tools") if client.server_capabilities.tools else []
