"""The pure parts of the playground's code help. With the type checker: tests/browser/test_playground_language.py."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from docs.generate.language import stubs, without_third_party
from mcpframe.kit.base.errors import BuildError
from tests.unit.test_playground_files import results

BUILTINS = '"/typeshed/stdlib/builtins.pyi":"class int: ...\\n","/typeshed/stdlib/VERSIONS":`a: 3.0-\n`'
THIRD = '"/typeshed/stubs/six/six.pyi":\'it\\\'s "}"\\n\''


def worker(*entries: str, before: str = "", end: str = "}") -> str:
    body = ",".join(('"/typeshed/LICENSE":"MIT"', *entries))
    return f"{before}e.exports={{{body}{end}; after()\n//# sourceMappingURL=worker.js.map"


def test_stubs_of_third_parties_are_cut_out_of_the_worker() -> None:
    found = without_third_party(worker(THIRD, BUILTINS, THIRD.replace("six.pyi", "more.pyi"), before="before();"))
    assert found == f'before();e.exports={{"/typeshed/LICENSE":"MIT",{BUILTINS}}}; after()\n'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nothing", "0 objects"),
        (worker(BUILTINS, THIRD) * 2, "2 objects"),
        (worker(BUILTINS), "nothing below /typeshed/stubs/"),
        (worker(THIRD), "no /typeshed/stdlib/builtins.pyi"),
        (worker(BUILTINS, THIRD, '"/typeshed/b":f()'), "no file at"),
        (worker(BUILTINS, THIRD, end=""), "no file at"),
    ],
)
def test_a_worker_of_another_shape_is_refused(text: str, reason: str) -> None:
    with pytest.raises(BuildError, match=reason):
        without_third_party(text)


def test_stubs_have_what_the_checker_needs_and_no_other_bodies() -> None:
    sources = {
        "pydantic/__init__.py": """
from .main import Model
def __getattr__(name):
    return name
""",
        "pydantic/main.py": '''
from anyio.abc import Listener
class Model:
    """A model."""
    def __init__(self) -> None:
        self.a = 1
    def plain(self) -> int:
        """Plain."""
        import pydantic.alone
        return 1
    async def each(self) -> AsyncIterator[int]:
        """Each."""
        yield 1
    def inferred(self):
        return 1
''',
        "pydantic/alone.py": "x = 1",
        "anyio/__init__.py": "",
        "anyio/abc.py": "class Listener: ...",
        "other/__init__.py": "",
    }
    found = stubs({path: text.encode() for path, text in sources.items()})
    assert sorted(found) == [
        "/stubs/anyio/__init__.py",
        "/stubs/anyio/abc.py",
        "/stubs/pydantic/__init__.py",
        "/stubs/pydantic/main.py",
    ]
    main = found["/stubs/pydantic/main.py"]
    functions = [each for each in ast.walk(ast.parse(main)) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    bodies = {each.name: "\n".join(map(ast.unparse, each.body)) for each in functions}
    assert bodies == {
        "__init__": "self.a = 1",
        "plain": "'Plain.'\n...",
        "each": "'Each.'\nyield",
        "inferred": "return 1",
    }
    assert "return name" in found["/stubs/pydantic/__init__.py"]


def test_the_checker_gets_python_files_its_configuration_and_stubs() -> None:
    project = {"server.py": "a", "data.json": "b", "pyrightconfig.json": "{}", "folder/x.pyi": "c"}
    names = ["server.py", "a b/é#?%41.py", "__proto__/x.py"]
    files, paths, *others = results(
        ("started", [project, {"/stubs/mcp/__init__.py": "d"}]),
        ("paths", names),
        *(
            ("pathOf", uri)
            for uri in ("file:///stubs/mcp/__init__.py", "file:///src", "file:///src/%", "https://a/src/b")
        ),
    )
    config = json.loads(files["value"].pop("/src/pyrightconfig.json"))
    assert files["value"] == {"/stubs/mcp/__init__.py": "d", "/src/server.py": "a", "/src/folder/x.pyi": "c"}
    assert (config["typeshedPath"], config["extraPaths"]) == ("/typeshed", ["/stubs"])
    assert paths["value"] == names
    assert [each["value"] for each in others] == [""] * 4


def test_documentation_has_no_elements_but_line_breaks() -> None:
    html = "a<br>b &lt;i> <img src=x> <br onclick=x> <BR> </p><!--<br><<br>"
    [found] = results(("onlyText", html))
    assert found["value"] == "a<br>b &lt;i> &lt;img src=x> &lt;br onclick=x> &lt;BR> &lt;/p>&lt;!--<br>&lt;<br>"


def test_the_transport_adapts_answers_and_ends() -> None:
    markup = ["markdown", "plaintext"]
    item = {"documentationFormat": markup, "snippetSupport": True}
    capabilities = {
        "textDocument": {
            "diagnostic": {},
            "hover": {"contentFormat": markup},
            "completion": {"completionItem": item},
            "signatureHelp": {"signatureInformation": {"documentationFormat": markup}},
        }
    }

    def request(number: int, method: str, params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}

    items = [{"section": "python"}, {"section": "basedpyright"}]
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {"hoverProvider": True}}}
    [found] = results(
        (
            "transported",
            {
                "sent": [
                    request(1, "initialize", {"rootUri": "file:///src", "capabilities": capabilities}),
                    request(2, "textDocument/hover", {}),
                ],
                "posted": [
                    answer,
                    {"type": "browser/newWorker"},
                    request(7, "workspace/configuration", {"items": items}),
                    request(8, "client/registerCapability", {}),
                    {"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {}},
                ],
            },
        )
    )
    to_worker, to_client = found["value"]["worker"], found["value"]["client"]
    started = to_worker[0]["params"]
    assert started["workspaceFolders"] == [{"uri": "file:///src", "name": "project"}]
    offered = started["capabilities"]["textDocument"]
    assert "diagnostic" not in offered
    assert "markdown" not in json.dumps(offered)
    assert offered["completion"]["completionItem"]["snippetSupport"] is True
    assert [each.get("id") for each in to_worker] == [1, 2, 7, 8]
    assert len(to_worker[2]["result"]) == 2
    assert to_worker[3]["result"] is None
    assert to_client == [
        answer,
        {"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": {}},
        {"jsonrpc": "2.0", "id": 2, "result": None},
    ]
