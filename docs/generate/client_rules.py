"""What clients are known to fail on, from the table that `mcpframe check` and `mcpframe build` warn by."""

from __future__ import annotations

from docs.generate.docstrings import table
from mcpframe.kit.bundle.assembly.client_rules import CLIENT_RULES, ClientReport


def rules(what: str) -> str:
    """Return the table of the rules, or that of the reports, by client.

    Args:
        what: `effects` or `reports`.
    """
    if what == "effects":
        rows = [[rule.name, f"{rule.effect[:1].upper()}{rule.effect[1:]}", rule.remedy] for rule in CLIENT_RULES]
        return table(["rule", "what happens", "what to do"], rows)
    reports = [(report, rule.name) for rule in CLIENT_RULES for report in rule.reports]
    reports.sort(key=lambda each: (each[0].client.casefold(), each[1]))
    return table(["client", "rule", "what it does", "source", "seen"], [_row(*each) for each in reports])


def _row(report: ClientReport, rule: str) -> list[str]:
    return [report.client, rule, report.effect, f"[{report.source}]({report.url})", report.date]
