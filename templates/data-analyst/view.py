"""The page: files are dropped or chosen here, and the last result is shown.

In a host of MCP Apps it is a view: the host can call the tools of this page, its model is told which tables there are,
and what a tool of the host's own server has answered is shown, too.
"""

import base64
import json
from contextlib import suppress
from functools import partial
from typing import Any

import pandas as pd

from mcpframe import File, FrameSession, PageEvent, ToolInput, ToolResult, errors, kept
from reading import FileError, tables_of

MOST_PAGES = 20
"""The most pages of 1,000 rows that a view reads of a result of another server."""


class AnalystPage:
    """The page of the session.

    Args:
        tables: The tables, which it adds to.
    """

    def __init__(self, tables: dict[str, pd.DataFrame]) -> None:
        self._tables = tables
        self._remarks: dict[str, str] = {}
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
        try:
            async for event in session.host.tool_events():
                if isinstance(event, ToolInput):
                    page.element("#question").text = str(event.arguments.get("expression", ""))
                elif isinstance(event, ToolResult):
                    await self._show_answer(event)
        except errors.HostLacks:  # only a host of MCP Apps shows calls
            await session.closed.wait()

    async def show(self, title: str, result: Any) -> None:
        """Show a result, if there is a page: a kept table whole."""
        if self._session is None:
            return
        page = self._session.page
        page.element("#question").text = title
        await page.show(result, into="#result")

    async def save(self, name: str, data: bytes) -> None:
        """Let the user save a file: a view asks its host to."""
        session = self._opened
        if session.host.dialect == "mcp_apps":
            await session.host.download(name, data)
        else:
            session.page.download(name, data)

    async def _show_answer(self, answer: ToolResult) -> None:
        """Show the result of a tool of the host's server: a picture, a table, or its text."""
        pictures = [base64.b64decode(block["data"]) for block in answer.content if block.get("type") == "image"]
        if pictures:
            await self._page.show(pictures[0], into="#result")
            return
        try:
            table, total = await self._rows_of(answer.structured)
        except (AttributeError, KeyError, TypeError, ValueError, errors.HostError):
            self._say(answer.text, bad=answer.is_error)
        else:
            await self._page.show(kept(table), into="#result")
            self._say("" if len(table) == total else f"The first {len(table):,} of {total:,} rows")

    async def _rows_of(self, data: Any) -> tuple[pd.DataFrame, int]:
        """Return a result of the host's server as a table, and how many rows it has there: the server keeps large ones.

        Raises:
            HostError: The host does not read them.
            Exception: It is no table.
        """
        total = int(data["shape"][0])
        if data["rows"] is not None:
            return pd.DataFrame(data["rows"], columns=data["columns"]), total
        pieces, uri = [], data["uri"]
        while uri and len(pieces) < MOST_PAGES:
            [found] = (await self._opened.host.read_resource(uri)).contents
            piece = json.loads(found.text)
            pieces.append(pd.DataFrame(piece["rows"], columns=piece["columns"]))
            uri = piece["next"]
        return pd.concat(pieces, ignore_index=True), total

    async def _dropped(self, event: PageEvent) -> None:
        self._page.element("#drop").classes.set("over", False)
        await self._read(event.files)

    async def _chosen(self) -> None:
        await self._read(await self._page.element("#file").files())

    async def _read(self, files: list[File]) -> None:
        failed, remarks = [], []
        for file in files:
            self._say(f"Reading {file.name} …")
            try:
                found = await tables_of(file.name, await file.read(), partial(self._progress, file.name))
            except (FileError, OSError) as error:
                failed.append(str(error))
                continue
            self._tables.update(found.tables)
            self._remarks.update(dict.fromkeys(found.tables, found.remarks))
            remarks += filter(None, [found.remarks])
        self._list()
        self._say(" ".join([*failed, *remarks]) or "Ask the assistant about your data.", bad=bool(failed))
        with suppress(errors.HostError):  # a host that is only a client lists the tools, and asks with them
            await self._opened.host.update_model_context(self._described())

    def _progress(self, name: str, share: float) -> None:
        self._say(f"Reading {name} … {share:.0%}")

    def _described(self) -> str:
        """Return what a model has to know for its first expression: the tables and columns, and no row."""
        lines = [
            f"- {name}: {len(table):,} rows; columns {', '.join(map(str, table.columns))}"
            for name, table in self._tables.items()
        ]
        return "\n".join(["The user's tables, which the tools of this page query with pandas:", *lines])

    def _list(self) -> None:
        listed = self._page.element("#tables")
        listed.clear()
        for name, table in self._tables.items():
            item = listed.add("li")
            item.add("strong", name)
            item.add("span", f"{len(table):,} rows, {len(table.columns)} columns", class_="quiet")
            item.add("span", self._remarks.get(name, ""), class_="quiet")

    def _say(self, text: str, *, bad: bool = False) -> None:
        status = self._page.element("#status")
        status.text = text
        status.classes.set("bad", bad)

    @property
    def _opened(self) -> FrameSession:
        assert self._session
        return self._session

    @property
    def _page(self) -> Any:
        return self._opened.page
