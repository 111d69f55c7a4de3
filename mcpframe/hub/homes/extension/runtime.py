"""The hub's interface to its extension: ports opened by others, and the service worker's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.frame.waiting.changes import within
from mcpframe.frame.waiting.clock import Clock
from mcpframe.hub.core import limits
from mcpframe.hub.core.codec import LIMITS
from mcpframe.hub.core.errors import TabLoadError

_WORKER = "The extension's service worker"


class ExtensionApi(Protocol):
    """The extension's API in one of its documents. Ports are numbers, and messages JSON text."""

    def listen(self, deliver: Callable[[str, int, str], None]) -> None:
        """Call a function with all events so far and from now on: their kind, port and text.

        The kind is `opened` (text: a JSON object with `name`, `external` and `sender`), `message`, `closed`, or an
        `event` of the service worker.
        """
        ...

    def post(self, number: int, text: str) -> None:
        """Post to a port.

        Raises:
            OSError: The port has ended.
        """
        ...

    def close(self, number: int) -> None:
        """Close a port. Does nothing if it has ended."""
        ...

    async def ask(self, text: str) -> str:
        """Return the service worker's answer, an object with `value` or `error`.

        Raises:
            OSError: The service worker does not answer.
        """
        ...

    async def file(self, name: str) -> bytes:
        """Return a file of the extension.

        Raises:
            OSError: It cannot be read.
        """
        ...


class Worker:
    """The service worker; the browser starts it again for a call if necessary."""

    def __init__(self, runtime: ExtensionApi, clock: Clock) -> None:
        self._runtime = runtime
        self._clock = clock

    async def ask(self, call: str, **more: Any) -> Any:
        """Call a function of the worker, and return its result.

        Raises:
            TabLoadError: It fails, or the worker does not answer in time.
        """
        asking = self._runtime.ask(payload.encode({"call": call, **more}))
        try:
            text = await within(self._clock, limits.WORKER_SECONDS, asking, TabLoadError, _WORKER)
            answer = payload.decode(text, **LIMITS)
        except (OSError, MessageError) as error:
            raise TabLoadError(f"{_WORKER} does not answer: {error}") from error
        if not isinstance(answer, dict) or "error" in answer:
            reason = answer.get("error") if isinstance(answer, dict) else "no answer"
            raise TabLoadError(f"The browser refuses: {reason}")
        return answer.get("value")


@dataclass(frozen=True)
class Sender:
    """The opener of a port, from the browser.

    Attributes:
        extension: The id of the extension; None for a web page.
        url: The address of the document.
        origin: Its origin; None if it is opaque.
        tab: Its tab; None for a document of an extension outside of tabs.
        frame: The number of its frame; 0 for the page of a tab.
        document: The browser's id of the document; None if it has none.
        lifecycle: `active`, or `prerender` before it is displayed.
    """

    extension: str | None = None
    url: str = ""
    origin: str | None = None
    tab: int | None = None
    frame: int | None = None
    document: str | None = None
    lifecycle: str = "active"

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Sender:
        """Return the sender that `ports.js` has sent."""
        return cls(
            data.get("id"),
            data.get("url") or "",
            data.get("origin"),
            data.get("tab"),
            data.get("frame"),
            data.get("document"),
            data.get("lifecycle") or "active",
        )


@dataclass(eq=False)
class ExtensionPort:
    """A port that another document has opened.

    Attributes:
        sender: Its opener.
        external: Whether the opener is another extension, or a web page.
        on_message: Called with each message, as JSON text.
        on_close: Called once, when the other end has closed it.
    """

    number: int
    name: str
    sender: Sender
    external: bool
    _runtime: ExtensionApi
    _forget: Callable[[int], object]
    on_message: Callable[[str], None] = field(default=lambda text: None)
    on_close: Callable[[], None] = field(default=lambda: None)

    def post(self, text: str) -> None:
        """Post JSON text. Raises `OSError` if the port has ended."""
        self._runtime.post(self.number, text)

    def close(self) -> None:
        """Close the port: neither `on_message` nor `on_close` is called any more. Does nothing if it has ended."""
        self._forget(self.number)
        self._runtime.close(self.number)


class Ports:
    """All ports of the extension, routed by their names.

    Args:
        on_event: Called with each event of the service worker.
    """

    def __init__(self, runtime: ExtensionApi, on_event: Callable[[Mapping[str, Any]], None]) -> None:
        self._runtime = runtime
        self._on_event = on_event
        self._ports: dict[int, ExtensionPort] = {}
        self._takers: dict[tuple[str, bool], Callable[[ExtensionPort], None]] = {}

    def serve(self, name: str, take: Callable[[ExtensionPort], None], *, external: bool = False) -> None:
        """Call a function with each port of a name.

        Args:
            take: The function. It sets the port's `on_message` and `on_close`, or closes the port.
            external: Whether these are ports of other extensions and web pages, or those of this extension.
        """
        self._takers[name, external] = take

    def listen(self) -> None:
        """Take the present and all later ports. A port without a `serve` for its name is closed."""
        self._runtime.listen(self._deliver)

    def _deliver(self, kind: str, number: int, text: str) -> None:
        match kind:
            case "opened":
                self._opened(number, payload.decode(text, **LIMITS))
            case "message" if port := self._ports.get(number):
                port.on_message(text)
            case "closed" if port := self._closed(number):
                port.on_close()
            case "event":
                self._on_event(payload.decode(text, **LIMITS))

    def _opened(self, number: int, data: Mapping[str, Any]) -> None:
        external = data["external"] is True
        sender = Sender.read(data["sender"])
        port = ExtensionPort(number, data["name"], sender, external, self._runtime, self._closed)
        take = self._takers.get((port.name, external))
        if take is None:
            port.close()
            return
        self._ports[number] = port
        take(port)

    def _closed(self, number: int) -> ExtensionPort | None:
        return self._ports.pop(number, None)
