"""What we do, one transaction at a time: use cases and ports. May import `domain` and the standard library; names no technology."""
