"""A page of ours over a window that a test is: what it posts is kept, and the test speaks as its host."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from mcpframe.frame.core.connection import Candidate, Connection, Options
from mcpframe.frame.core.events import Inbound
from mcpframe.frame.host_api.by_dialect import host_api
from mcpframe.frame.session.host_messages import HostMessages
from mcpframe.frame.session.session import Session

Json = dict[str, Any]
HOST = "https://chat.example"
PAGE = "https://tools.example"


class PageSide:
    """The page's session, and the window that it has.

    Attributes:
        posted: every message of the page, with its target origin.
        events: what its session has reported.
        messages: its messages with the host.
    """

    def __init__(self, *candidates: Candidate, **options: Any) -> None:
        self.posted: list[tuple[Json, str]] = []
        self.events: list[Any] = []
        self.messages = HostMessages(host_api)
        connection = Connection(list(candidates), options=Options(**options))
        self.session = Session(connection, self, self.events.append, intercept=self.messages)
        self.session.start()

    def listen(self, deliver: Callable[[Inbound], None], gone: Any) -> Callable[[], None]:
        self.deliver, self.gone = deliver, gone
        return lambda: None

    def post(self, text: str, target_origin: str) -> None:
        self.posted.append((json.loads(text), target_origin))

    def tell(self, *messages: Any, origin: str = HOST) -> None:
        """Post messages in the host's window."""
        for message in messages:
            text = json.dumps(message)
            self.deliver(Inbound(origin, True, lambda text=text: text))

    def close(self) -> None:
        self.session.close()
        self.session.streams[0].close()
