"""The page of the setup phase: the person chooses a document, sees what is in it, and confirms or cancels."""

import asyncio

from document import Document, DocumentError, Shelf, parse
from mcpframe import FrameSession, SetupCancelled
from summary import as_line, summarize

PREVIEWED = 40
EXAMPLE = "example.json"


async def pick_document(session: FrameSession, shelf: Shelf) -> Document:
    """Let the person choose a document, and keep it for the session.

    Raises:
        SetupCancelled: The person cancelled.
    """
    picker = _Picker(session, shelf)
    return await picker.run()


class _Picker:
    def __init__(self, session: FrameSession, shelf: Shelf) -> None:
        self._session = session
        self._shelf = shelf
        self._chosen: tuple[Document, bytes | None] | None = None
        self._done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def run(self) -> Document:
        page = self._session.page
        await page.show("setup.html")
        page.element("#file").on("change", self._file)
        page.element("#example").on("click", self._example)
        page.element("#cancel").hidden = self._session.phase == "transport"
        page.element("#cancel").on("click", lambda: self._finish(False))
        page.element("#use").on("click", lambda: self._finish(True))
        await self._offer_the_one_in_use()
        if not await self._done or self._chosen is None:
            raise SetupCancelled
        document, data = self._chosen
        if data is not None:
            self._say(f"Keeping {document.name} …")
            await self._shelf.put(self._session, document.name, data)
        return document

    async def _offer_the_one_in_use(self) -> None:
        try:
            document = await self._shelf.get(self._session)
        except DocumentError:
            return
        self._take(document, None)

    async def _file(self) -> None:
        for file in await self._session.page.element("#file").files():
            await self._read(file.name, await file.read())

    async def _example(self) -> None:
        await self._read(EXAMPLE, await self._session.page.asset_bytes(EXAMPLE))

    async def _read(self, name: str, data: bytes) -> None:
        self._say(f"Reading {name} …")
        await asyncio.sleep(0.02)  # let the page show it first: a large file takes seconds
        try:
            self._take(parse(name, data), data)
        except DocumentError as error:
            self._chosen = None
            self._say(str(error), bad=True)
            self._session.page.element("#preview").hidden = True
            self._session.page.element("#use").disabled = True

    def _take(self, document: Document, data: bytes | None) -> None:
        self._chosen = document, data
        places, more = summarize(document.value, "$", 4, PREVIEWED)
        page = self._session.page
        page.element("#preview").text = "\n".join([*map(as_line, places), *(["…"] if more else [])])
        page.element("#preview").hidden = False
        page.element("#use").disabled = False
        self._say(f"{document.name}, {document.size:,} bytes")

    def _finish(self, use: bool) -> None:
        if not self._done.done():
            self._done.set_result(use)

    def _say(self, text: str, *, bad: bool = False) -> None:
        chosen = self._session.page.element("#chosen")
        chosen.text = text
        chosen.classes.set("bad", bad)
