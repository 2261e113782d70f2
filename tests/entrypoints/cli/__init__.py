"""Commands: what they print and how they fail."""
