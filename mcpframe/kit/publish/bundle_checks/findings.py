"""The findings of a check, and how to fix them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from mcpframe.kit.static_hosts.known import HEADER_FILES
from mcpframe.kit.static_hosts.static_host import StaticHost

HEADERS = f"upload the header file that the build wrote for your host ({', '.join(HEADER_FILES[:3])}, …)"
"""The remedy for what only the web server's settings can mend."""
COMPRESSION = "Let the web server compress it, or serve the .gz file beside it."
"""The remedy for a file that is sent uncompressed."""

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One problem, or one possible improvement.

    Attributes:
        severity: `error` if it keeps hosts or users from the server, else `warning`.
        subject: The affected file, header or tool.
        message: The problem, as a sentence.
        remedy: The remedy, as a sentence.
        needs_headers: Whether the web server has to send other headers, which some hosts do not offer.
    """

    severity: Severity
    subject: str
    message: str
    remedy: str
    needs_headers: bool = False


def error(subject: str, message: str, remedy: str) -> Finding:
    """Return a finding that keeps the server from working."""
    return Finding("error", subject, message, remedy, HEADERS in remedy)


def warning(subject: str, message: str, remedy: str) -> Finding:
    """Return a finding that does not keep the server from working."""
    return Finding("warning", subject, message, remedy, HEADERS in remedy)


def headers_at(host: StaticHost | None) -> str:
    """Return how a host's headers are changed; in general if it is not known."""
    if host is None:
        return HEADERS
    if not host.sends_headers:
        return f"{host.title} has no headers of a site's own, so another host is needed for it"
    if host.files and not host.domains:  # a web server of one's own
        return f"on {host.title}, {host.to_do.replace('`', '')}"
    if host.files:
        return f"{host.title} reads {host.files[0]}, which the build wrote: publish it at the site's root"
    return "the script of `mcpframe publish s3` sets them for each file, and CloudFront has policies for the rest"


def for_host(finding: Finding, host: StaticHost | None) -> Finding:
    """Return a finding with the remedy at a host."""
    remedy = finding.remedy.replace(HEADERS, headers_at(host))
    if remedy == COMPRESSION and host is not None:
        remedy = (
            f"{host.title} compresses texts and WebAssembly only: a host that sends the .gz files saves this."
            if host.compresses is not None and finding.subject.rpartition(".")[2] not in host.compresses
            else f"On {host.title}, turn compression on; {headers_at(host)}."
        )
    return replace(finding, remedy=remedy)
