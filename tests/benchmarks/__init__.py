"""Rates as ratios in one run: ours and a plain way of doing the same, in turn. `make bench` prints them."""
