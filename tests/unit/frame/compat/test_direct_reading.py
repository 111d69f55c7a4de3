"""A server that reads its client's stream itself decides the era, keeps the order, and ends as the SDK's does."""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import anyio
import pytest
from mcp.server import runner
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcpframe.frame.compat.direct_reading import _from_opening_request, read_directly
from mcpframe.frame.session.incoming import Incoming

NOTE: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def original() -> Any:
    """Return the SDK's function, which other tests may have replaced by now."""
    spec = spec_from_file_location("runner_as_it_is", runner.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module._replay_from_opening_request


def request(number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "tools/list"}


def message(body: dict[str, Any]) -> SessionMessage:
    return SessionMessage(jsonrpc_message_adapter.validate_python(body))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([request(1)], [request(2), NOTE, request(3)]),
        ([NOTE] * 3 + [request(1)], [NOTE]),
        ([NOTE] * 12 + [request(1)], [request(2)]),
        ([NOTE, ValueError("no message"), request(1)], []),
        ([NOTE], []),
        ([], []),
    ],
)
async def test_the_server_gets_what_the_original_gives_it(before: list[Any], after: list[Any]) -> None:
    items = [each if isinstance(each, Exception) else message(each) for each in (*before, *after)]
    got = []
    for replay in (original(), _from_opening_request):
        stream = Incoming()
        for item in items:
            stream.put(item)
        stream.end()
        async with replay(stream) as (opening, replayed), replayed:
            got.append((opening, [item async for item in replayed]))
        with pytest.raises(anyio.ClosedResourceError):
            await stream.receive()
    assert got[0] == got[1]
    assert got[0][0] is (items[len(before) - 1].message if request(1) in before else None)


async def test_the_reader_may_be_cancelled_before_the_first_request() -> None:
    stream = Incoming()
    with anyio.move_on_after(0):
        async with _from_opening_request(stream):
            pytest.fail("there was no request")
    assert not stream.put(message(NOTE))


def test_the_sdk_has_the_function_that_is_replaced() -> None:
    read_directly()
    assert runner._replay_from_opening_request is _from_opening_request  # type: ignore[comparison-overlap]
