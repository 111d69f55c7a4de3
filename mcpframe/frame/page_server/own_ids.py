"""Ids of requests that no other client in the window has, for dialects in which all of them hear every answer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from mcpframe.frame.compat import sdk
from mcpframe.frame.core import jsonrpc, payload
from mcpframe.frame.core.events import SessionBegun

Json = Mapping[str, Any]

_ID = re.compile(r":|-?[0-9]{1,16}\Z")
"""What follows the prefix: an integer, or a colon and a text."""


class OwnIds:
    """Messages of the SDK with ids that are unique on the wire, as `session.Messages`.

    As `session.Intercept` it takes what is for another client.
    """

    def __init__(self) -> None:
        self._sdk = sdk.SdkMessages()
        self._prefix = f"{os.urandom(6).hex()}/"

    def read(self, body: Json) -> Any:
        """Return a message of the server as the SDK has it."""
        return self._sdk.read(dict(jsonrpc.answered_as(body, self._restored)))

    def text(self, item: Any) -> str:
        """Return the JSON text of what is sent."""
        text, members = self._sdk.text(item), self._sdk.members(item)
        if jsonrpc.asked_as(members, self._own) is members:
            return text
        return payload.encode(jsonrpc.asked_as(json.loads(text), self._own))

    def members(self, item: Any) -> Json:
        """Return the members of what is sent."""
        return jsonrpc.asked_as(self._sdk.members(item), self._own)

    def begun(self, session: Any, event: SessionBegun) -> None:
        """Take note of the session: there is nothing to do."""

    def take(self, message: Json) -> bool:
        """Return whether a message is for another client."""
        if "method" not in message:
            return not self._is_own(message.get("id"))
        token = (message.get("params") or {}).get("progressToken")
        return message["method"] == "notifications/progress" and not self._is_own(token)

    def _own(self, id_: Any) -> str:
        return f"{self._prefix}{id_}" if isinstance(id_, int) else f"{self._prefix}:{id_}"

    def _is_own(self, id_: Any) -> bool:
        return isinstance(id_, str) and id_.startswith(self._prefix) and _ID.match(id_, len(self._prefix)) is not None

    def _restored(self, id_: Any) -> Any:
        """Return the SDK's own id. What a server makes up in this form is at most the id of no request."""
        if not self._is_own(id_):
            return id_
        own: str = id_.removeprefix(self._prefix)
        return own[1:] if own.startswith(":") else int(own)
