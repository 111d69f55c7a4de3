"""The SEP "postMessage Transport": eight messages, two phases, two sides, as tables.

    setup       inner ── MCP_SETUP_HANDSHAKE (*) ────────▶ outer      repeated until the reply
                inner ◀── MCP_SETUP_HANDSHAKE_REPLY ────── outer      inner pins the origin
                inner ── MCP_SETUP_COMPLETE ─────────────▶ outer      over
    transport   inner ── MCP_TRANSPORT_HANDSHAKE (*) ────▶ outer      repeated until the reply
                inner ◀── MCP_TRANSPORT_HANDSHAKE_REPLY ── outer      inner pins the origin
                inner ── MCP_TRANSPORT_ACCEPTED ─────────▶ outer      open
                inner ◀── MCP_MESSAGE ──────────────────▶ outer
                inner ── MCP_SETUP_REQUIRED ─────────────▶ outer      any time while open

Sent messages are the union of the variants in use; any of them is read: see `messages.py`.

The outer frame knows the inner one's origin from its URL and pins it with the first handshake: unlike the reference
implementation it never replies to `*`. A second handshake before the acceptance is a repetition and is answered
again; after it, it is another document, which cannot take over the session.

A page that has sent MCP_SETUP_COMPLETE considers its setup over. If that message is rejected, the setup ends for the
outer frame, too, as failed.

For an outer frame that decides about permissions, a setup handshake that asks for undecided ones ends the connection: a
document's permissions are fixed when it is loaded, so the host decides and reloads the page.
"""

from __future__ import annotations

from mcpframe.frame.core import actions as common
from mcpframe.frame.core.roles import Local, Role, Rule, State
from mcpframe.frame.core.setup import Act
from mcpframe.frame.dialects.sep import actions as do
from mcpframe.frame.dialects.sep import messages as read
from mcpframe.frame.dialects.sep.codec import CODEC
from mcpframe.frame.dialects.sep.messages import (
    MCP_MESSAGE,
    SETUP_COMPLETE,
    SETUP_HANDSHAKE,
    SETUP_HANDSHAKE_REPLY,
    SETUP_REQUIRED,
    TRANSPORT_ACCEPTED,
    TRANSPORT_HANDSHAKE,
    TRANSPORT_HANDSHAKE_REPLY,
)
from mcpframe.frame.dialects.sep.offers import HostOffer, PageOffer

__all__ = ["INNER_SETUP", "INNER_TRANSPORT", "OUTER_SETUP", "OUTER_TRANSPORT", "ROLES"]


S = State

INNER_SETUP = Role(
    dialect=do.DIALECT,
    side="inner",
    phase="setup",
    codec=CODEC,
    offers=PageOffer,
    readers={SETUP_HANDSHAKE_REPLY: read.read_reply},
    rules=(
        *common.beginning(S.CALLING, do.call),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, do.call),
        Rule(S.CALLING, SETUP_HANDSHAKE_REPLY, S.SETTING_UP, do.start_setup, do.speaks_ours),
        Rule(S.CALLING, SETUP_HANDSHAKE_REPLY, S.CLOSED, do.refuse_setup_version),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, do.nobody_answered),
        Rule(S.SETTING_UP, SETUP_HANDSHAKE_REPLY, S.SETTING_UP, common.ignore),
        Rule(S.SETTING_UP, Act.COMPLETE_SETUP, S.CLOSED, do.complete_setup),
        Rule(S.SETTING_UP, Local.DEADLINE, S.CLOSED, do.inner_took_too_long),
        *common.leaving(do.removed, S.CALLING, S.SETTING_UP),
    ),
    waits={S.CALLING: "handshake_timeout", S.SETTING_UP: "setup_timeout"},
)

INNER_TRANSPORT = Role(
    dialect=do.DIALECT,
    side="inner",
    phase="transport",
    codec=CODEC,
    offers=PageOffer,
    readers={TRANSPORT_HANDSHAKE_REPLY: read.read_reply, MCP_MESSAGE: CODEC.decode},
    rules=(
        *common.beginning(S.CALLING, do.call),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, do.call),
        Rule(S.CALLING, TRANSPORT_HANDSHAKE_REPLY, S.OPEN, do.accept, do.speaks_ours),
        Rule(S.CALLING, TRANSPORT_HANDSHAKE_REPLY, S.CLOSED, do.wrong_version),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, do.nobody_answered),
        Rule(S.OPEN, TRANSPORT_HANDSHAKE_REPLY, S.OPEN, common.ignore),
        *common.exchanging(MCP_MESSAGE),
        Rule(S.OPEN, Act.REQUIRE_SETUP, S.OPEN, do.require_setup),
        Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, do.replaced),
        *common.leaving(do.removed, S.CALLING, S.OPEN),
    ),
    waits={S.CALLING: "handshake_timeout"},
)

OUTER_SETUP = Role(
    dialect=do.DIALECT,
    side="outer",
    phase="setup",
    codec=CODEC,
    offers=HostOffer,
    readers={SETUP_HANDSHAKE: read.read_setup_handshake, SETUP_COMPLETE: read.read_setup_complete},
    rules=(
        *common.beginning(S.AWAITING),
        Rule(S.AWAITING, SETUP_HANDSHAKE, S.CLOSED, do.needs_a_decision, do.asks_undecided),
        Rule(S.AWAITING, SETUP_HANDSHAKE, S.SETTING_UP, do.reply_to_setup, do.speaks_ours),
        Rule(S.AWAITING, SETUP_HANDSHAKE, S.CLOSED, do.wrong_version),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, do.never_called),
        # Again: a repetition, or the page is back from a sign-in elsewhere. Same setup, same session.
        Rule(S.SETTING_UP, SETUP_HANDSHAKE, S.SETTING_UP, do.reply, do.speaks_ours),
        Rule(S.SETTING_UP, SETUP_COMPLETE, S.CLOSED, do.completed),
        Rule(S.SETTING_UP, Local.LAST_REFUSED, S.CLOSED, do.completed_unreadably),
        Rule(S.SETTING_UP, Local.DEADLINE, S.CLOSED, do.setup_took_too_long),
        *common.leaving(do.removed, S.AWAITING, S.SETTING_UP),
    ),
    waits={S.AWAITING: "handshake_timeout", S.SETTING_UP: "setup_timeout"},
    last=SETUP_COMPLETE,
)

OUTER_TRANSPORT = Role(
    dialect=do.DIALECT,
    side="outer",
    phase="transport",
    codec=CODEC,
    offers=HostOffer,
    readers={
        TRANSPORT_HANDSHAKE: read.read_handshake,
        TRANSPORT_ACCEPTED: read.read_accepted,
        SETUP_REQUIRED: read.read_setup_required,
        MCP_MESSAGE: CODEC.decode,
    },
    rules=(
        *common.beginning(S.AWAITING),
        Rule(S.AWAITING, TRANSPORT_HANDSHAKE, S.CONFIRMING, do.reply, do.speaks_ours),
        Rule(S.AWAITING, TRANSPORT_HANDSHAKE, S.CLOSED, do.wrong_version),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, do.never_called),
        Rule(S.CONFIRMING, TRANSPORT_HANDSHAKE, S.CONFIRMING, do.reply, do.speaks_ours),
        Rule(S.CONFIRMING, TRANSPORT_ACCEPTED, S.OPEN, do.opened, do.same_session),
        Rule(S.CONFIRMING, Local.DEADLINE, S.CLOSED, do.never_accepted),
        Rule(S.OPEN, SETUP_REQUIRED, S.OPEN, do.setup_required),
        Rule(S.OPEN, TRANSPORT_ACCEPTED, S.OPEN, common.ignore),
        Rule(S.OPEN, TRANSPORT_HANDSHAKE, S.CLOSED, do.replaced),
        *common.exchanging(MCP_MESSAGE),
        Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, do.replaced),
        *common.leaving(do.removed, S.AWAITING, S.CONFIRMING, S.OPEN),
    ),
    waits={S.AWAITING: "handshake_timeout", S.CONFIRMING: "accept_timeout"},
)

ROLES = (INNER_SETUP, INNER_TRANSPORT, OUTER_SETUP, OUTER_TRANSPORT)
