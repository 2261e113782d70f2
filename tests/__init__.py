"""Proof, by room: the same names as in the house, plus e2e, crash, contracts, architecture and benchmarks."""
