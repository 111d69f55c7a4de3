"""How a program is told to serve on standard input and output."""

from __future__ import annotations

import pytest

from mcpframe.kit.bundle.code.stdio_choice import StdioChoice, stdio_choice

ARGUMENT = 'args = ["--transport", "stdio"]'


@pytest.mark.parametrize(
    ("code", "setting"),
    [
        ('parser.add_argument("-t", "--transport", choices=["stdio", "sse"], default="sse")', ARGUMENT),
        ('@click.option("--transport", type=click.Choice(["sse", "stdio"]))\ndef main(transport): ...', ARGUMENT),
        ('def main(way: str = typer.Option("sse", "--transport", help="stdio or sse")): ...', ARGUMENT),
        ('parser.add_argument("--stdio", action="store_true")', 'args = ["--stdio"]'),
        ('parser.add_argument("transport", choices=["stdio", "http"])', 'args = ["stdio"]'),
        ('commands.add_parser("stdio")', 'args = ["stdio"]'),
        ('if "--stdio" in sys.argv: mcp.run()', 'args = ["--stdio"]'),
        ('if sys.argv[1] == "stdio": mcp.run()', 'args = ["stdio"]'),
        ('os.getenv("MCP_TRANSPORT", "sse") == "stdio"', 'MCP_TRANSPORT = "stdio"'),
        ('os.environ["TRANSPORT"] == "stdio"', 'TRANSPORT = "stdio"'),
    ],
)
def test_what_selects_stdio_is_found(code: str, setting: str) -> None:
    found = stdio_choice({"weather/main.py": code.encode()})
    assert found is not None
    assert (found.setting, found.place) == (setting, "weather/main.py, line 1")
    assert found.table == ("[tool.mcpframe]" if setting.startswith("args") else "[tool.mcpframe.env]")
    assert setting in found.advice


@pytest.mark.parametrize(
    "code", ['mcp.run(transport="sse")', 'mcp.run("stdio")', 'os.getenv("API_KEY")  # stdio', "def broken(: stdio"]
)
def test_code_without_a_choice_has_none(code: str) -> None:
    assert stdio_choice({"weather/main.py": code.encode()}) is None


def test_the_file_of_the_program_goes_first() -> None:
    argument = b'parser.add_argument("--transport", choices=["stdio"])'
    variable = b'os.getenv("TRANSPORT") == "stdio"'
    files = {"a/first.py": argument, "a/main.py": variable}
    assert stdio_choice(files, "a/main.py") == StdioChoice(
        'TRANSPORT = "stdio"', "a/main.py, line 1", "[tool.mcpframe.env]"
    )
