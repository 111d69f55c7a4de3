"""`mcpframe.load`: what is fetched, what is checked, and what is said when it does not work."""

from __future__ import annotations

import hashlib

import anyio
import pytest

import mcpframe
from mcpframe.frame.core.errors import LoadError
from mcpframe.frame.page import load

WHEELS = {"packages/numpy-2.4.6-x.whl": b"numpy", "packages/scipy-1-x.whl": b"scipy", "packages/blas-1-x.whl": b"blas"}


class Page:
    """A bundle's folder and an installer that remember what was asked of them."""

    def __init__(self) -> None:
        self.files = dict(WHEELS)
        self.fetched: list[str] = []
        self.installed: list[dict[str, bytes]] = []

    async def fetch(self, url: str) -> bytes:
        self.fetched.append(url)
        await anyio.lowlevel.checkpoint()
        if url not in self.files:
            raise OSError("HTTP status 404")
        return self.files[url]

    async def install(self, wheels: dict[str, bytes]) -> None:
        self.installed.append(dict(wheels))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    page = Page()
    monkeypatch.setattr(load, "_bundle", None)

    def file(name: str) -> load.LazyFile:
        return {"url": f"packages/{name}", "sha256": hashlib.sha256(WHEELS[f"packages/{name}"]).hexdigest()}

    lazy = {
        "numpy": [file("numpy-2.4.6-x.whl"), file("blas-1-x.whl")],
        "Sci_Py": [file("scipy-1-x.whl"), file("numpy-2.4.6-x.whl"), file("blas-1-x.whl")],
    }
    load.configure(lazy, fetch=page.fetch, install=page.install)
    return page


async def test_a_requirement_is_installed_with_its_dependencies(page):
    await mcpframe.load("numpy")
    assert page.installed == [{"numpy-2.4.6-x.whl": b"numpy", "blas-1-x.whl": b"blas"}]


async def test_nothing_is_fetched_twice(page):
    await mcpframe.load("numpy")
    await mcpframe.load("numpy", "sci-py")
    assert page.fetched == ["packages/numpy-2.4.6-x.whl", "packages/blas-1-x.whl", "packages/scipy-1-x.whl"]
    assert page.installed[1] == {"scipy-1-x.whl": b"scipy"}


async def test_loads_at_the_same_time_share_what_they_fetch(page):
    async with anyio.create_task_group() as tasks:
        for name in ("numpy", "SCI.py", "numpy"):
            tasks.start_soon(mcpframe.load, name)
    assert sorted(page.fetched) == sorted(WHEELS)


async def test_a_wrong_hash_installs_nothing_and_can_be_tried_again(page):
    page.files["packages/blas-1-x.whl"] = b"something else"
    with pytest.raises(LoadError, match=r"packages/blas-1-x\.whl is not the file this bundle was built with"):
        await mcpframe.load("numpy")
    assert page.installed == []
    page.files.update(WHEELS)
    await mcpframe.load("numpy")
    assert len(page.installed) == 1


async def test_a_missing_file_is_named(page):
    del page.files["packages/numpy-2.4.6-x.whl"]
    with pytest.raises(LoadError, match=r"packages/numpy-2\.4\.6-x\.whl .* could not be fetched: HTTP status 404"):
        await mcpframe.load("numpy")


async def test_a_name_that_is_no_lazy_requirement(page):
    with pytest.raises(LoadError, match=r"'torch' is not part of this bundle \(lazy requirements: numpy, sci-py\)"):
        await mcpframe.load("numpy", "torch")
    assert page.fetched == []


async def test_what_is_installed_from_the_start_need_not_be_lazy(page):
    await mcpframe.load("pydantic", "typing_extensions")
    assert page.fetched == []


@pytest.mark.parametrize("name", ["pydantic", "Typing_Extensions", "json"])
async def test_without_a_bundle_an_installed_requirement_is_enough(monkeypatch, name):
    monkeypatch.setattr(load, "_bundle", None)
    await mcpframe.load(name)


@pytest.mark.parametrize("name", ["no-such-package", "not a name"])
async def test_without_a_bundle_a_missing_one_is_an_error_that_says_what_to_do(monkeypatch, name):
    monkeypatch.setattr(load, "_bundle", None)
    with pytest.raises(LoadError, match=f"'{name}' is not installed; install it"):
        await mcpframe.load(name)
