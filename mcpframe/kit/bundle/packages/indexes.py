"""The user's package indexes, folders of wheels and certificates: the same for uv and pip.

uv chooses versions and pip fetches their files, but each reads only its own settings. A package on an index that only
one of them knows would have no version, or a version without files. What one has as its default index is the default
of both; if each has its own, it is a further index of the other.
"""

from __future__ import annotations

import ast
import os
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from mcpframe.kit.base.errors import BuildError
from mcpframe.kit.base.processes import python, run_tool

_OF_UV = ("UV_INDEX_URL", "UV_EXTRA_INDEX_URL")
"""Earlier names of uv's variables: the current ones replace them."""
_DEFAULT = re.compile(r"--index-url .*?\(default (https://[^\s)]+)\)")
_CERTIFICATES = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""The variables by which pip knows another file of certificates; earlier ones of it know no `SSL_CERT_FILE`."""


@dataclass(frozen=True)
class _Settings:
    """The settings of one of the two programs.

    Attributes:
        default: Its default index, or an empty string.
        indexes: Its further indexes. One of uv may have a name: `name=url`.
        links: Folders, or pages, of files.
        hosts: Hosts whose certificate is not checked.
        offline: Whether it uses no index.
        certificates: The file of its certificates, or an empty string.
        proxy: Its proxy, or an empty string.
    """

    default: str = ""
    indexes: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    offline: bool = False
    certificates: str = ""
    proxy: str = ""


def for_uv() -> dict[str, str]:
    """Return the environment variables for uv: those of this process, with the indexes of both.

    Raises:
        BuildError: A file of its settings is invalid.
        ToolFailed: pip does not start.
    """
    uv, pip = _uvs(), _pips()
    environment = {name: value for name, value in os.environ.items() if name not in _OF_UV}
    *indexes, default = _in_order(uv, pip)
    environment |= _set(
        UV_DEFAULT_INDEX=default,
        UV_INDEX=" ".join(indexes),
        UV_FIND_LINKS=",".join(dict.fromkeys((*uv.links, *pip.links))),
        UV_INSECURE_HOST=" ".join(dict.fromkeys((*uv.hosts, *pip.hosts))),
        UV_NO_INDEX="true" if uv.offline or pip.offline else "",
    )
    if pip.certificates and not uv.certificates:
        environment["SSL_CERT_FILE"] = pip.certificates
    if pip.proxy:
        environment = {"HTTPS_PROXY": pip.proxy, "HTTP_PROXY": pip.proxy, **environment}
    return environment


def for_pip() -> dict[str, str]:
    """Return the environment variables for pip; see `for_uv`."""
    uv, pip = _uvs(), _pips()
    environment = dict(os.environ)
    environment |= _set(
        PIP_INDEX_URL=pip.default or _with_password(uv.default),
        PIP_EXTRA_INDEX_URL=" ".join(_with_password(each) for each in _joined(uv, pip, pip.default)),
        PIP_FIND_LINKS=" ".join(map(_without_spaces, dict.fromkeys((*pip.links, *uv.links)))),
        PIP_TRUSTED_HOST=" ".join(dict.fromkeys((*pip.hosts, *uv.hosts))),
        PIP_NO_INDEX="true" if uv.offline or pip.offline else "",
    )
    if uv.certificates and not pip.certificates:
        environment["PIP_CERT"] = uv.certificates
    return environment


def _set(**variables: str) -> dict[str, str]:
    return {name: value for name, value in variables.items() if value}


def _in_order(uv: _Settings, pip: _Settings) -> list[str]:
    """Return the indexes for uv, which takes a file of the first one that has it, and the default one as the last.

    The indexes that only pip knows are behind the default one: what the public index has is the same on each machine.
    """
    default = uv.default or pip.default
    added = [each for each in _joined(uv, pip, uv.default) if each not in uv.indexes]
    return [*uv.indexes, default or _public_index(), *added] if added else [*uv.indexes, default]


@cache
def _public_index() -> str:
    """Return the default index of pip without settings, which is that of uv, too."""
    match = _DEFAULT.search(" ".join(run_tool(python("-m", "pip", "download", "--help"), "pip", timeout=60).split()))
    return match[1] if match else ""


def _joined(uv: _Settings, pip: _Settings, default: str) -> list[str]:
    """Return the further indexes of both, and the default index of one if it is not that of the other."""
    by_address: dict[str, str] = {}
    for index in (*uv.indexes, *pip.indexes, *filter(None, (uv.default, pip.default) if default else ())):
        by_address.setdefault(_address(index), index)
    by_address.pop(_address(default or uv.default or pip.default), None)
    return list(by_address.values())


def _address(index: str) -> str:
    return _split(index)[1].rstrip("/")


def _split(index: str) -> tuple[str, str]:
    """Return the name of an index of uv, or an empty string, and its address."""
    name, equals, address = index.partition("=")
    return (name, address) if equals and ":" not in name and "/" not in name else ("", index)


def _with_password(index: str) -> str:
    """Return the address of an index of uv with the user and password that uv has for its name."""
    name, address = _split(index)
    variable = f"UV_INDEX_{name.upper().replace('-', '_').replace('.', '_')}_"
    user, password = (quote(os.environ.get(variable + each, ""), safe="") for each in ("USERNAME", "PASSWORD"))
    parts = urlsplit(address)
    if not name or not (user or password) or "@" in parts.netloc:
        return address
    return urlunsplit(parts._replace(netloc=f"{user}:{password}@{parts.netloc}"))


def _without_spaces(link: str) -> str:
    """Return a link for pip, which separates them by spaces."""
    return Path(link).as_uri() if " " in link else link


def _absolute(place: str, folder: Path) -> str:
    """Return an address unchanged, and the path of a file or folder as an absolute one: uv runs in another folder."""
    return place if "://" in place or place.startswith("file:") else str((folder / Path(place).expanduser()).resolve())


def _index(place: str, folder: Path) -> str:
    name, address = _split(place)
    address = _absolute(address, folder)
    address = address if ":/" in address else Path(address).as_uri()
    return f"{name}={address}" if name else address


def _pips() -> _Settings:
    variables = ((name, value) for name, value in os.environ.items() if name.startswith(("PIP_", "XDG_", "HOME")))
    return _read_pip(tuple(sorted(variables)))


@cache
def _read_pip(_variables: tuple[tuple[str, str], ...]) -> _Settings:
    listed: dict[str, str] = {}
    lines = run_tool(python("-m", "pip", "config", "list"), "pip", timeout=60).splitlines()
    for section in ("global.", "download.", ":env:."):  # a later one replaces an earlier one
        for line in lines:
            key, equals, value = line.partition("=")
            if equals and key.startswith(section):
                listed[key.removeprefix(section)] = str(ast.literal_eval(value))
    here = Path.cwd()
    default = listed.get("index-url", "")
    return _Settings(
        _index(default, here) if default else "",
        tuple(_index(each, here) for each in listed.get("extra-index-url", "").split()),
        tuple(_absolute(each, here) for each in listed.get("find-links", "").split()),
        tuple(listed.get("trusted-host", "").split()),
        _is_on(listed.get("no-index", "")),
        listed.get("cert") or next(filter(None, map(os.environ.get, _CERTIFICATES)), ""),
        listed.get("proxy", ""),
    )


def _is_on(value: object) -> bool:
    return str(value).lower() in ("1", "y", "yes", "t", "true", "on")


def _uvs() -> _Settings:
    """Return uv's settings: variables, then those of the user, then those of the machine."""
    of, here = os.environ.get, Path.cwd()
    indexes = [_index(each, here) for each in f"{of('UV_INDEX', '')} {of('UV_EXTRA_INDEX_URL', '')}".split()]
    links = [_absolute(each, here) for each in of("UV_FIND_LINKS", "").split(",") if each]
    hosts = of("UV_INSECURE_HOST", "").split()
    default = of("UV_DEFAULT_INDEX") or of("UV_INDEX_URL") or ""
    default = _index(default, here) if default else ""
    offline = _is_on(of("UV_NO_INDEX", ""))
    for file in _files_of_uv():
        for table in _tables(file):
            listed = [each for each in table.get("index", ()) if not each.get("explicit")]
            flat = [each["url"] for each in listed if each.get("format") == "flat"]
            named = [
                (_index(f"{each['name']}={each['url']}" if "name" in each else each["url"], file.parent), each)
                for each in listed
                if each.get("format") != "flat"
            ]
            earlier = [table["index-url"]] if "index-url" in table else []
            defaults = [index for index, each in named if each.get("default")]
            defaults += [_index(each, file.parent) for each in earlier]
            default = next(filter(None, (default, *defaults)), "")
            indexes += [index for index, each in named if not each.get("default")]
            indexes += [_index(each, file.parent) for each in table.get("extra-index-url", ())]
            links += [_absolute(each, file.parent) for each in (*flat, *table.get("find-links", ()))]
            hosts += table.get("allow-insecure-host", ())
            offline = offline or table.get("no-index") is True
    return _Settings(default, tuple(indexes), tuple(links), tuple(hosts), offline, of("SSL_CERT_FILE", ""))


def _files_of_uv() -> list[Path]:
    if named := os.environ.get("UV_CONFIG_FILE"):
        return [Path(named)]
    if _is_on(os.environ.get("UV_NO_CONFIG", "")):
        return []
    if os.name == "nt":
        folders = [os.environ.get("APPDATA", ""), os.environ.get("PROGRAMDATA", "")]
    else:
        more = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
        folders = [os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config"), *more.split(":"), "/etc"]
    return [file for folder in folders if folder and (file := Path(folder) / "uv" / "uv.toml").is_file()]


def _tables(file: Path) -> list[dict[str, Any]]:
    """Return the settings in a file of uv, and those that its interface for pip has besides."""
    try:
        settings = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BuildError(f"{file}, uv's settings, cannot be read: {error}.") from error
    return [settings.get("pip", {}), settings]
