"""The page of the setup phase: the user chooses files, sees the tables in them, and confirms or cancels."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from mcpframe import FrameSession, SetupCancelled
from reading import FileError
from shelf import Shelf
from workspace import QueryError, Workspace

EXAMPLE = "example.csv"

Content = Callable[[], Awaitable[bytes]]


async def pick_files(session: FrameSession, shelf: Shelf) -> list[str]:
    """Let the user choose files, store their databases for the session, and return the names of the files.

    Raises:
        SetupCancelled: The user cancelled.
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
        await page.show("setup.html")  # no await from here to the last listener: the visible page works
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
        async with self._reading:  # files chosen meanwhile are read afterwards, and added
            if self._files:
                return
            try:
                workspace = await self._shelf.get(self._session)
            except QueryError:
                return
            names = await self._shelf.files(self._session)
            tables = [
                table if database == "main" else f"{database}.{table}" for database, table, _ in workspace.tables()
            ]
            self._workspace = workspace
            self._files = {name: [] for name in names} | {names[-1]: tables}
            writable = self._session.page.element("#writable")
            writable.checked = writable.checked or workspace.writable  # the user may have ticked it meanwhile
            self._show("Chosen before. Add files, or use these.")

    async def _field(self) -> None:
        files = await self._session.page.element("#file").files()
        await self._read([(file.name, file.read) for file in files])

    def _in_place(self, browser: Any) -> Any:
        async def content(file: Any) -> bytes:
            return (await file.arrayBuffer()).to_bytes()

        async def picked() -> None:
            await self._read([(file.name, partial(content, file)) for file in await browser.pick()])

        return picked

    async def _example(self) -> None:
        await self._read([("sales.csv", partial(self._session.page.asset_bytes, EXAMPLE))])

    async def _read(self, files: list[tuple[str, Content]]) -> None:
        async with self._reading:  # held from the choice on: a confirmation waits for the file
            failed = ""
            try:
                for name, content in files:
                    self._say(f"Reading {name} …")
                    await asyncio.sleep(0.02)  # let the page show the state first: a large file takes seconds
                    try:
                        self._files[name] = self._workspace.add(name, await content())
                    except FileError as error:
                        failed = str(error)
                    except OSError as error:
                        failed = f"{name} cannot be read: {error}."
            finally:
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
