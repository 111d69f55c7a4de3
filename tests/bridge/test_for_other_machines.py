"""A bridge that other machines reach: who has a token is answered, and nothing is listening without one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.bridge.programs import INITIALIZE, PATIENCE, ROOT, environment, over_http
from tests.plain_python.programs import connected

TOKEN, OTHER = "a" * 32, "b" * 32
BEGIN = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}


@pytest.mark.parametrize("command", ["bridge", "hub"])
def test_without_a_token_nothing_listens(command: str) -> None:
    what = ["https://tools.example/"] if command == "bridge" else []
    done = subprocess.run(
        [sys.executable, "-m", "mcpframe", command, *what, "--http", "--host", "0.0.0.0"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert "--tokens" in done.stderr
    assert "--oauth" in done.stderr


async def test_with_tokens_of_a_file_and_of_the_environment(
    bridge_command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tokens").write_text(f"ada {TOKEN}\n")
    monkeypatch.setenv("MCPFRAME_BEARER_TOKENS", f"bob {OTHER}")
    options = ["--host", "0.0.0.0", "--public-host", "mcp.example", "--rate-limit", "20/hour"]
    options += ["--sessions-per-user", "1"]
    with over_http([*bridge_command, *options, "--tokens", str(tmp_path / "tokens")], tmp_path) as printed:
        address = printed.replace("0.0.0.0", "127.0.0.1")
        assert address != printed
        async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as http:
            assert (await http.post(address, json=BEGIN)).status_code == 401
            for host, status in (("other.example", 421), ("mcp.example", 406)):  # 406: it accepts no events
                headers = {"authorization": f"Bearer {TOKEN}", "host": host, "accept": "text/plain"}
                assert (await http.post(address, json=BEGIN, headers=headers)).status_code == status
            for token in (TOKEN, OTHER):
                async with connected(address, token=token) as client:
                    assert (await client.list_tools()).tools
            headers = {"authorization": f"Bearer {TOKEN}", "accept": "application/json, text/event-stream"}
            begun = await http.post(address, json=BEGIN, headers=headers)
            session = {**headers, "mcp-session-id": begun.headers["mcp-session-id"]}
            async with http.stream("GET", address, headers=session) as events:
                assert events.status_code == 200
                another = await http.post(address, json=BEGIN, headers=headers)
                assert another.status_code == 429
                assert "end one first" in another.text
            answers = [await http.post(address, headers={"authorization": f"Bearer {OTHER}"}) for _ in range(20)]
            assert answers[-1].status_code == 429
            assert int(answers[-1].headers["retry-after"]) > 0
    written = (tmp_path / "stderr.txt").read_text()
    assert TOKEN not in written
    assert OTHER not in written
