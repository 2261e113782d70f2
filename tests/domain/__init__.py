"""The rules, alone: no database, no clock, no network."""
