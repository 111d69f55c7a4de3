"""Certificates of an authority that nobody knows, for `localhost`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat


def write_certificates(file: Path, authoritys: Path) -> None:
    """Write the certificate of a server with its key, and that of its authority."""
    now, keys = datetime.now(UTC), [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, each)]) for each in ("a company", "localhost")]
    for key, name, path in zip(keys, names, (authoritys, file), strict=True):
        made = x509.CertificateBuilder(names[0], name, key.public_key(), x509.random_serial_number())
        made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
        made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        made = made.add_extension(x509.BasicConstraints(ca=path is authoritys, path_length=None), critical=True)
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) if path is file else b""
        path.write_bytes(private + made.sign(keys[0], hashes.SHA256()).public_bytes(Encoding.PEM))
