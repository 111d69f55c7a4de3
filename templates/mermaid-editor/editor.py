"""The editor in the page: the source beside its picture, kept in step."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from diagram import Diagram
from mcpframe import FrameSession

KEY = "diagram"
PAUSE = 0.4
"""How long after the last key the picture is updated, in seconds."""


class Editor:
    """The page's editor of one diagram. Outside of a browser there is no picture."""

    def __init__(self, diagram: Diagram, on_change: Callable[[], Awaitable[None]]) -> None:
        """Edit a diagram.

        Args:
            diagram: The diagram.
            on_change: Called after the user has changed it.
        """
        self._diagram = diagram
        self._on_change = on_change
        self._opening = asyncio.Lock()
        self._session: FrameSession | None = None
        self._drawing: Any = None
        self._following: asyncio.Task[None] | None = None

    async def open(self, session: FrameSession) -> None:
        """Show the editor with the session's stored diagram, unless it is open."""
        async with self._opening:
            if self._session is session:
                return
            kept = await session.storage.get(KEY)
            if kept is not None:
                self._diagram.code = kept
            if session.phase != "local":
                await self._show(session)
            self._session = session

    async def _show(self, session: FrameSession) -> None:
        page = session.page
        self._drawing = await page.import_module("editor.js")
        await page.show("editor.html")  # no await from here to the last listener: the visible page works
        page.element("#code").value = self._diagram.code
        page.element("#code").on("input", self._typed)
        page.element("#undo").on("click", self._undo)
        page.element("#download").on("click", self._download)
        self._drawing.onThemeChange(page.element("#picture").js)
        self._session = session
        await self._picture()

    def look(self) -> None:
        """Read what the user has typed so far."""
        if self._drawing is not None and self._session:
            self._diagram.edit(self._session.page.element("#code").value)

    def take_edits(self) -> str | None:
        """Return the source if the user has changed it since the last call, else None."""
        self.look()
        return self._diagram.code if self._diagram.take_edits() else None

    async def draw(self, code: str) -> str | None:
        """Draw a source instead of the diagram, and return the replaced source if the user had changed it.

        Raises:
            ToolError: It has a mistake; the diagram is unchanged.
        """
        if self._drawing is not None:
            mistake = await self._drawing.mistake(code)
            if mistake:
                raise ToolError(f"Mermaid cannot draw this: {mistake}")
        replaced = self.take_edits()  # only now: the user may have typed while Mermaid was checking
        self._diagram.replace(code)
        await self._changed()
        return replaced

    async def svg(self, theme: str) -> str:
        """Return the picture as SVG.

        Raises:
            ToolError: The source has a mistake, or there is no page to draw in.
        """
        if self._drawing is None:
            raise ToolError("A diagram can only be drawn in a browser.")
        if mistake := await self._drawing.mistake(self._diagram.code):
            raise ToolError(f"The diagram as the user has it cannot be drawn: {mistake}")
        return str(await self._drawing.svg(self._diagram.code, theme))

    def download(self, svg: str) -> None:
        """Offer the picture as a file to the user."""
        if self._session:
            self._session.page.download("diagram.svg", svg, "image/svg+xml")

    async def _changed(self) -> None:
        """Show the source and its picture, and store it."""
        if self._session is None:
            return
        # Before the first await: code that runs meanwhile would take the old text for the user's.
        if self._drawing is not None:
            code = self._session.page.element("#code")
            if code.value != self._diagram.code:
                code.value = self._diagram.code
        await self._session.storage.set(KEY, self._diagram.code)
        if self._drawing is not None:
            await self._picture()

    async def _picture(self) -> None:
        assert self._session is not None
        page = self._session.page
        mistake = await self._drawing.show(self._diagram.code, page.element("#picture").js)
        page.element("#mistake").text = mistake or ""
        page.element("#mistake").hidden = not mistake
        page.element("#status").text = "The picture is of the last source without mistakes." if mistake else ""

    def _typed(self) -> None:
        assert self._session is not None
        self._session.page.element("#status").text = "Editing …"
        if self._following:
            self._following.cancel()
        self._following = asyncio.get_running_loop().create_task(self._follow())

    async def _follow(self) -> None:
        await asyncio.sleep(PAUSE)
        self.look()
        await self._tell()

    async def _undo(self) -> None:
        self.look()
        if self._diagram.undo():
            await self._tell()

    async def _tell(self) -> None:
        await self._changed()
        await self._on_change()

    async def _download(self) -> None:
        assert self._session is not None
        self.look()
        try:
            self.download(await self.svg("light"))
        except ToolError as error:
            self._session.page.element("#status").text = str(error)
