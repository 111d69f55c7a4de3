"""The npm package @mcpframe/host: packed as it would be published, installed in an empty folder, and used there."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from mcpframe.kit.base.bundled_scripts import HOST, bundled_script
from mcpframe.kit.base.data import checkout_dir, static_dir
from mcpframe.kit.base.errors import ToolFailed
from mcpframe.kit.base.node import find_node, install_locked
from mcpframe.kit.web.host_page import bundle_module
from mcpframe.kit.web.serve import serve_folder
from tests.release.host_package import host_scripts, pack_host_package

ROOT = checkout_dir()

USE = """
import { Client } from "@modelcontextprotocol/client";
import { FrameError, FrameTransport, PROTOCOL_VERSION, SANDBOX } from "@mcpframe/host";

const client = new Client({ name: "test", version: "1" });
// The transport's first look at a page: there is none in Node, so that connecting fails with what it says of that.
const unframed = () => new FrameTransport({ iframe: null, url: "ftp://tools.example/" });
let refused;
try { await client.connect(unframed()); } catch (error) { refused = error instanceof Error; }
const { start, send, close } = FrameTransport.prototype;
console.log(JSON.stringify({
  client: typeof client.connect,
  transport: [typeof start, typeof send, typeof close],
  version: PROTOCOL_VERSION,
  sandbox: Object.keys(SANDBOX),
  error: new FrameError("StateError", "why").name,
  refused,
}));
"""
TYPED = """
import { Client } from "@modelcontextprotocol/client";
import { FrameTransport, type FrameTransportOptions } from "@mcpframe/host";
import { McpServerElement } from "@mcpframe/host/element";
import { embedPageServer } from "@mcpframe/host/page-server";
import { PageHubTransport, joinHub } from "@mcpframe/host/page-hub";
import { Client as SameClient, FrameTransport as SameTransport } from "@mcpframe/host/bundled";

export async function connected(options: FrameTransportOptions): Promise<Client> {
  const client: Client = new SameClient({ name: "test", version: "1" });
  await client.connect(new FrameTransport(options));
  await client.connect(new SameTransport(options));
  // @ts-expect-error: there is no such option
  new FrameTransport({ ...options, nothing: 1 }).nothing;
  const end: () => void = embedPageServer("https://tools.example/pi/", { channel: "mine", parent: document.body });
  end();
  embedPageServer(new URL("https://tools.example/pi/"), { dialect: "plain_mcp" });
  // @ts-expect-error: no framed page speaks it here
  embedPageServer("/pi/", { dialect: "mcp_ui" });
  // @ts-expect-error: there is no such option
  embedPageServer("/pi/", { visible: true });
  const element = document.querySelector<McpServerElement>("mcp-server");
  if (element) await element.start().then((client: Client) => client.listTools());
  // @ts-expect-error: it is read-only
  if (element) element.state = "ready";
  const leave: () => void = joinHub("notes");
  leave();
  await client.connect(new PageHubTransport("notes"));
  return client;
}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the package in its node_modules, which npm has put there from the archive."""
    archive = pack_host_package(tmp_path_factory.mktemp("packed"), install_locked(ROOT))
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"name": "a-host", "private": true, "type": "module"}')
    find_node().npm("install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", str(archive), cwd=folder)
    assert sorted(path.name for path in (folder / "node_modules").iterdir() if path.name[0] != ".") == ["@mcpframe"]
    return folder


def test_the_bundled_scripts_in_the_repository_are_those_of_their_sources() -> None:
    modules = install_locked(ROOT)
    for path, text in host_scripts(modules).items():
        assert path.read_text("utf-8") == text, "run `python3 build.py scripts`"


def test_it_holds_what_it_says_and_nothing_else(installed: Path) -> None:
    package = installed / "node_modules" / "@mcpframe" / "host"
    modules = {"page-server.js", "page-hub.js", "hub-port.js", "host-json.js", "tools.js"}
    typed = {path.stem for path in (static_dir() / "host").glob("*.js")} - {"client"}
    written = {"host.js", "bundled.js", "element.js", "custom-elements.json", *(f"{name}.d.ts" for name in typed)}
    assert {path.name for path in package.iterdir()} == {
        *("package.json", "README.md", "LICENSE", "bundled.licenses.txt", "hub-scripts.js"),
        *("types.mjs", "types.licenses.txt"),
        *modules,
        *written,
    }
    for name in modules:
        assert (package / name).read_bytes() == (static_dir() / "host" / name).read_bytes()
    assert (package / "host.js").read_text("utf-8") == bundled_script(HOST)
    assert "@modelcontextprotocol/client" in (package / "bundled.licenses.txt").read_text()
    metadata = json.loads((package / "package.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (metadata["version"], metadata["license"]) == (project["version"], project["license"])
    assert metadata["repository"]["url"] == f"git+{project['urls']['Repository']}.git"
    locked = json.loads((ROOT / "package.json").read_text())["dependencies"]["@modelcontextprotocol/client"]
    assert metadata["peerDependencies"]["@modelcontextprotocol/client"] == f"^{locked}"


def test_the_elements_manifest_names_all_that_the_element_has(installed: Path) -> None:
    package = installed / "node_modules" / "@mcpframe" / "host"
    metadata = json.loads((package / "package.json").read_text())
    manifest = json.loads((package / metadata["customElements"]).read_text())
    [module] = manifest["modules"]
    assert metadata["exports"]["./element"]["default"] == f"./{module['path']}"
    [element] = module["declarations"]
    assert (element["tagName"], element["name"]) == ("mcp-server", "McpServerElement")
    source = "".join(path.read_text("utf-8") for path in (static_dir() / "host").glob("element*.js"))
    code = re.sub(r"/\*\*.*?\*/", "", source, flags=re.DOTALL)

    def listed(key: str) -> set[str]:
        entries = element[key]
        assert all(entry["description"] for entry in entries)
        return {entry["name"] for entry in entries}

    def written(pattern: str) -> set[str]:
        return {word for match in re.findall(pattern, code) for word in match.split()}

    assert listed("attributes") == written(r'this\.(?:get|has)Attribute\("([\w-]+)"\)')
    assert listed("events") == written(r'fire\(this, "([\w-]+)"')
    parts = r'(?:\bpart: "|part\.(?:add|toggle)\(")([\w -]+)"'
    assert listed("cssParts") == written(parts)
    assert listed("cssProperties") == written(r"var\((--mcp-server-[\w-]+)")
    assert listed("cssStates") == {"idle", "loading", "ready", "failed"}
    assert all(entry["default"] for entry in element["cssProperties"])
    members = {member["name"] for member in element["members"]}
    assert members >= {
        "src",
        "loading",
        "state",
        "client",
        "tools",
        "sessionId",
        "start",
        "restart",
        "setup",
        "stop",
        "close",
    }
    assert not any(name.startswith("#") for name in members)


def used(installed: Path, source: str, modules: Path) -> dict[str, object]:
    (installed / "use.js").write_text(source)
    bundle_module(str(installed / "use.js"), installed / "out.mjs", modules)
    said: dict[str, object] = json.loads(find_node().run(str(installed / "out.mjs")))
    return said


def test_a_bundler_takes_it_together_with_the_sdk(installed: Path) -> None:
    modules = install_locked(ROOT)
    expected = {
        "client": "function",
        "transport": ["function"] * 3,
        "version": "1.0",
        "sandbox": ["standard", "popups", "strict"],
        "error": "StateError",
        "refused": True,
    }
    assert used(installed, USE, modules) == expected
    one = USE.replace('import { Client } from "@modelcontextprotocol/client";\n', "").replace(
        '{ FrameError, FrameTransport, PROTOCOL_VERSION, SANDBOX } from "@mcpframe/host"',
        '{ Client, FrameError, FrameTransport, PROTOCOL_VERSION, SANDBOX } from "@mcpframe/host/bundled"',
    )
    assert used(installed, one, modules) == expected


def test_the_example_of_the_documentation_is_bundled(installed: Path) -> None:
    shutil.copy(ROOT / "docs" / "examples" / "host" / "main.js", installed)
    bundle_module(str(installed / "main.js"), installed / "main.mjs", install_locked(ROOT))
    assert "tools.example/adder" in (installed / "main.mjs").read_text()


def test_the_bundled_file_imports_nothing(installed: Path) -> None:
    package = installed / "node_modules" / "@mcpframe" / "host"
    alone = installed / "alone"
    alone.mkdir()
    shutil.copy(package / "bundled.js", alone / "bundled.mjs")  # out of reach of any node_modules
    (alone / "use.mjs").write_text(
        'import { Client, FrameTransport } from "./bundled.mjs"; console.log(typeof Client, typeof FrameTransport);'
    )
    assert find_node().run(str(alone / "use.mjs")).strip() == "function function"


@pytest.fixture
def typed(installed: Path, tmp_path: Path) -> Path:
    """A folder with the package and the official client, for TypeScript."""
    modules = install_locked(ROOT)
    (tmp_path / "node_modules" / "@mcpframe").mkdir(parents=True)
    shutil.copytree(installed / "node_modules" / "@mcpframe" / "host", tmp_path / "node_modules" / "@mcpframe" / "host")
    for name in ("@modelcontextprotocol", "@types", "zod", "undici-types"):
        if (modules / name).exists():
            (tmp_path / "node_modules" / name).symlink_to(modules / name, target_is_directory=True)
    return tmp_path


def compiled(folder: Path, *files: str) -> str:
    """Compile files of a folder, and return the compiler's errors."""
    options = json.loads((ROOT / "tests" / "types" / "tsconfig.json").read_text())
    del options["compilerOptions"]["paths"]
    (folder / "tsconfig.json").write_text(json.dumps({**options, "files": files}))
    compiler = install_locked(ROOT) / "typescript" / "lib" / "tsc.js"
    try:
        return find_node().run(str(compiler), "--project", str(folder), timeout=300)
    except ToolFailed as error:
        return error.output


def test_typescript_finds_its_types(typed: Path) -> None:
    (typed / "typed.ts").write_text(TYPED)
    shutil.copy(ROOT / "docs" / "examples" / "page-hub" / "page.ts", typed)
    assert compiled(typed, "typed.ts", "page.ts") == ""


SIZE = {"enum": ["small", "large"], "title": "Size", "type": "string"}
TOOLS = [
    {
        "name": "calculate_pi",
        "description": "Throw points. */ declare const evil: 1; /*",
        "inputSchema": {
            "type": "object",
            "properties": {
                "iterations": {"type": "integer", "title": "Iterations"},
                "size": {"$ref": "#/$defs/Size"},
                "elsewhere": {"$ref": "file:///etc/hostname"},
                "raw": {"type": "string", "tsType": "any", "default": {"$ref": "#/nowhere"}},
                "default": {"type": "boolean"},
            },
            "required": ["iterations"],
            "$defs": {"Size": SIZE},
        },
        "outputSchema": {"type": "object", "properties": {"pi": {"type": "number"}}, "required": ["pi"]},
    },
    {
        "name": "re/set~",
        "inputSchema": {"properties": {"to": {"$ref": "#/$defs/Tools"}}, "$defs": {"Tools": SIZE}},
    },
]
RIGHT = """
import type { Client } from "@modelcontextprotocol/client";
import { ToolError, tools } from "@mcpframe/host/tools";
import type { McpServerElement } from "@mcpframe/host/element";
import type { Tools } from "./tools.js";

export async function used(client: Client, element: McpServerElement): Promise<number> {
  const server = tools<Tools>(client);
  await server["re/set~"]();
  await server["re/set~"]({ to: "small" }, { signal: AbortSignal.timeout(1) });
  const untyped = tools(client);
  await untyped.anything?.({ name: 1 });
  await element.tools.anything?.();
  try {
    const answer = await server.calculate_pi({ iterations: 1000, size: "large", default: true });
    return answer.structuredContent.pi + answer.content.length;
  } catch (error) {
    if (error instanceof ToolError) return error.result.content.length;
    throw error;
  }
}
"""
WRONG = {
    "renamed": ("iterations: 1000", "rounds: 1000", "rounds"),
    "of another type": ("iterations: 1000", 'iterations: "1000"', "number"),
    "no such choice": ('size: "large"', 'size: "huge"', "huge"),
    "raw types": ("default: true", "raw: 1", "string"),
    "no such tool": ("server.calculate_pi", "server.calculate_tau", "calculate_tau"),
    "no such result": ("structuredContent.pi", "structuredContent.tau", "tau"),
}


def test_calls_are_typed_by_a_servers_schemas(typed: Path) -> None:
    served = typed / "served" / "pi"
    served.mkdir(parents=True)
    (served / "manifest.json").write_text(json.dumps({"tools": TOOLS}))
    program = str(typed / "node_modules" / "@mcpframe" / "host" / "types.mjs")
    with serve_folder(typed / "served") as site:
        places = (
            str(served),
            str(served / "manifest.json"),
            f"{site.origin}/pi/",
            f"{site.origin}/pi/index.html#setup",
        )
        written = {find_node().run(program, "types", place) for place in places}
        with pytest.raises(ToolFailed) as failed:
            find_node().run(program, "types", f"{site.origin}/other/")
        assert "404" in failed.value.output
    [declarations] = written
    (typed / "tools.ts").write_text(declarations)  # not .d.ts, which would be left unchecked
    (typed / "right.ts").write_text(RIGHT)
    shutil.copy(ROOT / "docs" / "examples" / "typed-calls" / "host.ts", typed)
    for name, (part, mistake, _) in WRONG.items():
        (typed / f"{name}.ts").write_text(RIGHT.replace(part, mistake))
    errors = compiled(typed, "right.ts", "host.ts", *(f"{name}.ts" for name in WRONG)).splitlines()
    for name, (_, _, said) in WRONG.items():
        assert any(f"/{name}.ts(" in line and said in line for line in errors), (name, errors)
    assert not any(re.search(r"/(right|host|tools)\.ts\(", line) for line in errors), errors

    for wrong in ("{", '{"tools": null}', "[]"):
        (served / "manifest.json").write_text(wrong)
        with pytest.raises(ToolFailed) as failed:
            find_node().run(program, "types", str(served))
        assert failed.value.output.startswith("There are no types for")
    with pytest.raises(ToolFailed, match="Usage"):
        find_node().run(program)
