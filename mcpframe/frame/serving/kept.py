"""Data by reference: a tool's result that stays with the server, and whose handle the model passes to other tools.

    kept(value) ──> the session's store ──> result: handle, shape, summary, link   (never the data)
    Kept[DataFrame] as a parameter <── handle <── the model
    resources/read kept:///HANDLE?offset=&limit= ──> one page

A handle is looked up in the session that the request runs for, so that one of another session is unknown, and has 64
random bits: sessions of one client may share a page. A store is bounded in values and bytes, and so are all together;
what was used longest ago is dropped. `FrameServer` finds this module only where an author has imported it.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from types import UnionType
from typing import Any, ClassVar, Final, Generic, TypeVar, Union, cast, get_args, get_origin
from urllib.parse import parse_qsl, urlsplit
from weakref import WeakSet

from pydantic_core import PydanticCustomError, core_schema
from typing_extensions import TypedDict, is_typeddict

from mcpframe.frame.compat import in_pyodide
from mcpframe.frame.core.errors import KeptError, StateError
from mcpframe.frame.core.limits import ALL_KEPT_BYTES, KEPT_BYTES, KEPT_VALUES
from mcpframe.frame.core.markup import escape
from mcpframe.frame.page.browsing import Shown, browsed
from mcpframe.frame.results.content import Block, Described, media_type
from mcpframe.frame.results.html import html_of
from mcpframe.frame.results.paged import Excerpt, Paged, PagedFile, PagedTable, PagedText, Rows, paged
from mcpframe.frame.serving.framed import PeerSession, running_peer

__all__ = ["Kept", "kept"]

T = TypeVar("T")

ADDRESS: Final = "kept:///"
TEMPLATE: Final = ADDRESS + "{handle}{?offset,limit}"
TEMPLATE_NAME: Final = "kept"
TEMPLATE_ABOUT: Final = (
    "A value that a tool has kept: a page of its rows as JSON, of its text, or of its bytes. The next page is named by "
    '"next" in the JSON, and by "mcpframe/next" in _meta.'
)

_MOST_INLINE: Final = 32 * 1024
"""The longest text of rows in a result, in characters."""
_NUMBER: Final = re.compile(r"[0-9]{1,15}")
_MOST_ECHOED: Final = 80


class KeptData(TypedDict):
    """A value that stays with the server: other tools take its handle, and `resources/read` its URI."""

    handle: str
    uri: str
    kind: str
    shape: list[int]
    columns: list[str]
    summary: str
    rows: list[list[Any]] | None


class Kept(Generic[T]):
    """A value that stays with the server, and its handle: what `kept` returns, and the type of a tool's parameter.

    As a parameter, `Kept[DataFrame]` is a string in the tool's schema: the model passes a handle, and the function gets
    the object of this class. A handle that is lost, or of a value of another class, is an error that says so.

    Attributes:
        value: The value, the same object. Don't change it: others may use it, too.
        handle: The handle, in this session.
        summary: The author's summary.
        kind: `table`, `array`, `text`, `file` or `picture`.
        shape: Rows and columns, the shape of an array, or the number of characters or bytes.
        facts: Kind, shape and columns in words.
    """

    __mcpframe_declared__: ClassVar[type] = KeptData

    def __init__(self, pages: Paged, handle: str, summary: str, inline: int) -> None:
        """Created by `kept`."""
        self.value: T = pages.value
        self.handle = handle
        self.summary = summary
        self.kind = pages.kind
        self.shape = pages.shape
        self.facts = pages.facts
        self._pages = pages
        self._inline = inline

    def __repr__(self) -> str:
        return f"<Kept {self.handle}: {self.facts}>"

    @property
    def uri(self) -> str:
        """The address of its first page, for `resources/read`."""
        return ADDRESS + self.handle

    @property
    def size(self) -> int:
        """How many bytes it counts as."""
        return self._pages.size

    def rows(self, start: int = 0, stop: int | None = None) -> Rows:
        """Return rows of a table as JSON values.

        Args:
            start: The number of the first.
            stop: That after the last; None for the end of the table.

        Returns:
            A tuple with the names of the columns, `columns`, and the `rows`.

        Raises:
            KeptError: It is not a table.
        """
        if not isinstance(self._pages, PagedTable):
            raise KeptError(f"{self.handle!r} has no rows: it is {self.facts}.")
        return self._pages.rows(start, self.shape[0] if stop is None else stop)

    def excerpt(self, offset: int, limit: int | None = None) -> Excerpt:
        """Return a page; see `Paged.excerpt`."""
        return self._pages.excerpt(offset, limit, self._address)

    def page_meta(self, offset: int, end: int | None) -> dict[str, Any]:
        following = {} if end is None else {"mcpframe/next": self._address(end)}
        return {"mcpframe/offset": offset, "mcpframe/total": self._pages.length, **following}

    def _address(self, offset: int) -> str:
        return f"{self.uri}?offset={offset}"

    def __mcpframe_shown__(self) -> Shown:
        """Return what `Page.show` shows of it: a table in pages; a picture, an array, or the beginning of a text."""
        if isinstance(self._pages, PagedTable):
            return browsed(self.shape[0], self._pages.rows)
        if isinstance(self._pages, PagedFile | PagedText):
            excerpt = self.excerpt(0)
            content = excerpt.content
            kind = media_type(content) if isinstance(content, bytes) else None
            if excerpt.end is not None or not isinstance(content, bytes) or not (kind or "").startswith("image/"):
                text = content if isinstance(content, str) else self.facts
                return f"<pre>{escape(text)}</pre>", None
            return html_of(content), None
        return html_of(self.value), None

    def __mcpframe_described__(self) -> Described:
        """Return what a result has of it: its data, its text, and a link."""
        included = self._included()
        data: KeptData = {
            "handle": self.handle,
            "uri": self.uri,
            "kind": self.kind,
            "shape": self.shape,
            "columns": list(self._pages.columns),
            "summary": self.summary,
            "rows": None if included is None else included.rows,
        }
        sentence = f"{self.handle}: {self.facts}. It stays with the server: other tools take this handle."
        parts = [sentence, self.summary, "" if included is None else _text_of(included)]
        link = {
            "type": "resource_link",
            "uri": self.uri,
            "name": self.handle,
            "description": self.summary or self.facts,
            "mimeType": self._pages.media_type,
        }
        text = "\n\n".join(filter(None, parts))
        return Described(cast("dict[str, Any]", data), text, links=(Block(link, self._pages.media_type),))

    def _included(self) -> Rows | None:
        """Return the rows that are a part of the result: all of a small table, or None."""
        if not isinstance(self._pages, PagedTable) or self.shape[0] > self._inline:
            return None
        if self.shape[1] > len(self._pages.columns):
            return None
        rows = self.rows()
        return rows if len(_text_of(rows)) <= _MOST_INLINE else None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> core_schema.CoreSchema:
        [its_type] = get_args(source) or [Any]

        def taken(given: object) -> Kept[Any]:
            try:
                return given if isinstance(given, Kept) else _taken(given, its_type)
            except KeptError as error:
                raise PydanticCustomError("kept", "{reason}", {"reason": str(error)}) from None

        return core_schema.no_info_plain_validator_function(
            taken,
            json_schema_input_schema=core_schema.str_schema(),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda kept: kept.handle),
            metadata={"mcpframe_wanted": _name_of(its_type)},
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: core_schema.CoreSchema, handler: Any) -> dict[str, Any]:
        type_name = (schema.get("metadata") or {}).get("mcpframe_wanted", "")
        about = f"The handle of a kept {type_name}".rstrip() + ", from the result of a tool of this server"
        return {"type": "string", "description": about}


class Store:
    """The kept values of a session.

    Args:
        process: The name of this process before each handle, if several serve; see `PeerSession`.
    """

    def __init__(self, process: str = "") -> None:
        self.size = 0
        self._process = process
        self._kept: OrderedDict[str, Kept[Any]] = OrderedDict()
        _stores.add(self)

    def keep(self, pages: Paged, summary: str, inline: int) -> Kept[Any]:
        """Keep a value; see `kept`."""
        if pages.size > KEPT_BYTES:
            raise KeptError(
                f"This has {pages.size:,} bytes, and a session keeps at most {KEPT_BYTES:,}: keep a part of it."
            )
        handle = "-".join(filter(None, [self._process, "k" + secrets.token_hex(8)]))
        item: Kept[Any] = Kept(pages, handle, summary, inline)
        with _lock:
            self._kept[handle] = item
            self.size += item.size
            while self.size > KEPT_BYTES or len(self._kept) > KEPT_VALUES:
                self.drop_oldest()
            while sum(each.size for each in _stores) > ALL_KEPT_BYTES:
                others = (each for each in _stores if each is not self or len(self._kept) > 1)  # this value stays
                max(others, key=lambda each: each.size).drop_oldest()
        return item

    def find(self, text: str) -> Kept[Any]:
        """Return the kept value of a handle, or of the address of one of its pages.

        Raises:
            KeptError: It is unknown.
        """
        handle = text.strip().removeprefix(ADDRESS).partition("?")[0]
        with _lock:
            item = self._kept.get(handle)
            if item is None:
                raise KeptError(f"The handle {_echoed(handle)} is unknown. {self._why(handle)}")
            self._kept.move_to_end(handle)
        return item

    def _why(self, handle: str) -> str:
        if self._process and "-" in handle and not handle.startswith(self._process):
            return (
                "Another process of this server keeps it, or has ended: call again the tool that made it, and pass "
                "handles of one process in one call."
            )
        return (
            f"A session keeps {KEPT_VALUES} values and {KEPT_BYTES // 1024**2} MiB, and drops what was used longest "
            "ago; a page that was opened anew has none. Call the tool that made it again, and use its new handle."
        )

    def drop_oldest(self) -> None:
        """Drop the value that was used longest ago."""
        self.size -= self._kept.popitem(last=False)[1].size


_stores: WeakSet[Store] = WeakSet()
_lock = threading.RLock()
"""Held around every change: in plain Python, tools that are not async run in threads."""
_local: list[Store] = []
"""The store of code that runs for no session, as in a test in memory; created when it is first used."""


def kept(value: T | Kept[T], *, summary: str = "", inline: int = 0) -> Kept[T]:
    """Keep a value for other tools of this server: a tool returns it by reference, and declares `Kept[type]`.

    The client gets a handle, the shape, the names and types of columns, the summary, and a link; the data stay where
    the server runs. Other tools take the handle as a parameter of the type `Kept[type]`. `resources/read` of the link
    answers pages of at most 1,000 rows and 1 MiB, files of 8 MiB. The handle is of this session, and ends with it.
    A session keeps 100 values and 256 MiB: what was used longest ago is dropped.

    Args:
        value: A DataFrame or Series of pandas, an array of numpy, a sequence of rows (lists, tuples or dicts), a text,
            bytes, the `Path` of a file, a figure or an image. It is not copied.
        summary: What the model has to know of it, in a sentence or a few.
        inline: A table of at most this many rows is in the result as well, whole; no row of a larger one is.

    Returns:
        The kept value; `value` itself if it is one.

    Raises:
        TypeError: The value is none of these. The text says what can be kept.
        KeptError: It is larger than 256 MiB.
        OSError: The file at a path cannot be read.
        StateError: In a page, outside of requests and of the setup and ui functions: no session keeps it.
    """
    return value if isinstance(value, Kept) else _store().keep(paged(value), summary, inline)


def read(uri: str) -> tuple[Excerpt, dict[str, Any]]:
    """Return a page of a kept value, and its `_meta`.

    Args:
        uri: An address as `TEMPLATE` has it.

    Raises:
        KeptError: The handle is unknown, or the numbers are not such.
        Exception: As drawing a figure raises.
    """
    item = _store().find(uri)
    numbers: dict[str, int | None] = {"offset": 0, "limit": None}
    for name, text in parse_qsl(urlsplit(uri).query, keep_blank_values=True):
        if name in numbers and not _NUMBER.fullmatch(text):
            raise KeptError(f"The {name} {_echoed(text)} is not a number: write {TEMPLATE}.")
        numbers |= {name: int(text)} if name in numbers else {}
    if numbers["limit"] == 0:
        raise KeptError("The limit is 0: ask for at least one.")
    offset = numbers["offset"] or 0
    excerpt = item.excerpt(offset, numbers["limit"])
    return excerpt, item.page_meta(offset, excerpt.end)


def _store() -> Store:
    """Return the store of the session that this code runs for.

    Raises:
        StateError: It runs for none, in a page.
    """
    peer: PeerSession | None = running_peer.get()
    if peer is None and in_pyodide():
        raise StateError("There is no session here that keeps values: use kept in tools, and in the ui function.")
    with _lock:
        if peer is None:
            if not _local:
                _local.append(Store())
            return _local[0]
        if peer.kept is None:
            peer.kept = Store(peer.process)
        return cast("Store", peer.kept)


def _taken(given: object, wanted: Any) -> Kept[Any]:
    if not isinstance(given, str):
        raise KeptError("A handle is a string, from the result of a tool of this server.")
    item = _store().find(given)
    classes = tuple(_classes(wanted))
    if classes and not isinstance(item.value, classes):
        raise KeptError(
            f"{item.handle!r} is {item.facts}, of the class {type(item.value).__name__}: pass the handle of a "
            f"{_name_of(wanted)}."
        )
    return item


def _classes(wanted: Any) -> Iterator[type]:
    """Yield the classes that a type stands for; none if it is not known of which class its values are."""
    if get_origin(wanted) in (Union, UnionType):
        each = [tuple(_classes(member)) for member in get_args(wanted)]
        yield from (cls for classes in each for cls in classes if all(each))
        return
    cls = get_origin(wanted) or wanted
    with suppress(TypeError):  # a protocol that is not for isinstance
        if isinstance(cls, type) and not is_typeddict(cls) and cls is not object:
            isinstance(None, cls)
            yield cls


def _name_of(wanted: Any) -> str:
    return " or ".join(dict.fromkeys(cls.__name__ for cls in _classes(wanted)))


def _text_of(found: Rows) -> str:
    lines = [found.columns, *([("" if cell is None else str(cell)) for cell in row] for row in found.rows)]
    return "\n".join(" | ".join(line) for line in lines)


def _echoed(text: str) -> str:
    return repr(text if len(text) <= _MOST_ECHOED else text[:_MOST_ECHOED] + "…")
