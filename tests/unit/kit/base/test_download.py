"""A program's complaint about an untrusted certificate becomes one error with its remedy."""

from __future__ import annotations

import pytest

from mcpframe.kit.base.download import not_trusted


@pytest.mark.parametrize(
    ("printed", "host"),
    [
        (
            "error: Failed to fetch: `https://me:secret@a.example/simple/x/`\n invalid peer certificate: UnknownIssuer",
            1,
        ),
        ("HTTPSConnectionPool(host='a.example', port=443): SSLError([SSL: CERTIFICATE_VERIFY_FAILED] unable", 1),
        ("npm error code SELF_SIGNED_CERT_IN_CHAIN\nrequest to https://a.example/x failed", 1),
        ("npm error code UNABLE_TO_GET_ISSUER_CERT_LOCALLY", 0),
    ],
)
def test_a_certificate_is_named_with_the_variable(printed: str, host: int) -> None:
    error = str(not_trusted(printed, "NODE_EXTRA_CA_CERTS"))
    assert "NODE_EXTRA_CA_CERTS" in error
    assert error.count("a.example") == host
    assert "secret" not in error


def test_other_failures_are_none() -> None:
    assert not_trusted("Connection refused by https://a.example") is None
