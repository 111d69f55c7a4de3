"""MCP Apps: the handshake, and JSON-RPC in both directions after it, as tables.

    view ── ui/initialize (*) ──────────────────▶ host      repeated, rarely, until the answer
    view ◀───────────────────────────── result ── host      the view pins the origin
    view ── ui/notifications/initialized ───────▶ host      open
    view ◀─────────────── JSON-RPC ─────────────▶ host

A host may frame a sandbox proxy of another origin, which frames the view and relays. It starts with

    proxy ── ui/notifications/sandbox-proxy-ready ──────▶ host
    proxy ◀──── ui/notifications/sandbox-resource-ready ── host      the host pins the origin

The view is the inner frame, the host the outer one. A host may send nothing before `initialized`; data of the view's
tool call is taken even if it comes before the result. A second `ui/initialize` to an open host is another
document.

Source: MCP Apps (SEP-1865), "Lifecycle"; the seed "MCP Apps PostMessage Lifecycle".
"""

from __future__ import annotations

from mcpframe.frame.core import actions as common
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.roles import Local, Role, Rule, State
from mcpframe.frame.dialects.mcp_apps import actions as do
from mcpframe.frame.dialects.mcp_apps import messages as read
from mcpframe.frame.dialects.mcp_apps.codec import CODEC
from mcpframe.frame.dialects.mcp_apps.messages import (
    ANSWER,
    MESSAGE,
    NAME,
    TOOL_DATA,
)
from mcpframe.frame.dialects.mcp_apps.offers import ViewOffer

S = State


VIEW = Role(
    dialect=NAME,
    side="inner",
    phase=TRANSPORT,
    codec=CODEC,
    offers=ViewOffer,
    readers={ANSWER: read.read_answer, TOOL_DATA: read.read_tool_data, MESSAGE: read.read_message},
    rules=(
        *common.beginning(S.CALLING, do.call),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, do.call),
        Rule(S.CALLING, TOOL_DATA, S.CALLING, common.received),
        Rule(S.CALLING, ANSWER, S.OPEN, do.begin, do.speaks_ours),
        Rule(S.CALLING, ANSWER, S.CLOSED, do.refused, do.is_refusal),
        Rule(S.CALLING, ANSWER, S.CLOSED, do.wrong_version),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, do.nobody_answered),
        Rule(S.OPEN, ANSWER, S.OPEN, common.ignore),
        *common.exchanging(TOOL_DATA, MESSAGE),
        *common.leaving(do.removed, S.CALLING, S.OPEN),
    ),
    waits={S.CALLING: "handshake_timeout"},
)
