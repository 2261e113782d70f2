"""The rules of billing, alone."""
