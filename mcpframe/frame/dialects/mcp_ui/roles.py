"""mcp-ui's embeddable UI as tables: an exchange in place of a handshake, then the page's actions and their answers.

    page ── ui-lifecycle-iframe-ready (*) ──────▶ host      once
    page ── ui-request-render-data (*) ─────────▶ host      repeated until the host posts anything
    page ◀──── ui-lifecycle-iframe-render-data ── host      the page pins the origin; open
    page ── tool, intent, prompt, … ────────────▶ host
    page ◀──────────────── ui-message-received ── host
    page ◀──────────────── ui-message-response ── host

The page is the inner frame, the host the outer one. Hosts answer a request for render data even if they have none.
Hosts with code of their own post `ui-message-received` for every message, also for the openings of other dialects; a
page recognises such a host by that. A page whose address has `waitForRenderData=true` begins only with the data.

A page without a script says nothing, so a host waits for it without a deadline, and follows it through reloads.

Source: the seed "Embeddable UI"; `@mcp-ui/client` 6.1.0.
"""

from __future__ import annotations

from mcpframe.frame.core import actions as common
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.roles import Local, Role, Rule, State
from mcpframe.frame.dialects.mcp_ui import actions as do
from mcpframe.frame.dialects.mcp_ui import messages as read
from mcpframe.frame.dialects.mcp_ui.codec import FRAME_CODEC
from mcpframe.frame.dialects.mcp_ui.messages import (
    NAME,
    RECEIVED,
    RENDER_DATA,
    RESPONSE,
)
from mcpframe.frame.dialects.mcp_ui.offers import EmbeddedOffer

S = State


EMBEDDED = Role(
    dialect=NAME,
    side="inner",
    phase=TRANSPORT,
    codec=FRAME_CODEC,
    offers=EmbeddedOffer,
    readers={RENDER_DATA: read.read_render_data, RECEIVED: read.read_received, RESPONSE: read.read_response},
    rules=(
        *common.beginning(S.CALLING, do.call),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, do.call_again),
        Rule(S.CALLING, RENDER_DATA, S.OPEN, do.begin_with_data),
        Rule(S.CALLING, RECEIVED, S.CONFIRMING, do.recognise, do.waits_for_data),
        Rule(S.CALLING, RECEIVED, S.OPEN, do.begin),
        Rule(S.CALLING, RESPONSE, S.CONFIRMING, do.recognise, do.waits_for_data),
        Rule(S.CALLING, RESPONSE, S.OPEN, do.begin),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, do.nobody_answered),
        Rule(S.CONFIRMING, RENDER_DATA, S.OPEN, do.begin_with_data),
        Rule(S.CONFIRMING, RECEIVED, S.CONFIRMING, common.ignore),
        Rule(S.CONFIRMING, RESPONSE, S.OPEN, do.begin, do.answers_opening),
        Rule(S.CONFIRMING, RESPONSE, S.CONFIRMING, common.ignore),
        Rule(S.CONFIRMING, Local.DEADLINE, S.CLOSED, do.no_data),
        Rule(S.OPEN, RENDER_DATA, S.OPEN, do.render_data),
        Rule(S.OPEN, RECEIVED, S.OPEN, common.received, do.is_ours),
        Rule(S.OPEN, RECEIVED, S.OPEN, common.ignore),
        Rule(S.OPEN, RESPONSE, S.OPEN, common.received, do.is_ours),
        Rule(S.OPEN, RESPONSE, S.OPEN, common.ignore),
        *common.exchanging(),
        *common.leaving(do.removed, S.CALLING, S.CONFIRMING, S.OPEN),
    ),
    waits={S.CALLING: "handshake_timeout", S.CONFIRMING: "accept_timeout"},
)
