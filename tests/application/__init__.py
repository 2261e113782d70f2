"""Tests of `application`."""
