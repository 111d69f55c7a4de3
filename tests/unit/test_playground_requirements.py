"""A project's requirements in the playground, in Node, which has mcp 2.3.0 and pydantic-core 2.50.4 here.

Whole: tests/browser/test_playground_requirements.py.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from docs.generate.playground_packages import INDEXES, WHEEL_HOSTS, installing_from, tags
from mcpframe.kit.web.serve import serve_app
from tests.support.wheels import write_wheel
from tests.unit.test_playground_files import results

MET = [
    "mcp",
    " MCP ",
    "mcp>=2,<3",
    "mcp (>=2.0)",
    "mcp[cli] ~= 2.3",
    "mcp==2.3",
    "mcp==2.*",
    "Pydantic_Core>=2.0; python_version >= '3.10'",
    "colorama; sys_platform == 'win32'",
    "tomli>=2; python_version < '3.11'",
    "tomli>=2; '3.11' > python_version",
    "uvloop; platform_system != 'Emscripten' and os_name == 'posix'",
    "a; (sys_platform == 'win32' or os_name == 'nt') and python_version > '3'",
    "a; sys_platform == 'win32' or (os_name == 'nt' and platform_machine in 'x86_64 wasm32')",
    "a; 'scripten' not in sys_platform",
    "a; extra == 'test'",
]
LACKING = [
    "numpy",
    "toString",
    "numpy>=2; sys_platform == 'emscripten'",
    "numpy; python_version < '3' or os_name == 'posix'",
    "numpy; (sys_platform == 'win32') or 'wasm' in platform_machine",
    "numpy; platform_release == 'x'",
    "numpy; os_name === 'posix' ) and (",
    "numpy; $",
]
REFUSED = {
    "mcp<2": "mcp is in the playground in version 2.3.0, which is not <2",
    "mcp!=2.3.0": "which is not",
    "mcp>=": "no valid version",
    "mcp<img src=x>": "no valid version",
    "__proto__": "not a requirement",
    "mcp @ https://evil.example/mcp.whl": "not a requirement by name",
    "https://evil.example/mcp.whl": "not a requirement by name",
    "./local": "not a requirement by name",
    "a" * 50_000 + ":": "not a requirement by name",
    "a" * 101: "not a requirement by name",
    "": "not a requirement by name",
}
TAGS = list(map(str, tags()))


def test_requirements_are_met_by_name_version_and_marker() -> None:
    assert [found["value"] for found in results(*(("lacking", each) for each in MET))] == [[]] * len(MET)


def test_what_the_playground_lacks_is_left_to_an_index() -> None:
    assert [found["value"] for found in results(*(("lacking", each) for each in LACKING))] == [
        [each] for each in LACKING
    ]


@pytest.mark.parametrize("requirement", REFUSED, ids=lambda each: each[:40])
def test_what_cannot_be_had_is_named_with_the_reason(requirement: str) -> None:
    [found] = results(("lacking", requirement))
    assert REFUSED[requirement] in found["error"]


def wheel(name: str, version: str = "1.0", tag: str = "py3-none-any", **more: Any) -> dict[str, Any]:
    return {f"{name}-{version}-{tag}.whl": more}


def needing(*requirements: str) -> str:
    return (
        "Metadata-Version: 2.1\nName: x\n"
        + "".join(f"Requires-Dist: {each}\n" for each in requirements)
        + "\nRequires-Dist: no\n"
    )


def resolved(requirements: list[str], index: dict[str, Any], **more: Any) -> dict[str, Any]:
    [found] = results(("resolved", {"requirements": requirements, "index": index, "tags": TAGS, **more}))
    return found


def chosen(*args: Any, **more: Any) -> list[str]:
    return [filename for filename, _ in resolved(*args, **more)["value"]["wheels"]]


def test_the_latest_wheel_that_runs_in_a_page_is_chosen() -> None:
    """Not a withdrawn or an early one, one for other systems or another Python, nor one without a hash."""
    wasm = "cp314-cp314-pyemscripten_2026_0_wasm32"
    files = {
        **wheel("a", "0.9"),
        **wheel("a", "1.10"),
        **wheel("a", "1.10", "cp314-cp314-pyodide_2026_0_wasm32"),
        **wheel("a", "1.10", wasm),
        **wheel("a", "1.9"),
        **wheel("a", "1.11", yanked=True),
        **wheel("a", "1.12rc1"),
        **wheel("a", "1.13", "cp314-cp314-manylinux_2_28_x86_64"),
        **wheel("a", "1.14", "cp314-cp314-pyodide_2025_0_wasm32"),
        **wheel("a", "1.15", requiresPython="<3.14"),
        **wheel("a", "1.16", sha256=""),
        **wheel("b", "1.17"),
        "a-1.18.tar.gz": {},
        "../a-1.19-py3-none-any.whl": {},
    }
    assert chosen(["A"], {"a": files}) == [f"a-1.10-{wasm}.whl"]
    assert chosen(["a<1.10"], {"a": files}) == ["a-1.9-py3-none-any.whl"]
    assert chosen(["a==1.11"], {"a": files}) == ["a-1.11-py3-none-any.whl"]
    assert chosen(["a>=1.12rc1,<1.13"], {"a": files}) == ["a-1.12rc1-py3-none-any.whl"]


def test_what_packages_need_comes_with_them() -> None:
    """By markers, and extras that are asked for, even later; a circle ends, and what the playground has stays."""
    index = {
        "a": wheel("a", requires=needing("b[more]", "c; extra == 'never'", "mcp>=2", "d; sys_platform == 'win32'")),
        "b": wheel("b", requires=needing("a", "e; extra == 'more'", "f; extra == 'Most_Of-all'")),
        "e": wheel("e", requires=needing("b[most.of.all]")),
        "f": wheel("f"),
    }
    found = resolved(["a"], index)["value"]
    assert [filename[0] for filename, _ in found["wheels"]] == ["a", "b", "e", "f"]
    assert sorted(found["asked"]) == ["a", "b", "e", "f"]


def test_a_later_requirement_chooses_anew() -> None:
    index = {
        "a": wheel("a", requires=needing("c<2")),
        "b": {**wheel("b", "2", requires=needing("d")), **wheel("b", "1")},
        "c": {**wheel("c", "2"), **wheel("c", "1.5")},
        "d": wheel("d", requires=needing("b<2")),
    }
    assert chosen(["c", "b", "a"], index) == [f"{name}-py3-none-any.whl" for name in ("a-1.0", "b-1", "c-1.5")]


def test_the_distribution_goes_before_the_index() -> None:
    """Nothing of what it has is asked for elsewhere."""
    common = {"sha256": "b" * 64, "size": None, "filename": "x.whl", "url": "https://cdn.example/x.whl"}
    distribution = {
        "numpy": {"name": "numpy", "version": "2.4.6", "depends": [], **common},
        "pandas": {"name": "pandas", "version": "3.0.2", "depends": ["numpy"], **common},
    }
    index = {"numpy": wheel("numpy", "1.0"), "needing": wheel("needing", requires=needing("pandas>=2"))}
    found = resolved(["needing"], index, distribution=distribution)["value"]
    assert [host for _, host in found["wheels"]] == ["files.example", "cdn.example", "cdn.example"]
    assert found["asked"] == ["needing"]
    assert chosen(["numpy<2"], index, distribution=distribution) == ["numpy-1.0-py3-none-any.whl"]
    error = resolved(["numpy>=3"], index, distribution=distribution)["error"]
    assert "numpy>=3 (asked for by the project): Pyodide's distribution has version 2.4.6" in error


UNHAD = {
    "missing": (["none"], {}, "none (asked for by the project): there is no package of this name"),
    "no such version": (["a>=2"], {"a": wheel("a")}, "a>=2 (asked for by the project): no version of it fits"),
    "sources": (["a"], {"a": {"a-1.0.tar.gz": {}}}, "no wheel, only sources"),
    "native": (["a"], {"a": wheel("a", "1.0", "cp314-cp314-win_amd64")}, "none is for a browser"),
    "python": (["a"], {"a": wheel("a", requiresPython=">=3.15")}, "none of its versions is for Python 3.14.2"),
    "no hash": (["a"], {"a": wheel("a", sha256="")}, "does not say the SHA-256"),
    "the SDK": (["a"], {"a": wheel("a", requires=needing("mcp<2"))}, "a needs mcp<2, but mcp is in the playground in"),
    "two": (
        ["a", "b"],
        {
            "a": wheel("a", requires=needing("c<2")),
            "b": wheel("b", requires=needing("c>=2")),
            "c": {**wheel("c", "1"), **wheel("c", "2")},
        },
        "(asked for by a, b): no version of it fits",
    ),
    "an address": (["a"], {"a": wheel("a", requires=needing("b @ https://x.example/b.whl"))}, "not a requirement by"),
    "too many": (
        ["a0"],
        {f"a{at}": wheel(f"a{at}", requires=needing(f"a{at + 1}")) for at in range(200)},
        "more than 100 packages",
    ),
    "a flood": (["a"], {"a": wheel("a", requires=needing(*["b"] * 1_001))}, "too many requirements"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNHAD)
def test_packages_that_cannot_be_had_are_named_with_the_reason(name: str) -> None:
    requirements, index, reason = UNHAD[name]
    assert reason in resolved(requirements, index)["error"]


def test_all_reasons_of_a_step_are_named() -> None:
    error = resolved(["a", "b>2"], {"b": wheel("b")})["error"]
    assert "a (asked for" in error
    assert "b>2 (asked for" in error


class Shop:
    """An index and the host of its wheels, with what differs by the name of a package."""

    def __init__(self, folder: Path) -> None:
        self.wheel = write_wheel(folder, "a", {"a.py": ""}, requires=["b"])
        self.data = self.wheel.read_bytes()

    async def answer(self, request: Request) -> Response:
        name, kind = request.path_params["name"].strip("/"), request.path_params["kind"]
        if kind == "moved":
            return RedirectResponse(f"/simple/{name}/")
        if kind == "simple" and name == "hanging":
            while (await request.receive())["type"] != "http.disconnect":
                pass
        if kind == "wheel":
            return Response(self.data if request.url.path.endswith(".whl") else b"Requires-Dist: c\n\n")
        if name == "none":
            return Response(status_code=404)
        if name in ("broken", "text"):
            return Response("<a href=", status_code=500 if name == "broken" else 200)
        file = {"filename": self.wheel.name, "url": f"/wheel/{self.wheel.name}", "size": len(self.data)}
        file["hashes"] = {"sha256": hashlib.sha256(self.data).hexdigest()}
        changes: dict[str, Any] = {
            "beside": {"core-metadata": True},
            "forged": {"core-metadata": {"sha256": "0" * 64}},
            "altered": {"hashes": {"sha256": "0" * 64}},
            "larger": {"size": len(self.data) - 1},
            "elsewhere": {"url": "https://evil.example/a-1.0-py3-none-any.whl"},
            "redirected": {"url": f"/moved/{self.wheel.name}"},
        }
        odd = [None, 1, {}, {"filename": 1, "url": 2}, {"filename": "a.whl", "url": "http://["}]
        return JSONResponse({"files": [*odd, file | changes.get(name, {})]})


def test_an_index_is_read_within_limits(tmp_path: Path) -> None:
    """Only listed hosts are asked, without redirects; a hash that is wrong, a size, and silence are errors."""
    shop = Shop(tmp_path)
    route = Route("/{kind}/{name:path}", shop.answer)
    reasons = {
        "forged": "its SHA-256 is another",
        "altered": "its SHA-256 is another",
        "larger": "is larger than the index says",
        "elsewhere": "evil.example is no host of packages that this site allows",
        "redirected": "cannot be reached",
        "hanging": "does not answer",
        "broken": "cannot be fetched (500)",
        "text": "does not list packages as JSON",
    }
    with serve_app(Starlette(routes=[route])) as served:
        origin = f"http://127.0.0.1:{served.port}"
        allowed = {"indexes": [f"{origin}/simple/"], "hosts": [origin]}
        requests = [{"name": name, **allowed} for name in ("a", "beside", "none", *reasons)]
        requests = [{**each, "patience": 300} if each["name"] == "hanging" else each for each in requests]
        inside, beside, none, *failed = results(*(("indexed", each) for each in requests))
    assert inside["value"][0][0].splitlines()[-1] == "Requires-Dist: b"
    assert beside == {"value": [["Requires-Dist: c\n\n", len(shop.data)]]}
    assert none == {"value": None}
    for (name, reason), found in zip(reasons.items(), failed, strict=True):
        assert reason in found["error"], name


def test_a_site_names_indexes_and_hosts() -> None:
    assert installing_from([], ["https://a.example"], "").hosts == (*WHEEL_HOSTS, "https://a.example")
    assert installing_from([], [], "").indexes == INDEXES
    own = installing_from(["https://index.example/simple"], ["https://files.example"], "/srv/packages")
    assert own.indexes == ("https://index.example/simple/",)
    assert own.hosts == ("https://index.example", "https://files.example")
    assert own.sources == ["https://index.example", "https://files.example"]
    with pytest.raises(ValueError, match="not an origin"):
        installing_from(["index.example"], [], "")
