"""Jobs in Pyodide under Node: they get what they are given, and nothing of this machine."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.bundle.pyodide import job as pyodide_job
from mcpframe.kit.bundle.pyodide.archive import pack
from mcpframe.kit.bundle.pyodide.job import OUTPUT, JobFailed, JobTimeout, Mounted, Outcome, run_in_pyodide
from mcpframe.kit.bundle.pyodide.runtime import Runtime, ensure_runtime

Run = Callable[..., list[Outcome]]


@pytest.fixture(scope="module")
def runtime() -> Runtime:
    return ensure_runtime()


@pytest.fixture
def run(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs the bodies of `main`, each as a job of its own: the first is `job0`."""

    def run(*bodies: str, **options: Any) -> list[Outcome]:
        texts = {
            f"job{number}": "async def main():\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())
            for number, body in enumerate(bodies)
        }
        monkeypatch.setattr(pyodide_job, "job_text", texts.__getitem__)
        return run_in_pyodide(list(texts), runtime, **options)

    return run


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A port that nobody may connect to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


def test_a_job_gets_folders_and_an_environment_and_gives_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("given")
    [outcome] = run(
        f"""
import os
text = open("/in/file").read()
open("{OUTPUT}/file", "w").write(text.upper())
return [text, os.environ["NAME"]]
""",
        folders={"/in": tmp_path},
        env={"NAME": "value"},
    )
    assert outcome == Outcome(["given", "value"], {"file": b"GIVEN"})


# What a module may try when it is imported. `refused` is what the page would say, or an error of Node's.
ATTACKS = """
import asyncio, json, os, socket
import js, pyodide_js
from pyodide.code import run_js

outcomes = {{}}

def attempt(name, action):
    try:
        outcomes[name] = repr(action())
    except BaseException as error:
        outcomes[name] = "refused"

async def attempt_later(name, action):
    try:
        outcomes[name] = repr(await asyncio.wait_for(action(), 5))
    except BaseException as error:
        outcomes[name] = "refused"

def read():
    pyodide_js.mountNodeFS("/theirs", {secrets!r})
    return open("/theirs/secret.txt").read()

def read_beside():
    pyodide_js.mountNodeFS("/beside", {beside!r})
    return open("/beside/secret.txt").read()

def write():
    with open("/in/written", "w") as file:
        file.write("poison")
        file.flush()

def overwrite():
    with open("/in/file", "w") as file:
        file.write("poison")
        file.flush()

attempt("process", lambda: js.process.env.SECRET)
attempt("environment", lambda: os.environ["SECRET"])
attempt("require", lambda: js.require("fs"))
attempt("console", lambda: js.console._stdout.constructor)
attempt("evaluated", lambda: run_js("1 + 1"))
attempt("constructed", lambda: js.Object.constructor.constructor("return process")())
attempt("read", read)
attempt("read beside", read_beside)
attempt("write", write)
attempt("overwrite", overwrite)
attempt("connect", lambda: socket.create_connection(("127.0.0.1", {port}), 2))
attempt("socket", lambda: js.WebSocket.new("ws://127.0.0.1:{port}/"))
await attempt_later("fetch", lambda: js.fetch("http://127.0.0.1:{port}/"))
await attempt_later("network", pyodide_js.useNodeSockFS)
await attempt_later("script", lambda: pyodide_js._api.loadScript("data:text/javascript,import 'node:net'"))
outcomes["process"] = "refused" if os.system("touch {secrets}/started") else "started"
return outcomes
"""


def test_a_job_reaches_nothing_of_this_machine(
    run: Run, tmp_path: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    given, secrets = tmp_path / "given", tmp_path / "secrets"
    for folder in (given, secrets):
        folder.mkdir()
    (given / "file").write_text("given")
    for place in (secrets, tmp_path):
        (place / "secret.txt").write_text("hunter2")
    port = listener.getsockname()[1]
    attacks = ATTACKS.format(secrets=str(secrets), beside=str(tmp_path), port=port)
    [outcome] = run(attacks, folders={"/in": given})
    assert {name: said for name, said in outcome.result.items() if said != "refused"} == {}
    with pytest.raises(BlockingIOError):
        listener.accept()
    assert [path.name for path in given.iterdir()] == ["file"]
    assert (given / "file").read_text() == "given"
    assert not (secrets / "started").exists()


def test_what_one_job_gave_the_next_cannot_change(run: Run) -> None:
    first, second = run(
        f"open('{OUTPUT}/0', 'w').write('good')\nreturn 'good'",
        f"""
import os
assert os.listdir("{OUTPUT}") == []
open("{OUTPUT}/0", "w").write("poison")
os.write(1, b"poison")
print("poison")
return "also"
""",
    )
    assert first == Outcome("good", {"0": b"good"})
    assert second.result == "also"


def test_a_job_that_others_rely_on_runs_before_anything_is_unpacked(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "untrusted.zip"
    archive.write_bytes(pack({"module.py": b"", "library.so": b"no WebAssembly"}))
    looks = "import os\nreturn os.path.exists('/untrusted/module.py')"
    monkeypatch.setattr(pyodide_job, "ALONE", {"job0"})
    assert [outcome.result for outcome in run(looks, looks, archives=[Mounted(archive, "/untrusted")])] == [False, True]
    loaded = [Mounted(archive, "/untrusted", ("library.so",))]
    [outcome] = run(looks, archives=loaded)
    assert outcome.result is False
    with pytest.raises(JobFailed) as caught:
        run(looks, looks, archives=loaded)
    assert caught.value.job == "unpack"


def test_the_job_that_fills_the_cache_is_one_that_others_rely_on() -> None:
    assert "compile" in pyodide_job.ALONE


def test_a_job_that_does_not_return_is_named(run: Run) -> None:
    with pytest.raises(JobTimeout) as caught:
        run("return 1", "while True: pass", timeouts={"job1": 0.5})
    assert caught.value.job == "job1"


def test_the_counts_of_a_job_are_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[tuple[int, int]] = []
    monkeypatch.setattr(pyodide_job, "count", lambda *numbers: counted.append(numbers))
    [outcome] = run("print('mcpframe: 1 of 3')\nprint('mcpframe: -1 of 3')\nprint('mcpframe: 2 of 3')\nreturn 'end'")
    assert (outcome.result, counted) == ("end", [(1, 3), (2, 3)])


@pytest.mark.extended
def test_a_job_that_counts_for_ever_is_stopped(run: Run) -> None:
    with pytest.raises(JobTimeout):
        run("while True: print('mcpframe: 1 of 3')", timeouts={"job0": 1})


def test_a_job_that_raises_gives_its_traceback(run: Run) -> None:
    with pytest.raises(JobFailed) as caught:
        run("raise ValueError('on purpose')")
    assert caught.value.job == "job0"
    assert "ValueError: on purpose" in caught.value.output


@pytest.mark.extended
def test_a_job_that_gives_too_much_is_stopped(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyodide_job, "_MOST_HEAD", 1000)
    with pytest.raises(JobFailed, match="more data than"):
        run("return 'x' * 2000")


def test_text_becomes_code_only_where_the_page_allows_it(run: Run) -> None:
    [outcome] = run("from pyodide.code import run_js\nreturn run_js('1 + 1')", evaluates=True)
    assert outcome.result == 2


@pytest.mark.extended
def test_a_runtime_behind_a_link_is_found(runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(runtime.folder)
    monkeypatch.setattr(pyodide_job, "job_text", lambda name: "async def main(): return 1")
    [outcome] = run_in_pyodide(["job"], Runtime(tmp_path / "link"))
    assert outcome.result == 1
