"""The messages, and the codec: objects with a `toy` that says their kind; JSON-RPC is in the `mail` of one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.codec import Codec, enveloped, ids_in
from mcpframe.frame.core.errors import MalformedMessage

NAME: Final = "toy"
HELLO: Final = "hello"
WELCOME: Final = "welcome"
READY: Final = "ready"
MAIL: Final = "mail"
VERSION: Final = 1


def read_version(data: Mapping[str, Any]) -> int:
    if not isinstance(data.get("version"), int):
        raise MalformedMessage("version must be an integer.")
    return int(data["version"])


def read_ready(data: Mapping[str, Any]) -> None:
    """It has no content."""


def read_mail(data: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(data.get("mail"), dict):
        raise MalformedMessage("mail must be an object.")
    return jsonrpc.with_usable_id(data["mail"])


def _kind(data: Any) -> str | None:
    kind = data.get("toy") if isinstance(data, dict) else None
    return kind if isinstance(kind, str) else None


CODEC = Codec(
    kind=_kind,
    decode=read_mail,
    encode=enveloped(f'{{"toy":"{MAIL}","mail":', "}"),
    ids=ids_in("mail"),
    carries=frozenset({MAIL}),
    members=("toy",),
    body="mail",
)
