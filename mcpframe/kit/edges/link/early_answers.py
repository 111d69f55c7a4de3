"""Answers to the requests with which a client begins, from a bundle's manifest: before its page is open.

A build records them in the manifest (`answers`), by protocol revision, as the page gives them. A client is thereby
answered at once, while the page starts; a call waits for the page. Once the page is open, it answers everything. A
client that has been given a list until 2025-11-25 is notified if the page has another one; from 2026-07-28 on, results
say themselves how long they hold.

The manifest may be anybody's, as the page may: its results are checked like messages of the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcpframe.frame.core import payload
from mcpframe.frame.core.errors import MessageError
from mcpframe.kit.edges.link.messages import ServerMessage, checked

_VERSION = "io.modelcontextprotocol/protocolVersion"
CHANGED: Mapping[str, str] = {
    "tools/list": "notifications/tools/list_changed",
    "prompts/list": "notifications/prompts/list_changed",
    "resources/list": "notifications/resources/list_changed",
    "resources/templates/list": "notifications/resources/list_changed",
}
"""The lists, each with the notification that it has changed."""

Results = Mapping[str, Mapping[str, Any]]


class EarlyAnswers:
    """The answers of a manifest, for one client.

    Args:
        by_version: As from `recorded_answers`.

    Attributes:
        given: The results that a client of the handshake era has been given, by method.
        has_answered: Whether a request has been answered.
    """

    def __init__(self, by_version: Mapping[str, Results]) -> None:
        self._by_version = by_version
        self._session: Results = {}
        self.given: dict[str, Mapping[str, Any]] = {}
        self.has_answered = False

    def answer(self, message: Mapping[str, Any]) -> ServerMessage | None:
        """Return the answer to a request; None if the page has to answer it."""
        result = self._result(message)
        if result is None:
            return None
        id_ = message["id"]
        text = payload.encode({"jsonrpc": "2.0", "id": id_, "result": result})
        try:
            answer = checked(ServerMessage(text, id_))
        except MessageError:
            return None
        if "result" not in answer.message:  # not one that MCP allows
            return None
        self.has_answered = True
        if message["method"] == "initialize":
            self._session = self._by_version[message["params"]["protocolVersion"]]
        if self._session:
            self.given[message["method"]] = result
        return answer

    def _result(self, message: Mapping[str, Any]) -> Mapping[str, Any] | None:
        method, params = message["method"], message.get("params", {})
        if not isinstance(params, dict) or "cursor" in params:
            return None
        if method == "initialize":
            result = self._of(params.get("protocolVersion")).get(method)
            return None if result is None else {**result, "protocolVersion": params["protocolVersion"]}
        if method in CHANGED and self._session:
            return self._session.get(method)
        if method in CHANGED or method == "server/discover":
            meta = params.get("_meta")
            return self._of(meta.get(_VERSION) if isinstance(meta, dict) else None).get(method)
        return None

    def _of(self, version: object) -> Results:
        return self._by_version.get(version, {}) if isinstance(version, str) else {}


def recorded_answers(manifest: Mapping[str, Any] | None) -> Mapping[str, Results]:
    """Return the answers in a manifest, by protocol revision; empty if it has none, or none of the expected form."""
    groups = (manifest or {}).get("answers")
    by_version: dict[str, Results] = {}
    for group in groups if isinstance(groups, list) else ():
        versions, results = (group.get("versions"), group.get("results")) if isinstance(group, dict) else (None, None)
        if isinstance(versions, list) and isinstance(results, dict) and all(map(_is_object, results.values())):
            by_version |= {version: results for version in versions if isinstance(version, str)}
    return by_version


def differs(method: str, given: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether a page's result says something else than the one that was given."""
    if method == "initialize":
        return _offered(given) != _offered(now)
    return given != now


def _offered(result: Mapping[str, Any]) -> tuple[Any, ...]:
    capabilities = dict(result.get("capabilities") or {})
    capabilities.pop("experimental", None)  # the timing of a page's start, among others
    return capabilities, result.get("instructions"), result.get("serverInfo")


def _is_object(value: object) -> bool:
    return isinstance(value, dict)
