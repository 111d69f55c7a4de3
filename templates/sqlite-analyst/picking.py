"""The page of the setup phase: the person chooses files, sees the tables in them, and confirms or cancels."""

import asyncio
from typing import Any

from mcpframe import FrameSession, SetupCancelled
from reading import FileError
from shelf import Shelf
from workspace import QueryError, Workspace

EXAMPLE = "example.csv"


async def pick_files(session: FrameSession, shelf: Shelf) -> list[str]:
    """Let the person choose files, keep their databases for the session, and give the names of the files.

    Raises:
        SetupCancelled: The person cancelled.
    """
    picker = _Picker(session, shelf)
    return await picker.run()


class _Picker:
    def __init__(self, session: FrameSession, shelf: Shelf) -> None:
        self._session = session
        self._shelf = shelf
        self._workspace = Workspace()
        self._files: dict[str, list[str]] = {}
        self._reading = asyncio.Lock()
        self._done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def run(self) -> list[str]:
        page = self._session.page
        browser: Any = await page.import_module("files.js")
        await page.show("setup.html")  # nothing is waited for from here to the last listener: what is seen works
        page.element("#file").on("change", self._field)
        if browser.canPick():
            page.element("#file").on("click", self._in_place(browser), prevent_default=True)
        page.element("#example").on("click", self._example)
        page.element("#cancel").hidden = self._session.phase == "transport"
        page.element("#cancel").on("click", lambda: self._finish(False))
        page.element("#use").on("click", lambda: self._finish(True))
        await self._offer_those_before()
        if not await self._done:
            raise SetupCancelled
        async with self._reading:
            self._workspace.writable = page.element("#writable").checked
            self._say("Keeping the data in this browser …")
            await self._shelf.put(self._session, self._workspace, list(self._files))
        return list(self._files)

    async def _offer_those_before(self) -> None:
        try:
            workspace = await self._shelf.get(self._session)
        except QueryError:
            return
        self._workspace = workspace
        tables = [table if database == "main" else f"{database}.{table}" for database, table, _ in workspace.tables()]
        names = await self._shelf.files(self._session)
        self._files = {name: [] for name in names} | {names[-1]: tables}
        self._session.page.element("#writable").checked = workspace.writable
        self._show("Chosen before. Add files, or use these.")

    async def _field(self) -> None:
        await self._read([(file.name, await file.read()) for file in await self._session.page.element("#file").files()])

    def _in_place(self, browser: Any) -> Any:
        async def picked() -> None:
            chosen = [(file.name, (await file.arrayBuffer()).to_bytes()) for file in await browser.pick()]
            await self._read(chosen)

        return picked

    async def _example(self) -> None:
        await self._read([("sales.csv", await self._session.page.asset_bytes(EXAMPLE))])

    async def _read(self, files: list[tuple[str, bytes]]) -> None:
        async with self._reading:
            failed = ""
            for name, data in files:
                self._say(f"Reading {name} …")
                await asyncio.sleep(0.02)  # let the page say so first: a large file takes seconds
                try:
                    self._files[name] = self._workspace.add(name, data)
                except FileError as error:
                    failed = str(error)
            self._show(failed, bad=bool(failed))

    def _show(self, text: str, *, bad: bool = False) -> None:
        page = self._session.page
        files = page.element("#files")
        files.clear()
        for name, tables in self._files.items():
            item = files.add("li")
            item.add("strong", name)
            item.add("span", ", ".join(tables), class_="quiet")
        page.element("#use").disabled = not self._files
        self._say(text, bad=bad)

    def _finish(self, use: bool) -> None:
        if not self._done.done():
            self._done.set_result(use)

    def _say(self, text: str, *, bad: bool = False) -> None:
        status = self._session.page.element("#status")
        status.text = text
        status.classes.set("bad", bad)
