"""What is true, whoever stores it: pure rules of the shop, without clock, I/O or randomness.

May import only the standard library and itself.
"""
