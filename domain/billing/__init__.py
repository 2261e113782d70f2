"""Monthly billing: periods that tile the calendar, day prices, taxes once per rate, and the bill they make.

`plans` is what is billed, `periods` and `prices` what it costs, `taxes` what comes on top, `bills` the whole,
`book` where it is kept. Pure: no clock, no I/O.
"""
