"""The values a server has stored in its session (`session.storage`), carried from one page of a session to the next.

A page elsewhere has a browser context of its own, which ends with it. So its values are read after each change, and
written into the next page of the same session before that page's first script. They are in IndexedDB: see
`frame/storage/values.py`. No other session gets them.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from mcpframe.frame.core.places import parse_address
from mcpframe.kit.base.errors import BrowserGone, PageFailed
from mcpframe.kit.browser.devtools.protocol import DevTools

MOST = 16_000_000
"""The most that is carried: characters of texts, and bytes."""

_DATABASE = "mcpframe"
_LONGEST = 2 * MOST
"""The longest form of the values, in characters: base64 adds a third, and JSON its escapes."""

logger = logging.getLogger(__name__)

_READ = """async () => {
  const settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.transaction.abort();
  const database = await settled(opening);
  try {
    const store = database.transaction("values").objectStore("values");
    const [keys, values] = await Promise.all([settled(store.getAllKeys()), settled(store.getAll())]);
    if (values.reduce((sum, value) => sum + value.length, 0) > MOST) return null;
    const encoded = async (bytes) => {
      const reader = new FileReader();
      const loaded = new Promise((resolve) => { reader.onload = resolve; });
      reader.readAsDataURL(new Blob([bytes]));
      await loaded;
      return reader.result.slice(reader.result.indexOf(",") + 1);
    };
    return JSON.stringify(await Promise.all(keys.map(async (key, at) =>
      typeof values[at] === "string" ? [key, values[at], null] : [key, null, await encoded(values[at])])));
  } finally {
    database.close();
  }
}""".replace("DATABASE", json.dumps(_DATABASE)).replace("MOST", str(MOST))

# The database is new, and whoever opens it later waits until this transaction has ended.
_WRITE = """(origin, values) => {
  if (location.origin !== origin) return;
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => {
    const store = opening.result.createObjectStore("values");
    for (const [key, text, bytes] of values) {
      store.put(bytes === null ? text : Uint8Array.from(atob(bytes), (character) => character.charCodeAt(0)), key);
    }
  };
  opening.onsuccess = () => opening.result.close();
}""".replace("DATABASE", json.dumps(_DATABASE))


class CarriedStorage:
    """The values of one session.

    Args:
        values: those that it begins with, such as those of a setup.

    Attributes:
        values: key, text and bytes in base64 of each; the latter or the former is None.
        is_too_large: whether the page has more than is carried, or what is no value.
    """

    def __init__(self, values: Sequence[Any] = ()) -> None:
        self.values = list(values)
        self.is_too_large = False
        self._following: asyncio.Task[None] | None = None
        self._reading: asyncio.Task[None] | None = None
        self._is_changed = False

    def script(self, url: str) -> str:
        """Return a script that writes the values into a page, before its own scripts; empty for none.

        Args:
            url: the page's address. Frames of other origins do not get the values.
        """
        if not self.values:
            return ""
        _, origin = parse_address(url)
        # Serialized here: what a page has returned is data, whatever it contains.
        return f"({_WRITE})({json.dumps(origin)}, {json.dumps(self.values)})"

    def take(self, text: object) -> None:
        """Take the values that a page has returned, which may be anything. None are carried if they are not values."""
        values = _values(text)
        self.values = values or []  # earlier ones would be out of date
        if values is None and not self.is_too_large:
            logger.warning("The server stores more than %d MB: it ends with its page.", MOST // 1_000_000)
        self.is_too_large = values is None

    def follow(self, devtools: DevTools, session: str) -> None:
        """Have the browser report changes of a page's database; `on_event` gets them. Does nothing if it refuses.

        This does not wait for the page, which may compute for long, or crash: its browser would count as gone.
        """
        self._following = asyncio.get_running_loop().create_task(self._follow(devtools, session))

    def on_event(self, devtools: DevTools, session: str, params: dict[str, Any]) -> None:
        """Handle DevTools' event `Storage.indexedDBContentUpdated`."""
        if params["databaseName"] == _DATABASE:
            self._changed(devtools, session)

    async def read(self) -> None:
        """Wait until the values of the page that is followed have been read once.

        Raises:
            PageFailed: it is not followed, or the browser refuses to follow it.
        """
        if self._following is not None:
            await asyncio.wait([self._following])  # it ends as reading begins
        if self._reading is None:
            raise PageFailed("The browser does not let the page's stored values be read.")
        await asyncio.wait([self._reading])

    def stop(self) -> None:
        """Read nothing more of the page."""
        for task in (self._following, self._reading):
            if task is not None:
                task.cancel()

    def _changed(self, devtools: DevTools, session: str) -> None:
        self._is_changed = True
        if self._reading is None or self._reading.done():
            self._reading = asyncio.get_running_loop().create_task(self._read(devtools, session))

    async def _follow(self, devtools: DevTools, session: str) -> None:
        with suppress(BrowserGone):
            frame = (await devtools.post("Page.getFrameTree", session))["frameTree"]["frame"]["id"]
            answer = await devtools.post("Storage.getStorageKey", session, frameId=frame)
            await devtools.post("Storage.trackIndexedDBForStorageKey", session, storageKey=answer["storageKey"])
            self._changed(devtools, session)  # its start may have stored something

    async def _read(self, devtools: DevTools, session: str) -> None:
        """Read until nothing has changed meanwhile. There is no deadline: a page may compute for long."""
        while self._is_changed:
            self._is_changed = False
            with suppress(BrowserGone, ValueError):
                outcome = await devtools.post(
                    "Runtime.evaluate", session, expression=f"({_READ})()", awaitPromise=True, returnByValue=True
                )
                if "exceptionDetails" not in outcome:
                    self.take(outcome["result"].get("value"))


def _values(text: object) -> list[Any] | None:
    """Return the values in JSON text; None if it is too long, or has another form."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, list) and all(map(_is_value, values)) else None


def _is_value(value: Any) -> bool:
    match value:
        case [[str(), str()], str(), None] | [[str(), str()], None, str()]:
            return True
    return False
