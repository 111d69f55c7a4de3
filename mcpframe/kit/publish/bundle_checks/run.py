"""All checks of one page."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcpframe.frame.dialects.complete import outer_dialect
from mcpframe.kit.base.errors import NoFramedServer
from mcpframe.kit.base.progress import Progress, silent
from mcpframe.kit.base.server_lists import list_all
from mcpframe.kit.bundle.assembly.built_manifest import MANIFEST
from mcpframe.kit.client.session import one_session
from mcpframe.kit.publish.bundle_checks.agents import agents_that_see, check_trials
from mcpframe.kit.publish.bundle_checks.embedding import check_framing, check_page, is_local
from mcpframe.kit.publish.bundle_checks.files import check_files
from mcpframe.kit.publish.bundle_checks.findings import Finding, error, for_host, warning
from mcpframe.kit.publish.bundle_checks.installed import OfflineFiles, check_installable, offline_files, visit_alone
from mcpframe.kit.publish.bundle_checks.tools import check_tools
from mcpframe.kit.publish.bundle_checks.visits import Visits, two_visits
from mcpframe.kit.servers.published import fetch, host_for, not_offered, offered_by, read_manifest
from mcpframe.kit.static_hosts.known import recognized
from mcpframe.kit.static_hosts.static_host import StaticHost
from mcpframe.views.html import url_origin

_NEEDED = ("allowed_origins", "files", "name", "sizes", "tools")
"""The members of a manifest of any version."""
_SESSION = "Opening a session in headless Chromium"


@dataclass(frozen=True)
class Report:
    """The findings at one address.

    Attributes:
        findings: The findings, errors first.
        dialects: The dialects that the bundle offers, and WebMCP.
        dialect: The dialect of the session.
        session: Whether a session was tried: only a page that offers its dialect has one.
        host: The name of the static host, if it is known.
        visits: What two visits have shown; None without a session.
        agents: Which agents of browsers see the tools, and why no others do; empty without WebMCP.
        installed: What the page has without a network; None if it is not to be installed.
    """

    url: str
    findings: tuple[Finding, ...]
    dialects: tuple[str, ...] = ()
    dialect: str = ""
    session: bool = True
    host: str = ""
    visits: Visits | None = None
    agents: str = ""
    installed: OfflineFiles | None = None

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
    host: StaticHost | None = None,
    progress: Progress = silent,
) -> Report:
    """Check the page at a URL: a bundle's files on the wire, its tools, and a session with it.

    Args:
        url: The address of its page.
        origin: The origin of the page that frames it; by default the first that it allows.
        dialect: The dialect of the session; by default the preferred one. A page of which it is named need not be a
            bundle's.
        timeout: Seconds to wait for the page's first message, and for the answer of a tool.
        host: The static host; by default it is recognized by its address or its headers.
        progress: Called with a description of each step.

    Raises:
        NoFramedServer: No web server answers, its manifest is not complete, or the page is not a bundle's and its
            dialect is not named.
    """
    page = fetch(url, patience=timeout)
    if page.status != 200:
        raise NoFramedServer(f"{url} answers with status {page.status}: pass the address of a server's page.")
    manifest = read_manifest(page.url, patience=timeout)
    spoken = outer_dialect(dialect).name
    host = host or recognized(page.url, page.headers)
    title = host.title if host else ""
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
            findings += session()[0]
        return Report(url, _sorted(findings, host), (spoken,), spoken, host=title)
    if lacking := [key for key in _NEEDED if key not in manifest]:
        raise NoFramedServer(f"The {MANIFEST} of {url} lacks {', '.join(lacking)}: upload the folder that was built.")
    own = url_origin(page.url)
    findings = [*check_page(page.url, page.headers, manifest), *check_trials(manifest, None if is_local(own) else own)]
    with progress("Checking the files"):
        findings += check_files(page.url, manifest)
    if installed := offline_files(manifest):
        findings += check_installable(page.headers)
        with progress("Visiting it in a tab of its own"):
            findings += asyncio.run(visit_alone(page.url, manifest, patience=timeout))
    is_server = manifest.get("kind") != "page"
    reason = not_offered(manifest, dialect)
    tries = is_server and reason is None
    visits = None
    if tries:
        with progress("Visiting it twice in headless Chromium"):
            of_session, visits = session()
        findings += of_session
    elif is_server:
        findings += check_tools(manifest["tools"] or [], manifest["name"])
        if dialect and reason:
            findings.append(error("dialects", f"The bundle {reason.partition(':')[0]}.", f"Add {spoken!r} to them."))
    offered = offered_by(manifest) if is_server else []
    agents = agents_that_see(manifest, own)
    return Report(url, _sorted(findings, host), tuple(offered), spoken, tries, title, visits, agents, installed)


def _sorted(findings: Iterable[Finding], host: StaticHost | None) -> tuple[Finding, ...]:
    return tuple(for_host(finding, host) for finding in sorted(findings, key=lambda finding: finding.severity))


def _session(
    url: str, manifest: dict[str, Any] | None, origin: str, dialect: str | None, timeout: float
) -> tuple[list[Finding], Visits | None]:
    """Open a session: of a bundle in each of two visits."""
    listed, name = (manifest["tools"], manifest["name"]) if manifest else (None, "")
    visits = None
    try:
        if manifest is not None:
            visits = asyncio.run(two_visits(url, manifest, origin=origin, dialect=dialect, patience=timeout))
        tools = visits.tools if visits else asyncio.run(_tools(url, origin, dialect, timeout))
    except NoFramedServer as problem:
        first, _, details = str(problem).partition("\n")
        remedy = f"Open the page in a browser and read its console. {details}".strip()
        return [error("handshake", first, remedy), *(check_tools(listed or [], name) if manifest else ())], None
    findings = [*check_tools(tools, name), *(visits.findings if visits else ())]
    if listed is not None and [tool["name"] for tool in listed] != [tool["name"] for tool in tools]:
        findings.append(
            warning(
                "tools",
                "The tools in the manifest differ from those of a session.",
                "Register tools when the module is imported, or build again.",
            )
        )
    return findings, visits


async def _tools(url: str, origin: str, dialect: str | None, patience: float) -> list[dict[str, Any]]:
    async with one_session(url, origin=origin, dialect=dialect, patience=patience) as client:
        return await list_all(client.list_tools, "tools") if client.server_capabilities.tools else []
