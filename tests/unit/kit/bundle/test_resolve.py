"""The resolution: what uv and pip say is put together right. The programs themselves are stood in for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpframe.kit.base.errors import BuildError, DownloadError, ToolFailed
from mcpframe.kit.base.progress import counting
from mcpframe.kit.bundle.code.sdk_choice import EARLIER_SDK, SDK
from mcpframe.kit.bundle.packages import choose_versions, named_package, pins, requirements
from mcpframe.kit.bundle.packages import resolve as module
from mcpframe.kit.bundle.packages.lock import Lock, Locked
from mcpframe.kit.bundle.packages.no_wheel import NoWheelFound
from mcpframe.kit.bundle.packages.pins import Conflict
from mcpframe.kit.bundle.packages.repairs import NO_REPAIRS, Repairs, Without
from mcpframe.kit.bundle.packages.resolve import resolve
from mcpframe.kit.bundle.packages.wheels import NoWheel
from mcpframe.kit.bundle.pyodide.packages import PyodidePackage

HASH = "ab" * 32


class Index:
    """A package index: versions with their dependents, and which of them have a wheel for Pyodide."""

    def __init__(
        self, versions: Mapping[str, list[str]], via: Mapping[str, str], wheels: Mapping[str, list[str]]
    ) -> None:
        self.versions = versions
        self.via = via
        self.wheels = wheels
        self.elsewhere: dict[str, list[str]] = {}
        """The versions with a wheel for another platform."""
        self.pythons: dict[str, str] = {}
        """The Pythons of packages that are for others than Pyodide's."""
        self.preferred: Mapping[str, str] = {}
        self.sdks: list[str | None] = []
        self.conflict: str | None = ""
        self.without: dict[str, dict[str, str]] = {}
        """The versions that uv goes back to, for constraints that no version of a package satisfies."""

    def compile(
        self,
        roots: tuple[str, ...],
        constraints: Mapping[str, str],
        preferred: Mapping[str, str],
        *,
        sdk: str | None,
        excluded: Iterable[str] = (),
        overrides: Iterable[str] = (),
        platform: str = "",
        alone: bool = False,
        required_by_sources: object = None,
    ) -> dict[str, Any]:
        given = constraints
        unsatisfied = [item for item in given.values() if item.endswith("<0") or item in self.without]
        if any(item not in self.without for item in unsatisfied):
            raise Conflict("conflict", "Because a==1 depends on pillow>=13, there is none.")
        earlier = {name: version for item in unsatisfied for name, version in self.without[item].items()}
        if any("==" in root and root.partition("==")[0] in earlier for root in roots):
            raise Conflict("conflict", "Because a==1.5 depends on psutil, there is none.")
        constraints = {**given, **{name: f"{name}=={version}" for name, version in earlier.items()}}
        self.preferred = dict(preferred)
        self.sdks.append(sdk)
        if sdk == self.conflict:
            raise Conflict("conflict")
        lines = []
        for name, versions in self.versions.items():
            if f"{name}<0" in given.values() or name in excluded:
                continue
            if name == "mcp" and sdk == EARLIER_SDK:
                versions = [item for item in versions if item.startswith("1.")]
            version = constraints.get(name, f"{name}=={preferred.get(name, versions[-1])}").partition("==")[2]
            lines.append(f"{name}=={version} \\\n    --hash=sha256:{HASH}\n    # via {self.via[name]}")
        return pins.parse_pins("\n".join(lines))

    def download(
        self, pins: Mapping[str, tuple[str, tuple[str, ...]]], foreign: Iterable[str] = ()
    ) -> dict[str, tuple[str, str, str]]:
        for name, (version, _) in pins.items():
            if version not in self.wheels[name] and not (name in foreign and version in self.elsewhere.get(name, [])):
                raise NoWheel(name, tuple(self.wheels[name]), self.pythons.get(name, ""))
        return {name: (version, f"{name}-{version}-py3-none-any.whl", HASH) for name, (version, _) in pins.items()}


class Pyodide:
    """Pyodide's distribution."""

    lock_sha256 = ""

    def __init__(self, *packages: PyodidePackage) -> None:
        self.packages = {package.name: package for package in packages}

    def find(self, name: str) -> PyodidePackage | None:
        return self.packages.get(name)


Resolving = Callable[..., Lock]


@pytest.fixture
def resolving(monkeypatch: pytest.MonkeyPatch) -> Resolving:
    def run(
        index: Index,
        *pyodide: PyodidePackage,
        roots: list[str],
        previous: Lock | None = None,
        leave_out: tuple[str, ...] = (),
        code: Mapping[str, str] | None = None,
        named: str = "",
        repairs: Repairs = NO_REPAIRS,
    ) -> Lock:
        def files(wheel: Path) -> dict[str, bytes]:
            package = wheel.name.partition("-")[0]
            return {f"{package}.py": (code or {}).get(package, "").encode()}

        monkeypatch.setattr(module, "compile_pins", index.compile)
        monkeypatch.setattr(requirements, "compile_pins", index.compile)
        monkeypatch.setattr(named_package, "compile_pins", index.compile)
        monkeypatch.setattr(choose_versions, "download", index.download)
        monkeypatch.setattr(module, "unpack", files)
        monkeypatch.setattr(choose_versions, "unpack", files)
        found = Pyodide(*pyodide)
        return resolve(
            roots,
            found,  # type: ignore[arg-type]
            inputs="i",
            previous=previous,
            leave_out=leave_out,
            named=named,
            repairs=repairs,
        )

    return run


def versions(lock: Lock) -> dict[str, str]:
    return {package.name: package.version for package in lock.packages}


def test_who_wants_what_is_recorded(resolving: Resolving) -> None:
    index = Index({"a": ["1"], "b": ["1"]}, {"a": "-r server.in", "b": "a"}, {"a": ["1"], "b": ["1"]})
    lock = resolving(index, roots=["a"])
    assert {package.name: package.required_by for package in lock.packages} == {"a": ("server",), "b": ("a",)}


def test_the_http_stack_of_the_sdk_is_left_out(resolving: Resolving) -> None:
    via = {"mcp": "-r mcpframe.in", "starlette": "mcp", "httpx2": "mcp", "certifi": "httpx2", "pydantic": "mcp"}
    index = Index({name: ["1"] for name in via}, via, {name: ["1"] for name in via})
    assert set(versions(resolving(index, roots=[]))) == {"mcp", "pydantic"}


def test_a_package_of_it_that_something_else_wants_is_kept(resolving: Resolving) -> None:
    via = {
        "mcp": "-r mcpframe.in",
        "starlette": "mcp, fastapi",
        "httpx2": "mcp, -r server.in",
        "fastapi": "-r server.in",
    }
    index = Index({name: ["1"] for name in via}, via, {name: ["1"] for name in via})
    lock = resolving(index, roots=["fastapi", "httpx2"])
    assert set(versions(lock)) == {"mcp", "starlette", "httpx2", "fastapi"}
    assert next(package for package in lock.packages if package.name == "starlette").required_by == ("fastapi",)


def test_a_version_without_a_wheel_gives_way_to_one_that_has_one(resolving: Resolving) -> None:
    index = Index({"a": ["1", "2", "3"]}, {"a": "-r server.in"}, {"a": ["1", "2"]})
    assert versions(resolving(index, roots=["a"])) == {"a": "2"}


def test_what_only_pyodide_has_comes_from_there(resolving: Resolving) -> None:
    index = Index({"numpy": ["3"]}, {"numpy": "-r server.in"}, {"numpy": []})
    own = PyodidePackage("numpy", "2.4.6", "numpy-2.4.6-cp314.whl", "cd" * 32, ())
    [package] = resolving(index, own, roots=["numpy"]).packages
    assert (package.version, package.source, package.sha256) == ("2.4.6", "pyodide", "cd" * 32)


def test_what_pyodides_package_needs_of_it_comes_too(resolving: Resolving) -> None:
    index = Index({"scipy": ["2"]}, {"scipy": "-r server.in"}, {"scipy": []})
    scipy = PyodidePackage("scipy", "1", "scipy-1-cp314.whl", HASH, ("helper",))
    needed = PyodidePackage("helper", "1", "helper-1-cp314.whl", HASH, ())
    assert set(versions(resolving(index, scipy, needed, roots=["scipy"]))) == {"scipy", "helper"}
    with pytest.raises(BuildError, match=r"scipy 1 needs helper .* a shared library"):
        resolving(index, scipy, roots=["scipy"])
    assert set(versions(resolving(index, scipy, needed, roots=["scipy"], leave_out=("Helper",)))) == {"scipy"}


def test_a_version_that_contradicts_the_requirement_is_not_taken(resolving: Resolving) -> None:
    index = Index({"a": ["1", "2"]}, {"a": "-r server.in"}, {"a": ["1"]})
    with pytest.raises(BuildError, match=r"a 2 has no wheel") as caught:
        resolving(index, roots=["a>=2"])
    assert "--build-sdists" not in str(caught.value)


def test_no_wheel_anywhere_names_the_requirement_who_wants_it_and_what_to_do(resolving: Resolving) -> None:
    index = Index({"a": ["1"], "psutil": ["7"]}, {"a": "-r server.in", "psutil": "a"}, {"a": ["1"], "psutil": []})
    with pytest.raises(BuildError) as caught:
        resolving(index, roots=["a"])
    told = str(caught.value)
    assert told.startswith("psutil 7 has no wheel")
    assert "a requires it" in told
    assert "leave it out" in told
    assert "--build-sdists" in told


def test_a_wheel_for_another_python_is_no_native_one(resolving: Resolving) -> None:
    index = Index({"a": ["1"], "b": ["7"]}, {"a": "-r server.in", "b": "a"}, {"a": ["1"], "b": []})
    index.pythons = {"b": "~=3.12.0"}
    said: list[str] = []
    with counting(said.append), pytest.raises(BuildError) as caught:
        resolving(index, roots=["a"])
    told = str(caught.value)
    assert told.startswith("b 7 requires Python ~=3.12.0, and Pyodide's is 3.")
    assert "--set leave_out=b" in told
    assert "neither pure Python" not in told
    assert "--build-sdists" not in told
    assert said[0].startswith("b 7 requires Python ~=3.12.0")  # at once, before other versions are tried


def test_the_error_names_the_chain_of_who_wants_it_and_how_to_leave_it_out(resolving: Resolving) -> None:
    via = {"a": "-r server.in", "frames": "a", "psutil": "frames"}
    index = Index({name: ["1"] for name in via}, via, {"a": ["1"], "frames": ["1"], "psutil": []})
    with pytest.raises(BuildError, match=r"through a → frames → psutil.*leave_out = \[\"psutil\"\]"):
        resolving(index, roots=["a"])
    assert set(versions(resolving(index, roots=["a"], leave_out=("PSUtil",)))) == {"a", "frames"}


def test_what_only_sockets_use_is_left_out_whoever_requires_it(resolving: Resolving) -> None:
    via = {"a": "-r server.in", "uvloop": "a", "httptools": "a, b", "b": "a"}
    index = Index({name: ["1"] for name in via}, via, {"a": ["1"], "b": ["1"], "uvloop": ["1"]})
    assert set(versions(resolving(index, roots=["a"]))) == {"a", "b"}
    index.via = {**via, "uvloop": "-r server.in"}
    assert set(versions(resolving(index, roots=["a", "uvloop"]))) == {"a", "b", "uvloop"}


def test_what_a_package_left_out_wants_is_left_out_too(resolving: Resolving) -> None:
    via = {"a": "-r server.in", "b": "a", "c": "b"}
    index = Index({name: ["1"] for name in via}, via, {"a": ["1"]})
    assert set(versions(resolving(index, roots=["a"], leave_out=("b",)))) == {"a"}


def test_parents_go_back_to_where_a_package_without_a_wheel_is_not_required(resolving: Resolving) -> None:
    index = Index({"a": ["1.4", "1.5"], "psutil": ["7"]}, {"a": "-r server.in", "psutil": "a"}, {"a": ["1.4", "1.5"]})
    index.wheels = {**index.wheels, "psutil": []}
    index.without["psutil<0"] = {"a": "1.4"}
    lock = resolving(index, roots=["a"])
    assert versions(lock) == {"a": "1.4"}
    (note,) = lock.notes
    assert "a 1.4 instead of 1.5, which leads to psutil 7" in note


def test_a_package_that_is_only_imported_where_it_is_used_is_left_out(resolving: Resolving) -> None:
    index = Index({"a": ["1.5"], "psutil": ["7"]}, {"a": "-r server.in", "psutil": "a"}, {"a": ["1.5"], "psutil": []})
    lock = resolving(index, roots=["a"], code={"a": "def memory():\n    import psutil"})
    assert (versions(lock), lock.left_out) == ({"a": "1.5"}, ("psutil",))
    [note] = lock.notes
    assert note.startswith("psutil 7 is left out")
    assert "a.py, line 2" in note
    with pytest.raises(BuildError, match=r"imported in a\.py, line 1 \(when the module is imported\)"):
        resolving(index, roots=["a"], code={"a": "import psutil"})
    index.via = {"a": "-r server.in", "psutil": "a, -r server.in"}
    with pytest.raises(BuildError, match="psutil 7 has no wheel"):
        resolving(index, roots=["a", "psutil"], code={"a": "def memory():\n    import psutil"})


def test_the_package_that_was_named_does_not_go_back(resolving: Resolving) -> None:
    index = Index({"a": ["1.4", "1.5"], "psutil": ["7"]}, {"a": "-r server.in", "psutil": "a"}, {"a": ["1.4", "1.5"]})
    index.wheels = {**index.wheels, "psutil": []}
    index.without["psutil<0"] = {"a": "1.4"}
    with pytest.raises(
        NoWheelFound, match=r"psutil 7 has no wheel .* 1\.4 can be built: ask for it as a==1\.4"
    ) as caught:
        resolving(index, roots=["a"], named="a")
    assert caught.value.chain == ("a", "psutil")
    index.without = {}
    with pytest.raises(NoWheelFound) as caught:
        resolving(index, roots=["a"], named="a")
    assert "can be built" not in str(caught.value)


def test_the_package_that_was_named_keeps_its_version_in_the_lock(resolving: Resolving) -> None:
    index = Index({"a": ["1", "2"]}, {"a": "-r server.in"}, {"a": ["1", "2"]})
    previous = Lock("old", (Locked("a", "1", "a-1-py3-none-any.whl", HASH, "index", ("server",)),))
    assert versions(resolving(index, roots=["a[extra]"], previous=previous, named="a")) == {"a": "1"}
    assert versions(resolving(index, roots=["a"], named="a")) == {"a": "2"}


def test_what_has_no_wheel_is_done_without_on_trial(resolving: Resolving) -> None:
    index = Index({"a": ["1"], "fuzz": ["7"]}, {"a": "-r server.in", "fuzz": "a"}, {"a": ["1"], "fuzz": []})
    index.elsewhere = {"fuzz": ["7"]}
    trying = Repairs(tries=True)
    lock = resolving(index, roots=["a"], named="a", repairs=trying)
    assert (versions(lock), lock.left_out) == ({"a": "1", "fuzz": "7"}, ())
    (note,) = lock.notes
    assert "fuzz 7 without its native part" in note
    failed = frozenset({("fuzz", Without.NATIVE_PART)})
    lock = resolving(index, roots=["a"], named="a", repairs=replace(trying, failed=failed))
    assert (versions(lock), lock.left_out) == ({"a": "1"}, ("fuzz",))
    assert "a requires it and starts without" in lock.notes[0]
    failed |= {("fuzz", Without.PACKAGE)}
    with pytest.raises(NoWheelFound, match="fuzz 7 has no wheel"):
        resolving(index, roots=["a"], named="a", repairs=replace(trying, failed=failed))


def test_what_uv_finds_no_wheel_of_is_left_out_on_trial(resolving: Resolving) -> None:
    index = Index({"a": ["1"], "fuzz": ["7"]}, {"a": "-r server.in", "fuzz": "a"}, {"a": ["1"]})
    whole = index.compile

    def compiled(roots: tuple[str, ...], *arguments: Any, excluded: Iterable[str], **options: Any) -> dict[str, Any]:
        if "fuzz" not in excluded:
            raise Conflict(
                "conflict", "Because fuzz==7 has no wheels with a matching platform tag, a==1 cannot be used."
            )
        return whole(roots, *arguments, excluded=excluded, **options)

    index.compile = compiled  # type: ignore[method-assign]
    lock = resolving(index, roots=["a"], repairs=Repairs(tries=True))
    assert (versions(lock), lock.left_out) == ({"a": "1"}, ("fuzz",))
    with pytest.raises(Conflict):
        resolving(index, roots=["a"])
    with pytest.raises(Conflict):
        resolving(index, roots=["a", "fuzz"], repairs=Repairs(tries=True))


def test_a_package_of_the_sdk_that_the_server_turns_out_to_need_is_in_it(resolving: Resolving) -> None:
    via = {"mcp": "-r mcpframe.in", "typer": "mcp", "click": "typer", "a": "-r server.in"}
    index = Index({name: ["1"] for name in via}, via, {name: ["1"] for name in via})
    assert set(versions(resolving(index, roots=["a"], named="a"))) == {"a", "mcp"}
    lock = resolving(index, roots=["a"], named="a", repairs=Repairs(tries=True, needed=("click", "unknown")))
    assert set(versions(lock)) == {"a", "click", "mcp"}
    (note,) = lock.notes
    assert "click is in it" in note


def test_parents_stay_within_their_major_version(resolving: Resolving) -> None:
    index = Index({"a": ["0.9", "1.5"], "psutil": ["7"]}, {"a": "-r server.in", "psutil": "a"}, {"a": ["0.9", "1.5"]})
    index.wheels = {**index.wheels, "psutil": []}
    index.without["psutil<0"] = {"a": "0.9"}
    with pytest.raises(BuildError, match="psutil 7 has no wheel"):
        resolving(index, roots=["a"])


def test_a_later_version_of_pyodides_is_better_than_an_early_one_of_the_index(resolving: Resolving) -> None:
    index = Index({"aiohttp": ["3.14"]}, {"aiohttp": "-r server.in"}, {"aiohttp": ["0.9"]})
    own = PyodidePackage("aiohttp", "3.13.5", "aiohttp-3.13.5-cp314.whl", HASH, ())
    lock = resolving(index, own, roots=["aiohttp"])
    assert versions(lock) == {"aiohttp": "3.13.5"}
    [note] = lock.notes
    assert note.startswith("aiohttp 3.13.5 of Pyodide's distribution instead of 3.14")


def test_a_version_of_pyodides_that_does_not_fit_is_named_as_such(resolving: Resolving) -> None:
    index = Index({"a": ["1"], "pillow": ["13"]}, {"a": "-r server.in", "pillow": "a"}, {"a": ["1"], "pillow": []})
    index.without["pillow==12.2"] = {"a": "0"}  # of another major version
    own = PyodidePackage("pillow", "12.2", "pillow-12.2-cp314.whl", HASH, ())
    with pytest.raises(BuildError) as caught:
        resolving(index, own, roots=["a"])
    assert "does not fit pillow>=13, as a requires" in str(caught.value)
    assert "require another version of a" in str(caught.value)


def test_packages_named_like_the_roots_of_a_lock_are_told_from_them(resolving: Resolving) -> None:
    via = {"server": "-r server.in", "mcpframe": "server", "b": "server", "c": "mcpframe"}
    lock = resolving(Index({name: ["1"] for name in via}, via, {name: ["1"] for name in via}), roots=["server"])
    assert {package.name: package.required_by for package in lock.packages} == {
        "server": ("server",),
        "mcpframe": ("server (package)",),
        "b": ("server (package)",),
        "c": ("mcpframe (package)",),
    }
    assert {package.name for package in lock.closure(["mcpframe"])} == {"mcpframe", "c"}
    assert versions(resolving(Index({"c": ["1"]}, {"c": "server"}, {"c": ["1"]}), roots=[])) == {}


def test_a_version_before_a_release_is_taken_only_where_it_is_asked_for(resolving: Resolving) -> None:
    index = Index({"a": ["1", "2"]}, {"a": "-r server.in"}, {"a": ["0.0.0a1", "1", "1.5rc1"]})
    assert versions(resolving(index, roots=["a"])) == {"a": "1"}
    index = Index({"a": ["2b2"]}, {"a": "-r server.in"}, {"a": ["1", "2b1"]})
    assert versions(resolving(index, roots=["a"])) == {"a": "2b1"}


VIA = {"mcp": "-r mcpframe.in, a", "a": "-r server.in"}
WHEELS = {"mcp": ["1.30", "2.3"], "a": ["1"]}


def test_a_server_of_mcp_2_has_mcp_2(resolving: Resolving) -> None:
    index = Index({"mcp": ["1.30", "2.3"], "a": ["1"]}, VIA, WHEELS)
    assert versions(resolving(index, roots=["a"]))["mcp"] == "2.3"


def test_nothing_more_is_asked_where_no_requirement_wants_the_sdk(resolving: Resolving) -> None:
    index = Index({"mcp": ["2.3"], "a": ["1"]}, {"mcp": "-r mcpframe.in", "a": "-r server.in"}, WHEELS)
    resolving(index, roots=["a"])
    assert index.sdks == [SDK]


def test_requirements_that_want_mcp_1_have_mcp_1(resolving: Resolving) -> None:
    index = Index({"mcp": ["1.30"], "a": ["1"]}, VIA, WHEELS)
    index.conflict = SDK
    assert versions(resolving(index, roots=["a"]))["mcp"] == "1.30"
    assert index.sdks == [SDK, None, EARLIER_SDK]


def test_an_older_version_that_mcp_2_would_fit_is_not_taken_instead(resolving: Resolving) -> None:
    index = Index({"mcp": ["1.30"], "a": ["1"]}, VIA, WHEELS)  # as uv finds them, left alone
    compile_alone = index.compile

    def backtracking(roots: tuple[str, ...], *arguments: Any, sdk: str | None, **others: Any) -> dict[str, Any]:
        pins = compile_alone(roots, *arguments, sdk=sdk, **others)
        return pins if sdk != SDK else {**pins, "mcp": replace(pins["mcp"], version="2.3")}

    index.compile = backtracking  # type: ignore[method-assign]
    assert versions(resolving(index, roots=["a"]))["mcp"] == "1.30"


def test_code_that_is_written_for_mcp_1_has_mcp_1(resolving: Resolving) -> None:
    index = Index({"mcp": ["1.30", "2.3"], "a": ["1"]}, VIA, WHEELS)
    code = {"a": "from mcp.server.fastmcp import FastMCP"}
    assert versions(resolving(index, roots=["a"], code=code))["mcp"] == "1.30"


def test_what_a_server_takes_of_the_sdks_requirements_without_asking_is_kept(resolving: Resolving) -> None:
    via = {**VIA, "starlette": "mcp", "httpx2": "mcp", "idna": "httpx2"}
    index = Index({"a": ["1"], "mcp": ["2.3"], "starlette": ["1"], "httpx2": ["2"], "idna": ["3"]}, via, {})
    index.wheels = index.versions
    lock = resolving(index, roots=["a"], code={"a": "def main():\n    from httpx2 import AsyncClient"})
    assert set(versions(lock)) == {"a", "mcp", "httpx2", "idna"}
    assert next(package for package in lock.packages if package.name == "httpx2").required_by == ("a",)
    assert set(versions(resolving(index, roots=["a"]))) == {"a", "mcp"}


def test_so_is_what_a_server_of_fastmcp_takes(resolving: Resolving) -> None:
    via = {"mcp": "-r mcpframe.in, fastmcp", "fastmcp": "a", "a": "-r server.in", "starlette": "mcp, fastmcp"}
    index = Index({"a": ["1"], "fastmcp": ["4"], "mcp": ["2.3"], "starlette": ["1"]}, via, {})
    index.wheels = index.versions
    code = {"a": "from starlette.requests import Request"}
    assert set(versions(resolving(index, roots=["a"], code=code))) == {"a", "fastmcp", "mcp", "starlette"}
    assert set(versions(resolving(index, roots=["a"]))) == {"a", "fastmcp", "mcp"}


def test_whose_packages_use_time_zones_has_their_database(resolving: Resolving) -> None:
    via = {"mcp": "-r mcpframe.in, a", "a": "-r server.in", "tzdata": "-r server.in", "b": "a"}
    index = Index({name: ["3"] for name in via}, via, {name: ["3"] for name in via})
    whole = index.compile

    def compiled(roots: tuple[str, ...], *arguments: Any, **options: Any) -> dict[str, Any]:
        found = whole(roots, *arguments, **options)
        return {name: pin for name, pin in found.items() if name != "tzdata" or "tzdata" in roots}

    index.compile = compiled  # type: ignore[method-assign]
    code = {"b": "def now(zone):\n    from zoneinfo import ZoneInfo"}
    lock = resolving(index, roots=["a"], code=code)
    assert [package.required_by for package in lock.packages if package.name == "tzdata"] == [("b",)]
    assert "tzdata" not in versions(resolving(index, roots=["a"]))
    index.via = {**via, "mcp": "-r mcpframe.in"}
    assert "tzdata" not in versions(resolving(index, roots=["a"], code=code))
    assert "tzdata" in versions(resolving(index, roots=["a"], code=code, named="a"))


def test_what_comes_from_pyodide_is_not_looked_into(resolving: Resolving, monkeypatch: pytest.MonkeyPatch) -> None:
    via = {"mcp": "-r mcpframe.in, a", "a": "-r server.in", "numpy": "a"}
    index = Index({name: ["3"] for name in via}, via, {"mcp": ["3"], "a": ["3"], "numpy": []})
    own = PyodidePackage("numpy", "2.4.6", "numpy-2.4.6-cp314.whl", HASH, ())
    looked: list[str] = []
    monkeypatch.setattr(module, "imports_named", lambda _, files: looked.extend(files) or [])
    resolving(index, own, roots=["a"])
    assert set(looked) == {"a.py"}


def test_requirements_that_contradict_each_other_are_an_error_with_either(resolving: Resolving) -> None:
    index = Index({"mcp": ["2.3"], "a": ["1"]}, VIA, WHEELS)
    index.conflict = SDK
    with pytest.raises(BuildError, match="conflict"):
        resolving(index, roots=["a"])


def test_the_versions_of_an_older_lock_are_preferred(resolving: Resolving) -> None:
    index = Index({"a": ["1", "2"]}, {"a": "-r server.in"}, {"a": ["1", "2"]})
    previous = Lock("old", (Locked("a", "1", "a-1-py3-none-any.whl", HASH, "index", ("server",)),))
    assert versions(resolving(index, roots=["a"], previous=previous)) == {"a": "1"}


@pytest.mark.parametrize(
    ("output", "kind", "told"),
    [
        ("error: dns error\n", DownloadError, "check the network"),
        ("error: Failed to build `old==0.1`\n  cause: its setup.py raises", BuildError, "old==0.1 has no wheel"),
        (
            "error: No solution\n  cause: Because nope was not found in the package registry and you require nope.",
            BuildError,
            "because nope was not found in the package registry",
        ),
    ],
)
def test_what_uv_says_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, output: str, kind: type[Exception], told: str
) -> None:
    def run_tool(*_: object, **__: object) -> str:
        raise ToolFailed("uv failed", output)

    monkeypatch.setattr(pins, "run_tool", run_tool)
    with pytest.raises(kind, match=told):
        resolve(["nope"], Pyodide(), inputs="i")  # type: ignore[arg-type]


def test_no_constraint_survives_in_a_path(tmp_path: Path) -> None:
    found = pins.parse_pins(f"a-b[x]==1.0 \\\n    --hash=sha256:{HASH}\n    # via\n    #   -r server.in\n")
    assert found["a-b"].version == "1.0"
