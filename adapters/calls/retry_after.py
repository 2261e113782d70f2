"""Retry-After as servers really write it: seconds, three forms of date, or nonsense."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

# HTTP knows whole seconds only; fractions and signs are what sloppy servers send.
_SECONDS: Final = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)


def retry_after_seconds(headers: Sequence[str], now: datetime, max_seconds: float) -> float | None:
    """How long the server asks us to wait, by the first of its headers that can be read.

    Units: seconds, from 0 to `max_seconds`, since neither the past nor an absurd year may decide when we return.
    Returns: None where nothing can be read.
    """
    for header in headers:
        seconds = _seconds(header.strip(), now)
        if seconds is not None:
            return min(max(seconds, 0.0), max_seconds)
    return None


def _seconds(header: str, now: datetime) -> float | None:
    if _SECONDS.fullmatch(header):
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    # The asctime form names no zone, so it is read as a naive value; every date of HTTP is in UTC.
    return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - now).total_seconds()
