"""`server.json`: the entries of packages, and the rules of the registry for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.publish.listings.listing import Listing
from mcpframe.kit.publish.listings.registry import own_package, ownership_mark, released_package, server_json
from tests.unit.kit.publish.listings.conftest import NAME, PAGE

RELEASE = "https://github.com/someone/pi-mcp/releases/download/v1.2.3/pi.mcpb"


def test_a_mcpb_on_a_release(listing: Listing) -> None:
    document = server_json(listing, [released_package(RELEASE, "ab" * 32)])
    [package] = document["packages"]
    assert package == {
        "registryType": "mcpb",
        "identifier": RELEASE,
        "fileSha256": "ab" * 32,
        "transport": {"type": "stdio"},
    }
    assert "remotes" not in document
    [(key, meta)] = document["_meta"].items()
    assert key == "io.modelcontextprotocol.registry/publisher-provided"
    assert meta["mcpframe/page"] == {"url": PAGE, "origins": list(listing.origins)}


@pytest.mark.parametrize(
    "url",
    [
        "http://github.com/someone/pi/releases/download/v1/pi.mcpb",
        "https://github.com/someone/pi/raw/main/pi.mcpb",
        "https://github.com/someone/pi/releases/download/v1/pi.zip",
        "https://github.com/someone/pi/releases/download/v1/",
        "https://github.com.evil.example/someone/pi/releases/download/v1/pi.mcpb",
        "https://user@github.com/someone/pi/releases/download/v1/pi.mcpb",
        "https://tools.example/pi.mcpb",
    ],
)
def test_a_file_that_the_registry_does_not_take(url: str) -> None:
    with pytest.raises(ConfigError, match="release"):
        released_package(url, "ab" * 32)


def test_a_release_on_gitlab() -> None:
    url = "https://gitlab.com/group/sub/pi/-/releases/v1/downloads/pi.mcpb"
    assert released_package(url, "ab" * 32)["identifier"] == url


def test_packages_of_the_author(listing: Listing) -> None:
    pypi, npm = own_package("pypi:pi-mcp==1.2.3"), own_package("npm:@someone/pi@1.2.3")
    assert [(each["identifier"], each["version"], each["runtimeHint"]) for each in (pypi, npm)] == [
        ("pi-mcp", "1.2.3", "uvx"),
        ("@someone/pi", "1.2.3", "npx"),
    ]
    assert f"mcp-name: {NAME}" in (ownership_mark(pypi, NAME) or "")
    assert f'"mcpName": "{NAME}"' in (ownership_mark(npm, NAME) or "")
    assert ownership_mark(released_package(RELEASE, "ab" * 32), NAME) is None


@pytest.mark.parametrize("text", ["", "pi", "pypi:pi", "oci:pi==1", "pypi:pi>=1", "npm:pi@^1", "pypi:MCPframe==0.1.0"])
def test_what_is_no_package_of_the_author(text: str) -> None:
    with pytest.raises(ConfigError):
        own_package(text)


def test_what_no_client_could_use(listing: Listing) -> None:
    with pytest.raises(ConfigError, match="--release, --package or --remote"):
        server_json(listing, [])
    with pytest.raises(ConfigError, match="https://"):
        server_json(listing, [], ["http://mcp.example/mcp"])
    assert server_json(listing, [], ["https://mcp.example/mcp"])["remotes"] == [
        {"type": "streamable-http", "url": "https://mcp.example/mcp"}
    ]


def test_the_limit_of_meta(listing: Listing) -> None:
    many = replace(listing, origins=tuple(f"https://host-{number}.example" for number in range(200)))
    with pytest.raises(ConfigError, match="4096"):
        server_json(many, [released_package(RELEASE, "ab" * 32)])
