"""The page of the setup phase: the user chooses a document, sees what is in it, and confirms or cancels."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from document import Document, DocumentError, Shelf, parse
from mcpframe import FrameSession, SetupCancelled
from summary import as_line, summarize

PREVIEWED = 40
EXAMPLE = "example.json"


async def pick_document(session: FrameSession, shelf: Shelf) -> Document:
    """Let the user choose a document, and store it for the session.

    Raises:
        SetupCancelled: The user cancelled.
    """
    picker = _Picker(session, shelf)
    return await picker.run()


class _Picker:
    def __init__(self, session: FrameSession, shelf: Shelf) -> None:
        self._session = session
        self._shelf = shelf
        self._chosen: tuple[Document, bytes | None] | None = None
        self._choices = 0
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
        if not self._choices:  # otherwise the user has chosen another one meanwhile
            self._take(document, None)
            self._session.page.element("#use").disabled = False

    async def _file(self) -> None:
        for file in await self._session.page.element("#file").files():
            await self._read(file.name, file.read)

    async def _example(self) -> None:
        await self._read(EXAMPLE, partial(self._session.page.asset_bytes, EXAMPLE))

    async def _read(self, name: str, content: Callable[[], Awaitable[bytes]]) -> None:
        """Choose a document that is still being read, unless the user chooses again meanwhile."""
        self._choices += 1
        choice = self._choices
        use = self._session.page.element("#use")
        use.disabled = True
        self._say(f"Reading {name} …")
        try:
            data = await content()
            await asyncio.sleep(0.02)  # let the page show the state first: a large file takes seconds
            if choice == self._choices:
                self._take(parse(name, data), data)
        except DocumentError as error:
            self._fail(choice, str(error))
        except OSError as error:
            self._fail(choice, f"{name} cannot be read: {error}.")
        finally:
            if choice == self._choices:
                use.disabled = self._chosen is None

    def _take(self, document: Document, data: bytes | None) -> None:
        self._chosen = document, data
        places, more = summarize(document.value, "$", 4, PREVIEWED)
        page = self._session.page
        page.element("#preview").text = "\n".join([*map(as_line, places), *(["…"] if more else [])])
        page.element("#preview").hidden = False
        self._say(f"{document.name}, {document.size:,} bytes")

    def _fail(self, choice: int, text: str) -> None:
        if choice == self._choices:
            self._say(f"{text} {self._chosen[0].name} is still chosen." if self._chosen else text, bad=True)

    def _finish(self, use: bool) -> None:
        if not self._done.done():
            self._done.set_result(use)

    def _say(self, text: str, *, bad: bool = False) -> None:
        chosen = self._session.page.element("#chosen")
        chosen.text = text
        chosen.classes.set("bad", bad)
