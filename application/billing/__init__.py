"""Monthly billing: what is billed (`imports`), bills created once (`creation`), the run of a month (`runner`)."""

from application.billing.creation import BillingBooks, CreateBills, Creation, Failure
from application.billing.imports import ImportItems, ImportSubscriptions, Taken
from application.billing.reading import ReadBills
from application.billing.runner import BillingReport, BillingRunner, MonthStatus, RunBilling

__all__ = [
    "BillingBooks",
    "BillingReport",
    "BillingRunner",
    "CreateBills",
    "Creation",
    "Failure",
    "ImportItems",
    "ImportSubscriptions",
    "MonthStatus",
    "ReadBills",
    "RunBilling",
    "Taken",
]
