"""What a check finds, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or could be better.

    Attributes:
        severity: `error` where hosts or users are kept from the server, else `warning`.
        subject: What it is about: a file, a header, a tool.
        message: What is found, a sentence.
        remedy: What to do, a sentence.
    """

    severity: Severity
    subject: str
    message: str
    remedy: str


def error(subject: str, message: str, remedy: str) -> Finding:
    """Make a finding that keeps the server from working."""
    return Finding("error", subject, message, remedy)


def warning(subject: str, message: str, remedy: str) -> Finding:
    """Make a finding that could be better."""
    return Finding("warning", subject, message, remedy)
