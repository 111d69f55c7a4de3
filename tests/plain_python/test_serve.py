"""One process: every revision, the user's values, and who is answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types.jsonrpc import HEADER_MISMATCH

from mcpframe import Tasks
from tests.plain_python.programs import ERAS, FOLDER, PATIENCE, by_hand, connected, refused, served, value
from tests.support.foreign_requests import refused_before_their_bodies
from tests.support.takes_tasks import TakesTasks, TaskClient

COUNTER = str(FOLDER / "counter.py")
ADA, BOB = "a" * 32, "b" * 32
SET_LEVEL = types.SetLevelRequest(params=types.SetLevelRequestParams(level="info"))
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("values")


@pytest.fixture(scope="module")
def address(values: Path) -> Iterator[str]:
    with served(COUNTER, "--storage", str(values)) as found:
        yield found


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_is_the_same_over_http(address: str, era: str) -> None:
    heard: list[Any] = []

    async def log(params: Any) -> None:
        heard.append(params.data)

    async def progress(*reported: Any) -> None:
        heard.append(reported)

    async with connected(address, era, answers={"age": 7}, logging_callback=log) as client:
        assert await value(client, "ask_twice") == "[7, 7] local"
        assert await value(client, "ask_before") == 7
        if era == "legacy":
            await client.session.send_request(SET_LEVEL, types.EmptyResult)
        meta = {"io.modelcontextprotocol/logLevel": "info"} if era != "legacy" else {}
        result = await client.call_tool("speak", {}, meta=meta, progress_callback=progress)
        assert result.structured_content == {"result": "spoken"}
        assert heard == ["printed", "logged", (1, 2, "half")]
    async with connected(address, era) as client:
        assert await value(client, "ask_twice") == "[None, None] local"


async def test_values_outlive_clients_and_the_process(address: str, values: Path) -> None:
    for number, era in enumerate(ERAS, 1):
        async with connected(address, era) as client:
            assert await value(client, "count") == number
    with served(COUNTER, "--storage", str(values)) as again:
        async with connected(again) as client:
            assert await value(client, "count") == 3


async def test_only_this_machine_is_answered(address: str) -> None:
    async with httpx2.AsyncClient(trust_env=False) as http:
        assert (await http.get(address.replace("/mcp", "/healthz"))).text == "alive"
        for headers in ({"Host": "rebound.example"}, {"Origin": "https://rebound.example"}):
            answer = await http.post(address, json=PING, headers=headers)
            assert answer.status_code in (403, 421)


async def test_a_foreign_request_is_refused_before_its_body(address: str) -> None:
    await refused_before_their_bodies(address, PATIENCE)


async def test_the_world_is_answered_by_token(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# users\nada {ADA}\nbob {BOB}\n")
    where = ("--storage", str(tmp_path), "--tokens", str(tokens), "--host", "0.0.0.0", "--public-host", "mcp.example")
    with served(COUNTER, *where) as found:
        address = found.replace("0.0.0.0", "127.0.0.1")
        async with httpx2.AsyncClient(trust_env=False) as http:
            for given in ("", "Bearer", f"Bearer {ADA[:-1]}", f"Bearer {ADA}x", f"Basic {ADA}"):
                answer = await http.post(address, json=PING, headers={"Authorization": given} if given else {})
                assert (answer.status_code, answer.headers["www-authenticate"][:6]) == (401, "Bearer")
            headers = {"Authorization": f"Bearer {ADA}", "Accept": "application/json, text/event-stream"}
            for host, status in (("mcp.example", 400), ("other.example", 421)):  # 400: it is not `initialize`
                answer = await http.post(address, json=PING, headers={**headers, "Host": host})
                assert answer.status_code == status
        for era in ERAS:
            async with connected(address, era, ADA, {"age": 3}) as ada, connected(address, era, BOB) as bob:
                assert await value(ada, "whose") == "ada"
                assert await value(ada, "ask_twice") == "[3, 3] ada"
                assert await value(bob, "whose") == "bob"
                counts = [await value(client, "count") for client in (ada, ada, bob)]
                assert counts == ([1, 2, 1] if era == ERAS[0] else [3, 4, 2])
        await check_that_a_task_is_its_users_alone(address)


async def check_that_a_task_is_its_users_alone(address: str) -> None:
    taking: dict[str, Any] = {"extensions": [TakesTasks()], "cache": None}
    async with connected(address, ERAS[0], ADA, **taking) as ada, connected(address, ERAS[0], BOB, **taking) as bob:
        owner, other = TaskClient(ada), TaskClient(bob)
        id_ = (await owner.begin("wait"))["taskId"]
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            with pytest.raises(MCPError, match="no such task"):
                await other.ask(method, id_, inputResponses={})
        assert (await owner.ask("tasks/get", id_))["status"] == "working"
        for named, code in ((id_, None), ("another", HEADER_MISMATCH)):
            headers = {"Authorization": f"Bearer {ADA}", "Mcp-Name": named}
            answer = await by_hand(address, "tasks/get", {"extensions": {Tasks.identifier: {}}}, headers, taskId=id_)
            assert answer.get("error", {}).get("code") == code


def test_what_cannot_be_served_is_one_error(tmp_path: Path) -> None:
    assert "name a file of bearer tokens with --tokens" in refused(COUNTER, "--host", "0.0.0.0")
    (tmp_path / "broken.py").write_text("from mcpframe import FrameServer\nserver = FrameServer('x')\n1 / 0\n")
    assert "ZeroDivisionError" in refused(str(tmp_path / "broken.py"), "--storage", str(tmp_path))
