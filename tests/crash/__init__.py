"""Tests of `crash`."""
