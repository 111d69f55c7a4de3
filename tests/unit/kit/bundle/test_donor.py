"""A donor bundle: what is refused, and what a new bundle takes from it. Whole: tests/in_pyodide/test_assembly.py."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from importlib.util import source_hash
from pathlib import Path

import pytest

from mcpframe.frame.core.allowed_origins import OriginEntries
from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.bundle.assembly.assemble import assemble
from mcpframe.kit.bundle.assembly.assets import Asset, asset
from mcpframe.kit.bundle.assembly.description import ServerDescription
from mcpframe.kit.bundle.assembly.donor import read_donor
from mcpframe.kit.bundle.assembly.inputs import Inputs, Scripts
from mcpframe.kit.bundle.assembly.layers import PACKAGES_PATH, SERVER_PATH, SITE_PACKAGES, STDLIB_PATH, Layer, Layers
from mcpframe.kit.bundle.assembly.manifest import manifest_of, manifest_text
from mcpframe.kit.bundle.assembly.packages import LazyWheel, Packages
from mcpframe.kit.bundle.assembly.snapshot_file import SDK, LayerFile, Snapshot
from mcpframe.kit.bundle.assembly.snapshot_file import SERVER as SERVER_LAYER
from mcpframe.kit.bundle.assembly.wasm_files import WasmFile
from mcpframe.kit.project.project import Project, find_project

NATIVE = b"\0asm\1\0\0\0\0\x0b\x08dylink.0\1\0"
SDK_FILE = LayerFile(SDK, b"memory", 10, "build", {"of": "sdk"}, ("mcp",), "Chromium 156")
SNAPSHOT = Snapshot((SDK_FILE,))
OWN_FILE = replace(SDK_FILE, name=SERVER_LAYER, data=b"difference", references={"of": "server"})
SERVER = {"server.py": b"from mcpframe import FrameServer\nserver = FrameServer('new')\n"}


def project(folder: Path, name: str, requirements: str = "", lazy: str = "") -> Project:
    folder.mkdir()
    (folder / "server.py").write_bytes(SERVER["server.py"])
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "{name}"\ndependencies = ["mcpframe"{requirements}]\n[tool.mcpframe]\n'
        f'entry = "server:server"\nallowed_origins = ["https://a.example"]\nlazy = [{lazy}]\n'
    )
    return find_project(folder)


def plain(name: str) -> Asset:
    """A file without a hash in its name."""
    return asset(f"_mcpframe/{name}", name.encode())


def lent(tmp_path: Path, snapshot: Snapshot | None = SNAPSHOT, *, installable: bool = False) -> dict[str, bytes]:
    """Return the files of a donor: small stand-ins, assembled as a build does."""
    archives = (
        Layer("stdlib", STDLIB_PATH, {"json/__init__.pyc": b"code"}),
        Layer("base", SITE_PACKAGES, {"mcp/__init__.pyc": b"code", "core/native.so": NATIVE}),
        Layer("packages", PACKAGES_PATH, {"snowball-1.0.dist-info/METADATA": b"Name: snowball\n"}, own=True),
        Layer("server", SERVER_PATH, {"server.py": b"old"}, own=True),
    )
    inputs = Inputs(
        replace(project(tmp_path / "donor", "donor"), installable=installable),
        Packages({"mcp": "2.3.0", "snowball": "1.0"}, frozenset({"snowball"})),
        Layers({}, {}, archives, {"std/gzip.pyc": b"code"}, {}),
        b"licences",
        ServerDescription("donor", modules=("core",)),
        OriginEntries(("https://a.example",)),
        Scripts(
            plain("p.mjs"),
            plain("a.mjs"),
            WasmFile(plain("w.wasm"), plain("w.second.wasm")),
            plain("l.js"),
            style=asset("_mcpframe/frame.0.css", b"css"),
            patches={"applied": ["one"], "notes": []},
        ),
        {"lazier": [LazyWheel("lazier", "lazier-1.0-py3-none-any.whl", "0123456789abcdef", b"wheel")]},
        second_files={asset("", NATIVE).sha256: plain("native.second.wasm")},
    )
    bundle = assemble(inputs, snapshot)
    files = {item.path: item.data for item in bundle.assets}
    return files | {"donor/manifest.json": manifest_text(manifest_of(inputs, bundle, dict.fromkeys(files)))}


def compiled(sources: Sequence[tuple[bytes, str]], *, docstrings: bool) -> list[bytes | str]:
    """A compiler that writes the header of bytecode only."""
    return [b"magicflag"[:8] + source_hash(source) + shown.encode() for source, shown in sources]


def test_a_new_bundle_has_the_donor_s_files_and_its_own(tmp_path: Path) -> None:
    files = lent(tmp_path, None)
    donor = read_donor("donor", files)
    assert donor.packages == Packages({"mcp": "2.3.0", "snowball": "1.0"}, frozenset({"snowball"}))
    assert donor.archives[1].files["core/native.so"] == NATIVE  # which is a file of its own in the donor
    new = project(tmp_path / "new", "new", ', "snowball"', '"lazier"')
    inputs = donor.inputs(new, SERVER, ServerDescription("new"), compiler=compiled)
    by_name = {layer.name: layer.files for layer in inputs.layers.archives}
    assert set(by_name) == {"stdlib", "base", "packages", "server"}
    assert {"mcp/__init__.pyc", "mcpframe/__init__.pyc", "core/native.so"} <= by_name["base"].keys()
    assert by_name["server"].keys() == {"server.py", "__pycache__/server.cpython-314.pyc"}
    made = {item.path: item.data for item in assemble(inputs).assets}
    shared = {path for path in files if path.startswith("_mcpframe/") and "/base." not in path}
    assert shared <= made.keys()
    assert "new/packages/0123456789abcdef/lazier-1.0-py3-none-any.whl" in made


@pytest.mark.parametrize("layers", [(SDK_FILE,), (SDK_FILE, OWN_FILE)], ids=["sdk", "server"])
def test_the_sdk_s_layer_is_lent_to_a_bundle_of_the_same_modules_of_mcpframe(
    tmp_path: Path, layers: tuple[LayerFile, ...]
) -> None:
    donor = read_donor("donor", lent(tmp_path, Snapshot(layers)))
    new = project(tmp_path / "new", "new")
    first = donor.inputs(new, SERVER, ServerDescription("new"), compiler=compiled)
    assert donor.snapshot(first) is None
    same = replace(donor, archives=first.layers.archives[:-1])
    again = same.inputs(new, SERVER, ServerDescription("new"), compiler=compiled)
    assert same.snapshot(again) == Snapshot((replace(SDK_FILE, modules=()),))


def test_a_snapshot_with_its_author_s_code_in_its_only_layer_is_not_lent(tmp_path: Path) -> None:
    assert read_donor("donor", lent(tmp_path, Snapshot((OWN_FILE,)))).image is None


def test_a_requirement_that_the_donor_lacks_is_named(tmp_path: Path) -> None:
    donor, new = read_donor("donor", lent(tmp_path)), project(tmp_path / "new", "new", ', "pandas>=2"', '"numpy"')
    with pytest.raises(BuildError, match=r"pandas>=2, numpy is not in the bundle"):
        donor.inputs(new, SERVER, ServerDescription("new"), compiler=compiled)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"donor/manifest.json": None}, "its manifest.json is missing"),
        ({"donor/manifest.json": b"[]"}, "its manifest.json is missing"),
        ({"_mcpframe/w.wasm": b"other"}, r"_mcpframe/w\.wasm .* is missing or changed"),
        ({"_mcpframe/w.wasm": None}, r"_mcpframe/w\.wasm .* is missing or changed"),
        ({"donor/index.html": b"other"}, r"donor/index\.html .* is missing or changed"),
    ],
)
def test_files_that_are_missing_or_changed(tmp_path: Path, change: dict[str, bytes | None], said: str) -> None:
    files = {path: data for path, data in {**lent(tmp_path), **change}.items() if data is not None}
    with pytest.raises(BuildError, match=said):
        read_donor("donor", files)


def test_a_donor_of_another_version(tmp_path: Path) -> None:
    files = lent(tmp_path)
    manifest = json.loads(files["donor/manifest.json"])
    assert manifest["versions"]["mcpframe"] == version("mcpframe")
    manifest["versions"]["mcpframe"] = "0.0.1"
    with pytest.raises(BuildError, match="was built by another version"):
        read_donor("donor", files | {"donor/manifest.json": manifest_text(manifest)})
