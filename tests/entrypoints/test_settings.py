"""What an operator can set, and what is said of what cannot be used."""

from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from entrypoints.doctor import settings_with_origin
from entrypoints.settings import PREFIX, InvalidSettings, OwnSettings, Settings, read_process_settings, read_settings


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of whoever runs the tests counts."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"{PREFIX}{name.upper()}", raising=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://x"),
        ("BROKER_URL", "http://x"),
        ("TIME_ZONE", "Tokyo"),
        ("EARN_RATE_PERCENT", "much"),
        ("EARN_RATE_PERCENT", "-1"),
        ("POINTS_VALID_MONTHS", "0"),
        ("CALL_DEADLINE_SECONDS", "0"),
        ("LEASE_SECONDS", "21.9"),
        ("MAX_ATTEMPTS", "0"),
        ("CARRIER_URL", "ftp://x"),
        ("CARRIER_HONOURS_KEYS", "perhaps"),
        ("CARRIER_KEY_WINDOW_HOURS", "0"),
        ("CLOCK_OFFSET", "tomorrow"),
        ("CLOCK_OFFSET", "P1D"),
    ],
)
def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """At start, before anything is touched. (An offset needs TESTING, a lease must outlast two calls.)"""
    monkeypatch.setenv(f"{PREFIX}{name}", value)
    with pytest.raises(InvalidSettings, match=f"{PREFIX}{name}"):
        read_settings()


def test_processes_get_the_same_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every setting survives the way through the environment, secrets, fractions and offsets included."""
    ours = OwnSettings(
        home=Path("some where"),
        database_url="postgresql://a:b@c/d?host=/x",
        broker_url="redis://:p@h:1/0",
        earn_rate_percent=Fraction(1, 3),
        carrier_token="geheim",  # type: ignore[arg-type]
        carrier_honours_keys=False,
        testing=True,
        clock_offset=timedelta(days=-1, seconds=5),
    )
    for name, value in ours.as_environment().items():
        monkeypatch.setenv(name, value)
    theirs = read_process_settings("database_url", "broker_url")
    assert {name: getattr(theirs, name) for name in Settings.model_fields} == dict(ours)


def test_a_process_without_its_servers_says_which() -> None:
    """It starts none by itself."""
    with pytest.raises(InvalidSettings, match=f"{PREFIX}BROKER_URL"):
        read_process_settings("broker_url")


def test_the_demos_settings_cannot_be_changed_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """It must not touch a configured database or provider."""
    monkeypatch.setenv(f"{PREFIX}DATABASE_URL", "postgresql://production/shop")
    monkeypatch.setenv(f"{PREFIX}CARRIER_URL", "https://carrier.example")
    settings = OwnSettings()
    assert (settings.database_url, settings.carrier_url) == (None, None)
    assert f"{PREFIX}DATABASE_URL" not in settings.as_environment()


def test_the_doctor_shows_origins_and_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords and tokens are only said to be set."""
    monkeypatch.setenv(f"{PREFIX}DATABASE_URL", "postgresql://shop:geheim@h/d")
    monkeypatch.setenv(f"{PREFIX}CARRIER_TOKEN", "geheim")
    rows = {row["name"]: row for row in settings_with_origin(read_settings())}
    assert rows[f"{PREFIX}DATABASE_URL"]["from"] == "environment"
    assert rows[f"{PREFIX}LEASE_SECONDS"]["from"] == "default"
    assert "geheim" not in str(rows)
