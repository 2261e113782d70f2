"""Tests of `architecture`."""
