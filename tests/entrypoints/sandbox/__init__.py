"""Proof that the sandbox is honest, told by the real process over real sockets. May import `entrypoints.sandbox`."""
