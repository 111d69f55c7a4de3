"""Keep the files of a session in the browser while it is served: see `persist`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcpframe.frame.boot.author_page import open_storage
from mcpframe.frame.storage.kept_files import Report, SavingWriter, keeping

if TYPE_CHECKING:
    from mcpframe.frame.session.interfaces import Messages
    from mcpframe.frame.session.session import Session

BUNDLED_WITH = ("persist",)


@asynccontextmanager
async def keeping_files(
    paths: Sequence[str], session: Session, messages: Messages, report: Report
) -> AsyncIterator[tuple[Any, Any]]:
    """Restore the files of a session, and store their changes during the block.

    Args:
        paths: `persist` of the configuration.
        session: the session.
        messages: the form of messages on its streams.
        report: called with a sentence and details about a file that cannot be kept.

    Yields:
        The streams of the session; changes are stored before an answer is sent.
    """
    from mcpframe.frame.browser.leaving import on_hidden

    read, write = session.streams
    async with keeping(paths, session.id, open_storage, report, on_hidden) as files:
        yield read, SavingWriter(write, files, messages.members)
