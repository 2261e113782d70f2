"""Files that people import: CSV and NDJSON, in the encodings they come in, row by row and in flat memory.

May import: `domain`, `application` and the standard library.
"""
