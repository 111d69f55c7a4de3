"""`[tool.mcpframe]`: what is allowed, and that an error names file, key and what is allowed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.project.project import find_project, with_origins
from mcpframe.kit.project.pyproject import read_config

SERVER = "from mcpframe import FrameServer\n\nfirst = FrameServer('x')\n"


def write(folder: Path, pyproject: str | None, **files: str) -> Path:
    if pyproject is not None:
        (folder / "pyproject.toml").write_text(pyproject)
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_everything_has_a_default() -> None:
    config = read_config({}, "pyproject.toml")
    assert config.visibility.requirement is None  # the build sees whether the server draws a page
    assert config.boot_timeout == 60
    assert config.import_server
    assert config.allowed_origins == []


def test_every_key_is_taken() -> None:
    config = read_config(
        {
            "entry": "package.server:app.server",
            "name": "n",
            "title": "T",
            "allowed_origins": ["https://chat.example", "http://localhost:8000"],
            "visibility": {"requirement": "optional", "message": "m"},
            "requirements": ["numpy>=2"],
            "lazy": ["pillow"],
            "assets": ["data/*.json"],
            "source": "src",
            "csp": {"connect_src": ["https://api.example"], "unsafe_eval": True},
            "options": {"handshake_timeout": 5.0, "max_pending": 10, "allow_opaque": True},
            "boot_timeout": 10.0,
            "import_server": False,
            "args": ["--root", "/data"],
            "leave_out": ["lxml"],
            "persist": ["~/.server", "~", "/data/notes.db"],
            "env": {"LOG_LEVEL": "debug"},
        },
        "pyproject.toml",
    )
    assert config.options.max_pending == 10
    assert config.csp.connect_src == ["https://api.example"]


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"titel": "x"}, r"tool\.mcpframe\.titel is not a key; did you mean title\? allowed are entry, kind, name"),
        ({"visibility": {"requirement": "always"}}, r"visibility\.requirement: .*'required', 'optional' or 'hidden'"),
        ({"visibility": {"req": "x"}}, r"visibility\.req is not a key; .*requirement, message"),
        ({"visibility": "hidden"}, r"visibility must be a table with the keys requirement, message"),
        ({"entry": "ser ver"}, r"entry: must be 'module:object', such as 'server:server'"),
        ({"entry": "server:make(1)"}, r"entry: must be 'module:object', .* or 'module:factory\(\)'"),
        ({"persist": ["notes.txt"]}, r"persist.0: must be a file or folder of the page.*'~/.myserver'"),
        ({"persist": ["~/a/../../b"]}, r"persist.0: must be"),
        ({"persist": ["/"]}, r"persist.0: must be"),
        ({"persist": ["/lib/python3"]}, r"persist.0: must be.*/lib"),
        ({"persist": ["~other/x"]}, r"persist.0: must be"),
        ({"persist": "~/x"}, r"persist: must be a valid list"),
        ({"leave_out": ["lxml>=5"]}, r"leave_out.0: must be the name of a package, without a version"),
        ({"args": "--root"}, r"args: .*list"),
        ({"args": ["a\0"]}, r"args\.0: must not contain a null character"),
        ({"env": {"A": 1}}, r"env\.A: .*valid string, not 1"),
        ({"env": {"A=B": "x"}}, r"env.*: must be the name of an environment variable"),
        ({"env": ["A=B"]}, r"env: .*dictionary"),
        ({"entry": "server.py:server:x"}, r"entry: must be 'module:object'"),
        ({"allowed_origins": ["https://chat.example/"]}, r"allowed_origins: .*write 'https://chat.example'"),
        ({"allowed_origins": ["https://*.example"]}, r"allowed_origins: .*without wildcards"),
        ({"allowed_origins": "https://chat.example"}, r"allowed_origins: .*list"),
        ({"options": {"max_pending": 0}}, r"options\.max_pending: .*greater than or equal to 1"),
        ({"options": {"handshake_timeout": -1.0}}, r"options\.handshake_timeout: .*greater than 0"),
        ({"options": {"max_nesting": "3"}}, r"options\.max_nesting: .*valid integer"),
        ({"boot_timeout": float("inf")}, r"boot_timeout: .*less than or equal to 2000000"),
        ({"import_timeout": 1e10}, r"import_timeout: .*less than or equal to 2000000"),
        ({"boot_timeout": 0}, r"boot_timeout: .*greater than 0"),
        ({"csp": {"connect_src": ["https://a.example; script-src *"]}}, r"csp\.connect_src: .*is not a CSP source"),
        ({"csp": {"connect_src": ["'unsafe-eval'"]}}, r"csp\.connect_src: .*is not a CSP source"),
        ({"assets": ["../secret"]}, r"assets.*: must be a path inside the project"),
        ({"assets": ["/etc/passwd"]}, r"assets.*: must be a path inside the project"),
        ({"name": "a/b"}, r"name: must consist of letters, digits"),
    ],
)
def test_an_error_names_file_key_and_what_is_allowed(table: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        read_config(table, "here/pyproject.toml")
    assert str(caught.value).startswith("here/pyproject.toml: tool.mcpframe.")


def test_a_project_takes_its_dependencies_but_not_mcpframe_itself(tmp_path: Path) -> None:
    write(
        tmp_path,
        '[project]\nname = "my server"\ndependencies = ["mcpframe", "mcp[cli]", "attrs>=24", "Pillow"]\n'
        '[tool.mcpframe]\nentry = "server:first"\nlazy = ["pillow"]\n',
        server=SERVER,
    )
    project = find_project(tmp_path)
    assert project.requirements == ("attrs>=24",)
    assert project.lazy == ("pillow",)
    assert project.name == "my-server"
    assert project.source == tmp_path
    assert project.lock_path == tmp_path / "mcpframe.lock"


def test_a_version_of_the_sdk_that_the_author_pins_is_kept(tmp_path: Path) -> None:
    write(tmp_path, '[project]\nname = "x"\ndependencies = ["mcp[cli]==2.3.0"]\n', server=SERVER)
    assert find_project(tmp_path).requirements == ("mcp==2.3.0",)


def test_entry_and_source_are_found(tmp_path: Path) -> None:
    write(tmp_path, '[project]\nname = "x"\n', src__server=SERVER)
    project = find_project(tmp_path / "pyproject.toml")
    assert (project.entry, project.source) == ("server:first", tmp_path / "src")


OWN_SCRIPT = """
[project]
name = "My.Server"
dependencies = ["other-server"]
[project.scripts]
my-server = "my_server.cli:main"
more = "my_server.cli:more"
[tool.mcpframe]
entry = "my-server"
"""


def test_an_entry_is_the_projects_own_program(tmp_path: Path) -> None:
    write(tmp_path, OWN_SCRIPT, src__my_server____init__="")
    project = find_project(tmp_path)
    assert (project.entry, project.program, project.source) == ("my_server.cli:main", "my-server", tmp_path / "src")
    assert project.settings == {"args": [], "env": {}, "program": "my-server"}
    write(tmp_path, OWN_SCRIPT + 'script = "more"\n')
    assert find_project(tmp_path).program == "more"
    write(tmp_path, OWN_SCRIPT + 'script = "less"\n')
    with pytest.raises(ConfigError, match="script: my-server has no 'less'; it has 'more', 'my-server'"):
        find_project(tmp_path)
    write(tmp_path, OWN_SCRIPT.replace("my-server =", "most ="))
    with pytest.raises(ConfigError, match=r"several programs: set tool.mcpframe.script to one of 'more', 'most'"):
        find_project(tmp_path)


@pytest.mark.parametrize("entry", ["other-server", "Other_Server", "other_server.app:server"])
def test_an_entry_may_be_in_a_requirement(tmp_path: Path, entry: str) -> None:
    write(tmp_path, f'[project]\nname = "x"\ndependencies = ["other-server"]\n[tool.mcpframe]\nentry = "{entry}"\n')
    project = find_project(tmp_path)
    assert (project.entry, project.program, project.source) == (entry, "", tmp_path)


def test_a_single_file_needs_no_pyproject(tmp_path: Path) -> None:
    write(
        tmp_path,
        None,
        pi="# /// script\n# dependencies = ['attrs']\n# [tool.mcpframe]\n# title = 'Pi'\n# ///\n" + SERVER,
    )
    project = find_project(tmp_path / "pi.py")
    assert (project.entry, project.name, project.requirements) == ("pi:first", "pi", ("attrs",))
    assert project.config.title == "Pi"
    assert project.lock_path.name == "pi.mcpframe.lock"


@pytest.mark.parametrize(
    ("pyproject", "files", "told"),
    [
        (None, {}, "neither a pyproject.toml nor a Python file"),
        ("[project\n", {"server": SERVER}, r"pyproject.toml is not valid TOML"),
        ('[project]\nname = "x"\n', {}, r"set tool.mcpframe.entry to 'module:object'"),
        (
            '[tool.mcpframe]\nentry = "server"\n',
            {"server": SERVER},
            r"entry: must be 'module:object', such as 'server:s",
        ),
        (
            '[project]\nname = "me"\n[tool.mcpframe]\nentry = "me"\n',
            {"server": SERVER},
            r"entry is 'me', the project itself, which has no project.scripts",
        ),
        ('[tool.mcpframe]\nentry = "web:app"\n', {"server": SERVER}, r"there is no web.py or web/ in"),
        ('[project]\nname = "x"\ndependencies = ["a b c"]\n', {"server": SERVER}, r"'a b c' is not a requirement"),
        ('[project]\nname = "x"\ndependencies = ["a @ https://x.example/a.whl"]\n', {"server": SERVER}, "has a URL"),
        ('[project]\nname = "x"\ndependencies = "numpy"\n', {"server": SERVER}, "must be a list of requirements"),
        ('[project]\nname = "_mcpframe"\n', {"server": SERVER}, None),
        (None, {"server": "def broken(:\n"}, r"server.py, line 1: "),
    ],
)
def test_what_is_wrong_with_a_project(
    tmp_path: Path, pyproject: str | None, files: dict[str, str], told: str | None
) -> None:
    write(tmp_path, pyproject, **files)
    if told is None:
        assert find_project(tmp_path).name == "mcpframe"  # never the shared folder's name
        return
    with pytest.raises(ConfigError, match=told):
        find_project(tmp_path)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"{tmp_path / 'nothing'} does not exist")):
        find_project(tmp_path / "nothing")


def test_origins_given_to_the_build_replace_the_configured_ones(tmp_path: Path) -> None:
    write(tmp_path, '[tool.mcpframe]\nallowed_origins = ["https://a.example"]\n', server=SERVER)
    project = find_project(tmp_path)
    assert with_origins(project, ["https://b.example"]).config.allowed_origins == ["https://b.example"]
    with pytest.raises(ConfigError, match="given to the build"):
        with_origins(project, ["b.example"])


def test_the_origin_of_the_sandbox_may_be_the_pages_own() -> None:
    assert read_config({"sandbox_origin": "self"}, "f").sandbox_origin == "self"
    with pytest.raises(ConfigError, match="scheme and host"):
        read_config({"sandbox_origin": "null"}, "f")


def test_origins_by_dialect() -> None:
    table = {"sep": ["https://chat.example"], "mcp_apps": ["*", "null"]}
    assert read_config({"allowed_origins": table}, "f").allowed_origins == table
    for wrong, said in (
        ({"telex": ["*"]}, "sep, mcp_apps"),
        ({"sep": "*"}, r"allowed_origins\.sep: must be a valid list"),
        ({"sep": [1]}, r"allowed_origins\.sep\.0: must be a valid string"),
        ({"mcp_apps": ["chat.example"]}, "scheme and host"),
    ):
        with pytest.raises(ConfigError, match=said):
            read_config({"allowed_origins": wrong}, "f")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "must name at least one of sep, mcp_apps, mcp_ui, mcp_b, plain_mcp, webmcp"),
        (["sep", "gopher", "telex"], "'gopher', 'telex' are not dialects; possible are sep, mcp_apps"),
        (["mcp-ui"], "'mcp-ui' is not a dialect"),
        (["sep", "mcp_ui", "sep"], "'sep' is in it twice"),
        ("sep", "list"),
        ([1], "string"),
    ],
)
def test_dialects_that_cannot_be_offered(value: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as error:
        read_config({"dialects": value}, "pyproject.toml")
    assert str(error.value).startswith("pyproject.toml: tool.mcpframe.dialects")


def test_dialects_are_in_their_own_order() -> None:
    assert read_config({}, "pyproject.toml").dialects == []
    assert read_config({"dialects": ["webmcp", "mcp_ui", "sep"]}, "p").dialects == ["sep", "mcp_ui", "webmcp"]
