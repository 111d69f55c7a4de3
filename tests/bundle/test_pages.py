"""The page of a bundle in Chromium: it starts wherever it is put, and says what is wrong when it does not."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from mcpframe.kit.bundle.pipeline import build
from tests.bundle.conftest import SERVER, write_project
from tests.bundle.served_pages import PATIENCE, Serving, call, copied, told
from tests.support.suites import except_for

pytestmark = pytest.mark.usefixtures("one_browser")

RICH = (
    SERVER.replace("https://chat.example", "*")
    + '''

@server.tool()
def uncommon() -> str:
    """Uses modules that nothing else needs."""
    import statistics
    import xmlrpc.client

    import micropip

    return f"{statistics.mean([1, 2, 3])} {xmlrpc.client.__name__} {micropip.__name__}"


@server.tool()
def installed() -> str:
    """Names packages as importlib.metadata sees them."""
    from importlib.metadata import distributions

    return " ".join(sorted(found.name for found in distributions()))
'''
)


@pytest.fixture(scope="module")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output root of a server with several tools. Not to be changed."""
    folder = tmp_path_factory.mktemp("rich")
    build(write_project(folder / "project", server=RICH), folder / "out", snapshot=True)
    return folder / "out"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without a snapshot: its page fetches every archive before it starts. Not to be changed."""
    folder = tmp_path_factory.mktemp("plain")
    build(write_project(folder / "project", server=RICH), folder / "out", snapshot=False)
    return folder / "out"


def test_a_tool_answers(page: Page, host: str, serving: Serving, rich: Path) -> None:
    complaints: list[str] = []
    fetched: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: fetched.append(request.url.rpartition("/")[2]))
    answer = call(page, host, f"{serving(rich)}/adder/", "add", '{"a":2,"b":3}')
    assert '"structuredContent":{"result":5}' in answer
    assert not [name for name in fetched if re.match(r"deferred\.zip\.", name)], "starting needs nothing deferred"
    assert len(fetched) == len(set(fetched)), "nothing is fetched twice"
    assert not [text for text in complaints if "favicon" not in text and "404" not in text]


@pytest.mark.extended
def test_modules_that_are_put_aside_are_there(page: Page, host: str, serving: Serving, rich: Path) -> None:
    assert "2 xmlrpc.client micropip" in call(page, host, f"{serving(rich)}/adder/", "uncommon")


@pytest.mark.extended
def test_metadata_of_packages_is_there(page: Page, host: str, serving: Serving, rich: Path) -> None:
    answer = call(page, host, f"{serving(rich)}/adder/", "installed")
    for name in ("mcp", "mcpframe", "micropip", "pydantic", "pydantic_core", "opentelemetry-api"):
        assert re.search(rf"\b{name}\b", answer), name


@pytest.mark.parametrize("tool", except_for(["add", "uncommon"], "uncommon"))
def test_it_runs_in_a_sandbox_of_opaque_origin(page: Page, host: str, serving: Serving, rich: Path, tool: str) -> None:
    answer = call(
        page, host, f"{serving(rich)}/adder/", tool, '{"a":2,"b":3}' if tool == "add" else "{}", "allow-scripts"
    )
    assert '"isError":true' not in answer


@pytest.mark.extended
def test_it_runs_from_any_path(page: Page, host: str, serving: Serving, rich: Path, tmp_path: Path) -> None:
    (tmp_path / "site" / "deep" / "er").mkdir(parents=True)
    shutil.copytree(rich, tmp_path / "site" / "deep" / "er" / "root")
    answer = call(page, host, f"{serving(tmp_path / 'site')}/deep/er/root/adder/", "add", '{"a":1,"b":1}')
    assert '"result":2' in answer


def test_opened_by_itself_it_says_what_it_is(page: Page, serving: Serving, rich: Path) -> None:
    origin = serving(rich)
    page.goto(f"{origin}/adder/")
    about = page.locator("#mcpframe-about")
    expect(about).to_contain_text("3 tools", timeout=PATIENCE)
    expect(about).to_contain_text("Adds two numbers.")
    expect(about).to_contain_text(f'<iframe src="{origin}/adder/"')
    expect(page.locator("h1")).to_have_text("adder")
    expect(page.locator("#mcpframe-progress")).to_be_hidden()


APPEARS = """(element) => {
    const [animation] = element.getAnimations();
    animation.finish();
    return animation.effect.getTiming().delay;
}"""
"""Lets the time pass after which an element appears, and returns it, in milliseconds."""


def without(root: Path, name: str) -> None:
    """Remove a file from a bundle."""
    removed = [*root.rglob(name), *root.rglob(f"{name}.gz")]
    assert removed
    for path in removed:
        path.unlink()


@pytest.mark.parametrize(
    "name",
    except_for(
        ["base.zip.*.wasm", "server.zip.*.wasm", "pyodide.asm.wasm", "pyodide.asm.mjs", "loader.*.js"],
        "base.zip.*.wasm",
        "loader.*.js",
    ),
)
def test_a_missing_file_is_named(page: Page, serving: Serving, plain: Path, tmp_path: Path, name: str) -> None:
    root = copied(plain, tmp_path)
    without(root, name)
    page.goto(f"{serving(root)}/adder/")
    if name == "loader.*.js":  # the script of the page itself
        stalled = page.locator("#mcpframe-stalled")
        expect(stalled).to_be_hidden()
        assert stalled.evaluate(APPEARS) == 10_000
        expect(stalled).to_be_visible()
        return
    assert re.search(name.split("*")[0], text := told(page)), text
    assert "upload the whole folder" in text


@pytest.mark.extended
@pytest.mark.parametrize("name", ["pyodide.asm.wasm", "_pydantic_core.*.wasm"])
def test_a_missing_file_that_is_asked_for_early_is_named(
    page: Page, serving: Serving, rich: Path, tmp_path: Path, name: str
) -> None:
    root = copied(rich, tmp_path)
    without(root, name)
    page.goto(f"{serving(root)}/adder/")
    assert page.locator("head > script:not([type]):not([src])").count() == 2  # inbox.js, and the one that asks for it
    assert f"{name.split('*')[0]}" in (text := told(page))
    assert "(the web server answers 404): reload the page if its site was published anew" in text
    assert "else upload the whole folder" in text


@pytest.mark.parametrize(
    "name",
    except_for(["base.zip.*.wasm", "server.zip.*.wasm", "pyodide.asm.wasm", "pyodide.asm.mjs"], "pyodide.asm.wasm"),
)
def test_a_changed_file_is_named(page: Page, serving: Serving, plain: Path, tmp_path: Path, name: str) -> None:
    root = copied(plain, tmp_path)
    for path in root.rglob(f"{name}.gz"):
        path.unlink()
    [path] = root.rglob(name)
    path.write_bytes(path.read_bytes() + b"\n")
    page.goto(f"{serving(root)}/adder/")
    text = told(page)
    assert re.search(name.split("*")[0], text), text
    assert "upload the whole folder" in text


@pytest.mark.extended
def test_webassembly_that_is_blocked_is_told(page: Page, serving: Serving, rich: Path, tmp_path: Path) -> None:
    root = copied(rich, tmp_path)
    (root / "_headers").unlink()
    origin = serving(root, Content_Security_Policy="script-src 'self'")
    page.goto(f"{origin}/adder/")
    assert "'wasm-unsafe-eval'" in told(page)


def test_a_module_that_raises_shows_its_traceback(page: Page, serving: Serving, tmp_path: Path) -> None:
    server = "import js, os\n\n\ndef fail():\n    return os.environ['LUCK']\n\n\nserver = fail()\n"
    table = 'import_server = false\nallowed_origins = ["*"]'
    build(write_project(tmp_path / "project", table, server), tmp_path / "out", snapshot=False)
    page.goto(f"{serving(tmp_path / 'out')}/adder/")
    assert "raised an error" in told(page)
    detail = page.locator("#mcpframe-error-detail")
    expect(detail).to_contain_text("KeyError: 'LUCK'")
    expect(detail).to_contain_text("kept in server.session.storage")
    expect(detail).to_contain_text('File "/mcpframe/server/server.py", line 5, in fail')
    expect(detail).to_contain_text("return os.environ['LUCK']")


@pytest.mark.extended
def test_a_start_that_takes_too_long_is_told(page: Page, serving: Serving, tmp_path: Path) -> None:
    table = 'boot_timeout = 0.05\nimport_server = false\nallowed_origins = ["*"]'
    build(write_project(tmp_path / "project", table), tmp_path / "out", snapshot=False)
    page.goto(f"{serving(tmp_path / 'out')}/adder/")
    assert "did not start within 0.05 seconds" in told(page)


@pytest.mark.extended
def test_a_server_that_imports_what_is_put_aside_gets_it_with_everything_else(
    page: Page, host: str, serving: Serving, tmp_path: Path
) -> None:
    server = "import statistics\n" + SERVER.replace("https://chat.example", "*")
    build(write_project(tmp_path / "project", server=server), tmp_path / "out", snapshot=False)
    kinds: dict[str, str] = {}
    page.on("request", lambda request: kinds.update({request.url.rpartition("/")[2]: request.resource_type}))
    call(page, host, f"{serving(tmp_path / 'out')}/adder/", "add", '{"a":1,"b":1}')
    [kind] = [kind for name, kind in kinds.items() if re.match(r"deferred\.zip\.", name)]
    assert kind != "xhr"


def test_lazy_requirements_come_when_the_server_asks(page: Page, host: str, serving: Serving, tmp_path: Path) -> None:
    server = (
        SERVER.replace("https://chat.example", "*")
        + """

@server.tool()
async def render(text: str) -> str:
    import mcpframe

    await mcpframe.load("mdit-py-plugins")
    from markdown_it import MarkdownIt
    from mdit_py_plugins.footnote import footnote_plugin

    return MarkdownIt().use(footnote_plugin).render(text)
"""
    )
    table = 'lazy = ["mdit-py-plugins"]'
    build(write_project(tmp_path / "project", table, server), tmp_path / "out", snapshot=False)
    wheels: list[str] = []
    page.on("request", lambda request: wheels.append(request.url) if request.url.endswith(".whl") else None)
    origin = serving(tmp_path / "out")
    call(page, host, f"{origin}/adder/", "add", '{"a":1,"b":1}')
    assert not wheels
    assert "<em>soft</em>" in call(page, host, f"{origin}/adder/", "render", '{"text":"*soft*"}')
    assert len(wheels) == 3
