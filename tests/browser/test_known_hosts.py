"""One bundle, every host: the files of `templates/pi-calculator`, built once, answer every host of the table alike."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.bridge.chromium.bridge_page import HOST_NAME
from mcpframe.kit.bundle.pipeline import build
from mcpframe.kit.dev.inspector import Inspecting, serve_inspector
from mcpframe.kit.web.serve import serve_folder
from tests.bridge.programs import ROOT
from tests.browser.conftest import Bundle, BundleOf, Origins, Troubles
from tests.browser.firefox import ensure_firefox, running
from tests.browser.official_peers import bundle_official_peers
from tests.browser.reaching import BOOT, CALL, HOSTS, LISTS, Json, Stage
from tests.browser.test_template_pi_calculator import COLOURED
from tests.support import known_hosts
from tests.support.built import SNAPSHOTS
from tests.support.origins import port_itself
from tests.support.suites import extended

OTHERS = ("the inspector", "WebMCP", "@mcp-b, tab")
"""Hosts that have suites of their own: test_inspector_session, test_webmcp, test_mcpb_clients."""
ANSWERS = """
import asyncio, json, server
from mcp import Client

MEMBERS = ("content", "structuredContent", "isError")

async def main():
    async with Client(server.server) as client:
        answers = {}
        for points in (20_000, 10_000, 0):
            called = ("calculate_pi", {"iterations": points}) if points else ("reset", {})
            result = (await client.call_tool(*called)).model_dump(mode="json", by_alias=True, exclude_none=True)
            progress = list(range(10_000, points + 1, 10_000))
            answers[points or "reset"] = {**{name: result[name] for name in MEMBERS}, "progress": progress}
        print(json.dumps(answers))

asyncio.run(main())
"""
"""What the same server answers in plain CPython."""


def files_of(folder: Path) -> dict[str, str]:
    """Return the hash of every file in a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="session")
def framing(bundle_of: BundleOf) -> Bundle:
    """The page bundle of `servers/framing`."""
    return bundle_of("framing", at="framing")


@pytest.fixture(scope="module")
def inspector() -> Iterator[Inspecting]:
    """The inspector, without servers of its own."""
    with serve_inspector() as inspecting:
        yield inspecting


@pytest.fixture(scope="module")
def pi(
    origins: Origins, framing: Bundle, inspector: Inspecting, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bundle]:
    """The bundle: built once, and served once. Nothing in it depends on the host but who may be one."""
    folder = tmp_path_factory.mktemp("pi")
    allowed = [origins.host, framing.origin, inspector.origin, f"http://{HOST_NAME}"]
    built = build(templates_dir() / "pi-calculator", folder, allowed_origins=allowed, snapshot=SNAPSHOTS)
    before = files_of(folder)
    with serve_folder(folder) as served:
        yield Bundle(folder, f"http://bundle.localhost:{served.port}", built.url_path)
    assert files_of(folder) == before


@pytest.fixture(scope="module")
def answers() -> dict[str, Json]:
    """What the server answers in CPython: to a call of 20,000 points, one of 10,000 more, and a reset."""
    project = templates_dir() / "pi-calculator"
    program = [sys.executable, "-c", ANSWERS]
    done = subprocess.run(program, cwd=project, env={"PYTHONPATH": f"{project}:{ROOT}"}, stdout=subprocess.PIPE)
    read: dict[str, Json] = json.loads(done.stdout)
    return read


@pytest.fixture(scope="module")
def scripts(site: Path, typescript_client: None) -> str:
    """The official peers in JavaScript, as modules of the site; returns the text of those of MCP-B."""
    return bundle_official_peers(site)


@pytest.fixture
def stage(
    context: BrowserContext,
    troubles: Troubles,
    origins: Origins,
    pi: Bundle,
    framing: Bundle,
    inspector: Inspecting,
    scripts: str,
    tmp_path: Path,
) -> Stage:
    return Stage(context, origins, pi.url, framing.url, inspector, scripts, tmp_path)


def test_every_cell_that_is_not_measured_here_names_its_test() -> None:
    for facts in known_hosts.HOSTS:
        shown = {"notified", "setup", "values"} & {name for name, value in vars(facts).items() if value}
        assert shown <= facts.evidence.keys(), facts.name
        for node in facts.evidence.values():
            path, _, name = node.partition("::")
            assert f"def {name}(" in (ROOT / path).read_text("utf-8"), node


@pytest.mark.parametrize(
    "facts",
    [extended(each) if each.name in OTHERS else each for each in known_hosts.HOSTS],
    ids=lambda facts: facts.name,
)
async def test_each_host_gets_the_same(
    stage: Stage, pi: Bundle, answers: dict[str, Json], facts: known_hosts.Host
) -> None:
    before = files_of(pi.folder)
    async with HOSTS[facts.name](stage) as host:
        if not facts.progress:
            answers = {name: {**answer, "progress": []} for name, answer in answers.items()}
        if facts.tools:
            await host.calls(answers["20000"], "calculate_pi", iterations=20_000)
        assert (host.own is not None) is facts.page
        if host.own:
            await expect(host.own.locator("#estimate")).to_be_visible(timeout=BOOT)
            for _ in range(1 if facts.tools else 3):
                await host.own.locator("#throw").click()
            await expect(host.own.locator("#total")).to_have_text("30,000")
            assert await host.own.locator("html").evaluate(COLOURED) > 500
            estimate = answers["10000"]["structuredContent"]["pi"]
            await expect(host.own.locator("#estimate")).to_have_text(f"{estimate:.6f}")
            await host.own.locator("#send").click()
            text = answers["10000"]["content"][0]["text"]
            lacking = f"Not sent: A host that speaks {facts.dialect!r} does not offer ui/message."
            assert await host.message() == (text if facts.conversation else lacking)
        elif facts.tools:
            await host.calls(answers["10000"], "calculate_pi", iterations=10_000)
        for kind in LISTS:
            assert await host.answers(kind) is facts.lists
        if facts.tools:
            await host.calls(answers["reset"], "reset")
        if facts.cancels and "cancels" not in facts.evidence:
            await host.cancel("calculate_pi", iterations=1_000_000)
            left = await host.call("calculate_pi", iterations=1000)
            assert left["structuredContent"]["points"] < 1_001_000
    assert files_of(pi.folder) == before


_JS_HOSTS = {
    "host.js": ("template.html", "await lab.connect(url, 'required');", "lab.client"),
    "AppBridge": ("apps_host.html?2.0.4", "await apps.open(url, { answers: { onmessage: {} } });", "apps.bridge"),
    "PostMessageTransport": ("plain_host.html?2.x", "await plain.connect(url);", "plain.client"),
    "mcp-browser-transport": ("plain_host.html?port", "await plain.connect(url);", "plain.client"),
    "@mcp-b, iframe": ("mcpb.html", "await mcpb.iframeClient(url);", "mcpb.clients[0]"),
    "@mcp-b, tab": ("", "await mcpb.tabClient();", "mcpb.clients[0]"),
}
"""Hosts in JavaScript: their page, how they connect, and their client."""
_LOADED = {
    "template.html": "while (!window.lab)",
    "": "while (document.querySelector('#mcpframe-page').dataset.state !== 'standalone')",
}
_FRAME = " await new Promise(requestAnimationFrame);"
_TO_30_000 = f"""
    const total = () => document.querySelector("#total")?.textContent;
    while (document.querySelector("#throw") === null || !total()){_FRAME}
    while (total() !== "30,000") {{ document.querySelector("#throw").click();{_FRAME} }}
    const said = document.querySelector("#estimate").textContent;
    document.querySelector("#send").click();
    return said;"""


@pytest.mark.extended
def test_those_in_pages_in_firefox(
    origins: Origins, site: Path, pi: Bundle, framing: Bundle, scripts: str, answers: dict[str, Json], tmp_path: Path
) -> None:
    program = ensure_firefox()
    if program is None:
        pytest.skip("no Firefox is installed, and none could be: install firefox or firefox-esr")
    text = answers["10000"]["content"][0]["text"]
    estimate = f"{answers['10000']['structuredContent']['pi']:.6f}"
    # Firefox maps no port, as the tests' Chromium does.
    with port_itself() as port, serve_folder(site, port), running(program, tmp_path / "profile") as firefox:
        for name, (page, connect, client) in _JS_HOSTS.items():
            firefox.open(f"{origins.host}/{page}" if page else pi.url)
            firefox.run(_LOADED.get(page, "while (document.documentElement.dataset.state !== 'loaded')") + _FRAME)
            if not page:
                firefox.run(f"await new Promise((done) => setTimeout(() => {{ {scripts}; done(); }})); return null;")
            firefox.run(f"const url = {json.dumps(pi.url)}; {connect} return null;")
            call = f"({CALL})([{client}, 'calculate_pi', {{ iterations: 20_000 }}, false])"
            result = firefox.run(f"return {call};")
            assert {member: result.get(member) for member in answers["20000"]} == answers["20000"], name
            assert firefox.run(_TO_30_000, *(["iframe"] if page else [])) == estimate, name
            if name == "AppBridge":
                assert firefox.run("return apps.taken('onmessage');")["content"][0]["text"] == text
        firefox.open(f"{origins.host}/ui_host.html")
        firefox.run(f"while (document.documentElement.dataset.state !== 'loaded'){_FRAME}")
        resource = {"uri": "ui://pi/calculator", "mimeType": "text/uri-list", "text": pi.url}
        firefox.run(
            f"ui.open({json.dumps(resource)}, {{ answers: {{}} }}); while (!document.querySelector('iframe')){_FRAME}"
        )
        assert firefox.run(_TO_30_000, "iframe") == estimate
        prompts = (
            "for (;;) { const { type, payload } = await ui.taken('action'); if (type === 'prompt') return payload; }"
        )
        assert firefox.run(prompts) == {"prompt": text}
