"""Functions that run in a worker for its page: the worker's half of `pool`."""

from __future__ import annotations

import base64
import io
import logging
import pickle
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from mcpframe.frame.worker.port import read, text_of

_initialized: set[str] = set()


class RemoteTraceback(Exception):
    """The cause of an exception that was raised in a worker: its text is the traceback there."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


@dataclass(frozen=True)
class Returned:
    """The result of a function, or its exception.

    Attributes:
        result: the result.
        error: the exception; None for none.
        traceback: its traceback, as text.
    """

    result: Any = None
    error: BaseException | None = None
    traceback: str = ""

    def get(self) -> Any:
        """Return the result, or raise the exception."""
        if self.error is not None:
            self.error.__cause__ = RemoteTraceback(self.traceback)
            raise self.error
        return self.result


class _Lines(io.TextIOBase):
    def __init__(self, on_line: Callable[[str], None]) -> None:
        self._on_line = on_line
        self._partial = ""

    def write(self, text: str) -> int:
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            self._on_line(line)
        return len(text)

    def close(self) -> None:
        if self._partial:
            self.write("\n")
        super().close()


class _Records(logging.Handler):
    def __init__(self, post: Callable[[str], None]) -> None:
        super().__init__()
        self._post = post

    def emit(self, record: logging.LogRecord) -> None:
        where = record.pathname, record.lineno
        self._post(text_of("logged", record.name, record.levelno, self.format(record), *where))


class FunctionRunner:
    """Runs one function after the other."""

    def __init__(self, post: Callable[[str], None]) -> None:
        """Begin.

        Args:
            post: sends the page a text.
        """
        self._post = post
        logging.getLogger().addHandler(_Records(post))

    def take(self, text: str) -> None:
        """Run the function in a text of the page, and post its outcome."""
        _, _, message = read(text)
        printed = _Lines(lambda line: self._post(text_of("printed", line)))
        complained = _Lines(lambda line: self._post(text_of("complained", line)))
        with redirect_stdout(printed), redirect_stderr(complained):
            outcome = _run(base64.b64decode(message))
        printed.close()
        complained.close()
        try:
            pickled = pickle.dumps(outcome, pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # noqa: BLE001  any object may refuse to be pickled
            what = type(outcome.error or outcome.result).__name__
            failure = TypeError(f"{what} cannot be sent to the page: {error}")
            if outcome.error is not None:
                failure = TypeError(f"{what}: {outcome.error}")
            pickled = pickle.dumps(Returned(error=failure, traceback=outcome.traceback), pickle.HIGHEST_PROTOCOL)
        self._post(text_of("done", message=base64.b64encode(pickled).decode()))


def _run(request: bytes) -> Returned:
    try:
        func, args = pickle.loads(request)  # noqa: S301  of our own page
        return Returned(func(*args))
    except BaseException as error:  # noqa: BLE001  raised again in the page
        text = traceback.format_exc()
        error.__traceback__ = None
        return Returned(error=error, traceback=text)


def initialized(
    key: str, initializer: Callable[..., object], initargs: tuple[Any, ...], work: Callable[[], Any]
) -> Any:
    """Call a function in a worker that a pool has initialized.

    Args:
        key: the pool's.
        initializer: called before its first function in this worker.
        initargs: its arguments.
        work: the function.
    """
    if key not in _initialized:
        _initialized.add(key)
        initializer(*initargs)
    return work()
