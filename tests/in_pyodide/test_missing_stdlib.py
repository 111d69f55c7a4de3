"""Parts of the standard library that Pyodide lacks, and what a tool's result says of them."""

from __future__ import annotations

import json

from mcpframe.kit.bundle.code.missing_stdlib import ABSENT
from tests.in_pyodide.test_event_loops import SERVE


def test_the_missing_modules_are_those_that_a_build_warns_of(selenium):
    code = """
import importlib, importlib.util, json, sys, warnings
warnings.simplefilter("ignore")
absent = []
for name in sorted(sys.stdlib_module_names):
    if name.startswith("_"):
        continue
    if importlib.util.find_spec(name) is None:
        absent.append(name)
    elif name not in ("antigravity", "this"):  # which open a browser, and print
        try:
            importlib.import_module(name)
        except ImportError:
            absent.append(name)
json.dumps(absent)
"""
    assert selenium.python(code) == sorted(ABSENT)


PROCESSES = {
    "system": "os.system('ls')",
    "popen": "os.popen('ls')",
    "run": "subprocess.run(['ls'])",
    "fork": "os.fork()",
    "spawn": "os.spawnlp(os.P_WAIT, 'ls', 'ls')",
    "exec": "os.execvp('ls', ['ls'])",
    "create": "await asyncio.create_subprocess_exec('ls')",
}
OTHERS = {
    "shelve": ("__import__('shelve').open('/tmp/x')", "use sqlite3"),
    "pwd": ("__import__('pwd')", "getpass.getuser"),
    "scrypt": ("hashlib.scrypt(b'a', salt=b'b', n=2, r=8, p=1)", "add 'cryptography'"),
    "md4": ("hashlib.new('md4')", "add 'cryptography'"),
}


def test_a_result_says_once_what_to_do_instead(selenium):
    code = f"""
import hashlib, os, subprocess
from mcpframe import FrameServer
from mcpframe.frame import world
from mcpframe.frame.compat.process import outlive_exits
outlive_exits()
server = FrameServer("s")
for name, source in {json.dumps(PROCESSES | {name: each[0] for name, each in OTHERS.items()})}.items():
    defined = {{}}
    exec(f"async def {{name}}() -> str:\\n    return str({{source}})", globals(), defined)
    server.tool(name=name)(defined[name])
said = []
for _ in range(2):
    async with connected(server, "2026") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        said.append({{name: text(await client.call_tool(name)) for name in names}})
    world.prepare()  # in bundles of programs
from hashlib import pbkdf2_hmac
json.dumps([said, pbkdf2_hmac("sha256", b"password", b"salt", 4096).hex()])
"""
    said, key = selenium.python(SERVE + code)
    for results in said:
        assert {name: results[name].count("A page has no processes") for name in PROCESSES} == dict.fromkeys(
            PROCESSES, 1
        )
        for name, (_, advice) in OTHERS.items():
            assert results[name].count(advice) == 1, results[name]
            assert "Add it to the server's requirements" not in results[name]
    assert key == "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"  # published test vector
