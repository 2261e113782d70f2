"""Messages to use cases: each actor decodes, calls one use case, reports. Declared by `register`, never at import."""
