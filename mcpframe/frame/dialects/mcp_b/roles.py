"""MCP-B: a page server and its clients, as tables; one pair of roles for each of the two channels.

    server ── mcp-server-ready (*) ────▶ clients     at the start
    server ◀── mcp-check-ready ───────── client      at any time; the server pins the origin
    server ── mcp-server-ready ────────▶ client      the answer to each check
    server ◀── JSON-RPC ───────────────▶ client      the first valid message opens it
    server ── mcp-server-stopped ──────▶ clients     over

On the tab channel the server and its clients are scripts of the same window, and the source of every message is that
window itself. On the iframe channel the server is the inner frame. A client says nothing when it leaves, and several
may use one window: `mcpframe.frame.session.many_clients` tells them apart.

A client that knows the server's origin posts to no other. An unanswered check is repeated together with a `ping`:
servers of transports 0.1 do not know the check, and any valid message shows that a server is ready.

Source: the seed "MCP-B Protocol Specification", "Transports"; npm's `@mcp-b/transports` 5.1.0, with one difference: a
server posts to `*` only until the first message of a client.
"""

from __future__ import annotations

from mcpframe.frame.core import actions as common
from mcpframe.frame.core.dialect import TAB, TRANSPORT
from mcpframe.frame.core.roles import Local, Role, Rule, State
from mcpframe.frame.dialects.mcp_b import actions as do
from mcpframe.frame.dialects.mcp_b.codec import client_codec, server_codec
from mcpframe.frame.dialects.mcp_b.messages import (
    CHECK_READY,
    IFRAME_CHANNEL,
    MESSAGE,
    NAME,
    PONG,
    READY,
    STOPPED,
    TAB_CHANNEL,
    read_payload,
)

S = State


def _nothing(_: object) -> None:
    pass


def server(phase: str, channel: str) -> Role:
    """Return the role of a page server.

    Args:
        phase: `TRANSPORT` for the iframe channel, where a client has to call in time; `TAB` for the page's own window.
        channel: the name of the channel.
    """
    return Role(
        dialect=NAME,
        side="inner",
        phase=phase,
        codec=server_codec(channel),
        readers={CHECK_READY: _nothing, MESSAGE: read_payload},
        rules=(
            *common.beginning(S.CALLING, do.announce),
            Rule(S.CALLING, CHECK_READY, S.CALLING, do.answer_check),
            Rule(S.CALLING, MESSAGE, S.OPEN, do.begin),
            Rule(S.CALLING, Local.DEADLINE, S.CLOSED, do.nobody_called),
            Rule(S.OPEN, CHECK_READY, S.OPEN, do.answer_check),
            *common.exchanging(MESSAGE),
            *common.leaving(do.removed, S.CALLING, S.OPEN, close=do.stop),
        ),
        waits={S.CALLING: "handshake_timeout"} if phase == TRANSPORT else {},
        shared=True,
    )


def client(phase: str, channel: str) -> Role:
    """Return the role of a client; see `server`."""
    return Role(
        dialect=NAME,
        side="outer",
        phase=phase,
        codec=client_codec(channel),
        readers={READY: _nothing, STOPPED: _nothing, PONG: read_payload, MESSAGE: read_payload},
        rules=(
            *common.beginning(S.AWAITING, do.check if phase == TAB else do.wait),
            Rule(S.AWAITING, Local.REPEAT, S.AWAITING, do.check_again),
            Rule(S.AWAITING, READY, S.OPEN, do.opened),
            Rule(S.AWAITING, PONG, S.OPEN, do.opened),
            Rule(S.AWAITING, MESSAGE, S.OPEN, do.begin),
            Rule(S.AWAITING, STOPPED, S.AWAITING, common.ignore),
            Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, do.never_ready),
            Rule(S.OPEN, READY, S.OPEN, common.ignore),
            Rule(S.OPEN, PONG, S.OPEN, common.ignore),
            Rule(S.OPEN, STOPPED, S.CLOSED, do.stopped),
            *common.exchanging(MESSAGE),
            Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, do.replaced),
            *common.leaving(do.removed, S.AWAITING, S.OPEN),
        ),
        waits={S.AWAITING: "handshake_timeout"},
        opens_unheard=True,
    )


IFRAME_SERVER = server(TRANSPORT, IFRAME_CHANNEL)
IFRAME_CLIENT = client(TRANSPORT, IFRAME_CHANNEL)
TAB_SERVER = server(TAB, TAB_CHANNEL)
TAB_CLIENT = client(TAB, TAB_CHANNEL)

ROLES = (IFRAME_SERVER, TAB_SERVER, IFRAME_CLIENT, TAB_CLIENT)
