"""The table of views in other hosts: `python -m docs.generate.views_in_hosts` measures it, and writes it into the page.

It builds three templates and needs a browser, so `build.py docs` leaves it alone. `tests/browser/test_check_views.py`
compares its outcomes with those of a run.
"""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from docs.generate import ROOT
from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.publish.view_checks.run import IN_WORDS, Row, check_view, read_view
from mcpframe.kit.publish.view_checks.sample_call import call_to_show
from mcpframe.kit.web.serve import serve_folder
from tests.support.marked import MarkedPart

PAGE = ROOT / "docs" / "how-to" / "views.md"
TEMPLATES = ("forecast", "view", "pi-calculator")
ADDRESS = "https://tools.example"
ANY_VIEW = {"sep": ["https://chat.example"], "mcp_apps": ["*", "null"]}
"""Who may embed them: any host of MCP Apps, also at an opaque origin."""

SECTION = MarkedPart("views in hosts", "python -m docs.generate.views_in_hosts")


async def rows_of(folder: Path, path: str, manifest: Mapping[str, object]) -> list[Row]:
    """Show the view of a bundle in all hosts.

    Args:
        folder: The output root of its build.
        path: The bundle's path in there.
        manifest: Its manifest.
    """
    with serve_folder(folder) as served:
        url = f"{served.origin}/{path}"
        call = await call_to_show(url, manifest)
        view = read_view(url, manifest)
    return await check_view(view, call, bundle=folder / path)


def table_of(views: Mapping[str, Sequence[Row]]) -> str:
    """Return the table in Markdown: a row for each host, and a column for each template."""
    lines = [f"| host | {' | '.join(f'`{name}`' for name in views)} |", f"|---|{'---|' * len(views)}"]
    lines += [f"| {rows[0].title} | {' | '.join(map(_cell, rows))} |" for rows in zip(*views.values(), strict=True)]
    return "\n".join(lines) + "\n"


def written() -> str:
    """Return the table that the documentation has."""
    return SECTION.read(PAGE) + "\n"


def without_times(table: str) -> str:
    """Return a table without its times, which differ between machines."""
    return re.sub(r", [\d.]+ s", "", table)


def _cell(row: Row) -> str:
    return IN_WORDS[row.outcome] + ("" if row.drawn is None else f", {row.drawn / 1000:.1f} s")


def main() -> int:
    """Measure the table and write it into the page."""
    views = {}
    with tempfile.TemporaryDirectory() as out:
        for name in TEMPLATES:
            result = build(templates_dir() / name, Path(out), allowed_origins=ANY_VIEW, url=f"{ADDRESS}/{name}/")
            views[name] = asyncio.run(rows_of(Path(out), result.url_path, result.manifest))
    table = table_of(views)
    SECTION.write(PAGE, table)
    print(table, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
