"""The page at run time: the tables, and the last query with its result and chart. It may stay hidden."""

import base64
from collections.abc import Awaitable, Callable
from html import escape
from typing import Any

from chart import Kind
from mcpframe import FrameSession, Kept, PageEvent
from stored import Stored
from workspace import MAIN, QueryError, Workspace

Ask = Callable[[str, Kept[Stored] | None, Kind], Awaitable[Any]]


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
        self.list_tables()

    async def ran(self, sql: str, rows: Kept[Stored] | None, said: str, chart: bytes | None) -> None:
        """Show a statement, all rows of its result, what is said of it, and its chart."""
        if self._page is None:
            return
        page = self._page
        page.element("#sql").value = sql
        self._say(said)
        page.element("#chart").hidden = chart is None
        if chart is not None:
            page.element("#chart").set("src", f"data:image/png;base64,{base64.b64encode(chart).decode()}")
            page.element("#chart").set("alt", "Chart of the result")
        page.element("#rows").hidden = rows is None
        if rows is not None:
            await page.show(rows, into="#rows")

    def failed(self, sql: str, reason: str) -> None:
        """Show a statement that was rejected."""
        if self._page is None:
            return
        self._page.element("#sql").value = sql
        self._say(reason, bad=True)
        self._page.element("#chart").hidden = self._page.element("#rows").hidden = True

    def list_tables(self) -> None:
        """List the tables and their numbers of rows."""
        if self._page is None or self._workspace is None:
            return
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
            await self._ask(self._page.element("#sql").value, None, "auto")
        except QueryError:
            return  # it is shown already

    def _say(self, text: str, *, bad: bool = False) -> None:
        summary = self._page.element("#summary")
        summary.text = text
        summary.classes.set("bad", bad)
