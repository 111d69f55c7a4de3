"""The form of a framed server's setup, filled in over DevTools. The page's half is `static/browser/setup-form.js`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from mcpframe.frame.core.errors import HandshakeTimeout
from mcpframe.kit.base.data import script_with
from mcpframe.kit.browser.devtools.driven_page import DevToolsPage, RemoteObject
from mcpframe.kit.browser.page_window import PageGone


class SetupForm:
    """The form in a framed page.

    Args:
        page: The host page.
        framed: The `window` of the framed page.
        patience: How long to wait for a field, in seconds.
    """

    def __init__(self, page: DevToolsPage, framed: RemoteObject, patience: float) -> None:
        self._page = page
        self._framed = framed
        self._patience = patience
        self._functions: RemoteObject | None = None

    async def started(self, patience: float | None) -> None:
        """Wait until the page has started or failed; its handshake may be complete before.

        Raises:
            HandshakeTimeout: It did not start in time.
            PageGone: It is gone.
        """
        if not await (await self._script()).call("(form, seconds) => form.started(seconds)", patience or 1e9):
            raise HandshakeTimeout("The framed page did not start in time.")

    async def enter(self, name: str, value: str | Path | None) -> None:
        """Fill in a field, or press a button.

        Args:
            name: Its label, or the button's text; or a CSS selector, with `css=` or one that begins with `#`, `.`, `[`.
            value: A text, also of a choice, or `true` or `false` for a box to check; the absolute path of a file;
                None for a button.

        Raises:
            PageGone: There is no such field or button, it does not take the value, or the page is gone.
        """
        form = await self._script()
        asked = {"name": name, "button": value is None, "seconds": self._patience}
        await form.call("(form, asked) => form.find(asked)", asked)
        if isinstance(value, Path):
            element = await form.remote("form => form.chosen()")
            files = [str(value)]
            await self._page.command_in(element.session, "DOM.setFileInputFiles", objectId=element.id, files=files)
        else:
            await form.call("(form, value) => form.enter(value)", value)

    async def offered(self) -> list[str]:
        """Return the names of the fields and buttons that can be seen; none if the page is gone."""
        names: list[str] = []
        with suppress(PageGone):
            names = await (await self._script()).call("form => form.offered()")
        return names

    async def _script(self) -> RemoteObject:
        if self._functions is None:
            self._functions = await self._framed.remote(script_with("browser/setup-form.js"))
        return self._functions
