"""Malformed, oversized and poisoned messages: the contract's tests, over fake windows."""

from tests.contract.messages import *  # noqa: F403
