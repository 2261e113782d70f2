"""Record, call, record: how everything outside Postgres is done (`perform`), who looks after what is left (`recovery`),
and what people see and decide of it (`decide`).
"""

from application.operations.decide import DecideOperation, ReadOperations
from application.operations.perform import OperationBooks, Performer, PerformOperations, Timing
from application.operations.recovery import ReconcileUnknowns, SweepLeases

__all__ = [
    "DecideOperation",
    "OperationBooks",
    "PerformOperations",
    "Performer",
    "ReadOperations",
    "ReconcileUnknowns",
    "SweepLeases",
    "Timing",
]
