"""What is true, whoever stores it: pure rules of the shop. May import only the standard library and itself; no clock, no I/O, no randomness."""
