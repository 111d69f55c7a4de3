"""The settings of a hub."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcpframe.hub.core import limits
from mcpframe.hub.core.interfaces import Consents
from mcpframe.hub.core.names import TabNumbers


@dataclass(frozen=True)
class HubOptions:
    """The settings of a hub. The default numbers are in `hub.core.limits`.

    Attributes:
        longest_name: The longest name of a tool; use 64 if clients demand it.
        request_seconds: How long a tab may take for a call, or between two of its progress notifications.
        connect_seconds: How long a connected tab may take to register the called tool.
        start_seconds: How long an opened or reloaded tab may take to register its first tools.
        first_seconds: How long lists of tools wait, after the start, for the tabs open then.
        load_seconds: How long a tab may take to load.
        load_retries: The number of retries of loading.
        retry_seconds: The pause before a retry.
        most_sends: How often a repeatable call is sent at most, if its tab ends.
        allows: Returns whether the tools of a page are accepted, given its address.
        consents: Asked before a call is sent; None to allow all calls.
        numbers: The numbers of tabs in names, if they outlast the hub; None for new ones.
        own_numbers: Whether the tabs' ids are their numbers in names, as in a page hub, whose tabs are of one domain.
    """

    longest_name: int = limits.NAME_CHARACTERS
    request_seconds: float = limits.REQUEST_SECONDS
    connect_seconds: float = limits.CONNECT_SECONDS
    start_seconds: float = limits.TAB_START_SECONDS
    first_seconds: float = limits.FIRST_LIST_SECONDS
    load_seconds: float = limits.LOAD_SECONDS
    load_retries: int = limits.LOAD_RETRIES
    retry_seconds: float = limits.RETRY_SECONDS
    most_sends: int = limits.CALL_SENDS
    allows: Callable[[str], bool] = lambda url: True
    consents: Consents | None = None
    numbers: TabNumbers | None = None
    own_numbers: bool = False
