"""What makes an installation unfit, each finding with its remedy."""

import os
import time
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from entrypoints.container import Container
from entrypoints.settings import PREFIX, Settings

OLDEST_POSTGRES: Final = 150_000  # 15.0, as server_version_num writes it
MAX_SKEW_SECONDS: Final = 5.0


def settings_with_origin(settings: Settings) -> list[dict[str, str]]:
    """Every setting with its value and where it came from; secrets only as set or not."""
    rows = []
    for name, value in settings:
        variable = f"{PREFIX}{name.upper()}"
        origin = "environment" if any(variable == known.upper() for known in os.environ) else "default"
        if isinstance(value, SecretStr):
            value = "(set)" if value.get_secret_value() else ""  # noqa: PLW2901
        elif name.endswith("_url") and value:
            value = _without_password(str(value))  # noqa: PLW2901
        rows.append({"name": variable, "value": "" if value is None else str(value), "from": origin})
    return rows


def examine(container: Container) -> list[dict[str, Any]]:
    """Shape: `check`, `verdict` (ok or what is wrong), `remedy`."""
    settings: Settings = container.settings()
    postgres, redis = container.postgres_facts(), container.redis_facts()
    skew_seconds = abs(postgres.clock_seconds - time.time())
    durable = "off" not in (postgres.fsync, postgres.synchronous_commit)
    findings = [
        _finding("PostgreSQL version", postgres.version >= OLDEST_POSTGRES, str(postgres.version), "use 15 to 18"),
        _finding("isolation", postgres.isolation == "read committed", postgres.isolation, "set it to read committed"),
        _finding("durable commits", durable, "off", "turn fsync and synchronous_commit on"),
        _finding("clock", skew_seconds < MAX_SKEW_SECONDS, f"{skew_seconds:.0f} s off", "run a time daemon"),
        _finding("Redis", redis is not None, "no answer", f"check {PREFIX}BROKER_URL"),
    ]
    if redis is not None:
        findings += [
            _finding(
                "Redis eviction", redis.eviction == "noeviction", redis.eviction, "set maxmemory-policy noeviction"
            ),
            _finding("Redis persistence", redis.append_only == "yes", redis.append_only, "set appendonly yes"),
        ]
    carrier = settings.carrier_url is not None
    payments = bool(settings.stripe_api_key.get_secret_value())
    return [
        *findings,
        _finding("carrier", carrier, "none", f"set {PREFIX}CARRIER_URL; parcels wait until then"),
        _finding("payments", payments, "none", f"set {PREFIX}STRIPE_API_KEY; charges and refunds wait until then"),
    ]


def _finding(check: str, fit: bool, wrong: str, remedy: str) -> dict[str, Any]:
    return {"check": check, "verdict": "ok" if fit else wrong, "remedy": None if fit else remedy}


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return url if parts.password is None else url.replace(f":{parts.password}@", ":***@", 1)
