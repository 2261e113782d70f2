"""Field report B45: a Retry-After is read in every form that servers write, and never takes us anywhere absurd."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.calls.retry_after import retry_after_seconds

NOW = datetime(2026, 10, 21, 7, 27, tzinfo=UTC)
MAX_SECONDS = 600.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (["60"], 60.0),
        ([" 60 "], 60.0),
        (["Wed, 21 Oct 2026 07:28:00 GMT"], 60.0),
        (["Wednesday, 21-Oct-26 07:28:00 GMT"], 60.0),
        (["Wed Oct 21 07:28:00 2026"], 60.0),
        (["Wed, 21 Oct 2026 16:28:00 +0900"], 60.0),
        (["0.493"], 0.493),
        (["0"], 0.0),
        (["-5"], 0.0),
        (["Wed, 21 Oct 2015 07:28:00 GMT"], 0.0),
        (["999999999"], MAX_SECONDS),
        (["9" * 5000], MAX_SECONDS),
        (["Wed, 21 Oct 9999 07:28:00 GMT"], MAX_SECONDS),
        (["120", "60"], 120.0),
        (["soon", "60"], 60.0),
    ],
)
def test_a_readable_retry_after_is_a_number_of_seconds_within_bounds(headers: list[str], seconds: float) -> None:
    """Seconds, fractions and all three dates of HTTP are read; the past is now, the far future the longest wait."""
    assert retry_after_seconds(headers, NOW, MAX_SECONDS) == seconds


@pytest.mark.parametrize(
    "header", ["soon", "", "nan", "inf", "1e3", "６０", "60, 120", "Wed, 99 Oct 2026 07:28:00 GMT"]
)
def test_an_unreadable_retry_after_says_nothing(header: str) -> None:
    """Then our own back-off decides."""
    assert retry_after_seconds([header], NOW, MAX_SECONDS) is None


def test_no_retry_after_says_nothing() -> None:
    """Most answers have none."""
    assert retry_after_seconds([], NOW, MAX_SECONDS) is None


DATE_LIKE = st.text(alphabet="0123456789 :,+-MonTueJanOctGT", max_size=40)


@given(st.lists(st.text() | DATE_LIKE, max_size=3))
def test_whatever_a_server_writes_the_wait_stays_within_bounds(headers: list[str]) -> None:
    """No header can stop the work or push it out of sight."""
    seconds = retry_after_seconds(headers, NOW, MAX_SECONDS)
    assert seconds is None or 0.0 <= seconds <= MAX_SECONDS
