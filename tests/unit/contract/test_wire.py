"""The record of the wire: the contract's tests, over fake windows."""

from tests.contract.wire import *  # noqa: F403
