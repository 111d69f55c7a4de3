"""The page at run time: the tables, and the last query with its result and chart. It may stay hidden."""

import base64
from collections.abc import Awaitable, Callable
from html import escape
from typing import Any

from chart import Kind
from mcpframe import FrameSession, PageEvent
from results import cell_text
from workspace import MAIN, QueryError, Result, Workspace

SHOWN_ROWS = 200

Ask = Callable[[str, int, Kind], Awaitable[Any]]


class View:
    """The view. Outside of a browser it shows nothing."""

    def __init__(self) -> None:
        """Start without a page."""
        self._page: Any = None
        self._workspace: Workspace | None = None
        self._ask: Ask | None = None

    async def open(self, session: FrameSession, workspace: Workspace, *, ask: Ask) -> None:
        """Show the tables, and let the user query them.

        Args:
            session: The session.
            workspace: Its databases.
            ask: Runs a statement, and shows it here.
        """
        page = session.page
        await page.show("view.html")
        self._page, self._workspace, self._ask = page, workspace, ask
        page.element("#mode").text = "changes allowed" if workspace.writable else "read-only"
        page.element("#run").on("click", self._run)
        page.element("#sql").on("keydown", self._key)
        self._list_tables()

    def ran(self, sql: str, result: Result, chart: bytes | None) -> None:
        """Show a statement and its result."""
        if self._page is None:
            return
        page = self._page
        page.element("#sql").value = sql
        changed = "" if result.changed is None else f"{result.changed:,} rows changed, "
        count = f"{len(result.rows):,} row{'' if len(result.rows) == 1 else 's'}{' and more' if result.more else ''}, "
        self._say(f"{changed}{count if result.columns else ''}{result.seconds * 1000:,.1f} ms")
        page.element("#chart").hidden = chart is None
        if chart is not None:
            page.element("#chart").set("src", f"data:image/png;base64,{base64.b64encode(chart).decode()}")
            page.element("#chart").set("alt", f"Chart of {', '.join(result.columns)}")
        page.element("#rows").hidden = not result.columns
        page.element("#rows").unsafe_html = _table(result)
        if result.changed is not None:
            self._list_tables()

    def failed(self, sql: str, reason: str) -> None:
        """Show a statement that was rejected."""
        if self._page is None:
            return
        self._page.element("#sql").value = sql
        self._say(reason, bad=True)
        self._page.element("#chart").hidden = self._page.element("#rows").hidden = True

    def _list_tables(self) -> None:
        assert self._workspace is not None
        items = []
        for database, table, _ in self._workspace.tables():
            name = escape(table if database == MAIN else f"{database}.{table}")
            rows = self._workspace.describe(database, table)["rows"]
            items.append(f'<li class="badge"><strong>{name}</strong> {rows:,} rows</li>')
        self._page.element("#tables").unsafe_html = "".join(items)

    async def _key(self, event: PageEvent) -> None:
        if event.key == "Enter" and (event.js.ctrlKey or event.js.metaKey):
            await self._run()

    async def _run(self) -> None:
        assert self._ask is not None
        try:
            await self._ask(self._page.element("#sql").value, SHOWN_ROWS, "auto")
        except QueryError:
            return  # it is shown already

    def _say(self, text: str, *, bad: bool = False) -> None:
        summary = self._page.element("#summary")
        summary.text = text
        summary.classes.set("bad", bad)


def _table(result: Result) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in result.columns)
    rows = []
    for row in result.rows[:SHOWN_ROWS]:
        cells = [
            f"<td{' class=number' if isinstance(value, int | float) else ''}>{escape(cell_text(value))}</td>"
            for value in row
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
