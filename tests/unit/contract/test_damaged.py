"""Every message type with one thing wrong in it: the contract's tests, over fake windows."""

from tests.contract.damaged import *  # noqa: F403
