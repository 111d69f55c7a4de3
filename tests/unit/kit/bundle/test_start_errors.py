"""Why a server does not start: what its code does, where, and what to do."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.code.start_errors import Raised, StartError, explain

ROOT = "/lib/python3.14/site-packages"
CODE = {
    "weather/main.py": b'from mcp.server.fastmcp import FastMCP\nmcp = FastMCP("w")\nos.getenv("WEATHER_KEY")\n',
    "weather/_fast.cpython-313-x86_64-linux-gnu.so": b"",
}
OWN = (f"{ROOT}/weather/main.py", 7, "main")
OURS = (f"{ROOT}/mcpframe/frame/serving/console.py", 144, "_run")
PUBLIC = "public, as the bundle is"


NOT_ANSWERED = "The program runs, but has not answered in 5 seconds."


def raised(kind: str, text: str = "", *frames: tuple[str, int, str], also: tuple[str, ...] = ()) -> Raised:
    return Raised((kind, *also, "Exception"), text, (OURS, OWN, *frames))


def explained(*chain: Raised) -> StartError:
    return explain(chain, CODE, "weather.main:main")


@pytest.mark.parametrize(
    ("error", "what", "todo"),
    [
        (
            raised("PlaceholderError", "", (f"{ROOT}/mcp/server/fastmcp/server.py", 782, "run_sse_async")),
            "it serves HTTP (run_sse_async)",
            "entry = 'weather.main:mcp'",
        ),
        (
            raised("NotImplementedError", "raw socket access", (f"{ROOT}/uvicorn/server.py", 182, "startup")),
            "it serves HTTP",
            "entry = 'weather.main:mcp'",
        ),
        (raised("UnsupportedOperation", "Nobody can type into a page, and"), "it reads its standard input", "args"),
        (raised("EOFError", "EOF when reading a line"), "it reads its standard input", "[tool.mcpframe.env]"),
        (
            raised("KeyError", "'WEATHER_KEY'", ("<frozen os>", 709, "__getitem__")),
            "it needs the environment variable WEATHER_KEY",
            PUBLIC,
        ),
        (
            raised(
                "ValidationError",
                "1 validation error for Settings\nweather_key\n  Field required [type=missing]",
                (f"{ROOT}/pydantic_settings/main.py", 194, "__init__"),
            ),
            "its settings weather_key are read from environment variables",
            PUBLIC,
        ),
        (
            raised("ImportError", "cannot import name '_fast' from 'weather' (...)"),
            "it imports the native module weather/_fast.cpython-313-x86_64-linux-gnu.so",
            "Python alone",
        ),
        (
            raised("ModuleNotFoundError", "No module named '_hnsw'", also=("ImportError",)),
            "it imports _hnsw, which no requirement has",
            "Python alone",
        ),
        (
            raised("OSError", "could not load dynamic lib: libfoo.so.1\nError: ..."),
            "it loads the native library libfoo.so.1",
            "compiled for Pyodide",
        ),
        (
            raised("OSError", "[Errno 138] emscripten does not support processes."),
            "it runs another program when it starts",
            "args",
        ),
        (raised("RuntimeError", "can't start new thread"), "it starts a thread", "args"),
        (
            raised("OSError", "Host is unreachable", ("/lib/python3.14/std/socket.py", 855, "create_connection")),
            "it opens a network connection",
            "args",
        ),
        (
            raised("TypeError", "fetch is not available while a server is built"),
            "it makes a request when it starts",
            "import_server = false",
        ),
        (raised("KeyboardInterrupt", ""), "starting it takes more than the time", "import_timeout"),
        (
            raised("JsException", "TypeError: Failed to fetch"),
            "it makes a request when it starts",
            "import_server = false",
        ),
        (
            raised("OSError", "NetworkError when attempting to fetch resource."),
            "it makes a request when it starts",
            "import_server = false",
        ),
        (raised("SystemExit", "No config found."), "it exits when it is imported, saying 'No config found'", "args"),
        (
            raised("ProgramError", "The program returned without serving MCP on its standard input and output: ..."),
            "its program returned without serving MCP",
            "entry = 'weather.main:mcp'",
        ),
        (
            raised("ProgramError", "The program runs, but has not answered in 5 seconds."),
            "its program runs, but has not answered in 5 seconds",
            "import_timeout",
        ),
        (
            raised("ProgramError", NOT_ANSWERED, (f"{ROOT}/httpx/_client.py", 1650, "send")),
            "its program waits for the answer to a request before it serves: it has not answered in 5 seconds",
            "import_server = false",
        ),
        (
            raised("ProgramError", NOT_ANSWERED, (f"{ROOT}/asyncio/locks.py", 213, "wait")),
            "its program waits for a lock or an event before it serves",
            "Turn that off",
        ),
        (
            raised("ProgramError", "The program runs, but only sleeps for 5 seconds."),
            "its program runs, but only sleeps for 5 seconds, perhaps until a request succeeds",
            "import_server = false",
        ),
    ],
)
def test_what_is_known_is_said_with_its_place_and_what_to_do(error: Raised, what: str, todo: str) -> None:
    found = explained(error)
    assert found.what.startswith(what)
    assert todo in found.todo
    assert found.place == "weather/main.py, line 7"
    assert found.sentences("") == f"{found.what} (weather/main.py, line 7). {found.todo}"


def test_a_program_that_exits_is_quoted() -> None:
    said = "Error: WEATHER_KEY is required"
    text = f"The program 'w' exited with status 1 before it served. It said:\n{said}\nIts arguments are "
    end = "tool.mcpframe.args, its environment variables tool.mcpframe.env."
    found = explained(raised("ProgramError", f"{text}{end}"))
    assert found.what == "The program 'w' exited with status 1 before it served."
    assert found.said == said
    assert 'WEATHER_KEY = "..."' in found.todo
    assert PUBLIC in found.todo
    assert "args" not in found.todo
    assert f"It said:\n{said}\nWrite" in found.sentences("")


def test_wrong_arguments_are_those_of_the_configuration() -> None:
    text = "The program 'w' exited with status 2 before it served. It said:\nusage: w [-h] --root ROOT\nw: error: ..."
    assert "args = [...]" in explained(raised("ProgramError", text)).todo


def test_a_variable_that_a_message_names_is_one_to_set() -> None:
    found = explained(raised("ValueError", "WEATHER_KEY is not set"))
    assert found.what == ""
    assert 'WEATHER_KEY = "..."' in found.todo
    assert explained(raised("ValueError", "WEATHER_KEYS are not set")).todo == ""


def test_a_file_of_another_package_is_not_the_author_s() -> None:
    files = {"server.py": b"", "mcp/server.py": b""}
    others = (f"{ROOT}/mcpframe/frame/serving/server.py", 151, "open_entry"), (f"{ROOT}/x/mcp/server.py", 9, "run")
    assert explain([Raised(("ValueError",), "no", others)], files, "server:server").place == ""
    own = ("/mcpframe/server/server.py", 3, "<module>")
    found = explain([Raised(("ValueError",), "no", (others[0], own, others[1]))], files, "server:server")
    assert found.place == "server.py, line 3"


def test_the_cause_of_an_error_is_found_with_the_place_of_its_code() -> None:
    outer = Raised(("RuntimeError",), "failed", (OURS,))
    found = explained(outer, raised("OSError", "emscripten does not support processes."))
    assert found.what.startswith("it runs another program")
    assert found.place == "weather/main.py, line 7"


def test_a_function_that_needs_arguments() -> None:
    error = Raised(("TypeError",), "main() missing 1 required positional argument: 'argv'", (OURS,))
    assert explained(error).what.startswith("its function main needs 'argv'")


def test_other_errors_are_as_they_are() -> None:
    found = explained(raised("ValueError", "no"))
    assert (found.what, found.todo, found.place) == ("", "", "weather/main.py, line 7")
    assert found.sentences("ValueError: no.") == "ValueError: no. Raised in weather/main.py, line 7."
