"""`mcpframe check`: the lint of a project, a built folder or a deployed URL."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from mcpframe.kit.cli.shared import common_options as options
from mcpframe.kit.cli.shared import package as packages
from mcpframe.kit.cli.shared.common_options import AsJson, Dialect, Origin, Timeout, Where, words_of
from mcpframe.kit.cli.shared.examples import examples
from mcpframe.kit.cli.shared.output import escape, out, silently, step
from mcpframe.kit.cli.shared.served_target import served, served_bundles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpframe.kit.base.progress import Progress
    from mcpframe.kit.publish.bundle_checks import Finding, Report
    from mcpframe.kit.publish.bundle_checks.visits import Visits
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
_ELSEWHERE = ("tools", "findings")
"""Members of the manifest that a report has elsewhere."""
_SHOWN = 50_000  # bytes: less is not worth a word
_COLOURS = {"error": "red", "warning": "yellow"}


def check(
    target: Where = ".",
    origin: Origin = None,
    dialect: Dialect = None,
    timeout: Timeout = 30.0,
    views: Views = False,
    server: Server = "",
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="HOST",
            callback=options.is_static_host,
            help="The static host, as for mcpframe publish; by default it is recognized by its address or its headers.",
        ),
    ] = None,
    settings: packages.Settings = None,
    as_json: AsJson = False,
) -> None:
    """Find problems of a server: headers, policy, types, origins, sizes, two visits, a call, tools.

    Exits with 1 for an error, and with 0 for warnings only. With --views, exits with 1 if a user of one of the hosts
    would see nothing, an error page of the browser, or a view that is cut off.
    """
    from mcpframe.kit.base.extras import need

    need("author", "mcpframe check")
    if views:
        need("test", "mcpframe check --views")
    from mcpframe.kit.client.session import check_origin
    from mcpframe.kit.publish.bundle_checks import check_url
    from mcpframe.kit.publish.targets.known import TARGETS

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
        known = TARGETS[host].host if host else None
        reports = [
            check_url(url, origin=origin, dialect=dialect, timeout=timeout, host=known, progress=progress)
            for url in urls
        ]
    if as_json:
        typer.echo(json.dumps([_described(report) for report in reports], indent=2))
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


def _described(report: Report) -> dict[str, object]:
    described = {**asdict(report), "errors": report.errors}
    if report.visits:
        described["visits"] = {key: value for key, value in asdict(report.visits).items() if key not in _ELSEWHERE}
    return described


def _print_visits(visits: Visits) -> None:
    for number, visit in (("first ", visits.first), ("second", visits.second)):
        kinds = ", ".join(
            f"{size / 1e6:.1f} MB {kind or 'uncompressed'}" for kind, size in visit.encodings.items() if size > _SHOWN
        )
        out.print(
            f"  {number} visit  {visit.milliseconds:,.0f} ms, {visit.size / 1e6:.1f} MB in {visit.requests} requests"
            f"{f' ({escape(kinds)})' if kinds else ''}"
        )
    call = visits.call
    if call.tool:
        out.print(f"  a call  {escape(call.tool)} answers in {call.milliseconds:,.0f} ms")
    if call.asking:
        ask = "asks" if len(call.asking) == 1 else "ask"
        out.print(f"  a call  {escape(', '.join(call.asking))} {ask} a user or a model, which a check has not")


def _print(report: Report) -> None:
    from mcpframe.kit.publish.bundle_checks.findings import headers_at
    from mcpframe.kit.static_hosts.known import STATIC_HOSTS, WITHOUT_HEADERS

    out.print(f"[bold]{escape(report.url)}[/]{f' on {escape(report.host)}' if report.host else ''}")
    if report.visits:
        _print_visits(report.visits)
    at = headers_at(next((host for host in STATIC_HOSTS if host.title == report.host), None))
    if report.dialects:
        untried = "" if report.session else f"; no session was opened, as that needs {report.dialect}"
        out.print(f"  offers  {', '.join(report.dialects)}{untried}")
    if report.installed:
        out.print(f"  alone   its own tab can be installed, and works without a network: {report.installed}")
    if report.agents:
        out.print(f"  agents  {escape(report.agents)}")
    by_project: list[Finding] = []
    by_headers: list[Finding] = []
    for finding in report.findings:
        of_server = finding.severity == "warning" and finding.needs_headers
        (by_headers if of_server else by_project).append(finding)
    counts = _print_groups(by_project)
    if by_headers:
        out.print(f"[bold]What your web server's headers would mend[/] [dim]({escape(at)})[/]")
        counts += _print_groups(by_headers, mend=False)
        if not report.host:
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
