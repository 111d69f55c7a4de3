"""Where a page keeps the values of a session: in the browser, or in memory where the page has no storage."""

from __future__ import annotations

import logging

from mcpframe.frame.storage.values import Storage

log = logging.getLogger(__name__)


def open_storage(session_id: str) -> Storage:
    """Return the values of a session in this page.

    Args:
        session_id: whose values.
    """
    from mcpframe.frame.browser import storage as browser_storage

    texts = browser_storage.local_storage()
    if texts is None:
        log.warning(
            "This page has no storage, so that what the session keeps is gone with the page: the sandbox lacks "
            "allow-same-origin, or the browser blocks the storage of pages that another site frames."
        )
        return Storage(session_id)
    return Storage(session_id, texts, browser_storage.Database(), browser_storage.page_locks())
