"""The compiled layers of a page: standard library, SDK with mcpframe, the author's requirements, the author's files.

Results are cached per wheel or set of files, so a build compiles only new ones.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mcpframe.frame.compat import docstrings
from mcpframe.kit.base.cache import cache_dir, sha256_of, write_file
from mcpframe.kit.bundle.assembly.layers import (
    LIBRARY,
    PACKAGES_PATH,
    SERVER_PATH,
    SITE_PACKAGES,
    STDLIB_PATH,
    Layer,
    Layers,
    module_name,
)
from mcpframe.kit.bundle.assembly.packages import LazyWheel, Packages
from mcpframe.kit.bundle.packages.deferred_modules import INDEX, index_of, split, startup_modules
from mcpframe.kit.bundle.packages.lock import Lock
from mcpframe.kit.bundle.packages.optional_native import is_foreign, pure_wheel, without_native
from mcpframe.kit.bundle.packages.resolve import BASE, INSTALLER
from mcpframe.kit.bundle.packages.trim import RULES, trim_wheel
from mcpframe.kit.bundle.pyodide.archive import Files, most_unpacked, pack, pack_as_wasm, unpack
from mcpframe.kit.bundle.pyodide.bytecode import bytecode_path, compile_libraries, compile_server
from mcpframe.kit.bundle.pyodide.compile import Run, cache_key, cached, compile_by, compiling, library_compiler
from mcpframe.kit.bundle.pyodide.job_texts import job_text
from mcpframe.kit.bundle.pyodide.runtime import Runtime
from mcpframe.kit.project.project import Project

_FORMAT = "5"
"""Increase it when the same files give another result: cached results of other formats are not used."""

_LARGE = 1_000_000
"""Bytes of a package from which it is an archive of its own: a page with a snapshot fetches that only if it is used."""


@dataclass(frozen=True)
class Library:
    """Compiled files with their licence texts.

    Attributes:
        files: The files by path in site-packages.
        licences: The texts, by path in the wheels.
    """

    files: Files
    licences: Files


def root_names(requirements: Iterable[str]) -> set[str]:
    """Return the normalized names of requirements."""
    return {canonicalize_name(Requirement(item).name) for item in requirements}


def base_packages(lock: Lock) -> set[str]:
    """Return the names of the packages in every bundle."""
    return {package.name for package in lock.closure(root_names((*BASE, *INSTALLER)))}


def packages_of(lock: Lock) -> Packages:
    """Return the packages of a lock, for the assembly."""
    versions = {package.name: package.version for package in lock.packages}
    return Packages(versions, frozenset(versions.keys() - base_packages(lock)))


def lazy_wheels(project: Project, lock: Lock, wheels: Mapping[str, Path]) -> dict[str, list[LazyWheel]]:
    """Return for each lazy requirement the wheels that the page lacks at its start."""
    there = base_packages(lock) | {package.name for package in lock.closure(root_names(project.requirements))}
    by_root: dict[str, list[LazyWheel]] = {}
    for root in (canonicalize_name(Requirement(item).name) for item in project.lazy):
        by_root[root] = []
        for package in lock.closure([root]):
            if package.name not in there:
                wheel = wheels[package.name]
                name, data = pure_wheel(wheel) if is_foreign(wheel.name) else (wheel.name, wheel.read_bytes())
                by_root[root].append(LazyWheel(package.name, name, package.sha256, data))
    return by_root


def build_layers(
    project: Project,
    lock: Lock,
    wheels: Mapping[str, Path],
    author: Files,
    own: Files,
    shared: Files,
    runtime: Runtime,
) -> Layers:
    """Compile the layers of a page, except the author's files: see `compiled`.

    Args:
        wheels: Their files, by package.
        own: mcpframe's files.
        shared: Those of them that all servers of this SDK have.
    """
    base_names = base_packages(lock)
    more_names = {package.name for package in lock.closure(root_names(project.requirements))} - base_names
    base, more = (tuple((name, wheels[name]) for name in sorted(names)) for names in (base_names, more_names))
    libraries = _libraries(base, more, _Given(own), _Given(shared), runtime, (cache_dir(), most_unpacked()))
    return replace(libraries, archives=(*libraries.archives, Layer("server", SERVER_PATH, author, own=True)))


class _Given(dict[str, bytes]):
    """Files as an argument of a function whose result is kept."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self.items()))


_Wheels = tuple[tuple[str, Path], ...]


@lru_cache(maxsize=1)
def _libraries(base: _Wheels, more: _Wheels, own: _Given, shared: _Given, runtime: Runtime, _: object) -> Layers:
    """Return the layers without the author's files, of which `mcpframe dev` builds with others after each change.

    Args:
        base: The wheels of the packages in every bundle, by name.
        more: Those of the author's requirements.
        own: As for `build_layers`.
        shared: As for `build_layers`.
        _: What else this depends on: the folder of the cache, and the limit of what may be unpacked.
    """
    base_library, more_library = (compiled_wheels(dict(each), runtime) for each in (base, more))
    stdlib = compiled_stdlib(runtime)
    ours = _compiled_own(shared, runtime)
    parts = _compiled_own({path: data for path, data in own.items() if path not in shared}, runtime)
    common = {**base_library.files, **ours}
    needed = startup_modules(stdlib, common, SITE_PACKAGES, runtime)
    startup: dict[str, bytes] = {}
    deferred: dict[str, bytes] = {}
    for folder, files in ((STDLIB_PATH, stdlib), (SITE_PACKAGES, base_library.files)):
        at_start, later = split(files, needed)
        startup |= _in(folder, at_start)
        deferred |= _in(folder, later)
    startup |= _with_fewer_docstrings(startup, dict(base), runtime)
    deferred[docstrings.FILE] = startup.pop(docstrings.FILE)
    archives = [Layer("stdlib", STDLIB_PATH, _below(STDLIB_PATH, startup))]
    base_files = {INDEX: index_of(pack_as_wasm(deferred)), **_below(SITE_PACKAGES, startup), **ours}
    archives.append(Layer("base", SITE_PACKAGES, base_files))
    if parts:
        archives.append(Layer("parts", SITE_PACKAGES, parts, part=True))
    if more_library.files:
        archives += _package_layers(more_library.files)
    licences = {**base_library.licences, **more_library.licences}
    return Layers(stdlib, {**common, **parts}, tuple(archives), deferred, licences)


def _in(folder: str, files: Files) -> Files:
    """Return files by their paths below `LIBRARY`."""
    return {f"{folder}/{path}".removeprefix(f"{LIBRARY}/"): data for path, data in files.items()}


def _below(folder: str, files: Files) -> Files:
    """Return those of files of `_in` that are in a folder, by their paths in it."""
    start = f"{folder}/".removeprefix(f"{LIBRARY}/")
    return {path.removeprefix(start): data for path, data in files.items() if path.startswith(start)}


def _with_fewer_docstrings(startup: Files, wheels: Mapping[str, Path], runtime: Runtime) -> Files:
    """Return modules of startup without the docstrings that no server offers, and these as the file `docstrings.FILE`.

    Args:
        startup: The compiled files of startup, by path below `LIBRARY`.
        wheels: The wheels that they are from, besides the standard library.
    """
    path = cached("startup-docstrings", cache_key(job_text("compile"), _key(startup, runtime)) + ".zip")
    if path.is_file():
        return unpack(path)
    sources = dict(_in(STDLIB_PATH, unpack(runtime.folder / "python_stdlib.zip")))
    for wheel in wheels.values():
        sources |= _in(SITE_PACKAGES, trim_wheel(without_native(wheel))[0])
    names = [name for each in sorted(startup) if (name := each.removesuffix("c")) != each and name in sources]
    given = [(sources[name], f"{LIBRARY}/{name}") for name in names]
    compiler = library_compiler(runtime, _stdlib_zip(runtime))
    compiled = compiler(given, docstrings="offered")
    files = {f"{name}c": data for name, data in zip(names, compiled, strict=True) if isinstance(data, bytes)}
    removed = zip(names, compiler(given, docstrings="removed"), strict=True)
    by_module = {module_name(name.partition("/")[2]): texts for name, texts in removed if isinstance(texts, bytes)}
    files[docstrings.FILE] = json.dumps({name: json.loads(texts) for name, texts in by_module.items()}).encode()
    write_file(path, pack(files))
    return files


def _package_layers(files: Files) -> list[Layer]:
    """Return the layers of the author's requirements: one for each large package, and one for all others."""
    packages: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        name, _, inner = path.partition("/")
        packages.setdefault(name if inner else "", {})[inner or name] = data
    large = sorted(name for name, inner in packages.items() if name and sum(map(len, inner.values())) >= _LARGE)
    rest = {path: data for path, data in files.items() if path.partition("/")[0] not in large}
    apart = [Layer(name, f"{PACKAGES_PATH}/{name}", packages[name], own=True, apart=True) for name in large]
    return [Layer("packages", PACKAGES_PATH, rest, own=True), *apart]


def _compiled_own(own: Files, runtime: Runtime) -> Files:
    if not own:
        return {}
    path = cached("own-without-any-docstrings", _key(own, runtime))
    if path.is_file():
        return unpack(path)
    compiler = library_compiler(runtime, _stdlib_zip(runtime))
    compiled = compile_libraries({"": own}, compiler, shown=SITE_PACKAGES, docstrings="none")[""]
    write_file(path, pack(compiled))
    return compiled


def is_compiled(author: Files, runtime: Runtime) -> bool:
    """Return whether the author's files, as they are now, have been compiled before."""
    return cached("servers", _key(author, runtime)).is_file()


def compiled(layers: Layers, runtime: Runtime, root: Path, run: Run | None = None) -> Layers:
    """Return the layers with the author's files compiled.

    Args:
        layers: The layers, with the author's files uncompiled.
        root: The folder of the author's files on this machine, for errors.
        run: Compiles them if they are not in the cache; by default in a separate Pyodide.

    Raises:
        BuildError: A file does not compile.
    """
    *others, server = layers.archives
    path = cached("servers", _key(server.files, runtime))
    if not path.is_file():
        compiler = partial(compile_by, run or compiling(runtime, _stdlib_zip(runtime)))
        files = compile_server(server.files, compiler, shown=SERVER_PATH, root=root)
        write_file(path, pack(files))
    return replace(layers, archives=(*others, replace(server, files=unpack(path))))


def with_sources(layers: Layers, tops: Collection[str], wheels: Mapping[str, Path]) -> Layers:
    """Return the layers with the sources of some of the author's requirements beside their bytecode.

    Args:
        tops: Top folders, or files, of packages.
        wheels: The files of packages, by name.
    """
    if not tops:
        return layers
    sources: dict[str, bytes] = {}
    for wheel in wheels.values():
        kept, _ = trim_wheel(unpack(wheel))
        sources |= {path: data for path, data in kept.items() if path.endswith(".py")}

    def restored(layer: Layer) -> Layer:
        files = dict(layer.files)
        for path in layer.files:
            full = f"{layer.to}/{path}".removeprefix(f"{PACKAGES_PATH}/")
            if full.partition("/")[0] in tops and (source := sources.get(full.removesuffix("c"))) is not None:
                files[path.removesuffix("c")] = source
                files[bytecode_path(path.removesuffix("c"))] = files.pop(path)
        return replace(layer, files=files)

    archives = (restored(each) if each.to.startswith(PACKAGES_PATH) else each for each in layers.archives)
    return replace(layers, archives=tuple(archives))


def _key(files: Files, runtime: Runtime) -> str:
    return (
        cache_key(_FORMAT, runtime.version, *(part for path in sorted(files) for part in (path, files[path]))) + ".zip"
    )


def compiled_stdlib(runtime: Runtime) -> Files:
    """Return the compiled standard library."""
    return _unpacked(_stdlib_zip(runtime))


@lru_cache(maxsize=1)
def _unpacked(path: Path) -> Files:
    """Return the files of an archive of the cache, which is the same in all builds of a process."""
    return unpack(path)


def _stdlib_zip(runtime: Runtime) -> Path:
    source = runtime.folder / "python_stdlib.zip"
    path = cached("stdlib", cache_key(_FORMAT, sha256_of(source)) + ".zip")
    if not path.is_file():
        modules = {path: data for path, data in unpack(source).items() if not path.endswith("/py.typed")}
        write_file(path, pack(compile_libraries({"": modules}, library_compiler(runtime), shown=STDLIB_PATH)[""]))
    return path


def compiled_wheels(wheels: Mapping[str, Path], runtime: Runtime) -> Library:
    """Return the wheels as one library, trimmed and compiled.

    Args:
        wheels: Files by package name, as `fetch_wheels` returns them: each in a folder named after its hash.
    """
    paths = {
        name: cached("wheels-compiled", cache_key(_FORMAT, RULES, runtime.version, wheel.parent.name) + ".zip")
        for name, wheel in wheels.items()
    }
    missing = [name for name, path in paths.items() if not path.is_file()]
    if missing:
        _compile_into(paths, {name: wheels[name] for name in missing}, runtime)
    files: dict[str, bytes] = {}
    licences: dict[str, bytes] = {}
    for name in sorted(paths):
        for path, data in unpack(paths[name]).items():
            part, _, inner = path.partition("/")
            (files if part == "files" else licences)[inner] = data
    return Library(files, licences)


def _compile_into(paths: Mapping[str, Path], wheels: Mapping[str, Path], runtime: Runtime) -> None:
    """Compile several wheels in one run of Pyodide, as its start takes longer than most wheels."""
    trimmed = {name: trim_wheel(without_native(wheel)) for name, wheel in wheels.items()}
    files = {name: kept for name, (kept, _) in trimmed.items()}
    compiled = compile_libraries(files, library_compiler(runtime, _stdlib_zip(runtime)), shown=SITE_PACKAGES)
    for name, (_, licences) in trimmed.items():
        result = {f"files/{path}": data for path, data in compiled[name].items()}
        result |= {f"licences/{path}": data for path, data in licences.items()}
        write_file(paths[name], pack(result))
