"""The extension's identity: a fixed key, so that its id does not depend on its folder.

Native messaging and other extensions use that id. The private key was not kept: only a store would need it.
Source: Chrome's documentation, "Manifest - key".
"""

from __future__ import annotations

import base64
import hashlib
from typing import Final

EXTENSION_KEY: Final = (
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAiiUnP5qKA0O5mkCNE1YJlNpiZgk1TDaIoTtpKuplzd0RKSmdkEi9r7u3"
    "HWw6haHpR2G8go2wzrDFAGW8XEJdzpYERr6Scr4lzZ2NbgbsskPPSTqjPb5aF7mN5mflEN0KlWczoPvT44i3bEWl3BHn2dyTMbrh"
    "jqFMYY2jfDjxarJHJxWtReFeFzwmZE/CoYjguMZvGLY+QOxDEvop6GpxXmHlLAdyxgso6VVaPtqsx/saKhtBWZd+ViZZoUJwRbFW"
    "x1JRpuGTpuSk0HYdMDzv+Rpv+/9B0NGdBUc2WmS+EkC+4MG5dAoaHNn1HAic019/X7AGm2ZXpm42m6mQuhb+PwIDAQAB"
)
"""The public key of the manifest, as DER in base64."""


def id_of(key: str) -> str:
    """Return the id of an extension with this `key` in its manifest."""
    digest = hashlib.sha256(base64.b64decode(key)).hexdigest()[:32]
    return digest.translate(str.maketrans("0123456789abcdef", "abcdefghijklmnop"))


EXTENSION_ID: Final = id_of(EXTENSION_KEY)
