"""What `static/page/inbox.js` posts before Python runs, computed by letting the roles of the page begin.

In a bundle of the kind "page" Python decides whether it connects to a host: it has no inbox.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcpframe.frame.core.connection import Candidate, Connection, parse_allowed_origins
from mcpframe.frame.core.dialect import SETUP, TRANSPORT
from mcpframe.frame.core.events import Send
from mcpframe.frame.core.origins import ANY
from mcpframe.frame.dialects.available import dialects, inner_candidates
from mcpframe.kit.base.data import page_dir
from mcpframe.kit.bundle.inspect import Inspected, InspectedSetup
from mcpframe.kit.project.config import McpframeConfig

SCRIPT = page_dir() / "inbox.js"
"""The script that is in the page itself, before all others."""

_ANYONE = parse_allowed_origins([ANY])  # openings do not depend on who is allowed
_MOST = 100
"""How many message events are kept until Python runs. A host that is not answered is called again."""


def inbox_data(inspected: Inspected, config: McpframeConfig) -> dict[str, Any]:
    """What the script reads.

    Args:
        inspected: What the server is. Where its setup is not known, Python alone calls for a host that sets it up.
        config: The project's configuration.
    """
    phases = [
        _posted(pattern, _setup_openings(inspected.setup), [each.never_started(SETUP)])
        for each in dialects()
        if (pattern := each.fragments.get(SETUP)) is not None
    ]
    phases.append(_posted("", _openings(inner_candidates(TRANSPORT, _ANYONE)), []))
    return {"phases": phases, "most": _MOST, "patience": config.boot_timeout * 1000}


def _posted(
    fragment: str, openings: Sequence[dict[str, Any]], failures: Sequence[Mapping[str, Any] | None]
) -> dict[str, Any]:
    """What is posted where an address has this fragment; no failure of what was not begun."""
    return {"fragment": fragment, "openings": openings, "failures": [item for item in failures if openings and item]}


def _setup_openings(setup: InspectedSetup | None) -> list[dict[str, Any]]:
    from mcpframe.frame.setup_phase import Permission, page_candidate

    if setup is None:
        return []
    permissions = tuple(Permission(**item) for item in setup.permissions)
    return _openings([page_candidate(_ANYONE, visible=setup.visible, permissions=permissions)])


def _openings(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """What a page posts first, to whoever is there."""
    outputs = Connection(candidates).start(0.0)
    return [json.loads(output.text) for output in outputs if isinstance(output, Send)]
