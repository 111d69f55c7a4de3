"""This dialect, for the composition: see `core.dialect`."""

from __future__ import annotations

from mcpframe.frame.core.dialect import SETUP, TRANSPORT, Dialect
from mcpframe.frame.dialects.sep.actions import DIALECT as NAME
from mcpframe.frame.dialects.sep.actions import last_words, never_started
from mcpframe.frame.dialects.sep.messages import (
    FRAGMENTS,
    TRANSPORT_ACCEPTED,
    TRANSPORT_HANDSHAKE,
    TRANSPORT_HANDSHAKE_REPLY,
    address_for,
    phase_of,
)
from mcpframe.frame.dialects.sep.offers import HostOffer, PageOffer
from mcpframe.frame.dialects.sep.roles import INNER_SETUP, INNER_TRANSPORT, OUTER_SETUP, OUTER_TRANSPORT

DIALECT = Dialect(
    name=NAME,
    title="SEP postMessage",
    preference=1,
    inner={SETUP: INNER_SETUP, TRANSPORT: INNER_TRANSPORT},
    outer={SETUP: OUTER_SETUP, TRANSPORT: OUTER_TRANSPORT},
    phase_of=phase_of,
    address_for=address_for,
    fragments=FRAGMENTS,
    last_words=last_words,
    never_started=never_started,
    setup_offer=lambda visible, permissions: PageOffer(requires_visible_setup=visible, permissions=permissions),
    host_offer=HostOffer,
    for_hosts="Hosts of framed MCP servers frame this address, with host.js or OuterFrame",
    steps={
        TRANSPORT_HANDSHAKE: "Handshake heard",
        TRANSPORT_HANDSHAKE_REPLY: "Reply sent",
        TRANSPORT_ACCEPTED: "Session accepted",
    },
)
