"""One text for one content, so that the same content is recognised and sent byte for byte."""

import hashlib
import json


def canonical_json(content: object) -> str:
    """One text for one content: sorted keys, no white space, no floats by way of the callers' checks."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fingerprint(text: str) -> bytes:
    """What tells the same key with other content apart. Shape: 32 bytes."""
    return hashlib.sha256(text.encode()).digest()
