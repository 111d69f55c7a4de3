"""The page before Python runs: its script, with the data that the build computed for it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpframe.frame.core.allowed_origins import OriginEntries
from mcpframe.frame.core.roles import State
from mcpframe.frame.dialects.sep import roles as sep
from mcpframe.frame.dialects.sep.dialect import DIALECT
from mcpframe.frame.session.setup_phase import SetupCompleted, SetupErrorCode
from mcpframe.kit.base.data import checkout_dir, page_dir
from mcpframe.kit.base.node import find_node
from mcpframe.kit.bundle.assembly.description import ServerDescription, SetupDescription
from mcpframe.kit.bundle.assembly.inbox import inbox_data
from mcpframe.kit.bundle.assembly.page_scripts import BUNDLED_INBOX
from mcpframe.kit.project.pyproject import McpframeConfig
from tests.support.mcpb import to_client
from tests.support.sep import connection_in, hear

CAMERA = {"name": "camera", "phase": ("setup",), "required": True, "purpose": "</script> \u2028"}
NEVER_STARTED = DIALECT.never_started("setup")
TRANSPORT = {"type": "MCP_TRANSPORT_HANDSHAKE", "protocolVersion": "1.0"}
VIEW = {
    "jsonrpc": "2.0",
    "id": "mcpframe/initialize",
    "method": "ui/initialize",
    "params": {
        "appInfo": {"name": "a-server", "version": "1.2"},
        "appCapabilities": {"tools": {"listChanged": True}},
        "protocolVersion": "2026-01-26",
    },
}
EMBEDDED = [
    {"type": "ui-lifecycle-iframe-ready"},
    {"type": "ui-request-render-data", "messageId": "mcpframe/render-data"},
]
PAGE_SERVER = to_client("mcp-server-ready")
FRAMED = [TRANSPORT, VIEW, *EMBEDDED, PAGE_SERVER]
SETUP = {
    "type": "MCP_SETUP_HANDSHAKE",
    "protocolVersion": "1.0",
    "minProtocolVersion": "1.0",
    "maxProtocolVersion": "1.0",
    "requiresVisibleSetup": True,
    "requestedPermissions": [{**CAMERA, "phase": ["setup"]}],
}


def data(setup: SetupDescription | None, **own: tuple[str, ...]) -> dict[str, Any]:
    origins = OriginEntries(("https://chat.example",), own)
    about = {"name": "a-server", "version": "1.2"}
    return inbox_data(
        ServerDescription("a server", setup=setup), McpframeConfig(boot_timeout=12.5), about, origins.parse()
    )


def test_a_dialect_without_allowed_origins_calls_nobody() -> None:
    def openings(**own: tuple[str, ...]) -> list[object]:
        called: list[object] = data(None, **own)["phases"][-1]["openings"]
        return called

    assert openings() == openings(mcp_apps=("*",)) == FRAMED
    assert openings(mcp_apps=()) == [each for each in FRAMED if each != VIEW]
    assert openings(sep=()) == [each for each in FRAMED if each != TRANSPORT]


def run(given: dict[str, Any]) -> dict[str, Any]:
    """Return what becomes of the windows of tests/support/inbox.mjs."""
    script = checkout_dir() / "tests" / "support" / "inbox.mjs"
    told: dict[str, Any] = json.loads(find_node().run(str(script), str(page_dir() / BUNDLED_INBOX), json.dumps(given)))
    return told


@pytest.fixture(scope="module")
def said() -> dict[str, Any]:
    return run(data(SetupDescription(True, (CAMERA,))))


@pytest.mark.parametrize(
    ("address", "openings"),
    [
        ("", FRAMED),
        ("#visible", FRAMED),
        ("#nosetup", FRAMED),
        ("#setup", [SETUP]),
        ("#visible,setup", [SETUP]),
        ("?waitForRenderData=true", EMBEDDED),
        ("?a=1&waitForRenderData=true&b=2", EMBEDDED),
        ("?waitForRenderData=trueish", FRAMED),
    ],
)
def test_it_posts_the_openings_that_its_address_asks_for(
    said: dict[str, Any], address: str, openings: list[object]
) -> None:
    assert said[f"at {address}"] == [[opening, "*"] for opening in openings]


def test_a_popup_calls_its_opener(said: dict[str, Any]) -> None:
    assert said["popup"] == [[opening, "*"] for opening in FRAMED]


def test_a_page_that_is_opened_by_itself_posts_nothing_and_keeps_nothing(said: dict[str, Any]) -> None:
    assert said["alone"] == [[], 0, 0, False]


def test_a_flood_is_kept_in_part_unread_and_counted(said: dict[str, Any]) -> None:
    most = data(None)["most"]
    assert said["flooded"] == {
        "kept": list(range(most)),
        "dropped": 100_000 - most,
        "called": True,
        "replies": [],
        "left": [0, 0, False],
    }


def test_a_setup_that_does_not_start_is_told_once(said: dict[str, Any]) -> None:
    assert said["failed"] == {
        "setup": {"posted": [[NEVER_STARTED, "*"]], "after": 12_500},
        "transport": {"posted": [], "after": 12_500},
    }
    completed, _ = hear(connection_in(sep.OUTER_SETUP, State.SETTING_UP), NEVER_STARTED)
    assert isinstance(completed, SetupCompleted)
    assert completed.result.error_code is SetupErrorCode.CONFIG_ERROR


ALLOWED = [
    (("https://chat.example",), {"https://chat.example"}),
    (("*",), {"https://chat.example", "https://other.example"}),
    (("https://chat.example", "null"), {"https://chat.example", "null"}),
]


@pytest.mark.parametrize(("allowed", "answered"), ALLOWED)
def test_the_answer_of_an_allowed_host_is_confirmed_at_once(allowed: tuple[str, ...], answered: set[str]) -> None:
    said = run(data(None, mcp_apps=allowed))
    for origin in ("https://chat.example", "https://other.example", "null"):
        target = "*" if origin == "null" else origin
        confirmed, failing = said["confirmed"][origin], said["failing"][origin]
        if origin in answered:
            assert confirmed["posted"] == [["ui/notifications/initialized", target]]
            assert [json.loads(text)["method"] for text in confirmed["replies"]] == ["ui/notifications/initialized"]
            # and it stands in for a view that does not start
            assert failing["posted"] == [*confirmed["posted"], ["ui/notifications/size-changed", target]]
        else:
            assert confirmed["replies"] == []
            refused = [["mcpframe-origin-refused", target]] * (origin not in (*allowed, "https://chat.example"))
            if "*" in allowed and origin != "null":
                refused = []
            assert confirmed["posted"] == failing["posted"] == refused  # once, if no dialect allows it


@pytest.mark.parametrize(("allowed", "answered"), ALLOWED)
def test_a_view_s_text_learns_at_once_that_its_origin_is_not_allowed(
    allowed: tuple[str, ...], answered: set[str]
) -> None:
    said = run(data(None, mcp_apps=allowed))
    for origin, confirmed in said["confirmed"].items():
        assert confirmed["asked"] == ([] if origin in answered else ["refused"])
    assert said["stranger"]["asked"] == []


def test_the_script_confirms_nothing_else(said: dict[str, Any]) -> None:
    for case in ("stranger", "otherVersion", "otherDialect", "refusal", "early"):
        assert said[case]["posted"] == said[case]["replies"] == [], case


def test_of_partial_arguments_the_last_is_kept(said: dict[str, Any]) -> None:
    assert said["partials"]["dropped"] == 0
    assert said["partials"]["kept"][1:] == [999, "end"]
    assert said["complete"]["kept"][1:] == [2, 3]  # the complete ones replace a part of them, and nothing replaces them
    assert said["early"]["kept"] == [1, 2]  # before the host's answer


def test_the_openings_are_what_python_would_post() -> None:
    found = data(SetupDescription())
    assert [phase["openings"] for phase in found["phases"]] == [
        [{**SETUP, "requiresVisibleSetup": False, "requestedPermissions": []}],
        EMBEDDED,
        FRAMED,
    ]


def test_python_alone_calls_where_the_setup_is_not_known() -> None:
    setup, embedded, transport = data(None)["phases"]
    assert (setup["openings"], setup["failures"]) == ([], [])
    assert (embedded["openings"], transport["openings"]) == (EMBEDDED, FRAMED)
