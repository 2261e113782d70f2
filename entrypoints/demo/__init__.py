"""The demonstration: a sample of order events (`sample`), what the outside world saw (`ledgers`), the run (`run`)."""
