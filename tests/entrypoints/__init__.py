"""Proof of what can be started: each entry point as its users meet it. May import everything of ours."""
