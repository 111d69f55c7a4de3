"""The tutorial's walk from an empty folder to a colleague's client: each command of the page, in order.

A folder stands in for GitHub: it gets the push, and what the workflow runs in a clone of it is served here. The
installations are those of `build.py release`.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcpframe.kit.base.cache import cache_dir
from mcpframe.kit.web.serve import serve_folder
from tests.bridge.programs import PATIENCE, ROOT, environment

PAGE = (ROOT / "docs" / "tutorial" / "to-a-colleague.md").read_text("utf-8")
BLOCK = re.compile(r"^```(console|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PUBLISHED = "https://OWNER.github.io/adder/"
_CONFIG = {"user.name": "Someone", "user.email": "someone@example.com", "protocol.file.allow": "always"}


class Walker:
    """A person who does what the page says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.github = folder / "github"
        programs = folder / "programs"
        programs.mkdir()
        own = shlex.join([sys.executable, "-P", "-m", "mcpframe"])
        # uvx is called with the name of the package, which the installed one is.
        for name, words in {"mcpframe": '"$@"', "uvx": '"${@:2}"'}.items():
            (programs / name).write_text(f"#!/bin/bash\nexec {own} {words}\n", "utf-8")
            (programs / name).chmod(0o755)
        settings = {**_CONFIG, f"url.{self.github.as_uri()}/.insteadOf": "https://github.com/OWNER/"}
        self.variables = {
            **environment(),
            "PATH": f"{programs}:{os.environ['PATH']}",
            "MCPFRAME_CACHE": str(cache_dir()),
            "GIT_CONFIG_COUNT": str(len(settings)),
        }
        for number, (key, value) in enumerate(settings.items()):
            self.variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        self.said: list[str] = []

    def run(self, command: str, *, at: Path | None = None) -> str:
        """Run a command, and return what it prints."""
        words = ["bash", "-c", command]
        done = subprocess.run(
            words, cwd=at or self.folder, env=self.variables, capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def follow(self, blocks: list[tuple[str, str]], origin: str = "") -> None:
        """Do what blocks of the page say."""
        for kind, text in blocks:
            if kind == "text" and text.startswith("allowed_origins"):
                self.replace_line("pyproject.toml", text)
            elif kind == "text":
                self.said.append(text.strip())
            for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                self.do(command.replace(PUBLISHED, origin), printed)

    def do(self, command: str, printed: str) -> None:
        """Run a command, which has to print a text, if there is one."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
        elif not command.startswith("pip install "):
            answer = self.run(command)
            assert not printed or answer == printed, command

    def replace_line(self, name: str, line: str) -> None:
        """Replace the line of a file that sets the same as another one."""
        path = self.folder / name
        text, count = re.subn(rf"^{line.split()[0]} = .*\n", line, path.read_text("utf-8"), flags=re.MULTILINE)
        assert count == 1
        path.write_text(text, "utf-8")

    def publish(self) -> Path:
        """Do what the workflow does after the push, and return the published folder."""
        clone = self.github / "clone"
        self.run(f"git clone --quiet {shlex.quote(str(self.github / 'adder.git'))} {shlex.quote(str(clone))}", at=ROOT)
        workflow = (clone / ".github" / "workflows" / "pages.yml").read_text("utf-8")
        [command] = re.findall(r"run: (mcpframe .*?) #", workflow)
        self.run(command, at=clone)
        [folder] = re.findall(r"path: (.*)", workflow)
        published: Path = clone / folder
        return published


@pytest.mark.extended
@pytest.mark.skipif(os.name != "posix", reason="the stand-ins are shell scripts")
async def test_the_walk_to_a_colleague(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE)
    pushed = next(number for number, (_, text) in enumerate(blocks) if "git push" in text) + 1
    walker = Walker(tmp_path)
    walker.run(f"git init --quiet --bare --initial-branch main {shlex.quote(str(walker.github / 'adder.git'))}")
    walker.follow(blocks[:pushed])
    with serve_folder(walker.publish()) as served:
        walker.follow(blocks[pushed:], f"{served.origin}/")
        assert walker.said == ["Add 1 and 2 with adder."]
        [(name, entry)] = json.loads((walker.folder / ".mcp.json").read_text("utf-8"))["mcpServers"].items()
        assert name == "adder"
        bare = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), **entry["env"]}
        command = StdioServerParameters(command=entry["command"], args=entry["args"], env=bare, cwd="/")
        with (tmp_path / "stderr.txt").open("w") as errors, anyio.fail_after(2 * PATIENCE):
            async with Client(stdio_client(command, errlog=errors)) as client:
                assert [tool.name for tool in (await client.list_tools()).tools] == ["add"]
                result = await client.call_tool("add", {"a": 1, "b": 2})
                assert result.structured_content == {"result": 3}
