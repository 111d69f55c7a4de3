"""The balancers of docs/examples/scale: the real programs, with the example's configuration at other addresses."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mcpframe.kit.base.data import checkout_dir
from tests.support.other_sdks import sdk_folder

EXAMPLE = checkout_dir() / "docs" / "examples" / "scale"
_STARTS_WITHIN = 60.0


def _installed(name: str) -> Callable[[], str]:
    def find() -> str:
        # Debian has them where only root looks.
        program = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"]))
        if program is None:
            pytest.skip(f"{name} is not installed: apt-get install {name}")
        return program

    return find


def _envoy() -> str:
    program = sdk_folder("scale") / "envoy" / "_bin" / "envoy"
    if not program.is_file():
        pytest.skip("There is no Envoy for this system.")
    program.chmod(0o755)
    return str(program)


@dataclass(frozen=True)
class Kind:
    """A program.

    Attributes:
        name: Its name.
        file: Its configuration in the example.
        program: Returns its path, or skips the test.
        checking: The arguments that check the configuration, whose path follows.
        running: Those that run it in the foreground.
    """

    name: str
    file: str
    program: Callable[[], str] = field(repr=False)
    checking: tuple[str, ...]
    running: tuple[str, ...]

    def __str__(self) -> str:
        return self.name

    def check(self, file: Path) -> str:
        """Have the program check a configuration; returns what it prints. Fails if it is refused."""
        command = [self.program(), *self.checking, str(file)]
        outcome = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_STARTS_WITHIN)
        assert outcome.returncode == 0, outcome.stderr + outcome.stdout
        return outcome.stderr + outcome.stdout


HAPROXY = Kind("haproxy", "haproxy.cfg", _installed("haproxy"), ("-c", "-f"), ("-db", "-f"))
NGINX = Kind("nginx", "nginx.conf", _installed("nginx"), ("-t", "-c"), ("-g", "daemon off; error_log stderr;", "-c"))
ENVOY = Kind(
    "envoy", "envoy.yaml", _envoy, ("--mode", "validate", "-c"), ("--use-dynamic-base-id", "-l", "warning", "-c")
)
KINDS = (HAPROXY, NGINX, ENVOY)


def free_port() -> int:
    """Return a port of this machine that no program listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def configuration(kind: Kind, ports: Mapping[str, int], port: int, folder: Path) -> str:
    """Return the example's configuration, for bridges and a balancer on this machine.

    Args:
        ports: The ports of the bridges, by their names in the example.
        port: The balancer's port.
        folder: Where it may write.
    """
    text = (EXAMPLE / kind.file).read_text("utf-8")
    for name, its_port in ports.items():
        text = text.replace(f"{name}:8717", f"127.0.0.1:{its_port}")
        text = text.replace(f"address: {name}, port_value: 8717", f"address: 127.0.0.1, port_value: {its_port}")
    text, listens = re.subn(r"(bind |listen )(:?)8080|0\.0\.0\.0, port_value: 8080", _at(port), text)
    assert listens == 1
    if kind is NGINX:  # its usual folders are those of the system's server
        parts = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        places = "".join(f"{part}_temp_path {folder}/{part};" for part in parts)
        user = "user root;\n" if os.geteuid() == 0 else ""  # another one could not write there
        text = f"{user}pid {folder}/pid;\n" + text.replace("http {", f"http {{ access_log off; {places}", 1)
    return text


def _at(port: int) -> Callable[[re.Match[str]], str]:
    return lambda found: f"{found[1]}127.0.0.1:{port}" if found[1] else f"127.0.0.1, port_value: {port}"


@dataclass(frozen=True)
class Balancer:
    """A balancer that runs.

    Attributes:
        kind: Its program.
        url: The address of MCP's endpoint there.
    """

    kind: Kind
    url: str
    _ports: Mapping[str, int]
    _process: subprocess.Popen[bytes]
    _file: Path

    def reload(self, without: str | None = None) -> None:
        """Have nginx read its configuration again, with all bridges but one for what is new."""
        text = self._file.read_text("utf-8").replace(" down;", ";")
        if without is not None:  # the lines without options are those for what is new
            text = text.replace(f":{self._ports[without]};", f":{self._ports[without]} down;")
        self._file.write_text(text, "utf-8")
        self._process.send_signal(signal.SIGHUP)


@asynccontextmanager
async def balancer(kind: Kind, ports: Mapping[str, int], folder: Path) -> AsyncIterator[Balancer]:
    """Run a balancer for as long as the block lasts."""
    port = free_port()
    file = folder / kind.file
    file.write_text(configuration(kind, ports, port, folder), "utf-8")
    with (folder / f"{kind}.log").open("wb") as log:
        command = [kind.program(), *kind.running, str(file)]
        process = subprocess.Popen(command, stdout=log, stderr=log)  # noqa: ASYNC220  returns at once
    try:
        async with asyncio.timeout(_STARTS_WITHIN):
            while not await _listens(port):
                assert process.poll() is None, (folder / f"{kind}.log").read_text()
                await asyncio.sleep(0.02)
        yield Balancer(kind, f"http://127.0.0.1:{port}/mcp", ports, process, file)
    finally:
        process.terminate()
        process.wait(_STARTS_WITHIN)


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
