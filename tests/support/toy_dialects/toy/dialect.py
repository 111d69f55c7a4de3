"""The dialect, for the composition: see `core.dialect`."""

from __future__ import annotations

from mcpframe.frame.core.dialect import TRANSPORT, Dialect
from tests.support.toy_dialects.toy.messages import HELLO, NAME, READY, WELCOME
from tests.support.toy_dialects.toy.roles import HOST, PAGE

DIALECT = Dialect(
    name=NAME,
    title="Toy",
    preference=9,
    inner={TRANSPORT: PAGE},
    outer={TRANSPORT: HOST},
    steps={HELLO: "Page calls", WELCOME: "Host answers", READY: "Page ready"},
    for_hosts="Toy hosts frame this address",
)
