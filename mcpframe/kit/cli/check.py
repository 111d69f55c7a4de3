"""`mcpframe check`: the lint of a project, a built folder or a deployed URL."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.cli import package as packages
from mcpframe.kit.cli.common_options import AsJson, Dialect, Origin, Timeout, Where, words_of
from mcpframe.kit.cli.examples import examples
from mcpframe.kit.cli.output import escape, out, silently, step
from mcpframe.kit.cli.served_target import served, served_bundles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpframe.kit.base.progress import Progress
    from mcpframe.kit.publish.bundle_checks import Finding, Report
    from mcpframe.kit.publish.view_checks.run import ViewReport

EXAMPLES = examples(
    "mcpframe check",
    "mcpframe check dist",
    "mcpframe check https://tools.example/pi/ --json",
    "mcpframe check --views",
    'mcpframe check --views --server "python server.py"',
)
Views = Annotated[
    bool,
    typer.Option("--views", help="Show a tool call in its view instead, under the policies of hosts such as Claude."),
]
Server = Annotated[
    str,
    typer.Option(
        "--server",
        metavar="COMMAND",
        help="With --views: the stdio server whose tool is called; by default the bundle is it.",
    ),
]
_COLOURS = {"error": "red", "warning": "yellow"}


def check(
    target: Where = ".",
    origin: Origin = None,
    dialect: Dialect = None,
    timeout: Timeout = 30.0,
    views: Views = False,
    server: Server = "",
    settings: packages.Settings = None,
    as_json: AsJson = False,
) -> None:
    """Find problems of a server: headers, policy, types, origins, sizes, handshake, tools.

    Exits with 1 for an error, and with 0 for warnings only. With --views, exits with 1 if a user of one of the hosts
    would see nothing, an error page of the browser, or a view that is cut off.
    """
    from mcpframe.kit.client.session import check_origin
    from mcpframe.kit.publish.bundle_checks import check_url

    check_origin(origin)
    command = words_of(server, "--server")
    if command and not views:
        raise typer.BadParameter("it names the server whose tool is shown by --views: add that.", param_hint="--server")
    progress = silently if as_json else step
    packages.apply_settings(target, settings, progress)
    if views:
        _check_views(target, command, origin, timeout, as_json=as_json, progress=progress)
        return
    with served(target, pages=True, progress=progress) as urls:
        reports = [check_url(url, origin=origin, dialect=dialect, timeout=timeout, progress=progress) for url in urls]
    if as_json:
        typer.echo(json.dumps([{**asdict(report), "errors": report.errors} for report in reports], indent=2))
    else:
        for report in reports:
            _print(report)
    if any(report.errors for report in reports):
        raise typer.Exit(1)


def _check_views(
    target: str, server: list[str], origin: str | None, timeout: float, *, as_json: bool, progress: Progress
) -> None:
    from mcpframe.kit.publish.view_checks.run import check_url_views
    from mcpframe.kit.publish.view_checks.stage import BUNDLE

    with served_bundles(target, root=BUNDLE, progress=progress) as targets:
        reports = [
            check_url_views(url, bundle, server=server, origin=origin, patience=timeout, progress=progress)
            for url, bundle in targets
        ]
    if as_json:
        typer.echo(json.dumps([asdict(report) for report in reports], indent=2))
    else:
        for report in reports:
            _print_views(report)
    if any(row.failed for report in reports for row in report.rows):
        raise typer.Exit(1)


def _print_views(report: ViewReport) -> None:
    from rich import box
    from rich.table import Table

    from mcpframe.kit.publish.view_checks.run import IN_WORDS

    out.print(f"[bold]{escape(report.url)}[/]: {escape(report.tool)}({escape(json.dumps(report.arguments))})")
    if report.note:
        out.print(f"  {escape(report.note)}")
    table = Table("host", "the view", "first paint", "result drawn", box=box.SIMPLE_HEAD, pad_edge=False)
    for row in report.rows:
        colour = "red" if row.failed else "green" if row.outcome == "draws" else "yellow"
        before = "error page, then " if row.error_page else ""
        after = f", {row.hidden} px hidden" if row.hidden else ""
        times = ["" if time is None else f"{time:.0f} ms" for time in (row.painted, row.drawn)]
        table.add_row(escape(row.title), f"[{colour}]{before}{IN_WORDS[row.outcome]}{after}[/]", *times)
    out.print(table)
    for row in report.rows:
        if row.violations:
            out.print(f"{escape(row.title)} refuses {escape(', '.join(row.violations))}")


def _print(report: Report) -> None:
    from mcpframe.kit.publish.bundle_checks.findings import HEADERS
    from mcpframe.kit.static_hosts.known import WITHOUT_HEADERS

    out.print(f"[bold]{escape(report.url)}[/]")
    if report.dialects:
        untried = "" if report.session else f"; no session was opened, as that needs {report.dialect}"
        out.print(f"  offers  {', '.join(report.dialects)}{untried}")
    by_project: list[Finding] = []
    by_headers: list[Finding] = []
    for finding in report.findings:
        of_server = finding.severity == "warning" and finding.needs_headers
        (by_headers if of_server else by_project).append(finding)
    counts = _print_groups(by_project)
    if by_headers:
        out.print(f"[bold]What your web server's headers would mend[/] [dim]({escape(HEADERS)})[/]")
        counts += _print_groups(by_headers, mend=False)
        without = ", ".join(WITHOUT_HEADERS)
        out.print(f"  [dim]A host without headers of your own, such as {without}, cannot: it works there, too.[/]")
    out.print(", ".join(f"{counts[kind]} {kind}{'' if counts[kind] == 1 else 's'}" for kind in _COLOURS))


def _print_groups(findings: Sequence[Finding], *, mend: bool = True) -> Counter[str]:
    """Print findings, the same one of many files once, and return their numbers by severity.

    Args:
        mend: Whether to print the remedies.
    """
    groups: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.message, finding.remedy), []).append(finding.subject)
    for (severity, message, remedy), subjects in groups.items():
        more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
        out.print(f"[{_COLOURS[severity]}]{severity}:[/] {escape(subjects[0])}{more}: {escape(message)}")
        if mend:
            out.print(f"  [dim]mend it:[/] {escape(remedy)}")
    return Counter(severity for severity, _, _ in groups)
