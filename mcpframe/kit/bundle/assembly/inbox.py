"""The messages that `static/page/inbox.js` posts before Python runs, computed from the page's roles.

A bundle of the kind "page" has no inbox: its Python code decides whether to connect to a host.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcpframe.frame.core.allowed_origins import ANY, OriginLists
from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
from mcpframe.frame.core.dialect import SETUP, TRANSPORT, Dialect
from mcpframe.frame.core.events import Send
from mcpframe.frame.dialects.available import dialect, dialects, inner_candidates
from mcpframe.kit.base.limits import EARLY_MESSAGES
from mcpframe.kit.bundle.assembly.description import ServerDescription, SetupDescription
from mcpframe.kit.project.pyproject import McpframeConfig

_ANYONE = parse_allowed_origins([ANY])  # openings do not depend on the allowed origins


def inbox_data(
    inspected: ServerDescription, config: McpframeConfig, about: Mapping[str, str], origins: OriginLists
) -> dict[str, Any]:
    """Return the data of the script.

    Args:
        inspected: The description of the server. If its setup is unknown, only Python opens a setup.
        config: The project's configuration.
        about: The page's `name`, `version` and `title` for its host.
        origins: The allowed origins of hosts, by dialect.
    """
    phases = [
        _posted(pattern, "", list(allowed), _setup_openings(inspected.setup, each), [each.never_started(SETUP)])
        for each in dialects()
        if (pattern := each.fragments.get(SETUP)) is not None and (allowed := origins.of(each.name)) is not None
    ]
    candidates = inner_candidates(TRANSPORT, origins, about=about)
    for each in dialects():
        if each.query:
            named = [candidate for candidate in candidates if candidate.role.dialect == each.name]
            if not named:
                continue
            phases.append(_posted("", each.query, _hosts(named), _openings(named), []))
    stand_in = _stand_in(candidates)
    phases.append(_posted("", "", _hosts(candidates), _openings(candidates), [], stand_in))
    return {"phases": phases, "most": EARLY_MESSAGES, "patience": config.boot_timeout * 1000}


def _posted(
    fragment: str,
    query: str,
    hosts: Sequence[str],
    openings: Sequence[dict[str, Any]],
    failures: Sequence[Mapping[str, Any] | None],
    stand_in: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the openings for an address with this fragment and query, the origins that may answer them in any dialect,
    and the messages to post if Python does not start.
    """
    posted = [item for item in failures if openings and item]
    data = {"fragment": fragment, "query": query, "hosts": hosts, "openings": openings, "failures": posted}
    return {**data, "standIn": stand_in} if stand_in else data


def _hosts(candidates: Sequence[Candidate]) -> list[str]:
    """Return the origins that one of the candidates allows."""
    return list(dict.fromkeys(origin for candidate in candidates for origin in candidate.allowed_origins))


def _stand_in(candidates: Sequence[Candidate]) -> dict[str, Any] | None:
    """Return the data of a page that may become a view: the id of its opening, and the allowed hosts.

    The script confirms the host's answer, and shows the tool's result in place of a view that does not start: see
    `static/app/stand-in.js`.
    """
    for candidate in candidates:
        spoken = dialect(candidate.role.dialect)
        for opening in _openings([candidate]):
            if opening.get("method") == spoken.view_opening:
                return {
                    "id": opening["id"],
                    "hosts": list(candidate.allowed_origins),
                    "versions": list(spoken.view_versions),
                    "confirmation": spoken.view_confirmation,
                }
    return None


def _setup_openings(setup: SetupDescription | None, spoken: Dialect) -> list[dict[str, Any]]:
    from mcpframe.frame.session.setup_phase import Permission

    if setup is None:
        return []
    permissions = tuple(Permission(**item) for item in setup.permissions)
    offer = spoken.setup_offer(visible=setup.visible, permissions=permissions)
    return _openings([Candidate(spoken.inner[SETUP], _ANYONE, offer)])


def _openings(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """Return the first messages of a page, posted to any origin."""
    outputs = Connection(candidates).start(0.0) if candidates else []
    return [json.loads(output.text) for output in outputs if isinstance(output, Send)]
