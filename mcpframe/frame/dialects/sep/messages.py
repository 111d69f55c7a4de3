"""The eight messages of the SEP "postMessage Transport": their names, and how each is read from any of its dialects.

Three dialects are in use, all called "1.0":

- A, the text of the SEP: `serverTitle`, `transportVisibility.optionalMessage`.
- B, the reference implementation's guide: `displayName`, `transportVisibility.description`.
- C, the draft specification of 2025-07: as B, and in the setup handshake `minProtocolVersion`, `maxProtocolVersion` and
  `requestedPermissions`, without `protocolVersion`.

Each reader accepts any of them and raises `MalformedMessage` for anything else. Versions are compared as numbers. A
null member counts as missing.

`MCP_SETUP_COMPLETE` is read leniently, because the page considers its setup over once it has sent it. Missing values
get defaults; anything but success is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from mcpframe.frame.core import jsonrpc
from mcpframe.frame.core.errors import MalformedMessage, OriginError
from mcpframe.frame.core.payload import well_formed
from mcpframe.frame.core.setup import (
    Permission,
    SetupErrorCode,
    SetupReason,
    SetupRequired,
    SetupResult,
    Visibility,
)

VERSION = "1.0"

SETUP_HANDSHAKE = "MCP_SETUP_HANDSHAKE"
SETUP_HANDSHAKE_REPLY = "MCP_SETUP_HANDSHAKE_REPLY"
SETUP_COMPLETE = "MCP_SETUP_COMPLETE"
TRANSPORT_HANDSHAKE = "MCP_TRANSPORT_HANDSHAKE"
TRANSPORT_HANDSHAKE_REPLY = "MCP_TRANSPORT_HANDSHAKE_REPLY"
TRANSPORT_ACCEPTED = "MCP_TRANSPORT_ACCEPTED"
SETUP_REQUIRED = "MCP_SETUP_REQUIRED"
MCP_MESSAGE = "MCP_MESSAGE"

_MAX_TEXT = 4096
"""The longest text of a message, session ids included, in units of UTF-16."""
_MAX_DIGITS = 6
"""Of each part of a version: `int` fails for thousands, and JavaScript has no exact integers of more than 15."""
PHASES = ("setup", "transport")

FRAGMENTS = {"setup": "(^#?|,)setup(?![^,])"}

T = TypeVar("T")


def phase_of(fragment: str) -> str:
    """Return the phase from the URL's hash: `"setup"` if one of its comma-separated tokens is exactly `setup`.

    Args:
        fragment: `location.hash`, with or without the `#`.

    Returns:
        `"setup"` or `"transport"`.
    """
    return "setup" if re.search(FRAGMENTS["setup"], fragment) else "transport"


def address_for(url: str, phase: str) -> str:
    """Return the address of a page in a phase: its hash has the token `setup` in the setup phase only.

    Args:
        url: the page's address, with or without a `setup` in its hash.
        phase: `"setup"` or `"transport"`.

    Returns:
        The address. Other tokens of its hash stay.
    """
    page, _, fragment = url.partition("#")
    tokens = [word for word in fragment.split(",") if word not in ("", "setup")]
    if phase == "setup":
        tokens.insert(0, "setup")
    return f"{page}#{','.join(tokens)}" if tokens else page


@dataclass(frozen=True, slots=True)
class Handshake:
    """Either handshake as read: the inner frame's versions, and its needs for a setup."""

    versions: tuple[tuple[int, int], tuple[int, int]]
    requires_visible: bool = False
    permissions: tuple[Permission, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """Either handshake reply as read."""

    session_id: str
    version: tuple[int, int]


def _take(data: Mapping[str, Any], key: str, kind: type[T], default: T | None = None) -> T:
    """Return a member of an exact type; a missing or null one is its default, or an error if there is none."""
    value = data.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, kind) or (isinstance(value, str) and _is_long(value)):
        raise MalformedMessage(f"{str(data.get('type', 'message'))[:64]}: {key} must be a {kind.__name__}.")
    return value


def _is_long(text: str) -> bool:
    """Return whether a text is over the limit, counted as JavaScript counts: in units of UTF-16."""
    return len(text) > _MAX_TEXT or (len(text) * 2 > _MAX_TEXT < len(text.encode("utf-16-le", "surrogatepass")) // 2)


def check_session_id(session_id: str) -> None:
    """Raise `OriginError` for a session id that a page would refuse, after which its host would wait for it."""
    if not session_id or _is_long(session_id):
        raise OriginError(f"A session id is a text of 1 to {_MAX_TEXT:,} characters, not of {len(session_id):,}.")


def _text(value: Any) -> str:
    """Return a text within the length limit; an empty one for anything else."""
    return value if isinstance(value, str) and not _is_long(value) else ""


def fitting(text: str) -> str:
    """Return a text as the peer accepts it: truncated if it is too long, and well-formed."""
    text = well_formed(text)
    if not _is_long(text):
        return text
    cut = text[: _MAX_TEXT - 1]
    return (text[: _MAX_TEXT // 2 - 1] if _is_long(cut + "…") else cut) + "…"


def _first(data: Mapping[str, Any], *keys: str) -> Any:
    """Return the first of these members that is present and not null."""
    return next((data[key] for key in keys if data.get(key) is not None), None)


def _one_of(data: Mapping[str, Any], key: str, kind: Callable[[str], T], default: T | None = None) -> T:
    if data.get(key) is None and default is not None:
        return default
    try:
        return kind(_take(data, key, str))
    except ValueError:
        raise MalformedMessage(f"Unknown value for {key}.") from None


def _version(data: Mapping[str, Any], key: str) -> tuple[int, int]:
    major, dot, minor = _take(data, key, str).partition(".")
    if not (
        dot
        and major.isascii()
        and major.isdigit()
        and minor.isascii()
        and minor.isdigit()
        and len(major) <= _MAX_DIGITS >= len(minor)
    ):
        raise MalformedMessage(f"{key} must be a version such as '1.0'.")
    return int(major), int(minor)


def _session_id(data: Mapping[str, Any]) -> str:
    session_id = _take(data, "sessionId", str)
    if not session_id:
        raise MalformedMessage("sessionId must not be empty.")
    return session_id


def _read_permission(data: Any) -> Permission:
    if not isinstance(data, dict):
        raise MalformedMessage("requestedPermissions must be a list of objects.")
    phases = _take(data, "phase", list, [])
    if not all(isinstance(phase, str) for phase in phases):
        raise MalformedMessage("requestedPermissions.phase must be a list of texts.")
    return Permission(
        _take(data, "name", str),
        tuple(phases) or PHASES,
        _take(data, "required", bool, False),
        _take(data, "purpose", str, ""),
    )


def read_handshake(data: Mapping[str, Any]) -> Handshake:
    keys = [key for key in ("minProtocolVersion", "maxProtocolVersion") if data.get(key) is not None]
    low, high = keys if len(keys) == 2 else ("protocolVersion", "protocolVersion")
    return Handshake((_version(data, low), _version(data, high)))


def read_setup_handshake(data: Mapping[str, Any]) -> Handshake:
    return replace(
        read_handshake(data),
        requires_visible=_take(data, "requiresVisibleSetup", bool),
        permissions=tuple(map(_read_permission, _take(data, "requestedPermissions", list, []))),
    )


def read_reply(data: Mapping[str, Any]) -> Reply:
    return Reply(_session_id(data), _version(data, "protocolVersion"))


def read_setup_complete(data: Mapping[str, Any]) -> SetupResult:
    status = _take(data, "status", str)
    failed = status != "success"
    visibility = data.get("transportVisibility")
    visibility = visibility if isinstance(visibility, dict) else {}
    requirement = _text(visibility.get("requirement"))
    return SetupResult(
        title=_text(_first(data, "serverTitle", "displayName")),
        visibility=Visibility(requirement) if requirement in list(Visibility) else Visibility.HIDDEN,
        visibility_message=_text(_first(visibility, "optionalMessage", "description")) or None,
        ephemeral_message=_text(data.get("ephemeralMessage")) or None,
        error_code=_error_code(status, data.get("error")) if failed else None,
        error_message=_error_message(data.get("error")) if failed else None,
    )


def _error_code(status: str, error: Any) -> SetupErrorCode | str:
    """Return the error code of a failed setup: a code of the protocol, or the page's own."""
    code = _text(error.get("code")) if isinstance(error, dict) else ""
    if code:
        return SetupErrorCode(code) if code in list(SetupErrorCode) else code
    return SetupErrorCode.USER_CANCELLED if status in ("cancelled", "canceled") else SetupErrorCode.CONFIG_ERROR


def _error_message(error: Any) -> str:
    return _text(error.get("message") if isinstance(error, dict) else error) or "The page gave no reason."


def read_accepted(data: Mapping[str, Any]) -> str:
    return _session_id(data)


def read_setup_required(data: Mapping[str, Any]) -> SetupRequired:
    return SetupRequired(
        _one_of(data, "reason", SetupReason), _take(data, "message", str), _take(data, "canContinue", bool)
    )


def read_mcp_message(data: Mapping[str, Any]) -> dict[str, Any]:
    message = data.get("payload")
    if not isinstance(message, dict):
        raise MalformedMessage("payload must be an object.")
    return jsonrpc.with_usable_id(message)
