"""Elements of the page and their events, for authors: a thin wrapper around the browser's own objects.

    button = page.element("#send")
    stop = button.on("click", send)         # an ordinary or an async function, with or without a parameter
    await button.event("click")
    (file,) = await page.element("#file").files()

For anything else use `js`, the browser's own object.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Iterator, MutableSet
from typing import TYPE_CHECKING, Any

from mcpframe.frame.core.errors import PageError

if TYPE_CHECKING:
    from mcpframe.frame.page.interfaces import OwnerPage, Stop

Handler = Callable[[], Any] | Callable[["PageEvent"], Any]
_MARKS = {True: "", False: None}
_SHOWN = ("alt", "aria-description", "aria-label", "label", "placeholder", "title")
"""The attributes whose text is shown or read out."""


class Element:
    """One element of the page.

    Attributes:
        js: the browser's own object.
    """

    __slots__ = ("_page", "js")

    def __init__(self, js: Any, page: OwnerPage) -> None:
        """Created by `Page.element` and similar methods."""
        self.js = js
        self._page = page

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and bool(self.js == other.js)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Element {self.js.tagName.lower()} {self.js.id and '#' + self.js.id}>"

    # Content

    @property
    def text(self) -> str:
        """The element's text. Setting it replaces all content, after the page's `text_filter`."""
        return str(self.js.textContent)

    @text.setter
    def text(self, text: str) -> None:
        had_elements = self.js.childElementCount
        self.js.textContent = self._filtered(text)
        if had_elements:
            self._page.forget_removed()

    @property
    def html(self) -> str:
        """The content as HTML."""
        return str(self.js.innerHTML)

    @property
    def unsafe_html(self) -> str:
        """The content as HTML. Set it only to HTML of your own: untrusted HTML can do anything."""
        return self.html

    @unsafe_html.setter
    def unsafe_html(self, html: str) -> None:
        self.js.innerHTML = html
        self._page.forget_removed()

    def element(self, selector: str) -> Element:
        """Return the first element in this one that a CSS selector matches. Raises `PageError` if there is none."""
        node = self.js.querySelector(selector)
        if not getattr(node, "tagName", None):  # the browser's null is not None
            raise PageError(f"There is no element {selector!r} in the page.")
        return Element(node, self._page)

    def elements(self, selector: str) -> list[Element]:
        """Return all elements in this one that a CSS selector matches."""
        return [Element(node, self._page) for node in self.js.querySelectorAll(selector)]

    def add(self, tag: str, text: str = "", /, **attributes: str | bool | None) -> Element:
        """Create an element and append it to this one.

        Args:
            tag: its tag.
            text: its text.
            attributes: its attributes, see `set`; a trailing `_` is dropped, any other `_` becomes `-`.
        """
        element = Element(self._page.js.createElement(tag), self._page)
        if text:
            element.text = text
        for name, value in attributes.items():
            element.set(name.rstrip("_").replace("_", "-"), value)
        self.js.append(element.js)
        return element

    def clear(self) -> None:
        """Remove all content."""
        self.js.replaceChildren()
        self._page.forget_removed()

    def remove(self) -> None:
        """Remove the element from the page."""
        self.js.remove()
        self._page.forget_removed()

    # Appearance

    def get(self, name: str) -> str | None:
        """Return an attribute's value; None if there is no such attribute."""
        value = self.js.getAttribute(name)
        return value if isinstance(value, str) else None  # the browser's null is not None

    def set(self, name: str, value: str | bool | None) -> None:
        """Set an attribute to a text, or True for one without a value; False and None remove it.

        Raises:
            PageError: for a style or an event handler, as the page's policy would drop it.
        """
        text = _MARKS[value] if isinstance(value, bool) else value
        if text is None:
            self.js.removeAttribute(name)
        elif instead := _instead_of(name.lower()):
            raise PageError(f"The page's policy drops the attribute {name!r}: {instead}.")
        else:
            self.js.setAttribute(name, self._filtered(text) if name.lower() in _SHOWN else text)

    def _filtered(self, text: str) -> str:
        return text if self._page.text_filter is None else self._page.text_filter(text)

    @property
    def value(self) -> str:
        """The value of a form control."""
        return str(self.js.value)

    @value.setter
    def value(self, value: str) -> None:
        self.js.value = value

    @property
    def checked(self) -> bool:
        """Whether a checkbox or radio button is chosen."""
        return bool(self.js.checked)

    @checked.setter
    def checked(self, checked: bool) -> None:
        self.js.checked = checked

    @property
    def disabled(self) -> bool:
        """Whether a form control is disabled."""
        return bool(self.js.disabled)

    @disabled.setter
    def disabled(self, disabled: bool) -> None:
        self.js.disabled = disabled

    @property
    def hidden(self) -> bool:
        """Whether the element is hidden."""
        return bool(self.js.hidden)

    @hidden.setter
    def hidden(self, hidden: bool) -> None:
        self.js.hidden = hidden

    @property
    def classes(self) -> Classes:
        """The classes, as a set."""
        return Classes(self.js.classList)

    def focus(self) -> None:
        """Move the keyboard focus to the element."""
        self.js.focus()

    # Events

    def on(self, kind: str, handler: Handler, *, prevent_default: bool | None = None) -> Callable[[], None]:
        """Call a function for every event of a kind, until stopped or until the element is removed from the page.

        Args:
            kind: such as `"click"`.
            handler: an ordinary or async function; it gets the event if it has a parameter without a default. An
                exception in it is shown on the page.
            prevent_default: prevent the browser's default action; by default for `submit`, `dragover` and `drop`.

        Returns:
            A function that stops it; calling it again does nothing.
        """
        prevented = kind in ("submit", "dragover", "drop") if prevent_default is None else prevent_default
        takes_event = _takes_argument(handler)

        def hear(js: Any) -> None:
            if prevented:
                js.preventDefault()
            event = PageEvent(js, self._page)
            self._page.run(lambda: handler(*([event] if takes_event else [])), f"The page's handler of {kind!r}")

        return self._page.listen(self.js, kind, hear)

    async def event(self, kind: str, *, prevent_default: bool | None = None) -> PageEvent:
        """Wait for the next event of a kind.

        Args:
            kind: such as `"click"`.
            prevent_default: see `on`.

        Raises:
            PageError: if the element is removed from the page meanwhile.
        """
        happened: asyncio.Future[PageEvent] = asyncio.get_running_loop().create_future()
        prevented = kind in ("submit", "dragover", "drop") if prevent_default is None else prevent_default

        def hear(js: Any) -> None:
            if prevented:
                js.preventDefault()
            if not happened.done():
                happened.set_result(PageEvent(js, self._page))

        def lost() -> None:
            if not happened.done():
                happened.set_exception(PageError(f"The element left the page, so no {kind!r} will come."))

        stop = self._page.listen(self.js, kind, hear, lost)
        try:
            return await happened
        finally:
            stop()

    async def files(self) -> list[File]:
        """Return the files that the user chose in this `<input type="file">`; wait if none is chosen yet.

        The input is emptied, so that the next call waits for another choice, even of the same file.
        """
        while not self.js.files.length:
            await self.event("change")
        chosen = [File(file, self._page) for file in self.js.files]
        self.js.value = ""
        return chosen


class Classes(MutableSet[str]):
    """The classes of an element, as a set."""

    def __init__(self, js: Any) -> None:
        """Wrap a `DOMTokenList`."""
        self._js = js

    def __contains__(self, name: object) -> bool:
        return bool(self._js.contains(name))

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._js))

    def __len__(self) -> int:
        return int(self._js.length)

    def add(self, value: str) -> None:
        """Add a class."""
        self._js.add(value)

    def discard(self, value: str) -> None:
        """Remove a class, if present."""
        self._js.remove(value)

    def set(self, value: str, on: bool) -> None:
        """Add or remove a class."""
        (self.add if on else self.discard)(value)


class File:
    """A file that the user provided. Its content is read on demand.

    Attributes:
        name: its name.
        size: in bytes.
        kind: its media type as the browser reports it; empty if unknown.
        js: the browser's own object.
    """

    __slots__ = ("_page", "js", "kind", "name", "size")

    def __init__(self, js: Any, page: OwnerPage) -> None:
        """Created by `Element.files` and `PageEvent`."""
        self.js = js
        self.name = str(js.name)
        self.size = int(js.size)
        self.kind = str(js.type)
        self._page = page

    async def read(self) -> bytes:
        """Return the content. Raises OSError if the file is gone or cannot be read."""
        return await self._page.browser.read(self.js)

    async def text(self, encoding: str = "utf-8-sig") -> str:
        """Return the content as text. Raises OSError like `read`, and UnicodeDecodeError for another encoding."""
        return (await self.read()).decode(encoding)


class Listener:
    """One listener in the browser.

    Attributes:
        target: the element, or the window.
        lost: called if the element is removed from the page; None for nothing.
    """

    def __init__(self, kept: set[Listener], target: Any, undo: Stop, lost: Stop | None) -> None:
        self.target = target
        self.lost = lost
        self._undo: Iterable[Stop] = [undo]
        self._kept = kept
        kept.add(self)

    def stop(self) -> None:
        """Remove it; calling again does nothing."""
        undo, self._undo = self._undo, ()
        for each in undo:
            each()
        self._kept.discard(self)


class PageEvent:
    """An event of an element.

    Attributes:
        kind: such as `"click"`.
        target: the element the event was dispatched to; None if the target is not an element.
        key: for keyboard events, the key's name, such as `"Enter"`.
        files: for `drop` and `paste`, the files.
        js: the browser's own object.
    """

    __slots__ = ("_page", "files", "js", "key", "kind", "target")

    def __init__(self, js: Any, page: OwnerPage) -> None:
        """Created by `Element.on` and `Element.event`."""
        self.js = js
        self.kind = str(js.type)
        target = js.target
        self.target = Element(target, page) if getattr(target, "tagName", None) else None
        key = getattr(js, "key", None)
        self.key = key if isinstance(key, str) else ""
        # the browser empties these lists after the event
        transfer = getattr(js, "dataTransfer", None) or getattr(js, "clipboardData", None)
        self.files = [File(file, page) for file in transfer.files] if transfer else []
        self._page = page

    @property
    def detail(self) -> Any:
        """The `detail` of a `CustomEvent`; objects and arrays as dicts and lists."""
        detail = self.js.detail
        return detail.to_py() if hasattr(detail, "to_py") else detail


def _instead_of(name: str) -> str | None:
    """Return the replacement of an attribute that the page's policy drops; None for any other."""
    if name == "style":
        return "use classes and a style sheet, or element.js.style.setProperty(name, value)"
    return "use element.on(...)" if name.startswith("on") else None


def _takes_argument(handler: Callable[..., Any]) -> bool:
    """Return whether a function needs an argument; `lambda name=name: ...` doesn't."""
    try:
        inspect.signature(handler).bind()
    except TypeError:
        return True
    except ValueError:  # a builtin without a signature
        return False
    return False
