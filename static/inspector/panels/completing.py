"""Completions of a server for the fields of a form."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import mcp_types as types
from mcp.shared.exceptions import MCPError

from connection import Connection
from panels.calling import Calling


def offer_completions(
    connection: Connection,
    calling: Calling,
    reference: types.PromptReference | types.ResourceTemplateReference,
    names: Sequence[str],
) -> None:
    """Offer the server's completions, if it has any.

    Args:
        connection: the connection to the server.
        calling: the request with the form.
        reference: the prompt or the resource template.
        names: the fields.
    """
    client, form = connection.client, calling.form
    if client is None or client.server_capabilities.completions is None or form is None:
        return

    async def complete(name: str, typed: str) -> list[str]:
        if connection.client is None:
            return []
        try:
            result = await connection.client.complete(reference, {"name": name, "value": typed})
        except MCPError:
            return []  # completions are optional: the field takes any text
        return list(result.completion.values)

    for name in names:
        form.complete(name, partial(complete, name))
