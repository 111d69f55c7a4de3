"""The callers of one page or process, for `frame.core.callers`: an edge says in each request whose it is.

The server sees no names: users are told apart by a digest with a key of this process.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any, Final

from mcpframe.frame.core.callers import Named, with_caller
from mcpframe.kit.edges.http.principal import LOCAL, current_user

_KEY: Final = secrets.token_bytes(32)


def from_current_user(params: Mapping[str, Any] | None, name: str) -> dict[str, Any]:
    """Return the parameters of a request, with the user whose request is handled.

    Args:
        name: The name of this bridge or process among several; empty for none.
    """
    user = current_user()
    digest = "" if user == LOCAL else hashlib.blake2b(user.encode(), key=_KEY, digest_size=16).hexdigest()
    return with_caller(params, Named(digest, name))
