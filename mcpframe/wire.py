"""Messages and events between a page and its host, for tools that show or record them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpframe import on_demand

if TYPE_CHECKING:
    from mcpframe.frame.core.dialect import Dialect as Dialect
    from mcpframe.frame.core.events import Closed as Closed
    from mcpframe.frame.core.events import Opened as Opened
    from mcpframe.frame.core.events import Refused as Refused
    from mcpframe.frame.core.events import Unresponsive as Unresponsive
    from mcpframe.frame.core.events import Wire as Wire
    from mcpframe.frame.core.events import Withdrawn as Withdrawn
    from mcpframe.frame.core.payload import check_text as check_text
    from mcpframe.frame.core.places import NoHandshake as NoHandshake
    from mcpframe.frame.core.places import VisibilityChanged as VisibilityChanged
    from mcpframe.frame.core.setup import SetupCompleted as SetupCompleted
    from mcpframe.frame.core.setup import SetupErrorCode as SetupErrorCode
    from mcpframe.frame.core.setup import SetupReason as SetupReason
    from mcpframe.frame.core.setup import SetupRequired as SetupRequired
    from mcpframe.frame.core.setup import SetupResult as SetupResult
    from mcpframe.frame.core.setup import SetupStarted as SetupStarted
    from mcpframe.frame.core.setup import Visibility as Visibility
    from mcpframe.frame.dialects.available import dialect as dialect
    from mcpframe.frame.session.wire import WireMessage as WireMessage
    from mcpframe.frame.session.wire import bare_body as bare_body
    from mcpframe.frame.session.wire import body_text as body_text
    from mcpframe.frame.session.wire import read_wire as read_wire
    from mcpframe.frame.waiting.token_bucket import TokenBucket as TokenBucket
else:
    __getattr__, __dir__ = on_demand(__name__)
