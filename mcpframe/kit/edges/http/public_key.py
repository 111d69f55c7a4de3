"""The public keys and the algorithms of signatures that count: not `none`, and none with a shared secret, for which a
public key could be taken.

Source: RFC 8725, section 3; RFC 7518, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from mcpframe.kit.base.errors import ConfigError

_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES: Final = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
_ED25519: Final = "EdDSA"
ALGORITHMS: Final = (*_RSA, *_CURVES.values(), _ED25519)
"""The algorithms that count."""
_LEAST_RSA_BITS: Final = 2048


def read_key(file: Path) -> tuple[Any, Sequence[str]]:
    """Return the public key in a file, and the algorithms that it may be used with.

    Raises:
        ConfigError: There is none, or none that counts.
    """
    try:
        key = load_pem_public_key(file.read_bytes())
    except OSError as error:
        raise ConfigError(f"The public key in {file} cannot be read: {error.strerror}.") from error
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigError(f"{file} has to be a public key in PEM, which begins with BEGIN PUBLIC KEY.") from None
    if isinstance(key, RSAPublicKey) and key.key_size >= _LEAST_RSA_BITS:
        return key, _RSA
    if isinstance(key, EllipticCurvePublicKey) and key.curve.name in _CURVES:
        return key, [_CURVES[key.curve.name]]
    if isinstance(key, Ed25519PublicKey):
        return key, [_ED25519]
    raise ConfigError(
        f"The key in {file} has to be RSA of {_LEAST_RSA_BITS} bits or more, P-256, P-384, P-521 or Ed25519."
    )
