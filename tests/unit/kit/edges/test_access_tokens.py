"""Access tokens of an authorization server: what is not signed by its key, for this server and for now, is nobody's."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.authentication import AuthenticationError
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from mcpframe.kit.base.errors import ConfigError
from mcpframe.kit.edges.http.access_tokens import AccessTokens
from mcpframe.kit.edges.http.issuer import Issuer
from mcpframe.kit.edges.http.public_key import read_key
from mcpframe.kit.web.serve import serve_app
from tests.support.authorization_server import jwks, rsa_key

ISSUER, RESOURCE = "https://login.example", "https://mcp.example/mcp"
KEY, OTHER = rsa_key(), rsa_key()
CLAIMS = {"iss": ISSUER, "aud": RESOURCE, "sub": "ada", "scope": "mcp other", "client_id": "c1"}
LATER = 2**33


def pem(key: Any) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def signed(key: Any = KEY, algorithm: str = "RS256", kid: str | None = None, **claims: Any) -> str:
    head = {} if kid is None else {"kid": kid}
    said = {key: value for key, value in {**CLAIMS, "exp": LATER, **claims}.items() if value is not None}
    return jwt.encode(said, key, algorithm, head)


def rs256(said: bytes, key: Any = KEY) -> bytes:
    return jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256).sign(said, key)


def by_hand(header: dict[str, Any], signature: Callable[[bytes], bytes], **claims: Any) -> str:
    """Return a token that the library would not make."""

    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    said = ".".join(part(json.dumps(each).encode()) for each in (header, {**CLAIMS, "exp": LATER, **claims}))
    return f"{said}.{part(signature(said.encode()))}"


def by_secret(secret: bytes) -> str:
    return by_hand({"alg": "HS256"}, lambda said: hmac.new(secret, said, hashlib.sha256).digest())


@pytest.fixture(scope="module")
def verifier(tmp_path_factory: pytest.TempPathFactory) -> AccessTokens:
    file = tmp_path_factory.mktemp("key") / "key.pem"
    file.write_bytes(pem(KEY))
    return AccessTokens(Issuer(ISSUER, str(file), RESOURCE, RESOURCE))


@pytest.mark.parametrize(
    ("claims", "client", "scopes"),
    [
        ({}, "c1", ["mcp", "other"]),
        ({"aud": ["elsewhere", RESOURCE]}, "c1", ["mcp", "other"]),
        ({"client_id": None, "azp": "c2"}, "c2", ["mcp", "other"]),
        ({"client_id": None, "scope": None, "scp": ["a", 1, "b"]}, "ada", ["a", "b"]),
        ({"scope": None, "scp": "a b"}, "c1", ["a", "b"]),
        ({"nbf": int(time.time()) + 10}, "c1", ["mcp", "other"]),  # clocks differ
    ],
)
async def test_a_valid_token_names_its_user(
    verifier: AccessTokens, claims: dict[str, Any], client: str, scopes: list[str]
) -> None:
    found = await verifier.verify_token(signed(**claims))
    assert found is not None
    assert (found.subject, found.client_id, found.scopes, found.expires_at) == ("ada", client, scopes, LATER)
    assert found.claims == {"iss": ISSUER}


INVALID = {
    "another issuer": signed(iss="https://login.example.evil.example"),
    "the issuer's name with more": signed(iss=f"{ISSUER}/"),
    "another server": signed(aud="https://other.example/mcp"),
    "a longer address": signed(aud=f"{RESOURCE}/more"),
    "no audience": signed(aud=None),
    "no user": signed(sub=None),
    "an empty user": signed(sub=""),
    "a long user": signed(sub="x" * 256),
    "no end": signed(exp=None),
    "over": signed(exp=int(time.time()) - 60),
    "not yet": signed(nbf=int(time.time()) + 43_200, exp=int(time.time()) + 86_400),  # however late this test runs
    "an endless end": by_hand({"alg": "RS256"}, rs256, exp=float("inf")),
    "another key": signed(OTHER),
    "another kind of key": signed(ec.generate_private_key(ec.SECP256R1()), "ES256"),
    "none": by_hand({"alg": "none"}, lambda _: b""),
    "NONE": by_hand({"alg": "NONE"}, lambda _: b""),
    "no algorithm": by_hand({}, lambda _: b""),
    "a list of algorithms": by_hand({"alg": ["RS256"]}, rs256),
    "the public key as a secret": by_secret(pem(KEY)),
    "the public key as a secret, without its end": by_secret(pem(KEY).strip()),
    "an empty secret": by_secret(b""),
    "an unknown extension": by_hand({"alg": "RS256", "crit": ["x"], "x": 1}, rs256),
    "its own key": by_hand({"alg": "RS256", "jwk": jwks(a=OTHER)["keys"][0]}, lambda said: rs256(said, OTHER)),
    "changed": ".".join([*signed().split(".")[:1], signed(sub="bob").split(".")[1], signed().split(".")[2]]),
    "cut": signed()[:-4],
    "not one": "x" * 40,
    "empty": "",
    "not ASCII": "é.é.é",
}


@pytest.mark.parametrize("token", INVALID.values(), ids=INVALID)
async def test_an_invalid_token_is_nobodys(verifier: AccessTokens, token: str) -> None:
    assert await verifier.verify_token(token) is None


JSON = st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=3)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64"]), JSON), st.text() | st.none())
async def test_no_token_raises(header: dict[str, Any], text: str | None) -> None:
    verifier = AccessTokens.__new__(AccessTokens)
    verifier._issuer = Issuer(ISSUER, "", RESOURCE, RESOURCE)
    verifier._keys = _Known()  # type: ignore[assignment]
    token = by_hand(header, rs256) if text is None else text
    header_is_fine = text is None and header.get("alg") == "RS256"
    assert header_is_fine or await verifier.verify_token(token) is None


class _Known:
    async def find(self, token: str) -> Any:
        jwt.get_unverified_header(token)
        return KEY.public_key(), ["RS256"]


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (KEY, "PS512"),
        (ec.generate_private_key(ec.SECP384R1()), "ES384"),
        (ed25519.Ed25519PrivateKey.generate(), "EdDSA"),
    ],
    ids=["PS512", "ES384", "EdDSA"],
)
async def test_a_key_decides_its_algorithms(tmp_path: Path, key: Any, algorithm: str) -> None:
    (tmp_path / "key").write_bytes(pem(key))
    verifier = AccessTokens(Issuer(ISSUER, str(tmp_path / "key"), RESOURCE, RESOURCE))
    assert await verifier.verify_token(signed(key, algorithm))
    assert (await verifier.verify_token(signed())) is None or key is KEY


SMALL = rsa.generate_private_key(65537, 1024)
FILES = {
    "missing": None,
    "empty": b"",
    "a private key": KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    "a small key": pem(SMALL),
    "a curve that does not count": pem(ec.generate_private_key(ec.SECP256K1())),
    "a certificate": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
}


@pytest.mark.parametrize("data", FILES.values(), ids=FILES)
def test_a_file_that_is_no_key_is_one_error(tmp_path: Path, data: bytes | None) -> None:
    if data is not None:
        (tmp_path / "key").write_bytes(data)
    with pytest.raises(ConfigError, match=str(tmp_path / "key")):
        read_key(tmp_path / "key")


class Keys:
    """An address with keys, which may fail."""

    def __init__(self) -> None:
        self.keys = {"one": KEY}
        self.failing: Response | None = None
        self.fetched = 0

    async def answer(self, _: Request) -> Response:
        self.fetched += 1
        return self.failing or JSONResponse(jwks(**self.keys))


async def test_keys_are_fetched_seldom_and_followed(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    keys = Keys()
    with serve_app(Starlette(routes=[Route("/jwks", keys.answer)])) as served:
        verifier = AccessTokens(Issuer(ISSUER, f"{served.origin}/jwks", RESOURCE, RESOURCE))
        for failing in (Response("no", 500), PlainTextResponse("<html>"), JSONResponse({"keys": []})):
            keys.failing = failing
            for _ in range(3):
                with pytest.raises(AuthenticationError):
                    await verifier.verify_token(signed(kid="one"))
            verifier._keys._pause_ends = 0.0  # type: ignore[union-attr]
        assert keys.fetched == 3  # and not nine times
        assert len(caplog.records) == 3
        assert signed(kid="one")[:20] not in caplog.text

        keys.failing = None
        for _ in range(3):
            assert await verifier.verify_token(signed(kid="one"))
        for token in (signed(), signed(OTHER, kid="one"), by_hand({"alg": "RS256", "kid": 1}, lambda _: b"")):
            assert await verifier.verify_token(token) is None
        assert keys.fetched == 4
        keys.keys["two"] = OTHER
        assert await verifier.verify_token(signed(OTHER, kid="two")) is None  # it was fetched a moment ago
        assert keys.fetched == 4
        verifier._keys._client.cooldown_duration = 0  # type: ignore[union-attr]
        assert await verifier.verify_token(signed(OTHER, kid="two"))
        assert keys.fetched == 5

        # while the address fails, known keys go on
        keys.failing = Response("no", 500)
        with pytest.raises(AuthenticationError):
            await verifier.verify_token(signed(kid="three"))
        assert await verifier.verify_token(signed(kid="one"))


async def test_a_token_of_a_known_key_does_not_wait_for_others_keys() -> None:
    keys = Keys()
    goes_on = threading.Event()

    async def answer(request: Request) -> Response:
        if keys.fetched:
            await asyncio.to_thread(goes_on.wait, 30)
        return await keys.answer(request)

    with serve_app(Starlette(routes=[Route("/jwks", answer)])) as served:
        verifier = AccessTokens(Issuer(ISSUER, f"{served.origin}/jwks", RESOURCE, RESOURCE))
        assert await verifier.verify_token(signed(kid="one"))
        verifier._keys._client.cooldown_duration = 0  # type: ignore[union-attr]
        waiting = asyncio.create_task(verifier.verify_token(signed(OTHER, kid="two")))
        while not verifier._keys._one.locked():  # type: ignore[union-attr]  # noqa: ASYNC110  a turn of the loop
            await asyncio.sleep(0)
        assert await verifier.verify_token(signed(kid="one"))
        assert not waiting.done()
        goes_on.set()
        assert await waiting is None
        assert keys.fetched == 2


async def test_a_key_of_the_address_with_a_secret_does_not_count() -> None:
    secret = base64.urlsafe_b64encode(b"s" * 32).rstrip(b"=").decode()
    key = {"kty": "oct", "kid": "one", "k": secret, "alg": "HS256", "use": "sig"}
    encryption = {**jwks(two=KEY)["keys"][0], "use": "enc"}

    async def answer(_: Request) -> Response:
        return JSONResponse({"keys": [key, encryption, *jwks(three=KEY)["keys"]]})

    with serve_app(Starlette(routes=[Route("/jwks", answer)])) as served:
        verifier = AccessTokens(Issuer(ISSUER, f"{served.origin}/jwks", RESOURCE, RESOURCE))
        assert await verifier.verify_token(signed(kid="three"))
        assert await verifier.verify_token(signed("s" * 32, "HS256", kid="one")) is None
        assert await verifier.verify_token(signed(kid="two")) is None
