"""A page in `UiHost`, without a browser: a test sees how it is framed and what it hears, and posts in its name."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from mcpframe import ui_resource
from mcpframe.frame.core.events import Departure, Inbound
from mcpframe.frame.core.places import Framing

Json = dict[str, Any]
FRAME = "https://tools.example"
URI = "ui://tasks/board"
PROXY = "https://sandbox.example/sandbox.html"


def board(**options: Any) -> Any:
    return ui_resource(URI, url=f"{FRAME}/board/?a=1#top", **options)


class FramedPage:
    """A place for a page, of which a test sees how it is framed, and in whose name it posts."""

    def __init__(self, origin: str = FRAME) -> None:
        self.origin = origin
        self.heard: asyncio.Queue[Json] = asyncio.Queue()
        self.targets: set[str] = set()
        self.sizes: asyncio.Queue[tuple[int | None, int | None]] = asyncio.Queue()
        self.left = False
        self.listened = asyncio.Event()

    def __call__(self, framing: Framing) -> FramedPage:
        self.framing = framing
        return self

    async def __aenter__(self) -> FramedPage:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.left = True

    def show(self, visible: bool) -> None:
        raise AssertionError

    def resize(self, width: int | None, height: int | None) -> None:
        self.sizes.put_nowait((width, height))

    def listen(self, deliver: Callable[[Inbound], None], gone: Callable[[Departure], None]) -> Callable[[], None]:
        self.deliver, self.gone = deliver, gone
        self.listened.set()
        return lambda: None

    def post(self, text: str, target_origin: str) -> None:
        self.targets.add(target_origin)
        self.heard.put_nowait(json.loads(text))

    def say(self, kind: str, id_: Any = None, /, origin: str | None = None, peer: bool = True, **content: Any) -> None:
        message = {"type": kind, "messageId": id_, "payload": content}
        self.tell(message, origin, peer)

    def tell(self, message: Any, origin: str | None = None, peer: bool = True) -> None:
        self.deliver(Inbound(origin or self.origin, peer, lambda: json.dumps(message)))

    async def asks(self, kind: str, **content: Any) -> Json:
        """Post an action, and return what it is answered with."""
        self.say(kind, "1", **content)
        assert await self.heard.get() == {"type": "ui-message-received", "messageId": "1"}
        answer = await self.heard.get()
        assert (answer["type"], answer["messageId"]) == ("ui-message-response", "1")
        payload: Json = answer["payload"]
        return payload

    def nothing(self) -> bool:
        return self.heard.empty()
