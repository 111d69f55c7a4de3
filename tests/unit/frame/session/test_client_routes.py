"""Which client a message belongs to, where several use one window; and how each is served."""

from __future__ import annotations

from typing import Any

import pytest

from mcpframe.frame.core.errors import UnexpectedMessage
from mcpframe.frame.session.client_routes import PageClient, Routes

Json = dict[str, Any]


def request(id_: Any, method: str = "tools/list", **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method, **({"params": params} if params else {})}


def stateless(id_: Any, method: str = "tools/list") -> Json:
    return request(id_, method, _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})


def answer(id_: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "result": {}}


def owner(routes: Routes, message: Json) -> int | None:
    found = routes.inbound(message)
    return found[0].number if found else None


def two() -> tuple[Routes, PageClient, PageClient]:
    routes = Routes(8)
    for _ in range(2):
        routes.inbound(request(0, "initialize"))
    one, other = routes.clients
    return routes, one, other


def test_each_initialize_begins_a_client() -> None:
    routes = Routes(8)
    assert [owner(routes, request(id_, "initialize")) for id_ in (0, 0, "a")] == [1, 2, 3]


def test_a_client_that_does_not_initialize_is_served() -> None:
    assert owner(Routes(8), request(1)) == 1


def test_requests_belong_to_the_client_that_counts_on_and_others_to_the_newest() -> None:
    routes, _, _ = two()
    assert owner(routes, request(1)) == 2
    assert owner(routes, request(2)) == 2
    assert owner(routes, request(1)) == 1
    assert owner(routes, request(77)) == 2
    assert owner(routes, {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}) == 2


def test_a_client_counts_on_over_requests_that_never_came() -> None:
    routes, _, _ = two()
    assert [owner(routes, request(id_)) for id_ in (1, 2, 3, 4, 5, 1)] == [2, 2, 2, 2, 2, 1]
    assert [owner(routes, request(id_)) for id_ in (3, 8, 5)] == [1, 2, 1]


def test_requests_with_their_revision_need_no_session_and_share_one() -> None:
    routes, _, _ = two()
    assert owner(routes, request(0, "server/discover")) == 3
    assert owner(routes, stateless(1)) == 3
    assert owner(routes, stateless(2)) == 3
    assert owner(routes, request(1)) == 2
    assert owner(routes, stateless(2, "initialize")) == 4


def test_senders_without_a_session_may_use_the_same_id_up_to_a_limit() -> None:
    routes = Routes(2)
    assert [owner(routes, stateless(1)) for _ in range(2)] == [1, 2]
    with pytest.raises(UnexpectedMessage):
        routes.inbound(stateless(1))
    assert owner(routes, stateless(2)) == 1
    routes.outbound(routes.clients[1], answer(1))
    assert owner(routes, stateless(1)) == 2


def test_an_id_that_is_pending_in_every_session_is_refused() -> None:
    routes, one, other = two()
    assert [owner(routes, request("a")) for _ in range(2)] == [other.number, one.number]
    with pytest.raises(UnexpectedMessage):
        routes.inbound(request("a"))
    assert owner(routes, request("a", "initialize")) == 3
    routes.outbound(one, answer("a"))
    assert owner(routes, request("a")) == one.number


def test_an_answer_belongs_to_the_client_that_was_asked() -> None:
    routes, one, other = two()
    asked = [routes.outbound(client, request(5, "sampling/createMessage")) for client in (one, other)]
    ids = [message["id"] for message in asked if message]
    assert ids[0] == 5
    assert len(set(ids)) == 2
    for client, id_ in ((other, ids[1]), (one, ids[0])):
        found = routes.inbound(answer(id_))
        assert found == (client, answer(5))
    assert routes.inbound(answer(ids[0])) is None, "it is answered already"


def test_progress_and_cancellations_belong_to_whom_they_name() -> None:
    routes, one, other = two()
    asked = routes.outbound(other, request(5, "sampling/createMessage", _meta={"progressToken": 5}))
    assert asked is not None
    token = asked["params"]["_meta"]["progressToken"]
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token}}
    found = routes.inbound(progress)
    assert found is not None
    assert (found[0], found[1]["params"]["progressToken"]) == (other, 5)
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    withdrawn = routes.outbound(other, cancelled)
    assert withdrawn is not None
    assert withdrawn["params"]["requestId"] == asked["id"]
    routes.inbound(request(1))
    routes.inbound(request(1))
    assert routes.inbound({**cancelled, "params": {"requestId": 1}}) is None, "it could be of either"
    routes.outbound(other, answer(1))
    assert owner(routes, {**cancelled, "params": {"requestId": 1}}) == one.number
    assert routes.inbound({**cancelled, "params": {"requestId": "unknown"}}) is None


def test_a_changed_list_is_announced_by_whichever_session_has_changed_it() -> None:
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    routes, *clients = two()
    for client in clients:
        assert routes.outbound(client, changed) == changed


def test_the_oldest_client_that_has_nothing_to_answer_makes_room() -> None:
    routes = Routes(2)
    routes.inbound(request(0, "initialize"))
    first = routes.clients[0]
    routes.inbound(request(0, "initialize"))
    second = routes.clients[1]
    routes.outbound(second, answer(0))
    assert routes.surplus is None
    routes.inbound(request(0, "initialize"))
    assert routes.surplus is second, "the first has not been answered yet"
    routes.outbound(first, answer(0))
    assert routes.surplus is first
    routes.gone(first)
    assert routes.surplus is None


def test_of_a_program_one_client_is_served_at_a_time() -> None:
    routes = Routes(1)
    assert owner(routes, request(0, "server/discover")) == 1
    assert owner(routes, request(1, "initialize")) == 2
    assert routes.surplus is routes.clients[0]


def test_each_client_is_told_of_capabilities_beyond_those_of_mcp() -> None:
    routes = Routes(8, {"browser": {"cacheSupported": True}})
    for method in ("initialize", "server/discover"):
        routes.inbound(request("a", method))
        said = routes.outbound(routes.clients[-1], {**answer("a"), "result": {"capabilities": {"tools": {}}}})
        assert said is not None
        assert said["result"]["capabilities"] == {"tools": {}, "browser": {"cacheSupported": True}}
    refused = {"jsonrpc": "2.0", "id": "a", "error": {"code": -32602, "message": "no"}}
    routes.inbound(request("a", "initialize"))
    assert routes.outbound(routes.clients[-1], refused) == refused
    routes.inbound(request(1))
    other = {**answer(1), "result": {"capabilities": {}}}
    assert routes.outbound(routes.clients[-1], other) == other, "a result of another request"
