"""Events as they come in, and how an order obeys them."""
