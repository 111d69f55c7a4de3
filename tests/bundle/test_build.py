"""Whole builds: reproducible, incremental, honouring the lock, and carrying nothing but what is meant."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from mcpframe.kit.base.errors import BuildError, ConfigError, HashMismatch
from mcpframe.kit.base.node import Node
from mcpframe.kit.bundle.assembly.built_manifest import read_manifests
from mcpframe.kit.bundle.packages.lock import read_lock
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.bundle.pyodide import job as pyodide_job
from mcpframe.kit.bundle.snapshot import build_browser, build_site
from tests.bundle.conftest import SERVER, Adder, write_project
from tests.support.suites import except_for, extended


def contents(out: Path) -> dict[str, str]:
    return {
        path.relative_to(out).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in out.rglob("*")
        if path.is_file()
    }


def copied(adder: Adder, folder: Path) -> tuple[Path, Path]:
    """A copy of the built server, to change; building it again starts from what is there."""
    project, out = adder
    return Path(shutil.copytree(project, folder / "project")), Path(shutil.copytree(out, folder / "out"))


_FETCHED = ("wheels", "pyodide-*")  # checked by their hashes anyway
_COMPILED = ("wheels-compiled", "startup*", "stdlib", "own-*")


@pytest.fixture(
    params=[(*_FETCHED, *_COMPILED), extended(_FETCHED)], ids=["no snapshot before", "nothing compiled before"]
)
def emptied_cache(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with nothing but what is named in it."""
    from mcpframe.kit.base.cache import cache_dir

    filled = cache_dir()
    folder = tmp_path / "cache"
    folder.mkdir()
    for pattern in request.param:
        for kept in filled.glob(pattern):
            (folder / kept.name).symlink_to(kept)
    monkeypatch.setenv("MCPFRAME_CACHE", str(folder))
    return folder


@pytest.fixture(params=[1, extended(2)], ids=["late files", "late files and a slow processor"])
def slow_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser whose files come late and in another order, and that computes slowly: a snapshot is the same in it."""
    opened, answer = build_browser.Chromium._opened, build_site.JobPage.__call__
    delays = itertools.cycle([0.0, 0.3, 0.0, 0.1, 0.2])

    def slow(chromium: build_browser.Chromium) -> build_browser.BuildPage:
        page = opened(chromium)
        chromium.run(page.command("Emulation.setCPUThrottlingRate", rate=request.param))
        return page

    async def late(page: build_site.JobPage, scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(next(delays))
        await answer(page, scope, receive, send)

    monkeypatch.setattr(build_browser.Chromium, "_opened", slow)
    monkeypatch.setattr(build_site.JobPage, "__call__", late)


@pytest.mark.usefixtures("emptied_cache", "slow_machine")
def test_the_same_inputs_give_the_same_bytes(adder: Adder, tmp_path: Path) -> None:
    project = Path(shutil.copytree(adder[0], tmp_path / "elsewhere" / "another-name"))
    build(project, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(adder[1])


@contextmanager
def without_node() -> Iterator[None]:
    """Fail where Node.js is started, and Pyodide in it: that is what takes the time of a build."""

    def refuse(*arguments: object, **named: object) -> None:
        pytest.fail("Node.js was started.")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Node, "run", refuse)
        patched.setattr(pyodide_job, "running", refuse)
        yield


def test_a_build_without_a_change_does_nothing(adder: Adder) -> None:
    before = contents(adder[1])
    steps: list[str] = []

    def step(what: str) -> AbstractContextManager[None]:
        steps.append(what)
        return nullcontext()

    with without_node():
        result = build(*adder, progress=step)
    assert steps == []
    assert result.unchanged
    assert contents(adder[1]) == before


def test_a_build_for_other_hosts_starts_neither_node_nor_a_browser(
    adder: Adder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_browser.Chromium, "_opened", lambda _: pytest.fail("A browser was started."))
    with without_node():
        result = build(adder.project, tmp_path, allowed_origins=["https://other.example"])
    before = read_manifests(adder.out)["adder"]
    assert result.manifest["allowed_origins"] == ["https://other.example"]
    assert {key: result.manifest[key] for key in ("tools", "server", "snapshot")} == {
        key: before[key] for key in ("tools", "server", "snapshot")
    }


def test_a_changed_server_changes_only_its_own_files(adder: Adder, tmp_path: Path) -> None:
    project, out = copied(adder, tmp_path)
    before = contents(out)
    (project / "server.py").write_text(SERVER.replace("Adds two numbers", "Adds"))
    result = build(project, out)
    assert result.tools is not None
    assert result.tools[0]["description"] == "Adds."
    after = contents(out)
    assert {path for path in before.keys() & after.keys() if before[path] != after[path]} <= {
        f"adder/{name}" for name in ("index.html", "index.html.gz", "manifest.json")
    }
    new = {path.replace(".gz", "") for path in after.keys() - before.keys()}
    assert {re.sub(r"\.[0-9a-f]{16}\.", ".", path) for path in new} <= {"adder/server.zip.wasm", "adder/snapshot.bin"}
    assert any(".zip." in path for path in new)


def test_a_draft_starts_nothing_and_leaves_the_next_build_as_it_would_be(adder: Adder, tmp_path: Path) -> None:
    project, out = copied(adder, tmp_path)
    (project / "server.py").write_text(SERVER.replace("def add", "def plus"))
    with without_node():
        draft = build(project, out, draft=True, snapshot=True)
    assert draft.manifest["snapshot"]["layers"] == ["sdk"]
    assert [tool["name"] for tool in draft.tools or []] == ["add"]  # it was not looked at
    [archive] = (out / "adder").glob("server.zip.*.wasm")
    with zipfile.ZipFile(archive) as files:
        assert files.namelist() == ["server.py"]
    assert not build(project, out).unchanged
    (project / "server.py").write_text(SERVER)
    build(project, out)
    assert contents(out) == contents(adder.out)


@pytest.mark.extended
def test_a_draft_of_what_was_never_built_is_a_build(adder: Adder, tmp_path: Path) -> None:
    project, _ = copied(adder, tmp_path)
    draft = build(project, tmp_path / "new", draft=True, snapshot=True)
    assert [tool["name"] for tool in draft.tools or []] == ["add"]
    assert draft.manifest["snapshot"]["layers"] == ["sdk"]  # it stays, whatever the author changes
    made, expected = contents(tmp_path / "new"), contents(adder.out)
    others = {path for path in expected if not re.search(r"index\.html|manifest\.json|snapshot\.", path)}
    assert {path: made.get(path) for path in others} == {path: expected[path] for path in others}


# What a bundle may carry, by archive. Anything else fails the test below.
SITE_PACKAGES = re.compile(
    r"(mcp|mcp_types|pydantic|pydantic_core|anyio|opentelemetry|typing_inspection|annotated_types|jsonschema|"
    r"jsonschema_specifications|referencing|attr|attrs|micropip)/.*|typing_extensions\.pyc"
    r"|mcpframe/(__init__|frame/.+)\.pyc"
    r"|[a-z_]+-[0-9.]+\.dist-info/(METADATA|entry_points\.txt|WHEEL)"
)
ALLOWED = {
    "stdlib": re.compile(r"([A-Za-z_0-9]+/)*[A-Za-z_0-9-]+\.pyc"),
    "base": re.compile(rf"deferred-index\.json|{SITE_PACKAGES.pattern}"),
    "deferred": re.compile(rf"std/.*|site-packages/({SITE_PACKAGES.pattern})"),
    "server": re.compile(r"server\.py|__pycache__/server\.cpython-314\.pyc"),
}


def test_a_bundle_carries_nothing_but_what_is_meant(adder: Adder) -> None:
    [manifest] = read_manifests(adder[1]).values()
    listed = {entry["path"] for entry in manifest["files"]}
    there = {path for path in contents(adder[1]) if not path.endswith(".gz") and "/" in path}
    assert there - listed == {"adder/manifest.json"}
    archives = [path for path in listed if ".zip." in path]
    assert {path.rpartition("/")[2].split(".")[0] for path in archives} == set(ALLOWED)
    for path in archives:
        allowed = ALLOWED[path.rpartition("/")[2].split(".")[0]]
        with zipfile.ZipFile(adder[1] / path) as archive:
            others = [name for name in archive.namelist() if not allowed.fullmatch(name)]
            assert not others, f"{path} carries {others[:20]}"
            assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())
    forbidden = re.compile(rb"mcpframe[./]kit|playwright|pytest_plugin\.py")
    for path in listed - set(archives):
        if path.endswith((".js", ".html", ".css")):
            assert not forbidden.search((adder[1] / path).read_bytes()), path


@pytest.mark.extended
def test_docstrings_of_libraries_are_in_the_archive_that_help_needs(adder: Adder) -> None:
    [manifest] = read_manifests(adder.out).values()
    texts = {
        "mcpframe/frame/session/session.pyc": (b"Post one message to the peer. One without", False),
        "mcp/server/mcpserver/server.pyc": (b"Decorator to register a tool", False),
        "mcp_types/_types.pyc": (b"Text provided to or from an LLM.", True),
        "std/docstrings.json": (b"Decorator to register a tool", True),
        "__pycache__/server.cpython-314.pyc": (b"Adds two numbers.", True),
    }
    for path in (entry["path"] for entry in manifest["files"] if ".zip." in entry["path"]):
        with zipfile.ZipFile(adder.out / path) as archive:
            for name in set(archive.namelist()) & set(texts):
                text, kept = texts.pop(name)
                assert (text in archive.read(name)) is kept, name
    assert not texts


def test_the_manifest_is_true(adder: Adder) -> None:
    [manifest] = read_manifests(adder[1]).values()
    for entry in manifest["files"]:
        data = (adder[1] / entry["path"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert [tool["name"] for tool in manifest["tools"]] == ["add"]
    assert manifest["tools"][0]["inputSchema"]["required"] == ["a", "b"]
    assert manifest["allowed_origins"] == ["https://chat.example"]
    assert manifest["sizes"]["plain_start"] < 9_000_000
    assert manifest["sizes"]["first_visit"] < 16_000_000
    text = json.dumps(manifest)
    assert str(adder[0]) not in text


def test_a_page_that_is_drawn_is_offered_to_the_user(adder: Adder, tmp_path: Path) -> None:
    project, _ = copied(adder, tmp_path)
    (project / "server.py").write_text(f"{SERVER}\n\n@server.ui\nasync def ui(session): ...\n")
    result = build(project, tmp_path / "new", snapshot=False)
    assert result.manifest["visibility"] == {"requirement": "optional", "message": None}
    assert not [text for text in result.warnings if "visibility" in text]
    draft = build(project, tmp_path / "new", snapshot=False, draft=True, allowed_origins=["https://other.example"])
    assert draft.manifest["visibility"]["requirement"] == "optional"
    with (project / "pyproject.toml").open("a") as file:
        file.write('[tool.mcpframe.visibility]\nrequirement = "hidden"\n')
    hidden = build(project, tmp_path / "new", snapshot=False)
    assert hidden.manifest["visibility"]["requirement"] == "hidden"
    assert [text for text in hidden.warnings if "visibility.requirement" in text]


def test_the_lock_is_honoured_and_renewed_on_demand(adder: Adder, tmp_path: Path) -> None:
    project, out = copied(adder, tmp_path)
    path = project / "mcpframe.lock"
    path.unlink()
    build(project, out, snapshot=False)
    lock = read_lock(path)
    assert lock is not None
    written = path.read_bytes()
    (project / "server.py").write_text(SERVER + "\n# changed\n")
    build(project, out, snapshot=False)
    assert path.read_bytes() == written
    path.write_text(path.read_text().replace(lock.inputs, "0" * 64))  # as if the requirements had been others
    build(project, out, snapshot=False)
    assert path.read_bytes() == written  # resolved anew, to the same versions


def test_a_lock_with_another_hash_is_refused(adder: Adder, tmp_path: Path) -> None:
    project, _ = copied(adder, tmp_path)
    path = project / "mcpframe.lock"
    lock = read_lock(path)
    assert lock is not None
    attrs = next(package for package in lock.packages if package.name == "attrs")
    path.write_text(path.read_text().replace(attrs.sha256, "ab" * 32))
    with pytest.raises(HashMismatch, match="--upgrade"):
        build(project, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_module_that_raises_is_a_build_error_with_its_traceback(tmp_path: Path, adder: Adder) -> None:
    project, _ = copied(adder, tmp_path)
    (project / "server.py").write_text(
        'from mcpframe import FrameServer\n\n\ndef fail():\n    raise ValueError("no")\n\n\nserver = fail()\n'
    )
    with pytest.raises(BuildError) as caught:
        build(project, tmp_path / "new")
    told = str(caught.value)
    assert told.startswith("The server 'server:server' does not start in the page: ValueError: no.")
    assert f'File "{project}/server.py", line 5, in fail' in told
    assert 'raise ValueError("no")' in told
    assert "/mcpframe/server" not in told
    assert not (tmp_path / "new").exists()


NOT_IN_A_PAGE = {
    "import os\nos.environ['API_KEY']\n": "API_KEY, which is not set: .* server.session.storage",
    "open('terms.json')\n": "add 'terms.json' to assets",
    "from mcpframe import FrameServer\nFrameServer('x').run()\n": r"leave out server\.run\(\)",
}


@pytest.mark.parametrize(
    ("server", "told"),
    [
        pytest.param(*each, marks=[pytest.mark.extended] * bool(number))
        for number, each in enumerate(NOT_IN_A_PAGE.items())
    ],
    ids=["environment", "file", "run"],
)
def test_what_a_page_does_not_have_is_a_build_error_that_says_what_to_do(
    adder: Adder, tmp_path: Path, server: str, told: str
) -> None:
    project, _ = copied(adder, tmp_path)
    (project / "server.py").write_text(f"{server}server = None\n")
    with pytest.raises(BuildError, match=told):
        build(project, tmp_path / "new")


@pytest.mark.parametrize(
    ("server", "told"),
    [
        extended("server = 3\n", "is of type int"),
        extended("from mcp.server.fastmcp import FastMCP\n", "has no 'server'"),  # built with mcp 1.x, which has it
        extended(
            "import numpy\nserver = 3\n", "needs 'numpy', which is not installed. Add it to the server's requirements"
        ),
        ("from mcpframe import FrameServer\nother = FrameServer('x')\n", "has no 'server'; its servers are: other"),
        ("x = (\n", r"server.py is not valid Python 3.14: '\(' was never closed, line 1"),
    ],
)
def test_an_entry_that_is_no_server_is_a_build_error(adder: Adder, tmp_path: Path, server: str, told: str) -> None:
    project, _ = copied(adder, tmp_path)
    (project / "server.py").write_text(server)
    with pytest.raises(BuildError, match=told):
        build(project, tmp_path / "new")


def test_nobody_may_embed_is_an_error_that_says_how(adder: Adder, tmp_path: Path) -> None:
    project, _ = copied(adder, tmp_path)
    (project / "server.py").write_text(SERVER.replace(', allowed_origins=["https://chat.example"]', ""))
    with pytest.raises(ConfigError, match=r"set tool\.mcpframe\.allowed_origins .*, or pass FrameServer"):
        build(project, tmp_path / "new")
    (project / "pyproject.toml").write_text('[project]\nname = "adder"\n[tool.mcpframe]\nimport_server = false\n')
    with pytest.raises(ConfigError, match="import_server is false"):
        build(project, tmp_path / "new")
    result = build(project, tmp_path / "new", allowed_origins=["*"], snapshot=False)
    assert "any page on the web may embed" in result.warnings[0]
    assert result.tools is None
    assert "frame-ancestors" not in (tmp_path / "new" / "_headers").read_text()


@pytest.mark.extended
@pytest.mark.parametrize(
    "server",
    [
        "from mcp.server.mcpserver import MCPServer\nserver = MCPServer('plain')\n",
        "from mcp.server.lowlevel import Server\nserver = Server('low')\n",
    ],
    ids=["MCPServer", "lowlevel"],
)
def test_other_servers_of_the_sdk_build_as_well(adder: Adder, tmp_path: Path, server: str) -> None:
    project, _ = copied(adder, tmp_path)
    (project / "server.py").write_text(server)
    result = build(project, tmp_path / "new", allowed_origins=["https://chat.example"], snapshot=False)
    assert result.manifest["server"]["name"] in ("plain", "low")


def test_requirements_are_packed_and_lazy_ones_kept_beside(tmp_path: Path) -> None:
    project = write_project(
        tmp_path / "project",
        'lazy = ["mdit-py-plugins"]\nallowed_origins = ["https://chat.example"]',
        "import sortedcontainers\n" + SERVER,
        '["sortedcontainers", "mdit-py-plugins"]',
    )
    build(project, tmp_path / "out", snapshot=False)
    manifest = read_manifests(tmp_path / "out")["adder"]
    paths = [entry["path"] for entry in manifest["files"]]
    [packages] = [path for path in paths if "/packages." in path]
    names = zipfile.ZipFile(tmp_path / "out" / packages).namelist()
    assert "sortedcontainers/__init__.pyc" in names
    assert not [name for name in names if "mdit" in name or "markdown_it" in name]
    wheels = [path.rpartition("/")[2].split("-")[0] for path in paths if path.startswith("adder/packages/")]
    assert sorted(wheels) == ["markdown_it_py", "mdit_py_plugins", "mdurl"]
    page = (tmp_path / "out" / "adder" / "index.html").read_text()
    [config] = re.findall(r'id="mcpframe-boot">(.*?)</script>', page)
    lazy = json.loads(config)["lazy"]["mdit-py-plugins"]
    for item in lazy:
        data = (tmp_path / "out" / "adder" / item["url"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == item["sha256"]
    assert len(lazy) == 3
    lock = (project / "mcpframe.lock").read_text()
    assert "://" not in lock


@pytest.mark.extended
def test_a_requirement_without_a_wheel_for_browsers_is_named(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", dependencies='["psutil"]')
    with pytest.raises(BuildError, match=r"psutil .* has no wheel that runs in Pyodide.*the server itself requires it"):
        build(project, tmp_path / "out")
    assert not (project / "mcpframe.lock").exists()


def test_a_module_that_never_returns_is_named_with_the_limit(tmp_path: Path) -> None:
    endless = write_project(tmp_path / "p", "import_timeout = 1", f"{SERVER}\nwhile True: pass\n")
    with pytest.raises(
        BuildError, match=r"'server:server'.*stands here \(server\.py, line \d+\).*tool\.mcpframe\.import_timeout"
    ):
        build(endless, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_a_module_says_is_printed_without_escapes(tmp_path: Path) -> None:
    raises = "raise ValueError('\\x1b]0;title\\x07 \\x9b31m')\nserver = None"
    loud = write_project(tmp_path / "p", server=raises)
    with pytest.raises(BuildError) as caught:
        build(loud, tmp_path / "out")
    assert r"ValueError: \x1b]0;title\x07 \x9b31m" in str(caught.value)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", str(caught.value))


@pytest.mark.parametrize(
    "lie",
    except_for(
        [
            "FrameServer.name = property(lambda self: 'x' * 2_000_000)",
            "FrameServer.instructions = property(lambda self: {})",
            "FrameServer.list_tools = lambda self: later([])",
            "import os; os._exit(1)",
            "import js; js.fetch('http://127.0.0.1/'); raise SystemExit",
        ],
        "import os; os._exit(1)",
    ),
)
def test_what_a_module_says_of_itself_is_checked_and_how_it_ends_is_told(tmp_path: Path, lie: str) -> None:
    deep = "class Deep:\n    def model_dump(self, **_):\n        value = {}\n"
    deep += (
        "        for _ in range(2000):\n            value = {'x': value}\n        return {'name': 'x', 'y': value}\n"
    )
    later = f"{deep}async def later(found):\n    return [Deep()]\n"
    project = write_project(tmp_path / "p", server=f"{SERVER}\n{later}\n{lie}\n")
    with pytest.raises(BuildError) as caught:
        build(project, tmp_path / "out", snapshot=False)
    assert "'server:server'" in str(caught.value)
    assert len(str(caught.value)) < 5000
