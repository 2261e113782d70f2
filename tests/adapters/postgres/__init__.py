"""Tests of the books in Postgres."""
