"""Documents that several doors show alike."""

from datetime import date

from pydantic import BaseModel

from domain.points import PointAccount


class LotDocument(BaseModel):
    """One open grant. Units: points; `expires_on` is the last day on which they can be spent."""

    order_id: str
    reason: str
    points: int
    remaining: int
    expires_on: date


class PointsDocument(BaseModel):
    """What a customer has. Units: points; `debt` is what the next credits repay."""

    customer_id: str
    balance: int
    debt: int
    lots: list[LotDocument]


def points_document(account: PointAccount) -> PointsDocument:
    """The account as every door shows it."""
    lots = [
        LotDocument(
            order_id=lot.order_id,
            reason=lot.reason,
            points=lot.points,
            remaining=lot.remaining,
            expires_on=lot.expires_on,
        )
        for lot in account.lots
    ]
    return PointsDocument(customer_id=account.customer_id, balance=account.balance, debt=account.debt, lots=lots)
