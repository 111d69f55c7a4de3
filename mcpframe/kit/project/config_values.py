"""The checked values of the configuration: types of pydantic, each with an error that names the allowed values."""

from __future__ import annotations

import posixpath
import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Discriminator, Tag

from mcpframe.frame.core.allowed_origins import NOT_EXACT, SELF, parse_origin
from mcpframe.frame.core.errors import OriginError
from mcpframe.frame.dialects.available import entries_of, offered_names
from mcpframe.kit.project.origin_trial import read_token
from mcpframe.views.html import url_origin

Origins = Annotated[list[str], Tag("list")] | Annotated[dict[str, list[str]], Tag("table")]
_ENTRY = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\(\))?\Z")
_NOT_KEPT = frozenset({"", "dev", "lib", "mcpframe", "proc", "usr"})
_VARIABLE = re.compile(r"[^=\0]+\Z")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?\Z")
_NPM_NAME = re.compile(r"(@[a-z0-9._~-]+/)?[a-z0-9_~-][a-z0-9._~-]*\Z")
_NPM_VERSION = re.compile(r"\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?\Z")
_INTEGRITY = re.compile(r"sha512-[A-Za-z0-9+/]{86}==\Z")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_CSP_SOURCE = re.compile(r"[^\s;,'\"]+\Z|'(self|none|unsafe-inline|sha(256|384|512)-[A-Za-z0-9+/=_-]+)'\Z")


def _entry(value: str) -> str:
    if not _ENTRY.match(value) and not _NAME.match(value):
        raise ValueError(
            "must be 'module:object', such as 'server:server', or 'module:factory()', or the name of a package"
        )
    return value


def _variable(value: str) -> str:
    if not _VARIABLE.match(value):
        raise ValueError("must be the name of an environment variable")
    return value


def _kept(value: str) -> str:
    path = posixpath.normpath(value)
    is_below = path == "~" or path.startswith(("~/", "/"))
    top = path.split("/")[1] if path.startswith("/") else "home"
    if not is_below or ".." in value.split("/") or "\0" in value or top in _NOT_KEPT:
        raise ValueError(
            "must be a file or folder of the page, absolute or below '~', such as '~/.myserver'; Python's own folders "
            f"({', '.join(f'/{name}' for name in sorted(filter(None, _NOT_KEPT)))}) are not kept"
        )
    return value


def _no_nul(value: str) -> str:
    if "\0" in value:
        raise ValueError("must not contain a null character")
    return value


def _name(value: str) -> str:
    if not _NAME.match(value):
        raise ValueError(
            "must consist of letters, digits, '.', '_' and '-', as it names a folder and a part of the URL"
        )
    return value


def _package_name(value: str) -> str:
    if not _NAME.match(value):
        raise ValueError("must be the name of a package, without a version")
    return value


def _form(value: object) -> str:
    return "table" if isinstance(value, dict) else "list"


def _origins(values: Origins) -> Origins:
    try:
        for value in entries_of(values).all:
            if value not in NOT_EXACT:
                parse_origin(value)
    except OriginError as error:
        raise ValueError(str(error)) from None
    return values


def _dialects(values: list[str]) -> list[str]:
    known = ", ".join(offered_names())
    if not values:
        raise ValueError(f"must name at least one of {known}; without the key, the bundle offers all of them")
    if unknown := [value for value in values if value not in offered_names()]:
        are = "are not dialects" if len(unknown) > 1 else "is not a dialect"
        raise ValueError(f"{', '.join(map(repr, unknown))} {are}; possible are {known}")
    if twice := [value for value in offered_names() if values.count(value) > 1]:
        raise ValueError(f"{', '.join(map(repr, twice))} is in it twice")
    return [value for value in offered_names() if value in values]


def _address(value: str) -> str:
    url_origin(value)
    if "?" in value:
        raise ValueError(f"{value!r} has a query: write the address of the bundle's folder, such as '…/forecast/'")
    return value if value.endswith("/") else f"{value}/"


def _distribution(value: str) -> str:
    if "://" not in value:
        return _no_nul(value)
    host = urlsplit(url_origin(value)).hostname
    if not value.startswith("https://") and host not in _LOOPBACK:
        raise ValueError(f"{value!r} must be a folder, or an address that begins with https://")
    return value if value.endswith("/") else f"{value}/"


def _sandbox_origin(value: str) -> str:
    try:
        return value if value == SELF else parse_origin(value)
    except OriginError as error:
        raise ValueError(str(error)) from None


def _relative(value: str) -> str:
    parts = value.replace("\\", "/").split("/")
    if value.startswith(("/", "\\")) or ":" in value or ".." in parts:
        raise ValueError("must be a path inside the project, relative to its pyproject.toml")
    return value


def _sources(values: list[str]) -> list[str]:
    for value in values:
        if not _CSP_SOURCE.match(value):
            raise ValueError(f'{value!r} is not a CSP source, such as "https://api.example" or "\'self\'"')
    return values


def _npm_name(value: str) -> str:
    if not _NPM_NAME.match(value):
        raise ValueError("must be the name of an npm package, such as 'mermaid' or '@scope/name'")
    return value


def _npm_version(value: str) -> str:
    if not _NPM_VERSION.match(value):
        raise ValueError("must be one version, such as '1.2.3', not a range")
    return value


def _integrity(value: str) -> str:
    if not _INTEGRITY.match(value):
        raise ValueError("must be 'sha512-…', as `npm view NAME@VERSION dist.integrity` prints it")
    return value


def _trial_token(value: str) -> str:
    read_token(value)
    return value


Value = Annotated[str, AfterValidator(_no_nul)]
Sources = Annotated[list[str], AfterValidator(_sources)]
RelativePath = Annotated[str, AfterValidator(_relative)]
Entry = Annotated[str, AfterValidator(_entry)]
Name = Annotated[str, AfterValidator(_name)]
Variable = Annotated[str, AfterValidator(_variable)]
KeptPath = Annotated[str, AfterValidator(_kept)]
PackageName = Annotated[str, AfterValidator(_package_name)]
Dialects = Annotated[list[str], AfterValidator(_dialects)]
Address = Annotated[str, AfterValidator(_address)]
Distribution = Annotated[str, AfterValidator(_distribution)]
SandboxOrigin = Annotated[str, AfterValidator(_sandbox_origin)]
NpmName = Annotated[str, AfterValidator(_npm_name)]
NpmVersion = Annotated[str, AfterValidator(_npm_version)]
Integrity = Annotated[str, AfterValidator(_integrity)]
TrialTokenText = Annotated[str, AfterValidator(_trial_token)]
AllowedOrigins = Annotated[Origins, Discriminator(_form), AfterValidator(_origins)]
