"""Settings that cannot be used: said at once, with the name of the variable, before anything is started."""

import pytest

from tests.e2e.commands import in_process


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("IKKAI_DATABASE_URL", "mysql://localhost/ikkai"),
        ("IKKAI_BROKER_URL", "kafka://localhost"),
        ("IKKAI_TIME_ZONE", "Asia/Edo"),
        ("IKKAI_EARN_RATE_PERCENT", "-1"),
        ("IKKAI_EARN_RATE_PERCENT", "one"),
        ("IKKAI_POINTS_VALID_MONTHS", "0"),
        ("IKKAI_CALL_DEADLINE_SECONDS", "0"),
        ("IKKAI_CALL_DEADLINE_SECONDS", "nan"),
        ("IKKAI_LEASE_SECONDS", "5"),
        ("IKKAI_RETRY_FIRST_SECONDS", "-2"),
        ("IKKAI_RETRY_MAX_SECONDS", "soon"),
        ("IKKAI_MAX_ATTEMPTS", "0"),
        ("IKKAI_CARRIER_URL", "carrier.example"),
        ("IKKAI_CARRIER_HONOURS_KEYS", "perhaps"),
        ("IKKAI_CARRIER_KEY_WINDOW_HOURS", "0"),
        ("IKKAI_CLOCK_OFFSET", "P1D"),
    ],
)
@pytest.mark.parametrize("command", [("migrate", "--check"), ("points", "show", "c-1")], ids=lambda c: c[0])
def test_a_bad_setting_is_named(command: tuple[str, ...], name: str, value: str) -> None:
    """Exit code 2 and the variable's name; the value of another is nobody's business."""
    finished = in_process(*command, environment={name: value, "IKKAI_API_KEYS": "shop=events:secret"})
    assert finished.code == 2
    assert name in finished.err
    assert "secret" not in finished.err


def test_every_bad_setting_is_named_at_once() -> None:
    """Nobody has to mend them one by one."""
    bad = {"IKKAI_TIME_ZONE": "Asia/Edo", "IKKAI_MAX_ATTEMPTS": "0"}
    finished = in_process("migrate", "--check", environment=bad)
    assert all(name in finished.err for name in bad)
