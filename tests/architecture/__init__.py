"""The rules of the house, each with a planted violation that proves it can fail."""
