"""Add a server to a client's configuration: shown as a diff first, written atomically, without other changes."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpframe.kit.base.cache import write_file
from mcpframe.kit.base.errors import InstallError
from mcpframe.kit.base.own_command import is_own
from mcpframe.kit.base.user_folders import UserFolders
from mcpframe.kit.bridge.install.known_clients import KnownClient

Entry = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A configuration file before and after.

    Attributes:
        client: the client that reads it.
        path: its path.
        before: its text; None if there is no file yet.
        after: the new text.
    """

    client: KnownClient
    path: Path
    before: str | None
    after: str

    @property
    def is_none(self) -> bool:
        """Whether the file has the server already."""
        return self.before == self.after

    def difference(self) -> str:
        """The change as a unified diff."""
        old = (self.before or "").splitlines(keepends=True)
        lines = difflib.unified_diff(old, self.after.splitlines(keepends=True), str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def write(self) -> None:
        """Write the file atomically.

        Raises:
            InstallError: the file has changed meanwhile.
            WriteError: the file cannot be written; it is unchanged.
        """
        if _read(self.path) != self.before:
            raise InstallError(f"{self.path} has been changed meanwhile: run this again.")
        mode = self.path.stat().st_mode & 0o777 if self.before is not None else None
        write_file(self.path, self.after.encode("utf-8"))
        if mode is not None:
            self.path.chmod(mode)


def plan(
    client: KnownClient,
    places: UserFolders,
    name: str,
    command: Sequence[str],
    variables: Mapping[str, str] | None = None,
) -> Change:
    """Return the change that adds a server to a client's file.

    Args:
        places: the folders and variables that decide the file's path.
        name: the name of the server in the file.
        command: the command that the client runs: the program and its arguments.
        variables: the environment variables that it needs besides those that the client passes on.

    Raises:
        InstallError: the file does not have the expected form, or has another server of this name.
    """
    path = client.place(places)
    path = path.resolve() if path.is_symlink() else path
    entry: Entry = {**dict(client.extra), "command": command[0], "args": list(command[1:])}
    if variables:
        entry["env"] = dict(variables)
    before = _read(path)
    settings = _parse(before, path, entry)
    servers = settings.setdefault(client.key, {})
    if not isinstance(servers, dict):
        raise InstallError(f'{path}: "{client.key}" is not a JSON object: correct it by hand. It was not changed.')
    known = servers.get(name)
    if known is not None and not _is_ours(known):
        raise InstallError(f"{path} has another server named {name!r}: choose another --name. It was not changed.")
    if isinstance(known, dict):
        entry = {**entry, **{key: value for key, value in known.items() if key not in entry}}
        if variables and isinstance(known.get("env"), dict):
            entry["env"] = {**known["env"], **variables}
    if known == entry:
        return Change(client, path, before, before or "")
    servers[name] = entry
    after = json.dumps(settings, indent=_indent(before), ensure_ascii=False) + "\n"
    return Change(client, path, before, after)


def plan_removal(client: KnownClient, places: UserFolders, name: str) -> Change | None:
    """Return the change that removes a server that `install` added from a client's file.

    Args:
        places: the folders and variables that decide the file's path.
        name: the name of the server in the file.

    Returns:
        The change; None if there is no server of this name.

    Raises:
        InstallError: the file does not have the expected form, or `install` did not add the server of this name.
    """
    path = client.place(places)
    path = path.resolve() if path.is_symlink() else path
    before = _read(path)
    settings = _parse(before, path, None)
    servers = settings.get(client.key)
    if not isinstance(servers, dict) or name not in servers:
        return None
    if not _is_ours(servers[name]):
        raise InstallError(
            f"{path} has a server named {name!r} that mcpframe did not add: remove it by hand. It was not changed."
        )
    del servers[name]
    return Change(client, path, before, json.dumps(settings, indent=_indent(before), ensure_ascii=False) + "\n")


def installed(client: KnownClient, places: UserFolders) -> list[str]:
    """Return the names of the servers that `install` has added to a client's file; none if it cannot be read."""
    try:
        servers = _parse(_read(client.place(places)), client.place(places), None).get(client.key)
    except InstallError:
        return []
    return [name for name, entry in servers.items() if _is_ours(entry)] if isinstance(servers, dict) else []


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InstallError(f"{path} is not UTF-8 text: save it as UTF-8. It was not changed.") from error
    except OSError as error:
        raise InstallError(f"{path} cannot be read: {error.strerror}.") from error


def _parse(text: str | None, path: Path, entry: Entry | None) -> dict[str, Any]:
    if text is None or not text.strip():
        return {}
    try:
        settings = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        remedy = f"add this by hand: {json.dumps(entry)}" if entry else "remove the server by hand"
        raise InstallError(
            f"{path} is not JSON that can be edited ({error}): correct it, or {remedy}. It was not changed."
        ) from None
    if not isinstance(settings, dict):
        raise InstallError(f"{path} does not contain a JSON object: correct it by hand. It was not changed.")
    return settings


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key is there twice")
    return members


def _is_ours(entry: object) -> bool:
    return isinstance(entry, dict) and is_own(entry.get("args"))


def _indent(text: str | None) -> int | str:
    """Return the indentation of a file."""
    match = re.search(r"^([ \t]+)\S", text or "", re.MULTILINE)
    if match is None:
        return 2
    return "\t" if match[1].startswith("\t") else len(match[1])
