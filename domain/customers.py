"""Customers as the shop tells us of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Protocol, Self

from domain.errors import Malformed
from domain.keys import clean_text

LOCALES: Final = ("ja", "en")
MAX_TEXT_CHARACTERS: Final = 500
MAX_EMAIL_CHARACTERS: Final = 254  # RFC 5321, 4.5.3.1
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True, slots=True)
class CustomerUpdate:
    """What one message says of a customer; fields it does not mention are missing in `fields`."""

    customer_id: str
    at: datetime
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer as of the newest message. Known by id alone until somebody tells more."""

    customer_id: str
    email: str | None = None
    name: str | None = None
    locale: str = "ja"
    payment_method: str | None = None
    payment_customer: str | None = None
    closing_day: int = 31
    as_of: datetime | None = None

    def updated_by(self, update: CustomerUpdate) -> Self | None:
        """The customer after this update; nothing when a newer one is known already."""
        if self.as_of is not None and update.at < self.as_of:
            return None
        return replace(self, **update.fields, as_of=update.at)


class CustomerBook(Protocol):
    """The table of customers."""

    def ensure(self, customer_ids: Sequence[str]) -> None:
        """Makes sure that each is known, if by id alone."""
        ...

    def known(self, customer_ids: Sequence[str]) -> set[str]:
        """Which of these there are."""
        ...

    def lock(self, customer_ids: Sequence[str]) -> Mapping[str, Customer]:
        """Those that exist, locked in the order of their ids."""
        ...

    def save(self, customers: Sequence[Customer]) -> None: ...


def customer_fields(members: Mapping[str, Any]) -> dict[str, Any]:
    """The customer fields among `members`, checked. Raises: Malformed naming the field."""
    fields: dict[str, Any] = {}
    for field in ("email", "name", "payment_method", "payment_customer"):
        if field in members:
            fields[field] = _text(field, members[field])
    email = fields.get("email")
    if email is not None and (len(email) > MAX_EMAIL_CHARACTERS or not _EMAIL.fullmatch(email)):
        raise Malformed("email", "is not a mail address")
    if "locale" in members:
        if members["locale"] not in LOCALES:
            raise Malformed("locale", f"must be one of {', '.join(LOCALES)}")
        fields["locale"] = members["locale"]
    if "closing_day" in members:
        day = members["closing_day"]
        if isinstance(day, bool) or not isinstance(day, int) or not 1 <= day <= 31:
            raise Malformed("closing_day", "must be a whole number from 1 to 31")
        fields["closing_day"] = day
    return fields


def _text(field: str, value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise Malformed(field, f"must be a string or null, not {type(value).__name__}")
    if not 1 <= len(value) <= MAX_TEXT_CHARACTERS:
        raise Malformed(field, f"must have 1 to {MAX_TEXT_CHARACTERS} characters")
    return clean_text(field, value)
