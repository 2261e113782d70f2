"""In-memory stand-ins for books and gateways; they pass the same contract tests as the real adapters."""
