"""`mcpframe check`: the lint of a project, a built folder or a deployed URL."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from mcpframe.kit.cli.common_options import AsJson, Origin, Timeout, Where
from mcpframe.kit.cli.output import escape, out, silently, step
from mcpframe.kit.cli.served_target import served

if TYPE_CHECKING:
    from mcpframe.kit.publish.bundle_checks import Report

EXAMPLES = "Examples:  mcpframe check  |  mcpframe check dist  |  mcpframe check https://tools.example/pi/ --json"
_COLOURS = {"error": "red", "warning": "yellow"}


def check(
    target: Where = ".",
    origin: Origin = None,
    timeout: Timeout = 30.0,
    as_json: AsJson = False,
) -> None:
    """Find problems of a server: headers, policy, types, origins, sizes, handshake, tools.

    Exits with 1 for an error, and with 0 for warnings only.
    """
    from mcpframe.kit.client.session import check_origin
    from mcpframe.kit.publish.bundle_checks import check_url

    check_origin(origin)
    progress = silently if as_json else step
    with served(target, pages=True, progress=progress) as urls:
        reports = [check_url(url, origin=origin, timeout=timeout, progress=progress) for url in urls]
    if as_json:
        typer.echo(json.dumps([{**asdict(report), "errors": report.errors} for report in reports], indent=2))
    else:
        for report in reports:
            _print(report)
    if any(report.errors for report in reports):
        raise typer.Exit(1)


def _print(report: Report) -> None:
    out.print(f"[bold]{escape(report.url)}[/]")
    if report.dialects:
        from mcpframe.frame.dialects.available import dialect

        untried = "" if report.session else f"; no session was opened, as that needs {dialect().name}"
        out.print(f"  offers  {', '.join(report.dialects)}{untried}")
    # The same finding often applies to many files.
    groups: dict[tuple[str, str, str], list[str]] = {}
    for finding in report.findings:
        groups.setdefault((finding.severity, finding.message, finding.remedy), []).append(finding.subject)
    for (severity, message, remedy), subjects in groups.items():
        more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
        out.print(f"[{_COLOURS[severity]}]{severity}:[/] {escape(subjects[0])}{more}: {escape(message)}")
        out.print(f"  [dim]mend it:[/] {escape(remedy)}")
    counts = Counter[str](finding.severity for finding in report.findings)
    out.print(", ".join(f"{counts[kind]} {kind}{'' if counts[kind] == 1 else 's'}" for kind in _COLOURS))
