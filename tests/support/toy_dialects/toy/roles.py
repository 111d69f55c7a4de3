"""A handshake of three messages, as tables.

page ── hello (*) ──▶ host      repeated until the answer
page ◀── welcome ──── host      the page pins the origin
page ── ready ──────▶ host      open
page ◀── mail ──────▶ host
"""

from __future__ import annotations

from collections.abc import Iterable

from mcpframe.frame.core import actions as common
from mcpframe.frame.core.actions import end_with
from mcpframe.frame.core.dialect import TRANSPORT
from mcpframe.frame.core.errors import HandshakeTimeout, PeerGone, VersionMismatch
from mcpframe.frame.core.events import Opened, Output
from mcpframe.frame.core.roles import Actor, Local, Message, Role, Rule, State
from tests.support.toy_dialects.toy import messages as read
from tests.support.toy_dialects.toy.messages import CODEC, HELLO, MAIL, NAME, READY, VERSION, WELCOME


def _speaks_ours(_: Actor, message: Message) -> bool:
    return bool(message.body == VERSION)


def _call(actor: Actor, message: Message) -> Iterable[Output]:
    actor.repeat_call(message.now)
    yield actor.call_out({"toy": HELLO, "version": VERSION})


def _welcome(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield actor.say({"toy": WELCOME, "version": VERSION})


def _begin(actor: Actor, message: Message) -> Iterable[Output]:
    actor.pin(message.origin)
    yield actor.say({"toy": READY})
    yield Opened(dialect=NAME, origin=message.origin)


def _opened(_: Actor, message: Message) -> Iterable[Output]:
    yield Opened(dialect=NAME, origin=message.origin)


_late = end_with(lambda _: HandshakeTimeout("Nobody answered in time."))
_other_version = end_with(lambda message: VersionMismatch(f"The peer speaks version {message.body} of toy."))
_removed = end_with(lambda _: PeerGone("The peer's window is gone."))
_replaced = end_with(lambda _: PeerGone("The page was reloaded."))
S = State

PAGE = Role(
    dialect=NAME,
    side="inner",
    phase=TRANSPORT,
    codec=CODEC,
    readers={WELCOME: read.read_version, MAIL: read.read_mail},
    rules=(
        *common.beginning(S.CALLING, _call),
        Rule(S.CALLING, Local.REPEAT, S.CALLING, _call),
        Rule(S.CALLING, WELCOME, S.OPEN, _begin, _speaks_ours),
        Rule(S.CALLING, WELCOME, S.CLOSED, _other_version),
        Rule(S.CALLING, Local.DEADLINE, S.CLOSED, _late),
        Rule(S.OPEN, WELCOME, S.OPEN, common.ignore),
        *common.exchanging(MAIL),
        *common.leaving(_removed, S.CALLING, S.OPEN),
    ),
    waits={S.CALLING: "handshake_timeout"},
)
HOST = Role(
    dialect=NAME,
    side="outer",
    phase=TRANSPORT,
    codec=CODEC,
    readers={HELLO: read.read_version, READY: read.read_ready, MAIL: read.read_mail},
    rules=(
        *common.beginning(S.AWAITING),
        Rule(S.AWAITING, HELLO, S.CONFIRMING, _welcome, _speaks_ours),
        Rule(S.AWAITING, HELLO, S.CLOSED, _other_version),
        Rule(S.AWAITING, Local.DEADLINE, S.CLOSED, _late),
        Rule(S.CONFIRMING, HELLO, S.CONFIRMING, _welcome, _speaks_ours),
        Rule(S.CONFIRMING, READY, S.OPEN, _opened),
        Rule(S.CONFIRMING, Local.DEADLINE, S.CLOSED, _late),
        Rule(S.OPEN, HELLO, S.CLOSED, _replaced),
        *common.exchanging(MAIL),
        Rule(S.OPEN, Local.PEER_REPLACED, S.CLOSED, _replaced),
        *common.leaving(_removed, S.AWAITING, S.CONFIRMING, S.OPEN),
    ),
    waits={S.AWAITING: "handshake_timeout", S.CONFIRMING: "accept_timeout"},
)
