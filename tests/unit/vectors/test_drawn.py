"""Messages that Hypothesis draws, on which the Python roles and host.js have to agree."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.host_js import host_folder, through_host_js
from tests.vectors.cases import Case, Result, comparable, roles
from tests.vectors.generate.sep_fields import RIGHT, WRONG, complete
from tests.vectors.generate.sep_rules import SESSION, STATES, VARIANTS
from tests.vectors.python_driver import play

ROLES = [role for role in roles("sep")["roles"] if role.startswith("outer")]
FIELDS = sorted(
    {"type", "payload", "id", "method", "params", "result", "error", "code", "message", "jsonrpc", "protocolVersion"}
    | {"minProtocolVersion", "maxProtocolVersion", "sessionId", "status", "reason", "canContinue", "phase", "name"}
    | {"requestedPermissions", "required", "purpose", "requiresVisibleSetup", "serverTitle", "displayName"}
    | {"transportVisibility", "requirement", "optionalMessage", "description", "ephemeralMessage"}
    | {"constructor", "prototype", "__proto__", "toString", "length", "then", "toJSON", ""}
)
# A text as long as that is written short in the files of the vectors, which are read otherwise.
TYPICAL = [value for values in (*RIGHT.values(), *WRONG.values()) for value in values if "<<" not in str(value)]
ODD = [
    2**53 - 1,
    2**53,
    -(2**53),
    1e300,
    -0.0,
    5e-324,
    1e21,
    "2.0",
    "1.0",
    5,
    7,
    7.0,
    SESSION,
    "\ud800",
    "\udfff",
    "\x7f",
]
values = st.recursive(
    st.sampled_from([*TYPICAL, *ODD, None, True, False]) | st.integers(-(2**53), 2**53) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
KINDS = [kind for kind in VARIANTS for _ in range(2)] + ["MCP_NONSENSE", "mcp", "MCP_"]


def _inside(place: Any) -> list[Any]:
    """Return what can be changed inside of an object."""
    items = place.values() if isinstance(place, dict) else ()
    return [item for item in items if isinstance(item, dict | list) and item]


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """Draw a message with up to three things changed in it, at any depth."""
    kind = draw(st.sampled_from(KINDS))
    message: Any = {"type": kind}
    if kind in VARIANTS:
        message = draw(st.sampled_from([complete(kind), *({"type": kind, **body} for body in VARIANTS[kind].values())]))
    message = copy.deepcopy(message)
    for _ in range(draw(st.integers(0, 3))):
        place: Any = message
        while isinstance(place, dict) and (
            inner := [item for item in place.values() if isinstance(item, dict | list) and item]
        ):
            if not draw(st.booleans()):
                break
            place = draw(st.sampled_from(inner))
        if isinstance(place, dict):
            name = draw(st.sampled_from([*place, *FIELDS]))
            if draw(st.booleans()):
                place.pop(name, None)
            else:
                place[name] = copy.deepcopy(draw(values))
        else:
            place[draw(st.integers(0, len(place) - 1))] = copy.deepcopy(draw(values))
    if draw(st.booleans()) and isinstance(message, dict):
        message = dict(draw(st.permutations(list(message.items()))))
    return message


@st.composite
def drawn_cases(draw: st.DrawFn) -> Case:
    """Draw a case without an outcome."""
    role = draw(st.sampled_from(ROLES))
    state = draw(st.sampled_from(STATES[role]))
    case: Case = {"name": "drawn", "role": role, "state": state, "message": draw(messages())}
    if role == "outer transport" and state == "open":
        case["asked"] = draw(st.lists(st.sampled_from([5, 7, "5", ""]), max_size=2, unique=True))
    limits = {
        "max_message_bytes": draw(st.integers(200, 400)),
        "max_nesting": draw(st.integers(4, 9)),
        "max_pending": 2,
    }
    case["options"] = draw(st.sampled_from([{}, {}, {"max_pending": 2}, limits]))
    return case


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return host_folder(tmp_path_factory.mktemp("host"))


@given(table=st.lists(drawn_cases(), min_size=100, max_size=100))
@settings(max_examples=5, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
def test_both_implementations_think_alike(folder: Path, table: list[Case]) -> None:
    results = zip(table, through_host_js(folder, table), strict=True)
    different = [(case, result, play(case)) for case, result in results if result is None or _differs(case, result)]
    assert different == []


_LIMITS = {"max_message_bytes": "MessageTooLarge", "max_nesting": "MessageTooDeep"}


def _differs(case: Case, result: Result) -> bool:
    expected = play(case)
    if comparable(result) == comparable(expected):
        return False
    # Of a message that is too large and too deep, either may be found first.
    options = case["options"]
    is_both = _LIMITS.keys() <= options.keys() and all(
        {"refused": error} in play({**case, "options": {limit: options[limit]}})["outcome"]
        for limit, error in _LIMITS.items()
    )
    return not is_both or _either(result["outcome"]) != _either(expected["outcome"])


def _either(outcome: list[Any]) -> list[Any]:
    return [{"refused": "by a limit"} if output.get("refused") in _LIMITS.values() else output for output in outcome]
