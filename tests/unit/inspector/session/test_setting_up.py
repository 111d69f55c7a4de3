"""Why a setup was not completed, in a sentence."""

from __future__ import annotations

import pytest

from inspector.session.setting_up import reason_of
from mcpframe.frame.session.setup_phase import SetupErrorCode, SetupResult


@pytest.mark.parametrize(
    ("code", "message", "told"),
    [
        (SetupErrorCode.USER_CANCELLED, "The setup was cancelled.", "The setup was cancelled."),
        (SetupErrorCode.AUTH_FAILED, "Wrong password", "The setup ended with AUTH_FAILED: Wrong password"),
        (SetupErrorCode.TIMEOUT, None, "The setup ended with TIMEOUT: It gives no reason."),
    ],
)
def test_the_reason(code: SetupErrorCode, message: str | None, told: str) -> None:
    assert reason_of(SetupResult("A page", error_code=code, error_message=message)) == told
