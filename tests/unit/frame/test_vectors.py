"""One rule each for both implementations: the cases of `tests/vectors/sep`, through the Python roles and host.js.

A case is a message that the framed page posts in a state of an outer frame, and what comes of it. `outcome` names, in
no order: `refused` errors of the hook, payloads that are `received`, requests of ours that `fail`, what is answered or
sent, how the phase was `set up`, and the error it `ended` with. `<<x*70>>` in a file stands for 70 times x.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcpframe.frame.core.connection import Options
from mcpframe.frame.core.events import Closed, Inbound, Output, Received, Refused, Send, SetupCompleted, SetupRequired
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.sep import roles as sep
from tests.support.host_js import host_folder, through_host_js
from tests.support.sep import FRAME, connection_in

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
ROLES = {role.name.removeprefix("sep "): role for role in sep.ROLES}

_REPEATED = re.compile(r"<<(.+?)\*(\d+)>>")
Case = dict[str, Any]
Outcome = list[dict[str, Any]]


def cases() -> list[Case]:
    found = []
    for path in sorted((VECTORS / "sep").glob("*.json")):
        table = json.loads(_REPEATED.sub(lambda found: found[1] * int(found[2]), path.read_text("utf-8")))
        common = {key: table[key] for key in ("role", "state", "options") if key in table}
        found += [{**common, **case, "name": f"{path.stem}: {case['name']}"} for case in table["cases"]]
    return found


CASES = cases()


def in_order(outcome: Outcome) -> list[str]:
    return sorted(json.dumps(each, sort_keys=True) for each in outcome)


def without_reasons(outcome: Outcome) -> Outcome:
    """What a setup says that was not read is in our own words, which are no part of a case."""
    for each in outcome:
        error = each.get("set up", {}).get("error", {})
        if "cannot be read" in error.get("message", ""):
            del error["message"]
    return outcome


def described(output: Output) -> dict[str, Any] | None:
    if isinstance(output, Refused):
        return {"refused": type(output.error).__name__}
    if isinstance(output, Received):
        failed = output.payload.get("error", {}).get("code") == -32603
        return {"fails": output.payload["id"]} if failed else {"received": output.payload}
    if isinstance(output, SetupRequired):
        told = {"reason": output.reason, "message": output.message, "canContinue": output.can_continue}
        return {"setup required": told}
    if isinstance(output, Send):
        message = json.loads(output.text)
        if message["type"] != "MCP_MESSAGE":
            return {"sends": message["type"]}
        return {"answers": message["payload"]["id"], "code": message["payload"]["error"]["code"]}
    if isinstance(output, Closed) and output.error:
        return {"ended": type(output.error).__name__}
    if isinstance(output, SetupCompleted):
        result = output.result
        told = {"title": result.title, "visibility": result.visibility}
        optional = {"visibilityMessage": result.visibility_message, "ephemeralMessage": result.ephemeral_message}
        told |= {name: value for name, value in optional.items() if value}
        if result.error_code:
            told["error"] = {"code": result.error_code, "message": result.error_message}
        return {"set up": told}
    return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_python_roles(case: Case) -> None:
    made = connection_in(ROLES[case["role"]], State(case["state"]), Options(**case.get("options", {})))
    for id_ in case.get("asked", ()):
        request = {"jsonrpc": "2.0", "id": id_, "method": "ask"}
        made.send(json.dumps(request), request, 0.0)
    text = case.get("text") or json.dumps(case["message"])
    outputs = made.receive(Inbound(FRAME, True, lambda: text), 0.0)
    outcome = [told for output in outputs if (told := described(output))]
    assert in_order(without_reasons(outcome)) == in_order(case["outcome"])


@pytest.fixture(scope="module")
def host_js(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return host_folder(tmp_path_factory.mktemp("host"))


def test_host_js(host_js: Path) -> None:
    camel = {"max_message_bytes": "maxMessageBytes"}
    table = [
        {**case, "options": {camel[name]: value for name, value in case.get("options", {}).items()}} for case in CASES
    ]
    outcomes = through_host_js(host_js, table)
    told = {case["name"]: in_order(without_reasons(outcome)) for case, outcome in zip(CASES, outcomes, strict=True)}
    assert told == {case["name"]: in_order(case["outcome"]) for case in CASES}
