"""The settings of a hub."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mcpframe.hub.core.interfaces import Consents
from mcpframe.hub.core.names import LONGEST_NAME, TabNumbers


@dataclass(frozen=True)
class HubOptions:
    """The settings of a hub.

    Attributes:
        longest_name: The longest name of a tool; 64 where clients demand it.
        request_seconds: How long a tab may take for a call, or between two messages about its progress.
        connect_seconds: How long a tab that is connected may take to register the tool that is called.
        start_seconds: How long a tab that was opened, or is loaded again, may take to register its first tools.
        first_seconds: How long lists of tools wait, after the start, for the tabs that were open then.
        load_seconds: How long a tab may take to load.
        load_retries: How often loading is tried again.
        retry_seconds: How long to wait before that.
        most_sends: How often a call is sent at most, if its tab ends and its tool may be called again.
        allows: Whether the tools of a page are taken, by its address.
        consents: Asked before a call is sent; None for no need to ask.
        numbers: The numbers of tabs in names, where they outlast the hub; None for new ones.
        own_numbers: Whether the tabs' ids are their numbers in names, as in a page, whose tabs are of one domain.
    """

    longest_name: int = LONGEST_NAME
    request_seconds: float = 10.0
    connect_seconds: float = 2.0
    start_seconds: float = 2.0
    first_seconds: float = 5.0
    load_seconds: float = 30.0
    load_retries: int = 3
    retry_seconds: float = 1.0
    most_sends: int = 3
    allows: Callable[[str], bool] = lambda url: True
    consents: Consents | None = None
    numbers: TabNumbers | None = None
    own_numbers: bool = False
