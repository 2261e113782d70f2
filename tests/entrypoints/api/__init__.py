"""The HTTP API as a real process on a real database, met by a real client; no queue is there at all."""
