"""The one way in which embedded servers fail."""


class EmbeddedServersUnavailable(RuntimeError):
    """An embedded server cannot run here; the message says what to install or to do."""
