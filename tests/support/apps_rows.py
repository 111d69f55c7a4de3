"""Every message of MCP Apps, and which tests prove it: as a view in the official host, as a host of the
official view.

Sources: the method reference of "MCP Apps PostMessage Lifecycle" (the seed); MCP Apps (SEP-1865), revision 2026-01-26.
`tests/unit/test_apps_rows.py` keeps the table complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Sender = Literal["view", "host", "proxy"]
VIEW_TESTS = "tests/browser/test_apps_rows_view.py"
SHIM = "tests/browser/test_view_text.py::test_a_bundle_in_a_frame_is_a_view_as_it_is"
HOST_TESTS = "tests/browser/test_apps_rows_host.py"


@dataclass(frozen=True)
class Row:
    """One message.

    Attributes:
        method: its method.
        sender: who sends it.
        request: whether it is a request.
        seed: whether the seed's reference lists it.
        view: the test in which our view sends or takes it, in the official host.
        host: the test in which our host takes or sends it, with the official view.
    """

    method: str
    sender: Sender
    request: bool
    seed: bool
    view: str
    host: str


def _rows(sender: Sender, request: bool, lines: str) -> tuple[Row, ...]:
    rows = []
    for line in lines.strip().splitlines():
        method, source, view, host = line.split()
        tests = (view if "::" in view else f"{VIEW_TESTS}::test_{view}", f"{HOST_TESTS}::test_{host}")
        rows.append(Row(method, sender, request, source == "seed", *tests))
    return tuple(rows)


ROWS = (
    *_rows(
        "view",
        True,
        """
        ui/initialize              seed  the_handshake               the_handshake
        ui/open-link               seed  a_link                      a_link
        ui/download-file           -     a_download                  a_download
        ui/message                 seed  a_message                   a_message
        ui/update-model-context    seed  model_context               model_context
        ui/request-display-mode    seed  a_display_mode              a_display_mode
        tools/call                 seed  a_tool_of_the_server        a_tool_of_the_server
        tools/list                 -     lists_of_the_server         lists_of_the_server
        resources/read             seed  a_resource_of_the_server    a_resource_of_the_server
        resources/list             -     lists_of_the_server         lists_of_the_server
        resources/templates/list   -     lists_of_the_server         lists_of_the_server
        prompts/list               -     lists_of_the_server         lists_of_the_server
        sampling/createMessage     -     a_message_of_the_model      a_message_of_the_model
        ping                       seed  pings                       pings
        """,
    ),
    *_rows(
        "view",
        False,
        """
        ui/notifications/initialized         seed  the_handshake              the_handshake
        ui/notifications/size-changed        seed  the_size                   the_size
        ui/notifications/request-teardown    -     a_request_to_be_removed    a_request_to_be_removed
        notifications/message                -     a_line_for_the_log         a_line_for_the_log
        notifications/tools/list_changed     -     the_app_s_tools_change     the_app_s_tools_change
        notifications/cancelled              -     a_request_that_the_view_cancels  a_request_that_the_view_cancels
        notifications/progress               -     an_app_tool_that_takes_time      an_app_tool_that_takes_time
        """,
    ),
    *_rows(
        "host",
        True,
        """
        ui/resource-teardown    seed  teardown        teardown
        tools/call              -     an_app_tool     an_app_tool
        tools/list              -     an_app_tool     an_app_tool
        ping                    -     pings           pings
        """,
    ),
    *_rows(
        "host",
        False,
        """
        ui/notifications/tool-input-partial       seed  partial_arguments           partial_arguments
        ui/notifications/tool-input               seed  arguments_and_result        arguments_and_result
        ui/notifications/tool-result              seed  arguments_and_result        arguments_and_result
        ui/notifications/tool-cancelled           seed  a_cancelled_call            a_cancelled_call
        ui/notifications/host-context-changed     seed  context_changes             context_changes
        notifications/tools/list_changed          -     lists_of_the_server_change  lists_of_the_server_change
        notifications/resources/list_changed      -     lists_of_the_server_change  lists_of_the_server_change
        notifications/prompts/list_changed        -     lists_of_the_server_change  lists_of_the_server_change
        notifications/cancelled                   -     an_app_tool_that_takes_time  an_app_tool_that_takes_time
        notifications/progress                    -     a_tool_of_the_server        a_tool_of_the_server
        """,
    ),
    *_rows(
        "proxy",
        False,
        f"""
        ui/notifications/sandbox-proxy-ready       -  {SHIM}  behind_a_sandbox_proxy
        ui/notifications/sandbox-resource-ready    -  {SHIM}  behind_a_sandbox_proxy
        """,
    ),
)
"""The seed's reference has 16 of them; `ping` and `tools/call` are sent in both directions."""
