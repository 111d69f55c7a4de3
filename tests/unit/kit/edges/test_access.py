"""The options of whatever serves HTTP: what cannot be served is one error, before anything listens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mcpframe.frame.core.errors import McpFrameError, OriginError
from mcpframe.kit.base.errors import ConfigError, ServeError
from mcpframe.kit.edges.http.access import Access
from mcpframe.kit.edges.http.issuer import Issuer, read_issuer
from mcpframe.kit.edges.http.known_tokens import parse_tokens

TOKENS = {"t" * 24: "ada"}
ISSUER = Issuer("https://login.example", "https://login.example/jwks", "https://mcp.example/mcp", "x")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "mcp.example", "", "127.0.0.1.evil.example"])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(ServeError, match=r"--tokens .* --oauth"):
        Access(host).check()
    Access(host, tokens=TOKENS).check()
    Access(host, issuer=ISSUER).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_this_machine_needs_none(host: str) -> None:
    Access(host).check()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"allowed_origins": ["chat.example"]}, OriginError),
        *(
            ({"rate": rate}, ConfigError)
            for rate in ("5", "0/minute", "-1/minute", "1/second;2/minute", "5/lustrum", "")
        ),
        *(({"proxies": [each]}, ConfigError) for each in ("*", "proxy.example", "10.0.0.5/8", "300.0.0.1", "")),
    ],
)
def test_what_has_no_meaning_is_refused(options: dict[str, Any], error: type[McpFrameError]) -> None:
    with pytest.raises(error):
        Access(**options).check()


def test_its_own_names_are_answered_and_no_others() -> None:
    here = Access().security(8717)
    assert here.allowed_hosts == ["127.0.0.1:8717", "localhost:8717", "[::1]:8717"]
    assert here.allowed_origins == [f"http://{host}" for host in here.allowed_hosts]
    assert "localhost" in Access().security(80).allowed_hosts
    assert Access("127.0.0.2").security(8717).allowed_hosts == [*here.allowed_hosts, "127.0.0.2:8717"]

    public = Access("fd00::5", ["mcp.example"], ["https://chat.example"], TOKENS, ISSUER).security(8717)
    assert {"[fd00::5]:*", "mcp.example", "mcp.example:*", "localhost:*"} <= {*public.allowed_hosts}
    assert {"https://chat.example", "https://mcp.example"} <= {*public.allowed_origins}
    assert "http://mcp.example" not in public.allowed_origins
    for everywhere in ("0.0.0.0", "::"):
        assert Access(everywhere, tokens=TOKENS).security().allowed_hosts == Access().security().allowed_hosts
    by_address = Issuer("https://login.example", "https://login.example/jwks", "https://[fd00::6]/mcp", "x")
    named = Access("0.0.0.0", ["MCP.Example"], issuer=by_address).security(8717)
    assert {"mcp.example", "[fd00::6]", "[fd00::6]:*"} <= {*named.allowed_hosts}


GOOD = 'issuer = "https://a.example"\nkeys = "https://a.example/jwks?x=1"\nresource = "https://b.example/mcp"\n'


def test_an_authorization_server_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "oauth.toml").write_text(GOOD + 'scopes = ["mcp", "read:all"]\n')
    issuer = read_issuer(tmp_path / "oauth.toml")
    issuer.check()
    assert issuer.audience == issuer.resource == "https://b.example/mcp"
    assert [str(issuer.settings().issuer_url), issuer.settings().required_scopes] == [
        "https://a.example",  # as it is written
        ["mcp", "read:all"],
    ]
    (tmp_path / "oauth.toml").write_text(GOOD.replace("https://a.example/jwks?x=1", "key.pem"))
    assert read_issuer(tmp_path / "oauth.toml").keys == str(tmp_path / "key.pem")
    with pytest.raises(ConfigError, match=r"key\.pem"):
        read_issuer(tmp_path / "oauth.toml").check()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "issuer =",
        GOOD + 'scope = "mcp"\n',
        GOOD + 'scopes = "mcp"\n',
        GOOD + 'scopes = ["a b"]\n',
        GOOD + "scopes = ['a\"']\n",
        GOOD.replace("https://a.example", "http://a.example"),
        GOOD.replace("https://b.example", "http://b.example"),
        GOOD.replace("https://b.example", "https://me:secret@b.example"),
        GOOD.replace("https://b.example", "https://[b"),
        GOOD.replace("/mcp", "/mcp#x"),
        GOOD.replace("https://a.example/jwks", "file:///etc/passwd"),
        GOOD.replace("https://a.example/jwks", "http://10.0.0.5/jwks"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "oauth.toml").write_text(text)
    with pytest.raises(ConfigError):
        read_issuer(tmp_path / "oauth.toml").check()


def test_tokens_are_lines() -> None:
    text = f"# users\n\nada {'a' * 24}\n ada  {'b' * 24} \nbob {'c' * 24}\n"
    assert parse_tokens(text, "here") == {"a" * 24: "ada", "b" * 24: "ada", "c" * 24: "bob"}


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            "ada",
            "ada short-secret",
            f"local {'a' * 24}",
            f"a/b {'a' * 24}",
            f"ada {'é' * 24}",
            f"ada {'a' * 24} x",
        ),
        f"ada {'a' * 24}\nbob {'a' * 24}",
    ],
)
def test_a_line_that_is_none_is_an_error_without_it(line: str) -> None:
    with pytest.raises(ConfigError, match="here") as raised:
        parse_tokens(line, "here")
    assert "a" * 24 not in str(raised.value)
    assert "short-secret" not in str(raised.value)
