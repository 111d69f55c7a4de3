"""The connections of urllib3 1.x, and so of requests with it, over fetch.

They are connections of `http.client` that create their sockets themselves: here `http_client` does, and failures and
the final address take urllib3's form.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from mcpframe.frame.browser.http_exchange import Network
from mcpframe.frame.compat.http.http_client import AnswerFile


class PartsOfAnswer:
    """The file of an answer, read in parts as they arrive, as in urllib3 2.x.

    Args:
        file: the file, whose `read` waits for the requested size.
    """

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self, size: int | None = -1) -> bytes:
        """Return at most this many bytes, or all."""
        part: bytes = self._file.read1(size) if size is not None and size > 0 else self._file.read(size)
        return part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def fit(module: ModuleType, network: Network) -> None:
    """Let the connections of urllib3 1.x send; those of 2.x are unchanged.

    Args:
        module: `urllib3.connection`.
        network: Not used: `http.client` sends.
    """
    connection: Any = getattr(module, "HTTPConnection")  # noqa: B009
    if not hasattr(connection, "_prepare_conn"):
        return
    client: Any = import_module("http.client")
    errors: Any = import_module("urllib3.exceptions")
    original = connection.getresponse

    def getresponse(self: Any) -> Any:
        try:
            response = original(self)
        except TimeoutError:
            raise
        except OSError as failure:
            raise errors.NewConnectionError(self, str(failure)) from None
        if response.fp is not None:
            response.fp = PartsOfAnswer(response.fp)
        return response

    def connect(self: Any) -> None:
        self.is_verified = True  # by the browser
        client.HTTPSConnection.connect(self)

    connection.connect = client.HTTPConnection.connect
    connection.getresponse = getresponse
    getattr(module, "HTTPSConnection").connect = connect  # noqa: B009


def fit_responses(module: ModuleType, network: Network) -> None:
    """Set the final address of responses of urllib3 1.x.

    Args:
        module: `urllib3.response`.
        network: Not used.
    """
    response: Any = getattr(module, "HTTPResponse")  # noqa: B009
    if not hasattr(response, "from_httplib"):
        return
    original = response.from_httplib.__func__

    def from_httplib(cls: Any, /, answer: Any, **options: Any) -> Any:
        file = getattr(answer.fp, "raw", None)  # before it is read to its end, which closes it
        response = original(cls, answer, **options)
        if isinstance(file, AnswerFile):
            response.url = response._request_url = file.url
        return response

    response.from_httplib = classmethod(from_httplib)
