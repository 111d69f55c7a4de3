"""The playground's own analysis of a project agrees with the build's, on tables of sources and settings."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from mcpframe.frame.dialects.available import entries_of
from mcpframe.kit.base.data import templates_dir
from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.bundle.assembly.features import written_for_a_process
from mcpframe.kit.bundle.assembly.offered import lists_of
from mcpframe.kit.bundle.assembly.packages import Packages
from mcpframe.kit.bundle.code.page_use import can_run_in_worker
from mcpframe.kit.project.project import Project
from mcpframe.kit.project.pyproject import read_config
from tests.unit.test_playground_files import results

SERVER = "from mcpframe import FrameServer, wrap\nserver = FrameServer('x')\n"
IMPORTS = [
    *("import threading", "import os, queue as q", "import os.path, concurrent.futures", "from resource import *"),
    *("from concurrent.futures import (\n    ThreadPoolExecutor,\n)", "if True: import queue", "x = 1; import _thread"),
    *("def f():\n    import multiprocessing\n", "try:\n    import resource\nexcept ImportError:\n    pass"),
    *(
        "import \\\n    threading",
        "import mine.threading",
        "from mine import queue",
        "import queue_of_mine",
        "x.threading",
    ),
    *('"""\nimport threading\n"""', "# import threading", "text = 'import queue'", "f'''\nimport queue\n{x}'''"),
    *(
        "import js",
        "import os, js as browser",
        "from pyodide.ffi import to_js",
        "import pyodide_js",
        "from js import fetch",
    ),
    *("import json", "from json import js", "import mine.js", "'import js'", "async def f():\n    import js"),
]
USES = [
    *("@server.ui\nasync def ui(session): pass", "@server.setup\ndef s(): pass", "server.session.page.show('x')"),
    *("server.session.id", "print(server.session.storage)", "s = server.session", "server.session.host.open_link('x')"),
    *(
        "(server).ui",
        "server.ui[0]",
        "server\\\n.ui",
        "f'{server.ui}'",
        "a.server.ui",
        "f(server.session.closed, server.ui)",
    ),
    *("config.ui", "self.setup()", "session.page", "server.tool", "'server.ui'", "# server.ui", "server.sessions"),
    *("other: FrameServer[int] = mcpframe.FrameServer[int]('y')\nother.ui", "app = wrap(x)\napp.setup", "wrap(x).ui"),
    *(
        "self.app = one = wrap(x)\none.ui",
        "self.app = wrap(x)\nthat.app.ui",
        "a, b = wrap(x)\na.ui",
        "c = [wrap(x)]\nc.ui",
    ),
    *("apps[0] = wrap(x)\napps[1].ui", "with wrap(x) as w:\n    w.ui", "d = wrap(x), 1\nd.ui", "(e) = (wrap(x))\ne.ui"),
    *("f: object\nf.ui", "server.session.id.page", "lambda: server.session.origin", "server.tools.session.ui"),
    *(
        "@server.session.page.on\ndef f(): pass",
        "@app.ui\ndef f(): pass",
        "@server.session.storage.kept\ndef f(): pass",
    ),
]
SETTINGS = [
    *('allowed_origins = ["https://chat.example"]', 'allowed_origins = ["*"]', "allowed_origins = []", ""),
    *('allowed_origins = ["self", "http://localhost:8000"]', 'allowed_origins = ["null"]'),
    *('allowed_origins = ["null"]\noptions.allow_opaque = true', "options.allow_opaque = true"),
    *(
        'allowed_origins = { sep = ["null"] }',
        'allowed_origins = { mcp_apps = ["*"] }',
        "allowed_origins = { sep = [] }",
    ),
    *('allowed_origins = { "*" = ["https://chat.example"] }', 'allowed_origins = ["https://*.example"]'),
    *('allowed_origins = { sep = ["https://a.example"], mcp_apps = ["https://b.example"] }',),
    *('allowed_origins = ["*"]\ndialects = ["mcp_apps"]', 'allowed_origins = ["*"]\ndialects = ["mcp_apps", "sep"]'),
    *('allowed_origins = ["https://chat.example/"]', 'allowed_origins = ["chat.example"]', "allowed_origins = [1]"),
    *('allowed_origins = ["https://chat.example:443"]', 'allowed_origins = ["HTTPS://chat.example"]'),
    *('allowed_origins = ["https://127.1"]', 'allowed_origins = ["http://127.0.0.1:8000", "http://[::1]"]'),
    *('allowed_origins = ["https://ä.example"]', 'allowed_origins = ["https://xn--4ca.example"]'),
    *('allowed_origins = ["chrome-extension://abcdefghij"]', 'allowed_origins = ["file://"]', 'allowed_origins = "*"'),
    *('allowed_origins = ["https://a.example", "https://b example"]', 'allowed_origins = ["data:,x"]'),
]


def project(settings: str = "") -> Project:
    config = read_config(tomllib.loads(settings), "pyproject.toml")
    here = Path()
    return Project(here, here, "x", "server:server", here, None, (), (), config)


def test_a_run_is_in_a_worker_and_has_a_process_where_a_build_says_so(tmp_path: Path) -> None:
    projects = [{"server.py": SERVER + each} for each in (*IMPORTS, *USES)]
    projects.append({"a.py": SERVER, "b.py": "from a import server\nserver.ui"})
    folders = [path.parent for path in sorted(templates_dir().glob("*/pyproject.toml"))]
    projects += [{path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.py"))} for folder in folders]
    (tmp_path / "sources.json").write_text(json.dumps([list(each.values()) for each in projects]), "utf-8")
    [found] = results(("needs", str(tmp_path / "sources.json")))
    for files, needs in zip(projects, found["value"], strict=True):
        author = {path: text.encode() for path, text in files.items()}
        expected = {
            "page": not can_run_in_worker(project(), author),
            "process": written_for_a_process(project(), Packages({"mcp": "2.3.0"}, frozenset()), author),
        }
        assert needs == expected, files
    for name in ("page", "process"):
        assert {each[name] for each in found["value"]} == {True, False}


def hosts_in_a_build(settings: str) -> set[str] | None:
    """Return the origins that may embed a build's page by the SEP; None if there are none, or it is refused."""
    try:
        config = project(settings).config
    except ConfigError:
        return None
    try:
        lists = lists_of(config.dialects, entries_of(config.allowed_origins), opaque=config.options.allow_opaque)
    except ValueError:
        return None
    allowed = lists.of("sep")
    return set(allowed) if allowed else None


def test_a_link_is_embedded_by_the_pages_that_may_embed_its_build() -> None:
    texts = [f"[tool.mcpframe]\n{each}\n" for each in SETTINGS]
    found = results(*(("hostsOf", {"pyproject.toml": text}) for text in texts))
    for settings, each in zip(SETTINGS, found, strict=True):
        assert (set(each["value"]) if "value" in each else None) == hosts_in_a_build(settings), settings
    assert sum("value" in each for each in found) > 8
    assert all("allowed_origins" in each["error"] for each in found if "error" in each)
