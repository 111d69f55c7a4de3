"""The outer frame's half of the handshake: the contract's tests, over fake windows."""

from tests.contract.handshake import *  # noqa: F403
