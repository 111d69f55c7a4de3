"""uv and pip find the packages of the same indexes, whichever of them knows one. The programs are the real ones."""

from __future__ import annotations

import functools
import hashlib
import http.server
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcpframe.kit.base.errors import BuildError, DownloadError, HashMismatch
from mcpframe.kit.bundle.packages import indexes
from mcpframe.kit.bundle.packages.pins import compile_pins
from mcpframe.kit.bundle.packages.wheels import download
from tests.support.certificates import write_certificates
from tests.support.wheels import write_wheel

NAME = "mcpframe-tests-indexed"
Patch = pytest.MonkeyPatch


def write_index(folder: Path, text: str = "") -> Path:
    """Write an index with one package, and return the folder that is its address."""
    wheel = write_wheel(folder / "files", NAME, {"mcpframe_tests_indexed.py": text})
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    page = folder / "simple" / NAME / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text(f'<!DOCTYPE html><a href="../../files/{wheel.name}#sha256={digest}">{wheel.name}</a>')
    return folder / "simple"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: Patch) -> str:
    """The address of an index that neither uv nor pip knows: their settings are empty."""
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "UV_DEFAULT_INDEX", "UV_INDEX"):
        monkeypatch.delenv(name, raising=False)
    for name in ("UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_EXCLUDE_NEWER", "UV_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MCPFRAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "none"))
    return write_index(tmp_path / "index").as_uri()


def in_pips_file(patch: Patch, folder: Path, index: str) -> None:
    (folder / "pip.conf").write_text(f"[global]\nindex-url = {index}\n")
    patch.setenv("PIP_CONFIG_FILE", str(folder / "pip.conf"))


def in_pips_variable(patch: Patch, _: Path, index: str) -> None:
    patch.setenv("PIP_INDEX_URL", index)


def in_pips_further_one(patch: Patch, folder: Path, index: str) -> None:
    patch.setenv("PIP_INDEX_URL", (folder / "other").as_uri())
    patch.setenv("PIP_EXTRA_INDEX_URL", index)


def in_uvs_file(patch: Patch, folder: Path, index: str) -> None:
    (folder / "settings" / "uv").mkdir(parents=True)
    (folder / "settings" / "uv" / "uv.toml").write_text(f'[[index]]\nname = "ours"\nurl = "{index}"\ndefault = true\n')


def in_uvs_file_for_pip(patch: Patch, folder: Path, index: str) -> None:
    (folder / "uv.toml").write_text(f'[pip]\nindex-url = "{index}"\n')
    patch.setenv("UV_CONFIG_FILE", str(folder / "uv.toml"))


def in_uvs_variable(patch: Patch, folder: Path, index: str) -> None:
    patch.setenv("UV_DEFAULT_INDEX", (folder / "other").as_uri())
    patch.setenv("UV_INDEX", f"ours={index}")


def fetched(*requirements: str) -> dict[str, tuple[str, str, str]]:
    pins = compile_pins(requirements, {}, {}, sdk=None)
    return download({name: (pin.version, pin.hashes) for name, pin in pins.items()})


@pytest.mark.parametrize(
    "know",
    [in_pips_file, in_pips_variable, in_pips_further_one, in_uvs_file, in_uvs_file_for_pip, in_uvs_variable],
    ids=lambda know: know.__name__,
)
def test_an_index_that_one_of_them_knows_is_one_of_both(
    index: str, tmp_path: Path, monkeypatch: Patch, know: Callable[[Patch, Path, str], None]
) -> None:
    know(monkeypatch, tmp_path, index)
    assert [version for version, *_ in fetched(NAME).values()] == ["1.0"]


@pytest.mark.parametrize("variable", ["PIP_FIND_LINKS", "UV_FIND_LINKS"])
def test_a_wheel_in_a_folder_may_have_the_version_of_a_public_one(
    index: str, tmp_path: Path, monkeypatch: Patch, variable: str
) -> None:
    own = write_wheel(tmp_path / "own", NAME, {"mcpframe_tests_indexed.py": "OWN = True"})
    monkeypatch.setenv("PIP_INDEX_URL", index)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(variable, "own")
    [(_, _, digest)] = fetched(NAME).values()
    assert digest == hashlib.sha256(own.read_bytes()).hexdigest()


def test_two_files_of_one_version_are_an_error_that_says_what_to_do(
    index: str, tmp_path: Path, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", index)
    with pytest.raises(HashMismatch, match=r"1\.0\+local") as caught:
        download({NAME: ("1.0", ("ab" * 32,))})
    assert "--upgrade" not in str(caught.value)


def test_each_keeps_its_default_index_and_gets_the_other_s_as_a_further_one(index: str, monkeypatch: Patch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "https://pips.example/simple/")
    monkeypatch.setenv("UV_DEFAULT_INDEX", "company=https://uvs.example/simple")
    uv_index = "https://pips.example/simple https://more.example/simple"
    monkeypatch.setenv("UV_INDEX", uv_index)
    monkeypatch.setenv("UV_INDEX_COMPANY_USERNAME", "me")
    monkeypatch.setenv("UV_INDEX_COMPANY_PASSWORD", "a b")
    uv, pip = indexes.for_uv(), indexes.for_pip()
    indexes_of_uv = [*uv["UV_INDEX"].split(), uv["UV_DEFAULT_INDEX"]]
    assert indexes_of_uv[:3] == [*uv_index.split(), "company=https://uvs.example/simple"]
    assert pip["PIP_INDEX_URL"] == "https://pips.example/simple/"
    further = pip["PIP_EXTRA_INDEX_URL"].split()
    assert {"https://me:a%20b@uvs.example/simple", "https://more.example/simple"} <= set(further)
    assert "https://pips.example/simple" not in further


def test_settings_of_uv_that_cannot_be_read_are_an_error(index: str, tmp_path: Path, monkeypatch: Patch) -> None:
    (tmp_path / "uv.toml").write_text("index = ")
    monkeypatch.setenv("UV_CONFIG_FILE", str(tmp_path / "uv.toml"))
    with pytest.raises(BuildError, match="uv's settings"):
        compile_pins([NAME], {}, {}, sdk=None)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class Quiet(http.server.ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """Print nothing of a client that trusts it not."""


@pytest.fixture
def secure(index: str, tmp_path: Path, monkeypatch: Patch) -> Iterator[Path]:
    """The certificate of an authority that nobody knows: it signed that of a server with the index, pip's default."""
    certificate, authoritys = tmp_path / "certificate.pem", tmp_path / "authority.pem"
    write_certificates(certificate, authoritys)
    server = Quiet(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(tmp_path / "index")))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "pip.conf").write_text(
        f"[global]\nindex-url = https://localhost:{server.server_port}/simple\nextra-index-url =\nretries = 0\ncert =\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("NO_PROXY", "localhost")
    yield authoritys
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.usefixtures("secure")
def test_a_certificate_that_is_not_trusted_is_named_with_its_remedy() -> None:
    for fetch in (lambda: compile_pins([NAME], {}, {}, sdk=None), lambda: download({NAME: ("1.0", ("ab" * 32,))})):
        with pytest.raises(DownloadError, match=r"certificate.*localhost.*SSL_CERT_FILE"):
            fetch()


def test_the_remedy_is_one_for_both(secure: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(secure))
    assert [version for version, *_ in fetched(NAME).values()] == ["1.0"]


def test_so_is_the_certificate_that_pip_alone_knows(secure: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("PIP_CERT", str(secure))
    assert [version for version, *_ in fetched(NAME).values()] == ["1.0"]


def test_what_only_pip_knows_comes_behind_the_default_index(index: str, monkeypatch: Patch) -> None:
    monkeypatch.setenv("UV_INDEX", "https://first.example/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://last.example/simple")
    uv = indexes.for_uv()
    first, public = uv["UV_INDEX"].split()
    assert first == "https://first.example/simple"
    assert public.startswith("https://")
    assert not public.endswith(".example/simple")
    assert uv["UV_DEFAULT_INDEX"] == "https://last.example/simple"
