"""The page: files are dropped or chosen here, and the last result is shown."""

from typing import Any

import pandas as pd

from mcpframe import File, FrameSession, PageEvent
from reading import FileError, tables_of


class View:
    """The page of the session.

    Args:
        tables: The tables, which it adds to.
    """

    def __init__(self, tables: dict[str, pd.DataFrame]) -> None:
        self._tables = tables
        self._session: FrameSession | None = None

    async def run(self, session: FrameSession) -> None:
        """Take files until the session is over."""
        page = session.page
        await page.show("page.html")
        self._session = session
        drop = page.element("#drop")
        drop.on("dragover", lambda: drop.classes.set("over", True), prevent_default=True)
        drop.on("dragleave", lambda: drop.classes.set("over", False))
        drop.on("drop", self._dropped, prevent_default=True)
        field = page.element("#file")
        field.on("change", self._chosen)
        self._list()
        await session.closed.wait()

    async def show(self, title: str, result: Any) -> None:
        """Show a result, if there is a page."""
        if self._session is None:
            return
        page = self._session.page
        page.element("#question").text = title
        await page.show(result, into="#result")

    async def _dropped(self, event: PageEvent) -> None:
        self._page.element("#drop").classes.set("over", False)
        await self._read(event.files)

    async def _chosen(self) -> None:
        await self._read(await self._page.element("#file").files())

    async def _read(self, files: list[File]) -> None:
        failed = ""
        for file in files:
            self._say(f"Reading {file.name} …")
            try:
                self._tables.update(tables_of(file.name, await file.read()))
            except (FileError, OSError) as error:
                failed = str(error)
        self._list()
        self._say(failed or "Ask the assistant about your data.", bad=bool(failed))

    def _list(self) -> None:
        listed = self._page.element("#tables")
        listed.clear()
        for name, table in self._tables.items():
            item = listed.add("li")
            item.add("strong", name)
            item.add("span", f"{len(table):,} rows, {len(table.columns)} columns", class_="quiet")

    def _say(self, text: str, *, bad: bool = False) -> None:
        status = self._page.element("#status")
        status.text = text
        status.classes.set("bad", bad)

    @property
    def _page(self) -> Any:
        assert self._session
        return self._session.page
