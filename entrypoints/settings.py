"""What an operator can set: environment variables with the prefix IKKAI_, read once and checked at start."""

import os
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Final, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, TypeAdapter, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from application.operations import Timing
from domain.billing.book import Terms
from domain.money import Rounding
from domain.operations import RetryPolicy
from domain.orders.rules import PointRules

PREFIX: Final = "IKKAI_"


class InvalidSettings(Exception):
    """A variable cannot be used as it is; the message names each."""


def _known_zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError("must be a time zone such as Asia/Tokyo")
    return name


def _scheme(*schemes: str) -> AfterValidator:
    def check(url: str | None) -> str | None:
        if url is not None and urlsplit(url).scheme not in schemes:
            raise ValueError(f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
        return url

    return AfterValidator(check)


def _exact(value: Any) -> Any:
    try:
        return Fraction(value) if isinstance(value, str) else value
    except ZeroDivisionError:
        raise ValueError("is no number") from None


Seconds = Annotated[float, Field(gt=0, le=86_400)]


class Settings(BaseSettings):
    """Units stand in the names. Secrets are never shown."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True, arbitrary_types_allowed=True)

    home: Path = Path(".ikkai")
    database_url: Annotated[str | None, _scheme("postgresql", "postgres")] = None
    broker_url: Annotated[str | None, _scheme("redis", "rediss", "unix")] = None
    time_zone: Annotated[str, AfterValidator(_known_zone)] = "Asia/Tokyo"
    rounding: Rounding = Rounding.FLOOR
    earn_rate_percent: Annotated[Fraction, BeforeValidator(_exact), Field(ge=0, le=100)] = Fraction(1)
    points_valid_months: Annotated[int, Field(ge=1, le=1200)] = 12

    call_deadline_seconds: Seconds = 10.0
    lease_seconds: Seconds = 30.0
    retry_first_seconds: Seconds = 2.0
    retry_max_seconds: Seconds = 600.0
    max_attempts: Annotated[int, Field(ge=1, le=1000)] = 10
    broker_heartbeat_seconds: Annotated[float, Field(ge=1, le=3600)] = 60.0

    carrier_url: Annotated[str | None, _scheme("http", "https")] = None
    carrier_token: SecretStr = SecretStr("")
    carrier_honours_keys: bool = True
    carrier_key_window_hours: Annotated[float, Field(gt=0, le=87_600)] = 24.0

    stripe_api_key: SecretStr = SecretStr("")
    stripe_api_base: Annotated[str | None, _scheme("http", "https")] = None
    stripe_honours_keys: bool = True
    stripe_key_window_hours: Annotated[float, Field(gt=0, le=87_600)] = 24.0
    stripe_webhook_secret: SecretStr = SecretStr("")
    stripe_in_flight: Annotated[int, Field(ge=1, le=1000)] = 50

    api_keys: SecretStr = SecretStr("")

    testing: bool = False
    clock_offset: timedelta | None = None

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.clock_offset is not None and not self.testing:
            raise ValueError(f"{PREFIX}CLOCK_OFFSET is permitted only with {PREFIX}TESTING=1")
        try:
            _ = self.timing
        except ValueError as unfit:
            raise ValueError(f"{PREFIX}LEASE_SECONDS: {unfit}") from None
        return self

    @property
    def timing(self) -> Timing:
        return Timing(self.call_deadline_seconds, self.lease_seconds)

    @property
    def carrier_retry_policy(self) -> RetryPolicy:
        return self._retry_policy(self.carrier_key_window_hours)

    @property
    def stripe_retry_policy(self) -> RetryPolicy:
        return self._retry_policy(self.stripe_key_window_hours)

    def _retry_policy(self, key_window_hours: float) -> RetryPolicy:
        window_seconds = key_window_hours * 3600
        return RetryPolicy(
            first_retry_seconds=self.retry_first_seconds,
            max_retry_seconds=self.retry_max_seconds,
            max_attempts=self.max_attempts,
            key_window_seconds=window_seconds,
            # Clocks differ and requests travel: stay away from the window's end, but leave something of a short one.
            key_window_margin_seconds=min(3600.0, window_seconds / 4),
        )

    @property
    def clock_ahead(self) -> timedelta:
        """How far our clock is ahead of the world's."""
        return self.clock_offset or timedelta(0)

    @property
    def billing_terms(self) -> Terms:
        return Terms(self.time_zone, self.rounding)

    @property
    def point_rules(self) -> PointRules:
        return PointRules(ZoneInfo(self.time_zone), self.earn_rate_percent, self.points_valid_months)

    def as_environment(self) -> dict[str, str]:
        """The same settings for a process that we start."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        for name, value in self:
            if isinstance(value, SecretStr):
                value = value.get_secret_value()  # noqa: PLW2901
            if isinstance(value, timedelta):
                value = TypeAdapter(timedelta).dump_python(value, mode="json")  # noqa: PLW2901
            if value is not None:
                environment[f"{PREFIX}{name.upper()}"] = str(value)
        return environment


class OwnSettings(Settings):
    """Settings that no environment variable can change: for the demo, which must not touch anything configured."""

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)


def read_settings(**overrides: Any) -> Settings:
    """Raises: InvalidSettings naming every bad variable."""
    try:
        return Settings(**overrides)
    except ValidationError as invalid:
        raise InvalidSettings("; ".join(map(_complaint, invalid.errors()))) from None


def read_process_settings(*needed: str) -> Settings:
    """What `ikkai up` and `ikkai work` give to the processes they start: servers are named, not started on demand.

    Raises: InvalidSettings naming every bad or missing variable.
    """
    settings = read_settings()
    missing = [f"{PREFIX}{name.upper()}" for name in needed if getattr(settings, name) is None]
    if missing:
        raise InvalidSettings(
            f"{', '.join(missing)}: needed here; `ikkai up` and `ikkai work` set it for their processes"
        )
    return settings


def _complaint(error: Any) -> str:
    name = "_".join(str(part) for part in error["loc"]).upper()
    text = str(error["msg"]).removeprefix("Value error, ")
    return f"{PREFIX}{name}: {text}" if name else text
