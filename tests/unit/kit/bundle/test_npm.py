"""Files of npm packages: pinned by hash, chosen by pattern, with their licence."""

import base64
import hashlib
import io
import shutil
import tarfile
from pathlib import Path

import pytest

from mcpframe.kit.base import npm
from mcpframe.kit.base.errors import BuildError, ConfigError, DownloadError, HashMismatch, ToolFailed
from mcpframe.kit.bundle.packages.npm import npm_files
from mcpframe.kit.project.pyproject import McpframeConfig, NpmConfig, read_config

FILES = {
    "package/package.json": b"{}",
    "package/LICENSE": b"free",
    "package/dist/main.mjs": b"export default 1",
    "package/dist/chunks/a.mjs": b"a",
    "package/dist/chunks/b.mjs": b"b",
    "package/dist/chunks/deep/c.mjs": b"c",
}


def archive_of(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def integrity_of(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


class Registry:
    """Packages in place of those of the network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[str] = []

    def put(self, package: str, files: dict[str, bytes]) -> str:
        data = archive_of(files)
        (self.folder / f"{package}.tgz").write_bytes(data)
        return integrity_of(data)

    def download(self, package: str, scratch: Path) -> Path:
        self.asked.append(package)
        return Path(shutil.copy(self.folder / f"{package}.tgz", scratch))


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    folder = tmp_path / "registry"
    folder.mkdir()
    registry = Registry(folder)
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(npm, "_download", registry.download)
    return registry


def test_the_files_are_those_of_the_patterns_and_the_licence(registry: Registry) -> None:
    integrity = registry.put("pack@1.0.0", FILES)
    wanted = NpmConfig(version="1.0.0", integrity=integrity, files=["dist/main.mjs", "dist/chunks/*.mjs"])
    assert npm_files({"pack": wanted}, "pyproject.toml") == {
        "npm/pack/LICENSE": b"free",
        "npm/pack/dist/main.mjs": b"export default 1",
        "npm/pack/dist/chunks/a.mjs": b"a",
        "npm/pack/dist/chunks/b.mjs": b"b",
    }


def test_a_package_is_fetched_once(registry: Registry) -> None:
    wanted = NpmConfig(version="1.0.0", integrity=registry.put("pack@1.0.0", FILES), files=["dist/main.mjs"])
    assert npm_files({"pack": wanted}, "x") == npm_files({"pack": wanted}, "x")
    assert registry.asked == ["pack@1.0.0"]


def test_another_package_than_the_pinned_one_is_refused_and_not_kept(registry: Registry, tmp_path: Path) -> None:
    integrity = registry.put("pack@1.0.0", FILES)
    actual = registry.put("pack@1.0.0", {**FILES, "package/dist/main.mjs": b"evil"})
    wanted = NpmConfig(version="1.0.0", integrity=integrity, files=["dist/main.mjs"])
    with pytest.raises(HashMismatch, match="not the pinned one") as caught:
        npm_files({"pack": wanted}, "pyproject.toml")
    assert actual in str(caught.value)
    assert not list((tmp_path / "cache").rglob("*.tgz"))


def test_a_pattern_without_files_is_an_error_that_names_it(registry: Registry) -> None:
    wanted = NpmConfig(version="1.0.0", integrity=registry.put("pack@1.0.0", FILES), files=["lib/*.js"])
    with pytest.raises(ConfigError, match=r"tool\.mcpframe\.npm\.pack\.files: 'lib/\*\.js' matches no file"):
        npm_files({"pack": wanted}, "pyproject.toml")


def test_paths_out_of_the_package_are_refused(registry: Registry) -> None:
    integrity = registry.put("pack@1.0.0", {"package/dist/../../x": b"x"})
    wanted = NpmConfig(version="1.0.0", integrity=integrity, files=["dist/*/*/x"])
    with pytest.raises(BuildError, match="cannot be published"):
        npm_files({"pack": wanted}, "pyproject.toml")


def test_no_network_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Node:
        def npm(self, *arguments: str, cwd: Path) -> str:
            raise ToolFailed("npm failed.", "no route")

    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path))
    monkeypatch.setattr(npm, "find_node", Node)
    wanted = NpmConfig(version="1.0.0", integrity=integrity_of(b""), files=["x"])
    with pytest.raises(DownloadError, match=r"pack@1\.0\.0 could not be fetched \(npm failed\)"):
        npm_files({"pack": wanted}, "pyproject.toml")


@pytest.mark.parametrize(
    ("package", "said"),
    [
        ({"version": "^1.0.0", "integrity": integrity_of(b""), "files": ["x"]}, "version: must be one version"),
        ({"version": "1.0.0", "integrity": "sha1-x", "files": ["x"]}, "npm.pack.integrity: must be 'sha512-…'"),
        ({"version": "1.0.0", "integrity": integrity_of(b""), "files": ["../x"]}, "npm.pack.files.0: must be a path"),
        ({"version": "1.0.0", "integrity": integrity_of(b""), "file": ["x"]}, "did you mean files?"),
    ],
)
def test_mistakes_in_the_configuration_are_named(package: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_config({"npm": {"pack": package}}, "pyproject.toml")
    assert said in str(caught.value)


def test_names_of_packages_are_checked() -> None:
    good = {"version": "1.0.0", "integrity": integrity_of(b""), "files": ["x"]}
    config: McpframeConfig = read_config({"npm": {"@scope/pack": good}}, "pyproject.toml")
    assert list(config.npm) == ["@scope/pack"]
    with pytest.raises(ConfigError, match="must be the name of an npm package"):
        read_config({"npm": {"../pack": good}}, "pyproject.toml")
