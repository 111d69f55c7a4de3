"""The findings of a check, and how to fix them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcpframe.kit.static_hosts.known import HEADER_FILES

HEADERS = f"upload the header file that the build wrote for your host ({', '.join(HEADER_FILES[:3])}, …)"
"""The remedy for what only the web server's settings can mend."""

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One problem, or one possible improvement.

    Attributes:
        severity: `error` if it keeps hosts or users from the server, else `warning`.
        subject: The affected file, header or tool.
        message: The problem, as a sentence.
        remedy: The remedy, as a sentence.
    """

    severity: Severity
    subject: str
    message: str
    remedy: str

    @property
    def needs_headers(self) -> bool:
        """Whether the web server has to send other headers, which some hosts do not offer."""
        return HEADERS in self.remedy


def error(subject: str, message: str, remedy: str) -> Finding:
    """Return a finding that keeps the server from working."""
    return Finding("error", subject, message, remedy)


def warning(subject: str, message: str, remedy: str) -> Finding:
    """Return a finding that does not keep the server from working."""
    return Finding("warning", subject, message, remedy)
