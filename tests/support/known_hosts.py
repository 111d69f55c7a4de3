"""The hosts of one bundle, and what each can do: `docs/reference/hosts.md`. Tested by `browser/test_known_hosts.py`.

What a host gets of the calculator is measured there; what the calculator does not have is shown by other tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BROWSER = "tests/browser"
ORIGIN = "the host's origin"


@dataclass(frozen=True)
class Host:
    """One host.

    Attributes:
        name: a short name.
        title: what it is.
        dialect: the dialect that is spoken: a name of `allowed_origins`.
        tools: whether it calls the server's tools, and gets their results.
        lists: whether it has the server's resources and prompts.
        progress: whether it gets the progress of a call.
        cancels: whether it can cancel a call.
        notified: whether it is notified of changed lists.
        setup: whether it runs the server's setup.
        values: what the values belong to that the page keeps; empty if no page of a host is around.
        page: whether its user sees the bundle's own page.
        conversation: what a message of the page (`session.host.send_message`) is there; empty where there is none.
        configured: what has to be in `allowed_origins`; empty if nothing has.
        evidence: by attribute: the test that shows it, where the calculator does not.
    """

    name: str
    title: str
    dialect: str
    tools: bool = True
    lists: bool = True
    progress: bool = True
    cancels: bool = True
    notified: bool = True
    setup: bool = False
    values: str = "host's origin"
    page: bool = True
    conversation: str = ""
    configured: str = ORIGIN
    evidence: Mapping[str, str] = field(default_factory=dict)


def _shown(**tests: str) -> dict[str, str]:
    """Return evidence: tests of `tests/browser`, and by default the one for values."""
    switched = "test_switching_hosts.py::test_one_page_under_one_host_after_the_other"
    return {name: f"{BROWSER}/{test}" for name, test in {"values": switched, **tests}.items()}


_PLAIN = _shown(
    notified="test_plain_mcp.py::test_changed_lists_are_announced",
    values="test_plain_mcp.py::test_values_belong_to_the_host_s_origin",
)
_MCP_B = _shown(notified="test_mcpb_page_server.py::test_a_tool_that_is_added_is_announced")
_ANNOUNCED = "test_features.py::test_changed_lists_are_announced"
_SETUP_REMEMBERED = "tests/bridge/test_setup.py::test_a_setup_is_remembered"
_INSPECTED = "test_inspector_session.py::test_progress_is_shown_and_a_call_is_cancelled"

HOSTS = (
    Host(
        "host.js",
        "`host.js`",
        "sep",
        setup=True,
        values="session id",
        evidence=_shown(notified=_ANNOUNCED, setup="test_template_pi_calculator.py::test_from_setup_to_answers"),
    ),
    Host(
        "OuterFrame",
        "`OuterFrame`, in Python",
        "sep",
        setup=True,
        values="session id",
        evidence=_shown(
            notified=_ANNOUNCED,
            setup="test_outer_in_pyodide.py::test_both_phases",
            values="test_author.py::test_values_outlive_the_page_and_belong_to_one_session",
        ),
    ),
    Host(
        "AppBridge",
        "`AppBridge` of `@modelcontextprotocol/ext-apps`",
        "mcp_apps",
        lists=False,
        conversation="`ui/message`",
        evidence=_shown(notified="test_apps_rows_view.py::test_the_app_s_tools_change"),
    ),
    Host(
        "@mcp-ui/client",
        "`@mcp-ui/client` 6.1",
        "mcp_ui",
        tools=False,
        lists=False,
        progress=False,
        cancels=False,
        notified=False,
        conversation="`prompt`",
        evidence=_shown(),
    ),
    Host(
        "PostMessageTransport",
        "the official `Client` over `PostMessageTransport` of `@modelcontextprotocol/ext-apps`",
        "plain_mcp",
        evidence=_PLAIN,
    ),
    Host(
        "mcp-browser-transport",
        "the official `Client` over a port of npm's `mcp-browser-transport`",
        "plain_mcp",
        evidence=_PLAIN,
    ),
    Host("@mcp-b, iframe", "`@mcp-b/transports`, around the frame", "mcp_b", evidence=_MCP_B),
    Host(
        "@mcp-b, tab",
        "`@mcp-b/transports`, in the page's own tab",
        "mcp_b",
        values="page's origin",
        configured="",
        evidence=_MCP_B,
    ),
    Host(
        "WebMCP",
        "`executeTool` of WebMCP, in the page's own tab",
        "webmcp",
        lists=False,
        progress=False,
        values="page's origin",
        page=False,
        configured="",
        evidence=_shown(
            cancels="test_webmcp.py::test_a_bundle_in_a_tab",
            notified="test_webmcp.py::test_a_bundle_in_a_tab",
            values="test_switching_hosts.py::test_a_tab_whose_tools_webmcp_calls",
        ),
    ),
    Host(
        "mcpframe bridge",
        "`mcpframe bridge`",
        "sep",
        setup=True,
        values="session id",
        page=False,
        configured="`http://mcpframe-bridge.localhost`",
        evidence={
            "notified": "tests/bridge/test_features.py::test_lists_change",
            "setup": _SETUP_REMEMBERED,
            "values": _SETUP_REMEMBERED,
        },
    ),
    Host(
        "the inspector",
        "`mcpframe inspect`",
        "sep",
        setup=True,
        values="session id",
        configured="the inspector's origin",
        evidence=_shown(
            progress=_INSPECTED,
            cancels=_INSPECTED,
            notified="test_inspector_session.py::test_lists_that_change_are_shown_anew",
            setup="test_inspector_servers.py::test_a_visible_setup_is_in_a_dialog",
            values="test_inspector_servers.py::test_servers_are_remembered_with_their_sessions_until_they_are_removed",
        ),
    ),
)
