"""The demonstration: order events (`sample`), a month to bill (`month`), what was seen outside (`ledgers`), the run."""
