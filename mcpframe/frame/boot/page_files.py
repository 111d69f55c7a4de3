"""Keep the files of a session in the browser while it is served, in its page or in a worker: see `persist`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcpframe.frame.storage.kept_files import OnHidden, Report, SavingWriter, keeping

if TYPE_CHECKING:
    from mcpframe.frame.session.interfaces import Messages
    from mcpframe.frame.storage.values import Storage

BUNDLED_WITH = ("persist",)


@asynccontextmanager
async def keeping_files(
    paths: Sequence[str],
    session_id: str,
    streams: tuple[Any, Any],
    messages: Messages,
    report: Report,
    open_storage: Callable[[str], Storage],
    on_hidden: OnHidden,
) -> AsyncIterator[tuple[Any, Any]]:
    """Restore the files of a session, and store their changes during the block.

    Args:
        paths: `persist` of the configuration.
        session_id: its id.
        streams: its streams.
        messages: the form of messages on them.
        report: called with a sentence and details about a file that cannot be kept.
        open_storage: returns the values under a key.
        on_hidden: see `keeping`.

    Yields:
        The streams of the session; changes are stored before an answer is sent.
    """
    read, write = streams
    async with keeping(paths, session_id, open_storage, report, on_hidden) as files:
        yield read, SavingWriter(write, files, messages.members)
