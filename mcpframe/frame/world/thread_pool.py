"""The module `multiprocessing.pool` for a page: `ThreadPool`, over `ThreadPoolExecutor`; a `Pool` has no processes.

Python's own needs pipes and semaphores of the system, and threads besides its workers, which not all browsers can run.
The classes and arguments are those of Python's documentation; a chunk has one item.
"""

import errno as _errno
import multiprocessing as _multiprocessing
import os as _os
import queue as _queue
import threading as _threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future as _Future
from concurrent.futures import ThreadPoolExecutor as _ThreadPoolExecutor
from concurrent.futures import wait as _wait
from typing import Any, NoReturn

from mcpframe.frame.compat.process import NO_PROCESSES as _NO_PROCESSES

__all__ = ["Pool", "ThreadPool"]


class ProcessPool:
    """A pool of processes, which a page has not."""

    def __init__(self, *_: object, **__: object) -> None:
        raise OSError(_errno.ENOSYS, _NO_PROCESSES)


Pool = ProcessPool


class AsyncResult:
    """The result of calls that a pool runs.

    Args:
        futures: the calls.
        result: makes the result of theirs.
        callback: is called with the result.
        error_callback: is called with the first error.
    """

    def __init__(
        self,
        futures: "list[_Future[Any]]",
        result: Callable[[list[Any]], Any],
        callback: Callable[[Any], object] | None,
        error_callback: Callable[[BaseException], object] | None,
    ) -> None:
        self._futures, self._result = futures, result
        self._callbacks = callback, error_callback
        self._left = len(futures)
        self._done = _threading.Event()
        for future in futures:
            future.add_done_callback(self._count)
        if not futures:
            self._end()

    def _count(self, _: object) -> None:
        self._left -= 1
        if not self._left:
            self._end()

    def _end(self) -> None:
        callback, error_callback = self._callbacks
        try:
            if (error := self._error()) is None:
                if callback:
                    callback(self._result([future.result() for future in self._futures]))
            elif error_callback:
                error_callback(error)
        finally:
            self._done.set()

    def _error(self) -> BaseException | None:
        return next((error for future in self._futures if (error := future.exception())), None)

    def ready(self) -> bool:
        """Return whether all calls have ended."""
        return self._done.is_set()

    def successful(self) -> bool:
        """Return whether no call has raised. Raises ValueError if they have not ended."""
        if not self.ready():
            raise ValueError(f"{self!r} not ready")
        return self._error() is None

    def wait(self, timeout: float | None = None) -> None:
        """Wait until all calls have ended, or the seconds have passed."""
        self._done.wait(timeout)

    def get(self, timeout: float | None = None) -> Any:
        """Return the result, or raise the first error. Raises multiprocessing.TimeoutError after the seconds."""
        self.wait(timeout)
        if not self.ready():
            raise _multiprocessing.TimeoutError
        if error := self._error():
            raise error
        return self._result([future.result() for future in self._futures])


ApplyResult = MapResult = AsyncResult


class IMapIterator:
    """The results of calls, each as soon as it is there.

    Args:
        futures: the calls.
        unordered: whether results come in the order in which calls end.
    """

    def __init__(self, futures: "list[_Future[Any]]", *, unordered: bool) -> None:
        self._left = len(futures)
        self._next: _queue.SimpleQueue[_Future[Any]] = _queue.SimpleQueue()
        self._unordered = unordered
        for future in futures:
            if unordered:
                future.add_done_callback(self._next.put)
            else:
                self._next.put(future)
        self._head: _Future[Any] | None = None

    def __iter__(self) -> "IMapIterator":
        return self

    def __next__(self) -> Any:
        return self.next()

    def next(self, timeout: float | None = None) -> Any:
        """Return the next result, or raise its error. Raises multiprocessing.TimeoutError after the seconds."""
        if not self._left:
            raise StopIteration
        try:
            self._head = self._head or self._next.get(timeout=timeout)
        except _queue.Empty:
            raise _multiprocessing.TimeoutError from None
        if not _wait([self._head], timeout).done:
            raise _multiprocessing.TimeoutError
        future, self._head = self._head, None
        self._left -= 1
        return future.result()


class ThreadPool:
    def __init__(
        self,
        processes: int | None = None,
        initializer: Callable[..., object] | None = None,
        initargs: Iterable[Any] = (),
    ) -> None:
        if processes is not None and processes < 1:
            raise ValueError("Number of processes must be at least 1")
        self._threads = _ThreadPoolExecutor(
            processes or _os.cpu_count() or 1, "ThreadPool", initializer, tuple(initargs)
        )
        self._is_open = True

    def _submit(self, func: Callable[..., Any], calls: "Iterable[tuple[Iterable[Any], dict[str, Any]]]") -> Any:
        if not self._is_open:
            raise ValueError("Pool not running")
        return [self._threads.submit(func, *args, **kwds) for args, kwds in calls]

    def apply(self, func: Callable[..., Any], args: Iterable[Any] = (), kwds: dict[str, Any] | None = None) -> Any:
        """Call a function, and return its result."""
        return self.apply_async(func, args, kwds).get()

    def apply_async(
        self,
        func: Callable[..., Any],
        args: Iterable[Any] = (),
        kwds: dict[str, Any] | None = None,
        callback: Callable[[Any], object] | None = None,
        error_callback: Callable[[BaseException], object] | None = None,
    ) -> AsyncResult:
        """Call a function in a thread."""
        return AsyncResult(self._submit(func, [(args, kwds or {})]), lambda each: each[0], callback, error_callback)

    def map(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int | None = None) -> list[Any]:
        """Call a function with each item, and return the list of results."""
        return self.map_async(func, iterable).get()  # type: ignore[no-any-return]

    def map_async(self, func: Callable[..., Any], iterable: Iterable[Any], *args: Any, **kwds: Any) -> AsyncResult:
        """Call a function with each item, in threads; see `starmap_async`."""
        return self.starmap_async(func, ((item,) for item in iterable), *args, **kwds)

    def starmap(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int | None = None) -> list[Any]:
        """Call a function with the arguments in each item, and return the list of results."""
        return self.starmap_async(func, iterable).get()  # type: ignore[no-any-return]

    def starmap_async(
        self,
        func: Callable[..., Any],
        iterable: Iterable[Any],
        chunksize: int | None = None,
        callback: Callable[[Any], object] | None = None,
        error_callback: Callable[[BaseException], object] | None = None,
    ) -> AsyncResult:
        """Call a function with the arguments in each item, in threads."""
        return AsyncResult(self._submit(func, ((item, {}) for item in iterable)), list, callback, error_callback)

    def imap(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int = 1) -> IMapIterator:
        """Call a function with each item, and iterate over the results in their order."""
        return IMapIterator(self._submit(func, (((item,), {}) for item in iterable)), unordered=False)

    def imap_unordered(self, func: Callable[..., Any], iterable: Iterable[Any], chunksize: int = 1) -> IMapIterator:
        """Call a function with each item, and iterate over the results as they come."""
        return IMapIterator(self._submit(func, (((item,), {}) for item in iterable)), unordered=True)

    def close(self) -> None:
        """Accept no further calls."""
        self._is_open = False
        self._threads.shutdown(wait=False)

    def terminate(self) -> None:
        """Accept no further calls, and drop those that have not begun."""
        self._is_open = False
        self._threads.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait until all threads have ended. Raises ValueError before `close` or `terminate`."""
        if self._is_open:
            raise ValueError("Pool is still running")
        self._threads.shutdown(wait=True)

    def __enter__(self) -> "ThreadPool":
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()

    def __reduce__(self) -> NoReturn:
        raise NotImplementedError("pool objects cannot be passed between processes or pickled")
