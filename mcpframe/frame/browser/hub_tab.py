"""One of several tabs of a hub: broadcast channels, Web Locks, and page visibility (`hub.homes.page.tab_browser`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import js
from pyodide.ffi import JsException, JsProxy, create_proxy, to_js

from mcpframe.frame.core.errors import StateError
from mcpframe.frame.waiting.clock import LoopClock

_new_object = js.Object.fromEntries


class BrowserChannel:
    """A broadcast channel (`hub.homes.page.tab_browser.TabChannel`).

    Args:
        name: its name.
        heard: called with each received text.
    """

    def __init__(self, name: str, heard: Callable[[str], None]) -> None:
        own = js.origin

        def on_message(event: Any) -> None:
            if event.origin == own and isinstance(event.data, str):
                heard(event.data)

        self._channel = js.BroadcastChannel.new(name)
        self._listener = create_proxy(on_message)
        self._channel.addEventListener("message", self._listener)

    def post(self, text: str) -> None:
        if self._listener is not None:
            self._channel.postMessage(text)

    def close(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            self._channel.removeEventListener("message", listener)
            self._channel.close()
            listener.destroy()


class ThisTab:
    """This page's browser (`hub.homes.page.tab_browser.TabBrowser`).

    Raises:
        StateError: if it has no Web Locks or no broadcast channels.
    """

    def __init__(self) -> None:
        locks = getattr(js.navigator, "locks", None)
        if not isinstance(locks, JsProxy) or not hasattr(js, "BroadcastChannel"):
            raise StateError(
                "A page's hub needs Web Locks and broadcast channels, which this page lacks: serve it over https, or "
                "from localhost."
            )
        self._locks = locks
        self.clock = LoopClock()
        self.store = _LocalTexts()

    @property
    def url(self) -> str:
        return str(js.location.href)

    @property
    def window_name(self) -> str:
        return str(js.self.name)

    def channel(self, name: str, heard: Callable[[str], None]) -> BrowserChannel:
        return BrowserChannel(name, heard)

    def lock(
        self,
        name: str,
        held: Callable[[], None],
        lost: Callable[[], None],
        *,
        shared: bool = False,
        steal: bool = False,
    ) -> Callable[[], None]:
        released = js.Promise.withResolvers()
        giving_up = js.AbortController.new()
        is_over = False

        def granted(_: Any) -> Any:
            if is_over:
                return None
            held()
            return released.promise

        def failed(_: Any) -> None:
            if not is_over:
                lost()

        def ended() -> None:
            callback.destroy()

        callback = create_proxy(granted)
        # The browser accepts no signal together with `steal`.
        more = {"steal": True} if steal else {"signal": giving_up.signal}
        options = to_js({"mode": "shared" if shared else "exclusive", **more}, dict_converter=_new_object)
        self._locks.request(name, options, callback).then(None, failed).finally_(ended)

        def release() -> None:
            nonlocal is_over
            is_over = True
            giving_up.abort()
            released.resolve()

        return release

    def remembered(self, key: str) -> str | None:
        return _get("sessionStorage", key)

    def remember(self, key: str, value: str) -> None:
        _set("sessionStorage", key, value)

    def noted(self, key: str) -> str | None:
        return _get("localStorage", key)

    def note(self, key: str, value: str) -> None:
        _set("localStorage", key, value)

    def is_seen(self) -> bool:
        return js.document.visibilityState == "visible" and bool(js.document.hasFocus())

    def watch(self, seen: Callable[[], None], away: Callable[[], None], back: Callable[[], None]) -> Callable[[], None]:

        def on_event(event: Any) -> None:
            # A page in the back/forward cache (`persisted`) stops running, like a frozen one.
            if event.type in ("freeze", "pagehide"):
                away()
            elif event.type == "resume" or (event.type == "pageshow" and event.persisted):
                back()
            elif event.type != "pageshow":
                seen()

        proxy = create_proxy(on_event)
        places = [(js.document, name) for name in ("freeze", "resume", "visibilitychange")]
        places += [(js.window, name) for name in ("pagehide", "pageshow", "focus", "blur")]
        for target, name in places:
            target.addEventListener(name, proxy)

        def stop() -> None:
            for target, name in places:
                target.removeEventListener(name, proxy)
            proxy.destroy()

        return stop

    def open(self, url: str, name: str) -> bool:
        return isinstance(js.open(url, name), JsProxy)


class _LocalTexts:
    """`hub.interfaces.KeyValues` in the storage that all tabs share."""

    async def get(self, key: str) -> str | None:
        return _get("localStorage", key)

    async def set(self, key: str, value: str) -> None:
        js.localStorage.setItem(key, value)

    async def delete(self, key: str) -> None:
        js.localStorage.removeItem(key)

    async def keys(self) -> Sequence[str]:
        return [str(key) for key in js.Object.keys(js.localStorage)]


def _get(storage: str, key: str) -> str | None:
    with suppress(JsException, AttributeError):  # a sandbox has no storage
        item = getattr(js, storage).getItem(key)
        return item if isinstance(item, str) else None
    return None


def _set(storage: str, key: str, value: str) -> None:
    with suppress(JsException, AttributeError):
        getattr(js, storage).setItem(key, value)
