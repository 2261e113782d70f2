"""The one clock of statements."""

from typing import Final

# Read once per statement: as a plain subquery it would be read once per row, and two columns would tell two times.
CLOCK: Final = "clock AS MATERIALIZED (SELECT ikkai_now() AS now)"
