"""All items of a server's paginated list, in their form on the wire."""

from __future__ import annotations

from typing import Any

from mcpframe.frame.core.jsonrpc import METHOD_NOT_FOUND
from mcpframe.frame.core.paging import Paging
from mcpframe.kit.base.deadline import within
from mcpframe.kit.base.errors import CallError
from mcpframe.kit.base.limits import LIST_SECONDS, SERVER_PAGES


async def list_all(ask: Any, kind: str, *, patience: float = LIST_SECONDS) -> list[dict[str, Any]]:
    """Return the items of all pages of a list, in their form on the wire.

    Args:
        ask: A listing method of `mcp.Client`, such as `list_tools`.
        kind: The attribute of its result that holds the items.
        patience: Seconds for all pages together.

    Raises:
        CallError: The server answers with an error or something invalid, the list does not end, or did not arrive in
            time.
    """
    name = kind.replace("_", " ")

    def expired() -> CallError:
        return CallError(f"The server has not listed its {name} within {patience:g} s: check what its code waits for.")

    from mcp.shared.exceptions import MCPError
    from pydantic import ValidationError

    try:
        async with within(patience, expired):
            return await _all_pages(ask, kind, name)
    except MCPError as error:
        reason = str(error).rstrip(".")
        raise CallError(f"The server answers with an error where its {name} are listed: {reason}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise CallError(
            f"The server's list of {name} is not one of MCP ({place}: {first['msg']}): its SDK or code has a fault."
        ) from error


async def list_or_problem(ask: Any, kind: str, *, offered: object = True) -> tuple[list[dict[str, Any]], str]:
    """Return the items of a list like `list_all`, and why it could not be read; empty if it could.

    Each list is its own: one that fails leaves the others as they are. A server without the method has no items: one
    with resources need not list templates.

    Args:
        offered: Whether the server announces such items; false for no request.
    """
    from mcp.shared.exceptions import MCPError

    if not offered:
        return [], ""
    try:
        return await list_all(ask, kind), ""
    except CallError as error:
        cause = error.__cause__
        lacks_it = isinstance(cause, MCPError) and cause.error.code == METHOD_NOT_FOUND
        return [], "" if lacks_it else str(error)


async def _all_pages(ask: Any, kind: str, name: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    pages = Paging(SERVER_PAGES)
    while pages.more:
        page = await ask(cursor=pages.cursor)
        items += [on_the_wire(item) for item in getattr(page, kind)]
        pages.follow(page.next_cursor)
    if pages.endless:
        raise CallError(f"The server's list of {name} has no end: fix its pagination.")
    return items


def on_the_wire(item: Any) -> dict[str, Any]:
    """Return an object of the SDK in its form on the wire."""
    dumped: dict[str, Any] = item.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped
