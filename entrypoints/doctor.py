"""What makes an installation unfit, each finding with its remedy."""

import os
import time
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import SecretStr
from sqlalchemy import text

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
    with container.engine().connect() as connection:
        version = int(connection.execute(text("SHOW server_version_num")).scalar_one())
        isolation = connection.execute(text("SHOW transaction_isolation")).scalar_one()
        durable = [connection.execute(text(f"SHOW {name}")).scalar_one() for name in ("fsync", "synchronous_commit")]
        skew = connection.execute(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()
    policy = container.redis_client().config_get("maxmemory-policy").get("maxmemory-policy")
    persistent = container.redis_client().config_get("appendonly").get("appendonly")
    own_clock_skew = abs(float(skew) - time.time())
    return [
        _finding("PostgreSQL version", version >= OLDEST_POSTGRES, f"{version} is too old", "use PostgreSQL 15 to 18"),
        _finding("transaction isolation", isolation == "read committed", isolation, "set it to read committed"),
        _finding("durable commits", "off" not in durable, "off", "turn fsync and synchronous_commit on"),
        _finding("clock", own_clock_skew < MAX_SKEW_SECONDS, f"{own_clock_skew:.0f} s off", "run a time daemon"),
        _finding("Redis eviction", policy == "noeviction", str(policy), "set maxmemory-policy noeviction"),
        _finding(
            "Redis persistence", persistent == "yes", "off", "set appendonly yes (a producer's events wait there)"
        ),
        _finding(
            "carrier", settings.carrier_url is not None, "none", f"set {PREFIX}CARRIER_URL; parcels wait until then"
        ),
    ]


def _finding(check: str, fit: bool, wrong: str, remedy: str) -> dict[str, Any]:
    return {"check": check, "verdict": "ok" if fit else wrong, "remedy": None if fit else remedy}


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return url if parts.password is None else url.replace(f":{parts.password}@", ":***@", 1)
