"""The address of the server that this page frames: it is part of the bundle, and never taken from a link."""

import json

from mcpframe import errors
from mcpframe.hosts import parse_address


def read_server(text: str, own_origin: str) -> str:
    """Return the server's address from the content of `addresses.json`.

    Args:
        text: The content.
        own_origin: The origin of this page. The server may not have it: such a page could access this one.

    Raises:
        errors.OriginError: The address is missing, cannot be framed, or is of this page's own origin.
    """
    try:
        address = json.loads(text)["server"]
    except (ValueError, TypeError, KeyError):
        address = None
    if not isinstance(address, str):
        raise errors.OriginError('addresses.json has to be {"server": "https://…"}, with the address of the server.')
    if parse_address(address)[1] == own_origin:
        raise errors.OriginError(
            f"The server at {address} is of this page's own origin, so that no sandbox would hold it: serve it at "
            "another one, and put that into addresses.json and frame_src."
        )
    return address
